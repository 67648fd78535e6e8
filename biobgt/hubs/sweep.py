"""How one subject's node entanglement agrees with other hub measures, over the diffusion time γ and at one of them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biobgt.hubs.agreement import spearman
from biobgt.hubs.hub_options import GAMMAS
from biobgt.hubs.measures import COMPARED, HUB_MEASURES, NE
from biobgt.hubs.rank_correlation import RankCorrelation, rank_correlation
from biobgt.hubs.table import SubjectHubs

# What node entanglement is compared with, unless others are asked for.
REFERENCES = COMPARED[1:]


def subject_sweep(
    hubs: SubjectHubs, gammas: Sequence[float] = GAMMAS, *, measures: Sequence[str] = REFERENCES
) -> pd.DataFrame:
    """Correlate node entanglement with other measures over γ.

    Parameters
    ----------
    hubs : SubjectHubs
    gammas : sequence of float
        In units of 1/mean(λ).
    measures : sequence of str
        Of :data:`biobgt.hubs.HUB_MEASURES` that do not depend on γ.

    Returns
    -------
    DataFrame
        One row for each measure and γ: ``reference``, ``gamma``, ``spearman`` (NaN where either is constant).
    """
    values = hubs.entanglement(gammas)[:, hubs.has_signal]
    frames = []
    for key in measures:
        known = np.asarray(hubs.measures[key], dtype=np.float64)[hubs.has_signal]
        rho = spearman(values, known) if len(known) > 1 else np.full(len(values), np.nan)
        reference = HUB_MEASURES[key].title
        frames.append(pd.DataFrame({"reference": reference, "gamma": np.asarray(gammas, float), "spearman": rho}))
    return pd.concat(frames, ignore_index=True)


def hub_correlation(hubs: SubjectHubs, gamma: float, measure: str) -> RankCorrelation:
    """Correlate node entanglement at one γ with another measure, over the regions with signal.

    Parameters
    ----------
    hubs : SubjectHubs
    gamma : float
        In units of 1/mean(λ).
    measure : str
        A key of :data:`biobgt.hubs.HUB_MEASURES`.
    """
    values = hubs.values(gamma, (NE, measure))
    one, other = (np.asarray(values[key], dtype=np.float64)[hubs.has_signal] for key in (NE, measure))
    return rank_correlation(one, other)
