"""Which files hold data, phenotypes or neither, and whose they are: folders and archives looked through."""

import fnmatch
import os
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from biobgt.base.errors import ChoiceNeeded, InputError, Refusal
from biobgt.base.limits import UnpackedArchives, current_limits
from biobgt.base.wording import counted
from biobgt.readers.connections.people import PAIRS
from biobgt.readers.foreign.isolate import one_refused_file
from biobgt.readers.formats import (
    LABEL_SUFFIX,
    ReadOptions,
    file_of_other_side,
    reader_of,
    side_of,
    suffix_of,
    without_side,
)
from biobgt.readers.phenotypes import JoinedPhenotypes, Phenotypes, TableSearch, is_design, read_phenotypes
from biobgt.readers.recognise import is_label_table
from biobgt.readers.region_files import is_beside_matrices, is_weights

# Whose file it is: subject ids from file and folder names, as BIDS, ABIDE, ADHD-200 and everyone else writes them.


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
    stems = []
    for file in files:  # both hemispheres of a recording have one name
        name = without_side(file.path)
        stems.append(name[: len(name) - len(suffix_of(file.path))])
    shared = {stem for stem, count in Counter(stems).items() if count > 1}
    files_in = Counter(file.folders for file in files)
    ids = []
    for file, stem in zip(files, stems, strict=True):
        subject = file.folders[-1] if file.folders and is_weights(file.path) else _known_layout(file, stem)
        if subject is None and stem in shared and file.folders:  # the folder is the subject, or goes before the name
            subject = file.folders[-1] if files_in[file.folders] == 1 else f"{file.folders[-1]}_{stem}"
        ids.append(subject or stem)
    return ids


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


def _ask_between_recordings(files: Sequence[FoundFile]) -> None:
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


