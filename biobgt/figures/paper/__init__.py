"""Drawings for paper: each figure with matplotlib, of exact size, with text that stays text.

Importing this package loads matplotlib, so :mod:`biobgt.figures` does not import it.
"""

from biobgt.figures.paper.frame import save_figure
from biobgt.figures.paper_style import JOURNAL_WIDTHS_MM, PALETTES, FileFormat, PaperStyle

__all__ = ["JOURNAL_WIDTHS_MM", "PALETTES", "FileFormat", "PaperStyle", "save_figure"]
