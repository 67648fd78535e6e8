"""One subject's connectivity and series, as several pages show them."""

import streamlit as st

from biobgt.figures.connection_strengths import ConnectivityDistribution
from biobgt.figures.connectivity_heatmap import ConnectivityHeatmap, HeatmapOptions, RegionOrderOptions
from biobgt.figures.figure import NoOptions
from biobgt.figures.series_carpet import SeriesCarpet
from session.view import View
from views.shared.option_widgets import ask
from views.shared.widgets import show

HEATMAP_WIDTH = 480  # leaves room for the distribution beside it at 1280 px; at 800 px that comes below


def show_connectivity(view: View) -> None:
    """Show the heatmap, of the connectivity or of its graph, and the distribution of connections."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(HeatmapOptions, "matrix", "order", cohort=view.cohort)
    with st.container(horizontal=True):
        with st.container(width=HEATMAP_WIDTH):
            heatmap = ConnectivityHeatmap.of(view.measured, view.options(HeatmapOptions))
            show(view, heatmap, key="connectivity")
        with st.container(width="stretch"):
            show(view, ConnectivityDistribution.of(view.measured, NoOptions()), key="distribution")


def show_series(view: View) -> None:
    """Show the carpet plot, or say that there are no series."""
    if view.subject.series is None:
        st.info("This subject was read from a connectivity matrix, so there are no series to show.")
        return
    show(view, SeriesCarpet.of(view.measured, view.options(RegionOrderOptions)), key="series")
