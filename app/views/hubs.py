"""Hubs: node entanglement beside node efficiency and FC strength, where they agree and where not.

Its tabs come in their order: the brain and the curves, the agreement, one region, the table, centiles.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from biobgt.base.wording import capitalised, listed, whose
from biobgt.data.atlas import LABELLINGS, PAPER_MODULES
from biobgt.data.cohort import counted_people, person_of
from biobgt.data.graph import ConnectivityKind
from biobgt.figures import hubs as figures
from biobgt.figures import why_region as why
from biobgt.figures.centiles import centiles
from biobgt.groups.centiles import HubCentileOptions, hub_means, places_in
from biobgt.hubs import agreement, reliability
from biobgt.hubs.measures import HUB_MEASURES, NE, NULL_SEEDS, EntanglementOptions, HubOptions, notes_on
from biobgt.hubs.region import RegionExplanation
from biobgt.results.measured import Measured
from session.view import FIVE, REGION, PageOptions, View, current_view
from views.shared import widgets
from views.shared.centiles import show_centiles
from views.shared.figures import Panel, show, show_beside, show_in_brain, show_no_places
from views.shared.survival import ask_survival
from views.shared.widgets import escape_markdown, heading, in_one_line, input_errors_shown

_STRONGEST = ""  # in place of a region: whichever has the highest NE
_LETTER_WIDTH, _FEWEST_LETTERS = 8, 10  # of a column of names, in px, so that "cingulo-opercular" is whole


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    about = (
        "Node entanglement (NE) asks how much the spectral entropy of the brain graph changes when one region is "
        f"perturbed. Whether it agrees with node efficiency (NEff) and {view.measured.kind.strength} depends on the "
        "diffusion time γ, on the threshold and on the perturbation: move them and see."
    )
    terms = ("hub", "ne", "neff", "fc-strength", "gamma")
    widgets.open_page("hubs", about, *terms, simulated=view.subject.simulated)
    with widgets.controls():
        widgets.ask(PageOptions, "hub_tab", cohort=view.cohort)
        share = ("share",) if view.options(HubOptions).rule == "top" else ()
        widgets.ask(HubOptions, "perturbation", "gamma", "rule", *share, cohort=view.cohort)
    with input_errors_shown():
        if widgets.wants_hubs(view) and view.measured.graph().n_edges:
            _TABS[view.options(PageOptions).hub_tab](view)


def _strongest(view: View) -> str:
    return view.atlas.regions[view.measured.strongest_hub(view.options(HubOptions))]


def _region(view: View) -> str:
    """The region that is pinned, or else the strongest hub."""
    if st.session_state.setdefault(REGION, _STRONGEST) not in view.atlas.regions:  # none, or of another atlas
        st.session_state[REGION] = _STRONGEST
    return st.session_state[REGION] or _strongest(view)


def _pick(view: View) -> Callable[[int], None]:
    """What pins the region of a point that is clicked."""

    def pick(number: int) -> None:
        st.session_state[REGION] = view.atlas.regions[number]

    return pick


def _show_regions(view: View) -> None:
    """Show the regions in the brain, and the measures across them."""
    with widgets.columns("regions", wide=True):
        with st.container(), input_errors_shown():
            _show_brain(view)
        with st.container():
            _show_curves(view)
    if reason := figures.little_strength_reason(view.measured):
        in_one_line(reason, key="little_strength")


def _show_agreement(view: View) -> None:
    """Show whether NE agrees with the other measures: region by region, beyond strength and degree, and over γ."""
    region = _region(view)
    if others := _others(view):
        options = {
            measure: view.options(figures.hub_scatter.takes, measure=measure, region=region) for measure in others
        }
        heading("Does NE agree, region by region?", "agreement")
        scatters = [(figures.hub_scatter, how, f"ne_{measure}") for measure, how in options.items()]
        show_beside(view, *scatters, on_pick=_pick(view))
        agrees = {HUB_MEASURES[one].heading: {"finding": "agreement", "beside": one} for one in others}
        ask_survival(view, "agreement", agrees)
    if not widgets.measure_rest_of_hubs(view):
        return
    with widgets.columns("agreement", wide=True):
        with st.container():
            _show_verdict(view)
        if over := figures.steady_over_gamma(others):
            with st.container():
                title = "At which diffusion times does NE agree?"
                Panel(figures.gamma_sweep, title=title, fixed={"measures": over})(view)


def _others(view: View) -> tuple[str, ...]:
    """The chosen measures beside NE."""
    return tuple(measure for measure in view.options(figures.HubCurvesOptions).measures if measure != NE)


def _show_brain(view: View) -> None:
    """Show the regions at their places, sized by NE and coloured by its rank, or by five measures."""
    if view.atlas.coordinates is None:
        show_no_places()
        return
    widgets.ask(PageOptions, "hub_brain", cohort=view.cohort)
    shown = view.options(PageOptions).hub_brain
    if shown == FIVE:
        show(view, figures.five_brains, view.options(EntanglementOptions), key="hub_five")
    else:
        show_in_brain(view, figures.hub_brain, shown, key="hub_brain")


def _show_curves(view: View) -> None:
    """Show the measures over regions, with the group behind where it is asked for."""
    region = _region(view)
    options = view.options(figures.HubCurvesOptions, region=region)
    widgets.ask(figures.HubCurvesOptions, "measures", cohort=view.cohort)
    asked = ["scale", "order"]
    if view.atlas.n_regions > figures.N_RANDOM:
        asked += ["n_random", "seed"] if options.n_random else ["n_random"]
    widgets.ask_in_row(figures.HubCurvesOptions, *asked, cohort=view.cohort)
    members = figures.group_members(view.measured)
    n_people = len({person_of(member.id) for member in members})
    group = escape_markdown(view.subject.group or "the whole cohort")
    label = f"Show {group} in the background: mean ± SD of {counted_people(n_people, len(members))}"
    widgets.ask_for(figures.HubCurvesOptions.declared()["group"], view.cohort, label=label, disabled=n_people < 2)
    if options.group:
        whole = n_people > 1 and widgets.measure_all(
            Measured.hub_curves,
            [(view.measured.of(member.id), options, options.measures) for member in members],
            key="group_curves",
            start="Measure the group",
            doing="Perturbing every region of subject",
            automatic=True,
        )
        options = options if whole else view.options(figures.HubCurvesOptions, region=region, group=False)
    show(view, figures.hub_curves, options, on_pick=_pick(view))


# Whether to believe a subject's hubs: agreement beyond strength and degree, and the reliability of each measure.


def _show_verdict(view: View) -> None:
    """Show whether NE agrees with NEff beyond strength and degree, against null graphs if asked."""
    subject, measured, options = view.subject, view.measured, view.options(EntanglementOptions)
    about = (
        "A region with many and strong connections has a high NE and a high NEff, whatever else the graph looks like. "
        "Only agreement beyond that is evidence that NE follows NEff."
    )
    heading("Does NE agree beyond strength and degree?", "null-graph", about=about)
    with input_errors_shown():
        own = measured.own_agreement(options.perturbation)
        verdict = st.empty()
        verdict.markdown(escape_markdown(agreement.given_sentence(own.at(options.gamma))))
        whole = widgets.measure_all(
            Measured.null_agreement,
            [(measured, options.perturbation, seed) for seed in NULL_SEEDS],
            key="agreement_nulls",
            start=f"Compare with {len(NULL_SEEDS)} null graphs",
            doing="Null graph",
        )
        if not whole:
            return
        found = measured.agreement_against_nulls(options, NULL_SEEDS)
        verdict.markdown(f"**{escape_markdown(agreement.verdict_sentence(found))}**")
        rows = agreement.comparison_rows(found, measured.kind)
        alt = "Agreement of NE in this subject and in its null graphs"
        widgets.show_table(rows, key="agreement_table", width="content", alt=alt)
        said = agreement.verdict_caption(
            subject.id,
            found,
            gamma=options.gamma,
            perturbation=options.perturbation,
            seed=NULL_SEEDS[0],
            simulated=subject.simulated,
        )
        in_one_line(said, key="agreement_table")


def _show_reliability(view: View, study: reliability.StudyReliability) -> None:
    """Show how reliable each measure is, in the study where that applies and in this subject if asked."""
    heading("How reliable are these measures?")
    own = _own_halves(view)
    if own is not None:
        said = reliability.own_sentence(view.subject.id, own, simulated=view.subject.simulated)
        in_one_line(said, key="own_halves")
    if own is None and study.table is None:
        in_one_line(study.note, key="no_reliability")
        return
    table = study.rows(own)
    numbers = {name: st.column_config.NumberColumn(name, format="%.2f") for name in table.columns[1:]}
    alt = "Reliability of each hub measure"
    widgets.show_table(table, key="reliability_table", columns=numbers, width="content", alt=alt)
    in_one_line(study.caption(own=own is not None), key="reliability")


def _own_halves(view: View) -> pd.DataFrame | None:
    """Offer to measure the halves of the recording; None before that, or where there are none."""
    if reason := reliability.why_not_split(view.subject, view.settings):
        in_one_line(reason, key="not_split")
        return None
    measured, options = view.measured, view.options(HubOptions)
    whole = widgets.measure_all(
        Measured.half_hubs,
        [(measured, options.perturbation, half) for half in reliability.HALVES],
        key="hub_halves",
        start="Measure the two halves of this recording",
        doing="Half",
    )
    return measured.halves_compared(options) if whole else None


# The table of all regions.


def _show_numbers(view: View) -> None:
    """Show the table of all regions, and how reliable its measures are."""
    near = view.options(EntanglementOptions)
    study = reliability.study_reliability(
        view.settings, view.atlas, gamma=near.gamma, perturbation=near.perturbation, kind=view.measured.kind
    )
    _show_table(view, study)
    _show_reliability(view, study)


def _show_table(view: View, study: reliability.StudyReliability) -> None:
    """Show the measures of every region, the pinned one first, then the strongest hub by NE."""
    subject, options, kind = view.subject, view.options(HubOptions), view.measured.kind
    measures = view.options(figures.HubCurvesOptions).measures
    table = view.measured.hub_table(options, tuple(dict.fromkeys((NE, *measures))))
    called = {key: HUB_MEASURES[key].in_words_of(kind) for key in measures}
    columns: dict[str, Any] = {}
    for name, names in view.atlas.labels.items():
        title = LABELLINGS.get(name)
        spelt = "; ".join(f"{short}: {network}" for short, network in PAPER_MODULES.items() if short in names)
        help_text = f"{title}. {spelt}" if title and spelt else title
        width = _LETTER_WIDTH * max([_FEWEST_LETTERS, *(len(network) + 2 for network in names if network)])
        columns[name] = st.column_config.TextColumn(name.capitalize(), width=width, help=help_text)
    for key, about in called.items():
        short, number = about.short, "%d" if about.counts else "%.4g"
        known = study.sentence(key)
        meaning = f"{about.title}. {known}" if known else about.title
        columns[key] = st.column_config.NumberColumn(short, format=number, help=meaning)
        columns[f"{key}_rank"] = st.column_config.NumberColumn(f"{short} rank")
        columns[f"{key}_hub"] = st.column_config.CheckboxColumn(f"{short} hub", help="A hub by the chosen rule")
    shown = [f"{measure}{what}" for measure in measures for what in ("", "_rank", "_hub")]
    ordered = widgets.pinned_first(table.sort_values(f"{NE}_rank", kind="stable"), "region")
    ordered = ordered[["region", *shown, *view.atlas.labels]]
    widgets.show_table(
        ordered.fillna(dict.fromkeys(view.atlas.labels, "")),
        key="hub_table",
        columns=columns,
        height=420,
        hide_index=None,
        alt="Hub measures of each region: value, rank, and whether it is a hub",
    )
    counts = ", ".join(f"{table[f'{key}_hub'].sum()} by {measure.short}" for key, measure in called.items())
    in_one_line(
        f"{whose(subject.id, subject.simulated)}: hubs are {options.hubs_are}, by each measure on its own: "
        f"{counts or 'none is shown'}. Rank {figures.RANK_1}. NE is |ΔS| in bits at γ = {options.gamma:g}/mean(λ), "
        f"perturbation {options.perturbation}. Click a column header to sort.",
        key="hub_table",
        line=f"Hubs are {options.hubs_are}: {counts or 'none is shown'}.",
    )


# Why this region? One region, picked by a click or by name, and what node entanglement sees.


def _show_why(view: View) -> None:
    """Show what node entanglement compares for one region, in figures and words."""
    region, strongest = _region(view), _strongest(view)
    if not widgets.measure_rest_of_hubs(view):
        return
    heading("Why this region?", "control-graph", "laplacian", "spectral-entropy", "ve")
    st.selectbox(
        "Region: choose it here, or click a point in a figure",
        [_STRONGEST, *view.atlas.regions],
        format_func=lambda name: name or f"The strongest hub by NE: {strongest}",
        key=REGION,
        persist_state="session",
    )
    options = view.options(why.region_spectra.takes, region=region)
    story = why.story_of(view.measured, options)
    before, after = (view.options(why.region_surroundings.takes, region=region, perturbed=how) for how in (False, True))
    entropy = view.options(why.region_entropy.takes, region=region)
    show_beside(
        view,
        (why.region_surroundings, before, "why_before"),
        (why.region_surroundings, after, "why_after"),
        (why.region_spectra, options, "why_spectra"),
        (why.region_entropy, entropy, "why_entropy"),
    )
    st.markdown(
        "\n".join(f"- {escape_markdown(sentence)}" for sentence in why.story_sentences(story, view.measured.kind))
    )
    _show_standings(story, view.measured.kind)
    ask_survival(view, "region", {region: {"finding": "hub", "region": region}})


def _show_standings(story: RegionExplanation, kind: ConnectivityKind) -> None:
    rows = [
        {
            "Measure": HUB_MEASURES[measure].in_words_of(kind).heading,
            "Value": standing.value,
            "Unit": HUB_MEASURES[measure].unit,
            "Rank": standing.rank,
            "Hub": standing.hub,
        }
        for measure, standing in story.standings.items()
    ]
    widgets.show_table(
        rows,
        key="why_ranks",
        columns={
            "Value": st.column_config.NumberColumn(format="%.4g"),
            "Unit": st.column_config.TextColumn(width=210),
            "Rank": st.column_config.NumberColumn(f"Rank of {story.n_regions}"),
        },
        alt=f"Value, rank and verdict of {story.name} by each hub measure",
    )
    low = [HUB_MEASURES[measure].title for measure in story.standings if HUB_MEASURES[measure].low_in_hubs]
    but = f", and low values of {listed(low)}" if low else ""
    notes = " ".join(notes_on(story.standings))
    said = f"{story.name} by each hub measure; rank {figures.RANK_1}. Hubs have high values{but}. {notes}"
    in_one_line(said, key="why_ranks")


# Where the subject stands among others.


def _show_centiles(view: View) -> None:
    """Show the centile of a hub measure, and beside it those of all places."""
    chosen = view.options(HubCentileOptions)
    show_centiles(
        view,
        centiles,
        "measure",
        "place",
        measure=hub_means,
        arguments=(chosen, chosen.measure),
        defaults=EntanglementOptions(),
        beside={capitalised(place): replace(chosen, place=place) for place in places_in(view.atlas)},
    )


_TABS = {
    "regions": _show_regions,
    "agreement": _show_agreement,
    "region": _show_why,
    "table": _show_numbers,
    "centiles": _show_centiles,
}


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
