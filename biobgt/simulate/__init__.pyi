from .demo import DEMO_COHORTS, DEMO_PER_GROUP, demo_cohort
from .parameters import GroupParameters, draw_connectome, draw_series, load_parameters
from .progression import (
    SEVERITY,
    Severity,
    draw_severity,
    fade_connectivity,
    fade_series,
    simulate_progression,
    vulnerability,
)

__all__ = [
    "DEMO_COHORTS",
    "DEMO_PER_GROUP",
    "SEVERITY",
    "GroupParameters",
    "Severity",
    "demo_cohort",
    "draw_connectome",
    "draw_series",
    "draw_severity",
    "fade_connectivity",
    "fade_series",
    "load_parameters",
    "simulate_progression",
    "vulnerability",
]
