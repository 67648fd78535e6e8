"""From a table of numbers to a measurement: series or connectivity, and which axis is time.

A file's :class:`Reading` is what it holds before anybody decided what it means. :func:`interpret` decides. Which axis
is time is known from the format, from region names, from the layout of a release, or from the user; an atlas that the
user or the file's name gives settles it where only one axis has so many regions. Otherwise it is asked
(:class:`~biobgt.errors.ChoiceNeeded`), never guessed from the shape.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import atlas_of_names
from biobgt.atlas_regions import CHOOSE_ITS_ATLAS
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.graph import check_connectivity
from biobgt.readers.releases import FileName
from biobgt.readers.time_axis import Orientation, axis_evidence, orientation_question

Kind = Literal["series", "connectivity"]

# Names that only number regions, as releases do: they fit any atlas.
NUMBERING_NAME = re.compile(r"#?(?:mean|roi|region|node|parcel|label|r|n)?[ _.\-]?\d+", re.IGNORECASE)
_MIN_REGIONS = 2
_MIN_TIMEPOINTS = 2


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
    file_name : FileName or None
        What the file's name and place say.
    names_from : str or None
        The label table that gave the names, where the file itself has none.
    options : mapping
        How the file was read (separator, variable, ...), for the provenance.
    sha256 : str
        Of the file, where its reader had all of it at once.
    """

    values: NDArray[np.float64]
    region_names: tuple[str, ...] | None = None
    row_names: tuple[str, ...] | None = None
    columns_are_regions: bool = False
    subject: str | None = None
    tr: float | None = None
    simulated: bool = False
    file_name: FileName | None = None
    names_from: str | None = None
    options: Mapping[str, str | float | bool] = field(default_factory=dict)
    sha256: str = ""


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a reading means: checked series (time, region) or a checked connectivity matrix.

    ``orientation`` is how the file had the series, and ``orientation_by`` what decided it; empty for a matrix.
    """

    kind: Kind
    values: NDArray[np.float64]
    missing_regions: tuple[int, ...] = ()
    orientation: Orientation | None = None
    orientation_by: str = ""


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
        The number of regions of the atlas that the user, or the file itself, named.
    kind, orientation : str, optional
        The user's own word; it settles what the file leaves open.
    """
    values = reading.values
    kind = kind or _tell_kind(values)
    if kind == "connectivity":
        return _as_connectivity(values, n_regions)
    said = said_orientation(reading, orientation) or _orientation_by_size(reading, n_regions)
    series = values if said.orientation == "time-region" else values.T
    return replace(_as_series(series, n_regions), orientation=said.orientation, orientation_by=said.by)


@dataclass(frozen=True)
class SaidOrientation:
    """How a table lies, and what said so."""

    orientation: Orientation
    by: str


def said_orientation(reading: Reading, user: Orientation | None = None) -> SaidOrientation | None:
    """Return what is said about the axes, by format, names, user and layout in this order; None where nothing is.

    Names of a bundled atlas come before the user, whose answer is meant for files that leave it open; names that no
    bundled atlas has may stand for anything, so the user comes before them.
    """
    names = names_of_regions(reading)
    by_names: Orientation = "region-time" if reading.region_names is None else "time-region"
    if reading.columns_are_regions:
        return SaidOrientation("time-region", "the file format")
    if names is not None and atlas_of_names(names) is not None:
        return SaidOrientation(by_names, "region names")
    if user is not None:
        return SaidOrientation(user, "the user")
    if names is not None:
        return SaidOrientation(by_names, "column names" if reading.region_names is not None else "row names")
    if reading.file_name is not None and reading.file_name.orientation is not None:
        return SaidOrientation(reading.file_name.orientation, f"the layout of {reading.file_name.layout}")
    return None


def possible_region_counts(
    reading: Reading, *, kind: Kind | None = None, orientation: Orientation | None = None
) -> set[int]:
    """Count the regions a reading may have, before an atlas is chosen: one number, or two where it is open.

    Parameters
    ----------
    reading : Reading
        A table of shape (n_rows, n_columns).
    kind : {"series", "connectivity"}, optional
        The user's word on what it holds.
    orientation : {"time-region", "region-time"}, optional
        The user's word on which axis is time.
    """
    rows, columns = reading.values.shape
    if kind == "connectivity" or rows == columns or min(rows, columns) == 1:
        return {columns}
    said = said_orientation(reading, orientation)
    if said is not None:
        return {columns if said.orientation == "time-region" else rows}
    return _sizes_by_file_name(reading) or {rows, columns}


def names_of_regions(reading: Reading) -> tuple[str, ...] | None:
    """Return the regions' names, from wherever the file has them."""
    return reading.region_names or reading.row_names


def named_by_table(reading: Reading) -> Reading:
    """Take the names of regions from the label table beside the file, where it has none and one axis is as long."""
    labels = None if reading.file_name is None else reading.file_name.labels
    names = names_of_regions(reading)
    if labels is None or (names is not None and not all(NUMBERING_NAME.fullmatch(name) for name in names)):
        return reading
    rows, columns = reading.values.shape
    if columns == len(labels.names):
        return replace(reading, region_names=labels.names, row_names=None, names_from=labels.file)
    if rows == len(labels.names) and not reading.columns_are_regions:
        return replace(reading, region_names=None, row_names=labels.names, names_from=labels.file)
    return reading


def file_of(reading: Reading) -> str | None:
    """Return the name of the file a reading is from, where it is known."""
    return None if reading.file_name is None else reading.file_name.file


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


def _orientation_by_size(reading: Reading, n_regions: int | None) -> SaidOrientation:
    """Take the one axis that has as many regions as the atlas that was named, unless the values speak against it."""
    rows, columns = reading.values.shape
    if min(rows, columns) == 1:
        return SaidOrientation("time-region", "")  # one time point or one region, and either is refused
    sizes = {n_regions} if n_regions is not None else _sizes_by_file_name(reading)
    fitting: list[Orientation] = []
    if columns in sizes:
        fitting.append("time-region")
    if rows in sizes:
        fitting.append("region-time")
    if n_regions is not None and not fitting:
        raise _wrong_atlas(f"{rows} × {columns} values", n_regions)
    evidence = axis_evidence(reading.values)
    suggested = None if evidence is None else evidence.suggests
    if len(fitting) == 1 and suggested in (None, fitting[0]):
        return SaidOrientation(fitting[0], "the number of regions of the atlas that was named")
    raise orientation_question(reading.values, file=file_of(reading))


def _sizes_by_file_name(reading: Reading) -> set[int]:
    """The lengths of axes that are the size of an atlas that the file's name gives."""
    name = reading.file_name
    return set() if name is None else {n for n in reading.values.shape if name.names_size(n)}


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


def _wrong_atlas(found: str, n_regions: int) -> InputError:
    return InputError(f"It has {found}, and the chosen atlas has {n_regions} regions. {CHOOSE_ITS_ATLAS}")
