"""Export: the figures that were added on the other pages, in order, as the journal wants them, in one zip."""

from collections.abc import Mapping
from functools import partial

import streamlit as st
from export_list import (
    EXPORT_DATA,
    EXPORT_DPI,
    EXPORT_FONT,
    EXPORT_FONT_SIZE,
    EXPORT_FORMATS,
    EXPORT_PALETTE,
    EXPORT_WIDTH,
    listed,
    move,
    remove,
)
from export_results import bundle_file, find_cohort, forget_others, keep_files, keep_preview, kept_files, kept_preview
from long_work import work_through
from streamlit.delta_generator import DeltaGenerator
from widgets import plain, sentences, simulated_badge

from biobgt import Cohort
from biobgt.export import FigureRequest
from biobgt.export.fonts import installed_fonts
from biobgt.export.recipes import recipe_of
from biobgt.export.texts import is_simulated
from biobgt.figures.paper.style import JOURNAL_WIDTHS_MM, PALETTES, FileFormat, PaperStyle
from biobgt.simulate import DEMO_COHORTS
from biobgt.wording import counted

PAGES = ("Subjects", "Hubs", "Modules", "Attention", "Predict", "Models")
FORMATS: tuple[FileFormat, ...] = ("svg", "pdf", "png", "tiff")
DENSITIES = (150, 300, 600, 1200)
FILE_NAME = "biobgt_figures.zip"
PREVIEW_WIDTH = {85.0: 400, 114.0: 520, 174.0: 760}  # px
_PALETTE_TITLES = {"okabe-ito": "Okabe and Ito", "tol-muted": "Tol, muted"}
_GONE_SUBJECTS = (
    "The subjects of this figure are no longer loaded as they were, so it is left out. Bring them again, or remove the "
    "figure."
)
_GONE_MODEL = (
    "The model of this figure is no longer the one it was, so the figure is left out. Remove it, and add it again on "
    "its page."
)


def show_page() -> None:
    """Show the page."""
    st.title("Export")
    st.markdown(
        "Figures for the paper, with the numbers behind each, captions, a methods paragraph and its references, "
        "provenance, and a script that makes the same figures again. Every figure of the other pages that can be drawn "
        "for paper has the button *Add to export*."
    )
    requests = listed()
    if not requests:
        _show_ways_on()
        return
    style, formats = _ask_how()
    found = {request.cohort: find_cohort(request.cohort) for request in requests}
    usable = [request for request in requests if found[request.cohort] is not None]
    forget_others(usable, style)
    st.subheader("The zip")
    bundle = st.container()
    st.subheader(counted(len(requests), "figure"))
    drawing = st.container()
    places = {
        request: _show_figure(position, len(requests), request, cohort=found[request.cohort])
        for position, request in enumerate(requests)
    }
    # What may take long comes last, for the list can be read and ordered meanwhile; what was asked for comes first.
    with bundle, sentences():
        _show_bundle(usable, style, formats)
    with drawing:
        _show_previews({request: places[request] for request in usable}, style)


def _show_ways_on() -> None:
    st.info("No figure has been added yet. Add some on these pages:", icon=":material/info:")
    for name in PAGES:
        st.page_link(f"views/{name.lower()}.py", label=name, icon=":material/arrow_forward:")


def _ask_how() -> tuple[PaperStyle, tuple[FileFormat, ...]]:
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
            help="Of PNG and TIFF; SVG and PDF are drawn in lines.",
        )
        palette = st.selectbox(
            "Palette",
            list(PALETTES),
            format_func=lambda name: _PALETTE_TITLES.get(name, name),
            key=EXPORT_PALETTE,
            persist_state="session",
            width=180,
            help="Each is safe for the colour-blind.",
        )
        formats = _ask_for_formats()
    style = PaperStyle(width_mm=width or PaperStyle.width_mm, font=font, font_size=size, dpi=int(dpi), palette=palette)
    return style, formats


