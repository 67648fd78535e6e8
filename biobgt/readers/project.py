"""Projects (``.biobgt``): a cohort, its graph settings and what is looked at, in one file that opens again.

A project file is an ``.npz`` archive with a JSON document in it; ``numpy.load`` opens its arrays. The numbers come back
as they were, to the last bit. Nothing in it is ever unpacked to the disk or unpickled: arrays are float64 numbers
behind a header that is checked, and each has its SHA-256 in the document. :func:`biobgt.read_cohort` reads a project as
the cohort it holds, so every job of the command line takes one.
"""

import datetime
import hashlib
import io
import json
import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, get_args

import numpy as np

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError, Refusal
from biobgt.base.files import TIMELESS
from biobgt.base.limits import ZIP_ERRORS, current_limits, open_archive
from biobgt.data.atlas import BUNDLED, Atlas, load_atlas
from biobgt.data.cohort import Cohort, Source, Subject
from biobgt.data.graph import ConnectomeSettings, GivenKind, check_connectivity
from biobgt.readers.arrays import HEADER_ERRORS
from biobgt.readers.foreign.isolate import one_refused_file

__all__ = ["PROJECT_SUFFIX", "Project", "ViewValue", "open_project", "save_project", "settings_from"]

PROJECT_SUFFIX = ".biobgt"
FORMAT = "biobgt project"
VERSION = 1
DOCUMENT = "project.json"
_ARRAY_NAME = re.compile(r"arrays/[0-9a-z_]{1,40}\.npy")
_ENCRYPTED = 0x1
_LOCKED = "The project file is protected by a password. Save it without one."
_ALWAYS_UNPACKED = 2**20  # bytes of a document
_NUMBER, _DATE = "number", "date"
_LARGEST_WHOLE = 2**53  # a float holds whole numbers up to here exactly
ViewValue = str | int | float | bool
_KeepArray = Callable[[str, FloatArray], str]
_TakeArray = Callable[[str], FloatArray]


@dataclass(frozen=True, eq=False)
class Project:
    """A cohort, the settings of its brain graphs, and further choices (subject, γ, resolution, ...) by name."""

    cohort: Cohort
    settings: ConnectomeSettings = field(default_factory=ConnectomeSettings)
    view: Mapping[str, ViewValue] = field(default_factory=dict)


def save_project(
    cohort: Cohort, settings: ConnectomeSettings, view: Mapping[str, ViewValue], stream: str | Path | BinaryIO
) -> None:
    """Write a project file.

    Parameters
    ----------
    cohort : Cohort
        With at least one subject. Phenotypes that are neither number, text nor date are saved as text.
    settings : ConnectomeSettings
    view : mapping of str to str, int, float or bool
        Further choices, for whoever opens the project.
    stream : path or binary file
    """
    if not len(cohort):
        raise InputError("There is no subject to save.")
    arrays: dict[str, dict[str, Any]] = {}
    # Series hardly shrink (to 85 % on ABIDE, at a tenth of the speed), so arrays are stored as they are.
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:

        def keep(name: str, values: FloatArray) -> str:
            buffer = io.BytesIO()
            np.save(buffer, np.ascontiguousarray(values, dtype="<f8"), allow_pickle=False)
            content = buffer.getvalue()
            where = f"arrays/{name}.npy"
            arrays[where] = {"shape": list(values.shape), "sha256": hashlib.sha256(content).hexdigest()}
            archive.writestr(zipfile.ZipInfo(where, TIMELESS), content)
            return where

        document = {
            "format": FORMAT,
            "version": VERSION,
            "cohort": _cohort_document(cohort, keep),
            "settings": settings.as_dict(),
            "view": dict(view),
            "arrays": arrays,
        }
        # In ASCII, because names of files may hold bytes that are no text, and those cannot be written otherwise.
        text = json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1)
        archive.writestr(zipfile.ZipInfo(DOCUMENT, TIMELESS), text, zipfile.ZIP_DEFLATED)


def open_project(stream: str | Path | BinaryIO) -> Project:
    """Open a project file.

    Raises
    ------
    InputError
        For a file that is no project, was cut off or changed, or was written by another version.

    Examples
    --------
    >>> from io import BytesIO
    >>> from biobgt.data.simulate import demo_cohort
    >>> file = BytesIO()
    >>> save_project(demo_cohort("ad", n_per_group=1), ConnectomeSettings(level=0.2), {"subject": "sim-AD-001"}, file)
    >>> project = open_project(file)
    >>> project.settings.level, project.view["subject"], len(project.cohort)
    (0.2, 'sim-AD-001', 3)
    """
    with one_refused_file("The project file"):
        try:
            with open_archive(stream, current_limits()) as archive:
                document = _read_document(archive)
                _check_entries(archive, document)
                settings = settings_from(_field_of(document, "settings", dict))
                view = _field_of(document, "view", dict)
                if not all(isinstance(value, ViewValue) for value in view.values()):
                    raise InputError(
                        "The project file is damaged: what it says of the view is neither text nor number."
                    )
                return Project(_read_cohort(archive, document), settings, view)
        except ZIP_ERRORS as error:
            if isinstance(error, OSError) and error.strerror:
                raise
            raise InputError(
                f"This is not a whole project file: it was cut off, damaged, or is no {PROJECT_SUFFIX} file at all. "
                "Take another copy of it."
            ) from None


