"""Which connections of a cohort of structural connectomes are there: a consensus over people.

Tractography finds connections that are not there, and every person has others. A share of people keeps those that many
have. As long connections are found in fewer people than short ones, it loses the long ones; the consensus that depends
on distance keeps, of every length, as many as a person has on average, the most common ones first (Betzel, Griffa,
Hagmann & Misic, Network Neuroscience 2019).
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError


def share_consensus(present: NDArray[np.bool_], share: float) -> NDArray[np.bool_]:
    """The connections that a share of people or more have.

    Parameters
    ----------
    present : ndarray of bool, shape (n_people, n_pairs)
    share : float
        Above 0 and at most 1.

    Returns
    -------
    ndarray of bool, shape (n_pairs,)
    """
    if not 0 < share <= 1:
        raise InputError(f"A consensus keeps what a share of people above 0 and up to 1 have, not {share:g}.")
    return np.asarray(present.mean(axis=0) >= share - 1e-12)


def distance_consensus(
    present: NDArray[np.bool_], lengths: FloatArray, kinds: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """As many connections of every length as a person has on average, those of most people first.

    The lengths of everybody's connections are parted into as many bins, of equal counts, as a person has connections on
    average. Of each bin the connection that most people have is kept.

    Parameters
    ----------
    present : ndarray of bool, shape (n_people, n_pairs)
    lengths : ndarray, shape (n_pairs,)
        Of tracts, or distances between regions. A pair whose length is not known is not kept.
    kinds : ndarray of int, shape (n_pairs,), optional
        Connections of each kind, such as within a hemisphere and between two, are chosen by themselves.

    Returns
    -------
    ndarray of bool, shape (n_pairs,)

    Examples
    --------
    Everybody has the short connections; one of three has the long one and nobody else has a longer one.

    >>> present = np.array([[1, 1, 0, 0], [1, 1, 0, 1], [1, 1, 0, 1]], dtype=bool)
    >>> distance_consensus(present, np.array([10.0, 12.0, 11.0, 80.0])).tolist()
    [True, True, False, True]
    """
    found, often = np.zeros(present.shape[1], dtype=bool), present.sum(axis=0)
    kinds = np.zeros(present.shape[1], np.int64) if kinds is None else kinds
    for kind in np.unique(kinds):
        own = np.flatnonzero((kinds == kind) & (often > 0) & np.isfinite(lengths))
        own = own[np.lexsort((own, lengths[own]))]
        # Everybody's connections in the order of their lengths: those of pair i end at ends[i].
        ends = np.cumsum(often[own])
        n_kept = round(int(often[own].sum()) / len(present))
        borders = np.linspace(0, ends[-1] if len(ends) else 0, n_kept + 1)
        middle = ends - often[own] / 2
        for low, high in pairwise(borders):
            inside = own[(middle > low) & (middle <= high) & ~found[own]]
            if len(inside):
                found[inside[np.argmax(often[inside])]] = True
    return found
