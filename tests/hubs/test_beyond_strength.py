"""Agreement beyond strength and degree: partial rank correlation against its definition, and verdicts by hand."""

import numpy as np
import pytest
from hub_graphs import KARATE
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from biobgt.base.errors import InputError
from biobgt.data.graph import random_graph
from biobgt.hubs import control_spectra, node_efficiency, node_entanglement
from biobgt.hubs.evidence import (
    COMPARISONS,
    GraphAgreement,
    graph_agreement,
    null_agreement,
    partial_spearman,
    set_against_nulls,
    strength_and_degree,
    verdict_sentence,
)
from biobgt.hubs.measures import NULL_GRAPHS


def first_order_partial(x, y, z):
    """The textbook formula for one variable held."""
    xy, xz, yz = (spearmanr(*pair)[0] for pair in ((x, y), (x, z), (y, z)))
    return (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))


@settings(max_examples=40, deadline=None)
@given(st.integers(8, 40), st.integers(0, 10_000))
def test_one_held_variable_gives_the_textbook_formula(n, seed):
    rng = np.random.default_rng(seed)
    x, y, z = rng.normal(size=(3, n)) + rng.normal(size=n)
    assert partial_spearman(x, y, z[None])[0] == pytest.approx(first_order_partial(x, y, z), abs=1e-10)


def test_two_held_variables_leave_what_two_regressions_leave():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 60))
    values, reference = np.stack([a + b + rng.normal(size=60), a - b]), a + 2 * b + rng.normal(size=60)
    design = np.column_stack([np.ones(60), rankdata(a), rankdata(b)])
    hat = design @ np.linalg.pinv(design)
    left = [rankdata(row) - hat @ rankdata(row) for row in (*values, reference)]
    expected = [np.corrcoef(left[i], left[2])[0, 1] for i in range(2)]
    np.testing.assert_allclose(partial_spearman(values, reference, np.stack([a, b])), expected, atol=1e-12)


def test_nothing_is_left_of_what_is_itself_held():
    rng = np.random.default_rng(0)
    x, strength, degree = rng.normal(size=(3, 30))
    held = np.stack([strength, degree])
    assert np.isnan(partial_spearman(x, np.exp(strength), held)).all()  # the same ranks
    assert np.isnan(partial_spearman(np.ones((1, 30)), x, held)).all()


def test_agreement_through_strength_alone_is_no_agreement_beyond_it():
    rng = np.random.default_rng(3)
    strength = rng.normal(size=2000)
    x, y = strength + 0.5 * rng.normal(size=2000), strength + 0.5 * rng.normal(size=2000)
    assert spearmanr(x, y)[0] > 0.7
    assert abs(partial_spearman(x, y, np.stack([strength, rng.normal(size=2000)]))[0]) < 0.06


def test_strength_and_degree_by_hand():
    weights = np.array([[0, 0.5, 0.25], [0.5, 0, 0], [0.25, 0, 0]])
    np.testing.assert_array_equal(strength_and_degree(weights), [[0.75, 0.5, 0.25], [2, 1, 1]])


def test_a_graph_and_its_null_are_measured_alike():
    own = graph_agreement(KARATE, (0.5, 3.0))
    ne, neff, held = node_entanglement(KARATE), node_efficiency(KARATE), strength_and_degree(KARATE)
    assert own.at(0.5)["efficiency"] == pytest.approx(spearmanr(ne, neff)[0])
    assert own.at(0.5)["partial"] == pytest.approx(partial_spearman(ne, neff, held)[0])
    assert own.at(0.5)["strength"] == pytest.approx(spearmanr(ne, held[0])[0])
    again = graph_agreement(KARATE, (0.5, 3.0), spectra=control_spectra(KARATE))
    assert again.at(3.0) == own.at(3.0)
    null = null_agreement(KARATE, (0.5,), seed=4)
    assert null.at(0.5) == graph_agreement(random_graph(KARATE, seed=4), (0.5,)).at(0.5)
    with pytest.raises(InputError, match="not measured at γ = 2"):
        own.at(2.0)


def test_regions_without_signal_are_left_out():
    with_silent = np.zeros((36, 36))
    with_silent[:34, :34] = KARATE
    signal = np.arange(36) < 34
    ne, neff, held = (
        measure(with_silent)[..., signal] for measure in (node_entanglement, node_efficiency, strength_and_degree)
    )
    found = graph_agreement(with_silent, (0.5,), has_signal=signal).at(0.5)
    assert found["partial"] == pytest.approx(partial_spearman(ne, neff, held)[0])
    assert found["efficiency"] == pytest.approx(spearmanr(ne, neff)[0])
    assert found["efficiency"] < graph_agreement(with_silent, (0.5,)).at(0.5)["efficiency"]  # zeros feign agreement


def agreement(value):
    return GraphAgreement((0.5,), {name: np.array([value]) for name in COMPARISONS})


@pytest.mark.parametrize(
    ("own", "nulls", "p"),
    [
        (0.9, np.linspace(0, 0.5, 39), 0.05),  # above all: 2 · 1/40
        (-0.9, np.linspace(0, 0.5, 39), 0.05),  # below all counts as much
        (0.25, np.linspace(0, 0.5, 39), 1.0),
        (0.5, np.array([0.1, 0.5, 0.9]), 1.0),
    ],
)
def test_p_is_two_sided_and_counts_the_own_graph(own, nulls, p):
    found = set_against_nulls(agreement(own), [agreement(value) for value in nulls], 0.5)["partial"]
    assert (found.rho, found.n_nulls) == (own, len(nulls))
    assert found.p == pytest.approx(p)
    assert (found.null_low, found.null_high) == (nulls.min(), nulls.max())
    assert found.null_mean == pytest.approx(nulls.mean())


def test_enough_null_graphs_that_p_can_reach_five_percent():
    nulls = [agreement(value) for value in np.linspace(0, 0.5, NULL_GRAPHS)]
    assert set_against_nulls(agreement(0.9), nulls, 0.5)["partial"].p == pytest.approx(0.05)
    assert set_against_nulls(agreement(0.9), nulls[1:], 0.5)["partial"].p > 0.05


def test_what_is_not_defined_has_no_p():
    found = set_against_nulls(agreement(np.nan), [agreement(0.5)], 0.5)["partial"]
    assert np.isnan(found.p)
    assert np.isnan(set_against_nulls(agreement(0.5), [agreement(np.nan)], 0.5)["partial"].p)


@pytest.mark.parametrize(
    ("partial", "said", "p"),
    [
        (-0.19, "account for", "p = 0.05, the smallest that 39 null graphs can give"),
        (0.3, "goes beyond", "p = 0.05, the smallest that 39 null graphs can give"),
        (0.0, "No agreement", "p = 1"),
        (0.092, "No agreement", "p = 0.1"),
    ],
)
def test_one_sentence_is_the_verdict(partial, said, p):
    """ρ lies above that of its null graphs in every case; what is left with strength and degree held decides."""
    nulls = [
        GraphAgreement((0.5,), {"efficiency": np.array([0.5]), "partial": np.array([value])})
        for value in np.linspace(-0.095, 0.095, NULL_GRAPHS)
    ]
    own = GraphAgreement((0.5,), {"efficiency": np.array([0.68]), "partial": np.array([partial])})
    sentence = verdict_sentence(set_against_nulls(own, nulls, 0.5))
    assert sentence.count(".") == sentence.count("0.") + 1, "one sentence"
    assert said in sentence
    assert f"({p})" in sentence
    assert "(ρ = 0.68)" in sentence.replace("+", "")
