"""Regions in a brain, drawn at once: short for tests that look at one of the two drawings."""

from itertools import cycle

from hub_figures import on_screen

from biobgt.base.colours import MODULE_COLOURS
from biobgt.figures.brain import Brain, in_brain
from biobgt.figures.drawing import Drawing, Panel
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle


def brain_of(coordinates, regions, *, groups=None, **about):
    """One brain; groups have the house's colours."""
    names = dict.fromkeys(name for name in groups or () if name is not None)
    colours = {"group_colours": dict(zip(names, cycle(MODULE_COLOURS), strict=False))} if groups else {}
    return Brain(coordinates=coordinates, regions=regions, groups=groups, **(colours | about))


def drawing_of(brain, *, title="", simulated=False):
    """One brain as a figure draws it."""
    return in_brain(brain, lambda where: where, title=title, simulated=simulated)


def brain_3d(coordinates, regions, *, title="", simulated=False, **about):
    """The drawing for the screen."""
    return on_screen(drawing_of(brain_of(coordinates, regions, **about), title=title, simulated=simulated))


def glass_brain(coordinates, regions, *, style=None, title="", simulated=False, **about):
    """The drawing for paper."""
    drawing = drawing_of(brain_of(coordinates, regions, **about), title=title, simulated=simulated)
    return draw_on_paper(drawing, style or PaperStyle())


def five_glass_brains(panels, coordinates, regions, *, style, title="", simulated=False, quantity=""):
    """Several brains on one scale, by what stands above them."""
    limits = min(z.min() for z in panels.values()), max(z.max() for z in panels.values())
    about = {"coordinates": coordinates, "regions": regions, "quantity": quantity, "limits": limits}
    brains = [Panel(title=name, marks=[Brain(sizes=z, values=z, **about)]) for name, z in panels.items()]
    return draw_on_paper(Drawing(title=title, simulated=simulated, panels=brains), style)
