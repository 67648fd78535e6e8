"""From files to subjects: read each file, and, once the atlas is known, decide what its numbers mean."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from biobgt.atlas import Atlas
from biobgt.cohort import ATLAS_DECIDED_BY, Source, Subject
from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.readers.file_names import FoundFile, check_name, printable, subject_ids
from biobgt.readers.files import describe_source, read_file
from biobgt.readers.formats import is_image, is_read_ahead
from biobgt.readers.guarding import one_refused_file
from biobgt.readers.isolated import read_until
from biobgt.readers.label_tables import label_table_beside
from biobgt.readers.read_options import ReadOptions
from biobgt.readers.reading import Measurement, Reading, interpret, named_by_table, names_of_regions
from biobgt.readers.recognition import check_places, region_order
from biobgt.readers.releases import FileName, read_name

Progress = Callable[[int, int], None]
_AT_A_TIME = 2


@dataclass(frozen=True, eq=False)
class Candidate:
    """One subject's reading, before an atlas is chosen."""

    subject: str
    reading: Reading
    source: Source


@dataclass(frozen=True, eq=False)
class Problem:
    """A file, or a subject in it, that could not be read, or that leaves a question open."""

    file: str
    subject: str
    error: InputError
    other_atlas: bool = False


def read_candidates(
    files: Sequence[FoundFile], options: ReadOptions, atlas: Atlas | None, progress: Progress | None = None
) -> Iterator[Candidate | Problem]:
    """Read one file after another; what fails is a problem of that file alone.

    Parameters
    ----------
    files : sequence of FoundFile
    options : ReadOptions
        The user's word on what the files alone do not say.
    atlas : Atlas or None
        Where the user named one.
    progress : callable, optional
        Told (done, total) after each file.
    """
    for i, found in enumerate(_a_little_ahead(files, options, atlas), start=1):
        yield from found
        if progress is not None:
            progress(i, len(files))


def _a_little_ahead(
    files: Sequence[FoundFile], options: ReadOptions, atlas: Atlas | None
) -> Iterator[list[Candidate] | list[Problem]]:
    """Read files in their order; those that other processes read, two at a time.

    Whoever stops early, by an interrupt or a limit of the cohort, does not wait for the files ahead.
    """
    stopped = Event()
    threads = ThreadPoolExecutor(_AT_A_TIME, "biobgt-reading", initializer=read_until, initargs=(stopped,))
    waiting: deque[Future[list[Candidate] | list[Problem]]] = deque()
    try:
        for file, subject in zip(files, subject_ids(files), strict=True):
            ahead = is_read_ahead(file.path)
            if ahead:
                waiting.append(threads.submit(_read_one, file, subject, options, atlas))
            while len(waiting) > (_AT_A_TIME if ahead else 0):
                yield waiting.popleft().result()
            if not ahead:
                yield _read_one(file, subject, options, atlas)
        while waiting:
            yield waiting.popleft().result()
    finally:
        stopped.set()
        threads.shutdown(cancel_futures=True)  # archives are unpacked until this returns, so nobody reads on


def _read_one(
    file: FoundFile, subject: str, options: ReadOptions, atlas: Atlas | None
) -> list[Candidate] | list[Problem]:
    try:
        with one_refused_file("The file"):
            check_name(file.name, subject)
            readings = read_file(file.path, options, atlas, root=file.root)
            _check_named_regions(readings)
            names = _name_each(subject, readings)
            source = describe_source(file.path, name=file.name, sha256=readings[0].sha256 if readings else "")
    except InputError as error:
        return [Problem(printable(file.name), printable(subject), error)]
    file_name = _file_name(file, options)
    return [
        Candidate(name, named_by_table(replace(reading, file_name=file_name)), source)
        for name, reading in zip(names, readings, strict=True)
    ]


def to_subjects(
    candidates: Sequence[Candidate], atlas: Atlas, options: ReadOptions, *, decided_by: str
) -> tuple[dict[str, Subject], list[Problem]]:
    """Decide what every reading means; regions are put in the same order for all.

    ``decided_by`` is what decided on the atlas, for the provenance.

    Parameters
    ----------
    candidates : sequence of Candidate
    atlas : Atlas
    options : ReadOptions
    decided_by : str

    Returns
    -------
    subjects : dict of str to Subject
        By id.
    problems : list of Problem
    """
    reference = reference_names(candidates, atlas)
    subjects: dict[str, Subject] = {}
    problems: list[Problem] = []
    for candidate in candidates:
        result = to_subject(candidate, atlas, options, reference, decided_by=decided_by)
        if isinstance(result, Subject) and (first := subjects.get(result.id)) is not None:
            where = f" from '{first.source.file}'" if first.source else ""
            sentence = f"Subject '{result.id}' was read{where} already. Rename one, or choose files by a pattern."
            result = Problem(candidate.source.file, result.id, InputError(sentence))
        if isinstance(result, Subject):
            subjects[result.id] = result
        else:
            problems.append(result)
    return subjects, problems


