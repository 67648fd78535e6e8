"""The connectogram: regions on a ring, in arcs of their networks, and a few of their connections as chords.

Which connections are drawn is given: the strongest of a subject, or those that a test finds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.colours import MODULE_COLOURS, NEGATIVE, PALE_GREY, POSITIVE
from biobgt.base.options import option
from biobgt.base.wording import counted
from biobgt.figures import drawing as draw
from biobgt.figures.connectivity import graph_methods
from biobgt.figures.regions import UNLABELLED, RegionOrder, RegionOrderOptions, gap_words, regions_in_order, with_gaps
from biobgt.figures.register import figure

if TYPE_CHECKING:
    from biobgt.results.measured import Measured

_STEPS = (25, 50, 100, 200, 400)


@dataclass(frozen=True)
class ConnectogramOptions(RegionOrderOptions):
    """Which connections are drawn, of regions in which order."""

    connections: int = option(
        100,
        title="Connections drawn",
        help="How many connections are drawn: those of the largest absolute values.",
        steps=_STEPS,
        low=1,
        shown=lambda number: f"{number} strongest",
        link="connections_drawn",
    )


def strongest_pairs(matrix: FloatArray, number: int) -> NDArray[np.intp]:
    """The pairs of regions of the largest absolute values, the strongest first; none of a zero or of a gap.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
        Symmetric; NaN is a gap.
    number : int
        Of pairs, at most.

    Returns
    -------
    ndarray, shape (n_pairs, 2)

    Examples
    --------
    >>> strongest_pairs(np.array([[1, 0.2, -0.9], [0.2, 1, 0], [-0.9, 0, 1]]), 5).tolist()
    [[0, 2], [0, 1]]
    """
    first, second = np.triu_indices(len(matrix), 1)
    strengths = np.nan_to_num(np.abs(matrix[first, second]))
    chosen = np.argsort(-strengths, kind="stable")[: min(number, int(np.count_nonzero(strengths)))]
    return np.stack([first[chosen], second[chosen]], axis=1)


def connectogram_panel(
    regions: Sequence[str],
    order: RegionOrder,
    pairs: NDArray[np.intp],
    weights: FloatArray,
    quantity: str,
    *,
    signs: Mapping[int, tuple[str, str]] | None = None,
) -> draw.Panel:
    """Regions round a ring, and the given connections among them.

    Parameters
    ----------
    regions : sequence of str, length n_regions
    order : RegionOrder
        Its blocks are arcs of the ring.
    pairs : ndarray of int, shape (n_pairs, 2)
        Regions, counted from 0: the strongest connections, say, or those in which two groups differ.
    weights : ndarray, shape (n_pairs,)
    quantity : str
        What these are.
    signs : mapping of int to (str, str), optional
        Name and colour of positive (1) and of negative (-1) chords; by default they are called by the quantity.
    """
    usual = {1: (f"positive {quantity}" if (weights < 0).any() else quantity, POSITIVE)}
    place_of = np.empty(len(regions), dtype=np.intp)
    place_of[list(order.order)] = np.arange(len(regions))
    named = [name for name, _, _ in order.blocks if name != UNLABELLED]
    colours = {name: MODULE_COLOURS[place % len(MODULE_COLOURS)] for place, name in enumerate(named)}
    ring = draw.Chords(
        names=[regions[region] for region in order.order],
        order=order,
        colours=[colours.get(name, PALE_GREY) for name, _, _ in order.blocks] or [PALE_GREY],
        pairs=place_of[pairs],
        weights=weights,
        signs=signs or usual | {-1: (f"negative {quantity}", NEGATIVE)},
        ids=order.order,
        hover="%{text}",
    )
    return draw.Panel(marks=[ring], x=draw.Axis(hidden=True), y=draw.Axis(hidden=True))


@figure("connectogram", "Connectogram", takes=ConnectogramOptions, least_mm=60)
def connectogram(measured: "Measured", options: ConnectogramOptions) -> draw.Drawing:
    """The strongest connections of a subject, among regions on a ring of networks."""
    subject, regions = measured.subject, measured.atlas.regions
    matrix = with_gaps(measured.connectivity(), subject)
    pairs = strongest_pairs(matrix, options.connections)
    weights = matrix[pairs[:, 0], pairs[:, 1]]
    names = np.asarray(regions, dtype=object)
    table = {"region": names[pairs[:, 0]], "other region": names[pairs[:, 1]], "connectivity": weights}
    n_below = int((weights < 0).sum())
    weakest = f", none weaker than |{measured.quantity}| = {np.abs(weights).min():.3g}" if len(weights) else ""
    said = (
        f"the {counted(len(pairs), 'strongest connection')} between {len(regions)} regions{weakest}"
        f"{f'; {n_below} of them negative' if n_below else ''}. A chord is thicker where stronger."
    )
    return draw.of_subject(
        subject,
        f"{said}{gap_words(subject)}",
        title=f"Strongest connections of {subject.id}",
        panels=[
            connectogram_panel(
                regions, regions_in_order(measured.atlas, options.order), pairs, weights, measured.quantity
            )
        ],
        numbers=draw.table(table),
        methods=graph_methods(measured),
        legend="above",
        height=520,
    )
