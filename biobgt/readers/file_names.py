"""Whose file it is: subject ids from file and folder names, as BIDS, ABIDE, ADHD-200 and everyone else writes them."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from biobgt.errors import ChoiceNeeded, InputError
from biobgt.readers.formats import is_of_one_side, suffix_of
from biobgt.readers.hemispheres import without_side

_BIDS_FILE = re.compile(r"(sub-[A-Za-z0-9]+)(?:_(ses-[A-Za-z0-9]+))?(?=_|$)(?:.*?_(run-[A-Za-z0-9]+))?")
_BIDS_FOLDER = re.compile(r"sub-[A-Za-z0-9]+")
_SESSION_FOLDER = re.compile(r"ses-[A-Za-z0-9]+")
_ABIDE = re.compile(r"(.+_\d{5,7})_(?:rois|func)_?.*")
_ATHENA = re.compile(r"s?f?n?w?mrda(\d+)_session_(\d+)_rest_(\d+).*", re.IGNORECASE)
# Entities that tell two recordings, or two versions of one, apart; atlases are told apart by their regions.
_ENTITIES = ("task", "acq", "dir", "rec", "echo", "space", "res", "den", "desc")


@dataclass(frozen=True)
class FoundFile:
    """A file to be read: where it lies, its name within what the user named, and the folders above it.

    ``root`` is the folder that the user named, out of which no link may lead; None where the file itself was named.
    """

    path: Path
    name: str
    folders: tuple[str, ...] = ()
    root: Path | None = None


def subject_ids(files: Sequence[FoundFile]) -> list[str]:
    """Name each file's subject from its name, or from its folders where files in several folders share a name."""
    stems = [stem_of(file.path) for file in files]
    shared = {stem for stem, count in Counter(stems).items() if count > 1}
    files_in = Counter(file.folders for file in files)
    return [
        _known_layout(file, stem) or _plain_id(file, stem, shared=stem in shared, alone=files_in[file.folders] == 1)
        for file, stem in zip(files, stems, strict=True)
    ]


def ask_between_recordings(files: Sequence[FoundFile]) -> None:
    """Ask which recording is meant where one subject has several that differ in task, space or the like."""
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for file, subject in zip(files, subject_ids(files), strict=True):
        for entity in _ENTITIES:
            if match := re.search(rf"_{entity}-([A-Za-z0-9]+)(?=_)", file.path.name):
                values[entity][subject].add(match.group(1))
    for entity, by_subject in values.items():
        several = {subject: found for subject, found in by_subject.items() if len(found) > 1}
        if several:
            subject, found = next(iter(several.items()))
            raise ChoiceNeeded(
                f"{len(several)} subjects, such as '{subject}', have files that differ in {entity}: "
                f"{', '.join(sorted(found))}.",
                option="pattern",
                choices=[f"*_{entity}-{value}_*" for value in sorted(set().union(*several.values()))],
            )


def check_name(*names: str) -> None:
    """Refuse a name that is not Unicode text: no table, figure or project could hold the subject's id."""
    for name in names:
        if printable(name) != name:
            raise InputError("Its name, or that of its folder, is not UTF-8 text. Rename it and read it again.")


def printable(name: str) -> str:
    """Write bytes of a file's name that are no UTF-8 text as escapes, so that the name can be shown."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def stem_of(path: Path) -> str:
    """Return the file's name without its extension, and without the hemisphere where there is a file of each."""
    stem = path.name[: len(path.name) - len(suffix_of(path))]
    return without_side(stem) if is_of_one_side(path) else stem


def _known_layout(file: FoundFile, stem: str) -> str | None:
    if match := _BIDS_FILE.match(stem):
        return "_".join(part for part in match.groups() if part)
    if match := _ABIDE.fullmatch(stem):
        return match.group(1)
    if match := _ATHENA.fullmatch(stem):
        subject, session, rest = match.groups()
        return subject if (session, rest) == ("1", "1") else f"{subject}_session_{session}_rest_{rest}"
    subjects = [folder for folder in file.folders if _BIDS_FOLDER.fullmatch(folder)]
    sessions = [folder for folder in file.folders if _SESSION_FOLDER.fullmatch(folder)]
    return "_".join([subjects[-1], *sessions[-1:]]) if subjects else None


def _plain_id(file: FoundFile, stem: str, *, shared: bool, alone: bool) -> str:
    """Where folders hold files of the same name, the folder is the subject, or goes before the file's name."""
    if not shared or not file.folders:
        return stem
    return file.folders[-1] if alone else f"{file.folders[-1]}_{stem}"
