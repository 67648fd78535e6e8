"""Drawings for paper: each figure with matplotlib, of exact size, with text that stays text.

Importing this package loads matplotlib, so :mod:`biobgt.figures` does not import it.
"""

from biobgt.figures.paper.brain_drawing import five_brains
from biobgt.figures.paper.style import JOURNAL_WIDTHS_MM, PALETTES, FileFormat, PaperStyle, save_figure

__all__ = [
    "JOURNAL_WIDTHS_MM",
    "PALETTES",
    "FileFormat",
    "PaperStyle",
    "five_brains",
    "save_figure",
]
