"""Who and what a study leaves out before it tests: regions without signal, and edges that a consensus does not have."""

from dataclasses import replace

import numpy as np

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.wording import capitalised, counted, percent
from biobgt.data.consensus import distance_consensus, share_consensus
from biobgt.inference.design import StudyDesign
from biobgt.modules.measures import REGION_MEASURES
from biobgt.study.data import StudyData
from biobgt.study.design import PEOPLE, SHARE, DesignOptions


def without_gaps(data: StudyData, options: DesignOptions) -> tuple[StudyData, list[str]]:
    """Leave out people in whom a region has no signal, or say which regions are not tested because of them."""
    silent = data.silent
    rows, regions = np.flatnonzero(silent.any(axis=1)), np.flatnonzero(silent.any(axis=0))
    if not len(rows):
        return data, []
    if options.gaps == PEOPLE:
        whole = np.setdiff1d(np.arange(len(silent)), rows)
        return data.some(whole), [
            f"{counted(len(rows), 'recording')} left out: a region has no {data.kind.of_region} in it."
        ]
    return data, [
        f"{counted(len(regions), 'region')} {'is' if len(regions) == 1 else 'are'} not tested, since "
        f"{counted(len(rows), 'recording')} of {len(silent):,} {'has' if len(rows) == 1 else 'have'} no "
        f"{data.kind.of_region} "
        "there. Leaving these recordings out instead (gaps: people) tests all regions."
    ]


def without_modules_zero(data: StudyData) -> tuple[StudyData, list[str]]:
    """Regions without connections at a level are in no module: what they are in it counts as 0, as in bctpy."""
    regions, signal, n_filled = dict(data.regions), ~data.silent[:, None], 0
    for measure in REGION_MEASURES:
        if measure in regions:
            isolated = np.isnan(regions[measure]) & signal
            n_filled += int(isolated.sum())
            regions[measure] = np.where(isolated, 0.0, regions[measure])
    if not n_filled:
        return data, []
    names = " and ".join(REGION_MEASURES[measure].title for measure in REGION_MEASURES if measure in regions)
    said = f"{capitalised(names)} count as 0 in regions without connections at a level, which are in no module."
    return replace(data, regions=regions), [said]


def in_consensus(data: StudyData, design: StudyDesign, options: DesignOptions) -> tuple[StudyData, str]:
    """Leave only the edges that are in the consensus of the people who are tested.

    Parameters
    ----------
    data : StudyData
    design : StudyDesign
    options : DesignOptions
        Which consensus it is.
    """
    if data.kind.functional:
        raise InputError(
            "A consensus is of structural connectomes: functional connectivity has no pairs without an edge."
        )
    present = np.nan_to_num(design.observations(np.asarray(data.edges != 0, np.float64))) >= 0.5
    if options.edge_consensus == SHARE:
        kept = share_consensus(present, options.consensus_share)
        how = f"at least {percent(options.consensus_share)} of people have"
    else:
        lengths, known_as = _lengths(data)
        sides = data.atlas.hemispheres or (None,) * data.atlas.n_regions
        first, second = np.triu_indices(data.atlas.n_regions, 1)
        between = np.array([sides[a] != sides[b] for a, b in zip(first, second, strict=True)], np.int64)
        kept = distance_consensus(present, lengths, between)
        how = f"are, of every {known_as}, as many as a person has on average and the most common"
    said = f"{kept.sum():,} of {counted(len(kept), 'edge')} {how}: the others count as missing and are not tested."
    return replace(data, edges=np.where(kept, data.edges, np.nan).astype(data.edges.dtype)), said


def _lengths(data: StudyData) -> tuple[FloatArray, str]:
    """How long each edge is, and what that is."""
    if data.lengths is not None:
        return data.lengths, "length of tracts"
    if data.atlas.coordinates is None:
        raise InputError(
            f"Neither lengths of tracts nor places of the regions of {data.atlas.name} are known. Choose the consensus "
            "'share', or name an atlas with coordinates."
        )
    first, second = np.triu_indices(data.atlas.n_regions, 1)
    apart = data.atlas.coordinates[first] - data.atlas.coordinates[second]
    return np.linalg.norm(apart, axis=1), "distance between regions"
