"""The modules of two groups side by side: what each group's subjects agree on, in the same colours, and a test."""

import pandas as pd
import streamlit as st

from biobgt.base.files import safe_table
from biobgt.base.wording import counted
from biobgt.data.result_keys import MODULE_LABELS
from biobgt.figures.module_brains import GroupBrainOptions, GroupModuleBrain
from biobgt.figures.module_flow import GroupModuleFlow
from biobgt.figures.module_groups import ModuleComparisonOptions, difference_caption, difference_numbers
from biobgt.figures.modules import networks_of
from biobgt.modules.compare import ModuleDifference
from biobgt.modules.measures import ModuleOptions
from session.long_work import work_through
from session.page_options import GLASS, PageOptions, brain_kind
from session.view import View
from views.shared.no_coordinates import show_no_places
from views.shared.option_widgets import ask
from views.shared.widgets import SIDE_BY_SIDE, heading, plain, show

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
    how = options.part(ModuleOptions)
    left = [name for name in members if not view.measured.of(name).has(MODULE_LABELS, how)]
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
    return work_through(
        view.measured.shuffles_left(options, options.groups),
        lambda number: view.measured.shuffled_changes(options, options.groups, number),
        key="shuffles",
        start="Permute the groups",
        doing="Permutation",
        automatic=True,
    )


def _show_difference(view: View, options: ModuleComparisonOptions) -> None:
    flow = GroupModuleFlow.of(view.measured, options)
    _show_numbers(view, flow)
    ask(PageOptions, "group_brain", cohort=view.cohort)
    with st.container(horizontal=True):
        for group, key in zip(options.groups, ("brain_first", "brain_second"), strict=True):
            with st.container(width=SIDE_BY_SIDE):
                _show_brain(view, group, key)
    show(view, flow, key="group_flow")
    _show_changed(view, options, flow.difference)


def _show_numbers(view: View, flow: GroupModuleFlow) -> None:
    with st.container(horizontal=True):
        for title, value in difference_numbers(flow.difference).items():
            st.metric(title, value, width="content", border=True)
    st.caption(plain(difference_caption(view.measured, flow.options, flow.difference)))


def _show_brain(view: View, group: str, key: str) -> None:
    if view.atlas.coordinates is None:
        show_no_places()
        return
    shown = view.options(PageOptions).group_brain
    glass = shown == GLASS
    figure = GroupModuleBrain.of(view.measured, view.options(GroupBrainOptions, group=group, brain=brain_kind(shown)))
    show(view, figure, key=f"{key}_glass" if glass else key, as_picture=glass, picture_mm=GLASS_MM)


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
