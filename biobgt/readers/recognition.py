"""Which atlas a set of readings is on: told by a layout, a BIDS entity or a label table, by region names, or asked.

The user's word comes before all of them, and is told where files contradict it. A number of regions decides alone only
where no other published parcellation has it, and the note then says so.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from biobgt.atlas import (
    BUNDLED,
    Atlas,
    atlas_of_names,
    atlas_question,
    load_atlas,
    numbered_atlas,
    recognise_atlas,
)
from biobgt.cohort import ATLAS_BY_COUNT, ATLAS_BY_NAMES
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.parcellations import others_of_size
from biobgt.readers.reading import (
    NUMBERING_NAME,
    Kind,
    Reading,
    file_of,
    names_of_regions,
    possible_region_counts,
)
from biobgt.readers.releases import NamedAtlases
from biobgt.readers.time_axis import Orientation, orientation_question
from biobgt.wording import counted, listed

BY_USER = "the user"
NO_SUCH_SIZE = "the number of regions, which no bundled atlas has"


@dataclass(frozen=True, eq=False)
class SettledAtlas:
    """An atlas, what decided that it is the one (for the provenance), and a sentence about it."""

    atlas: Atlas
    decided_by: str
    note: str


@dataclass(frozen=True)
class _Told:
    """What one reading says of its atlas: a bundled one's name, or None for another; and what said so.

    ``or_else`` are further orders of the same regions that it may mean.
    """

    name: str | None
    by: str
    or_else: tuple[str, ...] = ()


def settle_atlas(
    readings: Sequence[Reading],
    *,
    kind: Kind | None = None,
    orientation: Orientation | None = None,
    unknown: bool = False,
) -> SettledAtlas:
    """Settle the atlas of a cohort where the user named none.

    Parameters
    ----------
    readings : sequence of Reading
    kind, orientation : str, optional
        The user's word on what the files hold.
    unknown : bool
        The user's word that it is none of the bundled atlases.

    Raises
    ------
    ChoiceNeeded
        When the readings do not say which axis is time or which atlas it is, or are of several atlases.
    """
    if not readings:
        return SettledAtlas(numbered_atlas(2), NO_SUCH_SIZE, "Nothing was read, so no atlas was recognised.")
    n_regions = _settle_size(readings, kind=kind, orientation=orientation, unknown=unknown)
    own = [item for item in readings if possible_region_counts(item, kind=kind, orientation=orientation) == {n_regions}]
    names = next((found for item in own if (found := names_of_regions(item)) and len(found) == n_regions), None)
    numbered = numbered_atlas(n_regions, names=_if_unique(names))
    if unknown:
        said = f"Atlas: none of the bundled ones, as you said. {_NO_BRAIN}"
        return settle_by_user(own, numbered, said, kind=kind, orientation=orientation)
    if all(about.n_regions != n_regions for about in BUNDLED.values()):
        others = ", ".join(others_of_size(n_regions))
        known = f" (parcellations of that size: {others})" if others else ""
        return SettledAtlas(numbered, NO_SUCH_SIZE, f"No bundled atlas has {n_regions} regions{known}. {_NO_BRAIN}")
    told = [_evidence(item, n_regions) for item in own]
    by = " and ".join(dict.fromkeys(item.by for items in told for item in items))
    atlas = _agreed(own, told, n_regions)
    if atlas is None:
        return SettledAtlas(numbered, by, _other_atlas(n_regions, by, names))
    if () in told:
        return SettledAtlas(atlas, ATLAS_BY_COUNT, _by_count(atlas))
    return SettledAtlas(atlas, by, f"Atlas: {atlas.title}, told by {by}.")


def settle_by_user(
    readings: Sequence[Reading],
    atlas: Atlas,
    note: str,
    *,
    kind: Kind | None = None,
    orientation: Orientation | None = None,
) -> SettledAtlas:
    """Take the user's word for the atlas, and say where files tell another one.

    Parameters
    ----------
    readings : sequence of Reading
    atlas : Atlas
    note : str
        Says which it is, and that the user said so.
    kind, orientation : str, optional
        The user's word on what the files hold.
    """
    n = atlas.n_regions
    own = [item for item in readings if n in possible_region_counts(item, kind=kind, orientation=orientation)]
    said = [(item, told) for item in own for told in _evidence(item, n) or _left_open(item, n)]
    against = [(item, told) for item, told in said if _contradicts(told, atlas)]
    if not against:
        return SettledAtlas(atlas, BY_USER, note)
    by = " and ".join(dict.fromkeys(told.by for _, told in against))
    keys = dict.fromkeys(key for _, told in against if told.name is not None for key in (told.name, *told.or_else))
    named = [load_atlas(key).title for key in keys]
    file = file_of(against[0][0])
    warning = (
        f"But {len(against):,} of {counted(len(own), 'recording')}{f', such as {file!r},' if file else ''} "
        f"{'name' if len(against) > 1 else 'names'} {listed(named) if named else 'another atlas'} (told by {by}). What "
        "you said is used; choose the other atlas if the files are right."
    )
    return SettledAtlas(atlas, f"{BY_USER}, against {by}", f"{note} {warning}")


def _contradicts(told: _Told, atlas: Atlas) -> bool:
    """Whether a file tells of another atlas; one of a user's own may well be the one that is not bundled."""
    if told.name is None:
        return atlas.name in BUNDLED
    if atlas.name in told.or_else:
        return False
    named = load_atlas(told.name)
    same_regions = atlas.coordinates is not None and set(atlas.regions) == set(named.regions)
    return named.fingerprint != atlas.fingerprint and not same_regions


