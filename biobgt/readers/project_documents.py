"""The cohort in a project's JSON document: both ways, field by field, with every type checked on the way in.

Numbers that JSON does not have (NaN, infinities) and dates are written as ``{"number": …}`` and ``{"date": …}``.
"""

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import BUNDLED, Atlas, load_atlas
from biobgt.cohort import Cohort, Refusal, Source, Subject
from biobgt.errors import InputError
from biobgt.graph import GivenKind, check_connectivity

Array = NDArray[np.float64]
KeepArray = Callable[[str, Array], str]
TakeArray = Callable[[str], Array]
Kind = TypeVar("Kind")

_NUMBER, _DATE = "number", "date"
_LARGEST_WHOLE = 2**53  # a float holds whole numbers up to here exactly


def cohort_document(cohort: Cohort, keep: KeepArray) -> dict[str, Any]:
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


def cohort_from_document(document: Mapping[str, Any], take: TakeArray) -> Cohort:
    """Read a cohort back; ``take`` returns the array that lies somewhere."""
    atlas = _atlas_from(field_of(document, "atlas", dict), take)
    described = list_of(document, "subjects", dict)
    if not described:
        raise InputError("The project has no subjects.")
    if len({field_of(item, "array", str) for item in described}) < len(described):
        raise InputError("The project file is damaged: two of its subjects share their numbers.")
    subjects = tuple(_subject_from(item, take, atlas) for item in described)
    return Cohort(
        name=field_of(document, "name", str),
        subjects=subjects,
        atlas=atlas,
        refused=tuple(
            Refusal(field_of(item, "file", str), field_of(item, "reason", str))
            for item in list_of(document, "refused", dict)
        ),
        notes=tuple(list_of(document, "notes", str)),
        unmatched_subjects=tuple(list_of(document, "unmatched_subjects", str)),
        unmatched_rows=tuple(list_of(document, "unmatched_rows", str)),
        given=_given_from(_optional(document, "connectivity", str)),
    )


def field_of(document: Mapping[str, Any], name: str, kind: type[Kind]) -> Kind:
    """Return a field of the document, which must be there and of its kind.

    Parameters
    ----------
    document : mapping
        Part of a project file, which may be damaged.
    name : str
        Of the field.
    kind : type
        ``float`` takes whole numbers, too.
    """
    value = document.get(name)
    if kind is float and isinstance(value, int) and abs(value) < _LARGEST_WHOLE:
        value = value if isinstance(value, bool) else float(value)
    endless = isinstance(value, float) and not math.isfinite(value)
    # True is an int to Python, and no number to a user.
    if not isinstance(value, kind) or endless or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"The project file is damaged: '{name[:80]}' is missing in it, or is not what it should be.")
    return value


def list_of(document: Mapping[str, Any], name: str, kind: type[Kind]) -> list[Kind]:
    """Return a list in the document, all of whose values must be of a kind.

    Parameters
    ----------
    document : mapping
        Part of a project file, which may be damaged.
    name : str
        Of the list.
    kind : type
        Of each value in it.
    """
    return [field_of({name: value}, name, kind) for value in field_of(document, name, list)]


def plain_value(value: object) -> Any:
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


def _value_from(value: Any) -> object:
    if isinstance(value, dict):
        try:
            if set(value) == {_NUMBER}:
                return float(field_of(value, _NUMBER, str))
            text = field_of(value, _DATE, str)
            return datetime.datetime.fromisoformat(text) if "T" in text else datetime.date.fromisoformat(text)
        except InputError:
            raise
        except ValueError:
            raise InputError("The project file is damaged: it has a date or a number that is none.") from None
    if isinstance(value, list):
        raise InputError("The project file is damaged: a list stands where a value belongs.")
    return value


def _subject_document(subject: Subject, keep: KeepArray, number: int) -> dict[str, Any]:
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
        "missing_regions": [int(region) for region in subject.missing_regions],
        "phenotypes": {str(name): plain_value(value) for name, value in subject.phenotypes.items()},
        "tr": None if subject.tr is None else float(subject.tr),
        "source": None
        if source is None
        else {
            "file": source.file,
            "n_bytes": int(source.n_bytes),
            "sha256": source.sha256,
            "reader": source.reader,
            "options": {name: plain_value(value) for name, value in source.options.items()},
        },
        "simulated": bool(subject.simulated),
    }


