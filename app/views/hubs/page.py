"""Hubs: node entanglement beside node efficiency and FC strength, where they agree and where not."""

from functools import partial

import streamlit as st

from biobgt.figures.hubs import HubCurvesOptions, steady_over_gamma
from biobgt.hubs import resolvents as cost
from biobgt.hubs.measures import NE
from biobgt.hubs.options import GAMMAS, EntanglementOptions, HubOptions
from session.long_work import work_through
from session.view import View, current_view
from views.hubs.agreement_panels import show_scatters, show_sweep, show_table
from views.hubs.curves_panel import show_curves
from views.hubs.evidence_panels import show_little_strength, show_reliability, show_verdict
from views.hubs.hub_brain_panel import show_brain
from views.hubs.why_region_panel import pick_region, picked_region, show_hint, show_why
from views.shared.option_widgets import ask
from views.shared.widgets import explained, input_errors_shown, plain


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


show_page()
