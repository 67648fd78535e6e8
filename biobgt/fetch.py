"""Fetching public cohorts with nilearn, resumably, into a folder that :func:`biobgt.read_cohort` reads.

Nothing is fetched unless asked for; files that are already in the folder are kept and not fetched again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from biobgt.errors import InputError
from biobgt.output import make_folder

ABIDE_TERMS = (
    "ABIDE / Preprocessed Connectomes Project: non-commercial research use; cite Craddock et al. 2013 and "
    "Di Martino et al. 2014."
)
Progress = Callable[[int, int], None]
Pipeline = Literal["cpac", "css", "dparsf", "niak"]


@dataclass(frozen=True)
class FetchOptions:
    """Which derivatives of ABIDE to fetch (names as in the Preprocessed Connectomes Project)."""

    pipeline: Pipeline = "cpac"
    band_pass_filtering: bool = True
    global_signal_regression: bool = True
    quality_checked: bool = True
    n_subjects: int | None = None
    mirror: str | None = None  # another address than nilearn's own


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
    options = options or FetchOptions()
    if options.n_subjects is not None and options.n_subjects < 1:
        raise InputError(f"The number of subjects to fetch is {options.n_subjects}; at least 1 is needed.")
    make_folder(folder)
    # Without derivatives nilearn brings the phenotypic file alone, filtered as asked.
    table = _fetch(folder, options, derivatives=[])["phenotypic"]
    ids = [int(subject) for subject in table["SUB_ID"]][: options.n_subjects]
    for i, subject in enumerate(ids, start=1):
        if not _has_subject(folder, options, subject):
            _fetch(folder, options, derivatives=["rois_cc200"], SUB_ID=[subject])
        if progress is not None:
            progress(i, len(ids))
    return folder / "ABIDE_pcp"


def _fetch(folder: Path, options: FetchOptions, **which: Any) -> Any:
    from nilearn.datasets import fetch_abide_pcp

    try:
        return fetch_abide_pcp(
            data_dir=str(folder),
            pipeline=options.pipeline,
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
            "run the same command again; what is already in the folder is kept."
        ) from None


def _has_subject(folder: Path, options: FetchOptions, subject: int) -> bool:
    strategy = (
        f"{'' if options.band_pass_filtering else 'no'}filt_{'' if options.global_signal_regression else 'no'}global"
    )
    files = (folder / "ABIDE_pcp" / options.pipeline / strategy).glob(f"*_{subject:07d}_rois_cc200.1D")
    return any(file.stat().st_size > 0 for file in files)