def _subject_from(document: Mapping[str, Any], take: TakeArray, atlas: Atlas) -> Subject:
    name, kind = field_of(document, "id", str), field_of(document, "kind", str)
    values = take(field_of(document, "array", str))
    _check_values(values, kind, name)
    missing = tuple(list_of(document, "missing_regions", int))
    if any(not 0 <= region < atlas.n_regions for region in missing):
        raise InputError(f"The project file is damaged: subject '{name}' misses a region that its atlas does not have.")
    return Subject(
        id=name,
        series=values if kind == "series" else None,
        connectivity=values if kind == "connectivity" else None,
        missing_regions=missing,
        group=_optional(document, "group", str),
        phenotypes={key: _value_from(value) for key, value in field_of(document, "phenotypes", dict).items()},
        tr=_optional(document, "tr", float),
        source=_source_from(_optional(document, "source", dict)),
        simulated=field_of(document, "simulated", bool),
    )


def _check_values(values: Array, kind: str, name: str) -> None:
    """Hold what is read to what a subject promises: a changed file may say anything."""
    if kind == "connectivity":
        check_connectivity(values, what=f"The matrix of subject '{name}'")
    elif kind != "series" or values.ndim != 2 or min(values.shape) < 2 or not np.isfinite(values).all():
        raise InputError(f"The project file is damaged: subject '{name}' has neither whole series nor connectivity.")


def _source_from(document: Mapping[str, Any] | None) -> Source | None:
    if document is None:
        return None
    options: dict[str, Any] = {name: _value_from(value) for name, value in field_of(document, "options", dict).items()}
    return Source(
        file=field_of(document, "file", str),
        n_bytes=field_of(document, "n_bytes", int),
        sha256=field_of(document, "sha256", str),
        reader=field_of(document, "reader", str),
        options=options,
    )


def _given_from(said: str | None) -> GivenKind | None:
    """What the matrices are; where nobody said, the values tell it."""
    for one in get_args(GivenKind):
        if said == one:
            return cast("GivenKind", one)
    if said is None:
        return None
    raise InputError("The project file is damaged: it names a kind of connectivity that there is not.")


def _atlas_document(atlas: Atlas, keep: KeepArray) -> dict[str, Any]:
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


def _atlas_from(document: Mapping[str, Any], take: TakeArray) -> Atlas:
    if "bundled" in document:
        return load_atlas(field_of(document, "bundled", str))
    regions = tuple(list_of(document, "regions", str))
    where = _optional(document, "coordinates", str)
    labels = {name: _labels_from(items, len(regions)) for name, items in field_of(document, "labels", dict).items()}
    return Atlas(
        name=field_of(document, "name", str),
        title=field_of(document, "title", str),
        regions=regions,
        coordinates=None if where is None else take(where),
        labels=labels,
        citation=field_of(document, "citation", str),
    )


def _labels_from(items: object, n_regions: int) -> tuple[str | None, ...]:
    if not isinstance(items, list) or len(items) != n_regions or not _all_text(items):
        raise InputError("The project file is damaged: a functional labelling does not fit its atlas.")
    return tuple(items)


def _all_text(items: Iterable[object]) -> bool:
    return all(item is None or isinstance(item, str) for item in items)


def _optional(document: Mapping[str, Any], name: str, kind: type[Kind]) -> Kind | None:
    return None if document.get(name) is None else field_of(document, name, kind)


def _same_atlas(one: Atlas, other: Atlas) -> bool:
    if one.coordinates is None or other.coordinates is None:
        same_places = one.coordinates is other.coordinates
    else:
        same_places = np.array_equal(one.coordinates, other.coordinates, equal_nan=True)
    words = [(atlas.title, atlas.regions, dict(atlas.labels), atlas.citation) for atlas in (one, other)]
    return same_places and words[0] == words[1]