def to_subject(
    candidate: Candidate,
    atlas: Atlas,
    options: ReadOptions,
    reference: tuple[str, ...] | None,
    *,
    decided_by: str,
) -> Subject | Problem:
    """Decide what one reading means, and put its regions in the order of the reference.

    Parameters
    ----------
    candidate : Candidate
    atlas : Atlas
    options : ReadOptions
    reference : tuple of str, length n_regions, or None
        Names in the order that all subjects must have; see :func:`reference_names`.
    decided_by : str
        What decided on the atlas, for the provenance.
    """
    reading = candidate.reading
    try:
        with one_refused_file("The file"):
            measured = interpret(reading, n_regions=atlas.n_regions, kind=options.kind, orientation=options.orientation)
            names = _own_names(reading, atlas)
            check_places(names or (), atlas)
            measured, reordered = _in_order(measured, names, reference)
    except InputError as error:
        other_atlas = atlas.n_regions not in reading.values.shape
        return Problem(candidate.source.file, candidate.subject, error, other_atlas=other_atlas)
    decided: dict[str, str | float | bool] = {**reading.options, ATLAS_DECIDED_BY: decided_by, "kind": measured.kind}
    if measured.orientation is not None:
        decided |= {"orientation": measured.orientation, "orientation decided by": measured.orientation_by}
    if reordered:
        decided["regions reordered"] = True
    return Subject(
        id=candidate.subject,
        series=measured.values if measured.kind == "series" else None,
        connectivity=measured.values if measured.kind == "connectivity" else None,
        missing_regions=measured.missing_regions,
        tr=reading.tr,
        source=replace(candidate.source, options=decided),
        simulated=reading.simulated,
    )


def reference_names(candidates: Iterable[Candidate], atlas: Atlas) -> tuple[str, ...] | None:
    """Return the regions' names in the order that all subjects must have: the atlas's own where files use them."""
    named = [
        names for item in candidates if (names := _own_names(item.reading, atlas)) and len(names) == atlas.n_regions
    ]
    if any(set(names) == set(atlas.regions) for names in named):
        return atlas.regions
    return named[0] if named else None


def _file_name(file: FoundFile, options: ReadOptions) -> FileName:
    """What names say: of an image's regions, the label image's name does."""
    labels, bundled = options.image.labels, options.image.bundled
    if bundled is not None and is_image(file.path):
        return FileName(file.path.name, said_by=f"the bundled label image {bundled.key}", bundled=bundled.key)
    if labels is not None and is_image(file.path):
        return read_name(Path(labels))
    return replace(read_name(file.path), labels=label_table_beside(file.path, file.root))


def _own_names(reading: Reading, atlas: Atlas) -> tuple[str, ...] | None:
    """The names of a reading's regions, spelt as the atlas does."""
    names = names_of_regions(reading)
    return None if names is None else atlas.own_names(names)


def _in_order(
    measured: Measurement, names: tuple[str, ...] | None, reference: tuple[str, ...] | None
) -> tuple[Measurement, bool]:
    order = region_order(names, reference) if names is not None and reference is not None else None
    if order is None:
        return measured, False
    values = measured.values[:, order]
    if measured.kind == "connectivity":
        values = values[order]
    missing = tuple(sorted(order.index(region) for region in measured.missing_regions))
    return replace(measured, values=values, missing_regions=missing), True


def _check_named_regions(readings: list[Reading]) -> None:
    """Refuse a file that names more regions than are read, before it can be taken for another atlas."""
    limits = current_limits()
    for names in filter(None, map(names_of_regions, readings)):
        limits.check("regions", len(names), "The file")
        limits.check("region_characters", max(map(len, names)), "The file")


def _name_each(subject: str, readings: list[Reading]) -> list[str]:
    """A file's subject goes by the file's name; several in one go by their own ids, or by number."""
    width = len(str(len(readings)))
    numbered = [f"{subject}_{i:0{width}d}" for i in range(1, len(readings) + 1)] if len(readings) > 1 else [subject]
    names = [reading.subject or number for reading, number in zip(readings, numbered, strict=True)]
    check_name(*names)
    current_limits().check("id_characters", max(map(len, names)), "The file")
    return names
