"""Which atlas a set of readings is on, told from the number of regions they share."""

from collections import Counter

from biobgt.atlas import Atlas, numbered_atlas, recognise_atlas
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.readers.reading import Kind, Orientation, Reading, interpret, possible_region_counts


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
    n_regions = shared.pop() if shared else _the_one_recognised(counts)
    atlas = recognise_atlas(n_regions)
    if atlas is not None:
        return atlas, f"Atlas recognised by its {n_regions} regions: {atlas.title}."
    names = readings[0].region_names
    unique = names is not None and len(set(names)) == len(names) == n_regions
    return numbered_atlas(n_regions, names=names if unique else None), (
        f"No bundled atlas has {n_regions} regions: they go by name or number and cannot be drawn on a brain. "
        "Bring your own atlas as a table with x, y, z and label."
    )


def _the_one_recognised(counts: list[set[int]]) -> int:
    """Files of several sizes: the size that is an atlas's, if there is just one; the other files are then refused."""
    sizes = Counter(size for possible in counts for size in possible)
    atlases = {size: atlas for size in sorted(sizes) if (atlas := recognise_atlas(size)) is not None}
    if len(atlases) == 1:
        return next(iter(atlases))
    if not atlases:
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
