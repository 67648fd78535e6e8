"""Compare: whether two groups of the cohort differ, and whether it may be the diagnosis.

What differs stands above what it rests on, which is said before anything is computed.
"""

import pandas as pd
import streamlit as st

from biobgt import InputError
from biobgt.base.beyond import BEYOND, beyond_title
from biobgt.base.files import write_csv
from biobgt.base.options import Plain
from biobgt.base.wording import capitalised, counted, covariate_words, not_ruled_out, percent
from biobgt.data.cohort import FEWEST_COMPARED, number_of_people
from biobgt.figures import groups as figures
from biobgt.figures.modules import networks_of
from biobgt.groups import compare as comparing
from biobgt.groups import features
from biobgt.groups.compare import HUBS, MODULES, NETWORKS, NOTHING, SEGREGATION, ComparisonOptions
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.inference.covariates import offered_covariates
from biobgt.modules.compare import ModuleDifference
from biobgt.modules.measures import SHUFFLES
from biobgt.results.measured import Measured
from session.view import PageOptions, View, current_view
from views.page_map import PAGES
from views.shared import widgets
from views.shared.figures import show, show_in_brain, show_no_places
from views.shared.survival import ask_survival
from views.shared.widgets import escape_markdown, heading, in_one_line, input_errors_shown

# What is asked beside the groups, by what is compared.
_OPTIONS_OF = {
    NETWORKS: ("labelling",),
    SEGREGATION: ("resolution", "consensus", "runs", "seed"),
    HUBS: ("measure",),
    MODULES: ("resolution", "consensus", "runs", "seed"),
}
_SHOWN = {"difference": "Difference", "d": "d", "d_low": "d, low", "d_high": "d, high", "p": "p", "q": "q"}
_GLASS_MM = 85.0


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    about = (
        "Two groups of the cohort, compared over people: several recordings of a person are averaged first. What the "
        "covariates cost is said before anything is computed."
    )
    widgets.open_page("compare", about, "covariate", simulated=view.cohort.simulated)
    if len(comparing.comparable_groups(view.cohort)) < 2:
        st.info(f"Two groups of at least {FEWEST_COMPARED} people each are needed.")
        st.page_link(PAGES["subjects"].script, label="Set groups on the page Subjects", icon=":material/arrow_forward:")
        return
    with input_errors_shown():
        options = _ask(view)
        pictures = st.container()  # above what they rest on
        if options.first == options.second:
            st.info(widgets.TWO_GROUPS)
        elif options.of == MODULES:
            _show_modules(view)
        elif _show_design(view, options):
            with pictures:
                whole = _show_differences(view, options)
            if whole:
                _show_table(view, options)
                ask_survival(view, "compare", _findings(view, options))


def _ask(view: View) -> ComparisonOptions:
    """Ask which groups are compared, in what, and adjusted for what."""
    options = view.options(ComparisonOptions)
    asked = [name for name in _OPTIONS_OF[options.of] if name != "labelling" or view.atlas.labels]
    if options.of == HUBS and HUB_MEASURES[options.measure].depends_on_gamma:
        asked += ["gamma", "perturbation"]
    if options.of != MODULES and offered_covariates(view.cohort):
        asked += ["covariates", "leave_out_incomplete"]
    with widgets.controls():
        widgets.ask(ComparisonOptions, "of", "first", "second", *asked, cohort=view.cohort)
    return options


# What a comparison rests on: people, covariates, what these cost, and what is refused.


def _show_design(view: View, options: ComparisonOptions) -> bool:
    """Show who is compared and what covariates cost; false where the comparison is refused, with the reason."""
    heading("Sample and design", "residual-degrees", "effect-size", "fdr")
    try:
        planned = features.plan_comparison(view.cohort, options)
        people, design = planned.people, planned.people.design
        sizes = {f"People of {group}": n for group, n in people.sizes.items()}
        widgets.show_numbers({**sizes, "Residual degrees of freedom": max(design.degrees, 0)})
        if design.covariates:
            _show_costs(planned)
        design.check()
    except InputError as error:
        st.error(escape_markdown(str(error)), icon=":material/block:")
        return False
    said = [*design.notes, not_ruled_out(planned.covariates.absent)]
    if people.n_dropped:
        said.insert(0, f"Excluded because a covariate is missing: {number_of_people(people.n_dropped)}.")
    if text := " ".join(sentence for sentence in said if sentence):
        in_one_line(text, key="design")
    return True


def _show_costs(planned: features.PlannedComparison) -> None:
    """One row per covariate: what it takes, and how far it and the group are one."""
    design, known = planned.people.design, planned.people.covariates
    assert known is not None
    rows = [
        {
            "Covariate": capitalised(covariate_words(name)),
            "Degrees of freedom used": taken,
            "Group variance explained": percent(design.explained_by[name]),
            "Missing in (people)": int(known[name].isna().sum()),
        }
        for name, taken in design.taken.items()
    ]
    widgets.show_table(rows, key="covariate_costs", width="content", alt="What each covariate costs")


def _findings(view: View, options: ComparisonOptions) -> dict[str, dict[str, Plain]]:
    """What may be asked whether it would survive, the clearest difference first."""
    of_motion = {"log_mean_fd": "log", "mean_fd": "linear"}
    others = tuple(name for name in options.covariates if name not in of_motion)
    motion = next((coding for name, coding in of_motion.items() if name in options.covariates), "none")
    about: dict[str, Plain] = {"covariates": others or (NOTHING,), "motion": motion}
    if options.of == SEGREGATION:
        return {
            "System segregation": {"finding": "segregation", **about},
            "Modularity Q": {"finding": "modularity", **about},
        }
    found = features.compare_measured(view.measured, options)[1].table.sort_values("p", kind="stable")
    names = found.loc[found["p"].notna(), "feature"].astype(str)
    if options.of == HUBS:
        return {name: {"finding": "hub-measure", "region": name, "measure": options.measure, **about} for name in names}
    of = {"finding": "block", "labelling": options.labelling, **about}
    return {name: {**of, "networks": tuple(name.split(" – "))} for name in names}


