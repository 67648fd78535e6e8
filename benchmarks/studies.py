"""What tests of edges cost, against the obvious loop over permutations in the same process.

Where the published package ``tfnbs`` is installed, tests without a threshold are compared with its, at as many
thresholds; it is no part of this project.
"""

from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components
from threadpoolctl import threadpool_limits

from benchmarks.timing import Ratio, print_ratios, timed
from biobgt.base.arrays import FloatArray
from biobgt.inference import EdgeOptions, edge_effects, study_design

PEOPLE, REGIONS, PERMUTATIONS, FEW = 200, 200, 5000, 20
THRESHOLD = 3.1
_NBS = EdgeOptions(method="extent", edge_threshold=THRESHOLD, permutations=PERMUTATIONS)
_TFNBS = EdgeOptions(method="threshold-free", permutations=PERMUTATIONS)


def run() -> None:
    """Print how many times quicker than a loop components and supports are tested."""
    rng = np.random.default_rng(0)
    group = np.resize(["a", "b"], PEOPLE)
    edges = rng.standard_normal((PEOPLE, REGIONS * (REGIONS - 1) // 2))
    names = [str(i) for i in range(PEOPLE)]
    table = pd.DataFrame({"group": group})
    designs = [
        study_design(table, "~ group", test="group", persons=names, unequal_variances=unequal)
        for unequal in (False, True)
    ]
    with threadpool_limits(1):
        loop = timed(lambda: _loop(edges, group == "b"), repeats=2)[0] / FEW * PERMUTATIONS
        ratios = []
        for design, variances in zip(designs, ("one variance", "unequal variances"), strict=True):
            for options, promised in ((_NBS, "≥ 10"), (_TFNBS, "")):
                ours = timed(partial(edge_effects, design, edges, options), repeats=1)[0]
                what = f"{options.method}, {variances}"
                ratios.append(Ratio("a loop, scipy's t and components", what, loop / ours, promised))
                if options is _TFNBS and (published := _published(edges, group == "b")):
                    ratios.append(Ratio("the package tfnbs", what, published / ours, "≥ 5"))
        print_ratios(f"{PEOPLE} people, {REGIONS} regions, {PERMUTATIONS:,} permutations, one thread", ratios)


def _loop(edges: FloatArray, second: np.ndarray) -> list[int]:
    """The largest component of each of a few permutations, as one would write it at first."""
    rng, pairs, largest = np.random.default_rng(0), np.triu_indices(REGIONS, 1), []
    for _ in range(FEW):
        permuted = rng.permutation(second)
        t = stats.ttest_ind(edges[permuted], edges[~permuted]).statistic
        above = np.abs(t) > THRESHOLD
        graph = sparse.coo_array((np.ones(above.sum()), (pairs[0][above], pairs[1][above])), shape=(REGIONS, REGIONS))
        labels = connected_components(graph, directed=False)[1]
        largest.append(int(np.bincount(labels[pairs[0][above]], minlength=1).max()))
    return largest


def _published(edges: FloatArray, second: np.ndarray) -> float:
    """Seconds that the published package takes for all permutations, reckoned from a few; 0 where it is not there."""
    try:
        from tfnbs.pairwise_stats import compute_p_val
    except ImportError:
        return 0.0
    matrices = np.zeros((len(edges), REGIONS, REGIONS))
    matrices[:, *np.triu_indices(REGIONS, 1)] = edges
    matrices += matrices.swapaxes(1, 2)
    test = partial(compute_p_val, matrices[second], matrices[~second], test_type="two-sample", method="tfnbs", n=40)
    test = partial(test, use_mp=False, e=_TFNBS.extent_power, h=_TFNBS.height_power, start_thres=_TFNBS.step)
    test(n_permutations=1, random_state=0)  # compiles
    return timed(lambda: test(n_permutations=FEW, random_state=0), repeats=1)[0] / FEW * PERMUTATIONS
