"""Figures of the register on a page, with heading, options, caption and buttons; whole, small or as a picture."""

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from typing import Any

import streamlit as st

from biobgt.base.kept import Key
from biobgt.base.options import Options, Plain
from biobgt.base.wording import counted, escape_markdown
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.export import CohortRef, FigureRequest
from biobgt.figures.attention.faithfulness import attention_faithfulness
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.register import Figure, NoOptions
from biobgt.figures.screen.page import page_contents, plotly_figure
from biobgt.figures.screen.pen import ScreenHeight, height_by_width
from biobgt.model.pretrained import InstalledModel, installed_model
from biobgt.results.measured import Measured
from biobgt.study.finished import FinishedStudy
from session.cohorts import keep_list, listed_figures
from session.view import GLASS, REGION, View, brain_kind, current_view, measured_model
from views.shared.widgets import ask_in_row, caption, columns, heading, input_errors_shown, show_full

NO_PLACES = "This atlas has no coordinates, so its regions cannot be drawn in the brain."
HOW_TO_GET_PLACES = "On the page Subjects, choose a bundled atlas or add an atlas table with coordinates."
_LARGE_HEIGHT = 680
_SCREEN_DPI = 220  # sharp enough for a screen of twice the usual density
_PICTURE_MM = 174.0
_KEPT_DRAWINGS = 256  # a tenth of a megabyte each; twenty sessions may look at subjects of one demo


@dataclass(frozen=True)
class Panel:
    """A figure below its heading, and above it the options that are asked; called, it is shown.

    Attributes
    ----------
    figure : Figure
        Of the register.
    key : str
        Unique on the page; by default the figure's.
    title : str
        By default the figure's name.
    terms : tuple of str
        Keys of the glossary, which the heading's help explains.
    asked : tuple of str
        Names of the figure's options.
    fixed : mapping of str to plain values
        Options that are not the user's choice here.
    """

    figure: Figure[Any]
    key: str = ""
    title: str = ""
    terms: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    fixed: Mapping[str, Plain] = field(default_factory=dict)

    def __call__(self, view: View, model: InstalledModel | None = None) -> None:
        """Show it of the view's subject, or of a model's groups."""
        heading(self.title or self.figure.name, *self.terms)
        if self.asked:
            ask_in_row(self.figure.takes, *self.asked, cohort=view.cohort if model is None else model.cohort)
        with input_errors_shown():
            options = view.options(self.figure.takes, **self.fixed)
            measured = None if model is None else measured_model(model)
            show(view, self.figure, options, measured=measured, key=self.key)


def show_faithfulness(view: View, model: InstalledModel, *, groups: str = "") -> None:
    """Show whether a model's attention is faithful, or say that it was not measured.

    Parameters
    ----------
    view : View
    model : InstalledModel
    groups : str
        Those of a readout, for its heading.
    """
    heading(escape_markdown(f"{attention_faithfulness.name} {groups}"), "faithfulness")
    if model.card.get("faithfulness") is None:
        from biobgt.training.card_text import CardText  # brings scikit-learn

        st.markdown(escape_markdown(CardText(model.card).faithfulness))
        return
    with input_errors_shown():
        show(view, attention_faithfulness, NoOptions(), measured=measured_model(model), key=f"faithful_{model.name}")


Asked = tuple[Figure[Any], Options, str]  # a figure with its options and its key


def show_beside(view: View, *figures: Asked, wide: bool = False, **how: Any) -> None:
    """Show figures side by side, in ``columns`` that are wide or not; ``how`` is for all of them, as in ``show``."""
    with columns(figures[0][2] or figures[0][0].key, wide=wide):
        for figure, options, key in figures:
            with st.container(), input_errors_shown():
                show(view, figure, options, key=key, **how)


def show_in_brain(
    view: View,
    figure: Figure[Any],
    shown: str,
    *,
    key: str,
    measured: Measured | None = None,
    picture_mm: float = _PICTURE_MM,
    **fixed: Plain,
) -> None:
    """Show a figure in the brain that the page lets choose: to turn, painted, or as a picture of a glass brain.

    Parameters
    ----------
    view : View
    figure : Figure
        Whose options say how the brain is drawn.
    shown : str
        What was chosen.
    key, measured, picture_mm
        As for :func:`show`.
    **fixed : plain values
        Options that are not the user's choice here.
    """
    glass, options = shown == GLASS, view.options(figure.takes, brain=brain_kind(shown), **fixed)
    key = f"{key}_glass" if glass else key
    show(view, figure, options, measured=measured, key=key, as_picture=glass, picture_mm=picture_mm)


