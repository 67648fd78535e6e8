"""Node and vertex entanglement against hand-checked spectra, a slow obvious loop, and their symmetries."""

import networkx as nx
import numpy as np
import pytest
from hub_graphs import (
    BARBELL,
    CLIQUE,
    EMPTY,
    KARATE,
    NAMED,
    PAIR,
    PATH,
    STAR,
    TWO_PARTS,
    random_weights,
    weighted_graphs,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm, logm

from biobgt.base.errors import InputError
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs import (
    control_spectra,
    default_betas,
    gamma_unit,
    mean_field_entropy,
    node_entanglement,
    spectral_entropy,
    vertex_entanglement,
)
from biobgt.hubs.entanglement import perturbed_graphs


def slow_laplacian(weights):
    return np.diag(weights.sum(axis=1)) - weights


def slow_entropy(weights, gamma):
    """Eq. 5 as it stands, with matrix exponential and logarithm."""
    propagator = expm(-gamma * slow_laplacian(weights))
    density = propagator / np.trace(propagator)
    return -np.trace(density @ logm(density)).real / np.log(2)


def slow_perturbed(weights, i, perturbation):
    altered = weights.copy()
    if perturbation == "remove":
        altered[i] = altered[:, i] = 0
        return altered
    members = [i, *(j for j in range(len(weights)) if weights[i, j] > 0)]
    k = len(members) - 1
    total = sum(weights[a, b] for a in members for b in members if a < b)
    for a in members:
        for b in members:
            if a != b:
                altered[a, b] = 2 * total / (k * (k + 1))
    return altered


def slow_entanglement(weights, gamma, perturbation):
    before = slow_entropy(weights, gamma)
    return np.array(
        [slow_entropy(slow_perturbed(weights, i, perturbation), gamma) - before for i in range(len(weights))]
    )


def plain_entropy(eigenvalues, gamma):
    p = np.exp(-gamma * np.asarray(eigenvalues))
    p /= p.sum()
    return -(p * np.log2(p)).sum()


def test_entropy_of_two_connected_regions_by_hand():
    # Eigenvalues 0 and 2w; with exp(−2wγ) = 1/3 the density matrix has eigenvalues 3/4 and 1/4.
    gamma = np.log(3) / 1.4
    expected = 0.75 * np.log2(4 / 3) + 0.25 * 2
    assert spectral_entropy(control_spectra(PAIR).original, gamma) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(
    ("perturbation", "centre", "leaf"),
    [
        # The centre's control graph is the clique of 5 with weight 4/10 on every pair. A leaf's neighbourhood is one
        # edge, a clique already.
        ("control", [0, 2, 2, 2, 2], [0, 1, 1, 1, 5]),
        ("remove", [0, 0, 0, 0, 0], [0, 0, 1, 1, 4]),
    ],
)
def test_star_by_hand(perturbation, centre, leaf):
    before, *after = (plain_entropy(spectrum, 0.3) for spectrum in ([0, 1, 1, 1, 5], centre, leaf))
    ne = node_entanglement(STAR, absolute_gamma=0.3, perturbation=perturbation, signed=True)
    np.testing.assert_allclose(ne, np.array([after[0], *[after[1]] * 4]) - before, atol=1e-13)
    assert ne[0] != 0


def test_path_control_graph_by_hand():
    # Node 1 of the path 0-1-2-3: {0, 1, 2} carries weight 2 and becomes a triangle of weight 2/3.
    triangle = np.array([[0, 2, 2, 0], [2, 0, 2, 0], [2, 2, 0, 3], [0, 0, 3, 0]]) / 3
    expected = np.linalg.eigvalsh(slow_laplacian(triangle))
    np.testing.assert_allclose(control_spectra(PATH).perturbed[1], expected, atol=1e-14)


@pytest.mark.parametrize("perturbation", ["control", "remove"])
@pytest.mark.parametrize("weights", [STAR, PATH, BARBELL, random_weights(12, 0.4, 3), np.pad(STAR, (0, 1))])
def test_exact_matches_the_definition_with_matrix_functions(weights, perturbation):
    expected = slow_entanglement(weights, 0.2, perturbation)
    signed = node_entanglement(weights, absolute_gamma=0.2, perturbation=perturbation, signed=True)
    np.testing.assert_allclose(signed, expected, atol=1e-10)
    found = node_entanglement(weights, absolute_gamma=0.2, perturbation=perturbation)
    np.testing.assert_array_equal(found, np.abs(signed))
    assert not found[~weights.any(axis=1)].any(), "an isolated region has none"


def test_cut_nodes_of_the_barbell_stand_out_when_removed():
    # Only without the bridge (4) or one of its two ends (3, 5) does the graph fall into three parts.
    ne = node_entanglement(BARBELL, absolute_gamma=100, perturbation="remove", signed=True)
    np.testing.assert_allclose(ne[[3, 4, 5]], np.log2(3), atol=1e-3)
    np.testing.assert_allclose(ne[[0, 1, 2, 6, 7, 8]], 1, atol=1e-3)


def test_default_gamma_is_half_over_the_mean_eigenvalue():
    gamma = 0.5 / np.linalg.eigvalsh(slow_laplacian(KARATE)).mean()
    np.testing.assert_allclose(node_entanglement(KARATE), node_entanglement(KARATE, absolute_gamma=gamma), atol=1e-14)


@pytest.mark.parametrize("method", ["exact", "first-order", "mean-field"])
@pytest.mark.parametrize("n", [2, 3, 8])
def test_complete_uniform_graph_has_no_control_entanglement(n, method):
    weights = 0.37 * (np.ones((n, n)) - np.eye(n))
    np.testing.assert_allclose(node_entanglement(weights, absolute_gamma=0.4, method=method), 0, atol=1e-12)


@pytest.mark.parametrize("method", ["exact", "first-order", "mean-field"])
@pytest.mark.parametrize("perturbation", ["control", "remove"])
def test_empty_graph_has_no_entanglement(method, perturbation):
    assert not node_entanglement(EMPTY, method=method, perturbation=perturbation).any()


def test_removed_region_stays_as_an_isolated_node():
    spectra = control_spectra(CLIQUE, perturbation="remove")
    assert spectra.perturbed.shape == (5, 5)
    assert (spectra.original == 0).sum() == 1
    assert ((spectra.perturbed == 0).sum(axis=1) == 2).all()


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("gamma", [0.0, 1e-12, 1e6, 1e300])
def test_any_gamma_gives_finite_bounded_values(name, gamma):
    weights = NAMED[name]
    for method in ("exact", "first-order"):
        ne = node_entanglement(weights, absolute_gamma=gamma, method=method)
        assert np.isfinite(ne).all()
        assert (ne <= np.log2(len(weights)) + 1e-12).all()


def test_huge_gamma_counts_components():
    spectra = control_spectra(TWO_PARTS, perturbation="remove")
    assert spectra.entropy(1e9)[0] == pytest.approx(1.0)
    np.testing.assert_allclose(spectra.entropy_change(1e9)[0], np.log2(3) - 1)


# A ring of random weights: so few connections that products are taken over these alone.
RING = np.roll(np.diag(np.random.default_rng(0).uniform(0.1, 1, 400)), 1, axis=1)


@pytest.mark.parametrize("perturbation", ["control", "remove"])
@pytest.mark.parametrize("weights", [random_weights(15, 0.5, 1), RING + RING.T], ids=["dense", "ring"])
def test_first_order_is_the_rayleigh_quotient_of_the_perturbed_laplacian(perturbation, weights):
    vectors = np.linalg.eigh(slow_laplacian(weights))[1]
    spectra = control_spectra(weights, perturbation=perturbation, method="first-order")
    for i in range(len(weights)):
        changed = slow_laplacian(slow_perturbed(weights, i, perturbation))
        expected = np.einsum("ij,ij->j", vectors, changed @ vectors)
        np.testing.assert_allclose(spectra.perturbed[i], expected, atol=1e-12)


@pytest.mark.parametrize("perturbation", ["control", "remove"])
def test_first_order_on_a_repeated_eigenvalue_is_the_spectrum_of_the_change_on_its_eigenspace(perturbation):
    tree = nx.to_numpy_array(nx.full_rary_tree(6, 60))  # an eigenvalue of 1 for all leaves of a branch but one
    values, vectors = np.linalg.eigh(slow_laplacian(tree))
    spaces = [np.flatnonzero(np.isclose(values, value)) for value in np.unique(values.round(8))]
    assert max(map(len, spaces)) > 40
    spectra = control_spectra(tree, perturbation=perturbation, method="first-order")
    for i in range(len(tree)):
        changed = slow_laplacian(slow_perturbed(tree, i, perturbation))
        for space in spaces:
            expected = np.linalg.eigvalsh(vectors[:, space].T @ changed @ vectors[:, space])
            np.testing.assert_allclose(spectra.perturbed[i, space], expected, atol=1e-11)


def test_first_order_approaches_exact_for_small_perturbations():
    rng = np.random.default_rng(0)
    noise = np.triu(rng.normal(size=(20, 20)), 1)
    base = np.ones((20, 20)) - np.eye(20)
    errors = []
    for size in (1e-2, 1e-3):
        weights = base + size * (noise + noise.T)
        exact = control_spectra(weights).perturbed
        first = np.sort(control_spectra(weights, method="first-order").perturbed, axis=1)
        errors.append(np.abs(exact - first).max() / size)
    assert errors[1] < 0.02  # all of the graph changes, and the eigenvalues move by less than size²
    assert errors[1] <= errors[0] + 1e-9


@pytest.mark.parametrize("weights", [STAR, TWO_PARTS, BARBELL, nx.to_numpy_array(nx.petersen_graph())])
def test_first_order_treats_equal_regions_of_symmetric_graphs_equally(weights):
    # Repeated eigenvalues have no preferred eigenvectors; the result must not depend on the solver's choice.
    rng = np.random.default_rng(1)
    how = {"absolute_gamma": 0.3, "method": "first-order", "signed": True}
    ne = node_entanglement(weights, **how)
    for _ in range(5):
        order = rng.permutation(len(weights))
        np.testing.assert_allclose(node_entanglement(weights[np.ix_(order, order)], **how), ne[order], atol=1e-11)


def test_mean_field_is_theorem_1_with_its_alpha():
    weights = np.zeros((18, 18))
    weights[:8, :8], weights[8:, 8:] = random_weights(8, 0.9, 2), random_weights(10, 0.8, 3)
    gamma, n = 0.15, 18
    spectra = control_spectra(weights)
    alpha = int((spectra.original == 0).sum())
    assert alpha == 2
    z, z_i = (np.exp(-gamma * eigenvalues).sum(axis=-1) for eigenvalues in (spectra.original, spectra.perturbed))
    factor = weights.sum() * gamma * n**2 / (np.log(2) * (n - alpha) ** 2)
    expected, as_printed = (
        np.abs(factor * dropped * (z_i - z) / (z * z_i) + np.log2(z_i / z)) for dropped in (alpha, 1)
    )
    found = node_entanglement(weights, absolute_gamma=gamma, method="mean-field")
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.abs(as_printed - expected).max() > 1e-4


def test_mean_field_overshoots_what_an_entropy_can_be():
    # The note in the docstring: the theorem's first term is n²/(n−α) times what its modes carry.
    eigenvalues = np.linalg.eigvalsh(slow_laplacian(KARATE)).clip(0)
    eigenvalues[0] = 0
    gamma = 5 / eigenvalues.mean()
    assert mean_field_entropy(eigenvalues, gamma) > np.log2(34)
    assert spectral_entropy(eigenvalues, gamma) <= np.log2(34)


def test_sweep_equals_one_gamma_at_a_time():
    weights = random_weights(20, 0.3, 4)
    even, uneven = np.linspace(0, 40, 50), np.geomspace(1e-3, 1e3, 50)
    for gammas in (even, uneven, uneven[:3]):
        sweep = perturbed_graphs(weights, absolute_gammas=gammas).entropy_change(absolute_gammas=gammas)
        single = np.stack([node_entanglement(weights, absolute_gamma=gamma, signed=True) for gamma in gammas])
        assert sweep.shape == (len(gammas), 20)
        np.testing.assert_allclose(sweep, single, atol=2e-13)


@settings(max_examples=40)
@given(weighted_graphs, st.sampled_from(["control", "remove"]), st.sampled_from(["exact", "first-order", "mean-field"]))
def test_relabelling_permutes(weights, perturbation, method):
    order = np.random.default_rng(0).permutation(len(weights))
    options = {"perturbation": perturbation, "method": method, "gamma": 0.7}
    np.testing.assert_allclose(
        node_entanglement(weights[np.ix_(order, order)], **options),
        node_entanglement(weights, **options)[order],
        atol=1e-10,
    )


@settings(max_examples=40)
@given(weighted_graphs, st.floats(1e-3, 1e3), st.sampled_from(["control", "remove"]))
def test_scaling_weights_and_gamma_changes_nothing(weights, scale, perturbation):
    np.testing.assert_allclose(
        node_entanglement(weights * scale, absolute_gamma=0.7 / scale, perturbation=perturbation),
        node_entanglement(weights, absolute_gamma=0.7, perturbation=perturbation),
        atol=1e-11,
    )
    np.testing.assert_allclose(node_entanglement(weights * scale), node_entanglement(weights), atol=1e-11)


@settings(max_examples=30)
@given(weighted_graphs)
def test_control_keeps_the_total_weight_and_the_components(weights):
    spectra = control_spectra(weights)
    np.testing.assert_allclose(spectra.perturbed.sum(axis=1), weights.sum(), atol=1e-10)
    assert ((spectra.perturbed == 0).sum(axis=1) == (spectra.original == 0).sum()).all()
    parts = nx.number_connected_components(nx.from_numpy_array(weights))
    assert (spectra.original == 0).sum() == parts


NEGATIVE = np.array([[0, -0.2], [-0.2, 0]])
SIGNED = graph_from_connectivity(NEGATIVE, ConnectomeSettings(sign="signed", threshold="none"), subject="s1")


@pytest.mark.parametrize(
    ("graph", "options", "word"),
    [
        (NEGATIVE, {}, "regions 1 and 2"),
        (SIGNED, {}, "'s1'"),
        (np.diag([0.0, 1.0, 0.0]), {}, "region 2 to itself"),
        (np.array([[0, np.nan], [np.nan, 0]]), {}, "finite"),
        (np.array([[0.0, 1.0], [0.5, 0.0]]), {}, "symmetric"),
        (STAR, {"gamma": -1.0}, "diffusion time"),
        (STAR, {"gamma": np.nan}, "diffusion time"),
        (STAR, {"method": "magic"}, "magic"),
        (STAR, {"perturbation": "burn"}, "burn"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(graph, options, word):
    with pytest.raises(InputError, match=word):
        node_entanglement(graph, **options)


def test_real_subject_regression(real_graph):
    assert real_graph.n_edges == 2060
    control = node_entanglement(real_graph)
    np.testing.assert_allclose(control[:3], [0.00112865745, 0.00116169162, 0.000409885255], rtol=1e-6)
    assert list(np.argsort(-control)[:5]) == [52, 30, 39, 96, 4]
    assert control.sum() == pytest.approx(0.171722534, rel=1e-6)
    remove = node_entanglement(real_graph, perturbation="remove", signed=True)
    np.testing.assert_allclose(remove[:3], [0.000238647881, -0.000642842402, -0.0010444937], rtol=1e-6)


def plain_vertex_entanglement(weights, betas):
    values, vectors = np.linalg.eigh(slow_laplacian(weights))
    values[values < 1e-12] = 0
    result = []
    for i in range(len(weights)):
        change = slow_laplacian(slow_perturbed(weights, i, "control")) - slow_laplacian(weights)
        moved = values + np.einsum("ij,ij->j", vectors, change @ vectors)
        result.append(min(plain_entropy(moved, beta) - plain_entropy(values, beta) for beta in betas))
    return np.array(result)


@pytest.mark.parametrize(("n", "density"), [(10, 0.3), (12, 0.6), (15, 1.0), (20, 0.15)])
def test_vertex_entanglement_matches_the_plain_loop(n, density):
    weights = random_weights(n, density, n)
    eigenvalues = np.linalg.eigvalsh(slow_laplacian(weights))
    smallest = eigenvalues[eigenvalues > 1e-10].min()
    grid = [*np.linspace(0, 5 / smallest, 100), *np.linspace(5 / smallest, 10 / smallest, 100)[1:]]
    np.testing.assert_allclose(vertex_entanglement(weights), plain_vertex_entanglement(weights, grid), atol=1e-10)


def test_default_grid_counts_the_shared_value_once():
    betas = default_betas(np.array([0.0, 0.0, 0.5, 2.0]))
    assert len(betas) == 199
    assert (betas[0], betas[99], betas[-1]) == (0, 10, 20)
    assert (np.diff(betas) > 0).all()


def test_star_centre_is_the_key_player():
    ve = vertex_entanglement(STAR)
    assert ve.argmin() == 0
    np.testing.assert_array_equal(ve[1:], 0)


@pytest.mark.parametrize("name", NAMED)
def test_vertex_entanglement_is_never_positive_and_finite(name):
    ve = vertex_entanglement(NAMED[name])
    assert np.isfinite(ve).all()
    assert (ve <= 0).all()
    assert not (name == "empty" and ve.any())


@settings(max_examples=25)
@given(weighted_graphs)
def test_relabelling_permutes_vertex_entanglement_and_scaling_changes_nothing(weights):
    order = np.random.default_rng(0).permutation(len(weights))
    ve = vertex_entanglement(weights)
    np.testing.assert_allclose(vertex_entanglement(weights[np.ix_(order, order)]), ve[order], atol=1e-9)
    np.testing.assert_allclose(vertex_entanglement(weights * 7), ve, atol=1e-9)


def test_the_unit_of_gamma_is_one_over_the_mean_eigenvalue():
    weights = random_weights(12, 1.0, 0)
    assert gamma_unit(weights) == pytest.approx(control_spectra(weights).gamma_unit)
    assert gamma_unit(EMPTY) == 1
