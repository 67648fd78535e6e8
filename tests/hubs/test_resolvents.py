"""Entropies from resolvents are those from eigenvalues; contours hold what they promise; the cheaper way is taken."""

import networkx as nx
import numpy as np
import pytest
from hub_graphs import CLIQUE, EMPTY, KARATE, NAMED, TWO_PARTS, random_weights
from hypothesis import example, given, settings
from hypothesis import strategies as st

from biobgt.base.errors import InputError
from biobgt.hubs import node_entanglement
from biobgt.hubs.entanglement import _Resolvents, control_spectra, gamma_unit, perturbed_graphs
from biobgt.hubs.measures import GAMMAS
from biobgt.hubs.resolvents import (
    ASK_ABOVE,
    HALF_DECADE,
    MEASURED_SECONDS,
    ONE_TIME,
    _contour_weights,
    _expected_seconds,
    _largest_added,
    _neighbourhoods,
    changed_regions,
    cost_sentence,
    laplacian_change,
    resolvents_are_cheaper,
    time_windows,
)

WIDE = np.geomspace(0.01, 100, 9)


def both_ways(weights, gammas, perturbation):
    return [way(weights, perturbation=perturbation).entropy_change(gammas) for way in (control_spectra, _Resolvents.of)]


def clustered(n: int, density: float, seed: int):
    """A graph in modules, whose neighbourhoods are full of connections, with an isolated region at its end."""
    rng = np.random.default_rng(seed)
    same = np.equal.outer(*[rng.integers(0, 4, n)] * 2)
    upper = np.triu(rng.uniform(0.1, 1, (n, n)) * (rng.random((n, n)) < np.where(same, 4, 0.4) * density), 1)
    upper[:, -1] = 0
    return upper + upper.T


@settings(max_examples=40)
@given(
    st.sampled_from([random_weights, clustered]),
    st.integers(2, 60),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
    st.floats(-2, 2),
    st.sampled_from(["control", "remove"]),
)
@example(random_weights, 60, 1.0, 0, 2.0, "control")
@example(clustered, 60, 0.2, 0, 2.0, "remove")
def test_any_graph_and_gamma_have_the_entropies_of_their_eigenvalues(kind, n, density, seed, power, perturbation):
    expected, found = both_ways(kind(n, density, seed), 10**power, perturbation)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("weights", "gammas", "perturbation"),
    [
        *((weights, WIDE, perturbation) for weights in NAMED.values() for perturbation in ("control", "remove")),
        *((clustered(n, density, 1), GAMMAS, "control") for n, density in ((120, 0.05), (120, 0.3), (200, 0.1))),
        (nx.to_numpy_array(nx.star_graph(150)), WIDE, "remove"),  # the widest spectrum
    ],
)
def test_all_gammas_at_once_have_the_entropies_of_their_eigenvalues(weights, gammas, perturbation):
    expected, found = both_ways(weights, gammas, perturbation)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_real_subject(real_graph):
    expected, found = both_ways(real_graph, WIDE, "control")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert np.abs(found - expected)[WIDE <= 1].max() < 1e-12


def test_one_gamma_is_the_same_alone_and_among_others():
    weights = clustered(80, 0.1, 2)
    together = _Resolvents.of(weights).entropy_change(GAMMAS)
    alone = np.concatenate([_Resolvents.of(weights).entropy_change(gamma) for gamma in GAMMAS])
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-10)


def test_what_is_left_as_it_is_has_no_entanglement():
    for weights in (EMPTY, CLIQUE, TWO_PARTS):
        assert not _Resolvents.of(weights).entropy_change(WIDE).any()
    isolated = _Resolvents.of(clustered(30, 0.2, 3), perturbation="remove").entropy_change(WIDE)
    assert not isolated[:, -1].any()


def test_no_gamma_is_too_short_or_too_long():
    resolvents, spectra = _Resolvents.of(KARATE), control_spectra(KARATE)
    for gamma in (0.0, 1e-12, 1e6, 1e300):
        found = resolvents.entropy_change(absolute_gammas=gamma)
        np.testing.assert_allclose(found, spectra.entropy_change(absolute_gammas=gamma), atol=1e-12)


def test_what_was_measured_is_remembered(monkeypatch):
    resolvents = _Resolvents.of(KARATE)
    first = resolvents.entropy_change((0.5, 2.0))
    assert resolvents.knows((2.0, 0.5))
    assert not resolvents.knows((2.0, 3.0))
    monkeypatch.setattr("biobgt.hubs.entanglement.trace_changes", None)
    np.testing.assert_array_equal(resolvents.entropy_change((2.0, 0.5))[::-1], first)


@pytest.mark.parametrize("perturbation", ["control", "remove"])
def test_entropy_and_spectrum_of_one_region_are_those_of_the_eigenvalues(perturbation):
    weights = clustered(40, 0.2, 4)
    resolvents, spectra = (way(weights, perturbation=perturbation) for way in (_Resolvents.of, control_spectra))
    np.testing.assert_allclose(resolvents.entropy(WIDE), spectra.entropy(WIDE), atol=1e-12)
    assert resolvents.gamma_unit == pytest.approx(spectra.gamma_unit)
    for region in (0, 7, 39):
        np.testing.assert_allclose(resolvents.spectrum_after(region), spectra.spectrum_after(region), atol=1e-12)


