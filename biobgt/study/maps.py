"""Maps over regions that a study compares: its measures, the effects in them, and a user's own map.

The mean map of the first measure is compared with those of all others, and where a difference or slope is tested, the
map of its effects with theirs; a user's own map with all of them. Spatial nulls say whether maps agree more than maps
that are as smooth.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray, discovery_rates
from biobgt.base.errors import InputError
from biobgt.base.wording import counted
from biobgt.inference.design import StudyDesign
from biobgt.inference.maps import MapOptions, map_agreement
from biobgt.readers.maps import read_map
from biobgt.study.data import StudyData
from biobgt.study.design import DesignOptions

_Maps = dict[str, FloatArray]


def own_maps(data: StudyData, options: DesignOptions) -> _Maps:
    """The user's own map by its name, none where none was named; one that does not fit the atlas is refused.

    Parameters
    ----------
    data : StudyData
    options : DesignOptions
    """
    if not options.own_map:
        return {}
    values = read_map(options.own_map, data.atlas, column=options.own_map_column)
    return {options.own_map_column or Path(options.own_map).stem: values}


def maps_compared(
    data: StudyData, design: StudyDesign, regions: pd.DataFrame, own: _Maps, options: DesignOptions
) -> tuple[pd.DataFrame, list[str]]:
    """Compare the maps of a study; see :attr:`biobgt.study.findings.StudyFindings.maps`.

    Parameters
    ----------
    data : StudyData
    design : StudyDesign
        Whose people the mean maps are of.
    regions : DataFrame
        Tests of regions, of :class:`biobgt.study.findings.StudyFindings`.
    own : dict of str to ndarray, shape (n_regions,)
    options : DesignOptions
        Permutations and seed are those of the null maps.

    Returns
    -------
    table : DataFrame
    notes : list of str
        Why maps were not compared.
    """
    rows, refused = [], dict[str, list[str]]()
    how = MapOptions(draws=options.permutations, seed=options.seed)
    for (adjusted, contrast), maps in _families(data, design, regions).items():
        family = []
        for one, other, first, second in _pairs(maps, own):
            try:
                found = map_agreement(first, second, data.atlas, how)
            except InputError as error:
                refused.setdefault(str(error), []).append(f"{one} and {other}")
                continue
            about = (found.naive_p, found.nulls, int(found.compared.sum()))
            family.append((adjusted, contrast, one, other, found.r, found.p, *about))
        rates = discovery_rates([row[5] for row in family]) if family else ()
        rows += [(*row[:6], rate, *row[6:]) for row, rate in zip(family, rates, strict=True)]
    notes = [
        f"{counted(len(pairs), 'pair')} of maps not compared, such as {pairs[0]}. {why}"
        for why, pairs in refused.items()
    ]
    columns = ["adjusted", "contrast", "map", "other_map", "rho", "p", "q", "naive_p", "null", "n_regions"]
    return pd.DataFrame(rows, columns=columns), notes


def _families(data: StudyData, design: StudyDesign, regions: pd.DataFrame) -> dict[tuple[bool, str], _Maps]:
    """Maps of each measure: means over people, and effects by design and contrast; F has no direction, so no map."""
    found = {(False, ""): {name: _mean_map(data.area(values), design) for name, values in data.regions.items()}}
    own = regions[regions["level"].isna() & regions["estimate"].notna()]
    for (adjusted, contrast, measure), part in own.groupby(["adjusted", "contrast", "measure"], sort=False):
        effects = np.full(data.atlas.n_regions, np.nan)
        effects[part["region"].to_numpy() - 1] = part["effect"]
        found.setdefault((bool(adjusted), str(contrast)), {})[str(measure)] = effects
    return found


def _mean_map(values: FloatArray, design: StudyDesign) -> FloatArray:
    of_people = design.observations(values)
    known = np.isfinite(of_people).sum(axis=0)
    return np.where(known > 0, np.nansum(of_people, axis=0) / np.maximum(known, 1), np.nan)


def _pairs(maps: _Maps, own: _Maps) -> Iterator[tuple[str, str, FloatArray, FloatArray]]:
    first = next(iter(maps), "")
    for name, values in maps.items():
        if name != first:
            yield first, name, maps[first], values
    for title, given in own.items():
        for name, values in maps.items():
            yield name, title, values, given