def settings_from(document: Mapping[str, Any]) -> ConnectomeSettings:
    """Read settings as :meth:`ConnectomeSettings.as_dict` writes them, from a document that may be damaged."""
    declared = ConnectomeSettings.declared().values()
    return ConnectomeSettings(**{one.name: _field_of(document, one.name, one.types[0]) for one in declared})


# The cohort in a project's JSON document: both ways, field by field, with every type checked on the way in. Numbers
# that JSON does not have (NaN, infinities) and dates are written as ``{"number": …}`` and ``{"date": …}``.


def _cohort_document(cohort: Cohort, keep: _KeepArray) -> dict[str, Any]:
    """Write a cohort as plain values; ``keep`` is given every array with a name for it, and returns where it is."""
    return {
        "name": cohort.name,
        "atlas": _atlas_document(cohort.atlas, keep),
        "subjects": [_subject_document(subject, keep, i) for i, subject in enumerate(cohort, start=1)],
        "refused": [{"file": refusal.file, "reason": refusal.reason} for refusal in cohort.refused],
        "notes": list(cohort.notes),
        "unmatched_subjects": list(cohort.unmatched_subjects),
        "unmatched_rows": list(cohort.unmatched_rows),
        "connectivity": cohort.given,
    }


def _cohort_from_document(document: Mapping[str, Any], take: _TakeArray) -> Cohort:
    """Read a cohort back; ``take`` returns the array that lies somewhere."""
    atlas = _atlas_from(_field_of(document, "atlas", dict), take)
    described = _list_of(document, "subjects", dict)
    if not described:
        raise InputError("The project has no subjects.")
    if len({_field_of(item, "array", str) for item in described}) < len(described):
        raise InputError("The project file is damaged: two of its subjects share their numbers.")
    given = _field_of(document, "connectivity", str | None)
    if given not in (None, *get_args(GivenKind)):
        raise InputError("The project file is damaged: it names a kind of connectivity that there is not.")
    return Cohort(
        name=_field_of(document, "name", str),
        subjects=tuple(_subject_from(item, take, atlas) for item in described),
        atlas=atlas,
        refused=tuple(Refusal(**_fields(item, file=str, reason=str)) for item in _list_of(document, "refused", dict)),
        given=given,
        **{name: _list_of(document, name, str) for name in ("notes", "unmatched_subjects", "unmatched_rows")},
    )


def _fields(document: Mapping[str, Any], **kinds: Any) -> dict[str, Any]:
    """Several fields of the document, by name, each of its kind."""
    return {name: _field_of(document, name, kind) for name, kind in kinds.items()}


def _field_of(document: Mapping[str, Any], name: str, kind: Any) -> Any:
    """Return a field of the document, which must be there and of its kind, such as ``str`` or ``str | None``.

    ``float`` takes whole numbers, too. True is an int to Python, and no number to a user.
    """
    value = document.get(name)
    kinds = get_args(kind) or (kind,)
    if float in kinds and isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_WHOLE:
        value = float(value)
    endless = isinstance(value, float) and not math.isfinite(value)
    if not isinstance(value, kinds) or endless or (isinstance(value, bool) and bool not in kinds):
        raise InputError(f"The project file is damaged: '{name[:80]}' is missing in it, or is not what it should be.")
    return value


def _list_of(document: Mapping[str, Any], name: str, kind: type) -> tuple[Any, ...]:
    """Return a list in the document, all of whose values must be of a kind."""
    return tuple(_field_of({name: value}, name, kind) for value in _field_of(document, name, list))


def _plain_value(value: object) -> Any:
    """Write a phenotype or an option as JSON can hold it; what is neither number, text nor date becomes text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {_NUMBER: str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime.date):  # and its descendants, pandas' among them
        return {_DATE: value.isoformat()}
    return str(value)


def _values_of(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Read phenotypes or options as :func:`_plain_value` wrote them."""
    return {key: _value_from(value) for key, value in _field_of(document, name, dict).items()}


