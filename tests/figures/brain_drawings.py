"""Regions in a brain, drawn at once: short for tests that look at one of the two drawings."""

from hub_figures import on_screen

from biobgt.figures.brain import Brain
from biobgt.figures.drawing import Drawing, Panel
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle


def brain_of(coordinates, regions, *, title="", simulated=False, **about):
    """One brain."""
    brain = Brain(coordinates=coordinates, regions=regions, **about)
    return Drawing(title=title, simulated=simulated, panels=[Panel(marks=[brain])])


def brain_3d(coordinates, regions, **about):
    """The drawing for the screen."""
    return on_screen(brain_of(coordinates, regions, **about))


def glass_brain(coordinates, regions, *, style=None, display_mode="lyrz", **about):
    """The drawing for paper."""
    return draw_on_paper(brain_of(coordinates, regions, views=display_mode, **about), style or PaperStyle())


def five_glass_brains(panels, coordinates, regions, *, style, title="", simulated=False, quantity=""):
    """Several brains on one scale, by what stands above them."""
    about = {"coordinates": coordinates, "regions": regions, "quantity": quantity}
    brains = [Panel(title=name, marks=[Brain(sizes=z, values=z, **about)]) for name, z in panels.items()]
    return draw_on_paper(Drawing(title=title, simulated=simulated, panels=brains), style)
