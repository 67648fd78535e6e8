"""How exported figures look: the choices at the head of the page of exports."""

import streamlit as st

from biobgt.figures.paper.fonts import installed_fonts
from biobgt.figures.paper_style import FILE_FORMATS, FileFormat, PaperStyle
from session.keys import EXPORT_FORMATS, EXPORT_LOOK
from views.shared.option_widgets import ask_here

_WIDTH = 180


def ask_how() -> tuple[PaperStyle, tuple[FileFormat, ...]]:
    """Ask how figures look, and in which formats they are written."""
    offered = {"font": installed_fonts()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        answers = {
            name: ask_here(one, key=f"{EXPORT_LOOK}{name}", offered=offered.get(name), width=_WIDTH)
            for name, one in PaperStyle.declared().items()
            if name != "height_mm"  # every figure has the height that suits it
        }
        formats = _ask_for_formats()
    return PaperStyle(**answers), formats


def _ask_for_formats() -> tuple[FileFormat, ...]:
    st.session_state.setdefault(EXPORT_FORMATS, list(FILE_FORMATS))
    chosen = st.segmented_control(
        "Formats",
        FILE_FORMATS,
        format_func=str.upper,
        selection_mode="multi",
        key=EXPORT_FORMATS,
        persist_state="session",
    )
    return tuple(format for format in FILE_FORMATS if format in chosen)
