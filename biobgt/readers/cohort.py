"""From what a user names, a file, a folder, an archive or several of them, to a cohort."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import numpy as np

from biobgt.base.arrays import KeepArray
from biobgt.base.errors import ChoiceNeeded, InputError, Refusal
from biobgt.base.files import sha256
from biobgt.base.limits import current_limits
from biobgt.base.wording import counted
from biobgt.data import edits
from biobgt.data.atlas import UNKNOWN_ATLAS, Atlas
from biobgt.data.cohort import ATLAS_BY_COUNT, ATLAS_DECIDED_BY, Cohort, Source, Subject
from biobgt.data.graph import GivenKind, told_kind
from biobgt.data.quality import atlas_doubt
from biobgt.readers import recognise
from biobgt.readers.connections.edges import EDGES
from biobgt.readers.connections.people import PAIRS
from biobgt.readers.discover import Found, FoundFile, look_up, printable, subject_ids
from biobgt.readers.foreign.isolate import one_refused_file, read_until
from biobgt.readers.formats import ReadOptions, read_file, reader_of, suffix_of
from biobgt.readers.measurement import FileName, Reading, interpret
from biobgt.readers.phenotypes import Phenotypes, give_rows, match_phenotypes, read_phenotypes
from biobgt.readers.project import PROJECT_SUFFIX, open_project
from biobgt.readers.recognise import BY_USER, find_atlas, settle_atlas
from biobgt.readers.workbooks import each_workbook_once

Progress = Callable[[int, int], None]
_AT_A_TIME = 2
_MIRRORED = "only triangle filled"  # among the options of a source

# From files to subjects: read each file, and, once the atlas is known, decide what its numbers mean.


@dataclass(frozen=True, eq=False)
class _Candidate:
    """One subject's reading, before an atlas is chosen."""

    subject: str
    reading: Reading
    source: Source

    def whole(self, chosen: Atlas | None) -> "_Candidate":
        """The candidate with the regions that its file leaves out, as missing ones."""
        return replace(self, reading=recognise.with_absent_regions(self.reading, chosen))

    def kept_by(self, keep: KeepArray) -> "_Candidate":
        """The candidate with its numbers where they are to be kept."""
        values, lengths = self.reading.values, self.reading.lengths
        reading = replace(self.reading, values=keep(values), lengths=None if lengths is None else keep(lengths))
        return replace(self, reading=reading)


@dataclass(frozen=True, eq=False)
class _Problem:
    """A file, or a subject in it, that could not be read, or that leaves a question open."""

    file: str
    subject: str
    error: InputError
    other_atlas: bool = False


def _read_candidates(
    files: Sequence[FoundFile], options: ReadOptions, atlas: Atlas | None, progress: Progress | None, keep: KeepArray
) -> Iterator[_Candidate | _Problem]:
    """Read files in their order; those that other processes read, two at a time.

    What fails is a problem of that file alone. Whoever stops early, by an interrupt or a limit of the cohort, does not
    wait for the files ahead.
    """
    stopped = Event()
    threads = ThreadPoolExecutor(_AT_A_TIME, "biobgt-reading", initializer=read_until, initargs=(stopped,))
    waiting: deque[Future[list[_Candidate] | list[_Problem]]] = deque()

    def outcomes() -> Iterator[list[_Candidate] | list[_Problem]]:
        for file, subject in zip(files, subject_ids(files), strict=True):
            reader = reader_of(file.path)
            ahead = reader is not None and reader.apart and not reader.alone
            if ahead:
                waiting.append(threads.submit(_read_one, file, subject, options, atlas))
            while len(waiting) > (_AT_A_TIME if ahead else 0):
                yield waiting.popleft().result()
            if not ahead:
                yield _read_one(file, subject, options, atlas)
        while waiting:
            yield waiting.popleft().result()

    try:
        for done, outcome in enumerate(outcomes(), start=1):
            yield from (one.kept_by(keep) if isinstance(one, _Candidate) else one for one in outcome)
            if progress is not None:
                progress(done, len(files))
    finally:
        stopped.set()
        threads.shutdown(cancel_futures=True)  # archives are unpacked until this returns, so nobody reads on