# What differs, once every subject is measured: effect sizes, regions in the brain, the table.


def _show_differences(view: View, options: ComparisonOptions) -> bool:
    """Measure every subject of the two groups, when asked to, and show what differs; false as long as that waits."""
    members = [name for group in options.groups for name in view.cohort.group(group).ids]
    whole = widgets.work_through(
        members,
        lambda name: features.subject_features(view.measured.of(name), options),
        lambda name: features.has_features(view.measured.of(name), options),
        key="compare",
        start=f"Compare {counted(len(members), 'subject')}",
        doing="Subject",
        automatic=options.of == NETWORKS,  # some hundredths of a second each
    )
    if not whole:
        return False
    known = figures.with_known_covariates(view.cohort, options)
    with widgets.columns("differences", wide=True):
        with st.container(), input_errors_shown():
            show(view, figures.group_differences, known)
        if options.of == HUBS and view.atlas.coordinates is not None:
            with st.container(), input_errors_shown():
                _show_in_brain(view, known)
    return True


def _show_in_brain(view: View, known: ComparisonOptions) -> None:
    """Show where hubs differ."""
    with widgets.in_a_row():
        widgets.ask(PageOptions, "difference_brain", cohort=view.cohort)
        widgets.ask(figures.group_difference_brain.takes, "effect", "only_different", cohort=view.cohort)
    shown, pinned = view.options(PageOptions).difference_brain, known.covariates_sha256
    key = "difference_brain_shown"
    show_in_brain(view, figures.group_difference_brain, shown, key=key, covariates_sha256=pinned)


def _show_table(view: View, options: ComparisonOptions) -> None:
    """All features, the clearest first, and the whole table as a file."""
    simulated = features.plan_comparison(view.cohort, options).cohort.simulated
    compared = features.compare_measured(view.measured, options)[1]
    found = widgets.pinned_first(compared.table.sort_values("p", kind="stable"), "feature")
    means = {f"Mean {group}": found[f"mean_{group}"] for group in options.groups}
    table = pd.DataFrame({"Feature": found["feature"], **means, **{name: found[key] for key, name in _SHOWN.items()}})
    formats = dict.fromkeys(table.columns[1:], "%.3g")
    if BEYOND in found:
        table[view.measured.kind.named(beyond_title(compared.simpler))] = found[BEYOND]
    alt = "Differences of the two groups, one row per feature"
    widgets.show_table(table, key="differences_table", formats=formats, alt=alt)
    if compared.beyond:
        in_one_line(view.measured.kind.named(compared.beyond), key="beyond_fc")
    label = f"Download the table of {counted(len(table), 'feature')}"
    written = write_csv(compared.rows(simulated=simulated), index=False).encode()
    widgets.offer_file(label, written, f"compare_{options.of}.csv", key="differences_download")


# The modules of two groups side by side: what each group's subjects agree on, in the same colours, and a test.


def _show_modules(view: View) -> None:
    """Compare the modules of two groups, when asked to."""
    options = view.options(figures.ModuleComparisonOptions)
    if not _find_modules(view, options):
        return
    found = figures.changed_modules(view.measured, options)
    widgets.ask(PageOptions, "group_brain", cohort=view.cohort)
    shown = view.options(PageOptions).group_brain
    with widgets.columns("group_brains"):
        for group, key in zip(options.groups, ("brain_first", "brain_second"), strict=True):
            with st.container():
                if view.atlas.coordinates is None:
                    show_no_places()
                else:
                    show_in_brain(view, figures.group_module_brain, shown, key=key, picture_mm=_GLASS_MM, group=group)
    widgets.show_numbers(figures.difference_numbers(found))
    in_one_line(figures.difference_caption(view.measured, options, found), key="module_test")
    show(view, figures.group_module_flow, options, key="group_flow")
    _show_changed(view, options, found)


def _find_modules(view: View, options: figures.ModuleComparisonOptions) -> bool:
    """Find the modules of every subject and of shuffled groups, which can be stopped; true when all are found."""
    members = [name for group in options.groups for name in view.cohort.group(group).ids]
    found = widgets.measure_all(
        Measured.module_labels,
        [(view.measured.of(name), options) for name in members],
        key="groups",
        start=f"Find the modules of {counted(len(members), 'subject')}",
        doing="Subject",
    )
    return found and widgets.measure_all(
        Measured.shuffled_changes,
        [(view.measured, options, options.groups, number) for number in range(SHUFFLES)],
        key="shuffles",
        start="Permute the groups",
        doing="Permutation",
        automatic=True,
    )


def _show_changed(view: View, options: figures.ModuleComparisonOptions, found: ModuleDifference) -> None:
    """List the regions that are in another module."""
    if not found.changed:
        st.caption("No region changes module.")
        return
    networks = networks_of(view.atlas, options.labelling)
    rows = [
        {
            "Region": view.atlas.regions[region],
            f"Module in {options.first}": int(found.first[region]),
            f"Module in {options.second}": int(found.second[region]),
        }
        | ({"Functional network": networks[region] or ""} if networks else {})
        for region in found.changed
    ]
    with st.expander(f"Regions that change module: {len(rows)}"):
        widgets.show_table(rows, key="changed_regions", alt="Regions that change module")


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
