"""Hubs, modules and groups compared on the command line: the numbers of the library and the app, and their worth."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest
from ended_jobs import refused

from biobgt.cli.subjects import demo
from biobgt.data import connectivity as connectome
from biobgt.data.connectivity import brain_graph, fisher_z, subject_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.groups import compare_groups
from biobgt.groups.compare import Compared
from biobgt.hubs import HUB_MEASURES, node_efficiency, node_entanglement
from biobgt.hubs.agreement import graph_agreement, partial_spearman, set_against_nulls, strength_and_degree
from biobgt.hubs.measures import HubAnalysisOptions
from biobgt.hubs.reliability import HALVES, compare_halves, measure_half
from biobgt.model.folder import load_pretrained
from biobgt.modules import find_modules, measure_modules
from biobgt.modules.compare import group_module_difference, shuffled_changes
from biobgt.modules.measures import ModuleOptions
from biobgt.readers import read_cohort
from biobgt.results.store import FolderStore
from biobgt.results.tables import analyse_hubs

AGES = (70, 71, 74, 80, 77, 75)


@pytest.fixture
def table(tmp_path, simulated_cohort):
    """Groups and ages of the subjects of NC and AD; those of MCI have no age."""
    rows = ["subject,group,age,scores"]
    ages = iter(AGES)
    for subject in simulated_cohort:
        age = "" if subject.group == "MCI" else next(ages)
        rows.append(f"{subject.id},{subject.group},{age},{'' if subject.id == 'sim-AD-002' else 3}")
    path = tmp_path / "groups.csv"
    path.write_text("\n".join(rows))
    return path


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """Seven simulated subjects of NC, MCI and AD each: enough to adjust for age."""
    folder = tmp_path_factory.mktemp("larger") / "study"
    demo(out=folder, name="ad", n_per_group=7, seed=1)
    return folder


@pytest.fixture
def larger_table(tmp_path, larger):
    """Groups, ages and sites of the larger study; every site has one subject of each group."""
    rows = ["subject,group,age,site"]
    for i, subject in enumerate(read_cohort(larger)):
        rows.append(f"{subject.id},{subject.group},{70 + 7 * i % 11},site{i % 7}")
    path = tmp_path / "larger.csv"
    path.write_text("\n".join(rows))
    return path


def settings_of(path) -> dict[str, str]:
    return dict(pd.read_csv(path).to_numpy().tolist())


def test_networks_compared_adjusted_for_age(done, larger, larger_table, tmp_path):
    cohort = read_cohort(larger, phenotypes=larger_table)
    ended = done(
        *("compare", larger, "--phenotypes", larger_table, "--groups", "NC", "AD", "--of", "fc-blocks"),
        *("--out", tmp_path / "out", "--permutations", 50, "--seed", 3, "--without", "site"),
    )
    found = pd.read_csv(tmp_path / "out" / "compare_fc-blocks.csv").set_index("feature")
    chosen = [subject for subject in cohort if subject.group in ("NC", "AD")]
    default = np.array([label == "default" for label in cohort.atlas.labels["dosenbach"]])
    pairs = np.triu(np.outer(default, default), 1)
    values = np.array([fisher_z(subject_connectivity(subject))[pairs].mean() for subject in chosen])
    patients = np.array([subject.group == "AD" for subject in chosen])
    row = found.loc["default – default"]
    np.testing.assert_allclose([row["mean_NC"], row["mean_AD"]], [values[~patients].mean(), values[patients].mean()])
    design = np.column_stack([np.ones(14), [subject.phenotypes["age"] for subject in chosen], patients]).astype(float)
    solve = np.linalg.pinv(design)
    squares, leverage = (values - design @ (solve @ values)) ** 2, np.diag(design @ solve)
    own = [squares[group].sum() / (1 - leverage[group]).sum() for group in (~patients, patients)]
    error = np.sqrt(solve[2] ** 2 @ np.where(patients, own[1], own[0]))  # each group has its own variance
    np.testing.assert_allclose([row["difference"], row["t"]], [solve[2] @ values, solve[2] @ values / error], rtol=1e-6)
    assert found[
        ["n_NC", "n_AD", "covariates", "residual_degrees", "permutations", "seed", "simulated"]
    ].drop_duplicates().to_numpy().tolist() == [[7, 7, "age", 11, 50, 3, True]]
    assert "Adjusted for: age. 11 residual degrees of freedom, 50 permutations, seed 3." in ended.out
    assert "not ruled out: motion and sex" in ended.out
    assert "Not adjusted for, as requested, so not ruled out: site." in ended.out
    assert "SIMULATED: 14 of the subjects" in ended.out
    used = settings_of(tmp_path / "out" / "compare_fc-blocks_settings.csv")
    assert (used["estimator"], used["threshold"], used["labelling"]) == ("fisher-z", "none", "dosenbach")


def test_hubs_compared_region_by_region(done, small, small_cohort, tmp_path):
    ended = done(
        *("compare", small[0], "--atlas", small[1], "--groups", "NC", "AD", "--of", "hubs", "--gamma", 1),
        *("--measure", "node_efficiency", "--out", tmp_path, "--workers", 1, "--permutations", 20),
    )
    tables = analyse_hubs(small_cohort, options=HubAnalysisOptions(gamma=1)).tables
    expected = compare_groups(
        np.stack([tables[name]["node_efficiency"].to_numpy() for name in small_cohort.ids]),
        [subject.group for subject in small_cohort],
        subjects=small_cohort.ids,
        between=("NC", "AD"),
        permutations=20,
    ).table
    found = pd.read_csv(tmp_path / "compare_hubs.csv")
    assert found["feature"].tolist() == list(small_cohort.atlas.regions)
    for column in ("mean_NC", "mean_AD", "d", "p", "q"):
        np.testing.assert_allclose(found[column], expected[column], rtol=1e-6)
    assert set(found["covariates"]) == {"none"}
    assert "Adjusted for: none." in ended.out
    assert settings_of(tmp_path / "compare_hubs_settings.csv")["gamma"] == "1.0"


@pytest.mark.parametrize("of", get_args(Compared))
def test_a_comparison_is_kept_in_a_folder_and_the_same(thrice, small, monkeypatch, of):
    kept, keep = [], FolderStore.put
    monkeypatch.setattr(FolderStore, "put", lambda *given: kept.append(keep(*given)))
    asked = ("compare", small[0], "--atlas", small[1], "--groups", "NC", "AD", "--of", of, "--permutations", 20)
    without, first, again = thrice(kept, *asked, "--workers", 1)
    assert without == again == 0 < first


def test_segregation_is_that_of_each_subject(done, small, small_cohort, tmp_path):
    asked = ("compare", small[0], "--atlas", small[1], "--groups", "NC", "AD", "--of", "segregation", "--consensus")
    done(*asked, "--out", tmp_path, "--workers", 1, "--permutations", 20, "--resolution", 0.9)
    found = pd.read_csv(tmp_path / "compare_segregation.csv").set_index("feature")
    options = ModuleOptions(resolution=0.9, consensus=True)
    measures = [
        measure_modules(
            brain_graph(subject, small_cohort.atlas, ConnectomeSettings()), subject_connectivity(subject), options
        ).measures
        for subject in small_cohort.group("AD")
    ]
    for feature, measure in (("modularity Q", "q"), ("system segregation, own modules", "system segregation")):
        assert found.loc[feature, "mean_AD"] == pytest.approx(np.mean([own[measure] for own in measures]), rel=1e-6)
    assert "system segregation, network" in found.index
    assert settings_of(tmp_path / "compare_segregation_settings.csv")["consensus"] == "True"


def test_modules_of_two_groups_are_compared_as_in_the_app(run, done, small, small_cohort, tmp_path):
    asked = ("compare", small[0], "--atlas", small[1], "--groups", "NC", "AD", "--of", "modules", "--seed", 2)
    done(*asked, "--out", tmp_path, "--workers", 1, "--permutations", 100)
    labels = {
        subject.id: find_modules(brain_graph(subject, small_cohort.atlas, ConnectomeSettings()), ModuleOptions(seed=2))
        for subject in small_cohort
    }
    expected = group_module_difference(small_cohort, ("NC", "AD"), labels, n_permutations=100, seed=2)
    row = pd.read_csv(tmp_path / "compare_modules.csv").iloc[0]
    assert row["ami"] == pytest.approx(expected.agreement.ami)
    assert row["p"] == pytest.approx(expected.p)
    shuffled = [shuffled_changes(small_cohort, ("NC", "AD"), labels, number=number, seed=2) for number in range(39)]
    assert (row["changed_low"], row["changed_high"]) == (min(shuffled), max(shuffled))
    assert row["changed_p"] == (1 + sum(n >= len(expected.changed) for n in shuffled)) / 40
    assert (row["n_NC"], row["n_AD"], row["covariates"], bool(row["simulated"])) == (3, 3, "none", True)
    regions = pd.read_csv(tmp_path / "compare_modules_regions.csv")
    assert regions["AD"].tolist() == expected.second.tolist()
    assert np.flatnonzero(regions["changed"]).tolist() == list(expected.changed)
    refused(run(*asked, "--out", tmp_path / "out", "--covariate", "age"), "cannot adjust for covariates")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--groups", "NC", "ASD"), "No subject is of group 'ASD'. The groups here: NC, MCI, AD."),
        (("--groups", "NC", "NC"), "A group cannot be compared with itself; NC was named twice."),
        (("--groups", "NC", "MCI"), "The covariate 'age' is missing for 3 of 6 subjects, such as 'sim-MCI-001'."),
        (("--groups", "NC", "AD", "--covariate", "scores"), "'scores' is missing for 1 of 6 subjects"),
        (("--groups", "NC", "AD", "--covariate", "iq"), "There is no covariate 'iq'. The phenotypes have: age, scores"),
        (("--groups", "NC", "AD", "--labelling", "yeo", "--without", "age"), "has no labelling 'yeo'"),
        (("--groups", "NC", "AD", "--measure", "fame"), "There is no hub measure 'fame'"),
        (("--groups", "NC", "AD", "--permutations", "-1"), "'permutations' is -1; it must be 0 or more"),
        (("--groups", "NC", "AD", "--seed", "-1"), "The option 'seed' is -1"),
        (("--groups", "NC"), "--groups"),
    ],
)
def test_comparisons_that_cannot_be_made(run, simulated, table, tmp_path, arguments, sentence):
    out = tmp_path / "out"
    refused(run("compare", simulated, "--phenotypes", table, "--of", "fc-blocks", "--out", out, *arguments), sentence)
    assert not out.exists()


def test_groups_that_are_missing_or_too_small(run, simulated, tmp_path):
    asked = ("compare", simulated, "--of", "segregation", "--groups", "NC", "AD", "--out", tmp_path / "out")
    (tmp_path / "none.csv").write_text("subject,age\nsim-NC-001,70\n")
    assert "has a group. Name a table of groups" in run(*asked, "--phenotypes", tmp_path / "none.csv").err
    (tmp_path / "few.csv").write_text("subject,group\nsim-NC-001,NC\nsim-AD-001,AD\nsim-AD-002,AD\n")
    ended = run(*asked, "--phenotypes", tmp_path / "few.csv")
    assert (ended.code, ended.err) == (2, "Group 'NC' has 1 subject; a comparison needs 2 in each group.\n")
    assert not (tmp_path / "out").exists()


def test_subjects_without_a_covariate_are_left_out_when_asked_to(run, done, larger, larger_table, tmp_path):
    text = larger_table.read_text()
    line = next(row for row in text.splitlines() if row.startswith("sim-AD-003"))
    larger_table.write_text(text.replace(line, "sim-AD-003,AD,,site2"))
    asked = ("compare", larger, "--phenotypes", larger_table, "--of", "fc-blocks", "--out", tmp_path / "out")
    asked = (*asked, "--without", "site", "--permutations", 10)
    ended = done(*asked, "--groups", "NC", "AD", "--leave-out-incomplete")
    found = pd.read_csv(tmp_path / "out" / "compare_fc-blocks.csv")
    assert set(zip(found["n_NC"], found["n_AD"], strict=True)) == {(7, 6)}
    assert "1 subject left out because age is missing." in ended.out
    assert "(on the command line --without age)" in run(*asked, "--groups", "NC", "AD").err


def test_modules_are_those_of_the_app_whatever_is_chosen(done, simulated, simulated_cohort, tmp_path):
    subject = simulated_cohort["sim-MCI-001"]
    graph = brain_graph(subject, simulated_cohort.atlas, ConnectomeSettings(sign="signed", level=0.25))
    how = ("--sign", "signed", "--level", 0.25, "--resolution", 1.3, "--runs", 3, "--workers", 1)
    chosen = {"": {}, "--consensus": {"consensus": True}, "--unsigned": {"signed": False}}
    seen = set()
    for flag, differs in chosen.items():
        done("modules", simulated / "sim-MCI-001.tsv", "--out", tmp_path, *how, *([flag] if flag else []))
        options = ModuleOptions(resolution=1.3, runs=3, **differs)
        shown = measure_modules(graph, subject_connectivity(subject), options)  # what the page of modules asks for
        found = pd.read_csv(tmp_path / "modules" / "sim-MCI-001.csv")
        assert found["module"].tolist() == shown.partition.labels.tolist()
        np.testing.assert_allclose(found["participation"], shown.roles["participation"], atol=1e-7)
        assert pd.read_csv(tmp_path / "module_summary.csv")["q"].item() == pytest.approx(shown.measures["q"], rel=1e-6)
        used = settings_of(tmp_path / "module_settings.csv")
        assert (used["consensus"], used["signed"]) == (str(options.consensus), str(options.signed))
        seen.add(tuple(found["module"]))
    assert len(seen) == 3, "the choices must matter here, or this test could not fail"


def test_many_subjects_are_predicted_in_parts_with_the_same_numbers(
    done, simulated, simulated_cohort, tmp_path, monkeypatch
):
    monkeypatch.setattr("biobgt.model.ensemble._AT_ONCE", 2)  # 3 subjects: a whole part and one left over
    asked = ("predict", simulated, "--pattern", "*MCI*", "--model", "adsim-aal90")
    ended = done(*asked, "--out", tmp_path / "new" / "p.csv")
    assert "SIMULATED: 3 of the subjects" in ended.out
    found = pd.read_csv(tmp_path / "new" / "p.csv", keep_default_na=False)
    expected = load_pretrained("adsim-aal90").predict(simulated_cohort.group("MCI"))
    assert found["subject"].tolist() == ["sim-MCI-001", "sim-MCI-002", "sim-MCI-003"]
    for group in ("NC", "MCI", "AD"):
        np.testing.assert_allclose(found[f"p_{group}"], expected[f"p_{group}"], atol=2e-6)
    assert found["warning"].tolist() == expected["warning"].tolist()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["p.csv", "p_model.json"]


def test_attention_in_tables(done, simulated, simulated_cohort, tmp_path):
    done("attention", simulated / "sim-AD-001.tsv", "--model", "adsim-aal90", "--out", tmp_path)
    seen = load_pretrained("adsim-aal90").explain([simulated_cohort["sim-AD-001"]])
    with np.load(tmp_path / "attention" / "sim-AD-001.npz") as stored:
        np.testing.assert_allclose(stored["attention"], seen.attention[0], atol=1e-6)
    received = pd.read_csv(tmp_path / "attention_received.csv")
    mean = 90 * seen.attention[0].mean(axis=(0, 1))  # 1 is uniform attention
    expected = [np.delete(mean[:, region], region).mean() for region in range(90)]
    np.testing.assert_allclose(received[list(simulated_cohort.atlas.regions)].to_numpy()[0], expected, rtol=1e-4)
    blocks = pd.read_csv(tmp_path / "module_blocks.csv")
    assert len(blocks.columns) == 2 + 25  # AAL-90 has no cerebellum


LEVEL = 0.02  # at the default, the small graphs are cliques, in which strength is all there is
SPARSE = ConnectomeSettings(level=LEVEL)


def test_partial_correlation_stands_beside_spearmans(done, small, small_cohort, tmp_path):
    ended = done("hubs", small[0], "--atlas", small[1], "--out", tmp_path, "--level", LEVEL)
    rows = pd.read_csv(tmp_path / "hub_agreement.csv").set_index(["subject", "reference"])
    for subject in small_cohort:
        graph = brain_graph(subject, small_cohort.atlas, SPARSE)
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


def test_connectivity_is_estimated_once_per_subject(done, small, tmp_path, monkeypatch):
    asked, estimate = [], connectome._correlation_of
    monkeypatch.setattr(connectome, "_correlation_of", lambda series: asked.append(0) or estimate(series))
    done("hubs", small[0], "--atlas", small[1], "--out", tmp_path, "--level", LEVEL, "--workers", 1)
    assert len(asked) == 6


def test_null_graphs_and_halves_when_asked_for(done, small, small_cohort, tmp_path):
    options = ("--nulls", 4, "--halves", "--seed", 7)
    ended = done("hubs", small[0], "--atlas", small[1], "--out", tmp_path, "--level", LEVEL, *options)
    rows = pd.read_csv(tmp_path / "hub_agreement.csv").set_index(["subject", "reference"])
    subject = small_cohort["s2"]
    graph = brain_graph(subject, small_cohort.atlas, SPARSE)
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
    pair = [measure_half(subject, small_cohort.atlas, SPARSE, number) for number in HALVES]
    again = compare_halves(*pair, 0.5, measures=list(HUB_MEASURES)).set_index("measure")
    np.testing.assert_allclose(halves["halves"], again["halves"], atol=1e-6)
    assert "Halves of each recording, 6 subjects" in ended.out
