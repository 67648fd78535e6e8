"""The curves over regions on the page of hubs: which measures and regions, on which scale, and the group behind."""

from collections.abc import Callable

import streamlit as st

from biobgt.data.cohort import counted_people, person_of
from biobgt.data.result_keys import HUB_CURVES
from biobgt.figures.hubs import N_RANDOM, HubCurvesOptions, group_members, hub_curves
from session.long_work import work_through
from session.view import View
from views.shared.option_widgets import ask, ask_for
from views.shared.widgets import heading, plain, show


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
    how = view.measured.hub_curves_how(options, options.measures)
    left = [member.id for member in members if not view.measured.of(member.id).has(HUB_CURVES, how)]
    return work_through(
        left,
        lambda subject: view.measured.of(subject).hub_curves(options, options.measures),
        key="group_curves",
        start="Measure the group",
        doing="Perturbing every region of subject",
        automatic=True,
        done_before=len(members) - len(left),
    )
