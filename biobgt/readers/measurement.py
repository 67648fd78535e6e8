"""From a table of numbers to a measurement: series or connectivity, and which axis is time.

A file's :class:`Reading` is what it holds before anybody decided what it means. :func:`interpret` decides. Which axis
is time is known from the format, from region names, from the layout of a release, or from the user; an atlas that the
user or the file's name gives settles it where only one axis has so many regions. Otherwise it is asked
(:class:`~biobgt.base.errors.ChoiceNeeded`), never guessed from the shape.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.files import asset
from biobgt.data.atlas import BUNDLED, CHOOSE_ITS_ATLAS, OTHER_PARCELLATIONS, atlas_of_names
from biobgt.data.graph import check_connectivity

Content = Literal["series", "connectivity"]
Orientation = Literal["time-region", "region-time"]

_MIN_REGIONS = 2
_MIN_TIMEPOINTS = 2

# What a file's name and place say about its contents: the layouts of public releases, BIDS entities, an atlas's name.
#
# Known layouts: ABIDE's ``*_rois_cc200.1D`` (time × region), ADHD-200's ``*_TCs.1D`` (time × region), CNI-2019's
# ``timeseries_cc200.csv`` beside ``phenotypic.csv`` (region × time) and BIDS' ``sub-*_timeseries.tsv`` (time ×
# region). BIDS names an atlas by the entities ``atlas-``, ``seg-`` and, with them or alone, ``desc-``. Of other files
# parts of the name between underscores, dashes and dots may be an atlas's (``study_aal116.npz``,
# ``schaefer_200_7networks.csv``). Either counts only where the table has as many regions as that atlas. Folders' names
# say nothing here.


_ABIDE = re.compile(r".+_\d{5,7}_rois_([a-z0-9]+)\.1d")
_ATHENA = re.compile(r".*_tcs\.1d")
_CNI = re.compile(r"timeseries_(aal|cc200|ho)\.csv")
_BIDS_SERIES = re.compile(r"sub-[a-z0-9]+_.*timeseries\.tsv")
BIDS_ATLAS = re.compile(r"(?:^|_)((?:atlas|seg)-([a-z0-9]+))(?=[_.])")
_BIDS_DESC = re.compile(r"(?:^|_)(desc-([a-z0-9]+))(?=[_.])")
_LONGEST_NAME = 3  # parts of a file's name that together may be an atlas's: schaefer2018_200parcels_7networks


@dataclass(frozen=True)
class _NamedAtlases:
    """The atlases that a file's name may mean.

    Attributes
    ----------
    bundled : tuple of str
        Short names; more than one where the name leaves the order of the regions open.
    others : tuple of str
        Known parcellations whose tables are not bundled.
    said_by : str
        Completes "told by …".
    certain : bool
        Whether a layout or a BIDS entity says so, which is put there to name the atlas.
    """

    bundled: tuple[str, ...]
    others: tuple[str, ...]
    said_by: str
    certain: bool


@dataclass(frozen=True)
class FileName:
    """What a file's name and place say.

    Attributes
    ----------
    file : str
        The name, for sentences.
    layout : str
        The release whose layout it is, or nothing.
    orientation : {"time-region", "region-time"} or None
        How that layout stores series.
    entity : str or None
        The atlas that the layout names, as it is written there: it says for certain which atlas it is, or is not.
    said_by : str
        Where the entity stands, to complete "told by …".
    desc : str or None
        The BIDS entity ``desc-``, which may name an atlas, or say more of one (``atlas-Schaefer2018_desc-200Parcels``).
    labels : tuple of str and tuple of str, or None
        The label table (``*_dseg.tsv``) that belongs to the file: its name, and the regions' names by their numbers.
    bundled : str or None
        The bundled atlas whose label image series were taken from, by its key.
    """

    file: str
    layout: str = ""
    orientation: Orientation | None = None
    entity: str | None = None
    said_by: str = ""
    desc: str | None = None
    labels: tuple[str, tuple[str, ...]] | None = None
    bundled: str | None = None

    @classmethod
    def of(cls, path: Path) -> "FileName":
        """Read what a file's name and place say."""
        name = path.name.lower()
        if match := _ABIDE.fullmatch(name):
            said = f"ABIDE's file names (rois_{match[1]})"
            return cls(path.name, "ABIDE", "time-region", match[1], said)
        if _ATHENA.fullmatch(name):
            return cls(path.name, "ADHD-200", "time-region")
        if (match := _CNI.fullmatch(name)) and path.with_name("phenotypic.csv").is_file():
            said = f"CNI-2019's file names (timeseries_{match[1]})"
            return cls(path.name, "CNI-2019", "region-time", match[1], said)
        entity, desc = BIDS_ATLAS.search(name), _BIDS_DESC.search(name)
        is_series = bool(_BIDS_SERIES.fullmatch(name))
        return cls(
            path.name,
            "BIDS" if is_series else "",
            "time-region" if is_series else None,
            entity[2] if entity else None,
            f"the BIDS entity {path.name[slice(*entity.span(1))]}" if entity else "",
            desc[2] if desc else None,
        )

    def atlases(self, n_regions: int) -> _NamedAtlases | None:
        """Return the atlases of that many regions that the name may mean; None where it means none.

        An entity that is no name of a known atlas of that size means one that is not known here.
        """
        if self.bundled is not None and BUNDLED[self.bundled].n_regions == n_regions:
            return _NamedAtlases((self.bundled,), (), self.said_by, certain=True)
        known = {key: about.pattern for key, about in BUNDLED.items() if about.n_regions == n_regions}
        sized = {name: about["pattern"] for name, about in OTHER_PARCELLATIONS.items() if n_regions in about["sizes"]}
        for texts, said_by, certain in self._texts() if known or sized else ():
            bundled, others = (
                tuple(name for name, pattern in patterns.items() if any(re.fullmatch(pattern, text) for text in texts))
                for patterns in (known, sized)
            )
            if bundled or others:
                return _NamedAtlases(bundled, others, said_by, certain)
        return _NamedAtlases((), (), self.said_by, certain=True) if self.entity is not None else None

    def names_size(self, n_regions: int) -> bool:
        """Whether the name gives a parcellation that is known to have so many regions."""
        named = self.atlases(n_regions)
        return named is not None and bool(named.bundled or named.others)

    def _texts(self) -> list[tuple[set[str], str, bool]]:
        """What may be an atlas's name, the most certain first; where it stands; whether it is put there for that."""
        found = []
        if self.entity is not None:
            found += [({self.entity + self.desc}, self.said_by, True)] if self.desc else []
            found.append(({self.entity}, self.said_by, True))
        if self.desc is not None:
            found.append(({self.desc}, "the BIDS entity desc", True))
        if self.entity is None:
            parts = re.split(r"[^a-z0-9]+", self.file.lower())
            runs = (
                {"".join(parts[i : i + length]) for i in range(len(parts) - length + 1)}
                for length in range(_LONGEST_NAME, 0, -1)
            )
            found += [(texts, "the atlas's name in the file name", False) for texts in runs]
        return found


