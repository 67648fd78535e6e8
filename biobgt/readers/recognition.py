"""Which atlas a set of readings is on: told by region names, by a known layout or file name, by the user, or asked.

A number of regions decides alone only where no other published parcellation has it, and the note then says so.
"""

import re
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
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.parcellations import others_of_size
from biobgt.readers.reading import Kind, Reading, file_of, names_of_regions, possible_region_counts
from biobgt.readers.time_axis import Orientation, orientation_question

BY_USER, BY_COUNT, BY_NAMES = "the user", "the number of regions alone", "the region names"
NO_SUCH_SIZE = "the number of regions, which no bundled atlas has"
# Names that only number regions, as releases do: they fit any atlas.
_NUMBERING_NAME = re.compile(r"#?(?:mean|roi|region|node|parcel|label|r|n)?[ _.\-]?\d+", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class SettledAtlas:
    """An atlas, what decided that it is the one (for the provenance), and a sentence about it."""

    atlas: Atlas
    decided_by: str
    note: str


@dataclass(frozen=True)
class _Told:
    """What one reading says of its atlas: a bundled one's name, or None for another; and what said so."""

    name: str | None
    by: str


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
        return SettledAtlas(numbered, BY_USER, f"Atlas: none of the bundled ones, as you said. {_NO_BRAIN}")
    if all(about.n_regions != n_regions for about in BUNDLED.values()):
        others = ", ".join(others_of_size(n_regions))
        known = f" (parcellations of that size: {others})" if others else ""
        return SettledAtlas(numbered, NO_SUCH_SIZE, f"No bundled atlas has {n_regions} regions{known}. {_NO_BRAIN}")
    told = [_told_by(item, n_regions) for item in own]
    by = " and ".join(dict.fromkeys(item.by for item in told if item is not None))
    atlas = _agreed(told, n_regions, file=_name_of_open(own, told))
    if atlas is None:
        return SettledAtlas(numbered, by, _other_atlas(n_regions, by, names))
    if None in told:
        return SettledAtlas(atlas, BY_COUNT, _by_count(atlas))
    return SettledAtlas(atlas, by, f"Atlas: {atlas.title}, told by {by}.")


def region_order(names: tuple[str, ...], reference: tuple[str, ...]) -> list[int] | None:
    """Say in which order to take regions so that they stand as in the reference; None where they already do.

    Raises
    ------
    InputError
        When the two do not name the same regions.
    """
    if names == reference or all(_NUMBERING_NAME.fullmatch(name) for name in names):
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


_NO_BRAIN = (
    "Regions go by name or number and cannot be drawn on a brain. Bring their atlas as a table with x, y, z and label."
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


def _told_by(reading: Reading, n_regions: int) -> _Told | None:
    """Say what one reading tells of its atlas; None where nothing does."""
    names = names_of_regions(reading)
    if names is not None and not all(_NUMBERING_NAME.fullmatch(name) for name in names):
        atlas = atlas_of_names(names)
        if atlas is not None:
            return _Told(atlas.name, BY_NAMES)
        if not any(set(names) & set(same.regions) for same in _bundled_of(n_regions)):
            return _Told(None, BY_NAMES)
        return None  # some names are the atlas's and some are not
    named = None if reading.file_name is None else reading.file_name.atlas(n_regions)
    return None if named is None else _Told(named.bundled, named.said_by)


def _agreed(told: Sequence[_Told | None], n_regions: int, *, file: str | None) -> Atlas | None:
    """Return the atlas that all readings tell, None where all tell another than the bundled ones; or ask."""
    names = {item.name for item in told if item is not None}
    if len(names) > 1:
        question = f"Some files name another atlas of {n_regions} regions than the others do."
        raise atlas_question(question, _bundled_of(n_regions))
    if None not in told:
        return load_atlas(name) if (name := next(iter(names))) is not None else None
    try:
        by_count = recognise_atlas(n_regions)
    except ChoiceNeeded as asked:
        which = f"The file {file!r} does not say" if file else "The data do not say"
        raise atlas_question(
            f"{asked.question} {which} which it is, neither by the names of all regions nor by a known layout.",
            _bundled_of(n_regions),
        ) from None
    if by_count is not None and names - {by_count.name}:
        raise atlas_question(f"Some files name another atlas of {n_regions} regions.", [by_count])
    return by_count


def _name_of_open(own: Sequence[Reading], told: Sequence[_Told | None]) -> str | None:
    """The first file that does not tell its atlas."""
    first = next((item for item, said in zip(own, told, strict=True) if said is None), None)
    return None if first is None else file_of(first)


def _other_atlas(n_regions: int, by: str, names: tuple[str, ...] | None) -> str:
    same = _bundled_of(n_regions)[0]
    example = f" (such as '{names[0]}')" if by == BY_NAMES and names else ""
    return (
        f"{same.title} has {n_regions} regions too, but {by}{example} say that this is another atlas. {_NO_BRAIN} "
        f"Choose the atlas {same.name} if it is the one after all."
    )


def _by_count(atlas: Atlas) -> str:
    return (
        f"Atlas: {atlas.title}, by {BY_COUNT}: no other published parcellation that is known here has "
        f"{atlas.n_regions}, but nothing in the files confirms it. If it is another, bring it as a table with x, y, z "
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
            "Choose files of one kind by a pattern, or bring their atlas."
        )
    listed = ", ".join(f"{found[size]} with {size} regions ({atlas.title})" for size, atlas in atlases.items())
    raise ChoiceNeeded(
        f"The files are of more than one atlas: {listed}.",
        option="atlas",
        choices=[atlas.name for atlas in atlases.values()],
    )


def _possible_atlas(size: int, readings: Sequence[Reading]) -> Atlas | None:
    """The bundled atlas of that size, unless every file of that size tells that it is another."""
    told = [_told_by(item, size) for item in readings if size in item.values.shape]
    if not told or all(item is not None and item.name is None for item in told):
        return None
    return next(iter(_bundled_of(size)), None)