def _value_from(value: Any) -> object:
    if isinstance(value, list):
        raise InputError("The project file is damaged: a list stands where a value belongs.")
    if not isinstance(value, dict):
        return value
    is_number = set(value) == {_NUMBER}
    text = _field_of(value, _NUMBER if is_number else _DATE, str)
    try:
        if is_number:
            return float(text)
        return datetime.datetime.fromisoformat(text) if "T" in text else datetime.date.fromisoformat(text)
    except ValueError:
        raise InputError("The project file is damaged: it has a date or a number that is none.") from None


def _subject_document(subject: Subject, keep: _KeepArray, number: int) -> dict[str, Any]:
    values = subject.series if subject.series is not None else subject.connectivity
    assert values is not None
    if not np.isfinite(values).all():
        raise InputError(f"Subject '{subject.id}' has values that are not finite, and cannot be saved.")
    source = subject.source
    return {
        "id": subject.id,
        "group": subject.group,
        "kind": subject.kind,
        "array": keep(f"subject_{number:05d}", values),
        "lengths": None if subject.lengths is None else keep(f"lengths_{number:05d}", subject.lengths),
        "missing_regions": [int(region) for region in subject.missing_regions],
        "phenotypes": {str(name): _plain_value(value) for name, value in subject.phenotypes.items()},
        "tr": None if subject.tr is None else float(subject.tr),
        "source": source and {**vars(source), "options": {k: _plain_value(v) for k, v in source.options.items()}},
        "simulated": bool(subject.simulated),
    }


def _subject_from(document: Mapping[str, Any], take: _TakeArray, atlas: Atlas) -> Subject:
    name, kind = _field_of(document, "id", str), _field_of(document, "kind", str)
    values = take(_field_of(document, "array", str))
    # A changed file may say anything: what is read is held to what a subject promises.
    if kind == "connectivity":
        check_connectivity(values, what=f"The matrix of subject '{name}'")
    elif kind != "series" or values.ndim != 2 or min(values.shape) < 2 or not np.isfinite(values).all():
        raise InputError(f"The project file is damaged: subject '{name}' has neither whole series nor connectivity.")
    source = _field_of(document, "source", dict | None)
    missing = _list_of(document, "missing_regions", int)
    if any(not 0 <= region < atlas.n_regions for region in missing):
        raise InputError(f"The project file is damaged: subject '{name}' misses a region that its atlas does not have.")
    named = document.get("lengths")  # projects of earlier versions have none
    lengths = None if named is None else take(_field_of(document, "lengths", str))
    if lengths is not None and (kind == "series" or lengths.shape != values.shape or not np.isfinite(lengths).all()):
        raise InputError(f"The project file is damaged: subject '{name}' has lengths that do not fit its matrix.")
    return Subject(
        id=name,
        lengths=lengths,
        series=values if kind == "series" else None,
        connectivity=values if kind == "connectivity" else None,
        missing_regions=missing,
        phenotypes=_values_of(document, "phenotypes"),
        source=source
        and Source(
            **_fields(source, file=str, n_bytes=int, sha256=str, reader=str), options=_values_of(source, "options")
        ),
        **_fields(document, group=str | None, tr=float | None, simulated=bool),
    )


def _atlas_document(atlas: Atlas, keep: _KeepArray) -> dict[str, Any]:
    """A bundled atlas goes by its name; a user's own goes along whole, also where it borrows a bundled one's name."""
    if atlas.name in BUNDLED and _same_atlas(atlas, load_atlas(atlas.name)):
        return {"bundled": atlas.name}
    return {
        "name": atlas.name,
        "title": atlas.title,
        "regions": list(atlas.regions),
        "coordinates": None if atlas.coordinates is None else keep("coordinates", atlas.coordinates),
        "labels": {name: list(labels) for name, labels in atlas.labels.items()},
        "citation": atlas.citation,
    }


def _atlas_from(document: Mapping[str, Any], take: _TakeArray) -> Atlas:
    if "bundled" in document:
        return load_atlas(_field_of(document, "bundled", str))
    regions = _list_of(document, "regions", str)
    where = _field_of(document, "coordinates", str | None)
    labels = _field_of(document, "labels", dict)
    for items in labels.values():
        if (
            not isinstance(items, list)
            or len(items) != len(regions)
            or not all(isinstance(i, str | None) for i in items)
        ):
            raise InputError("The project file is damaged: a functional labelling does not fit its atlas.")
    return Atlas(
        **_fields(document, name=str, title=str, citation=str),
        regions=regions,
        coordinates=None if where is None else take(where),
        labels={name: tuple(items) for name, items in labels.items()},
    )