# Names that only number regions, as releases do: they fit any atlas.
NUMBERING_NAME = re.compile(r"#?(?:mean|roi|region|node|parcel|label|r|n)?[ _.\-]?\d+", re.IGNORECASE)


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
    content : {"series", "connectivity"} or None
        What it holds, as the format or the user says.
    orientation : {"time-region", "region-time"} or None
        The user's word on which axis is time.
    options : mapping
        How the file was read (separator, variable, ...), for the provenance.
    sha256 : str
        Of the file, where its reader had all of it at once.
    group : str or None
        The subject's group, where it stands beside the numbers.
    phenotypes : mapping
        What else stands there of the subject.
    notes : tuple of str
        Sentences for the user to check.
    coordinates : ndarray, shape (n_regions, 3), or None
        Where its regions lie, in mm, where that stands beside the numbers.
    lengths : ndarray, shape (n_regions, n_regions), or None
        How long tracts are, in mm, where that stands beside them.
    """

    values: FloatArray
    region_names: tuple[str, ...] | None = None
    row_names: tuple[str, ...] | None = None
    columns_are_regions: bool = False
    subject: str | None = None
    tr: float | None = None
    simulated: bool = False
    file_name: FileName | None = None
    names_from: str | None = None
    content: Content | None = None
    orientation: Orientation | None = None
    options: Mapping[str, str | float | bool] = field(default_factory=dict)
    sha256: str = ""
    group: str | None = None
    phenotypes: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    coordinates: FloatArray | None = None
    lengths: FloatArray | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The regions' names, from wherever the file has them."""
        return self.region_names or self.row_names

    @property
    def has_names(self) -> bool:
        """Whether the regions have names that do more than number them."""
        return self.names is not None and not all(NUMBERING_NAME.fullmatch(name) for name in self.names)

    @property
    def file(self) -> str | None:
        """Name of the file it is from, where that is known."""
        return None if self.file_name is None else self.file_name.file

    @property
    def region_counts(self) -> set[int]:
        """How many regions it may have, before an atlas is chosen: one number, or two where it is open."""
        rows, columns = self.values.shape
        if self.content == "connectivity" or rows == columns or min(rows, columns) == 1:
            return {columns}
        said = self.axis_order
        if said is not None:
            return {columns if said[0] == "time-region" else rows}
        return self.sizes_by_file_name or {rows, columns}

    @property
    def axis_order(self) -> tuple[Orientation, str] | None:
        """How the table lies and what says so: format, names, user or layout, in this order; None where nothing does.

        Names of a bundled atlas come before the user, whose answer is meant for files that leave it open; names that
        no bundled atlas has may stand for anything, so the user comes before them.
        """
        by_names: Orientation = "region-time" if self.region_names is None else "time-region"
        if self.columns_are_regions:
            return "time-region", "the file format"
        if self.names is not None and atlas_of_names(self.names) is not None:
            return by_names, "region names"
        if self.orientation is not None:
            return self.orientation, "the user"
        if self.names is not None:
            return by_names, "column names" if self.region_names is not None else "row names"
        if self.file_name is not None and self.file_name.orientation is not None:
            return self.file_name.orientation, f"the layout of {self.file_name.layout}"
        return None

    @property
    def sizes_by_file_name(self) -> set[int]:
        """The lengths of axes that are the size of an atlas that the file's name gives."""
        return set() if self.file_name is None else {n for n in self.values.shape if self.file_name.names_size(n)}

    def named_by_table(self) -> "Reading":
        """Take the names of regions from the label table beside the file, where it has none and one axis is as long."""
        if self.file_name is None or self.file_name.labels is None or self.has_names:
            return self
        file, names = self.file_name.labels
        rows, columns = self.values.shape
        if columns == len(names):
            return replace(self, region_names=names, row_names=None, names_from=file)
        if rows == len(names) and not self.columns_are_regions:
            return replace(self, region_names=None, row_names=names, names_from=file)
        return self


