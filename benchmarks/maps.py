"""How often maps that have nothing to do with each other agree with p of at most 0.05: counts, of 500 pairs.

    python -m benchmarks.maps --pairs 500

Maps are Gaussian random fields over the regions of an atlas, as smooth as the width says: the correlation of two
regions at a distance d is exp(-d² / 2 width²), straight through the brain or along the sphere of the cortex. Both
hemispheres are apart, or partly or wholly mirror images of each other. Of 5 %, the count lies within the 99 % binomial
interval.
"""

import argparse
from itertools import product

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats

from biobgt.base.arrays import FloatArray
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.data.cortex import HEMISPHERES, N_VERTICES, has_surface, hemisphere_mesh, surface_labels
from biobgt.inference import MapOptions, map_agreement
from biobgt.inference.maps import PEARSON, SPINS, SURROGATES

WIDTHS, DRAWS, ALPHA = (15.0, 30.0), 199, 0.05
MIRRORED = {"none": 0.0, "half": 0.5, "all": 1.0}


def main() -> None:
    """Compare unrelated maps, and print how often p is small."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500)
    pairs = parser.parse_args().pairs
    low, high = stats.binom.interval(0.99, pairs, ALPHA)
    table = Table("atlas", "distance", "width, mm", "mirrored", "regions independent", SPINS, SURROGATES)
    for (name, way), width, (mirrored, share) in product(FIELDS, WIDTHS, MIRRORED.items()):
        atlas = load_atlas(name)
        counts = _counts(atlas, _maps(*FIELDS[name, way](atlas), width, share, pairs))
        table.add_row(name, way, f"{width:g}", mirrored, *(counts.get(one, "") for one in ("naive", SPINS, SURROGATES)))
    Console(width=110).print(
        table, f"Of {pairs:,} unrelated pairs; of 5 %, {low:.0f} to {high:.0f} are expected (99 %)."
    )


def _through_the_brain(atlas: Atlas) -> tuple[FloatArray, FloatArray]:
    """Distances of regions, and to the mirror images of others."""
    places = atlas.coordinates
    assert places is not None
    straight, to_mirrored = (
        np.linalg.norm(places[:, None] - of[None], axis=2) for of in (places, places * [-1.0, 1.0, 1.0])
    )
    return straight, (to_mirrored + to_mirrored.T) / 2


def _along_the_sphere(atlas: Atlas) -> tuple[FloatArray, FloatArray]:
    labels = surface_labels(atlas)
    vertices = np.vstack([hemisphere_mesh("sphere", side)[0] for side in HEMISPHERES])
    centres = np.array([vertices[labels == number].mean(axis=0) for number in range(1, atlas.n_regions + 1)])
    right = np.array([np.argmax(labels == number) >= N_VERTICES for number in range(1, atlas.n_regions + 1)])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    centres[right, 0] *= -1  # both spheres over each other
    arcs = 100 * np.arccos(np.clip(centres @ centres.T, -1, 1))
    same = right[:, None] == right
    return np.where(same, arcs, np.inf), np.where(same, np.inf, arcs)


def _maps(distances: FloatArray, mirrored: FloatArray, width: float, share: float, n: int) -> FloatArray:
    """Random maps, shape (n, 2, n_regions)."""
    covariance = np.exp(-(distances**2) / (2 * width**2)) + share * np.exp(-(mirrored**2) / (2 * width**2))
    values, vectors = np.linalg.eigh(covariance)
    drawn = np.random.default_rng(0).standard_normal((n, 2, len(values)))
    return np.asarray((drawn * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def _counts(atlas: Atlas, maps: FloatArray) -> dict[str, str]:
    found: dict[str, int] = {}
    for first, second in maps:
        for nulls in (SPINS, SURROGATES) if has_surface(atlas) else (SURROGATES,):
            agreement = map_agreement(first, second, atlas, MapOptions(correlation=PEARSON, nulls=nulls, draws=DRAWS))
            found[nulls] = found.get(nulls, 0) + (agreement.p <= ALPHA)
        found["naive"] = found.get("naive", 0) + (agreement.naive_p <= ALPHA)
    return {one: str(n) for one, n in found.items()}


FIELDS = {
    ("schaefer200", "through the brain"): _through_the_brain,
    ("schaefer200", "along the sphere"): _along_the_sphere,
    ("cc200", "through the brain"): _through_the_brain,
}


if __name__ == "__main__":
    main()
