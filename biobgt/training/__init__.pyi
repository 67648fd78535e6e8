from .classifier import BioBGTClassifier
from .metrics import (
    METRICS,
    Interval,
    bootstrap_intervals,
    calibration_error,
    classification_metrics,
    paired_difference,
    reliability_curve,
    roc_points,
)
from .splits import Split, cross_validation, leave_one_site_out, random_splits

__all__ = [
    "METRICS",
    "BioBGTClassifier",
    "Interval",
    "Split",
    "bootstrap_intervals",
    "calibration_error",
    "classification_metrics",
    "cross_validation",
    "leave_one_site_out",
    "paired_difference",
    "random_splits",
    "reliability_curve",
    "roc_points",
]
