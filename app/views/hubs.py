"""Hubs in the brain, on the page of hubs: in 3-D, in the glass brain, and five measures side by side."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from biobgt.base.files import safe_table
from biobgt.base.wording import listed
from biobgt.data.atlas import LABELLINGS, PAPER_MODULES
from biobgt.data.cohort import counted_people, person_of
from biobgt.data.graph import ConnectivityKind
from biobgt.figures.agreement_words import comparison_rows, given_sentence, verdict_caption, verdict_sentence
from biobgt.figures.hub_words import RANK_1, little_strength_reason, table_caption
from biobgt.figures.hubs import (
    N_RANDOM,
    GammaSweepOptions,
    HubBrainOptions,
    HubCurvesOptions,
    HubScatterOptions,
    five_brains,
    gamma_sweep,
    group_members,
    hub_brain,
    hub_curves,
    hub_scatter,
    steady_over_gamma,
)
from biobgt.figures.reliability_words import (
    measure_reliability,
    own_reliability_sentence,
    reliability_caption,
    reliability_rows,
)
from biobgt.figures.why_region import (
    EntropyOptions,
    RegionOptions,
    SurroundingsOptions,
    region_entropy,
    region_spectra,
    region_surroundings,
    story_of,
    story_sentences,
)
from biobgt.hubs import resolvents as cost
from biobgt.hubs.measures import HUB_MEASURES, NE, HubMeasure, notes_on
from biobgt.hubs.options import GAMMAS, NULL_SEEDS, EntanglementOptions, HubOptions
from biobgt.hubs.reliability import HALVES, StudyReliability, study_reliability, why_not_split
from biobgt.hubs.table import RegionExplanation
from biobgt.results.measured import Measured
from session.view import FIVE, GLASS, REGION, PageOptions, View, brain_kind, current_view
from session.work import work_through
from views.shared.options import ask, ask_for
from views.shared.widgets import SIDE_BY_SIDE, explained, heading, input_errors_shown, plain, show, show_no_places


def show_brain(view: View) -> None:
    """Show the regions at their places, sized by NE and coloured by its rank, or by five measures."""
    heading(hub_brain.name, simulated=view.subject.simulated)
    if view.atlas.coordinates is None:
        show_no_places()
        return
    ask(PageOptions, "hub_brain", cohort=view.cohort)
    shown = view.options(PageOptions).hub_brain
    if shown == FIVE:
        show(view, five_brains, view.options(EntanglementOptions), key="hub_five")
        return
    options = view.options(HubBrainOptions, brain=brain_kind(shown))
    show(view, hub_brain, options, key="hub_glass" if shown == GLASS else None, as_picture=shown == GLASS)


# The curves over regions on the page of hubs: which measures and regions, on which scale, and the group behind.


def show_curves(view: View, *, region: str, on_pick: Callable[[int], None]) -> None:
    """Show the measures over regions, with the group behind where it is asked for.

    Parameters
    ----------
    view : View
    region : str
        Name of the region to mark.
    on_pick : callable
        Told the number of the region that was clicked.
    """
    heading("Hub measures across regions", simulated=view.subject.simulated)
    ask(HubCurvesOptions, "measures", cohort=view.cohort)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(HubCurvesOptions, "scale", "order", cohort=view.cohort)
        if view.atlas.n_regions > N_RANDOM:
            ask(HubCurvesOptions, "n_random", cohort=view.cohort)
            if view.options(HubCurvesOptions).n_random:
                ask(HubCurvesOptions, "seed", cohort=view.cohort)
    _ask_for_group(view)
    options = view.options(HubCurvesOptions, region=region)
    if options.group and not _measure_group(view, options):
        options = view.options(HubCurvesOptions, region=region, group=False)
    show(view, hub_curves, options, on_pick=on_pick)


def _ask_for_group(view: View) -> None:
    """Let the user put the group behind the curves."""
    members = group_members(view.measured)
    n_people = len({person_of(member.id) for member in members})
    name = plain(view.subject.group or "the whole cohort")
    label = f"Show {name} in the background: mean ± SD of {counted_people(n_people, len(members))}"
    ask_for(HubCurvesOptions.declared()["group"], view.cohort, label=label, disabled=n_people < 2)


def _measure_group(view: View, options: HubCurvesOptions) -> bool:
    """Measure every subject of the group, which shows how far it is and can be stopped; true when all are."""
    members = group_members(view.measured)
    if len({person_of(member.id) for member in members}) < 2:
        return False
    left = [
        member.id
        for member in members
        if not view.measured.of(member.id).is_kept(Measured.hub_curves, options, options.measures)
    ]
    return work_through(
        left,
        lambda subject: view.measured.of(subject).hub_curves(options, options.measures),
        key="group_curves",
        start="Measure the group",
        doing="Perturbing every region of subject",
        automatic=True,
        done_before=len(members) - len(left),
    )


# Whether to believe a subject's hubs: agreement beyond strength and degree, and the reliability of each measure.


def show_little_strength(view: View) -> None:
    """Say where FC strength has little to compare with."""
    if reason := little_strength_reason(view.measured):
        st.info(plain(reason), icon=":material/info:")


def show_verdict(view: View) -> None:
    """Show whether NE agrees with NEff beyond strength and degree, against null graphs if asked."""
    subject, measured, options = view.subject, view.measured, view.options(EntanglementOptions)
    heading("Does NE agree beyond strength and degree?", simulated=subject.simulated, terms=("null-graph",))
    st.markdown(
        "A region with many and strong connections has a high NE and a high NEff, whatever else the graph looks like. "
        "Only agreement beyond that is evidence that NE follows NEff."
    )
    with input_errors_shown():
        own = measured.own_agreement(options.perturbation)
        verdict = st.empty()
        verdict.markdown(plain(given_sentence(own.at(options.gamma))))
        how = options.perturbation
        left = [seed for seed in NULL_SEEDS if not measured.is_kept(Measured.null_agreement, how, seed)]
        whole = work_through(
            left,
            partial(measured.null_agreement, how),
            key="agreement_nulls",
            start=f"Compare with {len(NULL_SEEDS)} null graphs",
            doing="Null graph",
            done_before=len(NULL_SEEDS) - len(left),
        )
        if not whole:
            return
        found = measured.agreement_against_nulls(options, NULL_SEEDS)
        verdict.markdown(f"**{plain(verdict_sentence(found))}**")
        st.dataframe(
            safe_table(pd.DataFrame(comparison_rows(found, view.measured.kind))),
            hide_index=True,
            key="agreement_table",
            width="content",
            alt="Agreement of NE in this subject and in its null graphs",
        )
        caption = verdict_caption(
            subject.id,
            found,
            gamma=options.gamma,
            perturbation=options.perturbation,
            seed=NULL_SEEDS[0],
            simulated=subject.simulated,
        )
        st.caption(plain(caption))


def hub_reliability(view: View) -> StudyReliability:
    """The study's reliability that fits the view's graph, or why none does."""
    options = view.options(EntanglementOptions)
    return study_reliability(
        view.settings, view.atlas, gamma=options.gamma, perturbation=options.perturbation, kind=view.measured.kind
    )


def show_reliability(view: View) -> None:
    """Show how reliable each measure is, in the study where that applies and in this subject if asked."""
    heading("How reliable are these measures?")
    study = hub_reliability(view)
    own = _own_halves(view)
    if own is not None:
        st.markdown(plain(own_reliability_sentence(view.subject.id, own, simulated=view.subject.simulated)))
    if own is None and study.table is None:
        st.caption(plain(study.note))
        return
    table = reliability_rows(study, own)
    numbers = {name: st.column_config.NumberColumn(name, format="%.2f") for name in table.columns[1:]}
    st.dataframe(
        safe_table(table),
        hide_index=True,
        key="reliability_table",
        column_config=numbers,
        width="content",
        alt="Reliability of each hub measure",
    )
    st.caption(plain(reliability_caption(study, own=own is not None)))


def _own_halves(view: View) -> pd.DataFrame | None:
    """Offer to measure the halves of the recording; None before that, or where there are none."""
    if reason := why_not_split(view.subject, view.settings):
        st.caption(plain(reason))
        return None
    measured, options = view.measured, view.options(HubOptions)
    left = [half for half in HALVES if not measured.is_kept(Measured.half_hubs, options.perturbation, half)]
    whole = work_through(
        left,
        partial(measured.half_hubs, options.perturbation),
        key="hub_halves",
        start="Measure the two halves of this recording",
        doing="Half",
        done_before=len(HALVES) - len(left),
    )
    return measured.halves_compared(options) if whole else None


# The scatters, the γ-sweep and the table of the page of hubs.


LETTER_WIDTH, FEWEST_LETTERS = 8, 10  # of a column of names, in px, so that "cingulo-opercular" is whole


def show_scatters(view: View, measures: tuple[str, ...], *, region: str, on_pick: Callable[[int], None]) -> None:
    """Show node entanglement against each of the other measures.

    Parameters
    ----------
    view : View
    measures : tuple of str
        Keys of the other measures.
    region : str
        Name of the region to mark.
    on_pick : callable
        Told the number of the region that was clicked.
    """
    heading("Does NE agree, region by region?", simulated=view.subject.simulated, terms=("agreement",))
    with st.container(horizontal=True):
        for measure in measures:
            options = view.options(HubScatterOptions, measure=measure, region=region)
            with st.container(width=SIDE_BY_SIDE):
                show(view, hub_scatter, options, key=f"ne_{measure}", on_pick=on_pick)


def show_sweep(view: View, measures: tuple[str, ...]) -> None:
    """Show where over γ node entanglement agrees with the other measures."""
    heading("At which diffusion times does NE agree?", simulated=view.subject.simulated)
    show(view, gamma_sweep, view.options(GammaSweepOptions, measures=measures))


def show_table(view: View, measures: tuple[str, ...]) -> None:
    """Show the measures of every region, the strongest hub by NE first."""
    subject, options = view.subject, view.options(HubOptions)
    table = view.measured.hub_table(options, tuple(dict.fromkeys((NE, *measures))))
    heading("Hub table", simulated=subject.simulated)
    reliability = hub_reliability(view)
    columns = [f"{measure}{what}" for measure in measures for what in ("", "_rank", "_hub")]
    kind = view.measured.kind
    n_hubs = {HUB_MEASURES[measure].in_words_of(kind).short: int(table[f"{measure}_hub"].sum()) for measure in measures}
    caption = table_caption(subject.id, n_hubs, options, simulated=subject.simulated)
    shown = table.sort_values(f"{NE}_rank", kind="stable")[["region", *columns, *view.atlas.labels]]
    labels = {
        name: st.column_config.TextColumn(name.capitalize(), width=_width(names), help=_label_help(name, names))
        for name, names in view.atlas.labels.items()
    }
    st.dataframe(
        safe_table(shown.fillna(dict.fromkeys(view.atlas.labels, ""))),
        key="hub_table",
        column_config={
            column: config
            for measure in measures
            for column, config in _columns(
                HUB_MEASURES[measure].in_words_of(kind), measure_reliability(measure, reliability)
            ).items()
        }
        | labels,
        height=420,
        alt="Hub measures of each region: value, rank, and whether it is a hub",
    )
    st.caption(plain(caption))


def _label_help(labelling: str, names: Iterable[str | None]) -> str | None:
    """What a labelling is, and which networks its abbreviations are."""
    title = LABELLINGS.get(labelling)
    found = set(names)
    spelt = "; ".join(f"{short}: {name}" for short, name in PAPER_MODULES.items() if short in found)
    return f"{title}. {spelt}" if title and spelt else title


def _width(names: Iterable[str | None]) -> int:
    """The width of a column in which the longest of the names is whole, in px."""
    return LETTER_WIDTH * max([FEWEST_LETTERS, *(len(name) + 2 for name in names if name)])


def _columns(about: HubMeasure, reliability: str) -> dict[str, Any]:
    """How a measure's columns are headed and written; its reliability stands in the help of the first."""
    measure = about.key
    meaning = f"{about.title}. {reliability}" if reliability else about.title
    number = "%d" if about.counts else "%.4g"
    return {
        measure: st.column_config.NumberColumn(about.short, format=number, help=meaning),
        f"{measure}_rank": st.column_config.NumberColumn(f"{about.short} rank"),
        f"{measure}_hub": st.column_config.CheckboxColumn(f"{about.short} hub", help="A hub by the chosen rule"),
    }


