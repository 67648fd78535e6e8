"""How well two hub measures agree over the regions of one brain: rank correlations and shared hubs.

Written for many measures against one reference at a time, because a plausibility study compares hundreds of
diffusion times, thresholds and subjects.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.hubs.hub_options import DEFAULT_SHARE
from biobgt.ranks import ranks

AGREEMENT_MEASURES: Mapping[str, str] = {
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ-b",
    "overlap": "share of the top hubs in common",
}


def rank_agreement(
    values: NDArray[np.float64], reference: NDArray[np.float64], *, top: float = DEFAULT_SHARE
) -> dict[str, NDArray[np.float64]]:
    """Compare hub measures with a reference.

    Parameters
    ----------
    values : ndarray, shape (n_measures, n)
        High where a region is a hub.
    reference : ndarray, shape (n,)
    top : float
        Share of the regions that count as hubs for the overlap; by chance it is about ``top``.

    Returns
    -------
    dict of str to ndarray, shape (n_measures,)
        ``spearman``, ``kendall`` (τ-b) and ``overlap``; NaN where either side is constant.
    """
    values = np.atleast_2d(values)
    if len(reference) < 2:
        return {name: np.full(len(values), np.nan) for name in AGREEMENT_MEASURES}
    varies = (np.ptp(values, axis=1) > 0) & (np.ptp(reference) > 0)
    agreement = {
        "spearman": spearman(values, reference),
        "kendall": kendall(values, reference),
        "overlap": hub_overlap(values, reference, n_hubs=number_of_hubs(values.shape[1], top)),
    }
    return {name: np.where(varies, column, np.nan) for name, column in agreement.items()}


def spearman(values: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's ρ of each row with the reference, shape (n_measures,)."""
    ranked = ranks(np.vstack([values, reference]))
    ranked -= ranked.mean(axis=1, keepdims=True)
    return _quotient(ranked[:-1] @ ranked[-1], np.linalg.norm(ranked[:-1], axis=1) * np.linalg.norm(ranked[-1]))


def kendall(values: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kendall's τ-b of each row with the reference, shape (n_measures,).

    Concordant minus discordant pairs, over the geometric mean of the numbers of untied pairs.
    """
    first, second = np.triu_indices(len(reference), 1)
    order = np.sign(reference[first] - reference[second])
    orders = np.sign(values[:, first] - values[:, second])
    untied = np.count_nonzero(orders, axis=1) * np.count_nonzero(order)
    return _quotient(orders @ order, np.sqrt(untied))


def hub_overlap(values: NDArray[np.float64], reference: NDArray[np.float64], *, n_hubs: int) -> NDArray[np.float64]:
    """Share of the ``n_hubs`` highest regions of each row that are among the reference's, shape (n_measures,).

    Parameters
    ----------
    values : ndarray, shape (n_measures, n_regions)
    reference : ndarray, shape (n_regions,)
    n_hubs : int
        Regions that count as hubs, in each row and in the reference.
    """
    hubs = np.argsort(-reference, kind="stable")[:n_hubs]
    rows = np.argsort(-values, axis=1, kind="stable")[:, :n_hubs]
    shared: NDArray[np.float64] = np.isin(rows, hubs).mean(axis=1)
    return shared


def number_of_hubs(n_regions: int, top: float) -> int:
    """Number of regions in the top share: rounded, and at least one."""
    if not 0 < top <= 1:
        raise InputError(f"Hubs are a share above 0 and up to 1 of the regions, not {top}.")
    return max(1, round(top * n_regions))


def _quotient(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator > 0)
