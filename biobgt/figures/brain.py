"""Regions in the brain: nodes at their MNI coordinates, to be turned on the screen and in a glass brain on paper.

Regions carry either a value (continuous colours) or a group, such as their module (a colour and a symbol each, named
in the legend).
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biobgt.base.wording import counted
from biobgt.figures.brain_names import region_names, scene
from biobgt.figures.brain_nodes import (
    NO_VALUE,
    Edges,
    NodeGroup,
    Values,
    check_nodes,
    node_diameters,
    node_groups,
    placed_edges,
    placed_parts,
)
from biobgt.figures.brain_traces import (
    BRAIN_HEIGHT,
    cortex_mesh,
    cortex_trace,
    edge_traces,
    hover_texts,
    node_trace,
    side_names,
    value_colours,
)
from biobgt.figures.frame import BAR_BOTTOM, layout, whose
from biobgt.figures.surface import PAINTED_HEIGHT, BrainKind, Surface, surface_scenes, surface_traces

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper.glass import DisplayMode
    from biobgt.figures.paper_style import PaperStyle

# In which brain regions are drawn, as captions say it.
IN_NONE = "; grey regions are in none"
CORTEX, GLASS_BRAIN = "the fsaverage5 cortex", "nilearn's glass brain, seen from four sides"
PAINTED: Mapping[str, str] = {
    "inflated": "painted on the inflated fsaverage5 cortex",
    "pial": "painted on the pial fsaverage5 cortex",
}
SIDES = "seen from the side and from the middle"
_DIAMETERS = (5.0, 18.0)  # px, of the smallest and the largest node
_PLAIN_DIAMETER = 8.0
_LEGEND = {"orientation": "h", "x": 0, "y": 0, "yanchor": "top", "itemsizing": "constant", "title": {"text": ""}}
_LETTER = 7  # px, of the widest font a page may have; plotly measures names before the font is there, and they touch


@dataclass(frozen=True, eq=False)
class BrainDrawing:
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
    title : str
    simulated : bool
        Adds the word to the title, so that a saved picture says so too.
    brain : {"nodes", "inflated", "pial"}
        Nodes at their places, or regions painted on a cortex, from four sides, on the screen and on paper.
    surface_labels : ndarray of int, shape (20484,), optional
        For a painted cortex: the region of every vertex of fsaverage5, counted from 1; 0 is none.
    """

    coordinates: Values
    regions: Sequence[str]
    _: KW_ONLY
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
    title: str = ""
    simulated: bool = False
    brain: BrainKind = "nodes"
    surface_labels: NDArray[np.int16] | None = None

    def __post_init__(self) -> None:
        check_nodes(
            self.coordinates,
            self.regions,
            sizes=self.sizes,
            values=self.values,
            groups=self.groups,
            edges=self.edges,
        )

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

    def plotly(self, *, distance: float = 1.0) -> "go.Figure":
        """Draw it for the screen, to be turned, seen from so many times the usual distance."""
        import plotly.graph_objects as go  # takes half a second, which lists of figures do without

        hover = hover_texts(self.regions, self.values, self.groups, self.quantity, self.details)
        if self.brain != "nodes":
            return go.Figure(surface_traces(self, self.brain, hover), self._surface_frame(self.brain, distance))
        diameters = node_diameters(len(self.regions), self.sizes, *_DIAMETERS, plain=_PLAIN_DIAMETER)
        traces = [cortex_trace(), *edge_traces(self.coordinates, self.connections)]
        shades = self.shades
        for group in self.parts:
            colours: Mapping[str, object] = {}
            if shades is not None and group.name != NO_VALUE:
                colours = value_colours(shades, group, self.quantity, self.limits, ranked=self.ranked)
            traces.append(node_trace(self.coordinates, group, diameters, hover, colours, named=self.groups is not None))
        traces.append(side_names())
        cortex = cortex_mesh()[0]
        named = region_names(self.coordinates, self.regions, self.named, around=cortex, height=BRAIN_HEIGHT - self._top)
        frame = {
            **layout(self.title, self.simulated, height=BRAIN_HEIGHT, top=self._top),
            "scene": scene(distance, named),
            "legend": _LEGEND | {"entrywidth": _LETTER * max(len(trace["name"]) for trace in traces)},
            "uirevision": "brain",  # a moved slider does not turn the brain back
        }
        return go.Figure(traces, frame)

    @property
    def _top(self) -> int:
        """Room for the title, and for the colour bar where there is one; in pixels."""
        return 48 if self.shades is None else BAR_BOTTOM

    def _surface_frame(self, surface: Surface, distance: float) -> dict[str, object]:
        frame = layout(self.title, self.simulated, height=PAINTED_HEIGHT, top=self._top)
        return {**frame, **surface_scenes(surface, distance), "legend": _LEGEND, "uirevision": "surface"}

    def matplotlib(self, style: "PaperStyle", *, display_mode: "DisplayMode" = "lyrz") -> "PaperFigure":
        """Draw it for paper: from left, front, right and top (lyrz), or from side, front and top (ortho)."""
        from biobgt.figures.paper.brain_drawing import draw_brain

        return draw_brain(self, style, display_mode)


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
