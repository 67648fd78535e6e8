"""From what a user names, a file, a folder, an archive or several of them, to a cohort.

:func:`read_cohort` reads everything, settles the atlas once for all subjects, and returns the cohort together with the
list of what was refused. :func:`stream_subjects` reads one subject at a time, for data that need not stay in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from biobgt.atlas import Atlas
from biobgt.cohort import Cohort, Refusal, Source, Subject
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.readers.archives import unpacked
from biobgt.readers.atlases import find_atlas
from biobgt.readers.files import ReadOptions, describe_source, read_file, suffix_of
from biobgt.readers.folders import FoundFile, look_through, subject_ids
from biobgt.readers.matching import match_phenotypes
from biobgt.readers.phenotypes import join_phenotypes, read_phenotypes
from biobgt.readers.reading import Reading, interpret
from biobgt.readers.recognition import settle_atlas

Progress = Callable[[int, int], None]


@dataclass
class _Found:
    """Everything the user named, looked through."""

    data: list[FoundFile] = field(default_factory=list)
    phenotypes: list[Path] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """One subject's reading, before an atlas is chosen."""

    subject: str
    reading: Reading
    source: Source


@dataclass(frozen=True, eq=False)
class _Problem:
    """A file, or a subject in it, that could not be read, or that leaves a question open."""

    file: str
    subject: str
    error: InputError
    other_atlas: bool = False


def read_cohort(
    path: str | Path | Sequence[str | Path],
    *,
    atlas: str | Path | Atlas | None = None,
    phenotypes: str | Path | None = None,
    options: ReadOptions | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> Cohort:
    """Read subjects from files, folders and archives.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder, a ``.zip``, or several of them.
    atlas : str, path or Atlas, optional
        A bundled name, a region table, or an atlas. None recognises it from the number of regions.
    phenotypes : path, optional
        Table of groups and covariates. None uses the ones found in the folder.
    options : ReadOptions, optional
        The user's word on what the files alone do not say.
    name : str, optional
        The cohort's name; None takes it from the path.
    progress : callable, optional
        Told (done, total) after each file.

    Returns
    -------
    Cohort
        What was refused, and why, is part of it.

    Raises
    ------
    InputError
        When no subject could be read.
    ChoiceNeeded
        When two readings are possible and the user has to say which.
    """
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(item) for item in path]
    options = options or ReadOptions()
    chosen = find_atlas(atlas) if atlas is not None else None
    with ExitStack() as stack:
        found = _look_up(paths, options, stack)
        read = list(_candidates(found.data, options, chosen, progress))
        tables = [Path(phenotypes)] if phenotypes is not None else found.phenotypes
        table = join_phenotypes([read_phenotypes(item) for item in tables]) if tables else None
    candidates = [item for item in read if isinstance(item, _Candidate)]
    problems = [item for item in read if isinstance(item, _Problem)]
    if chosen is None:
        chosen, note = settle_atlas(
            [item.reading for item in candidates], kind=options.kind, orientation=options.orientation
        )
        found.notes.append(note)
    subjects, more_problems = _to_subjects(candidates, chosen, options)
    _sort_problems(problems + more_problems, subjects, found)
    if not subjects:
        raise _nothing_read(paths, found.refused)
    cohort = Cohort(
        name=name or ", ".join(item.stem for item in paths[:3]),
        subjects=tuple(subjects.values()),
        atlas=chosen,
        refused=tuple(found.refused),
        notes=tuple(found.notes),
    )
    if table is None:
        return cohort
    matched = match_phenotypes(cohort, table)
    return replace(
        cohort,
        subjects=matched.subjects,
        notes=(*cohort.notes, *table.notes),
        unmatched_subjects=matched.unmatched_subjects,
        unmatched_rows=matched.unmatched_rows,
    )


def stream_subjects(
    path: str | Path, *, atlas: str | Path | Atlas, options: ReadOptions | None = None
) -> Iterator[Subject | Refusal]:
    """Read one subject after another, keeping none; the atlas must be known beforehand."""
    options = options or ReadOptions()
    chosen = find_atlas(atlas)
    with ExitStack() as stack:
        found = _look_up([Path(path)], options, stack)
        yield from found.refused
        for item in _candidates(found.data, options, chosen):
            result = _to_subject(item, chosen, options) if isinstance(item, _Candidate) else item
            yield result if isinstance(result, Subject) else Refusal(result.file, str(result.error))


