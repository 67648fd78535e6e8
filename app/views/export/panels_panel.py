"""Several of the listed figures as the lettered panels of one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from biobgt.export import FigureRequest
from biobgt.export.bundle import FEWEST_PANELS, PanelOptions, PanelsRequest
from biobgt.figures.paper_style import PaperStyle
from session.keys import PANEL_COLUMNS, PANEL_FIGURES, PANEL_LETTERS
from session.long_work import work_through
from views.export.export_results import PREVIEW_DPI, keep_panels, kept_panels
from views.shared.option_widgets import ask_here
from views.shared.widgets import plain

_PX_PER_MM = 4.4  # about what a figure takes on a page that is read from usual distance


def preview_width(style: PaperStyle) -> int:
    """Width of a preview, in pixels."""
    return round(_PX_PER_MM * style.width_mm)


def ask_for_panels(usable: Sequence[FigureRequest], *, titles: Mapping[FigureRequest, str]) -> PanelsRequest | None:
    """Ask which figures are panels of one, and how they are arranged; None where that is not wanted.

    Parameters
    ----------
    usable : sequence of FigureRequest
        The listed figures that can be made.
    titles : mapping of FigureRequest to str
        What each is called.
    """
    if len(usable) < FEWEST_PANELS:
        return None
    st.subheader("Several panels in one figure")
    options = PanelOptions.declared()
    st.session_state[PANEL_FIGURES] = [one for one in st.session_state.get(PANEL_FIGURES, []) if one in usable]
    chosen = st.multiselect(
        "Panels",
        list(usable),
        format_func=lambda request: titles[request],
        key=PANEL_FIGURES,
        persist_state="session",
        placeholder=f"Choose {FEWEST_PANELS} or more of the figures below",
        help="In the order in which they are chosen. The figure of panels is written beside the single figures.",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        columns = ask_here(options["columns"], key=PANEL_COLUMNS)
        letters = ask_here(options["letters"], key=PANEL_LETTERS)
    if len(chosen) < FEWEST_PANELS:
        return None
    return PanelsRequest(tuple(chosen), PanelOptions(columns=columns, letters=letters))


def show_panels(request: PanelsRequest | None, style: PaperStyle) -> None:
    """Show what the panels look like together, and how large that is."""
    if request is None:
        return
    shown = replace(style, dpi=PREVIEW_DPI)
    left = [] if kept_panels(request, shown, ["png"]) else [request]
    if not work_through(
        left,
        lambda one: keep_panels(one, shown, ["png"]),
        key="export_panels_drawn",
        start="Draw the panels",
        doing="Figure",
        automatic=True,
    ):
        return
    made = kept_panels(request, shown, ["png"])
    assert made is not None
    st.image(made.pictures["png"], width=preview_width(style), alt=made.caption)
    st.caption(plain(f"{made.size}. {made.caption}"))
