"""Gaps: regions that a subject lacks are drawn as nothing, in matrices, along curves and in brains, and counted."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biobgt.base.wording import counted

if TYPE_CHECKING:
    from biobgt.data.cohort import Subject

Values = NDArray[np.float64]
GAP_COLOUR = "#D5D9DC"  # behind matrices, whose zero is white; as bare cortex


def with_gaps(values: Values, subject: "Subject") -> Values:
    """NaN in the place of the regions that a subject lacks.

    Parameters
    ----------
    values : ndarray, shape (n_regions,) or (n_regions, n_regions)
    subject : Subject

    Returns
    -------
    ndarray of the same shape
    """
    lacking = list(subject.silent_regions)
    if not lacking:
        return values
    gaps = np.array(values, dtype=np.float64)
    gaps[lacking] = np.nan
    if gaps.ndim == 2:
        gaps[:, lacking] = np.nan
    return gaps


def gap_words(subject: "Subject") -> str:
    """A sentence on the gaps, with a space before it; empty where there is none."""
    n = len(subject.silent_regions)
    if not n:
        return ""
    return f" {counted(n, 'region')} without data {'is a gap' if n == 1 else 'are gaps'}."
