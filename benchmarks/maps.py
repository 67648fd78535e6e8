"""How often maps that have nothing to do with each other agree with p of at most 0.05: counts, of 500 pairs.

    python -m benchmarks.maps --pairs 500

Maps are Gaussian random fields over the regions of an atlas, as smooth as the width says (the correlation of two
regions at a distance d is exp(-d² / 2 width²)), in both hemispheres apart, or partly or wholly as mirror images of each
other. Of 5 %, the share lies within the 99 % binomial interval.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats

from biobgt.base.arrays import FloatArray
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.data.cortex import has_surface
from biobgt.inference import MapOptions, map_agreement
from biobgt.inference.maps import SPINS, SURROGATES

ATLASES, WIDTHS, DRAWS, ALPHA = ("schaefer200", "cc200"), (15.0, 30.0), 499, 0.05
MIRRORED = {"none": 0.0, "half": 0.5, "all": 1.0}


def main() -> None:
    """Compare unrelated maps, and print how often p is small."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500)
    pairs = parser.parse_args().pairs
    low, high = stats.binom.interval(0.99, pairs, ALPHA)
    table = Table("atlas", "width, mm", "mirrored", "regions independent", SPINS, SURROGATES)
    for name in ATLASES:
        atlas = load_atlas(name)
        for width in WIDTHS:
            for mirrored, share in MIRRORED.items():
                counts = _counts(atlas, width, share, pairs)
                table.add_row(
                    name, f"{width:g}", mirrored, *(counts.get(one, "") for one in ("naive", SPINS, SURROGATES))
                )
    Console().print(table, f"Of {pairs:,} unrelated pairs; of 5 %, {low:.0f} to {high:.0f} are expected (99 %).")


def _fields(atlas: Atlas, width: float, mirrored: float, n: int) -> FloatArray:
    """Random maps, shape (n, 2, n_regions)."""
    places = atlas.coordinates
    assert places is not None

    def alike(others: FloatArray) -> FloatArray:
        distances = np.linalg.norm(places[:, None] - others[None], axis=2)
        return np.asarray(np.exp(-(distances**2) / (2 * width**2)))

    covariance = alike(places) + mirrored * alike(places * [-1, 1, 1])
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    drawn = np.random.default_rng(0).standard_normal((n, 2, len(values)))
    return np.asarray((drawn * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def _counts(atlas: Atlas, width: float, mirrored: float, pairs: int) -> dict[str, str]:
    found: dict[str, int] = {}
    for first, second in _fields(atlas, width, mirrored, pairs):
        for nulls in (SPINS, SURROGATES) if has_surface(atlas) else (SURROGATES,):
            agreement = map_agreement(first, second, atlas, MapOptions(nulls=nulls, draws=DRAWS))
            found[nulls] = found.get(nulls, 0) + (agreement.p <= ALPHA)
        found["naive"] = found.get("naive", 0) + (agreement.naive_p <= ALPHA)
    return {one: str(n) for one, n in found.items()}


if __name__ == "__main__":
    main()
