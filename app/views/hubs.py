"""Hubs: node entanglement beside node efficiency and FC strength, where they agree and where not."""

from functools import partial

import streamlit as st
from hub_brain import show_brain
from hub_curve_panel import show_curves
from hub_evidence_panels import show_little_strength, show_reliability, show_verdict
from hub_panels import show_scatters, show_sweep, show_table
from hub_results import subject_hubs
from state import GAMMA, GAMMAS, HUB_RULE, HUB_RULES, PERTURBATION, PERTURBATIONS, current_view
from why_region import pick_region, picked_region, show_hint, show_why
from widgets import sentences

from biobgt.figures import RULE_TITLES


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Hubs")
    st.markdown(
        "Node entanglement (NE) asks how much the spectral entropy of the brain graph changes when one region is "
        "perturbed. Whether it agrees with node efficiency (NEff) and FC strength depends on the diffusion time γ, on "
        "the threshold and on the perturbation: move them and see."
    )
    _ask_how()
    with sentences():
        hubs = subject_hubs(view)
        table = hubs.table(view.hubs.gamma, rule=view.hubs.rule)
        correlations = hubs.correlations(view.hubs.gamma)
        region = picked_region(view, table)
        on_pick = partial(pick_region, view)
        show_little_strength(view)
        show_curves(view, table, picked=region, on_pick=on_pick)
        show_hint(view, region)
        show_scatters(view, table, correlations, picked=region, on_pick=on_pick)
        show_verdict(view, hubs)
        show_sweep(view, hubs, correlations)
        show_brain(view, table)
        show_why(view, hubs, table, region)
        show_reliability(view)
        show_table(view, table)


def _ask_how() -> None:
    """Ask for γ, the perturbation and the rule; the sidebar opened them from the link and reads them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Perturbation",
            PERTURBATIONS,
            format_func=str.capitalize,
            key=PERTURBATION,
            required=True,
            persist_state="session",
            help="Control: the region's neighbourhood becomes a clique of the same total weight. "
            "Remove: the region loses its connections.",
        )
        st.segmented_control(
            "Hubs are",
            HUB_RULES,
            format_func=RULE_TITLES.__getitem__,
            key=HUB_RULE,
            required=True,
            persist_state="session",
            help="By each measure: the highest tenth of the regions, or those above the mean by more than one SD.",
        )
        st.select_slider(
            "Diffusion time γ, in units of 1/mean(λ)",
            GAMMAS,
            format_func=lambda gamma: f"{gamma:g}",
            key=GAMMA,
            persist_state="session",
            help="λ are the eigenvalues of the graph's Laplacian. Small γ looks at a region's surroundings, large γ "
            "at the whole brain.",
        )


show_page()
