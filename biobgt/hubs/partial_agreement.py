"""Agreement beyond strength and degree: what is left of a rank correlation once both are accounted for.

A region with many and strong connections has a high node entanglement *and* a high node efficiency, whatever the rest
of the graph looks like. Only two things are evidence that one follows the other for another reason: a correlation that
is left when strength and degree are held (partial Spearman correlation), and one higher than in null graphs in which
every region keeps its degree and, closely, its strength (:func:`biobgt.nulls.random_graph`).
"""

import numpy as np
from numpy.typing import NDArray

from biobgt.graph import Graph
from biobgt.hubs.weights import hub_weights
from biobgt.ranks import ranks

Values = NDArray[np.float64]
# What is left of ranks after regression, as a share of their own spread; less is rounding.
_NOTHING_LEFT = 1e-6


def strength_and_degree(graph: Graph) -> Values:
    """Strength (sum of weights) and degree of every region of a graph: what agreement is measured beyond.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n, n)
        Of nonnegative weights.

    Returns
    -------
    ndarray, shape (2, n)
    """
    weights = hub_weights(graph)
    return np.stack([weights.sum(axis=1), np.count_nonzero(weights, axis=1).astype(np.float64)])


def partial_spearman(values: Values, reference: Values, given: Values) -> Values:
    """Spearman's ρ of measures with a reference, others held: the correlation of what is left of their ranks.

    Parameters
    ----------
    values : ndarray, shape (n_measures, n) or (n,)
    reference : ndarray, shape (n,)
    given : ndarray, shape (n_held, n)
        Their ranks, and a constant, are regressed out of the ranks of both sides.

    Returns
    -------
    ndarray, shape (n_measures,)
        NaN where the held ones leave nothing of either side, as where the reference is one of them.
    """
    ranked = ranks(np.vstack([np.atleast_2d(values), reference, given]))
    ranked -= ranked.mean(axis=1, keepdims=True)
    sides, held = ranked[: -len(given)], ranked[-len(given) :]
    fitted = np.linalg.lstsq(held.T, sides.T, rcond=None)[0]
    left = sides - (held.T @ fitted).T
    size = np.linalg.norm(left, axis=1)
    something = size > _NOTHING_LEFT * np.maximum(np.linalg.norm(sides, axis=1), np.finfo(float).tiny)
    scale = size[:-1] * size[-1]
    defined = something[:-1] & something[-1]
    return np.divide(left[:-1] @ left[-1], scale, out=np.full(len(scale), np.nan), where=defined)
