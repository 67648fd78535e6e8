"""Folders of subjects: which files hold data, which ones phenotypes or further files.

Knows the layouts of fMRIPrep and XCP-D derivatives, of ABIDE's Preprocessed Connectomes Project, of ADHD-200 Athena
and of CNI-2019; any other folder of readable files works too. What is not read is counted, never passed over silently.
"""

import fnmatch
import os
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from biobgt.cohort import Refusal
from biobgt.limits import current_limits
from biobgt.readers.file_names import FoundFile, printable, subject_ids
from biobgt.readers.formats import is_image, reader_of, suffix_of
from biobgt.readers.phenotype_search import TableSearch
from biobgt.wording import counted

_PHENOTYPES = re.compile(r"participants\.tsv|.*(?:phenotypic|phenotype|phenotypes).*\.(?:csv|tsv|xlsx)", re.IGNORECASE)
# Tables that fMRIPrep, XCP-D and BIDS put beside the data and that are no subject's series.
_BESIDE_THE_DATA = re.compile(
    r".*(?:desc-confounds|_motion|_outliers|_qc|_coverage|_alff|_reho|stat-coverage|stat-alff|stat-reho|_design|_xfm"
    r"|_events|_scans|_sessions|dseg)[._].*|dataset_description.*|readme.*|changes.*|license.*",
    re.IGNORECASE,
)
# What derivative trees hold of a subject whose series of regions are there as a table, or as a file of parcels.
_ALSO_SERIES = re.compile(r"_relmat\.tsv$|_bold\.nii(?:\.gz)?$|\.(?:ptseries|pconn|dtseries)\.nii$")
_DENSE = re.compile(r"\.(?:pconn|dtseries)\.nii$")
_PREPROCESSED_IMAGE = re.compile(
    r".*(?:_desc-(?:preproc|denoised|denoisedSmoothed)_bold|_bold|_func_preproc)\.nii(?:\.gz)?", re.IGNORECASE
)


@dataclass(frozen=True)
class FoundFolder:
    """What a folder holds; archives are not opened."""

    data: tuple[FoundFile, ...]
    phenotypes: tuple[FoundFile, ...]
    archives: tuple[FoundFile, ...]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]


def look_through(
    folder: Path, search: TableSearch, *, pattern: str | None = None, name: str | None = None
) -> FoundFolder:
    """Sort a folder's files into data, phenotypes, archives, refused and left aside.

    Parameters
    ----------
    folder : Path
    search : TableSearch
        Tells tables of phenotypes.
    pattern : str, optional
        Read only files whose name, or whose path within the folder, fits (``*_cc200*``).
    name : str, optional
        What the user calls the folder, where it is another one that is looked through (an unpacked archive).
    """
    data: list[FoundFile] = []
    phenotypes: list[FoundFile] = []
    archives: list[FoundFile] = []
    refused: list[Refusal] = []
    left_aside: Counter[str] = Counter()
    own_name = name or folder.resolve().name
    for path in _all_within(folder):
        inside = path.relative_to(folder)
        found = FoundFile(path, inside.as_posix(), folders=(own_name, *inside.parts[:-1]), root=folder)
        if any(part.startswith(".") for part in inside.parts):
            continue
        if path.is_dir() and not path.is_symlink():
            if not os.access(path, os.R_OK | os.X_OK):
                refused.append(
                    Refusal(
                        printable(found.name),
                        "You do not have permission to open this folder. Ask its owner for access.",
                    )
                )
            continue
        if path.is_symlink() and (refusal := _check_link(path, printable(found.name), folder)):
            refused.append(refusal)
        elif not path.is_file():  # to open a pipe is to wait for whoever writes to it, without end
            refused.append(Refusal(printable(found.name), "It is a pipe, a socket or a device and no file. Remove it."))
        elif suffix_of(path) == ".zip":
            archives.append(found)
        elif _PHENOTYPES.fullmatch(path.name) or _may_be_phenotypes(path, search):
            phenotypes.append(found)
        elif _holds_data(path, found.name, pattern):
            data.append(found)
        else:
            left_aside[suffix_of(path) or "no extension"] += 1
    kept, notes = _choose_among_derivatives(data)
    if left_aside:
        counts = ", ".join(f"{count} × {suffix}" for suffix, count in left_aside.most_common())
        notes.append(f"Not read, because they hold no data{' or outside the pattern' if pattern else ''}: {counts}.")
    return FoundFolder(tuple(kept), tuple(phenotypes), tuple(archives), tuple(refused), tuple(notes))


def _may_be_phenotypes(path: Path, search: TableSearch) -> bool:
    return not _BESIDE_THE_DATA.fullmatch(path.name) and search.holds_phenotypes(path)


def _all_within(folder: Path) -> list[Path]:
    """Everything in a folder, in order; links to folders are not followed."""
    limits = current_limits()
    paths = []
    for path in folder.rglob("*"):
        paths.append(path)
        limits.check("folder_files", len(paths), "The folder")
    return sorted(paths)


def _holds_data(path: Path, name: str, pattern: str | None) -> bool:
    reader = reader_of(path)
    if reader is None or _BESIDE_THE_DATA.fullmatch(path.name):
        return False
    if pattern is not None and not (fnmatch.fnmatch(path.name, pattern) or fnmatch.fnmatch(name, pattern)):
        return False
    return not reader.images or bool(_PREPROCESSED_IMAGE.fullmatch(path.name))


def _choose_among_derivatives(files: list[FoundFile]) -> tuple[list[FoundFile], list[str]]:
    """Derivative trees hold a subject's data more than once: read its series, else its images in MNI space."""
    by_subject: dict[str, list[FoundFile]] = defaultdict(list)
    for file, subject in zip(files, subject_ids(files), strict=True):
        by_subject[subject].append(file)
    derived: list[FoundFile] = []
    elsewhere: list[FoundFile] = []
    for own in by_subject.values():
        tables = any(file.name.endswith("_timeseries.tsv") for file in own)
        parcels = any(file.name.endswith(".ptseries.nii") for file in own)
        derived += [
            file
            for file in own
            if (tables and _ALSO_SERIES.search(file.name)) or (parcels and _DENSE.search(file.name))
        ]
        images = [file for file in own if is_image(file.path) and file not in derived]
        if any("space-MNI" in file.name for file in images):
            elsewhere += [file for file in images if "space-MNI" not in file.name]
    notes = []
    if derived:
        notes.append(f"Not read: {counted(len(derived), 'derived file')}, as the same subjects' series are read.")
    if elsewhere:
        notes.append(f"Not read: {counted(len(elsewhere), 'image')}, as the same subjects have images in MNI space.")
    aside = {file.name for file in (*derived, *elsewhere)}
    return [file for file in files if file.name not in aside], notes


def _check_link(path: Path, name: str, folder: Path) -> Refusal | None:
    """Links within the folder (as DataLad makes them) are followed; others would read what was not offered."""
    try:
        target = path.resolve()
    except (RuntimeError, OSError):
        return Refusal(name, "It is a link that leads back to itself, so it was not followed. Remove it.")
    if not target.exists():
        return Refusal(name, "It is a link to a file that is not here. Fetch it first (with DataLad: datalad get).")
    if not target.is_relative_to(folder.resolve()):
        return Refusal(name, "It is a link that leads out of the folder, so it was not followed. Copy the file itself.")
    if target.is_dir():
        return Refusal(name, "It is a link to a folder, which is not followed. Name that folder itself.")
    return None
