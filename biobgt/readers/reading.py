"""From a table of numbers to a measurement: series or connectivity, and which axis is time.

A file's :class:`Reading` is what it holds before anybody decided what it means. :func:`interpret` decides from
shape and content, and asks (:class:`~biobgt.errors.ChoiceNeeded`) where two readings fit; it never guesses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import BUNDLED
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.graph import check_connectivity

Kind = Literal["series", "connectivity"]
Orientation = Literal["time-region", "region-time"]

_MIN_REGIONS = 2
_MIN_TIMEPOINTS = 2
_CLEARLY_SMOOTHER = 0.1


@dataclass(frozen=True, eq=False)
class Reading:
    """The numbers of one subject as a file holds them.

    Attributes
    ----------
    values : ndarray, shape (n_rows, n_columns)
        May hold NaN.
    region_names : tuple of str or None
        Column names, where the file has them and they do more than count: then the columns are known to be regions.
    row_names : tuple of str or None
        Row labels, where the file has them: without column names, the rows are then known to be regions.
    columns_are_regions : bool
        True where the format itself says so.
    subject : str or None
        The subject's id, where it stands inside the file.
    tr : float or None
        Seconds between time points, where the file says so.
    simulated : bool
        True where the file says that it holds a drawn subject.
    options : mapping
        How the file was read (separator, variable, ...), for the provenance.
    """

    values: NDArray[np.float64]
    region_names: tuple[str, ...] | None = None
    row_names: tuple[str, ...] | None = None
    columns_are_regions: bool = False
    subject: str | None = None
    tr: float | None = None
    simulated: bool = False
    options: Mapping[str, str | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a reading means: checked series (time, region) or a checked connectivity matrix.

    ``orientation`` is how the file had the series; None for a matrix.
    """

    kind: Kind
    values: NDArray[np.float64]
    missing_regions: tuple[int, ...] = ()
    orientation: Orientation | None = None


def interpret(
    reading: Reading,
    *,
    n_regions: int | None = None,
    kind: Kind | None = None,
    orientation: Orientation | None = None,
) -> Measurement:
    """Decide what a reading means and check it.

    Parameters
    ----------
    reading : Reading
    n_regions : int, optional
        The atlas's number of regions, where the atlas is known.
    kind, orientation : str, optional
        The user's own word; it settles what shape and content leave open.
    """
    values = reading.values
    kind = kind or _tell_kind(values)
    if kind == "connectivity":
        return _as_connectivity(values, n_regions)
    orientation = orientation or _tell_orientation(reading, n_regions)
    series = values if orientation == "time-region" else values.T
    return replace(_as_series(series, n_regions), orientation=orientation)


def possible_region_counts(
    reading: Reading, *, kind: Kind | None = None, orientation: Orientation | None = None
) -> set[int]:
    """Count the regions a reading may have, before an atlas is chosen: one number, or two where it is open."""
    rows, columns = reading.values.shape
    orientation = orientation or _orientation_by_names(reading)
    if orientation is not None and kind != "connectivity":
        return {columns if orientation == "time-region" else rows}
    if kind == "connectivity" or rows == columns:
        return {columns}
    known = _bundled_sizes() & {rows, columns}
    return known or {rows, columns}


def names_of_regions(reading: Reading) -> tuple[str, ...] | None:
    """Return the regions' names, from wherever the file has them."""
    return reading.region_names or reading.row_names


def _tell_kind(values: NDArray[np.float64]) -> Kind:
    rows, columns = values.shape
    if rows != columns or rows < _MIN_REGIONS:
        return "series"
    off_diagonal = np.where(np.eye(rows, dtype=bool), 0, values)
    scale = np.nanmax(np.abs(off_diagonal), initial=0)
    if np.allclose(off_diagonal, off_diagonal.T, rtol=0, atol=1e-6 * scale, equal_nan=True):
        return "connectivity"
    diagonal = np.diag(values)[np.isfinite(np.diag(values))]
    if diagonal.size == 0 or np.ptp(diagonal) <= 1e-6 * np.abs(diagonal).max():
        return "connectivity"  # a constant diagonal is no time series; the check then says what is asymmetric
    raise ChoiceNeeded(
        f"The table is square ({rows} × {columns}) and not symmetric: it may be series with as many time points as "
        "regions, or a damaged or directed connectivity matrix.",
        option="kind",
        choices=("series", "connectivity"),
    )


