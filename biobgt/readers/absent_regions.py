"""Files that lack some regions of an atlas: columns that are absent are put in their places, missing throughout.

Parcels that a scan does not cover are often left out of a file. Where the names of the others are those of an atlas,
the absent ones are known: they are written as NaN, and so the subject says which regions are missing, whether a file
left their columns out or wrote nothing in them.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import BUNDLED, Atlas, atlas_of_names, load_atlas
from biobgt.readers.reading import NUMBERING_NAME, Reading, names_of_regions

LEAST_SHARE = 0.8  # of a bundled atlas's regions, so that their names tell it where the user did not
ABSENT = "absent regions"  # among the options of a source


def with_absent_regions(reading: Reading, chosen: Atlas | None = None) -> Reading:
    """Put the regions that a file leaves out in their places, where the names of the others tell the atlas.

    Parameters
    ----------
    reading : Reading
    chosen : Atlas, optional
        The user's word. Without it, a bundled atlas is taken that has all the names and whose regions are, for the
        most part, there; of several the one that misses the fewest.

    Returns
    -------
    Reading
        The same where no region is absent or the atlas is not known.
    """
    names = names_of_regions(reading)
    if names is None or len(set(names)) < len(names) or all(NUMBERING_NAME.fullmatch(name) for name in names):
        return reading
    if chosen is None and atlas_of_names(names) is not None:
        return reading
    atlas = _holding(names, _nearly_as_large(reading, len(names)) if chosen is None else [chosen])
    return reading if atlas is None else _completed(reading, atlas.own_names(names), atlas)


def _nearly_as_large(reading: Reading, n_names: int) -> list[Atlas]:
    """Bundled atlases that may have lost a few regions: those that the file's name gives first, then the smallest."""
    sizes = {key: about.n_regions for key, about in BUNDLED.items() if LEAST_SHARE <= n_names / about.n_regions < 1}
    said = reading.file_name
    ordered = sorted(sizes, key=lambda key: (said is None or not said.names_size(sizes[key]), sizes[key]))
    return [load_atlas(key) for key in ordered]


def _holding(names: tuple[str, ...], atlases: Iterable[Atlas]) -> Atlas | None:
    """The first atlas that has all the names, and more."""
    held = (atlas for atlas in atlases if set(atlas.own_names(names)) < set(atlas.regions))
    return next(held, None)


def _completed(reading: Reading, names: tuple[str, ...], atlas: Atlas) -> Reading:
    place = {region: i for i, region in enumerate(atlas.regions)}
    places = [place[name] for name in names]
    by_columns = reading.region_names is not None
    values = reading.values
    if not by_columns or _is_matrix(reading):
        values = _spread(values.T, places, atlas.n_regions).T
    if by_columns:
        values = _spread(values, places, atlas.n_regions)
    absent = [region for region in atlas.regions if region not in set(names)]
    return replace(
        reading,
        values=values,
        region_names=atlas.regions if by_columns else None,
        row_names=None if by_columns else atlas.regions,
        options={**reading.options, ABSENT: ", ".join(absent)},
    )


def _is_matrix(reading: Reading) -> bool:
    """Whether rows are the same regions as columns."""
    values = reading.values
    if values.shape[0] != values.shape[1]:
        return False
    return reading.row_names == reading.region_names or np.allclose(values, values.T, atol=1e-6, equal_nan=True)


def _spread(values: NDArray[np.float64], places: list[int], n_regions: int) -> NDArray[np.float64]:
    """Columns at their places among all regions; the others are NaN. Shape (n_rows, n_regions)."""
    whole = np.full((len(values), n_regions), np.nan)
    whole[:, places] = values
    return whole