def _read_one(
    file: FoundFile, subject: str, options: ReadOptions, atlas: Atlas | None
) -> list[_Candidate] | list[_Problem]:
    try:
        with one_refused_file("The file"):
            _check_printable(file.name, subject)
            readings = read_file(file.path, options, atlas, root=file.root)
            names = _names_of_subjects(subject, readings)
            source = Source(
                file=file.name,
                n_bytes=file.path.stat().st_size,
                sha256=(readings and readings[0].sha256) or sha256(file.path),
                reader=suffix_of(file.path).lstrip("."),
            )
    except InputError as error:
        return [_Problem(printable(file.name), printable(subject), error)]
    file_name, orientation = _file_name(file, options), options.orientation
    content = None if options.kind == PAIRS or options.kind == EDGES else options.kind
    said = (
        replace(one, file_name=file_name, content=one.content or content, orientation=orientation) for one in readings
    )
    return [_Candidate(name, reading.named_by_table(), source) for name, reading in zip(names, said, strict=True)]


def _check_printable(*names: str) -> None:
    """Refuse a name that is not Unicode text: no table, figure or project could hold the subject's id."""
    if any(printable(name) != name for name in names):
        raise InputError("Its name, or that of its folder, is not UTF-8 text. Rename it and read it again.")


def _to_subjects(
    candidates: Sequence[_Candidate], atlas: Atlas, decided_by: str, keep: KeepArray
) -> tuple[dict[str, Subject], list[_Problem]]:
    """Decide what every reading means, by id; regions are put in the same order for all."""
    reference = _reference_names(candidates, atlas)
    subjects: dict[str, Subject] = {}
    problems: list[_Problem] = []
    for candidate in candidates:
        result = _to_subject(candidate, atlas, decided_by, reference, keep)
        if isinstance(result, Subject) and (first := subjects.get(result.id)) is not None:
            where = f" from '{first.source.file}'" if first.source else ""
            sentence = f"Subject '{result.id}' was read{where} already. Rename one, or choose files by a pattern."
            result = _Problem(candidate.source.file, result.id, InputError(sentence))
        if isinstance(result, Subject):
            subjects[result.id] = result
        else:
            problems.append(result)
    return subjects, problems


def _to_subject(
    candidate: _Candidate, atlas: Atlas, decided_by: str, reference: tuple[str, ...] | None, keep: KeepArray
) -> Subject | _Problem:
    """Decide what one reading means, and put its regions in the order of the reference (:func:`_reference_names`).

    ``decided_by`` is what decided on the atlas, for the provenance.
    """
    reading = candidate.reading
    try:
        with one_refused_file("The file"):
            measured = interpret(reading, n_regions=atlas.n_regions)
            names = atlas.own_names(reading.names or ())
            order = recognise.region_order(names, reference, atlas)
            lengths = reading.lengths
            if order is not None:
                measured = measured.in_order(order)
                lengths = None if lengths is None else lengths[np.ix_(order, order)]
    except InputError as error:
        other_atlas = atlas.n_regions not in reading.values.shape
        return _Problem(candidate.source.file, candidate.subject, error, other_atlas=other_atlas)
    decided: dict[str, str | float | bool] = {**reading.options, ATLAS_DECIDED_BY: decided_by, "kind": measured.kind}
    if measured.orientation is not None:
        decided |= {"orientation": measured.orientation, "orientation decided by": measured.orientation_by}
    if measured.mirrored:
        decided[_MIRRORED] = measured.mirrored
    if order is not None:
        decided["regions reordered"] = True
    return Subject(
        id=candidate.subject,
        series=keep(measured.values) if measured.kind == "series" else None,
        connectivity=keep(measured.values) if measured.kind == "connectivity" else None,
        missing_regions=measured.missing_regions,
        tr=reading.tr,
        source=replace(candidate.source, options=decided),
        lengths=None if lengths is None else keep(lengths),
        group=reading.group,
        phenotypes=reading.phenotypes,
        simulated=reading.simulated,
    )