@dataclass(frozen=True, eq=False)
class _Measurement:
    """What a reading means: checked series (time, region) or a checked connectivity matrix.

    ``orientation`` is how the file had the series, and ``orientation_by`` what decided it; empty for a matrix.
    ``mirrored`` is the triangle of a matrix that alone was filled, and was mirrored.
    """

    kind: Content
    values: FloatArray
    missing_regions: tuple[int, ...] = ()
    orientation: Orientation | None = None
    orientation_by: str = ""
    mirrored: str = ""

    def in_order(self, order: Sequence[int]) -> "_Measurement":
        """The same with its regions in an order, each given by where it stood."""
        values = self.values[:, order] if self.kind == "series" else self.values[np.ix_(order, order)]
        return replace(self, values=values, missing_regions=tuple(sorted(map(order.index, self.missing_regions))))


def interpret(reading: Reading, *, n_regions: int | None = None) -> _Measurement:
    """Decide what a reading means and check it; ``n_regions`` is the size of the atlas that was named."""
    values = reading.values
    if (reading.content or _tell_content(values)) == "connectivity":
        return _as_connectivity(values, n_regions)
    orientation, by = reading.axis_order or _orientation_by_size(reading, n_regions)
    series = values if orientation == "time-region" else values.T
    return replace(_as_series(series, n_regions), orientation=orientation, orientation_by=by)


