"""Linear models on the splits of a BioBGT: fitted on its training subjects, calibrated as it is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biobgt.model.baselines import LINEAR_FEATURES, LinearBaseline, LinearFeatures
from biobgt.training.calibration import calibrated, fold_temperatures
from biobgt.training.data import LabelledGraphs
from biobgt.training.splits import Split


def linear_kinds(data: LabelledGraphs) -> tuple[LinearFeatures, ...]:
    """The linear models that the data allow; the tangent space needs series."""
    return tuple(kind for kind in LINEAR_FEATURES if kind != "tangent" or data.shrunk is not None)


def linear_logits(
    data: LabelledGraphs, split: Split, features: LinearFeatures
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit on a split's training subjects; return the logits of its validation and of its test subjects."""
    matrices = data.shrunk if features == "tangent" and data.shrunk is not None else data.matrices
    model = LinearBaseline(features, shrinkage=data.shrinkage)
    model.fit(matrices[split.train].astype(np.float64), data.labels[split.train])
    validation, test = (model.logits(matrices[rows].astype(np.float64)) for rows in (split.validation, split.test))
    return validation, test


def linear_out_of_fold(data: LabelledGraphs, splits: Sequence[Split]) -> dict[str, NDArray[np.float64]]:
    """Out-of-fold probabilities of every linear model, shape (n_subjects, n_groups) each, by its name in words."""
    found = {}
    for kind in linear_kinds(data):
        logits = np.full((len(data.labels), len(data.groups)), np.nan)
        for split in splits:
            _, logits[split.test] = linear_logits(data, split, kind)
        temperatures, _ = fold_temperatures(logits, [split.test for split in splits], data.labels)
        for split, temperature in zip(splits, temperatures, strict=True):
            logits[split.test] /= temperature
        found[LINEAR_FEATURES[kind]] = calibrated(logits, 1.0)
    return found
