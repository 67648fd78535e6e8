from .classifier import BioBGTClassifier
from .cohorts import Split, cross_validation, leave_one_site_out, random_splits
from .metrics import (
    METRICS,
    Interval,
    bootstrap_intervals,
    calibrated,
    calibration_error,
    classification_metrics,
    fit_temperature,
    paired_difference,
    reliability_curve,
    roc_points,
)

__all__ = [
    "METRICS",
    "BioBGTClassifier",
    "Interval",
    "Split",
    "bootstrap_intervals",
    "calibrated",
    "calibration_error",
    "classification_metrics",
    "cross_validation",
    "fit_temperature",
    "leave_one_site_out",
    "paired_difference",
    "random_splits",
    "reliability_curve",
    "roc_points",
]
