"""biobgt hubs says what its measures are worth: beyond strength and degree, against null graphs, and in both halves."""

import numpy as np
import pandas as pd
import pytest

from biobgt.data import connectivity as connectome
from biobgt.data.connectivity import brain_graph
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs import HUB_MEASURES, node_efficiency, node_entanglement
from biobgt.hubs.evidence import (
    HALVES,
    compare_halves,
    graph_agreement,
    measure_half,
    partial_spearman,
    set_against_nulls,
    strength_and_degree,
)

LEVEL = 0.02  # at the default, the small graphs are cliques, in which strength is all there is
SETTINGS = ConnectomeSettings(level=LEVEL)


def test_partial_correlation_stands_beside_spearmans(run, small, small_cohort, tmp_path):
    ended = run("hubs", small[0], "--atlas", small[1], "--out", tmp_path, "--level", LEVEL)
    assert ended.code == 0, ended.err
    rows = pd.read_csv(tmp_path / "hub_agreement.csv").set_index(["subject", "reference"])
    for subject in small_cohort:
        graph = brain_graph(subject, small_cohort.atlas, SETTINGS)
        given = strength_and_degree(graph)
        expected = partial_spearman(node_entanglement(graph), node_efficiency(graph), given)[0]
        assert rows.loc[(subject.id, "node efficiency"), "partial"] == pytest.approx(expected, abs=1e-6)
    mean = rows.xs("node efficiency", level="reference")["partial"].mean()
    assert f"given strength and degree {mean:.2f}".replace("-", "−") in ended.out
    assert "It was not compared with null graphs; --nulls 39 does so." in ended.out
    assert "Reliability was not measured for graphs like these (the study is on CC200" in ended.out
    assert "--halves" in ended.out
    assert not (tmp_path / "hub_reliability_study.csv").exists()
    summary = pd.read_csv(tmp_path / "hub_agreement_summary.csv").set_index(["reference", "measure"])
    assert summary.loc[("node efficiency", "partial"), "mean"] == pytest.approx(mean)


def test_connectivity_is_estimated_once_per_subject(run, small, tmp_path, monkeypatch):
    asked, estimate = [], connectome._correlation_of
    monkeypatch.setattr(connectome, "_correlation_of", lambda series: asked.append(0) or estimate(series))
    ended = run("hubs", small[0], "--atlas", small[1], "--out", tmp_path, "--level", LEVEL, "--workers", 1)
    assert ended.code == 0, ended.err
    assert len(asked) == 6


def test_null_graphs_and_halves_when_asked_for(run, small, small_cohort, tmp_path):
    options = ("--nulls", 4, "--halves", "--seed", 7)
    ended = run("hubs", small[0], "--atlas", small[1], "--out", tmp_path, "--level", LEVEL, *options)
    assert ended.code == 0, ended.err
    rows = pd.read_csv(tmp_path / "hub_agreement.csv").set_index(["subject", "reference"])
    subject = small_cohort["s2"]
    graph = brain_graph(subject, small_cohort.atlas, SETTINGS)
    nulls = [graph_agreement(graph, (0.5,), null=7 + number) for number in range(4)]
    expected = set_against_nulls(graph_agreement(graph, (0.5,)), nulls, 0.5)["partial"]
    found = rows.loc[("s2", "node efficiency")]
    np.testing.assert_allclose(
        found[["partial", "null_low", "null_high", "p"]].astype(float),
        [expected.rho, expected.null_low, expected.null_high, expected.p],
        atol=1e-6,
    )
    assert np.isnan(rows.loc[("s2", "FC strength"), "p"])  # no null graph has a full connectivity
    assert "With 4 null graphs p cannot go below 0.4" in ended.out
    halves = pd.read_csv(tmp_path / "hub_reliability.csv").query("subject == 's2'").set_index("measure")
    pair = [measure_half(subject, small_cohort.atlas, SETTINGS, number) for number in HALVES]
    again = compare_halves(*pair, 0.5, measures=list(HUB_MEASURES)).set_index("measure")
    np.testing.assert_allclose(halves["halves"], again["halves"], atol=1e-6)
    assert "Halves of each recording, 6 subjects" in ended.out


def test_fewer_than_no_null_graphs_are_refused(run, small, tmp_path):
    ended = run("hubs", small[0], "--atlas", small[1], "--out", tmp_path / "out", "--nulls", -1)
    assert ended.code != 0
    assert "The option 'nulls' is -1; it must be 0 or more." in ended.err
