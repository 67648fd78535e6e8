"""What a table of agreement says beyond strength and degree, for every subject of a cohort."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.graph import BrainGraph
from biobgt.hubs.beyond_strength import GraphAgreement, null_agreement, set_against_nulls
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.hubs.partial_agreement import partial_spearman, strength_and_degree
from biobgt.hubs.perturbation import Perturbation
from biobgt.hubs.sweep import REFERENCES


def agreement_beyond_strength(
    graph: BrainGraph,
    table: pd.DataFrame,
    *,
    has_signal: NDArray[np.bool_],
    gamma: float,
    perturbation: Perturbation,
    n_nulls: int,
    seed: int,
) -> Mapping[str, Mapping[str, float]]:
    """Give the columns that stand beside Spearman's ρ for each reference of one subject.

    Parameters
    ----------
    graph : BrainGraph
    table : DataFrame
        Its :func:`biobgt.hubs.hub_table`, at the same γ and perturbation.
    has_signal : ndarray of bool, shape (n_regions,)
    gamma : float
        In units of 1/mean(λ).
    perturbation : {"control", "remove"}
    n_nulls : int
        Null graphs that keep degrees and closely strengths; 0 for none.
    seed : int
        Null graph i is drawn with ``seed + i``.

    Returns
    -------
    mapping of str to mapping of str to float
        By the names of references: ``partial`` (given strength and degree), and, where null graphs were drawn,
        ``null_low``, ``null_high`` and ``p`` of that partial correlation. No null graph has an FC strength, which is
        of the full connectivity.
    """
    held = strength_and_degree(graph)[:, has_signal]
    entanglement = table.loc[has_signal, NE].to_numpy(float)
    found: dict[str, dict[str, float]] = {}
    for column in REFERENCES:
        reference = HUB_MEASURES[column].title
        known = table.loc[has_signal, column].to_numpy(float)
        partial = float(partial_spearman(entanglement, known, held)[0]) if len(known) > 1 else np.nan
        found[reference] = {"partial": partial}
        if n_nulls:
            found[reference] |= {"null_low": np.nan, "null_high": np.nan, "p": np.nan}
    if n_nulls:
        own = GraphAgreement((gamma,), {"partial": np.array([found["node efficiency"]["partial"]])})
        options = {"has_signal": has_signal, "perturbation": perturbation}
        nulls = [null_agreement(graph, (gamma,), seed=seed + number, **options) for number in range(n_nulls)]  # type: ignore[arg-type]
        beside = set_against_nulls(own, nulls, gamma)["partial"]
        found["node efficiency"] |= {"null_low": beside.null_low, "null_high": beside.null_high, "p": beside.p}
    return found
