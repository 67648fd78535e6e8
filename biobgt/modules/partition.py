"""Partitions of the brain's regions: compared, matched, named, and averaged over in blocks.

Modules are numbered from 1. **A region without any connection belongs to no module and carries 0**: Louvain would make
each such region a module of its own, which inflates the number of modules and every comparison with an atlas by regions
about which the graph says nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas

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


def module_sizes(labels: NDArray[np.int64]) -> FloatArray:
    """The number of regions in each region's module.

    Parameters
    ----------
    labels : ndarray of int, shape (n_regions,)
        From 1; 0 for a region in no module.

    Returns
    -------
    ndarray, shape (n_regions,)
        0 for a region in no module.

    Examples
    --------
    >>> module_sizes(np.array([1, 2, 1, 0, 1])).tolist()
    [3.0, 1.0, 3.0, 0.0, 3.0]
    """
    return np.where(labels == UNASSIGNED, 0.0, np.bincount(labels)[labels])


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


# Adjusted mutual information of partitions.
#
# The same number as scikit-learn's ``adjusted_mutual_info_score`` (arithmetic mean of the entropies), which takes
# milliseconds a pair and so minutes for the pairs of a cohort, and half a second to import. The information expected
# by chance is a sum over pairs of module sizes (Vinh et al. 2010, Eq. 24a), and few sizes occur: each term is computed
# once.


_ChanceTables = dict[int, FloatArray]  # what two modules add, by the number of regions and then by their sizes


def pairwise_mutual_information(labels: NDArray[np.int64]) -> FloatArray:
    """Adjusted mutual information of all pairs of partitions, over the regions that both assign.

    Parameters
    ----------
    labels : ndarray of int, shape (n_partitions, n_regions)
        :data:`~biobgt.modules.partition.UNASSIGNED` is no module.

    Returns
    -------
    ndarray, shape (n_partitions, n_partitions)
        Symmetric with a diagonal of 1; NaN where fewer than 2 regions are assigned by both.
    """
    modules = np.setdiff1d(labels, UNASSIGNED)
    members = (labels[:, None, :] == modules[:, None]).astype(np.float64)  # (n_partitions, n_modules, n_regions)
    chance: _ChanceTables = {}
    similarity = np.eye(len(labels))
    for i in range(len(labels) - 1):
        overlaps = (members[i + 1 :] @ members[i].T).astype(np.int64)  # (n_others, n_modules, n_modules)
        similarity[i, i + 1 :] = similarity[i + 1 :, i] = _adjusted(overlaps, chance)
    return similarity


def _adjusted(overlaps: NDArray[np.int64], chance: _ChanceTables) -> FloatArray:
    """Adjusted mutual information from tables of overlaps, shape (n_tables, n_modules, n_modules)."""
    n = overlaps.sum(axis=(1, 2))
    rows, columns = overlaps.sum(axis=2), overlaps.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # pairs that share no region end as NaN
        shares = (overlaps / n[:, None, None], rows / n[:, None], columns / n[:, None])
        parts = (-share * np.log(np.where(share > 0, share, 1)) for share in shares)  # of the entropy, in nats
        joint, first, second = (part.reshape(len(n), -1).sum(axis=1) for part in parts)
        expected = np.array([_expected(chance, *sizes) for sizes in zip(n, rows, columns, strict=True)])
        most = (first + second) / 2 - expected
        found = (first + second - joint - expected) / most
    # Nothing to be gained over chance: both are one module, or every region of both is its own. A perfect match.
    return np.where(n > 1, np.where(most < 1e-12, 1.0, found), np.nan)


def _expected(chance: _ChanceTables, n: int, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """Expected mutual information of partitions of n regions with modules of these sizes; 0 is no module."""
    if n < 2:
        return np.nan
    table = chance.setdefault(int(n), np.full((n + 1, n + 1), np.nan))
    sizes = np.ix_(rows[rows > 0], columns[columns > 0])
    for a, b in np.argwhere(np.isnan(table[sizes])):
        first, second = int(sizes[0][a, 0]), int(sizes[1][0, b])
        table[first, second] = table[second, first] = _chance_term(int(n), first, second)
    return float(table[sizes].sum())


def _chance_term(n: int, a: int, b: int) -> float:
    """Mean of (overlap / n) log(n overlap / (a b)) over the hypergeometric overlaps of two modules."""
    overlap = np.arange(max(1, a + b - n), min(a, b) + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    whole = log_factorial[[a, b, n - a, n - b]].sum() - log_factorial[n]
    parts = log_factorial[overlap] + log_factorial[a - overlap] + log_factorial[b - overlap]
    parts += log_factorial[n - a - b + overlap]
    return float((overlap / n * np.log(n * overlap / (a * b)) * np.exp(whole - parts)).sum())


# How far two divisions of the brain agree: a partition with an atlas's functional labels, or with another.
#
# Three measures, for none alone tells all: adjusted mutual information (Vinh et al. 2010) and adjusted Rand index
# (Hubert & Arabie 1985) are 1 for equal divisions and about 0 for unrelated ones; the variation of information VI =
# H(X|Y) + H(Y|X) (Meilă 2007) is a distance in bits. Regions that either side leaves out do not count.


@dataclass(frozen=True, eq=False)
class ModuleAgreement:
    """Agreement of modules with labels.

    Attributes
    ----------
    ami, ari : float
        Adjusted mutual information and adjusted Rand index; 1 for equal divisions, about 0 by chance.
    vi : float
        Variation of information in bits; 0 for equal divisions.
    vi_normalised : float
        VI divided by its largest possible value, log2 of the number of regions compared.
    contingency : DataFrame
        Number of regions; a row per module, a column per label.
    n_compared : int
        Regions with a module and a label. All four measures are NaN when there are fewer than 2.
    n_unlabelled : int
        Regions in a module but without a label.
    n_unassigned : int
        Regions in no module, labelled or not.
    """

    ami: float
    ari: float
    vi: float
    vi_normalised: float
    contingency: pd.DataFrame
    n_compared: int
    n_unlabelled: int
    n_unassigned: int


def module_agreement(partition: Labels, atlas: Atlas, labelling: str = "dosenbach") -> ModuleAgreement:
    """Compare modules with an atlas's functional labels.

    Parameters
    ----------
    partition : Partition or sequence of int, length n_regions
    atlas : Atlas
    labelling : str
        One of the atlas's labellings.

    Returns
    -------
    ModuleAgreement
    """
    labels, n_regions = atlas.labelling(labelling), len(module_labels(partition))
    if n_regions != len(labels):
        raise InputError(f"The partition has {n_regions} regions and atlas {atlas.name} has {len(labels)}.")
    return compare_modules(partition, labels)


def label_agreement(
    partition: Labels, labels: Sequence[str | int | None], *, shuffles: int, seed: int = 0
) -> tuple[float, FloatArray]:
    """Adjusted mutual information of modules with labels, and with the same labels shuffled over the regions.

    Parameters
    ----------
    partition : Partition or sequence of int, length n_regions
    labels : sequence of (str, int or None), length n_regions
    shuffles, seed : int

    Returns
    -------
    ami : float
        NaN where fewer than 2 regions have a module and a label.
    shuffled : ndarray, shape (shuffles,)

    Examples
    --------
    >>> ami, shuffled = label_agreement([1, 1, 2, 2], ["visual", "visual", "motor", "motor"], shuffles=9)
    >>> ami, bool((shuffled <= 1).all())
    (1.0, True)
    """
    modules = module_labels(partition, len(labels))
    both = (modules != UNASSIGNED) & np.array([label is not None for label in labels], dtype=bool)
    names = np.array([str(label) for label in labels])[both]
    if len(names) < 2:
        return float("nan"), np.full(shuffles, np.nan)
    own = (modules[both] == np.unique(modules[both])[:, None]).astype(np.float64)
    codes = np.unique(names, return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    orders = np.vstack([codes, rng.permuted(np.tile(codes, (shuffles, 1)), axis=1)])
    members = (orders[:, None, :] == np.arange(codes.max() + 1)[:, None]).astype(np.float64)
    found = _adjusted((members @ own.T).astype(np.int64), {})
    return float(found[0]), found[1:]


def compare_modules(partition: Labels, labels: Sequence[str | int | None]) -> ModuleAgreement:
    """Compare modules with any labels, one per region; None marks a region without a label.

    To compare two partitions give the other one's labels, with None in place of 0.

    Parameters
    ----------
    partition : Partition or sequence of int, length n_regions
    labels : sequence of (str, int or None), length n_regions

    Returns
    -------
    ModuleAgreement

    Examples
    --------
    >>> same = compare_modules([1, 1, 2, 2], ["visual", "visual", "motor", "motor"])
    >>> same.ari, same.vi
    (1.0, 0.0)
    """
    modules = module_labels(partition, len(labels))
    assigned = modules != UNASSIGNED
    labelled = np.array([label is not None for label in labels], dtype=bool)
    both = assigned & labelled
    compared = modules[both]
    names = [label for label, kept in zip(labels, assigned, strict=True) if kept and label is not None]
    counts = pd.crosstab(pd.Series(compared, name="module"), pd.Series(names, name="label", dtype=object))
    ami = ari = vi = vi_normalised = float("nan")
    if len(compared) > 1:
        codes = np.unique([str(name) for name in names], return_inverse=True)[1] + 1  # 0 is no module
        ami = float(pairwise_mutual_information(np.stack([codes, compared]))[0, 1])
        ari, vi = _adjusted_rand(counts.to_numpy()), _variation_of_information(counts.to_numpy())
        vi_normalised = vi / float(np.log2(len(compared)))
    return ModuleAgreement(
        ami=ami,
        ari=ari,
        vi=vi,
        vi_normalised=vi_normalised,
        contingency=counts,
        n_compared=len(compared),
        n_unlabelled=int((assigned & ~labelled).sum()),
        n_unassigned=int((~assigned).sum()),
    )


def _variation_of_information(contingency: NDArray[np.int64]) -> float:
    """2 H(X, Y) − H(X) − H(Y), in bits."""
    joint = contingency / contingency.sum()
    both, first, second = (
        float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum())
        for shares in (joint, joint.sum(axis=0), joint.sum(axis=1))
    )
    return max(0.0, 2 * both - first - second)


def _adjusted_rand(contingency: NDArray[np.int64]) -> float:
    together, in_first, in_second = (
        float((sizes * (sizes - 1) / 2).sum())
        for sizes in (contingency, contingency.sum(axis=1), contingency.sum(axis=0))
    )
    n = int(contingency.sum())
    expected, most = in_first * in_second / (n * (n - 1) / 2), (in_first + in_second) / 2
    # Both are one module, or every region of both is its own: the same division.
    return 1.0 if most == expected else (together - expected) / (most - expected)


# The same number, and so the same colour, for the same module, and a name for each.
#
# Louvain numbers modules anew in every subject, group and resolution. Here the modules of one partition take the
# numbers of those modules of another with which they share the most regions in total (the assignment problem, Kuhn
# 1955), one to one.


def match_modules(labels: Labels, reference: Labels) -> NDArray[np.int64]:
    """Number the modules of a partition as those of a reference.

    Parameters
    ----------
    labels : Partition or sequence of int, length n_regions
    reference : Partition or sequence of int, length n_regions

    Returns
    -------
    ndarray of int, shape (n_regions,)
        The same modules under other numbers. A module without a counterpart takes a number above all of the
        reference, the larger module first; 0 (in no module) stays 0.

    Examples
    --------
    >>> match_modules([2, 2, 1, 1], [1, 1, 2, 2]).tolist()
    [1, 1, 2, 2]
    """
    reference = module_labels(reference)
    # In canonical order, so that a tie does not depend on the numbers the modules came with.
    labels = canonical_labels(module_labels(labels, len(reference)))
    modules = range(1, int(labels.max(initial=0)) + 1)
    numbers = np.unique(reference[reference != UNASSIGNED]).tolist()
    shared = np.array([[((labels == m) & (reference == r)).sum() for r in numbers] for m in modules])
    shared = shared.reshape(len(modules), len(numbers))
    new_number = {modules[i]: numbers[j] for i, j in _pairs_that_share_most(shared)}
    first_new = int(reference.max(initial=0)) + 1
    left = [module for module in modules if module not in new_number]
    new_number |= {module: first_new + i for i, module in enumerate(left)}
    matched = np.full(len(labels), UNASSIGNED, dtype=np.int64)
    for module, number in new_number.items():
        matched[labels == module] = number
    return matched


def match_labels(contingency: pd.DataFrame) -> dict[str, int]:
    """Give each label the module with which it shares the most regions in total, one to one.

    Parameters
    ----------
    contingency : DataFrame
        Number of regions; a row per module, a column per label, as in :class:`biobgt.modules.ModuleAgreement`.

    Returns
    -------
    dict of str to int
        Module of each label; labels without a counterpart are left out.
    """
    pairs = _pairs_that_share_most(contingency.to_numpy())
    return {str(contingency.columns[j]): int(contingency.index[i]) for i, j in pairs}


def _pairs_that_share_most(counts: NDArray[np.int64]) -> list[tuple[int, int]]:
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return [(i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if counts[i, j] > 0]


def module_names(partition: Labels, labels: Sequence[str | None] | None = None) -> dict[int, str]:
    """Name every module by the functional network most of its regions belong to.

    The names describe, and do not test: how far modules and labels agree as a whole is :func:`module_agreement`.

    Parameters
    ----------
    partition : Partition or sequence of int, length n_regions
    labels : sequence of (str or None), length n_regions, optional
        Functional labels; None marks a region without one. Without any labels modules are only numbered.

    Returns
    -------
    dict of int to str
        ``Module 2 · mostly default`` where more than half of the module's labelled regions carry that label,
        ``Module 2 · default`` where all do, ``Module 2 · default, occipital`` with the two most frequent labels (ties
        in alphabetical order) where none has the majority, and ``Module 2 · unlabelled`` where no region has a label.
    """
    modules = module_labels(partition)
    numbers = sorted(set(modules.tolist()) - {UNASSIGNED})
    if labels is None:
        return {number: f"Module {number}" for number in numbers}
    if len(labels) != len(modules):
        raise InputError(f"There are {len(labels)} functional labels for {len(modules)} regions.")
    own: dict[int, Counter[str]] = {number: Counter() for number in numbers}
    for label, number in zip(labels, modules.tolist(), strict=True):
        if label is not None and number != UNASSIGNED:
            own[number][label] += 1
    return {number: f"Module {number} · {_network(counts)}" for number, counts in own.items()}


def _network(counts: Counter[str]) -> str:
    if not counts:
        return "unlabelled"
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    share = counts[ranked[0]] / counts.total()
    if share == 1:
        return ranked[0]
    return f"mostly {ranked[0]}" if share > 0.5 else ", ".join(ranked[:2])


# Matrices between regions, of attention, connectivity or any other measure, averaged by functional module.


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

    values: FloatArray
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


def module_contrast(matrices: ArrayLike, labels: ModuleLabels | Sequence[ModuleLabels]) -> FloatArray:
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
    each: Any = labels if own else (labels,)
    members_of = [_membership(one, values.shape[1])[0] for one in each]
    contrast = np.full(len(values), np.nan)
    for i, matrix in enumerate(map(_off_diagonal, values)):
        members = members_of[i if own else 0]
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


def _off_diagonal(matrix: NDArray[np.floating]) -> FloatArray:
    off = np.array(matrix, dtype=np.float64)
    np.fill_diagonal(off, 0)
    return off


def _membership(labels: ModuleLabels, n_regions: int) -> tuple[FloatArray, tuple[str, ...]]:
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
