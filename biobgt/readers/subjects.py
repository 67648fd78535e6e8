"""From files to subjects: read each file, and, once the atlas is known, decide what its numbers mean."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from biobgt.atlas import Atlas
from biobgt.cohort import ATLAS_DECIDED_BY, Source, Subject
from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.readers.files import IMAGE_SUFFIXES, ReadOptions, describe_source, read_file, suffix_of
from biobgt.readers.guarding import one_refused_file
from biobgt.readers.naming import FoundFile, check_name, printable, subject_ids
from biobgt.readers.reading import Measurement, Reading, interpret, names_of_regions
from biobgt.readers.recognition import check_places, region_order
from biobgt.readers.releases import FileName, read_name

Progress = Callable[[int, int], None]


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
    """Read one file after another; what fails is a problem of that file alone."""
    for i, (file, subject) in enumerate(zip(files, subject_ids(files), strict=True), start=1):
        try:
            with one_refused_file("The file"):
                check_name(file.name, subject)
                readings = read_file(file.path, options, atlas, root=file.root)
                names = _name_each(subject, readings)
                source = describe_source(file.path, name=file.name)
        except InputError as error:
            yield Problem(printable(file.name), printable(subject), error)
        else:
            file_name = _file_name(file, options)
            for name, reading in zip(names, readings, strict=True):
                yield Candidate(name, replace(reading, file_name=file_name), source)
        if progress is not None:
            progress(i, len(files))


def to_subjects(
    candidates: Sequence[Candidate], atlas: Atlas, options: ReadOptions, *, decided_by: str
) -> tuple[dict[str, Subject], list[Problem]]:
    """Decide what every reading means; regions are put in the same order for all.

    ``decided_by`` is what decided on the atlas, for the provenance.
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
    """Decide what one reading means, and put its regions in the order of the reference."""
    reading = candidate.reading
    try:
        with one_refused_file("The file"):
            measured = interpret(reading, n_regions=atlas.n_regions, kind=options.kind, orientation=options.orientation)
            names = names_of_regions(reading)
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
        names for item in candidates if (names := names_of_regions(item.reading)) and len(names) == atlas.n_regions
    ]
    if any(set(names) == set(atlas.regions) for names in named):
        return atlas.regions
    return named[0] if named else None


def _file_name(file: FoundFile, options: ReadOptions) -> FileName:
    """What names say: of an image's regions, the label image's name does."""
    labels = options.image.labels
    return read_name(Path(labels) if labels and suffix_of(file.path) in IMAGE_SUFFIXES else file.path)


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


def _name_each(subject: str, readings: list[Reading]) -> list[str]:
    """A file's subject goes by the file's name; several in one go by their own ids, or by number."""
    width = len(str(len(readings)))
    numbered = [f"{subject}_{i:0{width}d}" for i in range(1, len(readings) + 1)] if len(readings) > 1 else [subject]
    names = [reading.subject or number for reading, number in zip(readings, numbered, strict=True)]
    check_name(*names)
    current_limits().check("id_characters", max(map(len, names)), "The file")
    return names
