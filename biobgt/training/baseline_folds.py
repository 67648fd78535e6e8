"""Baselines on the splits of a BioBGT: fitted on its training subjects, calibrated as it is."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from biobgt.model.baselines import BASELINES, Baseline, BaselineModel
from biobgt.model.calibration import calibrated, fold_temperatures
from biobgt.training.data import LabelledGraphs
from biobgt.training.intervals import paired_difference
from biobgt.training.metrics import classification_metrics
from biobgt.training.splits import Split


def possible_baselines(data: LabelledGraphs) -> tuple[Baseline, ...]:
    """The baselines that the data allow: shrunk correlations need series."""
    return tuple(baseline for baseline in BASELINES.values() if not baseline.shrunk or data.shrunk is not None)


def fitted_baseline(
    data: LabelledGraphs, split: Split, baseline: Baseline
) -> tuple[BaselineModel, NDArray[np.float64], NDArray[np.float64]]:
    """Fit on a split's training subjects; return the model, and the logits of its validation and test subjects.

    Parameters
    ----------
    data : LabelledGraphs
    split : Split
    baseline : Baseline
        One that the data allow.

    Returns
    -------
    model : BaselineModel
    validation, test : ndarray, shape (n_subjects, n_groups)
    """
    matrices = data.shrunk if baseline.shrunk and data.shrunk is not None else data.matrices
    model = baseline.build(data.shrinkage)
    model.fit(matrices[split.train].astype(np.float64), data.labels[split.train])
    validation, test = (model.logits(matrices[rows].astype(np.float64)) for rows in (split.validation, split.test))
    return model, validation, test


def baseline_logits(
    data: LabelledGraphs, split: Split, baseline: Baseline
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The logits of :func:`fitted_baseline` alone.

    Parameters
    ----------
    data : LabelledGraphs
    split : Split
    baseline : Baseline

    Returns
    -------
    validation, test : ndarray, shape (n_subjects, n_groups)
    """
    return fitted_baseline(data, split, baseline)[1:]


def baselines_out_of_fold(data: LabelledGraphs, splits: Sequence[Split]) -> dict[str, NDArray[np.float64]]:
    """Out-of-fold probabilities of every baseline, shape (n_subjects, n_groups) each, by its title."""
    found = {}
    for baseline in possible_baselines(data):
        logits = np.full((len(data.labels), len(data.groups)), np.nan)
        for split in splits:
            _, logits[split.test] = baseline_logits(data, split, baseline)
        temperatures, _ = fold_temperatures(logits, [split.test for split in splits], data.labels)
        for split, temperature in zip(splits, temperatures, strict=True):
            logits[split.test] /= temperature
        found[baseline.title] = calibrated(logits, 1.0)
    return found


def paired_auc(
    data: LabelledGraphs, probabilities: Mapping[str, NDArray[np.float64]], splits: Sequence[Split]
) -> dict[str, dict[str, float | None]]:
    """AUC of the model minus that of each linear model, fold by fold, as a card holds it.

    Parameters
    ----------
    data : LabelledGraphs
    probabilities : mapping of str to ndarray, shape (n_subjects, n_groups)
        Out of fold; the first is the model's.
    splits : sequence of Split
        The folds.

    Returns
    -------
    dict of str to dict
        Of each linear model the mean ``difference`` over folds and its 95 % interval, ``low`` and ``high``, corrected
        for training sets that overlap (:func:`biobgt.training.intervals.paired_difference`).
    """
    by_fold = {
        name: [
            classification_metrics(data.labels[split.test], values[split.test], data.groups)["auc"] for split in splits
        ]
        for name, values in probabilities.items()
    }
    (own, *others), ratio = by_fold, sum(len(one.test) for one in splits) / sum(len(one.train) for one in splits)
    found = {other: paired_difference(by_fold[own], by_fold[other], test_train_ratio=ratio) for other in others}
    names = {"difference": "mean", "low": "corrected_low", "high": "corrected_high"}
    return {other: {key: _rounded(one[name]) for key, name in names.items()} for other, one in found.items()}


def _rounded(value: float) -> float | None:
    return round(float(value), 4) if np.isfinite(value) else None
