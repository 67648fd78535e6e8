"""Regions in the brain: what is drawn, whichever pen draws it, and the words that say where.

Regions are nodes at their MNI coordinates, or painted on the fsaverage5 cortex. They carry either a value (continuous
colours) or a group, such as their module (a colour and a symbol each, named in the legend). Meshes of the cortex come
with nilearn and the labels of their vertices with the atlas: nothing is fetched.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.colours import DIVERGING, MODULE_COLOURS, PALE_GREY, SEQUENTIAL
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import counted, whose
from biobgt.data.cortex import hemisphere_labels, hemisphere_mesh, surface_labels
from biobgt.figures.drawing import Drawing, Mark, Panel, Shades

if TYPE_CHECKING:
    from biobgt.data.atlas import Atlas
    from biobgt.data.cohort import Subject

BrainKind = Literal["nodes", "inflated", "pial"]
NODES: BrainKind = "nodes"
Side = Literal["above", "left", "right"]
ABOVE, LEFT, RIGHT = get_args(Side)
BRAIN_KINDS: Mapping[str, str] = {NODES: "Nodes", "inflated": "Inflated cortex", "pial": "Pial cortex"}
MOST_NAMED = 10  # names in a brain; more would lie on each other
# In which brain regions are drawn, as captions say it.
CORTEX, GLASS_BRAIN = "the fsaverage5 cortex", "nilearn's glass brain"
IN_NONE = "; grey regions are in none"
NO_GROUP, NO_VALUE = "no module", "no value"
SYMBOLS = ("circle", "diamond", "square", "cross")
# Of the first rank and of the last: about as far from a white page as from a black one, so that what the eye finds
# first on both is the one with colour; blue-grey and orange are safe for the colour-blind.
FIRST_COLOUR, LAST_COLOUR = "#E4570A", "#8C9BA8"
_SCREEN_HEIGHT, _PAINTED_HEIGHT, _FLAT_HEIGHT = 560, 480, 320  # px


class NodeGroup(NamedTuple):
    """Regions that are drawn alike: their name in the legend, their numbers from 0, a colour and a symbol."""

    name: str
    members: NDArray[np.intp]
    colour: str
    symbol: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Brain(Mark):
    """Regions in a brain: inside a translucent cortex on the screen, in nilearn's glass brain on paper.

    Attributes
    ----------
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm; a region whose row is NaN is left out.
    regions : sequence of str, length n_regions
        Their names, which show on hover, with the mark's ``texts`` below.
    sizes : ndarray, shape (n_regions,), optional
        A node's area grows evenly from the smallest size to the largest; NaN is drawn smallest.
    values : ndarray, shape (n_regions,), optional
        Colours of the nodes; NaN is grey. With ``groups`` they show on hover only.
    groups : sequence of (str or None), length n_regions, optional
        A colour and a legend entry each; None is grey, "no module".
    group_colours : mapping of str to str
        Colours of all groups, as ``#rrggbb``, in the order of the legend.
    edges : sequence of (int, int, float)
        Two regions, counted from 0, and a weight: the stronger the thicker, dashed where negative.
    signs : mapping of int to (str, str)
        Name and colour of positive (1) and of negative (-1) connections, where these have colours of their own.
    quantity : str
        What the values are.
    size_limits : (float, float), optional
        Sizes of the smallest node and of the largest, where brains are compared; by default those of the sizes.
    limits : (float, float), optional
        Ends of the colour scale; where not given, those of the values.
    ranked : bool
        The values are ranks: 1 is the strongest, strikes the eye first and lies on top.
    named : sequence of int
        Regions, counted from 0, whose names are written beside them on the screen.
    kind : {"nodes", "inflated", "pial"}
        Nodes at their places, or regions painted on a cortex, from four sides, on the screen and on paper.
    labels : ndarray of int, shape (20484,), optional
        For a painted cortex: the region of every vertex of fsaverage5, counted from 1; 0 is none.
    distance : float
        From so many times the usual distance it is seen on the screen.
    side : {"above", "left", "right"}
        From where it is seen on the screen beside others, where none can be turned.
    """

    coordinates: FloatArray
    regions: Sequence[str]
    sizes: FloatArray | None = None
    size_limits: tuple[float, float] | None = None
    values: FloatArray | None = None
    groups: Sequence[str | None] | None = None
    group_colours: Mapping[str, str] = field(default_factory=dict)
    edges: Sequence[tuple[int, int, float]] = ()
    signs: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    quantity: str = ""
    limits: tuple[float, float] | None = None
    ranked: bool = False
    named: Sequence[int] = ()
    kind: BrainKind = "nodes"
    labels: NDArray[np.int16] | None = None
    distance: float = 1.0
    side: Side = ABOVE

    @classmethod
    def of(cls, atlas: "Atlas", kind: BrainKind, **about: Any) -> Self:
        """The regions of an atlas at their places, or a sentence where these are not known."""
        if atlas.coordinates is None or not atlas.placed.any():
            raise InputError(
                f"The coordinates of atlas {atlas.name} are not known, so nothing can be drawn on a brain."
            )
        labels = None if kind == NODES else surface_labels(atlas)
        ids = np.arange(atlas.n_regions)
        return cls(coordinates=atlas.coordinates, regions=atlas.regions, kind=kind, labels=labels, ids=ids, **about)

    @property
    def parts(self) -> list[NodeGroup]:
        """The regions that are drawn alike, those without a known place left out.

        Without groups, these are the regions with a value and those without. A colour that comes again, past the eighth
        group, comes with another symbol.
        """
        if self.groups is None:
            known = np.ones(len(self.regions), bool) if self.values is None else np.isfinite(self.values)
            found = [("regions", known, MODULE_COLOURS[0]), (NO_VALUE, ~known, PALE_GREY)]
        else:
            own = np.array(self.groups, dtype=object)
            found = [(name, own == name, colour) for name, colour in self.group_colours.items()]
            found.append((NO_GROUP, np.array([group is None for group in self.groups]), PALE_GREY))
        parts: list[NodeGroup] = []
        colours: list[str] = []
        for name, chosen, colour in found:
            symbol = SYMBOLS[0 if name == NO_GROUP else colours.count(colour) % len(SYMBOLS)]
            colours += [colour] if chosen.any() else []
            members = np.flatnonzero(chosen & self._placed)
            parts += [NodeGroup(name, members, colour, symbol)] if len(members) else []
        return parts

    @property
    def connections(self) -> list[tuple[int, int, float]]:
        """The connections that are drawn; a painted cortex has none."""
        placed = self._placed
        return [edge for edge in self.edges if self.kind == NODES and placed[edge[0]] and placed[edge[1]]]

    @property
    def shades(self) -> Shades | None:
        """What the colours stand for, white at zero where values lie on both sides of it; None for groups."""
        if self.values is None or self.groups is not None:
            return None
        known = self.values[np.isfinite(self.values)]
        low, high = self.limits or ((float(known.min()), float(known.max())) if len(known) else (0.0, 1.0))
        if low < 0 < high:
            reach = max(-low, high)
            return Shades(quantity=self.quantity, low=-reach, high=reach, colours=DIVERGING)
        low, high = (low, high) if low < high else (low - 0.5, high + 0.5)
        shades = Shades(quantity=self.quantity, low=low, high=high, colours=SEQUENTIAL)
        if not self.ranked:
            return shades
        return replace(shades, colours=(FIRST_COLOUR, LAST_COLOUR), ticks=_rank_ticks(len(self.values)))

    def diameters(self, smallest: float, largest: float, *, plain: float) -> FloatArray:
        """Diameters of the nodes, shape (n_regions,), whose squares grow evenly with the sizes.

        Parameters
        ----------
        smallest, largest : float
        plain : float
            Of all where there are no sizes, or only one.
        """
        n_regions, sizes = len(self.regions), self.sizes
        known = np.empty(0) if sizes is None else sizes[np.isfinite(sizes)]
        low, high = self.size_limits or ((known.min(), known.max()) if len(known) else (0.0, 0.0))
        if sizes is None or low == high:
            return np.full(n_regions, plain)
        share = np.where(np.isfinite(sizes), np.clip((sizes - low) / (high - low), 0, 1), 0)
        return np.sqrt(smallest**2 + share * (largest**2 - smallest**2))

    @property
    def places(self) -> dict[str, FloatArray]:
        """Columns of a table: where regions are."""
        return dict(zip("xyz", self.coordinates.T, strict=True))

    @property
    def n_drawn(self) -> int:
        """Number of regions that are drawn: those with a place or, on a painted cortex, with a vertex."""
        return int(self._placed.sum()) if self.labels is None else len(np.unique(self.labels[self.labels > 0]))

    @property
    def left_out(self) -> str:
        """A sentence on the regions that are not drawn, with a space before it; empty where all are."""
        if not (n := len(self.regions) - self.n_drawn):
            return ""
        verb, whom = "is" if n == 1 else "are", counted(n, "region")
        if self.labels is not None:
            return f" {whom} outside the cortical surface {verb} not painted."
        return f" {whom} without known coordinates {verb} left out of the drawing."

    def place_in(self, where: str) -> str:
        """Where regions are drawn, for a caption; :data:`CORTEX` or :data:`GLASS_BRAIN`."""
        if self.kind != NODES:
            return f"painted on the {self.kind} fsaverage5 cortex, seen from the side and from the middle"
        return f"at their MNI coordinates inside {where}{', seen from four sides' if where == GLASS_BRAIN else ''}"

    def regions_in(self, where: str) -> str:
        """The same with the number of regions that are drawn."""
        return f"{counted(self.n_drawn, 'region')} {self.place_in(where)}"

    @property
    def _placed(self) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(self.coordinates).all(axis=1))


def _rank_ticks(n_ranks: int) -> list[int]:
    """Ranks to name on a colour bar: the first, and up to five round ones."""
    step = next(size * 10**power for power in range(9) for size in (1, 2, 5) if n_ranks <= 5 * size * 10**power)
    return sorted({1, *range(step, n_ranks + 1, step)})


def in_brain(brain: Brain, caption: Callable[[str], str], **about: Any) -> Drawing:
    """One brain as a drawing.

    Parameters
    ----------
    brain : Brain
    caption : callable
        Told in which brain regions are drawn: on the screen :data:`CORTEX`, on paper :data:`GLASS_BRAIN`.
    **about
        Further attributes of :class:`~biobgt.figures.drawing.Drawing`.
    """
    screen = Drawing(
        panels=[Panel(marks=[brain])],
        caption=caption(CORTEX),
        legend="below" if brain.shades is None else "above",
        height=_SCREEN_HEIGHT if brain.kind == NODES else _PAINTED_HEIGHT,
        **about,
    )
    return replace(screen, on_paper=lambda style: replace(screen, caption=caption(GLASS_BRAIN), on_paper=None))


def brain_caption(brain: Brain, subject: "Subject", where: str, *, colour: str, size: str = "") -> str:
    """Say in words what one subject's regions in a brain show.

    Parameters
    ----------
    brain : Brain
    subject : Subject
    where : str
        As :func:`in_brain` tells it.
    colour, size : str
        What the colours and the sizes of the nodes stand for; a painted cortex has no sizes.
    """
    opening = f"{whose(subject.id, subject.simulated)}: {brain.regions_in(where)}; the colour is {colour}"
    if brain.kind != NODES:
        return f"{opening}. Cortex of no region is light grey."
    n_edges = len(brain.connections)
    drawn = f" {counted(n_edges, 'connection')} drawn, thicker where stronger." if n_edges else ""
    return f"{opening}{f', and the size is {size}' if size else ''}.{drawn}"


def brains_beside(brains: Mapping[str, Brain]) -> dict[str, Any]:
    """Brains side by side, as a drawing takes them: flat on the screen, where one alone could be turned.

    Parameters
    ----------
    brains : mapping of str to Brain
        By what stands above them.
    """
    panels = [Panel(title=title, marks=[brain]) for title, brain in brains.items()]
    shaded = any(brain.shades is not None for brain in brains.values())
    return {"panels": panels, "columns": len(panels), "legend": "above" if shaded else "below", "height": _FLAT_HEIGHT}


def side_option() -> Any:
    """The option of a figure: from where its brains are seen that stand side by side."""
    shown: Mapping[str, str] = {ABOVE: "From above", LEFT: "From the left", RIGHT: "From the right"}
    return option(
        ABOVE,
        title="Seen",
        help="From where brains side by side are seen on the screen; paper shows four sides of each.",
        shown=shown,
        link="brains_seen",
    )


def brain_option() -> Any:
    """The option of a figure: how its brain is drawn."""
    return option(
        NODES,
        title="Brain",
        help="Regions as nodes at their places, or painted on the inflated or the pial cortex where the atlas has "
        "surface labels.",
        choices=tuple(BRAIN_KINDS),
        shown=BRAIN_KINDS,
    )


# The cortex, painted: a vertex outside every region, such as those of the medial wall, is grey, as is a region without
# a value.

# Hemisphere and side from which it is seen, row by row.
VIEWS = (("left", "lateral"), ("right", "lateral"), ("left", "medial"), ("right", "medial"))


def painted_triangles(
    brain: Brain, hemisphere: str
) -> tuple[NDArray[np.float32], NDArray[np.uint16], NDArray[np.int16]]:
    """Vertices and triangles of one hemisphere, and each triangle's region, counted from 1.

    A triangle has the region of two of its vertices or of the first; no colour is made of two regions'.
    """
    assert brain.labels is not None
    vertices, triangles = hemisphere_mesh(brain.kind, hemisphere)
    first, second, third = hemisphere_labels(brain.labels, hemisphere)[triangles].T
    return vertices, triangles, np.where(second == third, second, first)


def seen_from_left(hemisphere: str, side: str) -> bool:
    """Whether the eye is on the left, for a view of :data:`VIEWS`."""
    return (hemisphere == "left") == (side == "lateral")