def region_order(names: tuple[str, ...], reference: tuple[str, ...]) -> list[int] | None:
    """Say in which order to take regions so that they stand as in the reference; None where they already do.

    Raises
    ------
    InputError
        When the two do not name the same regions.
    """
    if names == reference or all(NUMBERING_NAME.fullmatch(name) for name in names):
        return None
    if set(names) != set(reference) or len(set(names)) != len(names):
        other = next((name for name in names if name not in set(reference)), names[0])
        raise InputError(
            f"Its regions are named otherwise than those of the other subjects (such as '{other}'), so they cannot be "
            "put side by side."
        )
    place = {name: i for i, name in enumerate(names)}
    return [place[name] for name in reference]


def check_places(names: tuple[str, ...], atlas: Atlas) -> None:
    """Refuse regions that have names of the atlas, but at other places: the rest could not be put in order."""
    place = {name: i for i, name in enumerate(atlas.regions, start=1)}
    if len(names) != atlas.n_regions or set(names) == set(place):
        return
    for i, name in enumerate(names, start=1):
        if place.get(name, i) != i:
            raise InputError(
                f"Its region {i} is named '{name}', which is region {place[name]} of {atlas.title}, and other names "
                "are not the atlas's, so the regions cannot be put in its order. Correct the names, or choose another "
                "atlas."
            )


_WHICH_FOR_ALL = "Which one is it? The answer is for all files: add those of another atlas on their own."
_NO_BRAIN = (
    "Regions go by name or number and cannot be drawn on a brain. Add their atlas as a table with x, y, z and label."
)


def _settle_size(
    readings: Sequence[Reading], *, kind: Kind | None, orientation: Orientation | None, unknown: bool
) -> int:
    """Return the number of regions, or ask which axis of the nameless tables has them."""
    counts = [possible_region_counts(item, kind=kind, orientation=orientation) for item in readings]
    undecided = [item for item, possible in zip(readings, counts, strict=True) if len(possible) > 1]
    sizes = [next(iter(possible)) for possible in counts if len(possible) == 1]
    if len(undecided) < len(sizes):
        decided = [item for item, possible in zip(readings, counts, strict=True) if len(possible) == 1]
        size = _most_plausible_size(sizes, [] if unknown else decided)
        undecided = [item for item in undecided if size in item.values.shape]  # others do not belong, either way round
        if not undecided:
            return size
    if undecided:
        first = undecided[0]
        raise orientation_question(first.values, file=file_of(first), further_files=len(undecided) - 1)
    return _most_plausible_size(sizes, [] if unknown else readings)


def _evidence(reading: Reading, n_regions: int) -> tuple[_Told, ...]:
    """Say what one reading tells of its atlas, the strongest first; more than one where they contradict one another.

    A layout or a BIDS entity comes first; where it leaves the order of the regions open, or names an atlas that is not
    known here, their names decide. Another part of the file's name counts only where the names say nothing.
    """
    named = None if reading.file_name is None else reading.file_name.atlases(n_regions)
    by_names = _told_by_names(reading, n_regions)
    if named is None or not (named.certain or by_names is None):
        return () if by_names is None else (by_names,)
    by_file = _as_told(named) if named.certain or not _has_names(reading) else ()
    if by_names is None or not (named.bundled or named.others):
        return by_file if by_names is None or by_names.name is None else (by_names,)
    if by_names.name in named.bundled:
        return (_Told(by_names.name, f"{named.said_by} and {by_names.by}"),)
    return by_file if by_names.name is None and by_file else (*by_file, by_names)


def _as_told(named: NamedAtlases) -> tuple[_Told, ...]:
    """What a file's name tells: nothing where it may mean two atlases."""
    if len(named.bundled) > 1 or (named.bundled and named.others):
        return ()
    return (_Told(next(iter(named.bundled), None), named.said_by),)


def _left_open(reading: Reading, n_regions: int) -> tuple[_Told, ...]:
    """What a file's name tells where it means one of several orders of the same regions."""
    named = None if reading.file_name is None else reading.file_name.atlases(n_regions)
    if named is None or len(named.bundled) < 2:
        return ()
    first, *others = named.bundled
    return (_Told(first, named.said_by, tuple(others)),)


def _has_names(reading: Reading) -> bool:
    """Whether the regions have names that do more than number them."""
    names = names_of_regions(reading)
    return names is not None and not all(NUMBERING_NAME.fullmatch(name) for name in names)


