"""The order in which regions are drawn: the atlas's own, by label, by value, or some of them at random."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

UNLABELLED = "unlabelled"


@dataclass(frozen=True)
class RegionOrder:
    """The order in which regions are drawn.

    Attributes
    ----------
    order : tuple of int
        Regions, counted from 0, from the first drawn to the last.
    blocks : tuple of (str, int, int)
        Name, first and one past the last position of each run of regions with the same label; empty in the
        atlas's own order.
    """

    order: tuple[int, ...]
    blocks: tuple[tuple[str, int, int], ...] = ()

    @property
    def title(self) -> str:
        """What an axis of regions without blocks is called."""
        return f"{len(self.order)} regions in atlas order"

    @property
    def labels(self) -> list[str | None] | None:
        """The label of each region in the atlas's order; None where regions are not drawn by label."""
        if not self.blocks:
            return None
        names = [None if name == UNLABELLED else name for name, first, end in self.blocks for _ in range(first, end)]
        return [name for _, name in sorted(zip(self.order, names, strict=True), key=lambda pair: pair[0])]


def order_regions(
    n_regions: int, labels: Sequence[str | None] | None = None, *, first: Sequence[str] = ()
) -> RegionOrder:
    """Put regions of the same label together, in the order in which labels first appear; unlabelled ones last.

    Parameters
    ----------
    n_regions : int
    labels : sequence of (str or None), length n_regions, optional
        None keeps the atlas's order.
    first : sequence of str
        Labels that come before the others, in this order.
    """
    if labels is None:
        return RegionOrder(tuple(range(n_regions)))
    names = [label for label in dict.fromkeys([*first, *labels]) if label is not None and label in labels]
    members = {name: [i for i, label in enumerate(labels) if label == name] for name in names}
    if None in labels:
        members[UNLABELLED] = [i for i, label in enumerate(labels) if label is None]
    ends = np.cumsum([len(regions) for regions in members.values()]).tolist()
    blocks = tuple((name, end - len(members[name]), end) for name, end in zip(members, ends, strict=True))
    return RegionOrder(tuple(region for regions in members.values() for region in regions), blocks)


def matrix_numbers(matrix: NDArray[np.floating], regions: Sequence[str], order: RegionOrder) -> "pd.DataFrame":
    """A matrix as it is drawn: one row and one column per region, in the order of the figure.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    order : RegionOrder
    """
    import pandas as pd

    names = [regions[region] for region in order.order]
    drawn = pd.DataFrame(matrix[np.ix_(order.order, order.order)], columns=names)
    drawn.insert(0, "region", names, allow_duplicates=True)
    return drawn


def order_by_value(values: NDArray[np.float64]) -> RegionOrder:
    """Put the highest region first; equal ones keep the atlas's order."""
    return RegionOrder(tuple(np.argsort(-values, kind="stable").tolist()))


def random_regions(n_regions: int, n_drawn: int, *, seed: int) -> frozenset[int]:
    """Draw some regions at random, all of them where there are no more; counted from 0.

    Parameters
    ----------
    n_regions, n_drawn : int
    seed : int
        The same seed draws the same regions.
    """
    drawn = np.random.default_rng(seed).choice(n_regions, min(n_drawn, n_regions), replace=False)
    return frozenset(drawn.tolist())


def only_regions(order: RegionOrder, chosen: frozenset[int]) -> RegionOrder:
    """Leave only some regions in an order; blocks without any of them go."""
    kept = tuple(region for region in order.order if region in chosen)
    blocks, position = [], 0
    for name, start, end in order.blocks:
        size = sum(region in chosen for region in order.order[start:end])
        if size:
            blocks.append((name, position, position + size))
        position += size
    return RegionOrder(kept, tuple(blocks))
