"""Subjects: bring your own, see what was read and what was refused, the quality of each, and one subject's data."""

import streamlit as st

from biobgt.base.files import safe_table
from biobgt.base.wording import counted
from biobgt.figures.connection_strengths import ConnectivityDistribution
from biobgt.figures.connectivity_heatmap import ConnectivityHeatmap, HeatmapOptions
from biobgt.figures.register import NoOptions
from biobgt.figures.series_carpet import SeriesCarpet
from biobgt.figures.shared_options import RegionOrderOptions
from session.keys import ATTEMPT
from session.loaded_cohorts import OWN, own_cohort
from session.view import View, current_view
from views.shared.option_widgets import ask
from views.shared.remarks import show_remarks
from views.shared.widgets import explained, heading, input_errors_shown, plain, show
from views.subjects.fetch_panel import show_fetching
from views.subjects.missing_panel import show_missing
from views.subjects.project_panel import show_project
from views.subjects.reading_panel import read_once, show_attempt, show_waiting_files
from views.subjects.recordings_panel import show_recordings
from views.subjects.subject_table import show_atlas, show_kind, show_reading, show_subject_table
from views.subjects.upload_panel import ask_for_files

HEATMAP_WIDTH = 480  # leaves room for the distribution beside it at 1280 px; at 800 px that comes below


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Subjects", help=explained("region-series", "atlas"))
    uploaded = ask_for_files()
    if uploaded is not None:
        read_once(uploaded)
    else:
        st.session_state.pop(ATTEMPT, None)  # nothing is asked about files that are gone
    show_attempt()
    waiting = uploaded is not None and show_waiting_files(uploaded.files)
    own = own_cohort()
    is_own = view.loaded.key == OWN and own is not None
    if is_own and own is not None:
        show_reading(own.cohort)
    show_fetching()
    show_project(view)
    if is_own and own is not None:
        show_recordings(own.cohort)
        show_missing(own.cohort)
        show_subject_table(own.cohort)
        show_atlas(own.cohort)
        show_kind(own.cohort)
    if is_own or not waiting:  # a demo's subjects are no answer to who brought files
        _show_cohort(view)
        _show_subject(view)


def _show_cohort(view: View) -> None:
    heading("Quality", simulated=view.cohort.simulated)
    table = view.loaded.quality
    flagged = int((table["warnings"] != "").sum())
    st.caption(
        plain(
            f"{view.cohort.name}: {counted(len(table), 'subject')}, {flagged} with a warning. Subjects with warnings "
            "are not excluded."
        )
    )
    flags = [
        "warning" if warning else "note" if note else ""
        for warning, note in zip(table["warnings"], table["notes"], strict=True)
    ]
    shown = table.drop(columns=["warnings", "notes"]).assign(flag=flags)
    kind = view.cohort.kind
    means = [kind.named(name) for name in ("mean FC", "mean |FC|")]
    if kind.functional:
        shown[means] = shown[means].round(3) + 0.0  # a small negative mean is no minus zero
    st.dataframe(
        safe_table(shown),  # its toolbar saves it as CSV
        hide_index=True,
        height=260 if len(table) > 6 else "auto",
        placeholder="–",
        column_config=dict.fromkeys(means, st.column_config.NumberColumn(format="%.3f" if kind.functional else "%.3g")),
        alt="Quality of each subject: length, silent and copied regions, mean connectivity, and any flag",
    )
    show_remarks(table, {"warnings": "Warning", "notes": "Note"})


def _show_subject(view: View) -> None:
    heading(plain(view.subject.id), simulated=view.subject.simulated)
    with input_errors_shown():
        _show_connectivity(view)
        _show_series(view)


def _show_connectivity(view: View) -> None:
    """Show the heatmap, of the connectivity or of its graph, and the distribution of connections."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(HeatmapOptions, "matrix", "order", cohort=view.cohort)
    with st.container(horizontal=True):
        with st.container(width=HEATMAP_WIDTH):
            heatmap = ConnectivityHeatmap.of(view.measured, view.options(HeatmapOptions))
            show(view, heatmap, key="connectivity")
        with st.container(width="stretch"):
            show(view, ConnectivityDistribution.of(view.measured, NoOptions()), key="distribution")


def _show_series(view: View) -> None:
    """Show the carpet plot, or say that there are no series."""
    if view.subject.series is None:
        st.info("This subject was read from a connectivity matrix, so there are no series to show.")
        return
    show(view, SeriesCarpet.of(view.measured, view.options(RegionOrderOptions)), key="series")


show_page()