@pytest.mark.parametrize("contour", [*ONE_TIME, *HALF_DECADE])
@pytest.mark.parametrize("kind", ["logarithms", "poles"])
def test_contours_hold_between_the_points_they_were_fitted_at(contour, kind):
    y = -np.concatenate([[0], np.geomspace(1e-7, min(1e9, contour.longest), 5000)])
    apart = y[:, None] - contour.points
    parts = np.log(apart) if kind == "logarithms" else 1 / apart
    for time in np.geomspace(1 / np.sqrt(contour.widest), np.sqrt(contour.widest), 7):
        for weights, exact in zip(
            _contour_weights(contour, kind, float(time)), (np.exp(time * y), time * y * np.exp(time * y)), strict=True
        ):
            error = (parts * weights).real.sum(axis=1) - exact
            assert np.abs(error - error[-1]).max() < 6e-12  # up to a constant, which differences of traces are free of


def test_times_share_points_within_half_a_decade():
    times = np.array([30.0, 0.1, 0.3, 0.5, 25.0, 1000.0])
    windows = {tuple(sorted(chosen.tolist())): middle**2 for chosen, middle in time_windows(times)}
    assert windows == pytest.approx({(1, 2): 0.03, (3,): 0.25, (0, 4): 750.0, (5,): 1e6})


def test_no_perturbation_adds_more_to_the_largest_eigenvalue_than_is_said():
    for density in (0.05, 0.3, 1.0):
        weights = clustered(40, density, 6)
        largest = control_spectra(weights).perturbed.max()
        assert largest <= np.linalg.eigvalsh(np.diag(weights.sum(axis=0)) - weights)[-1] + _largest_added(weights)


@pytest.mark.parametrize("perturbation", ["control", "remove"])
def test_batches_change_the_laplacian_as_single_regions_do(perturbation):
    weights = clustered(50, 0.2, 5)
    changed = changed_regions(weights, perturbation)
    singly = {region: laplacian_change(weights, region, perturbation) for region in changed}
    batches = _neighbourhoods(weights, changed)
    assert sorted(region for batch in batches for region in batch.regions) == sorted(singly)
    assert len(batches) < len(singly) / 2
    for batch in batches:
        changes = batch.changes(weights, perturbation)
        for region, members, filled, change in zip(batch.regions, batch.members, batch.filled, changes, strict=True):
            np.testing.assert_array_equal(members[filled], singly[region][0])
            np.testing.assert_allclose(change[np.ix_(filled, filled)], singly[region][1], atol=1e-15)
            assert not change[~filled].any()
            assert not change[:, ~filled].any()


@pytest.mark.parametrize(
    ("n", "density", "gammas", "cheaper"),
    [
        (30, 0.1, (0.5,), False),  # so small that eigenvalues are at hand
        (200, 0.08, (0.5,), True),
        (200, 0.08, GAMMAS, False),  # many diffusion times of a small graph
        (200, 1.0, (0.5,), False),  # every neighbourhood is the graph
        (400, 0.08, (0.5,), True),
        (1000, 0.05, (0.5,), True),
        (1000, 0.05, GAMMAS, True),
    ],
)
def test_the_cheaper_way_is_taken(n, density, gammas, cheaper):
    weights = random_weights(n, density, 0)
    assert resolvents_are_cheaper(weights, np.array(gammas) * gamma_unit(weights)) == cheaper


def test_node_entanglement_takes_it():
    weights = random_weights(200, 0.08, 0)
    assert isinstance(perturbed_graphs(weights, 0.5), _Resolvents)
    expected = np.abs(control_spectra(weights).entropy_change(0.5)[0])
    found = node_entanglement(weights, gamma=0.5)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert (found != expected).any()


def test_an_unknown_perturbation_is_refused():
    with pytest.raises(InputError, match="perturbation"):
        _Resolvents.of(KARATE, perturbation="burn")


def test_what_is_expected_is_what_was_measured_and_grows_faster_than_the_regions() -> None:
    expected = {n: _expected_seconds(n) for n in MEASURED_SECONDS}
    assert expected == pytest.approx(MEASURED_SECONDS, rel=0.25)
    assert _expected_seconds(1200) > 1.5 * _expected_seconds(1000)
    assert 5 < _expected_seconds(ASK_ABOVE) < 15


@pytest.mark.parametrize(("n_regions", "said"), [(1001, "10 seconds"), (1700, "50 seconds"), (2500, "3 minutes")])
def test_the_sentence_says_how_long(n_regions: int, said: str) -> None:
    assert cost_sentence(n_regions).endswith(
        f"perturbs each of the {n_regions:,} regions: the first figures of one subject take about {said}."
    )
