"""What measuring one subject's hubs costs, so that a page can say so before it begins.

Node entanglement perturbs every region. Its time grows with the third power of the number of regions and with that of
their neighbours, or with the fourth of the number of regions where every perturbed graph's eigenvalues are taken.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from biobgt.hubs.contour import shortest_contour
from biobgt.hubs.resolvents import time_windows

# Seconds of one core for the first figures of the Hubs page (NE at one γ, NEff, FC strength), by the number of regions,
# with 14 % of all pairs connected, as a threshold of 0.3 leaves them: `python -m benchmarks hubs_page`.
MEASURED_SECONDS: Mapping[int, float] = {400: 0.53, 600: 2.0, 800: 4.3, 1000: 9.5}
ASK_ABOVE = 1000  # regions: ten seconds, the longest that anybody waits without a word
# Regions beyond which one γ is measured first, and the others step by step, so that they can be stopped.
STEPS_ABOVE = 300

# Seconds of one core, fitted to the ways of `python -m benchmarks hubs`; only their ratios matter.
_EIGENVALUES_PER_SQUARE, _EIGENVALUES_PER_CUBE = 3e-8, 9e-11
_PER_POINT, _PER_CUBE, _PER_PAIR, _PER_TRIPLE = 1e-3, 1.1e-10, 3e-8, 2.5e-10
_LONGEST_TIME = 1e100  # beyond it the squares that resolvents need are no numbers
_LONG_TIME = 3.0  # in units of 1/mean(λ): beyond it poles take the place of logarithms


def expected_seconds(n_regions: int) -> float:
    """Seconds of one core that one subject's first figures take: a power law between and beyond the measured sizes."""
    sizes, seconds = np.log(list(MEASURED_SECONDS)), np.log(list(MEASURED_SECONDS.values()))
    exponent, scale = np.polyfit(sizes, seconds, 1)
    return float(math.exp(scale) * n_regions**exponent)


def cost_sentence(n_regions: int) -> str:
    """Say what the first figures of one subject cost.

    >>> cost_sentence(1000)
    'Node entanglement perturbs each of the 1,000 regions: the first figures of one subject take about 10 seconds.'
    """
    return (
        f"Node entanglement perturbs each of the {n_regions:,} regions: the first figures of one subject take about "
        f"{_duration(expected_seconds(n_regions))}."
    )


def _duration(seconds: float) -> str:
    if seconds < 55:
        return f"{max(5, 5 * round(seconds / 5))} seconds"
    minutes = max(1, round(seconds / 60))
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


def resolvents_are_cheaper(weights: NDArray[np.float64], times: NDArray[np.float64]) -> bool:
    """Whether resolvents give the entropies of all perturbed graphs sooner than eigenvalues do.

    Eigenvalues cost n eigenvalue problems of n regions, whatever the number of diffusion times. Resolvents cost, at
    every point of a contour, a product of n × n matrices and a determinant the size of each neighbourhood, twice as
    much at long times. So eigenvalues win where neighbourhoods are most of the graph, and where many times are asked
    for of a small graph.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    times : ndarray, shape (n_times,)
        Absolute γ that will be asked for.
    """
    if times.max(initial=0) > _LONGEST_TIME:
        return False
    n, sizes = len(weights), np.count_nonzero(weights, axis=1) + 1.0
    point = _PER_POINT + _PER_CUBE * n**3 + _PER_PAIR * (sizes**2).sum() + _PER_TRIPLE * (sizes**3).sum()
    strengths = weights.sum(axis=0)
    long = _LONG_TIME / max(float(strengths.mean()), np.finfo(float).tiny)
    points = sum(
        shortest_contour(2 * float(middle) * float(strengths.max()), alone=len(chosen) == 1).n_points
        * (1 + (middle > long))
        for chosen, middle in time_windows(times[times > 0])
    )
    return bool(points * point < n * (_EIGENVALUES_PER_SQUARE * n**2 + _EIGENVALUES_PER_CUBE * n**3))
