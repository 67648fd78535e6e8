"""What a comparison rests on, before anything is computed: people, covariates, what these cost, and what is refused."""

from functools import partial

import pandas as pd
import streamlit as st

from biobgt import InputError
from biobgt.base.files import safe_table, write_csv
from biobgt.base.wording import counted, not_ruled_out, percent
from biobgt.data.cohort import FEWEST_COMPARED, number_of_people
from biobgt.figures.groups import (
    DifferenceBrainOptions,
    group_difference_brain,
    group_differences,
    with_known_covariates,
)
from biobgt.figures.module_brains import GroupBrainOptions, group_module_brain
from biobgt.figures.modules import (
    ModuleComparisonOptions,
    changed_modules,
    difference_caption,
    difference_numbers,
    group_module_flow,
    networks_of,
)
from biobgt.groups.compare import (
    HUBS,
    MODULES,
    NETWORKS,
    SEGREGATION,
    ComparisonOptions,
    comparable_groups,
    covariate_title,
    offered_covariates,
)
from biobgt.groups.design import check_design, design_notes
from biobgt.groups.features import (
    PlannedComparison,
    compare_measured,
    comparison_rows,
    has_features,
    plan_comparison,
    subject_features,
)
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.modules.compare import ModuleDifference
from biobgt.modules.measures import SHUFFLES
from biobgt.results.measured import Measured
from session.view import GLASS, PageOptions, View, brain_kind, current_view
from session.work import work_through
from views.page_map import PAGES
from views.shared.options import ask
from views.shared.widgets import (
    SIDE_BY_SIDE,
    TWO_GROUPS,
    explained,
    heading,
    input_errors_shown,
    plain,
    show,
    show_no_places,
)


def show_design(view: View, options: ComparisonOptions) -> bool:
    """Show who is compared and what covariates cost; false where the comparison is refused, with the reason."""
    heading("Sample and design", simulated=view.cohort.simulated, terms=("residual-degrees",))
    try:
        planned = plan_comparison(view.cohort, options)
    except InputError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return False
    people, design = planned.people, planned.people.design
    with st.container(horizontal=True):
        for group, n in people.sizes.items():
            st.metric(f"People of {plain(group)}", n, width="content", border=True)
        st.metric("Residual degrees of freedom", max(design.degrees, 0), width="content", border=True)
    if design.covariates:
        _show_costs(planned)
    try:
        check_design(design, sum(people.sizes.values()))
    except InputError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return False
    said = [*design_notes(design), not_ruled_out(planned.covariates.absent)]
    if people.n_dropped:
        said.insert(0, f"Excluded because a covariate is missing: {number_of_people(people.n_dropped)}.")
    if text := " ".join(sentence for sentence in said if sentence):
        st.caption(plain(text))
    return True


def _show_costs(planned: PlannedComparison) -> None:
    """One row per covariate: what it takes, and how far it and the group are one."""
    design, known = planned.people.design, planned.people.covariates
    assert known is not None
    rows = [
        {
            "Covariate": covariate_title(name),
            "Degrees of freedom used": taken,
            "Group variance explained": percent(design.explained_by[name]),
            "Missing in (people)": int(known[name].isna().sum()),
        }
        for name, taken in design.taken.items()
    ]
    st.dataframe(
        safe_table(pd.DataFrame(rows)),
        hide_index=True,
        key="covariate_costs",
        width="content",
        alt="What each covariate costs",
    )


# What differs between two groups, once every subject is measured: effect sizes, regions in the brain, the table.


_SHOWN = {"difference": "Difference", "d": "d", "d_low": "d, low", "d_high": "d, high", "p": "p", "q": "q"}


def show_differences(view: View, options: ComparisonOptions) -> None:
    """Measure every subject of the two groups, when asked to, and show what differs."""
    members = [name for group in options.groups for name in view.cohort.group(group).ids]
    left = [name for name in members if not has_features(view.measured.of(name), options)]
    whole = work_through(
        left,
        lambda name: subject_features(view.measured.of(name), options),
        key="compare",
        start=f"Compare {counted(len(members), 'subject')}",
        doing="Subject",
        automatic=options.of == NETWORKS,  # some hundredths of a second each
        done_before=len(members) - len(left),
    )
    if not whole:
        return
    heading("What differs", simulated=view.cohort.simulated, terms=("effect-size", "fdr"))
    show(view, group_differences, with_known_covariates(view.cohort, options))
    if options.of == HUBS and view.atlas.coordinates is not None:
        _show_differing_regions(view)
    _show_table(view, options)


def _show_differing_regions(view: View) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(PageOptions, "difference_brain", cohort=view.cohort)
        ask(DifferenceBrainOptions, "effect", "only_different", cohort=view.cohort)
    shown = view.options(PageOptions).difference_brain
    glass = shown == GLASS
    options = with_known_covariates(view.cohort, view.options(DifferenceBrainOptions, brain=brain_kind(shown)))
    key = "difference_glass" if glass else "difference_brain_shown"
    show(view, group_difference_brain, options, key=key, as_picture=glass)


