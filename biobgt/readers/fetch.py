"""Cohorts by name: files, demos, and public cohorts that are fetched into a folder in nilearn's layout.

:func:`find_cohort` is where every command and the app ask for a cohort. Fetching is resumable, and nothing is fetched
unless asked for; files that are already in the folder, and are as they came, are not fetched again. How large a file
may be and how long it may take is in :mod:`biobgt.base.limits`.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from biobgt.base.arrays import KeepArray
from biobgt.base.errors import InputError
from biobgt.base.files import atomic_file, make_folder, sha256, write_atomically
from biobgt.base.limits import current_limits, how_to_raise
from biobgt.base.options import Options, option
from biobgt.data.atlas import BUNDLED
from biobgt.data.cohort import Cohort
from biobgt.data.simulate import demo_cohort
from biobgt.readers import ReadOptions, read_cohort

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
Progress = Callable[[int, int], None]
Pipeline = Literal["cpac", "ccs", "dparsf", "niak"]
PIPELINES: Mapping[Pipeline, str] = {"cpac": "C-PAC", "ccs": "CCS", "dparsf": "DPARSF", "niak": "NIAK"}
_ABIDE_SUBJECTS = 1112


@dataclass(frozen=True)
class FetchOptions(Options):
    """Which derivatives of ABIDE to fetch (names as in the Preprocessed Connectomes Project)."""

    n_subjects: int | None = option(
        None,
        title="Subjects",
        help="Fetch only the first N subjects of ABIDE's table, which lists one site after the other.",
        low=1,
        high=_ABIDE_SUBJECTS,
    )
    pipeline: Pipeline = option("cpac", choices=PIPELINES, shown=PIPELINES, title="Preprocessing pipeline")
    band_pass_filtering: bool = option(
        True, title="Band-passed series (0.01 to 0.1 Hz)", flag="--band-pass/--no-band-pass"
    )
    global_signal_regression: bool = option(True, title="Global signal removed")
    quality_checked: bool = option(True, title="Only subjects whose data passed ABIDE's quality check")
    mirror: str | None = option(None, title="Mirror", help="Another address (URL) to fetch from than ABIDE's own.")


def find_cohort(
    name: str | Path,
    *,
    atlas: str | Path | None = None,
    phenotypes: Path | None = None,
    options: ReadOptions | None = None,
    progress: Progress | None = None,
    keep: KeepArray = lambda values: values,
) -> Cohort:
    """Find a cohort by whatever names it: a path, a project, a demo, or a public cohort that was fetched.

    Parameters
    ----------
    name : str or Path
        A file, a folder, a ``.zip`` or a project; ``demo:asd`` and other demos; ``abide``, where nothing of that name
        lies in the working folder and ABIDE was fetched into :func:`data_folder`.
    atlas, phenotypes, options, progress, keep
        As for :func:`biobgt.read_cohort`; a demo takes none of the first three.
    """
    if str(name).startswith(DEMO_PREFIX):
        if atlas is not None or phenotypes is not None or options not in (None, ReadOptions()):
            raise InputError(f"'{name}' is drawn, not read: leave out the atlas, the phenotypes and how to read files.")
        return demo_cohort(str(name).removeprefix(DEMO_PREFIX))
    fetched = data_folder() / _ABIDE
    path = fetched if str(name) == "abide" and not Path(name).exists() and fetched.is_dir() else Path(name)
    return read_cohort(path, atlas=atlas, phenotypes=phenotypes, options=options, progress=progress, keep=keep)


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
    files, server = _FetchedFiles(folder / _ABIDE), (options.mirror or ABIDE_SERVER).rstrip("/")
    phenotypes = folder / _ABIDE / _PHENOTYPES
    files.fetch(f"{server}/{_PHENOTYPES}", phenotypes, _table_fault)
    strategy = (
        f"{'' if options.band_pass_filtering else 'no'}filt_{'' if options.global_signal_regression else 'no'}global"
    )
    where, found = f"{options.pipeline}/{strategy}", []
    names = _subjects(phenotypes, options)
    for done, name in enumerate(names, start=1):
        file = f"{name}_rois_cc200.1D"
        found.append(folder / _ABIDE / where / file)
        files.fetch(f"{server}/Outputs/{where}/rois_cc200/{file}", found[-1], _series_fault)
        if progress is not None:
            progress(done, len(names))
    return found


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


# Whether what came over the network is the table that was asked for, and is still as it came.
#
# A login page or a proxy answers any address with a web page. So every file is looked into when it arrives, its
# SHA-256 is kept beside the data, and the next run compares: what has changed since, or never was a table, is fetched
# again. A server may also send without end, or a byte a minute: each file has a size and a time that it may take.

_RECORD, _CHANGED = "fetched.json", ".changed"
_AT_ONCE, _CONNECTING_S, _SILENT_S = 2**16, 15, 60


class _FetchedFiles:
    """The files of a cohort's folder that are known to be what was asked for, by their SHA-256."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, str] = {}
        with suppress(OSError, ValueError):  # not there yet, or damaged: files are looked into again
            known = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
            self._known = {str(name): str(digest) for name, digest in known.items()} if isinstance(known, dict) else {}

    def fetch(self, url: str, file: Path, fault: Callable[[Path], str | None]) -> None:
        """Fetch a file unless it is here as it came; what came instead of a table is refused.

        A table that was changed since stays beside the new one, with ``.changed`` behind its name; what is no table at
        all is deleted. A file that was never recorded is looked into, and recorded.
        """
        name = file.relative_to(self.folder).as_posix()
        known = self._known.get(name)
        if file.is_file():
            digest = sha256(file)
            if known == digest:
                return
            if (_web_page(file) or fault(file)) is not None:
                file.unlink()
            elif known is None:
                self._keep(name, digest)
                return
            else:
                file.replace(file.with_name(file.name + _CHANGED))
        make_folder(file.parent)
        _download(url, file)
        digest = sha256(file)
        if known != digest and (found := _web_page(file) or fault(file)) is not None:
            file.unlink()
            raise InputError(
                f"What came over the network as '{file.name}' {found}, and was not kept. If this network has a login "
                "page or a proxy, open a web page in a browser first, then fetch again; what is already there is kept."
            )
        self._keep(name, digest)

    def _keep(self, name: str, digest: str) -> None:
        self._known[name] = digest
        with suppress(PermissionError):  # others' data in a folder to read only: looked into each time
            write_atomically(self.folder / _RECORD, json.dumps(self._known, indent=1, sort_keys=True) + "\n")


