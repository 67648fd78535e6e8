"""Regions as figures draw them: in which order, with what gaps, and the options that ask for it.

An order that follows an atlas's labels has blocks, which maps and rings part and name. Regions that a subject lacks
are drawn as nothing, in matrices, along curves and in brains, and counted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.options import Options, option
from biobgt.base.wording import counted
from biobgt.data.atlas import LABELLINGS

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.data.atlas import Atlas
    from biobgt.data.cohort import Subject

ATLAS_ORDER = "atlas"
AS_IN_ATLAS: Mapping[str, str] = {ATLAS_ORDER: "Atlas order"}
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


def order_by_value(values: NDArray[np.float64], *, lowest_first: bool = False) -> RegionOrder:
    """Put the highest region first, or the lowest; equal ones keep the atlas's order."""
    return RegionOrder(tuple(np.argsort(values if lowest_first else -values, kind="stable").tolist()))


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


def regions_in_order(atlas: "Atlas", order: str) -> RegionOrder:
    """The atlas's order, or that of one of its labellings."""
    return order_regions(atlas.n_regions, None if order == ATLAS_ORDER else atlas.labelling(order))


def region_number(atlas: "Atlas", name: str) -> int | None:
    """A region by its name, counted from 0; an empty name is none."""
    if name and name not in atlas.regions:
        raise InputError(f"Atlas {atlas.name} has no region '{name}'.")
    return atlas.regions.index(name) if name else None


def region_option(*, help: str = "Name of a region to mark with a ring.") -> Any:
    """The option of a figure: a region, by its name."""
    return option("", title="Region", help=help, link="region")


def order_option(
    default: str = ATLAS_ORDER,
    *,
    others: Callable[[], Mapping[str, str]] = lambda: AS_IN_ATLAS,
    help: str,
    link: str,
    **about: Any,
) -> Any:
    """The option of a figure: the order of regions, by one of the atlas's labellings or one of ``others``.

    Parameters
    ----------
    default : str
    others : callable
        Gives the orders that do not follow a labelling with their titles; pages offer them behind the labellings.
    help, link : str
        As of any option.
    **about : further attributes of :class:`biobgt.base.options.Option`
    """
    if default == ATLAS_ORDER:  # a page orders regions by network at first, so that its axes name networks
        about["default_of"] = lambda cohort: next(iter(cohort.atlas.labels), ATLAS_ORDER)
    return option(
        default,
        title="Order of regions",
        help=help,
        choices_of=lambda cohort: (*cohort.atlas.labels, *others()),
        shown=lambda order: others().get(order) or f"By {LABELLINGS.get(order, order)}",
        link=link,
        **about,
    )


@dataclass(frozen=True)
class RegionOrderOptions(Options):
    """In which order regions are drawn."""

    order: str = order_option(help="By functional network, or the atlas's order.", link="region_order")


def with_gaps(values: FloatArray, subject: "Subject") -> FloatArray:
    """NaN in the place of the regions that a subject lacks.

    Parameters
    ----------
    values : ndarray, shape (n_regions,) or (n_regions, n_regions)
    subject : Subject

    Returns
    -------
    ndarray of the same shape
    """
    lacking = list(subject.silent_regions)
    if not lacking:
        return values
    gaps = np.array(values, dtype=np.float64)
    gaps[lacking] = np.nan
    if gaps.ndim == 2:
        gaps[:, lacking] = np.nan
    return gaps


def gap_words(subject: "Subject") -> str:
    """A sentence on the gaps, with a space before it; empty where there is none."""
    n = len(subject.silent_regions)
    if not n:
        return ""
    return f" {counted(n, 'region')} without data {'is a gap' if n == 1 else 'are gaps'}."