def _tell_orientation(reading: Reading, n_regions: int | None) -> Orientation:
    by_names = _orientation_by_names(reading)
    if by_names is not None:
        return by_names
    rows, columns = reading.values.shape
    if min(rows, columns) == 1:
        return "time-region"  # one time point or one region, and either is refused
    sizes = {n_regions} if n_regions is not None else _bundled_sizes()
    fitting: list[Orientation] = []
    if columns in sizes:
        fitting.append("time-region")
    if rows in sizes:
        fitting.append("region-time")
    if n_regions is not None and not fitting:
        raise _wrong_atlas(f"{rows} × {columns} values", n_regions)
    if len(fitting) == 1 and (n_regions is not None or _smoother_along(reading.values) == fitting[0]):
        return fitting[0]
    raise ChoiceNeeded(
        f"The table has {rows} rows and {columns} columns without names, and neither their numbers nor the values say "
        "for sure which of them are the regions.",
        option="orientation",
        choices=("time-region", "region-time"),
    )


def _orientation_by_names(reading: Reading) -> Orientation | None:
    if reading.region_names is not None or reading.columns_are_regions:
        return "time-region"
    return "region-time" if reading.row_names is not None else None


def _smoother_along(values: NDArray[np.float64]) -> Orientation | None:
    """Tell along which axis neighbours are alike: BOLD signals change slowly in time and at random between regions.

    On the real cohorts the mean lag-1 autocorrelation was 0.6 to 0.8 along time and at most 0.4 along regions. None
    where the two differ by less than 0.1.
    """
    if not np.isfinite(values).all() or min(values.shape) < 3:
        return None
    along_rows, along_columns = _autocorrelation(values), _autocorrelation(values.T)
    if abs(along_rows - along_columns) < _CLEARLY_SMOOTHER:
        return None
    return "time-region" if along_rows > along_columns else "region-time"


def _autocorrelation(values: NDArray[np.float64]) -> float:
    """Mean lag-1 autocorrelation down the columns that vary."""
    centred = values - values.mean(axis=0)
    power = np.einsum("ij,ij->j", centred, centred)
    products = np.einsum("ij,ij->j", centred[1:], centred[:-1])
    return float(np.mean(products[power > 0] / power[power > 0])) if (power > 0).any() else 0.0


def _as_series(values: NDArray[np.float64], n_regions: int | None) -> Measurement:
    n_timepoints, columns = values.shape
    if n_regions is not None and columns != n_regions:
        raise _wrong_atlas(f"{columns} regions", n_regions)
    if columns < _MIN_REGIONS:
        raise InputError(f"The series have {columns} region; a network needs at least {_MIN_REGIONS}.")
    if n_timepoints < _MIN_TIMEPOINTS:
        raise InputError(
            f"The series have {n_timepoints} time point; connectivity needs at least {_MIN_TIMEPOINTS}, "
            "and reliable connectivity a hundred or more."
        )
    missing: NDArray[np.bool_] = np.asarray(np.isnan(values).all(axis=0))
    series = _without_missing(values, missing)
    if not np.isfinite(series).all():
        time, region = np.argwhere(~np.isfinite(series))[0] + 1
        raise InputError(
            f"The value at time point {time}, region {region} is {series[time - 1, region - 1]}. "
            "Interpolate or cut such time points; a region that is missing altogether may be NaN throughout."
        )
    if not np.ptp(series, axis=0).any():
        raise InputError("The series are constant in every region: there is no signal to correlate.")
    return Measurement("series", series, tuple(np.flatnonzero(missing).tolist()))


def _as_connectivity(values: NDArray[np.float64], n_regions: int | None) -> Measurement:
    if values.shape[0] != values.shape[1]:
        raise InputError(
            f"The matrix has {values.shape[0]} rows and {values.shape[1]} columns; connectivity is regions by regions."
        )
    if n_regions is not None and len(values) != n_regions:
        raise _wrong_atlas(f"{len(values)} regions", n_regions)
    matrix = values.copy()
    np.fill_diagonal(matrix, np.where(np.isfinite(np.diag(values)), np.diag(values), 0))
    off_diagonal_missing = np.isnan(values) | np.eye(len(values), dtype=bool)
    missing = off_diagonal_missing.all(axis=0) & off_diagonal_missing.all(axis=1)
    matrix[missing, :] = 0
    matrix[:, missing] = 0
    matrix = check_connectivity(matrix)
    if not (matrix - np.diag(np.diag(matrix))).any():
        raise InputError("The matrix has no connection: every value off the diagonal is zero.")
    return Measurement("connectivity", matrix, tuple(np.flatnonzero(missing).tolist()))


def _without_missing(values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    if missing.any():
        return np.where(missing, 0, values)
    return np.ascontiguousarray(values)


def _bundled_sizes() -> set[int]:
    return {about.n_regions for about in BUNDLED.values()}


def _wrong_atlas(found: str, n_regions: int) -> InputError:
    return InputError(
        f"It has {found}, and the chosen atlas has {n_regions} regions. Choose the atlas the data were extracted with."
    )