def _same_atlas(one: Atlas, other: Atlas) -> bool:
    if one.coordinates is None or other.coordinates is None:
        same_places = one.coordinates is other.coordinates
    else:
        same_places = np.array_equal(one.coordinates, other.coordinates, equal_nan=True)
    words = [(atlas.title, atlas.regions, dict(atlas.labels), atlas.citation) for atlas in (one, other)]
    return same_places and words[0] == words[1]


# The file.


def _read_cohort(archive: zipfile.ZipFile, document: Mapping[str, Any]) -> Cohort:
    """Read the cohort of a document that was checked as far as the archive goes."""
    limits = current_limits()
    limits.check("cohort_bytes", sum(entry.file_size for entry in archive.infolist()), "The project")
    arrays = _field_of(document, "arrays", dict)

    def take(name: str) -> FloatArray:
        """Read one array, and make sure that it is the one that was saved."""
        about = _field_of(arrays, name, dict)
        content = archive.read(name)
        if hashlib.sha256(content).hexdigest() != _field_of(about, "sha256", str):
            raise InputError(
                f"The project file is damaged: '{name}' is not what was saved (its SHA-256 differs). "
                "Take another copy of the file."
            )
        return _decode(content, name, tuple(_field_of(about, "shape", list)))

    cohort = _cohort_from_document(_field_of(document, "cohort", dict), take)
    limits.check("regions", cohort.atlas.n_regions, "The project's atlas")
    limits.check("id_characters", max(map(len, cohort.ids)), "The project")
    return cohort


def _read_document(archive: zipfile.ZipFile) -> Mapping[str, Any]:
    """Read the JSON document, and tell projects from other archives and from those of another version."""
    names = archive.namelist()
    if DOCUMENT not in names:
        raise InputError(
            f"This is a zip archive and not a project: there is no {DOCUMENT} in it. If it holds subjects' files, "
            "rename it to end in .zip and open that."
        )
    entry = archive.getinfo(DOCUMENT)
    if entry.flag_bits & _ENCRYPTED:
        raise InputError(_LOCKED)
    limits, what = current_limits(), f"The project's {DOCUMENT}"
    limits.check("document_bytes", entry.file_size, what)
    if entry.file_size > max(_ALWAYS_UNPACKED, limits.ratio * entry.compress_size):
        raise InputError(
            f"{what} would grow more than {limits.ratio} times as it is unpacked, as no saved project does; the file "
            "is damaged, or made to do harm. Take another copy of it."
        )
    content = archive.read(entry)
    limits.check_document(content, what)
    try:
        document = json.loads(content.decode(), parse_constant=int)  # which refuses NaN and infinities
    except (ValueError, RecursionError):
        raise InputError(f"The project file is damaged: its {DOCUMENT} cannot be read as JSON.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"This is not a BioBGT project: its {DOCUMENT} is something else's.")
    version = _field_of(document, "version", int)
    if version != VERSION:
        raise InputError(
            f"This project was saved by another version of BioBGT Explorer (file format {version}; this one reads "
            f"{VERSION}). Open it with that version, or update BioBGT Explorer."
        )
    return document


def _check_entries(archive: zipfile.ZipFile, document: Mapping[str, Any]) -> None:
    """Make sure that the archive holds exactly what its document says: nothing twice, missing, hidden or besides."""
    names = Counter(archive.namelist())
    declared = set(_field_of(document, "arrays", dict))
    if any(not _ARRAY_NAME.fullmatch(name) for name in declared):
        raise InputError("The project file is damaged: an array in it has a name that no project uses.")
    if names.total() != len(names) or set(names) != declared | {DOCUMENT}:
        odd = sorted(set(names) ^ (declared | {DOCUMENT})) or [name for name, count in names.items() if count > 1]
        raise InputError(
            f"The project file was changed or damaged: '{odd[0][:80]}' is missing, twice there, or does not belong. "
            "Take another copy of it."
        )
    if any(entry.flag_bits & _ENCRYPTED for entry in archive.infolist()):
        raise InputError(_LOCKED)


def _decode(content: bytes, name: str, shape: tuple[object, ...]) -> FloatArray:
    """Read the bytes of an ``.npy`` file; only float64 of the stated shape and size is ever read."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)  # type: ignore[no-untyped-call]
        if version != (1, 0):
            raise ValueError("another version of the format")
        header = np.lib.format.read_array_header_1_0(stream)  # type: ignore[no-untyped-call]
        found, fortran, dtype = header
        if found != shape or fortran or dtype != np.dtype("<f8"):
            raise ValueError("another shape or type")
        # A copy, so that it can be written to, as every other reader's arrays can.
        return np.frombuffer(content, dtype, offset=stream.tell()).reshape(found).astype(np.float64)
    except HEADER_ERRORS:
        raise InputError(f"The project file is damaged: '{name}' is not the table of numbers it should be.") from None
