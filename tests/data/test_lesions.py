"""Planted lesions: matrices stay correlations, connections fall by what is asked for, and size 0 changes nothing."""

import numpy as np
import pytest

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Subject
from biobgt.data.lesions import Lesion, hub_lesion, lesioned, levelled, network_lesion, strongest_region
from tests.planted_cohort import ATLAS, planted_series

NETWORK, HUB, EVERYWHERE = network_lesion(ATLAS, "modules", "M2"), hub_lesion(ATLAS, 5), Lesion("segregation", "", ())
INSIDE = np.zeros(16, bool)
INSIDE[4:8] = True
OFF = ~np.eye(16, dtype=bool)


@pytest.fixture
def matrix(rng):
    return np.corrcoef(planted_series(rng, coupling=0.8, n_timepoints=60).T)


def _is_valid(matrix):
    return (
        np.allclose(np.diag(matrix), 1)
        and np.allclose(matrix, matrix.T)
        and np.linalg.eigvalsh(matrix).min() > -1e-9
        and np.abs(matrix).max() <= 1 + 1e-9
    )


@pytest.mark.parametrize("lesion", [NETWORK, HUB, EVERYWHERE], ids=lambda one: one.kind)
@pytest.mark.parametrize("size", [0.0, 0.3, 1.0])
def test_lesioned_matrices_stay_correlations(matrix, lesion, size):
    found = lesioned(Subject("s", connectivity=matrix), lesion, size)
    assert found.simulated
    assert _is_valid(found.connectivity)
    if size == 0:
        np.testing.assert_array_equal(found.connectivity, matrix)


def test_connections_within_the_network_fall_by_the_size_and_of_the_hub_as_well(matrix):
    network = lesioned(Subject("s", connectivity=matrix), NETWORK, 0.3).connectivity
    within, to_others = np.outer(INSIDE, INSIDE) & OFF, np.outer(INSIDE, ~INSIDE)
    np.testing.assert_allclose(network[within], 0.7 * matrix[within])
    np.testing.assert_allclose(network[to_others], np.sqrt(0.7) * matrix[to_others])
    np.testing.assert_array_equal(network[np.outer(~INSIDE, ~INSIDE)], matrix[np.outer(~INSIDE, ~INSIDE)])
    hub = lesioned(Subject("s", connectivity=matrix), HUB, 0.3).connectivity
    np.testing.assert_allclose(np.delete(hub[5], 5), 0.7 * np.delete(matrix[5], 5))
    cut = lesioned(Subject("s", connectivity=matrix), HUB, 1.0).connectivity
    assert not np.delete(cut[5], 5).any()


def test_segregation_falls_and_mean_connectivity_stays(matrix):
    found = levelled(matrix, 0.4)
    assert found[OFF].mean() == pytest.approx(matrix[OFF].mean())
    assert found[OFF].std() == pytest.approx(0.6 * matrix[OFF].std())


def test_weights_of_connections_that_there_are_change_and_others_stay_away():
    weights = np.array([[0.0, 4.0, 0.0], [4.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    assert levelled(weights, 1.0, functional=False).tolist() == [[0, 3, 0], [3, 0, 3], [0, 3, 0]]
    hub = lesioned(Subject("s", connectivity=weights), Lesion("hub", "b", (1,)), 0.5, functional=False).connectivity
    np.testing.assert_allclose(hub, weights / 2)


@pytest.mark.parametrize(
    ("lesion", "expected"),
    [
        (NETWORK, lambda r: np.where(np.outer(INSIDE, INSIDE), 0.6 * r, np.sqrt(0.6) * r)),
        (EVERYWHERE, lambda r: 0.6 * r + 0.4 * r[OFF].mean()),
    ],
    ids=["network", "segregation"],
)
def test_series_are_lesioned_as_their_matrices_are(rng, lesion, expected):
    subject = Subject("s", series=planted_series(rng, coupling=0.8, n_timepoints=20_000))
    before = np.corrcoef(subject.series.T)
    series = lesioned(subject, lesion, 0.4, seed=3).series
    after = np.corrcoef(series.T)
    touched = (INSIDE[:, None] | INSIDE[None]) & OFF if lesion is NETWORK else OFF
    np.testing.assert_allclose(after[touched], expected(before)[touched], atol=0.05)
    np.testing.assert_allclose(series.mean(axis=0), subject.series.mean(axis=0), atol=1e-9)
    assert _is_valid(after)
    again = lesioned(subject, lesion, 0.4, seed=3).series
    np.testing.assert_array_equal(series, again)
    assert not np.array_equal(series, lesioned(subject, lesion, 0.4, seed=4).series)


def test_regions_without_signal_stay_without(rng):
    series = planted_series(rng, coupling=0.8)
    series[:, 5] = 0
    for lesion in (NETWORK, HUB, EVERYWHERE):
        assert not lesioned(Subject("s", series=series), lesion, 0.5).series[:, 5].any()


def test_sizes_differ_between_people_by_the_noise(matrix):
    sizes = [
        lesioned(Subject(f"s{i}", connectivity=matrix), NETWORK, 0.5, noise=0.1).phenotypes["planted lesion"]
        for i in range(200)
    ]
    assert np.mean(sizes) == pytest.approx(0.5, abs=0.03)
    assert np.std(sizes) == pytest.approx(0.1, abs=0.02)


def test_what_cannot_be_planted_is_refused(matrix):
    with pytest.raises(InputError, match="between 0 and 1"):
        lesioned(Subject("s", connectivity=matrix), NETWORK, 1.5)
    with pytest.raises(InputError, match="no network 'M9'"):
        network_lesion(ATLAS, "modules", "M9")


def test_places_are_chosen_where_none_is_named(matrix):
    labels = ("a", "b", "b", None)
    atlas = Atlas("four", "Four", ("w", "x", "y", "z"), labels={"own": labels})
    assert network_lesion(atlas, "own").regions == (1, 2)
    strong = np.full((3, 3), 0.1) + np.array([[0, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]])
    assert strongest_region([strong, strong]) == 1
