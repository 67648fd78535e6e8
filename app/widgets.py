"""Pieces that several pages show: badges, figures with their captions, sentences about bad input, bug reports.

Text that came from a file or an address is never taken for Markdown or HTML: it goes through :func:`plain`.
"""

import logging
import platform
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

import streamlit as st
from export_list import add_to_export
from state import REGION_ORDER

import biobgt
from biobgt import Atlas, InputError
from biobgt.atlas import LABELLINGS
from biobgt.export import FigureRequest
from biobgt.figures import RegionOrder, order_regions

if TYPE_CHECKING:
    from biobgt.figures.paper.style import PaperStyle

ATLAS_ORDER = "atlas"
LARGE_HEIGHT = 680
ORDER_WIDTH = 300  # a labelling by its whole name, below what is beside it where that leaves less
SCREEN_DPI = 220
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&@^=\"'/])")
# Addresses, icons and emoji are recognised even in escaped text, unless something invisible parts them.
_AUTOMATIC = re.compile(r"(:(?=[\w/])|\bwww(?=\.)|@)", re.IGNORECASE)
_WORD_JOINER = "\u2060"
_LOG = logging.getLogger("biobgt.app")


def plain(text: str) -> str:
    """Escape text of unknown origin, so that Markdown shows it as it is, on one line."""
    parted = _AUTOMATIC.sub(rf"\1{_WORD_JOINER}", " ".join(text.split()))
    return _MARKDOWN.sub(r"\\\1", parted)


def simulated_badge() -> None:
    """Mark what is shown as simulated."""
    st.badge("Simulated", icon=":material/science:", color="orange", help="Drawn by a program, measured on nobody.")


def heading(text: str, *, simulated: bool = False) -> None:
    """Open a section, with the badge beside its title where its data are simulated."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(text, width="content")
        if simulated:
            simulated_badge()


def show_figure(
    figure: Any,
    caption: str,
    *,
    key: str,
    file_name: str,
    on_pick: Callable[[int], None] | None = None,
    export: FigureRequest | None = None,
) -> None:
    """Show a plotly figure with its caption in words; its toolbar saves SVG, and a button enlarges it.

    Parameters
    ----------
    figure : plotly Figure
    caption : str
        Also what a screen reader says.
    key : str
        Unique on the page.
    file_name : str
        Of the picture that the toolbar saves, without its extension.
    on_pick : callable, optional
        Told the region of a point that is clicked, counted from 0, as the point's ``customdata`` has it. Not of a
        point in 3-D: plotly selects nothing there, and Streamlit is told of selections only.
    export : FigureRequest, optional
        Makes the figure for the paper; with it comes a button that adds it to the export.
    """
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {"format": "svg", "filename": re.sub(r"[^\w.-]+", "_", file_name)},
    }
    if on_pick is None:
        st.plotly_chart(figure, key=key, config=config, alt=caption)
    else:
        told = partial(_tell_pick, key, on_pick)
        st.plotly_chart(figure, key=key, config=config, alt=caption, on_select=told, selection_mode="points")
    if _caption_with_buttons(caption, key, export):
        _enlarge(partial(_large_figure, figure, config, caption, key))


def show_picture(picture: Any, caption: str, key: str, *, export: FigureRequest | None = None) -> None:
    """Show a figure made for paper with its caption in words, and a button that enlarges it.

    Parameters
    ----------
    picture : matplotlib Figure or bytes
        Bytes are those of :func:`as_png`, where a page keeps them.
    caption : str
        Also what a screen reader says.
    key : str
        Unique on the page.
    export : FigureRequest, optional
        As for :func:`show_figure`.
    """
    png = picture if isinstance(picture, bytes) else as_png(picture)
    with st.container(key=key):
        st.image(png, width="stretch", alt=caption)
    if _caption_with_buttons(caption, key, export):
        _enlarge(partial(st.image, png, width="stretch", alt=caption))


def as_png(figure: Any, *, style: "PaperStyle | None" = None) -> bytes:
    """Write a matplotlib figure as PNG; by default sharp enough for a screen of twice the usual density."""
    from biobgt.figures.paper.style import PaperStyle, save_figure  # brings matplotlib, which few pages need

    buffer = BytesIO()
    save_figure(figure, buffer, "png", style or PaperStyle(dpi=SCREEN_DPI))
    return buffer.getvalue()


def _caption_with_buttons(caption: str, key: str, export: FigureRequest | None) -> bool:
    """The caption, and beside it the buttons; true in the run after a click on the one that enlarges."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="top"):
        st.caption(plain(caption))
        with st.container(width="content", gap=None):
            enlarge = st.button(
                "Enlarge",
                key=f"{key}_enlarge",
                type="tertiary",
                icon=":material/open_in_full:",
            )
            if export is not None:
                st.button(
                    "Add to export",
                    key=f"{key}_export",
                    type="tertiary",
                    icon=":material/add:",
                    on_click=add_to_export,
                    args=(export,),
                )
    return enlarge


