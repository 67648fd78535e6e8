"""What a figure draws, said once: marks on panels, and the words and numbers that go with them.

A figure is a function ``(measured, options) -> Drawing``. Two pens draw any :class:`Drawing`:
:func:`biobgt.figures.screen.pen.draw_on_screen` makes plotly's dictionary of it, and
:func:`biobgt.figures.paper.pen.draw_on_paper` a matplotlib figure in millimetres. A drawing knows neither library.
Its texts are plain, with a line break where a new line begins; hover texts name values as ``%{x:.2f}``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biobgt.base.colours import DIVERGING
from biobgt.base.references import cited
from biobgt.base.wording import capitalised, whose
from biobgt.figures.regions import RegionOrder

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.data.cohort import Subject
    from biobgt.figures.paper_style import PaperStyle

GAP_COLOUR = "#D5D9DC"  # behind matrices, whose zero is white; as bare cortex
Dash = Literal["solid", "dash", "dot", "dashdot"]
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot")  # of curves that stand for groups, in turn
MOST_WORDS = 25  # of a caption in one line
GAMMA_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
GAMMA_TITLE = "γ (in units of 1/mean(λ))"

# Marks, and what they lie on.


@dataclass(frozen=True, eq=False, kw_only=True)
class Mark:
    """Something drawn on a panel.

    Attributes
    ----------
    name : str
        In the legend, where it is said once for all marks of that name; empty for none.
    colour : str
        As ``#rrggbb``.
    hover : str
        What shows under the pointer, where ``%{x}``, ``%{y}`` and ``%{text}`` stand for a point's own.
    texts : sequence of str, length n_points
        Of each point, for ``%{text}``.
    ids : array_like of int, shape (n_points,), optional
        The regions that the points stand for, counted from 0; a click on the screen picks one.
    """

    name: str = ""
    colour: str = ""
    hover: str = ""
    texts: Sequence[str] = ()
    ids: ArrayLike | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve(Mark):
    """A line through points.

    Attributes
    ----------
    x, y : array_like, shape (n_points,)
        A NaN leaves a gap. Where the axis has names, x counts them from 0.
    dash : {"solid", "dash", "dot", "dashdot"}
    thin : bool
        Whether it stands back behind the others.
    symbol : str
        Drawn at every point; empty for a line alone.
    steps : bool
        Whether it goes to the next point in steps, first across and then up.
    filled : bool
        Whether the area below is tinted.
    """

    x: ArrayLike
    y: ArrayLike
    dash: Dash = "solid"
    thin: bool = False
    symbol: str = ""
    steps: bool = False
    filled: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Band(Mark):
    """A tinted area from low to high over x, of the curve that has the same name."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike


@dataclass(frozen=True, eq=False, kw_only=True)
class Points(Mark):
    """Points, one by one.

    Attributes
    ----------
    x, y : array_like, shape (n_points,)
    symbol : str
        As the screen calls it: circle, diamond, square, cross, x, star, pentagon, triangle-up or triangle-down.
    size : float
        Diameter on the screen, in px.
    hollow : bool
        Whether only the outline is drawn.
    edged : bool
        Whether a dark line surrounds them.
    opacity : float
    low, high : array_like, shape (n_points,), optional
        Ends of an interval around each, along ``across``.
    across : {"x", "y"}
    joined : bool
        Whether a thin line joins them.
    labels : sequence of str, length n_points
        Written to the right of each.
    people : sequence of str, length n_points
        The subjects that the points stand for, where these are no regions.
    """

    x: ArrayLike
    y: ArrayLike
    symbol: str = "circle"
    size: float = 7.0
    hollow: bool = False
    edged: bool = False
    opacity: float = 1.0
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    across: Literal["x", "y"] = "y"
    joined: bool = False
    labels: Sequence[str] = ()
    people: Sequence[str] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Bars(Mark):
    """Bars from zero; several in one panel stand on each other.

    Attributes
    ----------
    x, y : array_like, shape (n_bars,)
        Middles and heights; a NaN has no bar.
    width : array_like, shape () or (n_bars,)
    labels : sequence of str, length n_bars
        Written above each.
    hatched : bool
        On paper, where two colours may print as one grey.
    """

    x: ArrayLike
    y: ArrayLike
    width: ArrayLike = 1.0
    labels: Sequence[str] = ()
    hatched: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Rule(Mark):
    """A straight line across the panel at one x or one y; its name stands beside it or, on paper, in the legend."""

    x: float | None = None
    y: float | None = None
    dash: Dash = "solid"
    thin: bool = False
    opacity: float = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Boxes(Mark):
    """A box from the first to the third quartile with the median, and whiskers, at one place of an axis of names.

    Attributes
    ----------
    x : float
    values : array_like, shape (n_values,)
    """

    x: float
    values: ArrayLike