def show_no_places() -> None:
    """Say that the regions of the subjects' atlas cannot be drawn, and what to do."""
    st.info(f"{NO_PLACES} {HOW_TO_GET_PLACES}", icon=":material/info:")


def show(
    view: View,
    figure: Figure[Any],
    options: Options,
    *,
    measured: Measured | None = None,
    key: str = "",
    on_pick: Callable[[int], None] | None = None,
    as_picture: bool = False,
    picture_mm: float = _PICTURE_MM,
) -> None:
    """Show a figure of the register with its caption, its toolbar and its buttons.

    Parameters
    ----------
    view : View
    figure : Figure
        Of the register.
    options : Options
    measured : Measured, optional
        What it is drawn of, where that is not the view's subject or cohort.
    key : str
        Unique on the page; by default that of the figure's kind.
    on_pick : callable, optional
        Told the region of a point that is clicked, counted from 0, as the point's ``customdata`` has it. Not of a
        point in 3-D: plotly selects nothing there, and Streamlit is told of selections only.
    as_picture : bool
        Show the drawing for paper; figures that have no other always do.
    picture_mm : float
        Width of that drawing, for letters of the right size where it does not take the width of the page.
    """
    key, request = key or figure.key, figure_request(view, figure, options, measured)
    if as_picture or figure.on_paper_only:
        png, line, said = (measured or view.measured).keep(
            Key("picture", (_asked(view, figure, request), picture_mm), "Drawing…", 48),
            lambda: _draw_picture(figure, options, measured or view.measured, picture_mm),
        )
        with st.container(key=key):
            st.image(png, width="stretch", alt=said)
        _show_caption(line, said, key, request, partial(st.image, png, width="stretch", alt=said))
        return
    whose = request.cohort.name if figure.of_model else view.subject.id if figure.of_subject else ""
    name = f"{whose}_{key}" if whose and whose not in key else key
    drawn = drawn_for_screen(view, figure, options, measured=measured)
    contents, said, height = drawn.contents, drawn.caption, drawn.height
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {"format": "svg", "filename": re.sub(r"[^\w.-]+", "_", name)},
    }
    about: dict[str, Any] = {"key": key, "config": config, "alt": said}
    if height is not None:
        with st.container(key=f"{key}_frame"):
            st.html(_height_rule(key, height))
            st.plotly_chart(plotly_figure(contents, height=None), height="stretch", **about)
    elif on_pick is None:
        st.plotly_chart(plotly_figure(contents), **about)
    else:
        told = partial(_tell_pick, key, on_pick)
        st.plotly_chart(plotly_figure(contents), on_select=told, selection_mode="points", **about)

    def show_large() -> None:
        large = plotly_figure(contents, height=max(_LARGE_HEIGHT, contents["layout"].get("height") or 0))
        st.plotly_chart(large, **{**about, "key": f"{key}_large"})
        caption(said)

    _show_caption(drawn.line, said, key, request, show_large)


@dataclass(frozen=True, eq=False)
class OnScreen:
    """A figure as a page shows it: plotly's dictionary, its caption in one line and whole, and its height."""

    contents: dict[str, Any]
    line: str
    caption: str
    height: ScreenHeight | None


def drawn_for_screen(
    view: View, figure: Figure[Any], options: Options, *, measured: Measured | None = None, small: int = 0
) -> OnScreen:
    """Draw a figure for the screen, with the pinned region marked, or take what the same request gave before.

    Parameters
    ----------
    view : View
    figure : Figure
        Of the register.
    options : Options
    measured : Measured, optional
        What it is drawn of, where that is not the view's subject or cohort.
    small : int
        Height in px of a drawing for a third of a page; 0 for a whole one.
    """
    source, request = measured or view.measured, figure_request(view, figure, options, measured)
    names, region = source.atlas.regions, st.session_state.get(REGION)
    about_region = bool(getattr(options, REGION, ""))  # such a figure marks the region itself
    pinned = names.index(region) if region in names and not about_region else None

    def draw() -> OnScreen:
        drawn = figure(source, options)
        contents = page_contents(drawn, small=small, pinned=pinned)
        return OnScreen(contents, drawn.line, drawn.caption, height_by_width(drawn))

    key = Key("drawing", (_asked(view, figure, request), small, pinned), most=_KEPT_DRAWINGS)
    return source.keep(key, draw)


def _asked(view: View, figure: Figure[Any], request: FigureRequest) -> Hashable:
    """All that a figure depends on; a cohort's also on who is in which group."""
    return figure, request, () if figure.of_model else view.loaded.people