def _look_up(paths: Iterable[Path], options: ReadOptions, stack: ExitStack) -> _Found:
    """Look through folders and archives; archives stay unpacked until the stack closes."""
    found = _Found()
    for path in paths:
        if not path.exists():
            raise InputError(f"There is no file or folder '{path}'.")
        if suffix_of(path) == ".zip":
            folder, refused = stack.enter_context(unpacked(path))
            found.refused += refused
        elif path.is_dir():
            folder = path
        else:
            found.data.append(FoundFile(path, path.name))
            continue
        inside = look_through(folder, pattern=options.pattern)
        found.data += inside.data
        found.phenotypes += [file.path for file in inside.phenotypes]
        found.refused += inside.refused
        found.notes += inside.notes
    return found


def _candidates(
    files: list[FoundFile], options: ReadOptions, atlas: Atlas | None, progress: Progress | None = None
) -> Iterator[_Candidate | _Problem]:
    for i, (file, subject) in enumerate(zip(files, subject_ids(files), strict=True), start=1):
        try:
            readings = read_file(file.path, options, atlas)
            source = describe_source(file.path, name=file.name)
        except InputError as error:
            yield _Problem(file.name, subject, error)
        except OSError as error:
            yield _Problem(file.name, subject, InputError(f"The file could not be opened ({error.strerror or error})."))
        else:
            for name, reading in zip(_name_each(subject, readings), readings, strict=True):
                yield _Candidate(name, reading, replace(source, options=reading.options))
        if progress is not None:
            progress(i, len(files))


def _name_each(subject: str, readings: list[Reading]) -> list[str]:
    """A file's subject goes by the file's name; several in one go by their own ids, or by number."""
    width = len(str(len(readings)))
    numbered = [f"{subject}_{i:0{width}d}" for i in range(1, len(readings) + 1)] if len(readings) > 1 else [subject]
    return [reading.subject or number for reading, number in zip(readings, numbered, strict=True)]


def _to_subjects(
    candidates: Iterable[_Candidate], atlas: Atlas, options: ReadOptions
) -> tuple[dict[str, Subject], list[_Problem]]:
    subjects: dict[str, Subject] = {}
    problems: list[_Problem] = []
    for candidate in candidates:
        result = _to_subject(candidate, atlas, options)
        if isinstance(result, Subject) and (first := subjects.get(result.id)) is not None:
            where = f" from '{first.source.file}'" if first.source else ""
            sentence = f"Subject '{result.id}' was read{where} already. Rename one, or choose files by a pattern."
            result = _Problem(candidate.source.file, result.id, InputError(sentence))
        if isinstance(result, Subject):
            subjects[result.id] = result
        else:
            problems.append(result)
    return subjects, problems


def _to_subject(candidate: _Candidate, atlas: Atlas, options: ReadOptions) -> Subject | _Problem:
    reading = candidate.reading
    try:
        measured = interpret(reading, n_regions=atlas.n_regions, kind=options.kind, orientation=options.orientation)
    except InputError as error:
        other_atlas = atlas.n_regions not in reading.values.shape
        return _Problem(candidate.source.file, candidate.subject, error, other_atlas=other_atlas)
    return Subject(
        id=candidate.subject,
        series=measured.values if measured.kind == "series" else None,
        connectivity=measured.values if measured.kind == "connectivity" else None,
        missing_regions=measured.missing_regions,
        tr=reading.tr,
        source=candidate.source,
        simulated=reading.simulated,
    )


def _sort_problems(problems: list[_Problem], subjects: Mapping[str, Subject], found: _Found) -> None:
    """Refuse what could not be read; set aside another parcellation's files of subjects that were."""
    aside = [problem for problem in problems if problem.other_atlas and problem.subject in subjects]
    if aside:
        found.notes.append(f"{len(aside)} files of the same subjects set aside: they are of another atlas.")
    questions = [problem.error for problem in problems if isinstance(problem.error, ChoiceNeeded)]
    if questions and not subjects:
        raise questions[0]  # the answer holds for every file, so the user is asked once
    found.refused += [Refusal(problem.file, str(problem.error)) for problem in problems if problem not in aside]


def _nothing_read(paths: list[Path], refused: list[Refusal]) -> InputError:
    what = ", ".join(f"'{path.name}'" for path in paths[:3])
    if not refused:
        return InputError(f"There is nothing to read in {what}: no file of region series, connectivity or images.")
    if len(refused) == 1:
        return InputError(f"'{refused[0].file}' could not be read. {refused[0].reason}")
    reasons = " ".join(f"{item.file}: {item.reason}" for item in refused[:3])
    return InputError(f"None of the {len(refused)} files in {what} could be read. {reasons}")
