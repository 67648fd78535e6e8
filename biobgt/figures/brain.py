"""Regions in the brain: nodes at their MNI coordinates, to be turned on the screen and in a glass brain on paper.

Regions carry either a value (continuous colours) or a group, such as their module (a colour and a symbol each, named
in the legend).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.wording import counted, whose
from biobgt.figures.brain_nodes import (
    Edges,
    NodeGroup,
    Values,
    check_nodes,
    node_groups,
    placed_edges,
    placed_parts,
)
from biobgt.figures.drawing import Drawing, Mark, Panel
from biobgt.figures.surface import BrainKind

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle

DisplayMode = Literal["lyrz", "ortho"]  # as nilearn names the sides from which a brain is seen
# In which brain regions are drawn, as captions say it.
IN_NONE = "; grey regions are in none"
CORTEX, GLASS_BRAIN = "the fsaverage5 cortex", "nilearn's glass brain, seen from four sides"
PAINTED: Mapping[str, str] = {
    "inflated": "painted on the inflated fsaverage5 cortex",
    "pial": "painted on the pial fsaverage5 cortex",
}
SIDES = "seen from the side and from the middle"


@dataclass(frozen=True, eq=False, kw_only=True)
class Brain(Mark):
    """Regions in a brain: inside a translucent cortex on the screen, in nilearn's glass brain on paper.

    Attributes
    ----------
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm; a region whose row is NaN is left out.
    regions : sequence of str, length n_regions
        Their names, which show on hover.
    sizes : ndarray, shape (n_regions,), optional
        A node's area grows evenly from the smallest size to the largest; NaN is drawn smallest.
    values : ndarray, shape (n_regions,), optional
        Colours of the nodes; NaN is grey. With ``groups`` they show on hover only.
    groups : sequence of (str or None), length n_regions, optional
        A colour and a legend entry each; None is grey, "no module".
    group_colours : mapping of str to str, optional
        Colours of groups, as ``#rrggbb``, and their order; other groups take the house's palette in natural order.
    edges : sequence of (int, int, float), optional
        Two regions, counted from 0, and a weight: the stronger the thicker, dashed where negative.
    quantity : str
        What the values are.
    limits : (float, float), optional
        Ends of the colour scale; where not given, those of the values.
    ranked : bool
        The values are ranks: 1 is the strongest, strikes the eye first and lies on top.
    details : sequence of str, length n_regions
        A further line for each region, which shows on hover.
    named : sequence of int
        Regions, counted from 0, whose names are written beside them on the screen.
    brain : {"nodes", "inflated", "pial"}
        Nodes at their places, or regions painted on a cortex, from four sides, on the screen and on paper.
    surface_labels : ndarray of int, shape (20484,), optional
        For a painted cortex: the region of every vertex of fsaverage5, counted from 1; 0 is none.
    distance : float
        From so many times the usual distance it is seen on the screen.
    views : {"lyrz", "ortho"}
        On paper: from left, front, right and top, or from side, front and top.
    """

    coordinates: Values
    regions: Sequence[str]
    sizes: Values | None = None
    values: Values | None = None
    groups: Sequence[str | None] | None = None
    group_colours: Mapping[str, str] | None = None
    edges: Edges | None = None
    quantity: str = ""
    limits: tuple[float, float] | None = None
    ranked: bool = False
    details: Sequence[str] = ()
    named: Sequence[int] = ()
    brain: BrainKind = "nodes"
    surface_labels: NDArray[np.int16] | None = None
    distance: float = 1.0
    views: DisplayMode = "lyrz"

    def __post_init__(self) -> None:
        about = {"sizes": self.sizes, "values": self.values, "groups": self.groups, "edges": self.edges}
        check_nodes(self.coordinates, self.regions, **about)  # type: ignore[arg-type]
        if self.views not in get_args(DisplayMode):
            known = " or ".join(get_args(DisplayMode))
            raise InputError(f"There is no view '{self.views}' of a brain; choose {known}.")

    @property
    def parts(self) -> list[NodeGroup]:
        """The regions that are drawn alike."""
        parts = node_groups(len(self.regions), self.groups, self.group_colours, self.values)
        return placed_parts(parts, self.coordinates)

    @property
    def connections(self) -> Edges:
        """The connections between regions that are drawn."""
        return placed_edges(self.edges or (), self.coordinates)

    @property
    def shades(self) -> Values | None:
        """The values, where they are what the colours stand for."""
        return self.values if self.groups is None else None


class BrainDrawing:
    """A brain that a figure's class draws by both pens."""

    def __init__(
        self, coordinates: Values, regions: Sequence[str], *, title: str = "", simulated: bool = False, **about: Any
    ) -> None:
        self.mark = Brain(coordinates=coordinates, regions=regions, **about)
        self.title, self.simulated = title, simulated

    @property
    def connections(self) -> Edges:
        """The connections that are drawn."""
        return self.mark.connections

    def _drawn(self, **about: Any) -> Drawing:
        panel = Panel(marks=[replace(self.mark, **about)])
        return Drawing(title=self.title, simulated=self.simulated, panels=[panel])

    def plotly(self, *, distance: float = 1.0) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        from biobgt.figures.screen import draw_on_screen

        return go.Figure(draw_on_screen(self._drawn(distance=distance)))

    def matplotlib(self, style: "PaperStyle", *, display_mode: DisplayMode = "lyrz") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.pen import draw_on_paper

        return draw_on_paper(self._drawn(views=display_mode), style)


def place_words(brain: BrainKind, where: str) -> str:
    """Where regions are drawn, for a caption."""
    return f"at their MNI coordinates inside {where}" if brain == "nodes" else f"{PAINTED[brain]}, {SIDES}"


def brain_caption(
    subject: str,
    n_regions: int,
    *,
    quantity: str = "",
    size: str = "",
    n_groups: int | None = None,
    some_in_none: bool = False,
    n_edges: int = 0,
    where: str = CORTEX,
    brain: BrainKind = "nodes",
    simulated: bool = False,
) -> str:
    """Say in words what regions in a brain show.

    Parameters
    ----------
    subject : str
    n_regions : int
    quantity, size : str
        What the colours and the sizes of the nodes stand for; empty for nothing.
    n_groups : int, optional
        Number of modules, where the colours stand for those.
    some_in_none : bool
        Whether a region is in no module.
    n_edges : int
        Number of connections that are drawn.
    where : str
        In which brain: :data:`CORTEX` or :data:`GLASS_BRAIN`.
    brain : {"nodes", "inflated", "pial"}
        A painted cortex has neither sizes nor connections, and is the same on the screen and on paper.
    simulated : bool
    """
    colour = f"the colour is {quantity}" if quantity else "all have one colour"
    if n_groups is not None:
        colour = f"the colour is the module, of {n_groups}{IN_NONE if some_in_none else ''}"
    if brain != "nodes":
        return (
            f"{whose(subject, simulated)}: {counted(n_regions, 'region')} {place_words(brain, where)}; {colour}. "
            "Cortex of no region is light grey."
        )
    drawn = f" {counted(n_edges, 'connection')} drawn, thicker where stronger." if n_edges else ""
    return (
        f"{whose(subject, simulated)}: {counted(n_regions, 'region')} {place_words(brain, where)}; "
        f"{colour}{f', and the size is {size}' if size else ''}.{drawn}"
    )
