"""The modules of two groups side by side: what each group's subjects agree on, in the same colours, and a test."""

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st
from export_list import named_request
from loaded import ModuleChoices, View
from long_work import work_through
from module_brains import draw_modules, pick_brain
from module_panels import names_of, networks_of
from module_results import group_difference, kept, labels_key, subject_labels
from state import COMPARED_GROUPS, FEWEST_COMPARED, GROUP_BRAIN
from widgets import heading, plain, sentences, show_figure

from biobgt.export import FigureRequest, Plain
from biobgt.figures import group_flow_caption, module_flow
from biobgt.figures.module_captions import group_brain_caption
from biobgt.groups.design import confounding_notes
from biobgt.modules.difference import UNADJUSTED, ModuleDifference
from biobgt.spreadsheets import written
from biobgt.wording import counted

BRAIN_WIDTH = 395  # two side by side at 1280 px, one below the other at 800


def show_groups(view: View, choices: ModuleChoices) -> None:
    """Compare two groups of the cohort, when asked to."""
    heading("Between two groups", simulated=view.cohort.simulated)
    sizes = {group: size for group, size in view.cohort.group_people.items() if size >= FEWEST_COMPARED}
    if len(sizes) < 2:
        st.info(
            "Two groups of at least two subjects each are needed for this; the page Subjects is where groups are set."
        )
        return
    with sentences():
        groups = _pick_groups(list(sizes))
        if groups is None:
            return
        members = [name for group in groups for name in view.cohort.group(group).ids]
        left = [name for name in members if kept(view, "labels", labels_key(view, choices, name)) is None]
        whole = work_through(
            left,
            lambda name: subject_labels(view, choices, name),
            key="groups",
            start=f"Find the modules of {counted(len(members), 'subject')}",
            doing="Subject",
            done_before=len(members) - len(left),
        )
        if whole:
            _show_difference(view, choices, groups, group_difference(view, choices, groups))


def _pick_groups(names: list[str]) -> tuple[str, str] | None:
    for key, default in zip(COMPARED_GROUPS, names, strict=False):
        if st.session_state.get(key) not in names:
            st.session_state[key] = default
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first, second = (
            st.selectbox(title, names, key=key, persist_state="session", width=200)
            for title, key in zip(("Group", "and group"), COMPARED_GROUPS, strict=True)
        )
    if first == second:
        st.info("Choose two different groups.")
        return None
    return first, second


def _show_difference(view: View, choices: ModuleChoices, groups: tuple[str, str], found: ModuleDifference) -> None:
    names = [names_of(view, choices, labels) for labels in (found.first, found.second)]
    _show_numbers(view, groups, found)
    kind = pick_brain(key=GROUP_BRAIN)
    with st.container(horizontal=True):
        for group, labels, called in zip(groups, (found.first, found.second), names, strict=True):
            with st.container(width=BRAIN_WIDTH):
                _show_brain(view, choices, groups, group, labels.tolist(), called, kind=kind)
    figure = module_flow(
        found.agreement.contingency,
        names[0],
        targets=names[1],
        matched={module: module for module in names[1]},
        sides=groups,
        title=f"Modules of {groups[0]} and {groups[1]}",
        simulated=view.cohort.simulated,
    )
    caption = group_flow_caption(groups, found.agreement, len(found.changed), simulated=view.cohort.simulated)
    request = _request(view, choices, groups, "group_module_flow")
    show_figure(figure, caption, key="group_flow", file_name=f"{groups[0]}_{groups[1]}_modules_flow", export=request)
    _show_changed(view, choices, groups, found)


def _show_numbers(view: View, groups: tuple[str, str], found: ModuleDifference) -> None:
    agreement = found.agreement
    with st.container(horizontal=True):
        for title, value in (
            ("AMI", f"{agreement.ami:.2f}"),
            ("ARI", f"{agreement.ari:.2f}"),
            ("VI (bits)", f"{agreement.vi:.2f}"),
            ("Regions that change", f"{len(found.changed)} of {agreement.n_compared}"),
            ("Permutation p", "not defined" if found.p != found.p else f"{found.p:.3g}"),
        ):
            st.metric(title, value, width="content", border=True)
    whom = "Simulated subjects: modules" if view.cohort.simulated else "Modules"
    st.caption(
        plain(
            f"{whom} that the subjects of each group agree on, {groups[0]} beside {groups[1]}. The test asks whether "
            f"subjects are more alike within their group (mean AMI {found.within:.3f}) than between groups "
            f"({found.between:.3f}), against {found.n_permutations:,} shuffled groups (seed {found.seed}). "
            f"{' '.join((UNADJUSTED, *confounding_notes(view.cohort, groups)))}{_recordings(view, groups, found)}"
        )
    )


def _recordings(view: View, groups: tuple[str, str], found: ModuleDifference) -> str:
    """Say how many people there are where somebody has several recordings."""
    n_recordings = sum(len(view.cohort.group(group)) for group in groups)
    n_people = sum(found.n_subjects)
    if n_recordings == n_people:
        return ""
    return f" {n_recordings} recordings are of {n_people} people; whole people were shuffled."


def _request(
    view: View, choices: ModuleChoices, groups: tuple[str, str], figure: str, **options: Plain
) -> FigureRequest:
    """Ask for a figure of two groups, which is of no subject."""
    request = named_request(view, choices, figure, first=groups[0], second=groups[1], **options)
    return replace(request, subject=None)


def _show_brain(
    view: View,
    choices: ModuleChoices,
    groups: tuple[str, str],
    group: str,
    labels: list[int],
    names: dict[int, str],
    *,
    kind: str,
) -> None:
    if view.atlas.coordinates is None:
        st.info("The coordinates of this atlas are not known, so its regions cannot be drawn on a brain.")
        return
    caption = partial(
        group_brain_caption,
        group,
        groups[1] if group == groups[0] else groups[0],
        n_modules=len(names),
        n_subjects=len(set(view.cohort.group(group).persons)),
        n_regions=view.atlas.n_regions,
        simulated=view.cohort.simulated,
    )
    draw_modules(
        view,
        labels,
        names,
        kind=kind,
        caption=caption,
        key=f"brain_{'first' if group == groups[0] else 'second'}",
        title=f"Modules of {group}",
        simulated=view.cohort.simulated,
        export=_request(view, choices, groups, "group_module_brain", group=group),
        narrow=True,
    )


def _show_changed(view: View, choices: ModuleChoices, groups: tuple[str, str], found: ModuleDifference) -> None:
    """List the regions that are in another module."""
    if not found.changed:
        st.caption("No region is in another module.")
        return
    networks = networks_of(view, choices)
    rows = [
        {
            "Region": view.atlas.regions[region],
            f"Module in {groups[0]}": int(found.first[region]),
            f"Module in {groups[1]}": int(found.second[region]),
        }
        | ({"Functional network": networks[region] or ""} if networks else {})
        for region in found.changed
    ]
    with st.expander(f"{counted(len(rows), 'region')} in another module"):
        table = written(pd.DataFrame(rows))
        st.dataframe(table, hide_index=True, key="changed_regions", alt="Regions that change module")