def _tell_content(values: FloatArray) -> Content:
    rows, columns = values.shape
    if rows != columns or rows < _MIN_REGIONS:
        return "series"
    off_diagonal = np.where(np.eye(rows, dtype=bool), 0, values)
    scale = np.nanmax(np.abs(off_diagonal), initial=0)
    if np.allclose(off_diagonal, off_diagonal.T, rtol=0, atol=1e-6 * scale, equal_nan=True):
        return "connectivity"
    if filled_triangle(values):
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


def filled_triangle(matrix: FloatArray) -> str:
    """Which triangle of a square matrix alone holds values, as MRtrix writes them; empty where both do, or none.

    >>> filled_triangle(np.array([[0, 5, 7], [0, 0, 3], [0, 0, 0]]))
    'upper'
    """
    known = np.nan_to_num(matrix)
    above, below = np.triu(known, 1).any(), np.tril(known, -1).any()
    return "" if above == below else "upper" if above else "lower"


def _orientation_by_size(reading: Reading, n_regions: int | None) -> tuple[Orientation, str]:
    """Take the one axis that has as many regions as the atlas that was named, unless the values speak against it."""
    rows, columns = reading.values.shape
    if min(rows, columns) == 1:
        return "time-region", ""  # one time point or one region, and either is refused
    sizes = {n_regions} if n_regions is not None else reading.sizes_by_file_name
    ways: tuple[tuple[Orientation, int], ...] = (("time-region", columns), ("region-time", rows))
    fitting = [way for way, n in ways if n in sizes]
    if n_regions is not None and not fitting:
        raise _wrong_atlas(f"{rows} × {columns} values", n_regions)
    if len(fitting) == 1 and _suggested(_autocorrelations(reading.values)) in (None, fitting[0]):
        return fitting[0], "the number of regions of the atlas that was named"
    raise orientation_question(reading)


def _as_series(values: FloatArray, n_regions: int | None) -> _Measurement:
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
    missing = np.asarray(np.isnan(values).all(axis=0))
    series = np.where(missing, 0, values) if missing.any() else np.ascontiguousarray(values)
    if not np.isfinite(series).all():
        time, region = np.argwhere(~np.isfinite(series))[0] + 1
        raise InputError(
            f"The value at time point {time}, region {region} is {series[time - 1, region - 1]}. "
            "Interpolate or cut such time points; a region that is missing altogether may be NaN throughout."
        )
    if not np.ptp(series, axis=0).any():
        raise InputError("The series are constant in every region: there is no signal to correlate.")
    return _Measurement("series", series, tuple(np.flatnonzero(missing).tolist()))


def _as_connectivity(values: FloatArray, n_regions: int | None) -> _Measurement:
    if values.shape[0] != values.shape[1]:
        raise InputError(
            f"The matrix has {values.shape[0]} rows and {values.shape[1]} columns; connectivity is regions by regions."
        )
    if n_regions is not None and len(values) != n_regions:
        raise _wrong_atlas(f"{len(values)} regions", n_regions)
    mirrored = filled_triangle(values)
    if mirrored:  # the other one is zero, or NaN
        one = np.triu(values, 1) if mirrored == "upper" else np.tril(values, -1)
        values = one + one.T + np.diag(np.diag(values))
    matrix = values.copy()
    np.fill_diagonal(matrix, np.where(np.isfinite(np.diag(values)), np.diag(values), 0))
    off_diagonal_missing = np.isnan(values) | np.eye(len(values), dtype=bool)
    missing = off_diagonal_missing.all(axis=0) & off_diagonal_missing.all(axis=1)
    matrix[missing, :] = 0
    matrix[:, missing] = 0
    matrix = check_connectivity(matrix)
    if not (matrix - np.diag(np.diag(matrix))).any():
        raise InputError("The matrix has no connection: every value off the diagonal is zero.")
    return _Measurement("connectivity", matrix, tuple(np.flatnonzero(missing).tolist()), mirrored=mirrored)


def _wrong_atlas(found: str, n_regions: int) -> InputError:
    return InputError(f"It has {found}, and the chosen atlas has {n_regions} regions. {CHOOSE_ITS_ATLAS}")


