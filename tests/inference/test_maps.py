"""Maps that agree: spins by an obvious loop, patterns that keep the power, and how often smooth maps agree."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

from biobgt import InputError, load_atlas
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cortex import HEMISPHERES, hemisphere_mesh, surface_labels
from biobgt.inference.maps import MapOptions, correlations, map_agreement, moran_patterns, spins

ATLAS = load_atlas("schaefer100")


def _smooth(rng, atlas, n, width=20.0):
    """Maps that are alike within some millimetres."""
    distances = np.linalg.norm(atlas.coordinates[:, None] - atlas.coordinates[None], axis=2)
    return rng.multivariate_normal(np.zeros(atlas.n_regions), np.exp(-((distances / width) ** 2) / 2), n)


def _sphere(rng, n=150):
    vertices = rng.standard_normal((n, 3))
    return 100 * vertices / np.linalg.norm(vertices, axis=1, keepdims=True)


def test_spins_are_those_of_an_obvious_loop(rng):
    left, right = _sphere(rng), _sphere(rng)
    labels = rng.integers(0, 5, 300)  # 0 is the medial wall
    labels[150:] = np.where(labels[150:] > 0, labels[150:] + 4, 0)
    found = spins(labels, [left, right], 9, draws=20, rng=np.random.default_rng(3))
    quaternions = np.random.default_rng(3).standard_normal((20, 4))
    for draw, quaternion in enumerate(quaternions):
        turn = Rotation.from_quat(quaternion)
        for region in range(8):
            vertices, own = (left, labels[:150]) if region < 4 else (right, labels[150:])
            mirror = np.array([1, 1, 1] if region < 4 else [-1, 1, 1])
            centre = turn.inv().apply(vertices[own == region + 1].sum(axis=0) * mirror) * mirror
            nearest = np.argmax(vertices @ centre)
            assert found[draw, region] == own[nearest] - 1
    assert (found[:, 8] == -1).all()


def test_spins_leave_neighbours_neighbours(rng):
    """Far more than chance: of the 6 nearest regions at least a third stay among the 12 nearest."""
    labels = surface_labels(ATLAS)
    distances = np.linalg.norm(ATLAS.coordinates[:50, None] - ATLAS.coordinates[None, :50], axis=2)
    near = np.argsort(distances, axis=1)
    spheres = [hemisphere_mesh("sphere", side)[0].astype(float) for side in HEMISPHERES]
    takes = spins(labels, spheres, 100, draws=30, rng=rng)
    assert (takes[:, :50] < 50).all()
    assert ((takes[:, 50:] >= 50) | (takes[:, 50:] < 0)).all()
    assert 0.02 < (takes < 0).mean() < 0.15
    stay = []
    for turned in takes[:, :50]:
        for region in np.flatnonzero(turned >= 0):
            others = [one for one in turned[near[region, 1:7]] if one >= 0]
            stay.append(np.isin(others, near[turned[region], :13]).mean())
    assert np.mean(stay) > 0.6


@pytest.mark.parametrize("ranked", [False, True])
def test_correlations_are_those_of_the_regions_that_both_have(rng, ranked):
    first, second = rng.integers(0, 9, (6, 30)).astype(float), rng.integers(0, 9, 30).astype(float)
    first[rng.random((6, 30)) < 0.2], second[4], first[5] = np.nan, np.nan, np.nan
    found = correlations(first, second, ranked=ranked)
    assert np.isnan(found[5])
    for row, r in zip(first[:5], found, strict=False):
        both = np.isfinite(row) & np.isfinite(second)
        expected = (stats.spearmanr if ranked else stats.pearsonr)(row[both], second[both]).statistic
        assert r == pytest.approx(expected)


def test_patterns_are_orthonormal_and_surrogates_as_smooth_as_the_map(rng):
    patterns = moran_patterns(ATLAS.coordinates)
    assert patterns.shape == (100, 99)
    np.testing.assert_allclose(patterns.T @ patterns, np.eye(99), atol=1e-10)
    np.testing.assert_allclose(patterns.sum(axis=0), 0, atol=1e-10)
    (smooth,) = _smooth(rng, ATLAS, 1)
    parts = patterns.T @ smooth
    surrogates = (rng.choice([-1.0, 1.0], (200, 99)) * parts) @ patterns.T
    distances = np.linalg.norm(ATLAS.coordinates[:, None] - ATLAS.coordinates[None], axis=2)
    near = (distances < 25) & (distances > 0)

    def roughness(one):
        return (np.subtract.outer(one, one)[near] ** 2).mean()

    rough = [roughness(one) for one in surrogates]
    shuffled = [roughness(rng.permutation(smooth)) for _ in range(50)]
    assert 0.7 < np.mean(rough) / roughness(smooth) < 1.4
    assert np.mean(shuffled) > 1.5 * roughness(smooth)


@pytest.mark.parametrize("nulls", ["spins", "surrogates"])
@pytest.mark.parametrize("correlation", ["spearman", "pearson"])
def test_a_map_agrees_with_itself_and_smooth_maps_by_chance_as_often_as_p_says(rng, nulls, correlation):
    how = MapOptions(correlation=correlation, nulls=nulls, draws=99)
    n, naive, found = 60, 0, 0
    for seed, (one, other) in enumerate(_smooth(rng, ATLAS, 2 * n).reshape(n, 2, 100)):
        agreement = map_agreement(one, other, ATLAS, replace(how, seed=seed))
        naive += agreement.naive_p <= 0.05
        found += agreement.p <= 0.05
    assert found <= stats.binom.ppf(0.999, n, 0.07)
    assert naive > stats.binom.ppf(0.999, n, 0.05)
    same = map_agreement(one, one + 0.1 * other, ATLAS, how)
    assert same.p == 0.01
    assert same.r > 0.9
    assert len(same.null) == 99


def test_p_is_counted_from_both_sides_and_is_never_0(rng):
    one, other = _smooth(rng, ATLAS, 2)
    agreement = map_agreement(one, other, ATLAS, MapOptions(draws=499))
    assert agreement.p == (1 + (np.abs(agreement.null) >= abs(agreement.r)).sum()) / 500
    turned = map_agreement(one, -other, ATLAS, MapOptions(draws=499))
    assert turned.p == agreement.p
    assert turned.r == pytest.approx(-agreement.r)
    assert agreement.naive_p == pytest.approx(stats.spearmanr(one, other).pvalue)
    again = map_agreement(one, other, ATLAS, MapOptions(draws=499))
    np.testing.assert_array_equal(again.null, agreement.null)


def test_regions_without_a_value_are_left_out_of_both(rng):
    one, other = _smooth(rng, ATLAS, 2)
    one[[3, 70]], other[8] = np.nan, np.inf
    agreement = map_agreement(one, other, ATLAS, MapOptions(draws=19))
    assert agreement.compared.sum() == 97
    assert agreement.nulls == "spins"
    assert "3 regions without a value in both maps left out." in agreement.notes
    known = agreement.compared
    assert agreement.r == pytest.approx(stats.spearmanr(one[known], other[known]).statistic)
    assert any("on average; the others lie on the medial wall" in note for note in agreement.notes)


def test_subcortex_takes_surrogates_and_spins_take_the_surface_alone(rng):
    atlas = load_atlas("desikan82")
    one, other = _smooth(rng, atlas, 2)
    whole = map_agreement(one, other, atlas, MapOptions(draws=19))
    assert (whole.nulls, whole.compared.sum()) == ("surrogates", 82)
    cortex = map_agreement(one, other, atlas, MapOptions(draws=19, nulls="spins"))
    assert cortex.compared.sum() == 68
    assert "14 regions that are not on the cortical surface left out." in cortex.notes
    assert map_agreement(one[:68], other[:68], load_atlas("desikan68"), MapOptions(draws=19)).nulls == "spins"


def test_what_cannot_be_compared_is_said(rng):
    one, other = _smooth(rng, ATLAS, 2)
    with pytest.raises(InputError, match="shape"):
        map_agreement(one[:5], other, ATLAS)
    with pytest.raises(InputError, match="first map has the same value"):
        map_agreement(np.ones(100), other, ATLAS)
    few = np.where(np.arange(100) < 9, one, np.nan)
    with pytest.raises(InputError, match="9 regions with a value"):
        map_agreement(few, other, ATLAS)
    occipital = np.where(np.isin(np.arange(100), [*range(9), *range(50, 58)]), one, np.nan)
    with pytest.raises(InputError, match="Choose surrogates"):
        map_agreement(occipital, other, ATLAS, MapOptions(draws=50, nulls="spins"))
    assert map_agreement(occipital, other, ATLAS, MapOptions(draws=50)).nulls == "surrogates"
    with pytest.raises(InputError, match="places"):
        map_agreement(one, other, numbered_atlas(100))
    with pytest.raises(InputError, match="surface"):
        map_agreement(np.arange(200.0), np.arange(200.0), load_atlas("cc200"), MapOptions(nulls="spins"))