@dataclass(frozen=True, kw_only=True)
class Shades:
    """What colours stand for; one scale for all maps of a drawing, or they could not be compared.

    Attributes
    ----------
    quantity : str
        What the values are.
    low, high : float
        The ends of the scale.
    colours : str or (str, str)
        A scale of :mod:`biobgt.base.colours`, or the colours of both ends.
    log : bool
        Whether colours follow the logarithm of values; what is not above the low end has its colour.
    marked : float, optional
        A value that has a tick wherever the scale reaches it, because the quantity is read against it.
    ticks : sequence of float
        Where numbers stand; none given, each pen chooses.
    """

    quantity: str
    low: float
    high: float
    colours: str | tuple[str, str] = DIVERGING
    log: bool = False
    marked: float | None = None
    ticks: Sequence[float] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Heatmap(Mark):
    """A map of values in colours; the first row is on top. NaN is a gap.

    Its panel's y-axis has names, and so has its x-axis unless ``x`` says where columns lie.

    Attributes
    ----------
    z : ndarray, shape (n_rows, n_columns)
        In the order in which it is drawn; ``ids`` are those of the rows.
    shades : Shades
    x : array_like, shape (n_columns,), optional
    cells : sequence of sequence of str
        Written into each cell; empty for none.
    hovers : sequence of sequence of str
        Of each cell, for ``%{text}``.
    frames : sequence of (int, int, int, int)
        Blocks with a frame: first row, one past the last, first column, one past the last.
    """

    z: NDArray[np.floating]
    shades: Shades
    x: ArrayLike | None = None
    cells: Sequence[Sequence[str]] = ()
    hovers: Sequence[Sequence[str]] = ()
    frames: Sequence[tuple[int, int, int, int]] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Surroundings(Mark):
    """A region in the middle of its neighbours, and the connections among them.

    Attributes
    ----------
    names : sequence of str, length n
        Of the region itself, then of its neighbours.
    weights : ndarray, shape (n, n)
    largest : float
        The weight of the thickest line.
    colours : (str, str, str)
        Of the region, of its neighbours and its own connections, and of the connections among neighbours.
    """

    names: Sequence[str]
    weights: NDArray[np.float64]
    largest: float
    colours: tuple[str, str, str]

    @property
    def connections(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Both ends of every connection, by their places among the names."""
        rows, columns = np.nonzero(np.triu(self.weights))
        return rows, columns

    @property
    def shares(self) -> NDArray[np.float64]:
        """The weight of every connection, as a share of the thickest line's."""
        weights = self.weights[self.connections]
        return weights / self.largest if self.largest > 0 else np.zeros(len(weights))

    @property
    def places(self) -> NDArray[np.float64]:
        """The middle, then evenly round a circle; none stands straight above or below, where names would meet."""
        n = len(self.names) - 1
        angles = (np.arange(n) + (0.25 if n % 2 else 0.5)) * 2 * np.pi / max(n, 1)
        return np.vstack([np.zeros((1, 2)), np.column_stack([np.sin(angles), np.cos(angles)])])


@dataclass(frozen=True, eq=False, kw_only=True)
class Chords(Mark):
    """Regions round a ring, and connections between them as chords that bend towards the middle.

    Its panel's axes are hidden: the ring has the radius 1. ``ids`` are those of the regions, in their order round the
    ring, clockwise from the top.

    Attributes
    ----------
    names : sequence of str, length n_regions
        In the same order.
    order : RegionOrder
        Blocks are arcs, parted by gaps and named.
    colours : sequence of str
        Of the blocks; of all regions where there is none.
    pairs : ndarray of int, shape (n_chords, 2)
        Places of both ends on the ring.
    weights : ndarray, shape (n_chords,)
        The stronger the thicker.
    signs : mapping of int to (str, str)
        Name and colour of positive (1) and of negative (-1) chords; these are dashed on paper.
    """

    names: Sequence[str]
    order: RegionOrder
    colours: Sequence[str]
    pairs: NDArray[np.intp]
    weights: NDArray[np.float64]
    signs: Mapping[int, tuple[str, str]]

    @property
    def _gap(self) -> float:
        """Between two blocks, in regions."""
        n_blocks = len(self.order.blocks)
        return _GAP_SHARE * len(self.names) / n_blocks if n_blocks > 1 else 0.0

    @property
    def _step(self) -> float:
        """The angle that a region takes."""
        return 2 * np.pi / (len(self.names) + self._gap * len(self.order.blocks))

    @property
    def angles(self) -> NDArray[np.float64]:
        """Of every region, clockwise from the top."""
        sizes = [end - start for _, start, end in self.order.blocks] or [len(self.names)]
        passed = np.repeat((np.arange(len(sizes)) + 0.5) * self._gap, sizes)
        return np.asarray(self._step * (np.arange(len(self.names)) + 0.5 + passed), dtype=np.float64)

    @property
    def places(self) -> NDArray[np.float64]:
        """Of every region, shape (n_regions, 2)."""
        return round_circle(self.angles)

    @property
    def arcs(self) -> list[tuple[str, str, NDArray[np.float64]]]:
        """Name and colour of each block, and the angles along its arc."""
        angles, half = self.angles, self._step / 2
        blocks = self.order.blocks or (("", 0, len(self.names)),)
        ends = [(angles[start] - half, angles[end - 1] + half) for _, start, end in blocks]
        along = [np.linspace(first, last, 2 + int(40 * (last - first))) for first, last in ends]
        return [(name, colour, arc) for (name, _, _), colour, arc in zip(blocks, self.colours, along, strict=True)]

    def labels(self, line: float) -> list[tuple[str, NDArray[np.float64]]]:
        """The name of each block, and both ends of a line from its arc to where the name begins.

        Parameters
        ----------
        line : float
            Height of a line of text, in radii: names on one side are moved apart.
        """
        from scipy.optimize import isotonic_regression

        middles = [(name, float(arc.mean())) for name, _, arc in self.arcs if name]
        sides = [one for one in middles if one[1] < np.pi], [one for one in middles if one[1] >= np.pi][::-1]
        found = []
        for sign, own in zip((1, -1), sides, strict=True):  # each from the top down
            ends = round_circle([angle for _, angle in own], NAMES_AT)
            steps = line * np.arange(len(own))
            ys = -steps - isotonic_regression(-ends[:, 1] - steps).x if own else []
            for (name, angle), (x, _), y in zip(own, ends, ys, strict=True):
                aside = max(abs(x), np.sqrt(max(NAMES_AT**2 - y**2, 0.0)))
                found.append((name, np.array([round_circle(angle, ARC_AT), (sign * aside, y)])))
        return found

    @property
    def curves(self) -> NDArray[np.float64]:
        """Points along every chord, shape (n_chords, n_points, 2): the farther its ends, the nearer to the middle."""
        first, last = self.places[self.pairs[:, 0]], self.places[self.pairs[:, 1]]
        near = np.clip(np.linalg.norm(first - last, axis=1) / 2, 0, 1)[:, None]
        middle = (first + last) / 2 * (1 - near) * _BEND
        t = np.linspace(0, 1, CHORD_POINTS)[None, :, None]
        curves: NDArray[np.float64] = (
            (1 - t) ** 2 * first[:, None] + 2 * t * (1 - t) * middle[:, None] + t**2 * last[:, None]
        )
        return curves

    @property
    def shares(self) -> NDArray[np.float64]:
        """How far the strength of every chord is from the weakest to the strongest; of chords all alike, 1."""
        strengths = np.abs(self.weights)
        low, high = strengths.min(initial=np.inf), strengths.max(initial=0.0)
        shares: NDArray[np.float64] = (strengths - low) / (high - low) if high > low else np.ones(len(strengths))
        return shares


def round_circle(angles: ArrayLike, radius: float = 1.0) -> NDArray[np.float64]:
    """Places on a circle, shape (n, 2), of angles that run clockwise from the top."""
    around = np.asarray(angles, dtype=np.float64)
    found: NDArray[np.float64] = radius * np.stack([np.sin(around), np.cos(around)], axis=-1)
    return found


CHORD_POINTS, ARC_AT, NAMES_AT = 17, 1.07, 1.14  # along a chord; where arcs and names are, in radii
_GAP_SHARE, _BEND = 0.08, 0.6  # of the ring, for all gaps; how far chords keep from the middle


@dataclass(frozen=True, eq=False, kw_only=True)
class Flow(Mark):
    """Two divisions of the same regions, and how many go from each part of the one to each of the other.

    It has no axes, and its own height by how many names there are.

    Attributes
    ----------
    counts : ndarray of int, shape (n_left, n_right)
    names, colours : (sequence of str, sequence of str)
        Of the parts on the left and on the right.
    sides : (str, str)
        What stands on the left and on the right.
    """

    counts: NDArray[np.integer]
    names: tuple[Sequence[str], Sequence[str]]
    colours: tuple[Sequence[str], Sequence[str]]
    sides: tuple[str, str]

    @property
    def lines(self) -> tuple[list[str], list[str]]:
        """The names with each of their parts on a line, so that a narrow figure keeps room for the flows."""
        left, right = ([name.replace(" · ", "\n").replace(", ", ",\n") for name in side] for side in self.names)
        return left, right

    @property
    def order(self) -> NDArray[np.intp]:
        """The parts on the right from the top down, by where their regions come from."""
        ranks = (self.counts * np.arange(len(self.counts))[:, None]).sum(axis=0)
        return np.argsort(ranks / np.maximum(self.counts.sum(axis=0), 1), kind="stable")


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What lies along one side of a panel.

    Attributes
    ----------
    title : str
    log : bool
    limits : (float or None, float or None)
        Ends; None is found from the marks.
    ticks : sequence of float, optional
        Where numbers stand; by default at round numbers, of a logarithmic axis with limits at powers of ten.
    whole : bool
        Whether only whole numbers stand there.
    percent : bool
        Whether shares are written as percentages.
    names : sequence of str
        Of the places 0, 1, 2 … of an axis without numbers. Where ticks are given too, they stand there, and marks may
        lie between.
    beside : sequence of str
        Of the same places, written at the other side; of rows only.
    order : RegionOrder, optional
        Where the names are those of regions: blocks are parted and named in their place. Without blocks the title says
        what the order is.
    colours : sequence of str
        Of the blocks, each of which then has a bar in its colour beside it.
    reversed : bool
    zero : bool
        Whether a line marks zero.
    hidden : bool
        Whether nothing of it is drawn.
    """

    title: str = ""
    log: bool = False
    limits: tuple[float | None, float | None] = (None, None)
    ticks: Sequence[float] | None = None
    whole: bool = False
    percent: bool = False
    names: Sequence[str] = ()
    beside: Sequence[str] = ()
    order: RegionOrder | None = None
    colours: Sequence[str] = ()
    reversed: bool = False
    zero: bool = False
    hidden: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """Marks with two axes; what lies behind comes first. ``height`` is relative to the panels above and below.

    A panel without marks leaves its place empty.
    """

    marks: Sequence[Mark] = ()
    x: Axis = Axis()
    y: Axis = Axis()
    title: str = ""
    height: float = 1.0


def table(content: Any, **how: Any) -> "Callable[[], pd.DataFrame]":
    """What makes a table when somebody wants it; drawing alone does without pandas.

    Parameters
    ----------
    content : mapping of str to array_like, or sequence of rows
    **how
        Further arguments of :class:`pandas.DataFrame`.
    """

    def make() -> "pd.DataFrame":
        import pandas as pd

        return pd.DataFrame(content, **how)

    return make


@dataclass(frozen=True, eq=False, kw_only=True)
class Drawing:
    """A figure, drawn by no library yet.

    Attributes
    ----------
    title : str
        Above the drawing.
    subtitle : str
        Below the title, also where a journal wants no title.
    simulated : bool
        Whether anybody in it is; the drawing says so.
    panels : sequence of Panel
        Row by row.
    caption : str
        What the figure shows, in words; also for screen readers. Its citations become words.
    line : str
        The same in one line of a screen, of at most 25 words; by default how the caption begins.
    numbers : callable
        Makes the table of what is drawn, one row per region, pair or step; see :func:`table`.
    methods : sequence of str
        Sentences on how it was computed, with citations; figures that share a sentence say it once.
    citations : sequence of str
        Keys of works that no sentence cites.
    columns : int
        Panels in a row. Panels one above the other share the x-axis of the lowest, panels side by side the y-axis of
        the first.
    own_y : bool
        Whether panels side by side have a y-axis each instead.
    legend : {"above", "below", "none"}
        Where it, or the colour bar, stands on the screen; below where it may need several lines. On paper it is always
        below.
    together : bool
        Whether the pointer tells of all curves at one x.
    height : int
        On the screen, in px. 0 where square maps are as high as the page lets them be wide.
    aspect : float
        Height of a panel on paper, as a share of the figure's width up to 140 mm.
    square_mm : float
        Panels are squares, of at most so many mm on paper; 0 where they are not.
    on_paper : callable, optional
        What paper shows in place of this, by its style, where that is something else.
    """

    title: str
    panels: Sequence[Panel]
    subtitle: str = ""
    simulated: bool = False
    caption: str = ""
    line: str = ""
    numbers: "Callable[[], pd.DataFrame]" = field(default=table({}))
    methods: Sequence[str] = ()
    citations: Sequence[str] = ()
    columns: int = 1
    own_y: bool = False
    legend: Literal["above", "below", "none"] = "below"
    together: bool = False
    height: int = 420
    aspect: float = 0.55
    square_mm: float = 0.0
    on_paper: "Callable[[PaperStyle], Drawing] | None" = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "caption", cited(self.caption))
        object.__setattr__(self, "line", one_line(cited(self.line or self.caption)))

    def for_paper(self, style: "PaperStyle") -> "Drawing":
        """What paper shows."""
        return self if self.on_paper is None else self.on_paper(style)

    @property
    def shades(self) -> Shades | None:
        """What the colours of its maps or of its brains stand for; None where they stand for nothing."""
        return next(filter(None, (getattr(mark, "shades", None) for mark in self.marks)), None)

    @property
    def marks(self) -> list[Mark]:
        """All marks, panel by panel."""
        return [mark for panel in self.panels for mark in panel.marks]


def of_subject(subject: "Subject", said: str, **about: Any) -> Drawing:
    """The drawing of one subject: its caption opens with whose it is.

    Parameters
    ----------
    subject : Subject
    said : str
        The caption behind its opening.
    **about
        Further attributes of :class:`Drawing`.
    """
    caption = f"{whose(subject.id, subject.simulated)}: {said}"
    return Drawing(caption=caption, simulated=subject.simulated, **{"line": capitalised(said), **about})


def one_line(said: str) -> str:
    """The first sentence or, of one with too many words, the parts of it that are whole and fit."""
    sentence = re.split(r"(?<=[^.\d])\. ", said, maxsplit=1)[0].rstrip(".")
    parts = re.split(r"(?=[;:,] | \()", sentence)
    line = parts[0]
    for part in parts[1:]:
        if len(f"{line}{part}".split()) > MOST_WORDS:
            break
        line += part
    while line.count("(") > line.count(")"):  # of a bracket that was cut
        line = line[: line.rindex("(")].rstrip()
    return f"{line}."
