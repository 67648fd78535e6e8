"""Regions in a brain, drawn at once: short for tests that look at one of the two drawings."""

from biobgt.figures.brain import BrainDrawing
from biobgt.figures.paper_style import PaperStyle


def brain_3d(coordinates, regions, **drawn):
    """The drawing for the screen."""
    return BrainDrawing(coordinates, regions, **drawn).plotly()


def glass_brain(coordinates, regions, *, style=None, display_mode="lyrz", **drawn):
    """The drawing for paper."""
    return BrainDrawing(coordinates, regions, **drawn).matplotlib(style or PaperStyle(), display_mode=display_mode)
