"""A partition of the brain's regions into modules, and how graphs and labels are brought to one.

Modules are numbered from 1. **A region without any connection belongs to no module and carries 0**: Louvain
would make each such region a module of its own, which inflates the number of modules and every comparison
with an atlas by regions about which the graph says nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biobgt.errors import InputError

UNASSIGNED = 0
"""The label of a region that belongs to no module."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Which module each region belongs to, and how that was found.

    Attributes
    ----------
    labels : ndarray of int, shape (n_regions,)
        Module of each region, from 1; 0 for a region in no module. Read-only. As found, modules are numbered by
        decreasing size, ties by their first region; :func:`biobgt.modules.match_modules` numbers them otherwise.
    q : float
        Modularity at this resolution (NaN for a graph without connections).
    resolution : float
        Weight γ of the null model: above 1 finds more and smaller modules.
    seed : int
    signed : bool
        True when the graph had negative weights, which then count against a module.
    """

    labels: NDArray[np.int64]
    q: float
    resolution: float
    seed: int
    signed: bool

    def __post_init__(self) -> None:
        labels = np.array(self.labels, dtype=np.int64)
        labels.setflags(write=False)
        object.__setattr__(self, "labels", labels)

    @property
    def n_regions(self) -> int:
        """Number of regions, with those in no module."""
        return len(self.labels)

    @property
    def modules(self) -> tuple[int, ...]:
        """The numbers of the modules, in order."""
        return tuple(np.unique(self.labels[self.labels != UNASSIGNED]).tolist())

    @property
    def n_modules(self) -> int:
        """Number of modules; regions in no module do not count."""
        return len(self.modules)

    @property
    def sizes(self) -> dict[int, int]:
        """Number of regions of each module."""
        return {module: int((self.labels == module).sum()) for module in self.modules}

    @property
    def unassigned(self) -> tuple[int, ...]:
        """Regions (counted from 0) that belong to no module."""
        return tuple(np.flatnonzero(self.labels == UNASSIGNED).tolist())


Labels = Partition | Sequence[int] | NDArray[np.int64]


def module_labels(labels: Labels, n_regions: int | None = None) -> NDArray[np.int64]:
    """Return labels as whole numbers from 0, one per region.

    Parameters
    ----------
    labels : Partition or sequence of int, length n_regions
    n_regions : int, optional
        How many there must be.

    Returns
    -------
    ndarray of int, shape (n_regions,)
    """
    values = np.asarray(labels.labels if isinstance(labels, Partition) else labels)
    if values.ndim != 1:
        raise InputError(f"Module labels have shape {values.shape}; one number per region is expected.")
    if not (np.issubdtype(values.dtype, np.number) and np.isfinite(values).all()):
        raise InputError("Module labels must be whole numbers; one of them is missing or is not a number.")
    whole = values.astype(np.int64)
    if (whole != values).any() or (whole < 0).any():
        raise InputError("Module labels must be whole numbers from 1, or 0 for a region in no module.")
    if n_regions is not None and len(whole) != n_regions:
        raise InputError(f"There are {len(whole)} module labels for {n_regions} regions.")
    return whole


def canonical_labels(labels: ArrayLike) -> NDArray[np.int64]:
    """Number modules by decreasing size, ties by their first region; 0 stays 0.

    Two partitions are the same exactly when their canonical labels are.
    """
    labels = np.asarray(labels)
    canonical = np.zeros(len(labels), dtype=np.int64)
    assigned = labels != UNASSIGNED
    _, first, modules, sizes = np.unique(labels[assigned], return_index=True, return_inverse=True, return_counts=True)
    numbers = np.empty(len(sizes), dtype=np.int64)
    numbers[np.lexsort((first, -sizes))] = np.arange(1, len(sizes) + 1)
    canonical[assigned] = numbers[modules]
    return canonical


def check_count(what: str, value: int, *, least: int) -> None:
    """Refuse a number of runs, null graphs, ... that is too small.

    Parameters
    ----------
    what : str
        What is counted, in words, for the sentence.
    value : int
    least : int
        The smallest number allowed.
    """
    if value < least:
        raise InputError(f"The number of {what} is {value}; at least {least} needed.")
