"""Data of studies as the participant level gives them, from arrays."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biobgt.data.atlas import Atlas, load_atlas, numbered_atlas
from biobgt.data.cohort import person_of
from biobgt.data.graph import KINDS, ConnectomeSettings
from biobgt.study.data import StudyData


def study_data(
    table: pd.DataFrame,
    edges: ArrayLike,
    *,
    regions: Mapping[str, ArrayLike] | None = None,
    network: Mapping[str, ArrayLike] | None = None,
    levels: Sequence[float] = (0.1, 0.2, 0.3),
    atlas: Atlas | None = None,
    kind: str = "functional",
) -> StudyData:
    """A study of a table with a row per recording and matrices or pairs."""
    pairs = np.asarray(edges, np.float64)
    if pairs.ndim == 3:
        pairs = pairs[(slice(None), *np.triu_indices(pairs.shape[1], 1))]
    n_regions = round((1 + np.sqrt(1 + 8 * pairs.shape[1])) / 2)
    table = table if "subject" in table else table.assign(subject=[f"sub-{i:04d}" for i in range(len(table))])
    return StudyData(
        table=table,
        persons=tuple(person_of(str(name)) for name in table["subject"]),
        atlas=atlas or numbered_atlas(n_regions),
        kind=KINDS[kind],
        settings=ConnectomeSettings(threshold="proportional", level=levels[0]),
        levels=tuple(levels),
        edges=pairs.astype(np.float32),
        regions={name: np.asarray(values, np.float64) for name, values in (regions or {}).items()},
        network={name: np.asarray(values, np.float64) for name, values in (network or {}).items()},
        overall=np.nanmean(np.abs(pairs), axis=1),
    )


def degrees_over(edges: np.ndarray, levels: Sequence[float], n_regions: int) -> np.ndarray:
    """The number of connections of each region at each density, shape (n_recordings, n_levels, n_regions)."""
    first, second = np.triu_indices(n_regions, 1)
    rank = np.argsort(np.argsort(-edges, axis=1), axis=1)
    found = np.zeros((len(edges), len(levels), n_regions))
    for at, level in enumerate(levels):
        kept = rank < level * edges.shape[1]
        for region in range(n_regions):
            found[:, at, region] = kept[:, (first == region) | (second == region)].sum(axis=1)
    return found


def hbn(shared_data: Path, n_people: int, n_regions: int) -> StudyData:
    """Some young people of HBN with their first regions: Fisher z and degrees."""
    table = pd.read_csv(shared_data / "hbn_phenotypes.csv").iloc[:n_people]
    whole = np.zeros((200, 200), dtype=np.int64)
    whole[np.triu_indices(200, 1)] = np.arange(19_900)
    with np.load(shared_data / "hbn_schaefer200.npz") as stored:
        r = stored["fc"][:n_people][:, whole[:n_regions, :n_regions][np.triu_indices(n_regions, 1)]]
    edges = np.arctanh(np.clip(r.astype(np.float64), -0.999, 0.999))
    atlas = load_atlas("schaefer200_17").keep(range(n_regions))
    levels = (0.1, 0.2, 0.3)
    regions = {"degree": degrees_over(edges, levels, n_regions)}
    return study_data(
        table,
        edges,
        regions=regions,
        network={"mean_connectivity": np.tile(edges.mean(axis=1)[:, None], 3)},
        levels=levels,
        atlas=atlas,
    )