# Why this region? One region of the page of hubs, picked by a click or by name, and what node entanglement sees.


ANCHOR = "why-this-region"
STRONGEST = ""  # in place of a region: whichever has the highest NE


def picked_region(view: View) -> str:
    """The region that is asked about: the one picked, or the one with the highest NE."""
    if st.session_state.setdefault(REGION, STRONGEST) not in view.atlas.regions:  # none, or of another atlas
        st.session_state[REGION] = STRONGEST
    return st.session_state[REGION] or _strongest(view)


def pick_region(view: View, region: int) -> None:
    """Ask about a region that was clicked."""
    st.session_state[REGION] = view.atlas.regions[region]


def show_hint(region: str) -> None:
    """Say that points can be clicked, and where the answer is."""
    st.markdown(
        f"Click a point to see why NE ranks its region as it does. Selected: **{plain(region)}**, explained in "
        f"[Why this region?](#{ANCHOR})"
    )


def show_why(view: View, region: str) -> None:
    """Show what node entanglement compares for one region, in words and figures."""
    terms = ("control-graph", "laplacian", "spectral-entropy", "ve")
    heading("Why this region?", simulated=view.subject.simulated, terms=terms)
    strongest = _strongest(view)
    st.selectbox(
        "Region: choose it here, or click a point above",
        [STRONGEST, *view.atlas.regions],
        format_func=lambda name: name or f"The strongest hub by NE: {strongest}",
        key=REGION,
        persist_state="session",
    )
    story = story_of(view.measured, view.options(RegionOptions, region=region))
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in story_sentences(story, view.measured.kind)))
    with st.container(horizontal=True):
        for key, perturbed in (("why_before", False), ("why_after", True)):
            options = view.options(SurroundingsOptions, region=region, perturbed=perturbed)
            with st.container(width=SIDE_BY_SIDE):
                show(view, region_surroundings, options, key=key)
    with st.container(horizontal=True):
        with st.container(width=SIDE_BY_SIDE):
            show(view, region_spectra, view.options(RegionOptions, region=region), key="why_spectra")
        with st.container(width=SIDE_BY_SIDE):
            show(view, region_entropy, view.options(EntropyOptions, region=region), key="why_entropy")
    _show_standings(story, view.measured.kind)