def _reference_names(candidates: Iterable[_Candidate], atlas: Atlas) -> tuple[str, ...] | None:
    """Return the regions' names in the order that all subjects must have: the atlas's own where files use them."""
    named = [names for item in candidates if len(names := atlas.own_names(item.reading.names or ())) == atlas.n_regions]
    if any(set(names) == set(atlas.regions) for names in named):
        return atlas.regions
    return named[0] if named else None


def _file_name(file: FoundFile, options: ReadOptions) -> FileName:
    """What names say: of an image's regions, the label image's name does."""
    labels, bundled, reader = options.image.labels, options.image.bundled, reader_of(file.path)
    if labels is None or reader is None or not reader.images:
        return replace(FileName.of(file.path), labels=recognise.label_table_beside(file.path, file.root))
    if bundled is None:
        return FileName.of(Path(labels))
    return FileName(file.path.name, said_by=f"the bundled label image {bundled.key}", bundled=bundled.key)


def _names_of_subjects(subject: str, readings: list[Reading]) -> list[str]:
    """A file's subject goes by the file's name; several in one go by their own ids, or by number.

    A file that names more regions than are read is refused before it can be taken for another atlas.
    """
    limits = current_limits()
    for regions in filter(None, (reading.names for reading in readings)):
        limits.check("regions", len(regions), "The file")
        limits.check("region_characters", max(map(len, regions)), "The file")
    width = len(str(len(readings)))
    numbered = [f"{subject}_{i:0{width}d}" for i in range(1, len(readings) + 1)] if len(readings) > 1 else [subject]
    names = [reading.subject or number for reading, number in zip(readings, numbered, strict=True)]
    _check_printable(*names)
    limits.check("id_characters", max(map(len, names)), "The file")
    return names


# From what a user names, a file, a folder, an archive or several of them, to a cohort.
#
# :func:`read_cohort` reads everything, settles the atlas once for all subjects, and returns the cohort together with
# the list of what was refused.


