"""What a table of agreement says beyond strength and degree, for every subject of a cohort."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.graph import BrainGraph
from biobgt.hubs.beyond_strength import GraphAgreement, set_against_nulls
from biobgt.hubs.measures import HUB_MEASURES, NE, NEFF
from biobgt.hubs.partial_agreement import partial_spearman, strength_and_degree
from biobgt.hubs.sweep import REFERENCES


def agreement_beyond_strength(
    graph: BrainGraph,
    table: pd.DataFrame,
    *,
    has_signal: NDArray[np.bool_],
    gamma: float,
    nulls: Sequence[GraphAgreement],
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
    nulls : sequence of GraphAgreement
        Of null graphs that keep degrees and closely strengths, at this γ; empty where none were drawn.

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
        if nulls:
            found[reference] |= {"null_low": np.nan, "null_high": np.nan, "p": np.nan}
    if nulls:
        efficiency = HUB_MEASURES[NEFF].title
        own = GraphAgreement((gamma,), {"partial": np.array([found[efficiency]["partial"]])})
        beside = set_against_nulls(own, nulls, gamma)["partial"]
        found[efficiency] |= {"null_low": beside.null_low, "null_high": beside.null_high, "p": beside.p}
    return found