def _strongest(view: View) -> str:
    return view.atlas.regions[view.measured.strongest_hub(view.options(HubOptions))]


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
    st.dataframe(
        safe_table(pd.DataFrame(rows)),
        key="why_ranks",
        hide_index=True,
        column_config={
            "Value": st.column_config.NumberColumn(format="%.4g"),
            "Unit": st.column_config.TextColumn(width=210),
            "Rank": st.column_config.NumberColumn(f"Rank of {story.n_regions}"),
        },
        alt=f"Value, rank and verdict of {story.name} by each hub measure",
    )
    st.caption(
        plain(
            f"{story.name} by each hub measure; rank {RANK_1}. Hubs have "
            f"high values{_low_in_hubs(story)}. {' '.join(notes_on(story.standings))}"
        )
    )


def _low_in_hubs(story: RegionExplanation) -> str:
    """Of which measures hubs have low values; nothing where there is none."""
    low = [HUB_MEASURES[measure].title for measure in story.standings if HUB_MEASURES[measure].low_in_hubs]
    return f", and low values of {listed(low)}" if low else ""


# Hubs: node entanglement beside node efficiency and FC strength, where they agree and where not.


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Hubs", help=explained("hub", "ne", "neff", "fc-strength", "gamma"))
    strength = view.measured.kind.strength
    st.markdown(
        "Node entanglement (NE) asks how much the spectral entropy of the brain graph changes when one region is "
        f"perturbed. Whether it agrees with node efficiency (NEff) and {strength} depends on the diffusion time γ, on "
        "the threshold and on the perturbation: move them and see."
    )
    _ask_how(view)
    if not _wants_hubs(view):
        return
    if not _has_graph(view):
        return
    with input_errors_shown():
        measures = view.options(HubCurvesOptions).measures
        others = tuple(measure for measure in measures if measure != NE)
        region = picked_region(view)
        on_pick = partial(pick_region, view)
        show_brain(view)
        show_little_strength(view)
        show_curves(view, region=region, on_pick=on_pick)
        show_hint(region)
        if others:
            show_scatters(view, others, region=region, on_pick=on_pick)
        over_gamma = st.container()
        in_detail = st.container()
        show_reliability(view)
        show_table(view, measures)
        with over_gamma:  # filled last: with many regions it takes longest
            whole = _measure_rest(view)
            if whole:
                show_verdict(view)
                if over := steady_over_gamma(others):
                    show_sweep(view, over)
        if whole:
            with in_detail:
                show_why(view, region)


