"""Subjects that were never scanned: the demo cohorts, and the simulated Alzheimer's progression.

Every subject made here has ``simulated`` set, and whatever shows it must say so. How they are made and how
far they can be trusted is written in ``docs/simulation.md``.
"""

from biobgt.simulate.demo import DEMO_COHORTS, demo_cohort
from biobgt.simulate.parameters import GroupParameters, draw_connectome, draw_series, load_parameters
from biobgt.simulate.progression import (
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
