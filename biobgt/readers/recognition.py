"""Which atlas a set of readings is on, told from the number of regions they share and from their names."""

import re
from collections import Counter

from biobgt.atlas import Atlas, numbered_atlas, recognise_atlas
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.readers.reading import (
    Kind,
    Orientation,
    Reading,
    interpret,
    names_of_regions,
    possible_region_counts,
)

# Names that only number regions, as releases do: they fit any atlas.
_NUMBERING_NAME = re.compile(r"#?(?:mean|roi|region|node|parcel|label|r|n)?[ _.\-]?\d+", re.IGNORECASE)


def settle_atlas(
    readings: list[Reading], *, kind: Kind | None = None, orientation: Orientation | None = None
) -> tuple[Atlas, str]:
    """Recognise the atlas of a cohort, and say how in a sentence.

    Raises
    ------
    ChoiceNeeded
        When the readings fit more than one bundled atlas, or do not say which axis is time.
    """
    if not readings:
        return numbered_atlas(2), "Nothing was read, so no atlas was recognised."
    counts = [possible_region_counts(reading, kind=kind, orientation=orientation) for reading in readings]
    shared = set.intersection(*counts)
    if len(shared) > 1:
        interpret(readings[0], kind=kind, orientation=orientation)  # asks which axis is time
    n_regions = shared.pop() if len(shared) == 1 else _most_plausible_size(counts)
    named = next(
        (names for reading in readings if (names := names_of_regions(reading)) and len(names) == n_regions), None
    )
    words = named if named and not all(_NUMBERING_NAME.fullmatch(name) for name in named) else None
    atlas = recognise_atlas(n_regions)
    if atlas is None:
        return numbered_atlas(n_regions, names=_if_unique(named)), (
            f"No bundled atlas has {n_regions} regions: they go by name or number and cannot be drawn on a brain. "
            "Bring your own atlas as a table with x, y, z and label."
        )
    if words and not set(words) & set(atlas.regions):
        return numbered_atlas(n_regions, names=_if_unique(named)), (
            f"{atlas.title} has {n_regions} regions too, but the regions here have other names (such as '{words[0]}'), "
            f"so it is not assumed. Choose the atlas {atlas.name} if it is the one, or bring your own."
        )
    return atlas, (
        f"Atlas recognised by its {n_regions} regions: {atlas.title}. If the data were extracted with another atlas of "
        "that size, bring it as a table with x, y, z and label."
    )


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


def _if_unique(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return names if names is not None and len(set(names)) == len(names) else None


def _most_plausible_size(counts: list[set[int]]) -> int:
    """Files of several sizes: the one size that is an atlas's, or that most files have; the others are then refused."""
    sizes = Counter(size for possible in counts for size in possible)
    atlases = {size: atlas for size in sorted(sizes) if (atlas := recognise_atlas(size)) is not None}
    if len(atlases) == 1:
        return next(iter(atlases))
    if not atlases:
        (common, count), *_ = sizes.most_common()
        if count > len(counts) / 2:
            return common
        found = ", ".join(f"{sizes[size]} with {size}" for size in sorted(sizes))
        raise InputError(
            f"The files have different numbers of rows and columns ({found}), and none is a bundled atlas's number of "
            "regions. Choose files of one kind by a pattern, or bring their atlas."
        )
    found = ", ".join(f"{sizes[size]} with {size} regions ({atlas.title})" for size, atlas in atlases.items())
    raise ChoiceNeeded(
        f"The files are of more than one atlas: {found}.",
        option="atlas",
        choices=[atlas.name for atlas in atlases.values()],
    )
