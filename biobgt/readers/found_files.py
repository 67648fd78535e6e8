"""What the user named, looked through: data, phenotype tables and archives, in folders, archives and one by one."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from biobgt.cohort import Refusal
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.readers.archives import UnpackedSoFar, unpacked
from biobgt.readers.file_names import FoundFile, printable, subject_ids
from biobgt.readers.folders import look_through
from biobgt.readers.formats import is_of_one_side, suffix_of
from biobgt.readers.gifti import is_surface_labels
from biobgt.readers.guarding import one_refused_file
from biobgt.readers.hemispheres import file_of_other_side, side_of
from biobgt.readers.label_tables import is_label_table
from biobgt.readers.phenotype_joining import JoinedPhenotypes
from biobgt.readers.phenotype_search import TableSearch
from biobgt.readers.phenotypes import Phenotypes, read_phenotypes
from biobgt.readers.read_options import ReadOptions
from biobgt.wording import counted


@dataclass(frozen=True)
class FoundTable:
    """A phenotype table, and its column of subject ids where that is not named as such columns are."""

    file: FoundFile
    id_column: str | None = None

    def read(self) -> Phenotypes:
        """Read the table."""
        return read_phenotypes(self.file.path, id_column=self.id_column)


@dataclass
class Found:
    """Everything the user named, looked through."""

    data: list[FoundFile] = field(default_factory=list)
    phenotypes: list[FoundTable] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unpacked: UnpackedSoFar = field(default_factory=UnpackedSoFar)
    search: TableSearch = field(default_factory=TableSearch)


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
    """
    found = Found()
    for path in paths:
        if not path.exists():
            raise InputError(f"There is no file or folder '{path}'.")
        if suffix_of(path) == ".zip":
            try:
                folder, refused = _unpack(path, found, stack)
            except InputError as error:
                if len(paths) == 1:
                    raise
                found.refused.append(Refusal(printable(path.name), str(error)))
                continue
            found.refused += refused
            _look_into(folder, found, options, name=path.resolve().stem)
        elif path.is_dir():
            _look_into(path, found, options, name=path.resolve().stem, stack=stack)
        else:
            file = FoundFile(path, path.name, folders=path.resolve().parts[-4:-1])
            if is_label_table(path):
                found.notes.append(f"Read as names of regions: {printable(path.name)}.")
            elif is_surface_labels(path):
                found.notes.append(f"Read as labels of vertices: {printable(path.name)}.")
            elif found.search.holds_phenotypes(path):
                found.phenotypes.append(FoundTable(file))
            else:
                found.data.append(file)
    _join_hemispheres(found)
    _set_tables_aside(found)
    return found


def _unpack(path: Path, found: Found, stack: ExitStack) -> tuple[Path, list[Refusal]]:
    """Unpack an archive until the stack closes; whatever fails is a sentence about this archive."""
    with one_refused_file(f"'{path.name}'"):
        return stack.enter_context(unpacked(path, found.unpacked))


def _look_into(
    folder: Path, found: Found, options: ReadOptions, *, name: str, within: str = "", stack: ExitStack | None = None
) -> None:
    """Add what a folder holds; without a stack it is an unpacked archive, and archives in it are refused.

    ``within`` is the archive's place among the user's files, which goes before the names of the files in it.
    """
    inside = look_through(folder, found.search, pattern=options.pattern, name=name)
    prefix = f"{within}/" if within else ""
    found.data += [replace(file, name=prefix + file.name) for file in inside.data]
    found.phenotypes += [FoundTable(replace(file, name=prefix + file.name)) for file in inside.phenotypes]
    found.refused += [replace(refusal, file=prefix + refusal.file) for refusal in inside.refused]
    found.notes += [f"{within}: {note}" if within else note for note in inside.notes]
    for archive in inside.archives:
        shown = printable(prefix + archive.name)
        if stack is None:
            found.refused.append(
                Refusal(shown, "It is an archive in an archive, which is not opened. Unpack it first.")
            )
            continue
        try:
            unpacked_folder, refused = _unpack(archive.path, found, stack)
        except InputError as error:
            found.refused.append(Refusal(shown, str(error)))
            continue
        found.refused += [replace(refusal, file=f"{shown}/{refusal.file}") for refusal in refused]
        _look_into(unpacked_folder, found, options, name=archive.path.stem, within=shown)


def _join_hemispheres(found: Found) -> None:
    """Keep the left hemisphere's file of a pair, with which the right one's is read."""
    there = {file.path for file in found.data}
    found.data = [
        file
        for file in found.data
        if not (
            is_of_one_side(file.path)
            and side_of(file.path.name) == "R"
            and file_of_other_side(file.path, file.root) in there
        )
    ]


def _set_tables_aside(found: Found) -> None:
    """Take the tables whose rows are the subjects at hand out of the data, and find their columns of ids."""
    subjects, column_of_subjects = subject_ids(found.data), found.search.column_of_subjects
    tables = [FoundTable(file, column_of_subjects(file.path, subjects)) for file in found.data]
    of_people = [table for table in tables if table.id_column is not None]
    aside = {table.file for table in of_people}
    found.data = [file for file in found.data if file not in aside]
    known = [FoundTable(table.file, column_of_subjects(table.file.path, subjects)) for table in found.phenotypes]
    found.phenotypes = [*known, *of_people]
    found.search = TableSearch()  # forgets what it kept: the data are read next


def read_found_phenotypes(named: str | Path | None, found: Found) -> Phenotypes | None:
    """Read the table the user named, or the ones found; a found one that cannot be used is refused, not fatal."""
    if named is not None:
        chosen = next((table for table in found.phenotypes if table.file.name == str(named)), None)
        return read_phenotypes(named) if chosen is None else chosen.read()
    joined = JoinedPhenotypes()
    contents: dict[str, str] = {}
    for item in found.phenotypes:
        name = printable(item.file.name)
        try:
            table = item.read()
            joined.check_size(table)
        except InputError as error:
            found.refused.append(Refusal(name, str(error)))
            continue
        contents[name] = _contents(table)
        try:
            joined.add(table)
        except InputError as disagreement:
            raise _which_table(str(disagreement), contents) from None
    return joined.result()


def _which_table(disagreement: str, contents: Mapping[str, str]) -> ChoiceNeeded:
    """Ask which of several tables that contradict one another is meant."""
    return ChoiceNeeded(
        f"More than one phenotype table lies with the data, and they contradict one another. {disagreement}",
        option="phenotypes",
        choices=contents,
    )


def _contents(phenotypes: Phenotypes) -> str:
    columns = ", ".join(map(str, phenotypes.table.columns[1:6])) or "ids alone"
    return f"{counted(len(phenotypes.table), 'row')} with {columns}"
