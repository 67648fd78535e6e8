"""Tests against null graphs in steps: one null graph at a time, pooled at the end.

A test of a hundred null graphs takes seconds to minutes. Taken one null graph at a time it can show how far it is and
be stopped, and the pooled result is that of the same test taken at once.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from biobgt.errors import InputError
from biobgt.modules.segregation import ModularityTest
from biobgt.modules.small_world import SmallWorld


def pool_modularity_tests(tests: Sequence[ModularityTest]) -> ModularityTest:
    """Pool tests of the same modules against different null graphs.

    Parameters
    ----------
    tests : sequence of ModularityTest
        ``modularity_test(..., n_nulls=1, seed=seed + i)`` for i from 0, in order.

    Returns
    -------
    ModularityTest
        That of ``modularity_test(..., n_nulls=len(tests), seed=seed)``.
    """
    _check_some(tests)
    first = tests[0]
    if any(test.refitted != first.refitted or not np.isclose(test.q, first.q, equal_nan=True) for test in tests):
        raise InputError("Tests of different modules cannot be pooled.")
    null = np.concatenate([test.null for test in tests])
    null.setflags(write=False)
    varies = len(null) > 1 and np.ptp(null) > 1e-12  # otherwise rounding only: the nulls are all alike
    return replace(
        first,
        null=null,
        z=float((first.q - null.mean()) / null.std(ddof=1)) if varies else float("nan"),
        p=float("nan") if np.isnan(first.q) else float((1 + (null >= first.q - 1e-12).sum()) / (1 + len(null))),
    )


def pool_small_worlds(parts: Sequence[SmallWorld]) -> SmallWorld:
    """Pool small-worldness of the same graph against different null graphs.

    Parameters
    ----------
    parts : sequence of SmallWorld
        ``small_world(graph, n_nulls=1, seed=seed + i)`` for i from 0, in order.

    Returns
    -------
    SmallWorld
        Against the mean over all their null graphs. Up to three it is ``small_world(graph, n_nulls=len(parts))``;
        that function makes no more than three lattices, here there is one for each part.
    """
    _check_some(parts)
    first = parts[0]
    if any((part.clustering, part.path_length) != (first.clustering, first.path_length) for part in parts):
        raise InputError("Small-worldness of different graphs cannot be pooled.")
    clustering, length, lattice = (
        float(np.mean([getattr(part, name) for part in parts]))
        for name in ("random_clustering", "random_path_length", "lattice_clustering")
    )
    return replace(
        first,
        sigma=_ratio(_ratio(first.clustering, clustering), _ratio(first.path_length, length)),
        omega=_ratio(length, first.path_length) - _ratio(first.clustering, lattice),
        random_clustering=clustering,
        random_path_length=length,
        lattice_clustering=lattice,
        n_nulls=sum(part.n_nulls for part in parts),
    )


def _check_some(results: Sequence[object]) -> None:
    if not results:
        raise InputError("There is no test to pool.")


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else float("nan")