def _height_rule(key: str, height: ScreenHeight) -> str:
    """A rule of style by which a chart is as high as its square maps need at the width of the page."""
    chart = ".st-key-" + re.sub(r"[^\w-]", "-", key, flags=re.ASCII)  # as Streamlit makes a class of a key
    maps = f"min({height.largest}px, (100cqw - {height.beside}px) * {height.share:.5f})"
    return (
        f"<style>{chart}_frame {{container-type: inline-size}}"
        f"{chart} {{height: calc({height.around}px + {maps}) !important; flex: none !important}}"
        f"{chart} > div, {chart} .stPlotlyChart {{height: 100% !important}}</style>"
    )


def _draw_picture(figure: Figure[Any], options: Options, measured: Measured, width_mm: float) -> tuple[bytes, str, str]:
    """A drawing for paper as PNG, and its caption in one line and whole."""
    from biobgt.figures.paper.frame import save_figure  # these bring matplotlib, which few pages need
    from biobgt.figures.paper.pen import draw_on_paper

    style, buffer = PaperStyle(width_mm=width_mm, dpi=_SCREEN_DPI, titles=True), BytesIO()
    drawn = figure(measured, options).for_paper(style)
    save_figure(draw_on_paper(drawn, style), buffer, "png", style)
    return buffer.getvalue(), drawn.line, drawn.caption


def _show_caption(line: str, said: str, key: str, request: FigureRequest, show_large: Callable[[], Any]) -> None:
    """The caption in one line; beside it, in full behind an *i*, and buttons that enlarge and export the figure."""
    added = _is_in_export(request)
    export = "Added" if added else "Add to export"
    with st.container(horizontal=True, wrap=False, gap="small", key=f"tools_{key}"):
        caption(line)
        if line != said:
            show_full(said)
        icon = ":material/open_in_full:"
        enlarge = st.button("Enlarge", key=f"{key}_enlarge", type="tertiary", icon=icon, help="Enlarge")
        st.button(
            export,
            key=f"{key}_export",
            type="tertiary",
            icon=":material/check:" if added else ":material/add:",
            help=export,
            disabled=added,
            on_click=add_to_export,
            args=(request,),
        )
    if enlarge:
        # The decorator makes what it is given a dialog; called here, it opens at once.
        st.dialog("Enlarged figure", width="large")(show_large)()


def _tell_pick(key: str, on_pick: Callable[[int], None]) -> None:
    """Find the region of the clicked point; a click that takes the selection back picks nothing."""
    points = st.session_state[key].selection.points
    if points and "customdata" in points[0]:
        data = points[0]["customdata"]
        on_pick(int(data[0] if isinstance(data, list | tuple) else data))


# What is asked for when a figure is added to the export.


def figure_request(
    view: View, figure: Figure[Any], options: Options, measured: Measured | None = None
) -> FigureRequest:
    """Ask for a figure that a page shows, with all its options.

    Parameters
    ----------
    view : View
    figure : Figure
        Of the register.
    options : Options
    measured : Measured, optional
        Of a model's cohort, of which a figure of its groups is made.
    """
    if figure.of_model:
        name = measured.cohort.name if measured else ""
        cohort = CohortRef(name, model=True, sha256=installed_model(name).sha256)
        return FigureRequest(figure.key, cohort, options=options.as_dict())
    if figure.of_study:
        assert isinstance(measured, FinishedStudy)
        ref = CohortRef(measured.cohort.name, study=True, sha256=measured.sha256)
        return FigureRequest(figure.key, ref, options=options.as_dict())
    key = view.loaded.key
    cohort = CohortRef(key, demo=True) if key in DEMO_COHORTS else CohortRef(view.cohort.name)
    subject = view.subject.id if figure.of_subject else None
    settings = view.settings if figure.of_graph else ConnectomeSettings()
    return FigureRequest(figure.key, cohort, subject, settings, options.as_dict())


def _is_in_export(request: FigureRequest) -> bool:
    """Whether a figure is on the list."""
    requests = listed_figures()
    # The SHA-256 of a large cohort takes a while, and no other request can be one of own subjects.
    return any(one.cohort.own == request.cohort.own for one in requests) and _pinned(request) in requests


def add_to_export(request: FigureRequest) -> None:
    """Put a figure on the list, and say so."""
    pinned, requests = _pinned(request), listed_figures()
    if pinned in requests:
        return
    keep_list([*requests, pinned])
    number = counted(len(requests) + 1, "figure")
    st.toast(f"Added to the export: {number} on the page Export.", icon=":material/check:")


def _pinned(request: FigureRequest) -> FigureRequest:
    """A request as the list keeps it: own subjects are remembered by the SHA-256 of their numbers."""
    if not request.cohort.own:
        return request
    return replace(request, cohort=replace(request.cohort, sha256=current_view().loaded.sha256))