def read_cohort(
    path: str | Path | Sequence[str | Path],
    *,
    atlas: str | Path | Atlas | None = None,
    phenotypes: str | Path | None = None,
    options: ReadOptions | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    keep: KeepArray = lambda values: values,
) -> Cohort:
    """Read subjects from files, folders and archives.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder, a ``.zip``, or several of them; or a project, which is a whole cohort by itself.
    atlas : str, path or Atlas, optional
        A bundled name, a region table, an atlas, or ``unknown`` for none of the bundled ones. None takes it from region
        names, from a known layout or from the files' names, and asks where these say nothing.
    phenotypes : path, optional
        Table of groups and covariates, or the name of one of those that lie with the data. None uses all of these.
    options : ReadOptions, optional
        The user's word on what the files alone do not say.
    name : str, optional
        The cohort's name; None takes it from the path.
    progress : callable, optional
        Told (done, total) after each file.
    keep : callable, optional
        Where the numbers of subjects are kept, such as :class:`biobgt.base.arrays.ArraysOnDisk`; by default in memory.

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

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("sub-01", "sub-02"):
    ...         np.savetxt(Path(folder, f"{name}.csv"), [[1, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 1]], delimiter=",")
    ...     cohort = read_cohort(folder, atlas="unknown")
    >>> cohort.ids, cohort.atlas.n_regions
    (('sub-01', 'sub-02'), 3)
    >>> cohort["sub-01"].connectivity[0].tolist()
    [1.0, 0.5, 0.1]
    """
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(item) for item in path]
    options = options or ReadOptions()
    unknown = isinstance(atlas, str) and atlas.lower() == UNKNOWN_ATLAS
    chosen = find_atlas(atlas) if atlas is not None and not unknown else None
    if any(suffix_of(item) == PROJECT_SUFFIX for item in paths):
        project = _read_project(paths, chosen, phenotypes, name)
        project = project if options.connectivity is None else edits.set_given_kind(project, options.connectivity)
        return edits.apply_recording_rule(project, options.recordings, run=options.run)
    with ExitStack() as stack, each_workbook_once():
        found = look_up(paths, options, stack)
        table = found.read_phenotypes(phenotypes)
        read = list(_within_limits(_read_candidates(found.data, options, chosen, progress, keep)))
    candidates = [item if unknown else item.whole(chosen) for item in read if isinstance(item, _Candidate)]
    problems = [item for item in read if isinstance(item, _Problem)]
    atlas, decided_by, note = settle_atlas([item.reading for item in candidates], chosen, unknown=unknown)
    current_limits().check("regions", atlas.n_regions, "The data's atlas")
    subjects, more_problems = _to_subjects(candidates, atlas, decided_by, keep)
    if chosen is not None and subjects and more_problems:  # what a refused file says about the atlas does not count
        accepted = _accepted(candidates, subjects)
        _, decided_by, note = settle_atlas([item.reading for item in accepted], chosen)
        subjects, _ = _to_subjects(accepted, chosen, decided_by, keep)
    _sort_problems(problems + more_problems, subjects, found)
    if not subjects:
        raise _nothing_read(paths, found)
    cohort = Cohort(
        name=name or printable(", ".join(item.resolve().stem for item in paths[:3])),
        subjects=tuple(subjects.values()),
        atlas=atlas,
        refused=tuple(found.refused),
        notes=(
            *(note, *found.notes, *_notes_on(subjects.values())),
            *dict.fromkeys(said for item in candidates for said in item.reading.notes),
        ),
        given=_given_kind(subjects.values(), options),
    )
    if cohort.given is not None:
        by = edits.BY_VALUES if options.connectivity is None else BY_USER
        cohort = edits.set_given_kind(cohort, cohort.given, by=by)
    # Where nothing in the files tells the atlas, connectivity may speak against it.
    if decided_by in (BY_USER, ATLAS_BY_COUNT) and (doubt := atlas_doubt(cohort)):
        cohort = cohort.noted(doubt)
    cohort = edits.apply_missing_rule(cohort, options.missing)
    if table is not None:
        cohort = _with_table(cohort, table, candidates, options)
    return edits.apply_recording_rule(cohort, options.recordings, run=options.run)


def _with_table(cohort: Cohort, table: Phenotypes, candidates: Sequence[_Candidate], options: ReadOptions) -> Cohort:
    """Give subjects their rows of a table: by id, or, where they have none, in order, if the user says so."""
    unnamed = len(candidates) > 1 and all(item.reading.subject is None for item in candidates)
    of_one_file = unnamed and len({item.source.file for item in candidates}) == 1
    if not of_one_file and table.has_ids:
        return match_phenotypes(cohort, table)
    n_rows, n_read = len(table.table), len(candidates)
    rows = f"{counted(n_rows, 'row')} of the phenotype table"
    if not of_one_file:
        return cohort.noted(f"Not used: {rows}, which have no subject ids.")
    if n_rows != n_read or options.rows == "apart":
        without = f"because there are {counted(n_read, 'subject')} without ids"
        why = "as you said" if options.rows == "apart" else without
        ids = tuple(map(str, table.table["subject"])) if table.has_ids else ()
        return cohort.noted(f"Not used: {rows}, {why}.", unmatched_subjects=cohort.ids, unmatched_rows=ids)
    places = {item.subject: place for place, item in enumerate(candidates)}
    if options.rows == "in-order":
        return give_rows(cohort, table, [places[name] for name in cohort.ids])
    ends = []
    for place in (0, n_rows - 1):
        row = table.table.iloc[place]
        known = [f"'{row['subject']}'"] * table.has_ids + [f"of group {row['group']}"] * bool(row.get("group"))
        ends.append(f"subject {place + 1} is {' '.join(known) or f'in row {place + 1}'}")
    raise ChoiceNeeded(
        f"'{candidates[0].source.file}' has {n_read} subjects without ids, and the phenotype table has as many rows. "
        "Nothing says whether they are in the same order.",
        option="rows",
        choices={"in-order": ", and ".join(ends), "apart": "subjects go by number, without groups"},
    )


