"""How reliably connectivity tells a wrong atlas: the study on the ABIDE and CNI-2019 subjects.

    python assets/studies/atlas_check.py --data DIR

DIR holds the four ``.npz`` archives of both cohorts. Every subject's connectivity is held against its own atlas, and
against wrong ones: the same regions shuffled, in the opposite order, moved by one place, with left and right exchanged,
and other bundled atlases of as many regions. The threshold of ``biobgt/data/quality.py`` was set after
a look at every fifth subject of both cohorts; all others test it. Only summaries over subjects are written, to
``atlas_check.csv`` beside this script.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from biobgt.data.atlas import BUNDLED, Atlas, load_atlas
from biobgt.data.quality import LEAST_MIRROR, AtlasCheck, atlas_check

HERE = Path(__file__).parent
ARCHIVES = {"abide": ("cc200", "aal116"), "cni2019": ("cc200", "aal116")}
SEED = 0
EVERY = 5  # one subject of so many, evenly over the cohort and so over its sites, was looked at before
LOOKED_AT, TESTED = "looked at before", "test the threshold"
COHORT_OF = 12  # subjects, as many as a cohort's mean connectivity is taken over


def wrong_atlases(atlas: Atlas, rng: np.random.Generator) -> dict[str, Atlas]:
    """The atlas as it is, and what its columns may wrongly be taken for."""
    n = atlas.n_regions
    assert atlas.coordinates is not None
    mirrored = atlas.coordinates * np.array([-1.0, 1.0, 1.0])
    others = {
        f"as {about.title}": about.atlas
        for about in BUNDLED.values()
        if about.n_regions == n and about.atlas is not atlas
    }
    return {
        "the right atlas": atlas,
        "regions shuffled": replace(atlas, coordinates=atlas.coordinates[rng.permutation(n)]),
        "regions in the opposite order": replace(atlas, coordinates=atlas.coordinates[::-1].copy()),
        "regions moved by one place": replace(atlas, coordinates=np.roll(atlas.coordinates, 1, axis=0)),
        "left and right exchanged": replace(atlas, coordinates=mirrored),
        **others,
    }


def main(data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")]) -> None:
    """Check every subject, and on means of twelve, and write the summary."""
    rows = []
    for release, keys in ARCHIVES.items():
        for key in keys:
            for subjects in (LOOKED_AT, TESTED):
                about = {"data": f"{release} {key}", "subjects": subjects}
                matrices = list(_connectivity_of(data / f"{release}_{key}.npz", subjects))
                rows += [{**about, **row} for row in _rows(matrices, load_atlas(key))]
    pd.DataFrame(rows).to_csv(HERE / "atlas_check.csv", index=False, float_format="%.3f")


def _rows(matrices: list[NDArray[np.float64]], right: Atlas) -> Iterator[dict[str, object]]:
    means = [np.mean(part, axis=0) for part in _parts(matrices)]
    for taken, atlas in wrong_atlases(right, np.random.default_rng(SEED)).items():
        for of, shown in (("one subject", matrices), (f"mean of {COHORT_OF} subjects", means)):
            heard = [found for matrix in shown if (found := atlas_check(matrix, atlas)) is not None]
            yield {"taken for": taken, "of": of, **_summary(heard)}


def _parts(matrices: list[NDArray[np.float64]]) -> Iterator[list[NDArray[np.float64]]]:
    for start in range(0, len(matrices) - COHORT_OF + 1, COHORT_OF):
        yield matrices[start : start + COHORT_OF]


def _connectivity_of(path: Path, subjects: str) -> Iterator[NDArray[np.float64]]:
    """Yield one subject's correlations after another; an all-zero region has none."""
    with np.load(path, allow_pickle=False) as archive:
        series, lengths = archive["series"], archive["n_timepoints"]
    for number, (length, end) in enumerate(zip(lengths, np.cumsum(lengths), strict=True)):
        if (number % EVERY == 0) != (subjects == LOOKED_AT):
            continue
        own = series[end - length : end].astype(float)
        own -= own.mean(axis=0)
        scale = np.linalg.norm(own, axis=0)
        own = np.divide(own, scale, out=np.zeros_like(own), where=scale > 0)
        yield own.T @ own


def _summary(heard: list[AtlasCheck]) -> dict[str, object]:
    fall, mirror = np.array([item.fall for item in heard]), np.array([item.mirror for item in heard])
    quantiles = {
        f"{name} {label}": np.quantile(values, share)
        for name, values in (("fall", fall), ("mirror", mirror))
        for label, share in (("lowest", 0), ("5 %", 0.05), ("median", 0.5), ("95 %", 0.95), ("highest", 1))
    }
    return {"n": len(heard), **quantiles, "warned": float(np.mean([item.mirror < LEAST_MIRROR for item in heard]))}


if __name__ == "__main__":
    typer.run(main)
