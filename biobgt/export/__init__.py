"""Export: figures for a paper with the numbers behind them, a methods text, provenance, and how to make them again.

Importing this package is quick; :mod:`biobgt.export.bundle` brings matplotlib.
"""

from biobgt.base.options import Plain
from biobgt.export.request import CohortRef, FigureRequest, cohort_sha256

__all__ = ["CohortRef", "FigureRequest", "Plain", "cohort_sha256"]
