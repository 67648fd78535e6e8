"""Agreement measures against SciPy, and the study of one subject and of a cohort."""

import numpy as np
import pandas as pd
import pytest
from hub_graphs import load_connectivity
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from assets.studies.plausibility import subject_plausibility
from biobgt.base.errors import InputError
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs import (
    fc_strength,
    node_efficiency,
    node_entanglement,
    rank_agreement,
    summarise_plausibility,
)


def correlations(n, seed):
    rng = np.random.default_rng(seed)
    series = rng.normal(size=(40, n)) + rng.normal(size=(40, 3)) @ rng.normal(size=(3, n))
    return np.corrcoef(series.T)


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 30), st.integers(0, 10_000), st.integers(1, 6))
def test_rank_correlations_match_scipy_with_ties(n, seed, n_values):
    rng = np.random.default_rng(seed)
    values, reference = rng.integers(0, n_values + 1, (3, n)).astype(float), rng.integers(0, 5, n).astype(float)
    agreement = rank_agreement(values, reference)
    for i, row in enumerate(values):
        if np.ptp(row) == 0 or np.ptp(reference) == 0:
            assert all(np.isnan(column[i]) for column in agreement.values())
        else:
            assert agreement["spearman"][i] == pytest.approx(spearmanr(row, reference)[0], abs=1e-12)
            assert agreement["kendall"][i] == pytest.approx(kendalltau(row, reference)[0], abs=1e-12)


def test_overlap_by_hand():
    reference = np.arange(10.0)
    values = np.array([reference, -reference, np.roll(reference, -1)])
    np.testing.assert_allclose(rank_agreement(values, reference, top=0.2)["overlap"], [1, 0, 0.5])


def test_nothing_to_compare_is_not_a_number():
    agreement = rank_agreement(np.empty((2, 0)), np.empty(0))
    assert all(np.isnan(column).all() and len(column) == 2 for column in agreement.values())


def test_subject_table_holds_what_the_measures_give():
    fc = correlations(30, 0)
    table = subject_plausibility(fc, subject="s", gammas=(0.5, 3), levels=(0.0, 0.2), perturbations=("control",))
    assert len(table) == 2 * 2 * 2 * 2  # levels, signs, references, γ
    graph = graph_from_connectivity(fc, ConnectomeSettings(level=0.2))
    row = table.query("level == 0.2 and gamma == 0.5 and not signed and reference == 'node efficiency'").iloc[0]
    expected = spearmanr(node_entanglement(graph), node_efficiency(graph))[0]
    assert row["spearman"] == pytest.approx(expected, abs=1e-12)
    row = table.query("level == 0.2 and gamma == 0.5 and signed and reference == 'FC strength'").iloc[0]
    expected = kendalltau(node_entanglement(graph, signed=True), fc_strength(fc))[0]
    assert row["kendall"] == pytest.approx(expected, abs=1e-12)


def test_silent_regions_are_left_out_and_counted():
    silent = np.zeros((32, 32))
    silent[:30, :30] = correlations(30, 0)
    table = subject_plausibility(silent, levels=(0.2,), gammas=(0.5,), perturbations=["control"])
    assert set(table["n_regions"]) == {30}
    graph = graph_from_connectivity(silent, ConnectomeSettings(level=0.2))
    ne, neff = node_entanglement(graph), node_efficiency(graph)
    assert (ne[30:] == 0).all()
    value = table.query("not signed and reference == 'node efficiency'")["spearman"].item()
    assert value == pytest.approx(spearmanr(ne[:30], neff[:30])[0], abs=1e-12)
    assert abs(value - spearmanr(ne, neff)[0]) > 1e-3


def test_bootstrap_interval_is_that_of_a_mean():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "subject": [f"s{i}" for i in range(400)],
            "level": 0.3,
            "perturbation": "control",
            "signed": False,
            "gamma": 0.5,
            "reference": "node efficiency",
            "spearman": rng.normal(0.5, 0.2, 400),
            "kendall": np.nan,
            "overlap": 0.5,
        }
    )
    summary = summarise_plausibility(frame, n_boot=4000).set_index("measure")
    half_width = 1.96 * frame["spearman"].std() / np.sqrt(400)
    assert summary.loc["spearman", "high"] - summary.loc["spearman", "mean"] == pytest.approx(half_width, rel=0.1)
    assert summary.loc["overlap", "low"] == summary.loc["overlap", "high"] == 0.5
    assert summary.loc["kendall", "n_subjects"] == 0
    assert np.isnan(summary.loc["kendall", "low"])


def test_a_threshold_that_leaves_nothing_is_refused():
    with pytest.raises(InputError, match="largest weight"):
        subject_plausibility(correlations(15, 0), levels=(1.0,), gammas=(0.5,))


def test_agreement_depends_on_gamma_in_real_subjects(shared_data):
    """The measured claim behind the defaults, on three of its subjects: agreement up to γ = 1, hardly beyond."""
    tables = [
        subject_plausibility(
            load_connectivity(shared_data, i),
            subject=str(i),
            levels=(0.3,),
            gammas=(0.5, 30),
            perturbations=["control"],
        )
        for i in range(3)
    ]
    summary = summarise_plausibility(pd.concat(tables), n_boot=100)
    chosen = summary.query("measure == 'spearman' and not signed and reference == 'node efficiency'")
    mean = chosen.set_index("gamma")["mean"]
    assert mean[0.5] > 0.5
    assert mean[30] < 0.4


def test_bad_input_is_refused_with_a_sentence():
    fc = correlations(15, 0)
    with pytest.raises(InputError, match="diffusion time"):
        subject_plausibility(fc, gammas=(-1,))
    with pytest.raises(InputError, match="confidence"):
        summarise_plausibility(subject_plausibility(fc, levels=(0.1,)), confidence=95)