def _told_by_names(reading: Reading, n_regions: int) -> _Told | None:
    names = names_of_regions(reading)
    if names is None or not _has_names(reading):
        return None
    by = ATLAS_BY_NAMES + ("" if reading.names_from is None else f" in the label table '{reading.names_from}'")
    atlas = atlas_of_names(names)
    if atlas is not None:
        return _Told(atlas.name, by)
    if any(set(same.own_names(names)) & set(same.regions) for same in _bundled_of(n_regions)):
        return None  # some names are the atlas's and some are not
    return _Told(None, by)


def _agreed(own: Sequence[Reading], told: Sequence[tuple[_Told, ...]], n_regions: int) -> Atlas | None:
    """Return the atlas that all readings tell, None where all tell another than the bundled ones; or ask."""
    said = {item.name: item.by for items in told for item in items}
    choices = _choices(own, n_regions)
    if len(said) > 1:
        titles = [f"{'another one' if name is None else load_atlas(name).title} (by {by})" for name, by in said.items()]
        named = f"The files name more than one atlas of {n_regions} regions: {listed(titles)}."
        raise atlas_question(f"{named} {_WHICH_FOR_ALL}", choices)
    if () not in told:
        return load_atlas(name) if (name := next(iter(said))) is not None else None
    try:
        by_count = recognise_atlas(n_regions)
    except ChoiceNeeded as asked:
        file = _name_of_open(own, told)
        which = f"The file {file!r} does not say" if file else "The data do not say"
        raise atlas_question(
            f"{asked.question} {which} which it is, neither by the names of all regions nor by a known layout. Which "
            "one is it?",
            choices,
        ) from None
    if by_count is not None and set(said) - {by_count.name}:
        named = f"The number of regions is that of {by_count.title}, and some files name another atlas of that size."
        raise atlas_question(f"{named} {_WHICH_FOR_ALL}", [by_count])
    return by_count


def _choices(own: Sequence[Reading], n_regions: int) -> list[Atlas]:
    """The bundled atlases of that size that the files' names leave open, or else all."""
    named = [item.file_name.atlases(n_regions) for item in own if item.file_name is not None]
    keys = dict.fromkeys(key for found in named if found is not None for key in found.bundled)
    return [load_atlas(key) for key in keys] if len(keys) > 1 else _bundled_of(n_regions)


def _name_of_open(own: Sequence[Reading], told: Sequence[tuple[_Told, ...]]) -> str | None:
    """The first file that does not tell its atlas."""
    first = next((item for item, said in zip(own, told, strict=True) if not said), None)
    return None if first is None else file_of(first)


def _other_atlas(n_regions: int, by: str, names: tuple[str, ...] | None) -> str:
    same = _bundled_of(n_regions)[0]
    example = f" (such as '{names[0]}')" if by == ATLAS_BY_NAMES and names else ""
    return (
        f"{same.title} has {n_regions} regions too, but {by}{example} say that this is another atlas. {_NO_BRAIN} "
        f"Choose the atlas {same.name} if it is the one after all."
    )


def _by_count(atlas: Atlas) -> str:
    return (
        f"Atlas: {atlas.title}, by {ATLAS_BY_COUNT}: no other published parcellation that is known here has "
        f"{atlas.n_regions}, but nothing in the files confirms it. If it is another, add it as a table with x, y, z "
        "and label."
    )


def _bundled_of(n_regions: int) -> list[Atlas]:
    return [load_atlas(name) for name, about in BUNDLED.items() if about.n_regions == n_regions]


def _if_unique(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return names if names is not None and len(set(names)) == len(names) else None


def _most_plausible_size(sizes: Sequence[int], readings: Sequence[Reading]) -> int:
    """Files of several sizes: the one size that is an atlas's, or that most files have; the others are then refused."""
    found = Counter(sizes)
    if len(found) == 1:
        return sizes[0]
    atlases = {size: atlas for size in sorted(found) if (atlas := _possible_atlas(size, readings)) is not None}
    if len(atlases) == 1:
        return next(iter(atlases))
    if not atlases:
        (common, count), *_ = found.most_common()
        if count > len(sizes) / 2:
            return common
        listed = ", ".join(f"{found[size]} with {size}" for size in sorted(found))
        raise InputError(
            f"The files have different numbers of regions ({listed}), and none is known to be a bundled atlas's. "
            "Choose files of one kind by a pattern, or add a table of their atlas."
        )
    listed = ", ".join(f"{found[size]} with {size} regions ({atlas.title})" for size, atlas in atlases.items())
    raise ChoiceNeeded(
        f"The files are of more than one atlas: {listed}.",
        option="atlas",
        choices=[atlas.name for atlas in atlases.values()],
    )


def _possible_atlas(size: int, readings: Sequence[Reading]) -> Atlas | None:
    """The bundled atlas of that size, unless every file of that size tells that it is another."""
    told = [_evidence(item, size) for item in readings if size in item.values.shape]
    if not told or all(items and all(item.name is None for item in items) for items in told):
        return None
    return next(iter(_bundled_of(size)), None)