# Which axis of a nameless table is time: what the values suggest, and the question that is asked.
#
# BOLD signals change slowly in time and at random from one region to the next, so the lag-1 autocorrelation is larger
# along time. How often that holds was measured on real cohorts (``assets/studies/time_axis.py``): in every series as
# it was released, in half of them when only every second volume is kept. It is shown with the question, never put in
# the place of the answer.

# No real series had a smaller difference in the right direction (assets/studies/time_axis.csv, as released).
_CLEAR_DIFFERENCE = 0.1
AS_RELEASED, CENTRED_TWICE = "as released", "centred twice"
_FEWEST = 3  # values along an axis that have an autocorrelation


def orientation_question(reading: Reading, *, further_files: int = 0) -> ChoiceNeeded:
    """Ask which axis is time, with what the values suggest and with what follows from either answer.

    ``further_files`` is how many more files leave the same question open.
    """
    rows, columns = reading.values.shape
    question = (
        f"The table{f' {reading.file!r}' if reading.file else ''} has {rows} rows and {columns} columns, and neither "
        "region names nor a known layout say which of them are the regions."
    )
    if further_files:
        question += f" The same holds for {further_files:,} further file{'s' if further_files > 1 else ''}."
    measured = _autocorrelations(reading.values)
    if measured is not None:
        question += f" {_what_they_suggest(measured)}"
    return ChoiceNeeded(
        question,
        option="orientation",
        choices={
            "time-region": f"{rows} time points of {columns} regions",
            "region-time": f"{columns} time points of {rows} regions",
        },
    )


def _what_they_suggest(measured: tuple[float, float]) -> str:
    """The numbers, what they suggest and how far that can be trusted."""
    along_rows, along_columns = (round(value, 2) + 0.0 for value in measured)
    numbers = f"Lag-1 autocorrelation is {along_rows:.2f} from row to row and {along_columns:.2f} from column to column"
    suggested = _suggested(measured)
    if suggested is None:
        return f"{numbers}, too close to suggest which are the time points."
    right, n_series = _record()
    return (
        f"{numbers}, which suggests that the {'rows' if suggested == 'time-region' else 'columns'} are time points: in "
        f"{right:,} of {n_series:,} real series with a repetition time of at most 3 s it was larger along time (with "
        "longer ones it says little)."
    )


def _suggested(measured: tuple[float, float] | None) -> Orientation | None:
    """How a table seems to lie; None where the two autocorrelations hardly differ, or are not known."""
    if measured is None or abs(measured[0] - measured[1]) < _CLEAR_DIFFERENCE:
        return None
    return "time-region" if measured[0] > measured[1] else "region-time"


def _autocorrelations(values: FloatArray) -> tuple[float, float] | None:
    """Mean lag-1 autocorrelation from row to row and from column to column, but for those that are NaN throughout.

    None where other values are missing, or an axis has fewer than three.
    """
    known = ~np.isnan(values)
    kept = values[known.any(axis=1)][:, known.any(axis=0)]
    if not np.isfinite(kept).all() or min(kept.shape) < _FEWEST:
        return None
    centred = centred_twice(kept)
    return lag_one_autocorrelation(centred), lag_one_autocorrelation(centred.T)


def centred_twice(values: FloatArray) -> FloatArray:
    """Take the mean of each row and of each column away: raw signals have a level of their own in every region."""
    return values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()


def lag_one_autocorrelation(values: FloatArray) -> float:
    """Mean lag-1 autocorrelation down the columns that vary."""
    centred = values - values.mean(axis=0)
    power = np.einsum("ij,ij->j", centred, centred)
    varies = power > 1e-20 * np.abs(values).max(initial=0) ** 2
    products = np.einsum("ij,ij->j", centred[1:], centred[:-1])
    return float(np.mean(products[varies] / power[varies])) if varies.any() else 0.0


@cache
def _record() -> tuple[int, int]:
    """In how many of how many real series, as they were released, the larger autocorrelation was along time."""
    table = pd.read_csv(asset("studies", "time_axis.csv"))
    used = table[(table["series are"] == AS_RELEASED) & (table["values"] == CENTRED_TWICE)]
    return int(used["larger along time"].sum()), int(used["series"].sum())
