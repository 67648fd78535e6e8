"""From what a user names, a file, a folder, an archive or several of them, to a cohort.

:func:`read_cohort` reads everything, settles the atlas once for all subjects, and returns the cohort together with the
list of what was refused. :func:`stream_subjects` reads one subject at a time, for data that need not stay in memory.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from biobgt.atlas import Atlas
from biobgt.cohort import Cohort, Refusal, Subject
from biobgt.cohort_edits import change_atlas
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.limits import current_limits
from biobgt.readers.archives import unpacked
from biobgt.readers.atlases import find_atlas
from biobgt.readers.files import ReadOptions, suffix_of
from biobgt.readers.folders import look_through
from biobgt.readers.guarding import one_refused_file
from biobgt.readers.matching import match_phenotypes
from biobgt.readers.naming import FoundFile, ask_between_recordings, printable
from biobgt.readers.phenotypes import Phenotypes, join_phenotypes, read_phenotypes
from biobgt.readers.project_files import PROJECT_SUFFIX, read_project_cohort
from biobgt.readers.recognition import settle_atlas
from biobgt.readers.subjects import (
    Candidate,
    Problem,
    Progress,
    read_candidates,
    reference_names,
    to_subject,
    to_subjects,
)
from biobgt.wording import counted


@dataclass
class _Found:
    """Everything the user named, looked through."""

    data: list[FoundFile] = field(default_factory=list)
    phenotypes: list[FoundFile] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


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
        A file, a folder, a ``.zip``, or several of them; or a project, which is a whole cohort by itself.
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
    if any(suffix_of(item) == PROJECT_SUFFIX for item in paths):
        return _read_project(paths, chosen, phenotypes, name)
    with ExitStack() as stack:
        found = _look_up(paths, options, stack)
        ask_between_recordings(found.data)
        table = _read_phenotypes(phenotypes, found)
        read = list(_within_limits(read_candidates(found.data, options, chosen, progress)))
    candidates = [item for item in read if isinstance(item, Candidate)]
    problems = [item for item in read if isinstance(item, Problem)]
    if chosen is None:
        readings = [item.reading for item in candidates]
        chosen, note = settle_atlas(readings, kind=options.kind, orientation=options.orientation)
        found.notes.append(note)
    current_limits().check("regions", chosen.n_regions, "The data's atlas")
    subjects, more_problems = to_subjects(candidates, chosen, options)
    _sort_problems(problems + more_problems, subjects, found)
    if not subjects:
        raise _nothing_read(paths, found.refused)
    cohort = Cohort(
        name=name or printable(", ".join(item.resolve().stem for item in paths[:3])),
        subjects=tuple(subjects.values()),
        atlas=chosen,
        refused=tuple(found.refused),
        notes=(*found.notes, *_notes_on(subjects.values())),
    )
    return cohort if table is None else _with_phenotypes(cohort, table)


def stream_subjects(
    path: str | Path, *, atlas: str | Path | Atlas, options: ReadOptions | None = None
) -> Iterator[Subject | Refusal]:
    """Read one subject after another, keeping none; the atlas must be known beforehand.

    Groups are not looked up, and two files of the same subject both come.
    """
    options = options or ReadOptions()
    chosen = find_atlas(atlas)
    if suffix_of(Path(path)) == PROJECT_SUFFIX:
        project = _read_project([Path(path)], chosen, None, None)
        yield from (*project.refused, *project)
        return
    reference: tuple[str, ...] | None = None
    with ExitStack() as stack:
        found = _look_up([Path(path)], options, stack)
        ask_between_recordings(found.data)
        yield from found.refused
        for item in read_candidates(found.data, options, chosen):
            if isinstance(item, Candidate):
                reference = reference or reference_names([item], chosen)
                result = to_subject(item, chosen, options, reference)
            else:
                result = item
            yield result if isinstance(result, Subject) else Refusal(result.file, str(result.error))


def _within_limits(read: Iterable[Candidate | Problem]) -> Iterator[Candidate | Problem]:
    """Stop before subjects, each small enough, fill the memory together."""
    limits = current_limits()
    n_subjects = n_bytes = 0
    for item in read:
        if isinstance(item, Candidate):
            n_subjects, n_bytes = n_subjects + 1, n_bytes + item.reading.values.nbytes
            limits.check("subjects", n_subjects, "The cohort")
            limits.check("cohort_bytes", n_bytes, "The cohort")
        yield item


def _read_project(paths: list[Path], atlas: Atlas | None, phenotypes: str | Path | None, name: str | None) -> Cohort:
    """Read the cohort of a project; the user's word on atlas, phenotypes and name comes before the project's."""
    if len(paths) > 1:
        project = next(item.name for item in paths if suffix_of(item) == PROJECT_SUFFIX)
        raise InputError(f"'{project}' is a project, which holds a whole cohort. Open it alone, without other files.")
    if not paths[0].is_file():
        raise InputError(f"There is no project file '{paths[0]}'.")
    cohort = read_project_cohort(paths[0])
    if atlas is not None and atlas is not cohort.atlas:
        cohort = change_atlas(cohort, atlas)
    if phenotypes is not None:
        cohort = _with_phenotypes(cohort, read_phenotypes(phenotypes))
    return replace(cohort, name=name or cohort.name)


def _look_up(paths: Sequence[Path], options: ReadOptions, stack: ExitStack) -> _Found:
    """Look through folders and archives; archives stay unpacked until the stack closes."""
    found = _Found()
    for path in paths:
        if not path.exists():
            raise InputError(f"There is no file or folder '{path}'.")
        if suffix_of(path) == ".zip":
            try:
                with one_refused_file(f"'{path.name}'"):
                    folder, refused = stack.enter_context(unpacked(path))
            except InputError as error:
                if len(paths) == 1:
                    raise
                found.refused.append(Refusal(printable(path.name), str(error)))
                continue
            found.refused += refused
        elif path.is_dir():
            folder = path
        else:
            found.data.append(FoundFile(path, path.name, folders=path.resolve().parts[-4:-1]))
            continue
        inside = look_through(folder, pattern=options.pattern, name=path.resolve().stem)
        found.data += inside.data
        found.phenotypes += inside.phenotypes
        found.refused += inside.refused
        found.notes += inside.notes
    return found


def _read_phenotypes(named: str | Path | None, found: _Found) -> Phenotypes | None:
    """Read the table the user named, or the ones found; a found one that cannot be used is refused, not fatal."""
    if named is not None:
        return read_phenotypes(named)
    joined: Phenotypes | None = None
    for file in found.phenotypes:
        try:
            table = read_phenotypes(file.path)
            joined = table if joined is None else join_phenotypes([joined, table])
        except InputError as error:
            found.refused.append(Refusal(printable(file.name), str(error)))
    return joined


def _with_phenotypes(cohort: Cohort, table: Phenotypes) -> Cohort:
    matched = match_phenotypes(cohort, table)
    return replace(
        cohort,
        subjects=matched.subjects,
        notes=(*cohort.notes, *table.notes, *matched.notes),
        unmatched_subjects=matched.unmatched_subjects,
        unmatched_rows=matched.unmatched_rows,
    )


def _notes_on(subjects: Iterable[Subject]) -> list[str]:
    """Say what was decided about the files' contents and may be worth a look."""
    options = [subject.source.options for subject in subjects if subject.source is not None]
    turned = sum(option.get("orientation") == "region-time" for option in options)
    reordered = sum(bool(option.get("regions reordered")) for option in options)
    notes = []
    if turned:
        notes.append(f"Stored region × time, and turned: {turned} of {counted(len(options), 'subject')}.")
    if reordered:
        notes.append(f"Regions in another order, put right: {reordered} of {counted(len(options), 'subject')}.")
    return notes


def _sort_problems(problems: list[Problem], subjects: Mapping[str, Subject], found: _Found) -> None:
    """Refuse what could not be read; set aside another parcellation's files of subjects that were."""
    aside = [problem for problem in problems if problem.other_atlas and problem.subject in subjects]
    if aside:
        found.notes.append(f"Set aside: {counted(len(aside), 'file')} of the same subjects on another atlas.")
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
