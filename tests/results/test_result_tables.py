"""Cohort tables: the same numbers as one subject at a time, and groups put together from them."""

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

from biobgt.base.errors import InputError
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.export.request import cohort_sha256
from biobgt.hubs import fc_strength, gamma_unit, node_efficiency, node_entanglement
from biobgt.hubs.measures import HubAnalysisOptions
from biobgt.modules import louvain_modules, match_modules, module_agreement
from biobgt.modules.measures import ModuleOptions
from biobgt.results.measured import Measured
from biobgt.results.store import FolderStore
from biobgt.results.tables import analyse_hubs, analyse_modules


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=3)


@pytest.fixture(scope="module")
def hubs(cohort):
    return analyse_hubs(cohort, options=HubAnalysisOptions(gamma=0.7))


@pytest.fixture(scope="module")
def modules(cohort):
    return analyse_modules(cohort, options=ModuleOptions(runs=2))


def test_each_subject_has_its_own_hub_table(cohort, hubs):
    subject = cohort["sim-MCI-002"]
    graph = brain_graph(subject, cohort.atlas)
    table = hubs.tables["sim-MCI-002"]
    expected = node_entanglement(graph, absolute_gamma=0.7 * gamma_unit(graph))
    np.testing.assert_allclose(table["node_entanglement"], expected, atol=1e-12)
    np.testing.assert_allclose(table["node_efficiency"], node_efficiency(graph))
    np.testing.assert_allclose(table["fc_strength"], fc_strength(subject_connectivity(subject)))


def test_groups_are_means_of_their_subjects(cohort, hubs):
    rows = hubs.groups[hubs.groups["group"] == "AD"]
    members = [hubs.tables[name] for name in cohort.group("AD").ids]
    expected = np.mean([table["node_entanglement"] for table in members], axis=0)
    np.testing.assert_allclose(rows["node_entanglement_mean"], expected)
    shares = np.mean([table["degree_hub"] for table in members], axis=0)
    np.testing.assert_allclose(rows["degree_hub_share"], shares)
    assert rows["n_subjects"].eq(3).all()


def test_agreement_is_a_rank_correlation_a_subject(hubs):
    table = hubs.tables["sim-NC-001"]
    row = hubs.agreement.query("subject == 'sim-NC-001' and reference == 'node efficiency'").iloc[0]
    expected = table["node_entanglement"].rank().corr(table["node_efficiency"].rank())
    assert row["spearman"] == pytest.approx(expected)
    summary = hubs.summary.query("reference == 'node efficiency' and measure == 'spearman'").iloc[0]
    own = hubs.agreement.query("reference == 'node efficiency'")["spearman"]
    assert summary["mean"] == pytest.approx(own.mean())
    assert summary["low"] < summary["mean"] < summary["high"]


def test_each_subject_has_its_own_modules(cohort, modules):
    graph = brain_graph(cohort["sim-AD-003"], cohort.atlas)
    expected = louvain_modules(graph, runs=2)
    np.testing.assert_array_equal(modules.partitions["sim-AD-003"].labels, expected.labels)
    row = modules.summary.set_index("subject").loc["sim-AD-003"]
    assert row["q"] == pytest.approx(expected.q)
    assert row["ami dosenbach"] == pytest.approx(module_agreement(expected, cohort.atlas, "dosenbach").ami)
    assert row["group"] == "AD"
    assert modules.roles["sim-AD-003"]["module"].tolist() == expected.labels.tolist()


def test_group_modules_are_numbered_alike(cohort, modules):
    groups = modules.groups
    assert list(groups.columns) == ["region", "NC", "MCI", "AD"]
    np.testing.assert_array_equal(match_modules(groups["AD"].to_numpy(), groups["NC"].to_numpy()), groups["AD"])


def test_a_cohort_without_groups_is_one_group(cohort):
    nobody = cohort.with_groups(dict.fromkeys(cohort.ids))
    assert analyse_modules(nobody, options=ModuleOptions(runs=1)).groups.columns.tolist() == ["region", "all"]


def test_empty_cohorts_and_signed_graphs_get_a_sentence(cohort):
    with pytest.raises(InputError, match="empty"):
        analyse_hubs(cohort.select(lambda _: False))
    with pytest.raises(InputError, match="negative"):
        analyse_hubs(cohort, ConnectomeSettings(sign="signed", threshold="none"))


@pytest.mark.parametrize("workers", [1, 2])
def test_results_in_a_folder_are_the_same_and_are_not_measured_again(cohort, tmp_path, monkeypatch, workers):
    settings, options = ConnectomeSettings(estimator="tangent"), HubAnalysisOptions(nulls=2)
    store = FolderStore(tmp_path, cohort_sha256(cohort))
    plain = analyse_hubs(cohort, settings, options), analyse_modules(cohort, settings)
    run = {"workers": workers, "store": store}
    kept = analyse_hubs(cohort, settings, options, **run), analyse_modules(cohort, settings, **run)
    for name in ("hubs.table.measure_hubs", "hubs.agreement.graph_agreement", "modules.structure.find_modules"):
        monkeypatch.setattr(f"biobgt.{name}", None)
    again = analyse_hubs(cohort, settings, options, store=store), analyse_modules(cohort, settings, store=store)
    for hubs, modules in (kept, again):
        assert_frame_equal(hubs.agreement, plain[0].agreement)
        assert_frame_equal(hubs.groups, plain[0].groups)
        for name, table in plain[0].tables.items():
            assert_frame_equal(hubs.tables[name], table)
        assert_frame_equal(modules.summary, plain[1].summary)
        assert_frame_equal(modules.groups, plain[1].groups)
    # What the page shows of a subject is the same result.
    measured = Measured(cohort, store).of(cohort.ids[0], settings)
    assert_frame_equal(measured.hub_table(options), plain[0].tables[cohort.ids[0]])
    assert measured.module_labels(ModuleOptions()) == tuple(plain[1].partitions[cohort.ids[0]].labels)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_folder_that_cannot_be_written_to_ends_nothing_and_is_said_once(cohort, tmp_path, caplog, workers):
    (tmp_path / "file").write_text("")
    store = FolderStore(tmp_path / "file" / "inside", "one")
    found = analyse_modules(cohort, options=ModuleOptions(runs=1), workers=workers, store=store)
    assert_frame_equal(found.summary, analyse_modules(cohort, options=ModuleOptions(runs=1)).summary)
    assert [record.getMessage() for record in caplog.records] == [caplog.records[0].getMessage()]
    assert "no longer kept" in caplog.text
