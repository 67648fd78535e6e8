"""Matrices between regions, of attention, connectivity or any other measure, averaged by functional module."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.errors import InputError

ModuleLabels = Sequence[str | None] | Sequence[int] | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ModuleBlocks:
    """Matrices between regions, averaged to matrices between modules.

    Attributes
    ----------
    values : ndarray, shape (n_subjects, n_modules, n_modules)
        ``values[s, a, b]`` is the mean from regions of module a (rows; in attention, the ones that look) to regions of
        module b (columns; the ones looked at). NaN within a module of a single region.
    modules : tuple of str, length n_modules
        In alphabetical order; numbered modules in order of their numbers.
    n_regions : tuple of int, length n_modules
    """

    values: NDArray[np.float64]
    modules: tuple[str, ...]
    n_regions: tuple[int, ...]


def module_blocks(matrices: ArrayLike, labels: ModuleLabels) -> ModuleBlocks:
    """Average each matrix over the pairs of regions of two modules.

    Parameters
    ----------
    matrices : array-like, shape (n_subjects, n_regions, n_regions)
        Need not be symmetric. The diagonal, a region with itself, is left out and may hold anything.
    labels : sequence of str or None, length n_regions
        Module of each region, or its number; regions labelled None, '' or 0 belong to no module and are left out.

    Returns
    -------
    ModuleBlocks

    Examples
    --------
    >>> matrix = np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    >>> blocks = module_blocks([matrix], ["visual", "visual", "motor"])
    >>> blocks.modules
    ('motor', 'visual')
    >>> blocks.values[0].tolist()  # a single region has no pair of its own
    [[nan, 1.0], [1.0, 2.0]]
    """
    values = _checked_matrices(matrices)
    members, modules = _membership(labels, values.shape[1])
    sizes = members.sum(axis=0)
    n_pairs = np.outer(sizes, sizes) - np.diag(sizes)
    sums = np.stack([members.T @ matrix @ members for matrix in map(_off_diagonal, values)])
    means = np.divide(sums, n_pairs, out=np.full(sums.shape, np.nan), where=n_pairs > 0)
    return ModuleBlocks(means, modules, tuple(sizes.astype(int).tolist()))


def module_contrast(matrices: ArrayLike, labels: ModuleLabels | Sequence[ModuleLabels]) -> NDArray[np.float64]:
    """Say how much stronger pairs of one module are than pairs of two: mean within over mean between.

    Parameters
    ----------
    matrices : array-like, shape (n_subjects, n_regions, n_regions)
        The diagonal is left out.
    labels : sequence of str or None, length n_regions, or one such sequence for each subject
        As in :func:`module_blocks`. A sequence for each subject suits modules found in each brain by itself.

    Returns
    -------
    ndarray, shape (n_subjects,)
        1 where modules make no difference. NaN without pairs of either kind, or where the mean between modules is
        not above 0, as it can be with negative connectivity.

    Examples
    --------
    >>> matrix = np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    >>> module_contrast([matrix], ["visual", "visual", "motor"]).tolist()
    [2.0]
    """
    values = _checked_matrices(matrices)
    own = len(labels) > 0 and np.ndim(labels[0]) == 1  # type: ignore[arg-type]
    if own and len(labels) != len(values):
        raise InputError(f"There are {len(values)} matrices and {len(labels)} sets of module labels.")
    contrast = np.full(len(values), np.nan)
    shared = None if own else _membership(labels, values.shape[1])[0]  # type: ignore[arg-type]
    for i, matrix in enumerate(map(_off_diagonal, values)):
        members = _membership(labels[i], values.shape[1])[0] if shared is None else shared  # type: ignore[arg-type]
        sizes = members.sum(axis=0)
        labelled = members.sum(axis=1)
        n_within = (sizes * (sizes - 1)).sum()
        n_between = sizes.sum() ** 2 - (sizes**2).sum()
        total_within = (members * (matrix @ members)).sum()
        total_between = labelled @ matrix @ labelled - total_within
        if n_within and n_between and total_between > 0:
            contrast[i] = (total_within / n_within) / (total_between / n_between)
    return contrast


def _checked_matrices(matrices: ArrayLike) -> NDArray[np.floating]:
    values = np.asarray(matrices)
    if values.ndim != 3 or values.shape[1] != values.shape[2] or not len(values):
        raise InputError(f"One square matrix per subject is expected, shape (subjects, n, n), not {values.shape}.")
    return values


def _off_diagonal(matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    off = np.array(matrix, dtype=np.float64)
    np.fill_diagonal(off, 0)
    return off


def _membership(labels: ModuleLabels, n_regions: int) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return who belongs where, shape (n_regions, n_modules) of 0 and 1, and the modules' names."""
    if len(labels) != n_regions:
        raise InputError(f"There are {len(labels)} module labels for {n_regions} regions.")
    own = [None if pd.isna(label) or label in ("", 0) else label for label in labels]
    names = sorted({label for label in own if label is not None})
    if not names:
        raise InputError(
            "No region belongs to a module; choose an atlas with functional labels, or find modules first."
        )
    members = np.array([[float(label == name) for name in names] for label in own])
    return members, tuple(map(str, names))
