"""How the people of a group spread around its mean attention: median and trimmed maps, standard errors, contrasts.

A few people can make a mean map. What is here comes from the same out-of-fold attention as the means, over people, in
multiples of uniform attention. Nothing here needs torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SPREAD_FILE = "spread.npz"
TRIMMED = 0.1  # share of people left out at each end of a trimmed mean
HIGHEST = 0.1  # share of people, those with the highest contrast, of whom it is told how much they make of the mean


@dataclass(frozen=True, eq=False)
class GroupSpread:
    """Of each group, mean over layers and heads.

    Attributes
    ----------
    median, trimmed : mapping of str to ndarray, shape (n_regions, n_regions)
        Median over people, and mean without the lowest and highest tenth, of every entry.
    error : mapping of str to ndarray, shape (n_regions, n_regions)
        Standard error of the mean of every entry.
    people : mapping of str to ndarray, shape (n_people, 2)
        Attention within over between each person's own Louvain modules, and mean |FC|; sorted by the first.
    """

    median: Mapping[str, NDArray[np.float64]]
    trimmed: Mapping[str, NDArray[np.float64]]
    error: Mapping[str, NDArray[np.float64]]
    people: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class PeopleSummary:
    """How the people of a group spread in their contrast of modules.

    Attributes
    ----------
    mean, median : float
    top_share : float
        Of the sum of what lies above 1, the share that the people with the highest contrast, :data:`HIGHEST` of all,
        have.
    with_strength : float
        Spearman's correlation of contrast and mean |FC|.
    """

    mean: float
    median: float
    top_share: float
    with_strength: float


def people_summary(people: NDArray[np.float64]) -> PeopleSummary:
    """Describe the contrasts of a group's people.

    Parameters
    ----------
    people : ndarray, shape (n_people, 2)
        Of :class:`GroupSpread`; a person without a contrast is left out.
    """
    from scipy.stats import spearmanr

    known = people[np.isfinite(people).all(axis=1)]
    ratios = np.sort(known[:, 0])[::-1]
    above = np.clip(ratios - 1, 0, None)
    top = above[: max(1, round(HIGHEST * len(above)))].sum()
    varies = len(known) > 2 and (np.ptp(known, axis=0) > 0).all()
    return PeopleSummary(
        mean=float(ratios.mean()),
        median=float(np.median(ratios)),
        top_share=float(top / above.sum()) if above.any() else float("nan"),
        with_strength=float(spearmanr(known[:, 0], known[:, 1]).statistic) if varies else float("nan"),
    )
