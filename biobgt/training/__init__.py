"""Training and evaluation: splits, metrics, calibration."""

from biobgt.training.calibration import calibrated, fit_temperature
from biobgt.training.intervals import Interval, bootstrap_intervals, paired_difference
from biobgt.training.metrics import (
    METRICS,
    calibration_error,
    classification_metrics,
    reliability_curve,
    roc_points,
)
from biobgt.training.splits import Split, cross_validation, leave_one_site_out, random_splits

__all__ = [
    "METRICS",
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