def _accepted(candidates: Sequence[_Candidate], subjects: Mapping[str, Subject]) -> list[_Candidate]:
    """Those candidates that the subjects were made of; of two with one name in one file, the first."""
    files = {name: subject.source.file for name, subject in subjects.items() if subject.source is not None}
    first: dict[str, _Candidate] = {}
    for item in candidates:
        if files.get(item.subject) == item.source.file:
            first.setdefault(item.subject, item)
    return list(first.values())


def _given_kind(subjects: Iterable[Subject], options: ReadOptions) -> GivenKind | None:
    """What the matrices are, as the user or their values say; otherwise it is asked."""
    matrices = [subject.connectivity for subject in subjects if subject.connectivity is not None]
    if not matrices or options.connectivity is not None:
        return options.connectivity
    told = told_kind(*matrices)
    if told is not None:
        return told
    if len({told_kind(matrix) for matrix in matrices} - {None}) > 1:
        question = "Some of the connectivity matrices look functional and others structural, and a cohort has one kind."
    else:
        question = (
            "The connectivity matrices have neither a negative value nor a diagonal of ones, so their values do not "
            "tell whether they are functional or structural."
        )
    meanings = ReadOptions.declared()["connectivity"]
    choices = {str(one): meanings.text(one) for one in meanings.choices or ()}
    raise ChoiceNeeded(question, option="connectivity", choices=choices)


def _within_limits(read: Iterable[_Candidate | _Problem]) -> Iterator[_Candidate | _Problem]:
    """Stop before subjects, each small enough, fill the memory together."""
    limits = current_limits()
    n_subjects = n_bytes = 0
    for item in read:
        if isinstance(item, _Candidate):
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
    cohort = open_project(paths[0]).cohort
    if atlas is not None and atlas is not cohort.atlas:
        cohort = edits.change_atlas(cohort, atlas)
    if phenotypes is not None:
        cohort = match_phenotypes(cohort, read_phenotypes(phenotypes))
    return replace(cohort, name=name or cohort.name)


def _notes_on(subjects: Iterable[Subject]) -> list[str]:
    """Say what was decided about the files' contents and may be worth a look."""
    options = [subject.source.options for subject in subjects if subject.source is not None]
    counts = {
        "Stored region × time, and turned": sum(option.get("orientation") == "region-time" for option in options),
        "Regions in another order, put right": sum(bool(option.get("regions reordered")) for option in options),
        "Only one triangle of the matrix was filled, and was mirrored": sum(_MIRRORED in option for option in options),
    }
    return [f"{what}: {count} of {counted(len(options), 'subject')}." for what, count in counts.items() if count]


def _sort_problems(problems: list[_Problem], subjects: Mapping[str, Subject], found: Found) -> None:
    """Refuse what could not be read; set aside another parcellation's files of subjects that were."""
    aside = [problem for problem in problems if problem.other_atlas and problem.subject in subjects]
    if aside:
        found.notes.append(f"Not read: {counted(len(aside), 'file')} of the same subjects on another atlas.")
    questions = [problem.error for problem in problems if isinstance(problem.error, ChoiceNeeded)]
    if questions and not subjects:
        raise questions[0]  # the answer holds for every file, so the user is asked once
    found.refused += [Refusal(problem.file, str(problem.error)) for problem in problems if problem not in aside]


def _nothing_read(paths: list[Path], found: Found) -> InputError:
    what = ", ".join(f"'{path.name}'" for path in paths[:3])
    refused = found.refused
    if not refused and found.phenotypes:
        return InputError(f"There is a phenotype table in {what}, and no file of the people it describes. Add both.")
    if not refused:
        return InputError(f"There is nothing to read in {what}: no file of region series, connectivity or images.")
    if len(refused) == 1:
        return InputError(f"'{refused[0].file}' could not be read. {refused[0].reason}")
    reasons = " ".join(f"{item.file}: {item.reason}" for item in refused[:3])
    return InputError(f"None of the {len(refused)} files in {what} could be read. {reasons}")