def _web_page(file: Path) -> str | None:
    with file.open("rb") as stream:
        start = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    return "is a web page" if start.startswith(b"<") else None


def _series_fault(file: Path) -> str | None:
    """Say why a file is no table of region series, or None where it is one."""
    n_regions = BUNDLED["cc200"].n_regions
    try:
        values = np.loadtxt(file, ndmin=2)
    except ValueError:  # UnicodeDecodeError is one
        return "is no table of numbers, or is cut short"
    if values.size == 0:
        return "is empty"
    return None if values.shape[1] == n_regions else f"has {values.shape[1]} columns, not {n_regions}"


def _table_fault(file: Path) -> str | None:
    """Say why a file is no table of ABIDE's subjects, or None where it is one."""
    with file.open(encoding="utf-8", errors="replace") as stream:
        names = [name.strip().strip('"') for name in stream.readline(100_000).split(",")]
    return None if "FILE_ID" in names else "is no table with a column FILE_ID"


def _download(url: str, file: Path) -> None:
    """Bring a file over the network into a folder that is there, whole or not at all, within its size and time."""
    import requests
    import urllib3

    limits, end = current_limits(), time.monotonic() + current_limits().fetch_seconds
    what = f"What came over the network as '{file.name}'"
    try:
        with (
            atomic_file(file) as unfinished,
            unfinished.open("wb", buffering=0) as target,
            requests.get(url, stream=True, timeout=(_CONNECTING_S, _SILENT_S)) as answer,
        ):
            answer.raise_for_status()
            n_bytes = 0
            while piece := answer.raw.read1(_AT_ONCE, decode_content=True):  # what there is, without waiting for more
                n_bytes += len(piece)
                limits.check("fetch_bytes", n_bytes, what)
                if time.monotonic() > end:
                    raise InputError(
                        f"{what} was not there after {limits.fetch_seconds} seconds, and was not kept. Try again, or "
                        f"{how_to_raise('fetch_seconds', 2 * limits.fetch_seconds)}."
                    )
                target.write(piece)
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise InputError(f"Nothing can be written to '{file.parent}' ({error.strerror}).") from None
    except (OSError, urllib3.exceptions.HTTPError) as error:  # requests' errors are OSErrors
        raise InputError(
            f"'{file.name}' could not be fetched: its server was not reached, or ended early "
            f"({type(error).__name__}). Check the network and try again; what is already in the folder is kept."
        ) from None
