"""How a figure for the paper is drawn and written: exact size in mm, text that stays text, bytes that repeat.

Figures are drawn on ``matplotlib.figure.Figure`` itself, never through pyplot. matplotlib's settings are nevertheless
one for the whole process, so drawing and writing wait for each other: see :func:`drawing`.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO, cast

import matplotlib
from matplotlib.figure import Figure
from PIL import Image

from biobgt.base.errors import InputError
from biobgt.figures.paper_style import FILE_FORMATS, FileFormat, PaperStyle

MM_PER_INCH = 25.4
_LOCK = RLock()


@contextmanager
def drawing(style: PaperStyle) -> Iterator[None]:
    """Apply a style while a figure is drawn or written, one figure at a time.

    matplotlib's settings belong to the process, and two users of the app may ask for figures at once.
    """
    with _LOCK, matplotlib.rc_context(cast(Any, style.settings())):
        yield


def save_figure(figure: Figure, target: str | Path | BinaryIO, format: FileFormat, style: PaperStyle) -> None:
    """Write a figure at the size it was drawn in; the same figure always gives the same bytes.

    Parameters
    ----------
    figure : matplotlib Figure
        From one of the functions of :mod:`biobgt.figures.paper`.
    target : str, Path or binary file
    format : {"svg", "pdf", "png", "tiff"}
        SVG and PDF keep text as text; PDF embeds its fonts; PNG and TIFF state their dpi.
    style : PaperStyle
        The style the figure was drawn in.
    """
    if format not in FILE_FORMATS:
        raise InputError(f"Figures cannot be written as '{format}'; choose one of {', '.join(FILE_FORMATS)}.")
    buffer = io.BytesIO()
    with drawing(style):
        if format == "svg":
            figure.savefig(buffer, format="svg", dpi=style.dpi, metadata={"Date": None})
        elif format == "pdf":
            figure.savefig(buffer, format="pdf", dpi=style.dpi, metadata={"CreationDate": None})
        else:
            _save_pixels(figure, buffer, format, style.dpi)
    if isinstance(target, str | Path):
        Path(target).write_bytes(buffer.getvalue())
    else:
        target.write(buffer.getvalue())


def _save_pixels(figure: Figure, buffer: io.BytesIO, format: str, dpi: int) -> None:
    """Round the size to whole pixels, where matplotlib would cut, and leave transparency out: journals refuse it."""
    size = figure.get_size_inches()
    picture = io.BytesIO()
    try:
        # A thousandth of a pixel more keeps 1004 pixels from becoming 1003.999.
        figure.set_size_inches((round(size[0] * dpi) + 1e-3) / dpi, (round(size[1] * dpi) + 1e-3) / dpi)
        figure.savefig(picture, format="png", dpi=dpi)
    finally:
        figure.set_size_inches(*size)
    options = {"compression": "tiff_lzw"} if format == "tiff" else {}
    Image.open(picture).convert("RGB").save(buffer, format=format, dpi=(dpi, dpi), **options)
