"""Folders of subjects: which files hold data, which one the phenotypes, and whose they are.

Knows the layouts of fMRIPrep and XCP-D derivatives, of ABIDE's Preprocessed Connectomes Project, of ADHD-200 Athena
and of CNI-2019; any other folder of readable files works too. What is not read is counted, never passed over silently.
"""

import fnmatch
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from biobgt.cohort import Refusal
from biobgt.readers.files import IMAGE_SUFFIXES, READABLE_SUFFIXES, suffix_of

_PHENOTYPES = re.compile(r"participants\.tsv|.*(?:phenotypic|phenotype|phenotypes).*\.(?:csv|tsv|xlsx)", re.IGNORECASE)
# Tables that fMRIPrep, XCP-D and BIDS put beside the data and that are no subject's series.
_BESIDE_THE_DATA = re.compile(
    r".*(?:desc-confounds|_motion|_outliers|_qc|_coverage|_alff|_reho|_events|_scans|_sessions|dseg|_timeseries\.json)"
    r".*|dataset_description.*|readme.*|changes.*|license.*",
    re.IGNORECASE,
)
_PREPROCESSED_IMAGE = re.compile(
    r".*(?:_desc-(?:preproc|denoised|denoisedSmoothed)_bold|_bold|_func_preproc)\.nii(?:\.gz)?", re.I
)
_BIDS = re.compile(r"(sub-[A-Za-z0-9]+)(_ses-[A-Za-z0-9]+)?(?:.*?(_run-[A-Za-z0-9]+))?")
_ABIDE = re.compile(r"(.+_\d{5,7})_(?:rois|func)_?.*")
_ATHENA = re.compile(r"s?f?n?w?mrda(\d+)_session_(\d+)_rest_(\d+).*", re.IGNORECASE)


@dataclass(frozen=True)
class FoundFile:
    """A file to be read: where it lies, and its name within what the user named."""

    path: Path
    name: str


@dataclass(frozen=True)
class FoundFolder:
    """What a folder holds."""

    data: tuple[FoundFile, ...]
    phenotypes: tuple[FoundFile, ...]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]


def look_through(folder: Path, *, pattern: str | None = None) -> FoundFolder:
    """Sort a folder's files into data, phenotypes, refused and left aside.

    Parameters
    ----------
    folder : Path
    pattern : str, optional
        Read only files whose name, or whose path within the folder, fits (``*_cc200*``).
    """
    data: list[FoundFile] = []
    phenotypes: list[FoundFile] = []
    refused: list[Refusal] = []
    left_aside: Counter[str] = Counter()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in Path(name).parts) or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink() and (refusal := _check_link(path, name, folder)):
            refused.append(refusal)
        elif _PHENOTYPES.fullmatch(path.name):
            phenotypes.append(FoundFile(path, name))
        elif _holds_data(path, name, pattern):
            data.append(FoundFile(path, name))
        else:
            left_aside[suffix_of(path) or "no extension"] += 1
    kept, notes = _choose_among_derivatives(data)
    if left_aside:
        counts = ", ".join(f"{count} × {suffix}" for suffix, count in left_aside.most_common())
        notes.append(f"Left aside as not data{' or outside the pattern' if pattern else ''}: {counts}.")
    return FoundFolder(tuple(kept), tuple(phenotypes), tuple(refused), tuple(notes))


def subject_ids(files: list[FoundFile]) -> list[str]:
    """Name each file's subject from its name, or from its folder where every folder uses the same file name."""
    stems = [_stem(file.path) for file in files]
    counts = Counter(stems)
    return [_subject_id(file, stem, shared_name=counts[stem] > 1) for file, stem in zip(files, stems, strict=True)]


def _subject_id(file: FoundFile, stem: str, *, shared_name: bool) -> str:
    if match := _BIDS.match(stem):
        return "".join(part for part in match.groups() if part)
    if match := _ABIDE.fullmatch(stem):
        return match.group(1)
    if match := _ATHENA.fullmatch(stem):
        subject, session, rest = match.groups()
        return subject if (session, rest) == ("1", "1") else f"{subject}_session_{session}_rest_{rest}"
    for folder in reversed(Path(file.name).parts[:-1]):
        if match := _BIDS.fullmatch(folder):
            return match.group(1)
        if shared_name:
            return folder
    return stem


def _stem(path: Path) -> str:
    return path.name[: len(path.name) - len(suffix_of(path))]


def _holds_data(path: Path, name: str, pattern: str | None) -> bool:
    suffix = suffix_of(path)
    if suffix not in READABLE_SUFFIXES or _BESIDE_THE_DATA.fullmatch(path.name):
        return False
    if pattern is not None and not (fnmatch.fnmatch(path.name, pattern) or fnmatch.fnmatch(name, pattern)):
        return False
    return suffix not in IMAGE_SUFFIXES or bool(_PREPROCESSED_IMAGE.fullmatch(path.name))


def _choose_among_derivatives(files: list[FoundFile]) -> tuple[list[FoundFile], list[str]]:
    """Derivative trees hold the same data more than once: read the series, else the images in MNI space."""
    series = [file for file in files if file.name.endswith("_timeseries.tsv")]
    derived = [file for file in files if re.search(r"_(?:relmat\.tsv|bold\.nii(?:\.gz)?)$", file.name)]
    if series and derived:
        note = f"{len(derived)} correlation tables or images left aside: the series beside them are read."
        return [file for file in files if file not in derived], [note]
    images = [file for file in files if suffix_of(file.path) in IMAGE_SUFFIXES]
    elsewhere = [file for file in images if "space-MNI" not in file.name]
    if elsewhere and len(elsewhere) < len(images):
        note = f"{len(elsewhere)} images left aside: they are not in MNI space, and others of the same subjects are."
        return [file for file in files if file not in elsewhere], [note]
    return files, []


def _check_link(path: Path, name: str, folder: Path) -> Refusal | None:
    """Links within the folder (as DataLad makes them) are followed; others would read what was not offered."""
    target = path.resolve()
    if not target.exists():
        return Refusal(name, "It is a link to a file that is not here. Fetch it first (with DataLad: datalad get).")
    if not target.is_relative_to(folder.resolve()):
        return Refusal(name, "It is a link that leads out of the folder, so it was not followed. Copy the file itself.")
    if target.is_dir():
        return Refusal(name, "It is a link to a folder, which is not followed. Name that folder itself.")
    return None