def printable(name: str) -> str:
    """Write bytes of a file's name that are no UTF-8 text as escapes, so that the name can be shown."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


# Folders of subjects: which files hold data, which ones phenotypes or further files.
#
# Knows the layouts of fMRIPrep and XCP-D derivatives, of ABIDE's Preprocessed Connectomes Project, of ADHD-200 Athena
# and of CNI-2019; any other folder of readable files works too. What is not read is counted, never passed over
# silently.


_PHENOTYPES = re.compile(r"participants\.tsv|.*(?:phenotypic|phenotype|phenotypes).*\.(?:csv|tsv|xlsx)", re.IGNORECASE)
# Tables that fMRIPrep, XCP-D and BIDS put beside the data and that are no subject's series.
_DESIGN = re.compile(r"design.*\.(?:csv|tsv|txt)", re.IGNORECASE)
_BESIDE_THE_DATA = re.compile(
    r".*(?:desc-confounds|_motion|_outliers|_qc|_coverage|_alff|_reho|stat-coverage|stat-alff|stat-reho|_design|_xfm"
    r"|_events|_scans|_sessions|dseg)[._].*|dataset_description.*|readme.*|changes.*|license.*",
    re.IGNORECASE,
)
_NAMED_DATA = re.compile(
    r"sub-.*_(?:timeseries|relmat)\.tsv"
)  # by BIDS; no table of people, so it is not opened to see
# What derivative trees hold of a subject whose series of regions are there as a table, or as a file of parcels.
_ALSO_SERIES = re.compile(r"_relmat\.tsv$|_bold\.nii(?:\.gz)?$|\.(?:ptseries|pconn|dtseries)\.nii$")
_DENSE = re.compile(r"\.(?:pconn|dtseries)\.nii$")
_PREPROCESSED_IMAGE = re.compile(
    r".*(?:_desc-(?:preproc|denoised|denoisedSmoothed)_bold|_bold|_func_preproc)\.nii(?:\.gz)?", re.IGNORECASE
)


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
        readers = {file: reader_of(file.path) for file in own if file not in derived}
        images = [file for file, reader in readers.items() if reader is not None and reader.images]
        if any("space-MNI" in file.name for file in images):
            elsewhere += [file for file in images if "space-MNI" not in file.name]
    notes = []
    if derived:
        notes.append(f"Not read: {counted(len(derived), 'derived file')}, as the same subjects' series are read.")
    if elsewhere:
        notes.append(f"Not read: {counted(len(elsewhere), 'image')}, as the same subjects have images in MNI space.")
    aside = {file.name for file in (*derived, *elsewhere)}
    return [file for file in files if file.name not in aside], notes


_NO_FILE = "It is a pipe, a socket or a device and no file. Remove it."  # which would be waited for, without end


def _why_not(path: Path, folder: Path) -> str | None:
    """Why something in a folder is not looked at; None for what is, and for folders, whose files are.

    Links within the folder (as DataLad makes them) are followed; others would read what was not offered.
    """
    if not path.is_symlink():
        if path.is_dir() and not os.access(path, os.R_OK | os.X_OK):
            return "You do not have permission to open this folder. Ask its owner for access."
        return None if path.is_dir() or path.is_file() else _NO_FILE
    try:
        target = path.resolve()
    except (RuntimeError, OSError):
        return "It is a link that leads back to itself, so it was not followed. Remove it."
    if not target.exists():
        return "It is a link to a file that is not here. Fetch it first (with DataLad: datalad get)."
    if not target.is_relative_to(folder.resolve()):
        return "It is a link that leads out of the folder, so it was not followed. Copy the file itself."
    if target.is_dir():
        return "It is a link to a folder, which is not followed. Name that folder itself."
    return None if target.is_file() else _NO_FILE


# What the user named, looked through: data, phenotype tables and archives, in folders, archives and one by one.


@dataclass
class Found:
    """Everything the user named, looked through.

    ``phenotypes`` are tables of people, each with its column of subject ids where it is not named as such columns are;
    ``designs`` are tables of numbers without ids, which count where there is no other table.
    """

    data: list[FoundFile] = field(default_factory=list)
    phenotypes: dict[FoundFile, str | None] = field(default_factory=dict)
    designs: list[FoundFile] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unpacked: UnpackedArchives = field(default_factory=UnpackedArchives)
    search: TableSearch = field(default_factory=TableSearch)

    def read_phenotypes(self, named: str | Path | None) -> Phenotypes | None:
        """Read the table the user named, or the ones found; a found one that cannot be used is refused, not fatal."""
        if named is not None:
            found = {file.name: (file.path, id_column) for file, id_column in self.phenotypes.items()}
            found |= {file.name: (file.path, None) for file in self.designs}
            path, id_column = found.get(str(named), (Path(named), None))
            return read_phenotypes(path, id_column=id_column)
        if self.designs and not self.phenotypes:
            return self._read_design()
        joined = JoinedPhenotypes()
        contents: dict[str, str] = {}
        for file, id_column in self.phenotypes.items():
            name = printable(file.name)
            try:
                table = read_phenotypes(file.path, id_column=id_column)
                joined.check_size(table)
            except InputError as error:
                self.refused.append(Refusal(name, str(error)))
                continue
            columns = ", ".join(map(str, table.table.columns[1:6])) or "ids alone"
            contents[name] = f"{counted(len(table.table), 'row')} with {columns}"
            try:
                joined.add(table)
            except InputError as disagreement:
                question = (
                    f"More than one phenotype table lies with the data, and they contradict one another. {disagreement}"
                )
                raise ChoiceNeeded(question, option="phenotypes", choices=contents) from None
        return joined.result()

    def _read_design(self) -> Phenotypes | None:
        """The one design matrix that lies with the data."""
        if len(self.designs) > 1:
            names = [printable(file.name) for file in self.designs]
            raise ChoiceNeeded("More than one design matrix lies with the data.", option="phenotypes", choices=names)
        try:
            return read_phenotypes(self.designs[0].path)
        except InputError as error:
            self.refused.append(Refusal(printable(self.designs[0].name), str(error)))
            return None


def look_up(paths: Sequence[Path], options: ReadOptions, stack: ExitStack) -> Found:
    """Look through folders and archives; archives stay unpacked until the stack closes.

    An archive that cannot be opened is one refused file, and an error where nothing else was named.

    Parameters
    ----------
    paths : sequence of Path
        As the user named them.
    options : ReadOptions
        With the pattern of file names, where the user gave one.
    stack : ExitStack

    Raises
    ------
    ChoiceNeeded
        Where a subject has several recordings that differ in task, space or the like.
    """
    found = Found(search=TableSearch(of_pairs=options.kind == PAIRS))
    for path in paths:
        if not path.exists():
            raise InputError(f"There is no file or folder '{path}'.")
        name, shown = path.resolve().stem, printable(path.name)
        if suffix_of(path) == ".zip":
            try:
                _look_into_archive(path, found, options, stack, name=name)
            except InputError as error:
                if len(paths) == 1:
                    raise
                found.refused.append(Refusal(shown, str(error)))
        elif path.is_dir():
            _look_into(path, found, options, name=name, stack=stack)
        elif is_label_table(path):
            found.notes.append(f"Read as names of regions: {shown}.")
        elif path.name.lower().endswith(LABEL_SUFFIX):
            found.notes.append(f"Read as labels of vertices: {shown}.")
        else:
            file = FoundFile(path, path.name, folders=path.resolve().parts[-4:-1])
            if found.search.holds_phenotypes(path):
                found.phenotypes[file] = None
            else:
                found.data.append(file)
    there = {file.path for file in found.data}
    found.data = [  # but for the right hemisphere's file of a pair, which is read with the left one's
        file
        for file in found.data
        if side_of(file.path) != "R" or file_of_other_side(file.path, file.root) not in there
    ]
    _set_tables_aside(found)
    _ask_between_recordings(found.data)
    return found


def _look_into(
    folder: Path, found: Found, options: ReadOptions, *, name: str, within: str = "", stack: ExitStack | None = None
) -> None:
    """Sort a folder's files into data, phenotypes, archives, refused and left aside.

    Without a stack it is an unpacked archive, and archives in it are refused. ``within`` is the archive's place among
    the user's files, which goes before the names of the files in it.
    """
    prefix = f"{within}/" if within else ""
    limits, paths = current_limits(), []
    for path in folder.rglob("*"):  # which follows no links to folders
        paths.append(path)
        limits.check("folder_files", len(paths), "The folder")
    data: list[FoundFile] = []
    archives: list[FoundFile] = []
    left_aside: Counter[str] = Counter()
    for path in sorted(paths):
        inside = path.relative_to(folder)
        if any(part.startswith(".") for part in inside.parts):
            continue
        file = FoundFile(path, prefix + inside.as_posix(), folders=(name, *inside.parts[:-1]), root=folder)
        if (why := _why_not(path, folder)) is not None:
            found.refused.append(Refusal(printable(file.name), why))
        elif path.is_dir() or is_beside_matrices(path):  # which are read with those
            continue
        elif _DESIGN.fullmatch(path.name) and is_design(path):
            found.designs.append(file)
        elif suffix_of(path) == ".zip":
            archives.append(file)
        elif _PHENOTYPES.fullmatch(path.name) or (
            not (_BESIDE_THE_DATA.fullmatch(path.name) or _NAMED_DATA.fullmatch(path.name))
            and found.search.holds_phenotypes(path)
        ):
            found.phenotypes[file] = None
        elif _holds_data(path, inside.as_posix(), options.pattern):
            data.append(file)
        else:
            left_aside[suffix_of(path) or "no extension"] += 1
    kept, notes = _choose_among_derivatives(data)
    if left_aside:
        counts = ", ".join(f"{count} × {suffix}" for suffix, count in left_aside.most_common())
        outside = " or outside the pattern" if options.pattern else ""
        notes.append(f"Not read, because they hold no data{outside}: {counts}.")
    found.data += kept
    found.notes += [f"{within}: {note}" if within else note for note in notes]
    for archive in archives:
        shown = printable(archive.name)
        try:
            if stack is None:
                raise InputError("It is an archive in an archive, which is not opened. Unpack it first.")
            _look_into_archive(archive.path, found, options, stack, name=archive.path.stem, within=shown)
        except InputError as error:
            found.refused.append(Refusal(shown, str(error)))


def _look_into_archive(
    path: Path, found: Found, options: ReadOptions, stack: ExitStack, *, name: str, within: str = ""
) -> None:
    """Unpack an archive until the stack closes, and add what it holds; what fails is a sentence about this archive."""
    with one_refused_file(f"'{path.name}'"):
        folder, refused = stack.enter_context(found.unpacked.add(path))
    found.refused += [replace(one, file=f"{within}/{one.file}") if within else one for one in refused]
    _look_into(folder, found, options, name=name, within=within)


def _set_tables_aside(found: Found) -> None:
    """Take the tables whose rows are the subjects at hand out of the data, and find their columns of ids."""
    subjects, column_of_subjects = subject_ids(found.data), found.search.column_of_subjects
    opened = [file for file in found.data if not _NAMED_DATA.fullmatch(file.path.name)]
    columns = {file: column_of_subjects(file.path, subjects) for file in (*found.phenotypes, *opened)}
    of_people = {file: columns[file] for file in opened if columns[file] is not None}
    found.data = [file for file in found.data if file not in of_people]
    found.phenotypes = {**{file: columns[file] for file in found.phenotypes}, **of_people}
    found.search = TableSearch()  # forgets what it kept: the data are read next
