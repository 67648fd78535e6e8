"""One subject's figures, as several pages show them; the library computes and draws, this arranges."""

import streamlit as st
from export_list import request_of
from loaded import View
from state import MATRICES, MATRIX_SHOWN, REGION_ORDER
from widgets import pick_region_order, show_figure

from biobgt import BrainGraph
from biobgt.figures import (
    RegionOrder,
    colour_limit,
    connectivity_caption,
    connectivity_distribution,
    connectivity_heatmap,
    distribution_caption,
    graph_caption,
    series_caption,
    series_carpet,
)
from biobgt.graph import Matrix

CONNECTIVITY, GRAPH = MATRICES
HEATMAP_WIDTH = 480  # leaves room for the distribution beside it at 1280 px; at 800 px that comes below
QUANTITIES = {
    "pearson": "r",
    "fisher-z": "Fisher z",
    "partial": "partial r",
    "ledoit-wolf": "shrunk r",
    "tangent": "tangent",
}


def show_connectivity(view: View) -> RegionOrder:
    """Show the heatmap, of the connectivity or of its graph, and the spread of connections; return the order."""
    connectivity = view.connectivity()
    graph = view.graph(connectivity)
    limit = colour_limit(connectivity, view.settings.estimator)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = _pick_matrix()
        order = pick_region_order(view.atlas)
    with st.container(horizontal=True):
        with st.container(width=HEATMAP_WIDTH):
            _show_matrix(view, connectivity, graph, shown=shown, order=order, limit=limit)
        with st.container(width="stretch"):
            _show_distribution(view, connectivity, graph, limit=limit)
    return order


def show_series(view: View, order: RegionOrder) -> None:
    """Show the carpet plot, or say that there are no series."""
    subject = view.subject
    if subject.series is None:
        st.info("This subject was brought as a connectivity matrix, so there are no series to show.")
        return
    figure = series_carpet(
        subject.series,
        view.atlas.regions,
        order=order,
        tr=subject.tr,
        title=f"Series of {subject.id}",
        simulated=subject.simulated,
    )
    caption = series_caption(subject.id, len(subject.series), subject.n_regions, simulated=subject.simulated)
    request = request_of(view, "series_carpet", order=st.session_state[REGION_ORDER])
    show_figure(figure, caption, key="series", file_name=f"{subject.id}_series", export=request)


def _pick_matrix() -> str:
    st.session_state.setdefault(MATRIX_SHOWN, CONNECTIVITY)
    shown = st.segmented_control(
        "Heatmap of", [CONNECTIVITY, GRAPH], key=MATRIX_SHOWN, required=True, persist_state="session"
    )
    return shown or CONNECTIVITY


def _show_matrix(
    view: View,
    connectivity: Matrix,
    graph: BrainGraph,
    *,
    shown: str,
    order: RegionOrder,
    limit: float,
) -> None:
    subject, estimator = view.subject, view.settings.estimator
    figure = connectivity_heatmap(
        connectivity if shown == CONNECTIVITY else graph.weights,
        view.atlas.regions,
        order=order,
        limit=limit,
        title=f"{shown} of {subject.id}",
        quantity=QUANTITIES[estimator],
        simulated=subject.simulated,
    )
    caption = (
        connectivity_caption(
            subject.id, subject.n_regions, estimator=estimator, limit=limit, simulated=subject.simulated
        )
        if shown == CONNECTIVITY
        else graph_caption(graph)
    )
    matrix = "connectivity" if shown == CONNECTIVITY else "graph"
    request = request_of(view, "connectivity_heatmap", matrix=matrix, order=st.session_state[REGION_ORDER])
    show_figure(figure, caption, key="connectivity", file_name=f"{subject.id}_{shown}", export=request)


def _show_distribution(view: View, connectivity: Matrix, graph: BrainGraph, *, limit: float) -> None:
    subject = view.subject
    figure = connectivity_distribution(
        connectivity,
        graph.weights != 0,
        limit=limit,
        title=f"Connections of {subject.id}",
        quantity=QUANTITIES[view.settings.estimator],
        simulated=subject.simulated,
    )
    mean, mean_strength = view.mean_connectivity()
    caption = distribution_caption(graph, mean=mean, mean_strength=mean_strength)
    request = request_of(view, "connectivity_distribution")
    show_figure(figure, caption, key="distribution", file_name=f"{subject.id}_connections", export=request)
