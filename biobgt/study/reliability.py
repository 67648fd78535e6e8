"""How alike recordings of the same people are: intraclass correlations of what a study measures.

The one-way random ICC(1) [Shrout & Fleiss, Psychological Bulletin 1979] of single recordings, over the people who have
several: the share of the variance that is between people. Conditions and sessions count as error.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.study.data import StudyData


def intraclass(values: FloatArray, persons: Sequence[str]) -> FloatArray:
    """ICC(1) of every feature, over people with several recordings, shape (n_features,).

    Parameters
    ----------
    values : ndarray, shape (n_recordings, n_features)
    persons : sequence of str, length n_recordings

    Returns
    -------
    ndarray, shape (n_features,)
        NaN where a feature is missing for one of them or does not vary, and where fewer than two people have several.

    Examples
    --------
    >>> intraclass(np.array([[1.0], [1.0], [3.0], [3.0]]), ["a", "a", "b", "b"]).tolist()
    [1.0]
    """
    owners = pd.Series(list(persons))
    several = owners.map(owners.value_counts()).to_numpy() > 1
    people, codes = np.unique(owners[several], return_inverse=True)
    own, sizes = values[several], np.bincount(codes) if len(codes) else np.zeros(0)
    if len(people) < 2:
        return np.full(values.shape[1], np.nan)
    means = np.stack([own[codes == code].mean(axis=0) for code in range(len(people))])
    n, n_people = len(own), len(people)
    between = (sizes[:, None] * (means - own.mean(axis=0)) ** 2).sum(axis=0) / (n_people - 1)
    within = ((own - means[codes]) ** 2).sum(axis=0) / (n - n_people)
    usual = (n - (sizes**2).sum() / n) / (n_people - 1)
    whole = between + (usual - 1) * within
    return np.asarray(np.where(whole > 0, (between - within) / np.where(whole > 0, whole, 1), np.nan))


def recordings_alike(data: StudyData) -> pd.DataFrame:
    """ICC(1) of every measure of a study, averaged over levels; of regions the median. Empty where all came once.

    Parameters
    ----------
    data : StudyData

    Returns
    -------
    DataFrame
        A row per measure: ``measure``, ``icc``, ``lowest`` and ``highest`` over regions, ``people``.
    """
    counts = pd.Series(data.persons).value_counts()
    n_people = int((counts > 1).sum())
    if n_people < 2:
        return pd.DataFrame(columns=["measure", "icc", "lowest", "highest", "people"])
    rows = []
    for key, values in data.regions.items():
        icc = intraclass(data.area(values), data.persons)
        known = icc[np.isfinite(icc)]
        if len(known):
            rows.append((key, float(np.median(known)), float(known.min()), float(known.max()), n_people))
    for key, values in data.network.items():
        one = float(intraclass(data.area(values)[:, None], data.persons)[0])
        if np.isfinite(one):
            rows.append((key, one, one, one, n_people))
    return pd.DataFrame(rows, columns=["measure", "icc", "lowest", "highest", "people"])
