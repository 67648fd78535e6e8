"""Attention of two groups, compared between functional modules; and what a group has in common."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas
from biobgt.data.connectivity import fisher_z, graph_from_connectivity
from biobgt.data.graph import LEVELS, ConnectomeSettings
from biobgt.data.quality import OVERALL_CONNECTIVITY
from biobgt.groups.compare import PERMUTATIONS, GroupComparison, compare_groups
from biobgt.model.attention import connectivity_attention, functional_labels
from biobgt.modules import find_modules
from biobgt.modules.measures import ModuleOptions
from biobgt.modules.partition import ModuleLabels, module_blocks, module_contrast, module_names

# Attention of two groups, compared between functional modules, with overall connectivity adjusted for and without.
#
# Attention is made from connectivity. Beside every test stands that of the connectivity (FC) of the same block, and
# the test given it: what attention shows that FC of the same regions does not.


@dataclass(frozen=True, eq=False)
class AttentionComparison:
    """Attention of two groups compared between modules, and in how closely it keeps to them.

    Attributes
    ----------
    blocks : GroupComparison
        A feature for each pair of modules; the table also says ``module`` and ``other_module``. Symmetric matrices have
        each pair once; of others, ``module`` is the one that looks and ``other_module`` the one looked at. Where
        connectivity was given, columns that end in ``_of_fc`` are of its mean Fisher z in the same block, and in
        ``_given_fc`` of attention given that.
    contrast : GroupComparison
        One feature, the mean within modules over the mean between them: a question of its own, so not one of
        the family of blocks. Beside it stands that of :func:`biobgt.model.attention.connectivity_attention`.
    without_connectivity : AttentionComparison or None
        The same, not adjusted for overall connectivity; None where that was not given.
    """

    blocks: GroupComparison
    contrast: GroupComparison
    without_connectivity: "AttentionComparison | None" = None


def compare_attention(
    matrices: ArrayLike,
    labels: ModuleLabels,
    groups: Sequence[str | None],
    *,
    subjects: Sequence[str],
    overall_connectivity: ArrayLike | None,
    connectivity: ArrayLike | None = None,
    between: tuple[str, str] = ("NC", "ASD"),
    covariates: pd.DataFrame | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> AttentionComparison:
    """Compare two groups' attention, or connectivity, between functional modules.

    Parameters
    ----------
    matrices : array-like, shape (n_rows, n_regions, n_regions)
        A matrix a row: one layer and head, or their mean.
    labels : sequence of str or None, length n_regions
        See :func:`biobgt.modules.module_blocks`.
    overall_connectivity : array-like, shape (n_rows,), or None
        Mean |FC| of each row (:func:`biobgt.groups.design.overall_connectivity`), adjusted for besides the
        covariates: attention differs where connectivity is stronger overall. None for matrices that are connectivity.
    connectivity : array-like, shape (n_rows, n_regions, n_regions), or None
        Correlations of the same rows, to set FC of the same block beside each test.
    groups, subjects, between, covariates, permutations, seed
        See :func:`compare_groups`.

    Returns
    -------
    AttentionComparison
    """
    compare = partial(
        _compare,
        matrices,
        labels,
        groups,
        None if connectivity is None else np.asarray(connectivity),
        subjects=subjects,
        between=between,
        permutations=permutations,
        seed=seed,
    )
    if overall_connectivity is None:
        return compare(covariates=covariates)
    known = pd.DataFrame({OVERALL_CONNECTIVITY: np.asarray(overall_connectivity, dtype=np.float64)})
    if covariates is not None:
        known = pd.concat([known, covariates.reset_index(drop=True)], axis=1)
    return replace(compare(covariates=known), without_connectivity=compare(covariates=covariates))


def _compare(
    matrices: ArrayLike,
    labels: ModuleLabels,
    groups: Sequence[str | None],
    connectivity: NDArray[np.floating] | None,
    **how: Any,
) -> AttentionComparison:
    blocks = module_blocks(matrices, labels)
    modules = np.array(blocks.modules)
    symmetric = np.allclose(blocks.values, blocks.values.swapaxes(1, 2), rtol=1e-4, atol=0, equal_nan=True)
    pairs = np.triu(np.ones((len(modules),) * 2, dtype=bool)) if symmetric else np.ones((len(modules),) * 2, dtype=bool)
    single = np.array(blocks.n_regions) < 2  # a module of one region has no pair within
    pairs[single, single] = False
    first, second = (modules[index] for index in np.nonzero(pairs))
    if not len(first):
        raise InputError("There is no pair of regions with modules to compare; choose labels that cover more regions.")
    arrow = "–" if symmetric else "→"
    names = [f"{a} {arrow} {b}" for a, b in zip(first, second, strict=True)]
    of_blocks = of_contrast = None
    if connectivity is not None:
        of_blocks = module_blocks([fisher_z(own) for own in connectivity], labels).values[:, pairs]
        of_contrast = module_contrast([connectivity_attention(own) for own in connectivity], labels)[:, None]
    by_block = compare_groups(blocks.values[:, pairs], groups, connectivity=of_blocks, features=names, **how)
    table = by_block.table.copy()
    table.insert(1, "module", first)
    table.insert(2, "other_module", second)
    ratio = module_contrast(matrices, labels)[:, None]
    contrast = compare_groups(ratio, groups, connectivity=of_contrast, features=["within / between modules"], **how)
    return AttentionComparison(replace(by_block, table=table), contrast)


# The functional modules of a group's mean connectivity.


def louvain_labels(
    connectivity: NDArray[np.float32], atlas: Atlas, *, level: float = LEVELS["absolute"].default, seed: int = 0
) -> list[str]:
    """Louvain modules of a group's mean connectivity, named by the networks in them.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
    atlas : Atlas
        Its first functional labelling gives the names.
    level : float
        Positive connections of at least this weight make the graph.
    seed : int
        Of Louvain's runs.

    Returns
    -------
    list of str, length n_regions
        Regions without connections are "no module".
    """
    graph = graph_from_connectivity(connectivity.astype(np.float64), ConnectomeSettings(level=level), atlas=atlas)
    partition = find_modules(graph, ModuleOptions(seed=seed))
    networks = functional_labels(atlas, next(iter(atlas.labels))) if atlas.labels else None
    names = module_names(partition, networks)
    return [names.get(module, "no module") for module in partition.labels.tolist()]
