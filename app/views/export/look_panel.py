"""How exported figures look: the choices at the head of the page of exports."""

import streamlit as st

from biobgt.export.fonts import installed_fonts
from biobgt.figures.paper.style import JOURNAL_WIDTHS_MM, PALETTES, FileFormat, PaperStyle
from session.export_list import (
    EXPORT_DPI,
    EXPORT_FONT,
    EXPORT_FONT_SIZE,
    EXPORT_FORMATS,
    EXPORT_PALETTE,
    EXPORT_TITLES,
    EXPORT_WIDTH,
)

FORMATS: tuple[FileFormat, ...] = ("svg", "pdf", "png", "tiff")
DENSITIES = (150, 300, 600, 1200)
_PALETTE_TITLES = {"okabe-ito": "Okabe and Ito", "tol-muted": "Tol, muted"}


def ask_how() -> tuple[PaperStyle, tuple[FileFormat, ...]]:
    """Ask how figures look, and in which formats they are written."""
    _set_defaults()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        width = st.segmented_control(
            "Width",
            list(JOURNAL_WIDTHS_MM.values()),
            format_func=lambda mm: f"{mm:g} mm",
            key=EXPORT_WIDTH,
            required=True,
            persist_state="session",
            help="; ".join(f"{mm:g} mm: {name}" for name, mm in JOURNAL_WIDTHS_MM.items()),
        )
        font, size = _ask_for_font()
        dpi = st.selectbox(
            "Dots per inch",
            DENSITIES,
            key=EXPORT_DPI,
            persist_state="session",
            width=150,
            help="For PNG and TIFF; SVG and PDF are vector graphics.",
        )
        palette, titles = _ask_for_look()
        formats = _ask_for_formats()
    style = PaperStyle(
        width_mm=width or PaperStyle.width_mm,
        font=font,
        font_size=size,
        dpi=int(dpi),
        palette=palette,
        titles=titles,
    )
    return style, formats


def _set_defaults() -> None:
    defaults = {
        EXPORT_WIDTH: PaperStyle.width_mm,
        EXPORT_FONT: PaperStyle.font,
        EXPORT_FONT_SIZE: PaperStyle.font_size,
        EXPORT_DPI: PaperStyle.dpi,
        EXPORT_PALETTE: PaperStyle.palette,
        EXPORT_TITLES: PaperStyle.titles,
        EXPORT_FORMATS: list(FORMATS),
    }
    for key, value in defaults.items():
        st.session_state.setdefault(key, value)


def _ask_for_font() -> tuple[str, float]:
    font = st.selectbox("Font", installed_fonts(), key=EXPORT_FONT, persist_state="session", width=180)
    size = st.number_input(
        "Size (points)",
        5.0,
        24.0,
        step=0.5,
        format="%.1f",
        key=EXPORT_FONT_SIZE,
        persist_state="session",
        width=150,
    )
    return font, float(size)


def _ask_for_look() -> tuple[str, bool]:
    palette = st.selectbox(
        "Palette",
        list(PALETTES),
        format_func=lambda name: _PALETTE_TITLES.get(name, name),
        key=EXPORT_PALETTE,
        persist_state="session",
        width=180,
        help="All palettes are safe for the colour-blind.",
    )
    titles = st.toggle(
        "Titles",
        key=EXPORT_TITLES,
        persist_state="session",
        help="A title above every figure. Many journals want it in the caption; simulated figures stay marked.",
    )
    return palette, titles


def _ask_for_formats() -> tuple[FileFormat, ...]:
    chosen = st.segmented_control(
        "Formats",
        FORMATS,
        format_func=str.upper,
        selection_mode="multi",
        key=EXPORT_FORMATS,
        persist_state="session",
    )
    return tuple(format for format in FORMATS if format in chosen)