def _enlarge(show: Callable[[], Any]) -> None:
    # The decorator makes what it is given a dialog; called here, it opens at once.
    st.dialog("Enlarged figure", width="large")(show)()


def _large_figure(figure: Any, config: Mapping[str, Any], caption: str, key: str) -> None:
    figure.update_layout(height=max(LARGE_HEIGHT, figure.layout.height or 0))
    st.plotly_chart(figure, key=f"{key}_large", config=dict(config), alt=caption)
    st.caption(plain(caption))


def _tell_pick(key: str, on_pick: Callable[[int], None]) -> None:
    """Find the region of the clicked point; a click that takes the selection back picks nothing."""
    points = st.session_state[key].selection.points
    if points and "customdata" in points[0]:
        data = points[0]["customdata"]
        on_pick(int(data[0] if isinstance(data, list | tuple) else data))


def pick_region_order(atlas: Atlas) -> RegionOrder:
    """Let the user choose the order of regions: by a functional labelling, or the atlas's own."""
    options = [*atlas.labels, ATLAS_ORDER]
    if st.session_state.get(REGION_ORDER) not in options:
        st.session_state[REGION_ORDER] = options[0]
    titles = {name: f"By {LABELLINGS.get(name, name)}" for name in atlas.labels} | {ATLAS_ORDER: "Atlas order"}
    chosen = st.selectbox(
        "Order of regions",
        options,
        format_func=titles.__getitem__,
        key=REGION_ORDER,
        persist_state="session",
        width=ORDER_WIDTH,
    )
    return order_regions(atlas.n_regions, None if chosen == ATLAS_ORDER else atlas.labelling(chosen))


@contextmanager
def sentences() -> Iterator[None]:
    """Show what is wrong with the input as a sentence, and go on with the rest of the page."""
    try:
        yield
    except InputError as error:
        st.error(plain(str(error)), icon=":material/error:")


def show_bug(error: Exception) -> None:
    """Apologise for a bug, with a report to copy: where it happened, without any of the user's data."""
    _LOG.exception("A page failed", exc_info=error)
    st.error(
        "Something went wrong in BioBGT Explorer itself; your files are not the cause. "
        "We are sorry. Please send this report with a word on what you did.",
        icon=":material/bug_report:",
    )
    st.code(bug_report(error), language=None, wrap_lines=True)


def bug_report(error: Exception) -> str:
    """Write the report: type, message, versions, and the places in the code, without paths or lines of files."""
    places = [
        f"  {frame.filename.replace(chr(92), '/').rsplit('/', 1)[-1]}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    versions = f"biobgt {biobgt.__version__}, streamlit {st.__version__}, Python {platform.python_version()}"
    return "\n".join([f"{type(error).__name__}: {error}", versions, *places])
