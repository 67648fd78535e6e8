"""Which axis of a nameless table is time: what the values suggest, and the question that is asked.

BOLD signals change slowly in time and at random from one region to the next, so the lag-1 autocorrelation is larger
along time. How often that holds was measured on real cohorts (``assets/studies/time_axis.py``): in every series as it
was released, in half of them when only every second volume is kept. It is shown with the question, never put in the
place of the answer.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.assets import asset
from biobgt.errors import ChoiceNeeded

Orientation = Literal["time-region", "region-time"]

# No real series had a smaller difference in the right direction (assets/studies/time_axis.csv, as released).
CLEAR_DIFFERENCE = 0.1
AS_RELEASED, CENTRED_TWICE = "as released", "centred twice"
_FEWEST = 3  # values along an axis that have an autocorrelation


@dataclass(frozen=True)
class AxisEvidence:
    """Mean lag-1 autocorrelation from row to row, and from column to column."""

    along_rows: float
    along_columns: float

    @property
    def suggests(self) -> Orientation | None:
        """How the table seems to lie; None where the two hardly differ."""
        difference = self.along_rows - self.along_columns
        if abs(difference) < CLEAR_DIFFERENCE:
            return None
        return "time-region" if difference > 0 else "region-time"

    def sentence(self) -> str:
        """The numbers, what they suggest and how far that can be trusted."""
        along_rows, along_columns = (round(value, 2) + 0.0 for value in (self.along_rows, self.along_columns))
        numbers = (
            f"Lag-1 autocorrelation is {along_rows:.2f} from row to row and {along_columns:.2f} from column to column"
        )
        if self.suggests is None:
            return f"{numbers}, too close to suggest which are the time points."
        time = "rows" if self.suggests == "time-region" else "columns"
        right, n_series = _record()
        return (
            f"{numbers}, which suggests that the {time} are time points: in {right:,} of {n_series:,} real series with "
            "a repetition time of at most 3 s it was larger along time (with longer ones it says little)."
        )


def axis_evidence(values: NDArray[np.float64]) -> AxisEvidence | None:
    """Measure along which axis neighbours are alike.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_columns)
        Rows and columns that are NaN throughout are left out.

    Returns
    -------
    AxisEvidence or None
        None where other values are missing, or an axis has fewer than three.
    """
    kept = values
    if not np.isfinite(values).all():
        known = ~np.isnan(values)
        kept = values[known.any(axis=1)][:, known.any(axis=0)]
        if not np.isfinite(kept).all():
            return None
    if min(kept.shape) < _FEWEST:
        return None
    centred = centred_twice(kept)
    return AxisEvidence(lag_one_autocorrelation(centred), lag_one_autocorrelation(centred.T))


def centred_twice(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take the mean of each row and of each column away: raw signals have a level of their own in every region."""
    return values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()


def lag_one_autocorrelation(values: NDArray[np.float64]) -> float:
    """Mean lag-1 autocorrelation down the columns that vary."""
    centred = values - values.mean(axis=0)
    power = np.einsum("ij,ij->j", centred, centred)
    varies = power > 1e-20 * np.abs(values).max(initial=0) ** 2
    products = np.einsum("ij,ij->j", centred[1:], centred[:-1])
    return float(np.mean(products[varies] / power[varies])) if varies.any() else 0.0


def orientation_question(values: NDArray[np.float64], *, file: str | None, further_files: int = 0) -> ChoiceNeeded:
    """Ask which axis is time, with what the values suggest and with what follows from either answer.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_columns)
    file : str or None
        Name of the file, where it is known.
    further_files : int
        How many more files leave the same question open.
    """
    rows, columns = values.shape
    evidence = axis_evidence(values)
    question = (
        f"The table{f' {file!r}' if file else ''} has {rows} rows and {columns} columns, and neither region names nor "
        "a known layout say which of them are the regions."
    )
    if further_files:
        question += f" The same holds for {further_files:,} further file{'s' if further_files > 1 else ''}."
    if evidence is not None:
        question += f" {evidence.sentence()}"
    return ChoiceNeeded(
        question,
        option="orientation",
        choices={
            "time-region": f"{rows} time points of {columns} regions",
            "region-time": f"{columns} time points of {rows} regions",
        },
    )


@cache
def _record() -> tuple[int, int]:
    """In how many of how many real series, as they were released, the larger autocorrelation was along time."""
    table = pd.read_csv(asset("studies", "time_axis.csv"))
    used = table[(table["series are"] == AS_RELEASED) & (table["values"] == CENTRED_TWICE)]
    return int(used["larger along time"].sum()), int(used["series"].sum())
