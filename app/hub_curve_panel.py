"""The curves over regions on the page of hubs: which regions, in which order, on which scale, and the group behind."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st
from export_list import ruled_request
from hub_results import group_members, keep_curves, kept_curves
from loaded import View
from long_work import work_through
from state import (
    CURVE_ORDER,
    CURVE_ORDERS,
    CURVE_REGION_CHOICES,
    CURVE_REGIONS,
    CURVE_SCALE,
    CURVE_SEED,
    GROUP_BEHIND,
    LARGEST_SEED,
)
from widgets import heading, plain, show_figure

from biobgt.atlas import LABELLINGS
from biobgt.cohort import person_of
from biobgt.figures import (
    SHORT_NAMES,
    CurveScale,
    RegionOrder,
    curves_caption,
    hub_curves,
    only_regions,
    order_by_value,
    order_regions,
    random_regions,
)
from biobgt.figures.agreement_words import little_strength_sentence
from biobgt.hubs.group_curves import GroupCurves, group_curves
from biobgt.people import counted_people

NE = "node_entanglement"
SCALE_TITLES: dict[CurveScale, str] = {"z": "z-score", "rank": "Rank", "raw": "Raw"}
ATLAS_ORDER, BY_NE = CURVE_ORDERS
ORDER_NAMES = {ATLAS_ORDER: "atlas"}  # as the export calls them, where that differs
ALL, SOME = CURVE_REGION_CHOICES
N_RANDOM = 50

Pick = Callable[[int], None]


def show_curves(view: View, table: pd.DataFrame, *, picked: int, on_pick: Pick) -> None:
    """Show the three measures over regions, with the group behind where it is asked for."""
    subject, choices = view.subject, view.hubs
    heading("Over the regions", simulated=subject.simulated)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        scale = _pick_scale()
        order, order_title = _pick_order(view, table)
        order, seed = _pick_regions(order)
    group = _group_behind(view, scale)
    suffix = "" if scale == "raw" else f"_{scale}"
    figure = hub_curves(
        {measure: table[f"{measure}{suffix}"].to_numpy() for measure in SHORT_NAMES},
        view.atlas.regions,
        table[f"{NE}_hub"].to_numpy(),
        scale=scale,
        order=order,
        order_title=order_title,
        group=None if group is None else {measure: (group.mean[measure], group.sd[measure]) for measure in SHORT_NAMES},
        group_name=_group_name(view),
        picked=picked,
        title=f"NE, NEff and FC strength of {subject.id}",
        simulated=subject.simulated,
    )
    caption = curves_caption(
        subject.id,
        len(table),
        int(table[f"{NE}_hub"].sum()),
        scale=scale,
        gamma=choices.gamma,
        perturbation=choices.perturbation,
        rule=choices.rule,
        drawn=None if seed is None else (len(order.order), seed),
        group=None if group is None else (_group_name(view), group.n_subjects, group.n_recordings),
        remark=little_strength_sentence(view.mean_connectivity()[0]),
        simulated=subject.simulated,
    )
    request = ruled_request(
        view,
        "hub_curves",
        scale=scale,
        order=ORDER_NAMES.get(st.session_state[CURVE_ORDER], st.session_state[CURVE_ORDER]),
        n_random=0 if seed is None else N_RANDOM,
        seed=seed or 0,
        group=group is not None,
    )
    show_figure(figure, caption, key="hub_curves", file_name=f"{subject.id}_hubs", on_pick=on_pick, export=request)


def _pick_scale() -> CurveScale:
    st.session_state.setdefault(CURVE_SCALE, "z")
    scale: CurveScale | None = st.segmented_control(
        "Values",
        list(SCALE_TITLES),
        format_func=SCALE_TITLES.__getitem__,
        key=CURVE_SCALE,
        required=True,
        persist_state="session",
    )
    return scale or "z"


def _pick_order(view: View, table: pd.DataFrame) -> tuple[RegionOrder, str]:
    """Let the user choose the order of regions; return it, and what it is."""
    atlas = view.atlas
    titles = {ATLAS_ORDER: "Atlas order", BY_NE: "By NE, highest first"}
    titles |= {name: f"By {LABELLINGS.get(name, name)}" for name in atlas.labels}
    if st.session_state.get(CURVE_ORDER) not in titles:
        st.session_state[CURVE_ORDER] = ATLAS_ORDER
    chosen = st.selectbox(
        "Regions in order",
        list(titles),
        format_func=titles.__getitem__,
        key=CURVE_ORDER,
        persist_state="session",
        width=240,
    )
    if chosen == BY_NE:
        return order_by_value(table[NE].to_numpy()), "by NE, highest first"
    return order_regions(atlas.n_regions, atlas.labels.get(chosen)), "in atlas order"


def _pick_regions(order: RegionOrder) -> tuple[RegionOrder, int | None]:
    """Let the user choose all regions or some at random; return those, and the seed where there is one."""
    if len(order.order) <= N_RANDOM:
        return order, None
    st.session_state.setdefault(CURVE_REGIONS, ALL)
    chosen = st.segmented_control(
        "Regions",
        [ALL, SOME],
        format_func={ALL: "All", SOME: f"{N_RANDOM} random"}.__getitem__,
        key=CURVE_REGIONS,
        required=True,
        persist_state="session",
    )
    if chosen != SOME:
        return order, None
    st.session_state.setdefault(CURVE_SEED, 0)
    seed = st.number_input(
        "Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        key=CURVE_SEED,
        persist_state="session",
        width=140,
        help="The same seed draws the same regions.",
    )
    drawn = random_regions(len(order.order), N_RANDOM, seed=int(seed or 0))
    return only_regions(order, drawn), int(seed or 0)


def _group_behind(view: View, scale: CurveScale) -> GroupCurves | None:
    """Let the user put the group behind the curve; measuring it shows how far it is, and can be stopped."""
    members = group_members(view)
    persons = [person_of(member.id) for member in members]
    n_people = len(set(persons))
    wanted = st.toggle(
        f"{plain(_group_name(view))} behind: mean ± SD of {counted_people(n_people, len(members))}",
        key=GROUP_BEHIND,
        persist_state="session",
        disabled=n_people < 2,
        help="Measures every subject of the group once; moving γ is then quick.",
    )
    if not wanted or n_people < 2:
        return None
    kept = kept_curves(view)
    left = [member for member in members if member.id not in kept]
    finished = work_through(
        left,
        partial(keep_curves, view),
        key="group_curves",
        start="Measure the group",
        doing="Perturbing every region of subject",
        automatic=True,
        done_before=len(members) - len(left),
    )
    if not finished:
        return None
    return group_curves([kept[member.id] for member in members], view.hubs.gamma, persons=persons, scale=scale)


def _group_name(view: View) -> str:
    return view.subject.group or "whole cohort"
