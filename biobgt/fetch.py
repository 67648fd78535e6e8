"""Fetching public cohorts with nilearn, resumably, into a folder that :func:`biobgt.read_cohort` reads.

Nothing is fetched unless asked for; files that are already in the folder, and are as they came, are not fetched again.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from biobgt.atlas import BUNDLED
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.fetched_files import FetchedFiles, series_fault, table_fault
from biobgt.options import Options, option
from biobgt.output import make_folder
from biobgt.readers import read_cohort

ABIDE_TERMS = (
    "ABIDE / Preprocessed Connectomes Project: non-commercial research use; cite Craddock et al. 2013 and "
    "Di Martino et al. 2014."
)
_ABIDE, _PHENOTYPES = "ABIDE_pcp", "Phenotypic_V1_0b_preprocessed1.csv"  # nilearn's names
_SERIES = partial(series_fault, n_regions=BUNDLED["cc200"].n_regions)
_TABLE = partial(table_fault, column="FILE_ID")
Progress = Callable[[int, int], None]
Pipeline = Literal["cpac", "ccs", "dparsf", "niak"]
PIPELINES: Mapping[Pipeline, str] = {"cpac": "C-PAC", "ccs": "CCS", "dparsf": "DPARSF", "niak": "NIAK"}
ABIDE_SUBJECTS = 1112


@dataclass(frozen=True)
class FetchOptions(Options):
    """Which derivatives of ABIDE to fetch (names as in the Preprocessed Connectomes Project)."""

    n_subjects: int | None = option(
        None,
        type_=int,
        title="Subjects",
        help="Fetch only the first N subjects of ABIDE's table, which lists one site after the other.",
        low=1,
        high=ABIDE_SUBJECTS,
    )
    pipeline: Pipeline = option("cpac", choices=PIPELINES, shown=PIPELINES, title="Preprocessing pipeline")
    band_pass_filtering: bool = option(
        True,
        title="Band-passed series (0.01 to 0.1 Hz)",
        flag="--band-pass/--no-band-pass",
    )
    global_signal_regression: bool = option(True, title="Global signal removed")
    quality_checked: bool = option(True, title="Only subjects whose data passed ABIDE's quality check")
    mirror: str | None = option(
        None, type_=str, title="Mirror", help="Another address (URL) to fetch from than nilearn's own."
    )


def fetch_abide(folder: Path, options: FetchOptions | None = None, *, progress: Progress | None = None) -> Path:
    """Fetch ABIDE's CC200 region series one subject at a time.

    Parameters
    ----------
    folder : Path
        Where the cohort goes, in nilearn's layout (``ABIDE_pcp/<pipeline>/<strategy>/*_rois_cc200.1D``).
    options : FetchOptions, optional
    progress : callable, optional
        Told (done, total) after each subject.

    Returns
    -------
    Path
        The folder to read.
    """
    _fetch_subjects(folder, options or FetchOptions(), progress)
    return folder / _ABIDE


def abide_cohort(
    folder: Path,
    options: FetchOptions | None = None,
    *,
    name: str = "ABIDE",
    progress: Progress | None = None,
    reading: Progress | None = None,
) -> Cohort:
    """Fetch subjects of ABIDE and read exactly those, whatever else was fetched into the folder before.

    Parameters
    ----------
    folder : Path
    options : FetchOptions, optional
    name : str
        The cohort's.
    progress, reading : callable, optional
        Told (done, total) after each subject that was fetched, and after each that was read.
    """
    options = options or FetchOptions()
    ids = _fetch_subjects(folder, options, progress)
    files = [file for subject in ids for file in _files_of(folder, options, subject)]
    if not files:
        raise InputError("ABIDE's server gave no region series of these subjects.")
    table = folder / _ABIDE / _PHENOTYPES
    cohort = read_cohort(files, atlas="cc200", phenotypes=table, name=name, progress=reading)
    return replace(cohort, unmatched_rows=())  # the table is of all ABIDE, and most were not asked for


def data_folder() -> Path:
    """Where nilearn keeps public data on this machine, so that what other work fetched is not fetched again."""
    named = os.environ.get("NILEARN_DATA")
    return Path(named) if named else Path.home() / "nilearn_data"


def _fetch_subjects(folder: Path, options: FetchOptions, progress: Progress | None) -> list[int]:
    """Fetch what is missing, subject by subject; return their numbers."""
    make_folder(folder)
    files = FetchedFiles(folder / _ABIDE)
    phenotypes = folder / _ABIDE / _PHENOTYPES
    files.make_way(phenotypes, _TABLE)
    try:
        # Without derivatives nilearn brings the phenotypic file alone, filtered as asked.
        table = _fetch(folder, options, derivatives=[])["phenotypic"]
    except InputError:
        raise
    except (ValueError, KeyError):  # nilearn could make nothing of what came
        files.check(phenotypes, _TABLE)
        raise
    files.check(phenotypes, _TABLE)
    ids = [int(subject) for subject in table["SUB_ID"]][: options.n_subjects]
    for i, subject in enumerate(ids, start=1):
        _fetch_subject(folder, options, subject, files)
        if progress is not None:
            progress(i, len(ids))
    return ids


def _fetch_subject(folder: Path, options: FetchOptions, subject: int, files: FetchedFiles) -> None:
    """Fetch a subject's series unless it is here as it came; what came instead of a table is refused."""
    for file in _files_of(folder, options, subject):
        files.make_way(file, _SERIES)
    if _files_of(folder, options, subject):
        return
    try:
        _fetch(folder, options, derivatives=["rois_cc200"], SUB_ID=[subject])
    except InputError:
        raise
    except ValueError:  # nilearn could make nothing of what came
        for file in _files_of(folder, options, subject):
            files.check(file, _SERIES)
        raise
    for file in _files_of(folder, options, subject):
        files.check(file, _SERIES)


def _fetch(folder: Path, options: FetchOptions, **which: Any) -> Any:
    from nilearn.datasets import fetch_abide_pcp

    try:
        return fetch_abide_pcp(
            data_dir=str(folder),
            pipeline=options.pipeline,  # nilearn's signature has "css", ABIDE's folder is "ccs"
            band_pass_filtering=options.band_pass_filtering,
            global_signal_regression=options.global_signal_regression,
            quality_checked=options.quality_checked,
            url=options.mirror,
            verbose=0,
            **which,
        )
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise InputError(f"Nothing can be written to '{folder}' ({error.strerror}).") from None
    except OSError as error:  # requests' errors are OSErrors
        raise InputError(
            f"ABIDE could not be fetched: its server was not reached ({type(error).__name__}). Check the network and "
            "try again; what is already in the folder is kept."
        ) from None


def _files_of(folder: Path, options: FetchOptions, subject: int) -> list[Path]:
    """A subject's series in the folder."""
    strategy = (
        f"{'' if options.band_pass_filtering else 'no'}filt_{'' if options.global_signal_regression else 'no'}global"
    )
    return sorted((folder / _ABIDE / options.pipeline / strategy).glob(f"*_{subject:07d}_rois_cc200.1D"))