def _has_graph(view: View) -> bool:
    """Whether the subject has a brain graph with these settings; without one the page says why, and no more."""
    n_edges = 0
    with input_errors_shown():
        n_edges = view.measured.graph().n_edges
    return n_edges > 0


def _ask_how(view: View) -> None:
    """Ask how hubs are measured and marked."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(HubOptions, "perturbation", "gamma", "rule", cohort=view.cohort)
        if view.options(HubOptions).rule == "top":
            ask(HubOptions, "share", cohort=view.cohort)


def _wants_hubs(view: View) -> bool:
    """Whether to measure the view's hubs: always for atlases of the usual size, else once the user has said so.

    Asked once for all subjects of an atlas.
    """
    n_regions = view.atlas.n_regions
    wanted = f"hubs_wanted_{view.loaded.key}_{n_regions}"
    if n_regions <= cost.ASK_ABOVE or st.session_state.get(wanted, False):
        return True
    st.info(plain(cost.cost_sentence(n_regions)), icon=":material/hourglass_top:")
    st.button("Measure the hubs", key="measure_hubs", icon=":material/play_arrow:", on_click=_want, args=(wanted,))
    return False


def _want(wanted: str) -> None:
    st.session_state[wanted] = True


def _measure_rest(view: View) -> bool:
    """Measure all diffusion times and all measures, which shows how far it is and can be stopped; true when it is done.

    With few regions nothing is measured here: whoever draws it has it at once.
    """
    if view.atlas.n_regions <= cost.STEPS_ABOVE:
        return True
    hubs = view.measured.hubs(view.options(EntanglementOptions).perturbation)
    steps = hubs.steps(GAMMAS)
    left = [step for step in steps if not hubs.has(step)]
    return work_through(
        left,
        hubs.measure,
        key="rest_of_hubs",
        start="Measure NE at the other diffusion times, and the other measures",
        doing="Measuring NE at the other diffusion times, then the other measures: step",
        automatic=True,
        done_before=len(steps) - len(left),
    )


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    show_page()