def _set_defaults() -> None:
    defaults = {
        EXPORT_WIDTH: PaperStyle.width_mm,
        EXPORT_FONT: PaperStyle.font,
        EXPORT_FONT_SIZE: PaperStyle.font_size,
        EXPORT_DPI: PaperStyle.dpi,
        EXPORT_PALETTE: PaperStyle.palette,
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


def _show_bundle(usable: list[FigureRequest], style: PaperStyle, formats: tuple[FileFormat, ...]) -> None:
    """Make what is left to make, then offer the zip."""
    if not usable:
        st.info("None of the listed figures can be made with what is loaded now.", icon=":material/info:")
        return
    if not formats:
        st.info("Choose at least one format.", icon=":material/info:")
        return
    include = _ask_for_data() if any(request.cohort.own for request in usable) else False
    left = [request for request in usable if kept_files(request, style, formats) is None]
    whole = work_through(
        left,
        lambda request: keep_files(request, style, formats),
        key="export_bundle",
        start=f"Make the zip of {counted(len(usable), 'figure')}",
        doing="Figure",
        done_before=len(usable) - len(left),
    )
    if not whole:
        return
    made = [files for request in usable if (files := kept_files(request, style, formats)) is not None]
    cohorts = {request.cohort: cohort for request in usable if (cohort := find_cohort(request.cohort)) is not None}
    st.download_button(
        f"Download the zip of {counted(len(made), 'figure')}",
        data=partial(bundle_file, made, cohorts, style, include),
        file_name=FILE_NAME,
        mime="application/zip",
        icon=":material/download:",
        type="primary",
        on_click="ignore",
        key="export_download",
    )
    st.caption("In a terminal, `sh make_figures.sh` in the unpacked folder makes figures and numbers again.")


def _ask_for_data() -> bool:
    st.session_state.setdefault(EXPORT_DATA, False)
    return st.toggle(
        "Put my subjects' data into the zip",
        key=EXPORT_DATA,
        persist_state="session",
        help="Then the script runs as it is. Without them it asks for the project file that the page Subjects saves, "
        "and refuses other subjects. Share the zip as you would share the data.",
    )


def _show_figure(position: int, n_figures: int, request: FigureRequest, *, cohort: Cohort | None) -> DeltaGenerator:
    """One listed figure: where it stands, and the place for what it looks like."""
    with st.container(border=True, key=f"export_{position}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{position + 1}. {recipe_of(request.figure).title}** · {plain(_whose(request))}")
            with sentences():
                if cohort is not None and is_simulated(request, cohort):
                    simulated_badge()
        with st.container(horizontal=True, gap="medium"):  # a row of their own, for names may be long
            for text, icon, disabled, act in (
                ("Up", "arrow_upward", position == 0, partial(move, position, -1)),
                ("Down", "arrow_downward", position == n_figures - 1, partial(move, position, 1)),
                ("Remove", "delete", False, partial(remove, position)),
            ):
                key = f"export_{text.lower()}_{position}"
                st.button(text, key=key, icon=f":material/{icon}:", type="tertiary", disabled=disabled, on_click=act)
        if cohort is None:
            st.warning(_GONE_MODEL if request.cohort.model else _GONE_SUBJECTS, icon=":material/warning:")
        return st.container()


def _show_previews(places: Mapping[FigureRequest, DeltaGenerator], style: PaperStyle) -> None:
    """Show what figures look like, drawing those that were not drawn yet until the user stops it."""
    left = [request for request in places if kept_preview(request, style) is None]
    for request in places:
        if request not in left:
            _show_preview(request, style, places[request])

    def draw(request: FigureRequest) -> None:
        with places[request], sentences():
            keep_preview(request, style)
            _show_preview(request, style, places[request])

    work_through(
        left,
        draw,
        key="export_previews",
        start="Draw the previews",
        doing="Drawing figure",
        automatic=True,
        done_before=len(places) - len(left),
    )


def _show_preview(request: FigureRequest, style: PaperStyle, place: DeltaGenerator) -> None:
    found = kept_preview(request, style)
    if found is None:
        return
    png, caption = found
    place.image(png, width=PREVIEW_WIDTH.get(style.width_mm, 520), alt=caption)
    place.caption(plain(caption))


def _whose(request: FigureRequest) -> str:
    ref = request.cohort
    cohort = DEMO_COHORTS[ref.name] if ref.demo else "" if ref.model else ref.name
    model = f"model {request.model}" if request.model else ""
    return ", ".join(part for part in (request.subject, cohort, model) if part)


show_page()