def _show_table(view: View, options: ComparisonOptions) -> None:
    """All features, the clearest first, and the whole table as a file."""
    simulated = plan_comparison(view.cohort, options).cohort.simulated
    compared = compare_measured(view.measured, options)[1]
    found = compared.table.sort_values("p", kind="stable")
    means = {f"Mean {group}": found[f"mean_{group}"] for group in options.groups}
    table = pd.DataFrame({"Feature": found["feature"], **means, **{name: found[key] for key, name in _SHOWN.items()}})
    st.dataframe(
        safe_table(table),
        hide_index=True,
        key="differences_table",
        column_config={name: st.column_config.NumberColumn(format="%.3g") for name in table.columns[1:]},
        alt="Differences of the two groups, one row per feature",
    )
    st.download_button(
        f"Download the table of {counted(len(table), 'feature')}",
        data=write_csv(comparison_rows(compared, simulated=simulated), index=False).encode(),
        file_name=f"compare_{options.of}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="differences_download",
    )


# The modules of two groups side by side: what each group's subjects agree on, in the same colours, and a test.


GLASS_MM = 85.0


def show_modules(view: View) -> None:
    """Compare the modules of two groups, when asked to."""
    heading("Modules of the groups", simulated=view.cohort.simulated, terms=("consensus",))
    options = view.options(ModuleComparisonOptions)
    if _find_modules(view, options):
        _show_difference(view, options)


def _find_modules(view: View, options: ModuleComparisonOptions) -> bool:
    """Find the modules of every subject and of shuffled groups, which can be stopped; true when all are found."""
    members = [name for group in options.groups for name in view.cohort.group(group).ids]
    left = [name for name in members if not view.measured.of(name).is_kept(Measured.module_labels, options)]
    found = work_through(
        left,
        lambda name: view.measured.of(name).module_labels(options),
        key="groups",
        start=f"Find the modules of {counted(len(members), 'subject')}",
        doing="Subject",
        done_before=len(members) - len(left),
    )
    if not found:
        return False
    measured, asked = view.measured, range(SHUFFLES)
    return work_through(
        [i for i in asked if not measured.is_kept(Measured.shuffled_changes, options, options.groups, i)],
        partial(measured.shuffled_changes, options, options.groups),
        key="shuffles",
        start="Permute the groups",
        doing="Permutation",
        automatic=True,
    )


def _show_difference(view: View, options: ModuleComparisonOptions) -> None:
    found = changed_modules(view.measured, options)
    with st.container(horizontal=True):
        for title, value in difference_numbers(found).items():
            st.metric(title, value, width="content", border=True)
    st.caption(plain(difference_caption(view.measured, options, found)))
    ask(PageOptions, "group_brain", cohort=view.cohort)
    with st.container(horizontal=True):
        for group, key in zip(options.groups, ("brain_first", "brain_second"), strict=True):
            with st.container(width=SIDE_BY_SIDE):
                _show_modules_brain(view, group, key)
    show(view, group_module_flow, options, key="group_flow")
    _show_changed(view, options, found)


def _show_modules_brain(view: View, group: str, key: str) -> None:
    if view.atlas.coordinates is None:
        show_no_places()
        return
    shown = view.options(PageOptions).group_brain
    glass = shown == GLASS
    options = view.options(GroupBrainOptions, group=group, brain=brain_kind(shown))
    show(view, group_module_brain, options, key=f"{key}_glass" if glass else key, as_picture=glass, picture_mm=GLASS_MM)


def _show_changed(view: View, options: ModuleComparisonOptions, found: ModuleDifference) -> None:
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
        table = pd.DataFrame(rows)
        st.dataframe(safe_table(table), hide_index=True, key="changed_regions", alt="Regions that change module")


# Compare: whether two groups of the cohort differ, and whether it may be the diagnosis.


# What is asked beside the groups, by what is compared.
_ASKED = {
    NETWORKS: ("labelling",),
    SEGREGATION: ("resolution", "consensus", "runs", "seed"),
    HUBS: ("measure",),
    MODULES: ("resolution", "consensus", "runs", "seed"),
}


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Compare", help=explained("covariate"))
    st.markdown(
        "Two groups of the cohort, compared over people: several recordings of a person are averaged first. What the "
        "covariates cost is said before anything is computed."
    )
    if len(comparable_groups(view.cohort)) < 2:
        st.info(f"Two groups of at least {FEWEST_COMPARED} people each are needed.")
        st.page_link(PAGES["subjects"].script, label="Set groups on the page Subjects", icon=":material/arrow_forward:")
        return
    with input_errors_shown():
        options = _ask(view)
        if options.first == options.second:
            st.info(TWO_GROUPS)
        elif options.of == MODULES:
            show_modules(view)
        elif show_design(view, options):
            show_differences(view, options)


def _ask(view: View) -> ComparisonOptions:
    """Ask which groups are compared, in what, and adjusted for what."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(ComparisonOptions, "first", "second", cohort=view.cohort)
    ask(ComparisonOptions, "of", cohort=view.cohort)
    compared = view.options(ComparisonOptions).of
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in _ASKED[compared]:
            if name != "labelling" or view.atlas.labels:
                ask(ComparisonOptions, name, cohort=view.cohort)
        if compared == HUBS and HUB_MEASURES[view.options(ComparisonOptions).measure].depends_on_gamma:
            ask(ComparisonOptions, "gamma", "perturbation", cohort=view.cohort)
    if compared != MODULES and offered_covariates(view.cohort):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            ask(ComparisonOptions, "covariates", "leave_out_incomplete", cohort=view.cohort)
    return view.options(ComparisonOptions)


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    show_page()
