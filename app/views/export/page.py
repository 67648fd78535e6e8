"""Export: the figures that were added on the other pages, in order, as the journal wants them, in one zip."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from biobgt import Cohort
from biobgt.base.wording import counted
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.export import FigureRequest
from biobgt.export.bundle import PanelsRequest, is_simulated
from biobgt.figures.catalogue import FIGURES
from biobgt.figures.paper_style import FileFormat, PaperStyle
from session.export_list import listed, move, remove
from session.keys import EXPORT_DATA
from session.long_work import work_through
from session.view import current_view
from views.export.export_results import (
    bundle_file,
    find_cohort,
    forget_others,
    keep_files,
    keep_panels,
    keep_preview,
    kept_files,
    kept_panels,
    kept_preview,
)
from views.export.graph_panel import show_graph_files
from views.export.look_panel import ask_how
from views.export.panels_panel import ask_for_panels, preview_width, show_panels
from views.page_map import PAGES
from views.shared.widgets import input_errors_shown, plain, simulated_badge

PAGES_WITH_FIGURES = ("subjects", "hubs", "modules", "compare", "attention", "predict", "models")
FILE_NAME = "biobgt_figures.zip"
_GONE_SUBJECTS = (
    "The subjects of this figure are no longer loaded, or were changed, so it is left out. Load them again, or remove "
    "the figure."
)
_GONE_MODEL = (
    "The model of this figure was changed or removed, so the figure is left out. Remove the figure, and add it again "
    "on its page."
)


def show_page() -> None:
    """Show the page."""
    st.title("Export")
    st.markdown(
        "Figures for the paper, with the numbers behind each, captions, a methods section with its references for Word "
        "or LaTeX, provenance, and a script that makes the same figures again. Every figure of the other pages that "
        "can be drawn for paper has the button *Add to export*."
    )
    requests = listed()
    if not requests:
        _show_ways_on()
        show_graph_files(current_view())
        return
    style, formats = ask_how()
    found = {request.cohort: find_cohort(request.cohort) for request in requests}
    usable = [request for request in requests if found[request.cohort] is not None]
    forget_others(usable, style)
    panels = ask_for_panels(usable, titles=_titles(requests))
    panels_place = st.container()
    st.subheader("The zip")
    bundle = st.container()
    st.subheader(counted(len(requests), "figure"))
    drawing = st.container()
    places = {
        request: _show_figure(position, len(requests), request, cohort=found[request.cohort])
        for position, request in enumerate(requests)
    }
    # What may take long comes last, for the list can be read and ordered meanwhile; what was asked for comes first.
    with bundle, input_errors_shown():
        _show_bundle(usable, style, formats, panels)
    with panels_place, input_errors_shown():
        show_panels(panels, style)
    with drawing:
        _show_previews({request: places[request] for request in usable}, style)
    show_graph_files(current_view())


def _show_ways_on() -> None:
    st.info("No figure has been added yet. Add some on these pages:", icon=":material/info:")
    for name in PAGES_WITH_FIGURES:
        st.page_link(PAGES[name].script, label=PAGES[name].title, icon=":material/arrow_forward:")


def _show_bundle(
    usable: list[FigureRequest], style: PaperStyle, formats: tuple[FileFormat, ...], panels: PanelsRequest | None
) -> None:
    """Make what is left to make, then offer the zip."""
    if not usable:
        st.info("None of these figures can be made from what is loaded now.", icon=":material/info:")
        return
    if not formats:
        st.info("Choose at least one format.", icon=":material/info:")
        return
    include = _ask_for_data() if any(request.cohort.own for request in usable) else False
    steps = _left_to_make(usable, style, formats, panels)
    whole = work_through(
        steps,
        lambda make: make(),
        key="export_bundle",
        start=f"Make the zip of {counted(len(usable), 'figure')}",
        doing="Figure",
        done_before=len(usable) + (panels is not None) - len(steps),
    )
    if not whole:
        return
    together = None if panels is None else kept_panels(panels, style, formats)
    made = [files for request in usable if (files := kept_files(request, style, formats)) is not None]
    cohorts = {request.cohort: cohort for request in usable if (cohort := find_cohort(request.cohort)) is not None}
    st.download_button(
        f"Download the zip of {counted(len(made), 'figure')}",
        data=partial(bundle_file, made, cohorts, style, include, together),
        file_name=FILE_NAME,
        mime="application/zip",
        icon=":material/download:",
        type="primary",
        on_click="ignore",
        key="export_download",
    )
    st.caption("To make figures and numbers again, run `sh make_figures.sh` in the unpacked folder.")


def _left_to_make(
    usable: list[FigureRequest], style: PaperStyle, formats: tuple[FileFormat, ...], panels: PanelsRequest | None
) -> list[Callable[[], None]]:
    """What is not made yet: a step for each figure, and one for that of several panels."""
    left = [request for request in usable if kept_files(request, style, formats) is None]
    steps = [partial(keep_files, request, style, formats) for request in left]
    if panels is not None and kept_panels(panels, style, formats) is None:
        steps.append(partial(keep_panels, panels, style, formats))
    return [*steps]


def _ask_for_data() -> bool:
    st.session_state.setdefault(EXPORT_DATA, False)
    return st.toggle(
        "Include my subjects' data in the zip",
        key=EXPORT_DATA,
        persist_state="session",
        help="With the data, the script needs no other file. Without them, it asks for the project file that you saved "
        "on the page Subjects, and refuses other subjects. Share the zip only as you would share the data.",
    )


def _show_figure(position: int, n_figures: int, request: FigureRequest, *, cohort: Cohort | None) -> DeltaGenerator:
    """One listed figure: where it stands, and the place for what it looks like."""
    with st.container(border=True, key=f"export_{position}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{position + 1}. {FIGURES[request.figure].name}** · {plain(_whose(request))}")
            with input_errors_shown():
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
        with places[request], input_errors_shown():
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
    place.image(png, width=preview_width(style), alt=caption)
    place.caption(plain(caption))


def _titles(requests: list[FigureRequest]) -> dict[FigureRequest, str]:
    """What each listed figure is called, by its number."""
    return {
        request: f"{number}. {FIGURES[request.figure].name} · {_whose(request)}"
        for number, request in enumerate(requests, start=1)
    }


def _whose(request: FigureRequest) -> str:
    ref = request.cohort
    cohort = DEMO_COHORTS[ref.name] if ref.demo else "" if ref.model else ref.name
    model = f"model {request.model}" if request.model else ""
    return ", ".join(part for part in (request.subject, cohort, model) if part)


show_page()
