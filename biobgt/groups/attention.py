"""Attention of two groups, compared between functional modules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.errors import InputError
from biobgt.groups.comparison import GroupComparison, compare_groups
from biobgt.groups.module_means import ModuleLabels, module_blocks, module_contrast


@dataclass(frozen=True, eq=False)
class AttentionComparison:
    """Attention of two groups compared between modules, and in how closely it keeps to them.

    Attributes
    ----------
    blocks : GroupComparison
        A feature for each pair of modules; the table also says ``module`` and ``other_module``. Symmetric matrices have
        each pair once; of others, ``module`` is the one that looks and ``other_module`` the one looked at.
    contrast : GroupComparison
        One feature, the mean within modules over the mean between them: a question of its own, so not one of
        the family of blocks.
    """

    blocks: GroupComparison
    contrast: GroupComparison


def compare_attention(
    matrices: ArrayLike,
    labels: ModuleLabels,
    groups: Sequence[str | None],
    *,
    subjects: Sequence[str],
    between: tuple[str, str] = ("NC", "ASD"),
    covariates: pd.DataFrame | None = None,
    permutations: int = 5000,
    seed: int = 0,
) -> AttentionComparison:
    """Compare two groups' attention, or connectivity, between functional modules.

    Parameters
    ----------
    matrices : array-like, shape (n_rows, n_regions, n_regions)
        A matrix a row: one layer and head, or their mean.
    labels : sequence of str or None, length n_regions
        See :func:`biobgt.groups.module_blocks`.
    groups, subjects, between, covariates, permutations, seed
        See :func:`compare_groups`.

    Returns
    -------
    AttentionComparison
    """
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

    def compare(values: NDArray[np.float64], names: list[str]) -> GroupComparison:
        return compare_groups(
            values,
            groups,
            subjects=subjects,
            between=between,
            covariates=covariates,
            features=names,
            permutations=permutations,
            seed=seed,
        )

    by_block = compare(blocks.values[:, pairs], [f"{a} {arrow} {b}" for a, b in zip(first, second, strict=True)])
    table = by_block.table.copy()
    table.insert(1, "module", first)
    table.insert(2, "other_module", second)
    contrast = compare(module_contrast(matrices, labels)[:, None], ["within / between modules"])
    return AttentionComparison(replace(by_block, table=table), contrast)
