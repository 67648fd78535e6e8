"""Cohorts by name: files, demos, and public cohorts that are fetched into a folder in nilearn's layout.

:func:`find_cohort` is where every command and the app ask for a cohort. Fetching is resumable, and nothing is fetched
unless asked for; files that are already in the folder, and are as they came, are not fetched again.
How large a file may be and how long it may take is in :mod:`biobgt.limits`.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import pandas as pd

from biobgt.atlas import BUNDLED
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.fetched_files import FetchedFiles, download, series_fault, table_fault
from biobgt.options import Options, option
from biobgt.output import make_folder
from biobgt.readers import ReadOptions, read_cohort
from biobgt.simulate import demo_cohort

ABIDE_TERMS = (
    "ABIDE / Preprocessed Connectomes Project: non-commercial research use; cite Craddock et al. 2013 and "
    "Di Martino et al. 2014."
)
DEMO_PREFIX = "demo:"
COHORT_WORDS = "A file, folder, .zip or .biobgt project; demo:asd; or abide, once fetched."
_ABIDE, _PHENOTYPES = "ABIDE_pcp", "Phenotypic_V1_0b_preprocessed1.csv"  # nilearn's names
ABIDE_SERVER = "https://s3.amazonaws.com/fcp-indi/data/Projects/ABIDE_Initiative"
# Those whom the raters of the Preprocessed Connectomes Project let pass, as nilearn takes them.
_PASSED = {
    "qc_rater_1": ("OK",),
    "qc_anat_rater_2": ("OK", "maybe"),
    "qc_func_rater_2": ("OK", "maybe"),
    "qc_anat_rater_3": ("OK",),
    "qc_func_rater_3": ("OK",),
}
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
        None, type_=str, title="Mirror", help="Another address (URL) to fetch from than ABIDE's own."
    )


def find_cohort(
    name: str | Path,
    *,
    atlas: str | Path | None = None,
    phenotypes: Path | None = None,
    options: ReadOptions | None = None,
    progress: Progress | None = None,
) -> Cohort:
    """Find a cohort by whatever names it: a path, a project, a demo, or a public cohort that was fetched.

    Parameters
    ----------
    name : str or Path
        A file, a folder, a ``.zip`` or a project; ``demo:asd`` and other demos; ``abide``, where nothing of that name
        lies in the working folder and ABIDE was fetched into :func:`data_folder`.
    atlas, phenotypes, options, progress
        As for :func:`biobgt.read_cohort`; a demo takes none of the first three.
    """
    if str(name).startswith(DEMO_PREFIX):
        if atlas is not None or phenotypes is not None or options not in (None, ReadOptions()):
            raise InputError(f"'{name}' is drawn, not read: leave out the atlas, the phenotypes and how to read files.")
        return demo_cohort(str(name).removeprefix(DEMO_PREFIX))
    fetched = data_folder() / _ABIDE
    path = fetched if str(name) == "abide" and not Path(name).exists() and fetched.is_dir() else Path(name)
    return read_cohort(path, atlas=atlas, phenotypes=phenotypes, options=options, progress=progress)


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
    files = _fetch_subjects(folder, options, progress)
    if not files:
        raise InputError("ABIDE's table names no subject of these.")
    table = folder / _ABIDE / _PHENOTYPES
    cohort = read_cohort(files, atlas="cc200", phenotypes=table, name=name, progress=reading)
    return replace(cohort, unmatched_rows=())  # the table is of all ABIDE, and most were not asked for


def data_folder() -> Path:
    """Where nilearn keeps public data on this machine, so that what other work fetched is not fetched again."""
    named = os.environ.get("NILEARN_DATA")
    return Path(named) if named else Path.home() / "nilearn_data"


def _fetch_subjects(folder: Path, options: FetchOptions, progress: Progress | None) -> list[Path]:
    """Fetch what is missing, subject by subject; return their files."""
    make_folder(folder)
    files, server = FetchedFiles(folder / _ABIDE), (options.mirror or ABIDE_SERVER).rstrip("/")
    phenotypes = folder / _ABIDE / _PHENOTYPES
    _fetch(f"{server}/{_PHENOTYPES}", phenotypes, files, _TABLE)
    strategy = (
        f"{'' if options.band_pass_filtering else 'no'}filt_{'' if options.global_signal_regression else 'no'}global"
    )
    where, found = f"{options.pipeline}/{strategy}", []
    names = _subjects(phenotypes, options)
    for done, name in enumerate(names, start=1):
        file = f"{name}_rois_cc200.1D"
        found.append(folder / _ABIDE / where / file)
        _fetch(f"{server}/Outputs/{where}/rois_cc200/{file}", found[-1], files, _SERIES)
        if progress is not None:
            progress(done, len(names))
    return found


def _fetch(url: str, file: Path, files: FetchedFiles, fault: Callable[[Path], str | None]) -> None:
    """Fetch a file unless it is here as it came; what came instead of a table is refused."""
    files.make_way(file, fault)
    if not file.is_file():
        make_folder(file.parent)
        download(url, file)
        files.check(file, fault)


def _subjects(phenotypes: Path, options: FetchOptions) -> list[str]:
    """Names of the subjects' files, in the table's order."""
    try:
        table = pd.read_csv(phenotypes, dtype=str)
        wanted = table["FILE_ID"].str.fullmatch(r"[A-Za-z0-9_-]+", na=False) & (table["FILE_ID"] != "no_filename")
        for rater, passed in _PASSED.items() if options.quality_checked else ():
            wanted &= table[rater].isin(passed)
    except (KeyError, ValueError):
        raise InputError(
            f"'{phenotypes.name}' is no table of ABIDE's subjects and raters. Delete it, and fetch again."
        ) from None
    return [str(name) for name in table.loc[wanted, "FILE_ID"]][: options.n_subjects]
