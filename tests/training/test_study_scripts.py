"""The studies' scripts: complete, going on where they stopped; networks over nodes learn classes, and not by lot."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import torch
from planted_cohort import planted_cohort, small

from assets.studies.citation_tables import NETWORKS, TITLES, chosen_settings, citation_words, shown_citations
from assets.studies.citation_training import (
    CitationNetwork,
    NodeTraining,
    fit_nodes,
    read_citations,
    sparse_walk_returns,
)
from assets.studies.node_networks import NodeBioBGT, NodeGAT, NodeGraph, NodeLinear, NodeNetwork, NodeSAT, attend
from biobgt.base.errors import InputError
from biobgt.model.network import FunctionalModuleAttention, ModuleExtractor
from biobgt.model.peers import _DenseAttention, _random_walk_returns

STUDIES = Path(__file__).resolve().parents[2] / "assets" / "studies"


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, STUDIES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_ablation_covers_every_variant_with_and_without_ne() -> None:
    variants = set(_script("model_ablation").VARIANTS)
    assert {"NE shuffled over regions", "no NE: one vector for all regions"} <= variants
    table = pd.read_csv(STUDIES / "model_ablation.csv")
    lines = {(variant, fold) for variant, fold in zip(table["variant"], table["fold"], strict=True)}
    assert lines == {(variant, f"fold {number}") for variant in variants for number in (1, 2, 3)}
    assert len(lines) == len(table)


def test_one_training_gives_the_result_of_every_stopping_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = _script("paper_presets")
    paper = replace(small("paper-abide"), epochs=5, learning_rate=5e-2, warmup_epochs=0)
    monkeypatch.setattr(study, "RESULTS", tmp_path / "results.csv")
    monkeypatch.setattr(study, "PAPER", paper)
    monkeypatch.setattr(study, "STOPS_EARLY", replace(paper, patience=1))
    monkeypatch.setattr(study, "training_cohort", lambda kind, data: planted_cohort(16))
    study.main(tmp_path, tmp_path / "work", 1, None)
    assert capsys.readouterr().out.count("epoch") == 5  # every epoch was trained once
    table = pd.read_csv(tmp_path / "results.csv").set_index("rule")
    assert list(table.index) == [study.EARLY, study.BEST_EPOCH, study.LAST_EPOCH]
    epochs = pd.read_csv(next((tmp_path / "work").iterdir()) / "epochs.csv")["validation_loss"]
    trained = int(table.loc[study.EARLY, "epochs_trained"])
    assert table["epochs_trained"].tolist() == [trained, 5, 5]
    assert trained < 5
    assert table.loc[study.EARLY, "epoch_tested"] == epochs[:trained].argmin() + 1
    assert table.loc[study.BEST_EPOCH, "epoch_tested"] == epochs.argmin() + 1
    assert table.loc[study.LAST_EPOCH, "epoch_tested"] == 5
    study.main(tmp_path, tmp_path / "work", 1, None)
    assert capsys.readouterr().out == ""  # nothing is done twice
    assert len(pd.read_csv(tmp_path / "results.csv")) == 3


def test_the_committed_citations_are_complete() -> None:
    """Every setting with the seeds that choose, the chosen ones with all, each line once and with its own metrics."""
    study = _script("citation_graphs")
    lines = pd.read_csv(study.FILE)
    assert list(lines.columns) == study.COLUMNS
    assert not lines.duplicated(study.WHICH).any()
    known = {(*which, training.epochs) for which, (_, training) in study.SETTINGS.items()}
    assert set(lines[["system", "settings", "most_epochs"]].itertuples(index=False, name=None)) == known
    seeds = lines.groupby(["data", "system", "settings"])["seed"].agg(set)
    assert len(seeds) == len(NETWORKS) * len(known)
    chosen = set(study.chosen_settings(lines)[list(seeds.index.names)].itertuples(index=False, name=None))
    for which, found in seeds.items():
        assert set(range(study.SEEDS if which in chosen else study.SEEDS_TO_CHOOSE)) <= found
    # A share of 1,000 test papers has three digits; F1, a mean over classes, has more.
    assert (lines["accuracy"] == lines["accuracy"].round(3)).all()
    assert (lines["f1"] != lines["f1"].round(3)).mean() > 0.5


def test_a_stopped_run_over_citations_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, asked = _script("citation_graphs"), []
    monkeypatch.setattr(study, "FILE", tmp_path / "lines.csv")
    monkeypatch.setattr(study, "read_citations", lambda file, kept: file.stem)
    best = "kernel, dropout 0.5, rate 0.01"

    def fitted(network: str, build: object, training: object, *, seed: int) -> dict[str, float]:
        settings = next(name for (_, name), given in study.SETTINGS.items() if given == (build, training))
        asked.append((network, settings, seed))
        found = {"accuracy": 0.4, "auc": 0.5, "f1": 0.3, "epoch": 7, "parameters": 9}  # in any order
        return {**found, "validation_accuracy": 0.7 if settings == best else 0.6}

    monkeypatch.setattr(study, "fit_nodes", fitted)
    study.main(tmp_path, tmp_path)
    table = shown_citations(pd.read_csv(study.FILE)).set_index(["network", "system"])
    assert table.loc[("Cora", "BioBGT"), ["settings", "seeds"]].tolist() == [best, "10"]
    assert table.loc[("Cora", "GAT"), ["settings", "seeds"]].tolist() == ["as published", "10"]
    assert table["accuracy"].eq("40.0 ± 0.0").all()
    assert table["F1"].eq("30.0 ± 0.0").all()
    n, n_systems = len(asked), len(TITLES)
    assert n == len(NETWORKS) * (len(study.SETTINGS) * 2 + n_systems * 8)  # two seeds each, the best with eight more
    study.main(tmp_path, tmp_path)
    assert len(asked) == n  # nothing is done twice
    longer = {which: (build, replace(training, epochs=9)) for which, (build, training) in study.SETTINGS.items()}
    monkeypatch.setattr(study, "SETTINGS", longer)
    study.run("cora", "cora", "gat", "as published", 0)
    assert len(asked) == n + 1  # trained for longer, it is another run


REAL = Path("../shared/data/cora.npz")
N, WORDS = 90, 30


def write_network(file: Path, *, seed: int = 0) -> Path:
    """Three classes that cite their own and use words of their own, a node without citations, a loop."""
    rng = np.random.default_rng(seed)
    label = np.arange(N) % 3
    same = label[:, None] == label[None]
    rows, columns = np.nonzero(np.triu(rng.random((N, N)) < np.where(same, 0.25, 0.01), 1))
    joined = (rows != N - 1) & (columns != N - 1)
    edges = np.append(np.stack([rows, columns], axis=1)[joined], [[4, 4]], axis=0)
    own = label[:, None] == (np.arange(WORDS) % 3)[None]
    feature_row, feature_col = np.nonzero(rng.random((N, WORDS)) < np.where(own, 0.5, 0.1))
    parts = np.split(rng.permutation(N), [24, 45])
    np.savez(
        file,
        shape=np.array([N, WORDS]),
        feature_row=feature_row,
        feature_col=feature_col,
        edges=edges,
        label=label.astype(np.int16),
        **dict(zip(("train", "validation", "test"), parts, strict=True)),
    )
    return file


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> CitationNetwork:
    return read_citations(write_network(tmp_path_factory.mktemp("citations") / "planted.npz"))


def build(system: str, graph: NodeGraph, n_classes: int) -> NodeNetwork:
    if system == "linear":
        return NodeLinear(graph, n_classes, hops=2)
    if system == "gat":
        return NodeGAT(graph, n_classes, dropout=0.3)
    if system == "sat-pe":
        return NodeSAT(graph, n_classes, width=32, layers=2, dropout=0.1)
    return NodeBioBGT(graph, n_classes, width=32, layers=1, dropout=0.1, gain=1.5)


@pytest.mark.parametrize("system", ["linear", "gat", "sat-pe", "biobgt"])
def test_a_network_learns_planted_classes_and_not_classes_by_lot(system: str, planted: CitationNetwork) -> None:
    rate = 0.2 if system == "linear" else NodeTraining.learning_rate
    pretraining = 30 if system == "biobgt" else 0
    training = NodeTraining(learning_rate=rate, epochs=60, patience=60, pretraining=pretraining, added=0.1)
    lot = planted.classes[torch.from_numpy(np.random.default_rng(1).permutation(N))]
    learnt = fit_nodes(planted, lambda *given: build(system, *given), training, seed=0)
    guessed = fit_nodes(replace(planted, classes=lot), lambda *given: build(system, *given), training, seed=0)
    assert learnt["auc"] > 0.85
    assert learnt["accuracy"] > 0.7
    assert 0.3 < guessed["auc"] < 0.7


def test_a_seed_says_what_a_run_gives(planted: CitationNetwork) -> None:
    training = NodeTraining(epochs=3, added=0.1)
    runs = [fit_nodes(planted, lambda *given: build("biobgt", *given), training, seed=seed) for seed in (0, 0, 1)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_training_does_not_look_at_test_nodes(planted: CitationNetwork) -> None:
    other = planted.classes.clone()
    other[planted.parts["test"]] = (other[planted.parts["test"]] + 1) % 3
    training = NodeTraining(epochs=5)
    first, second = (
        fit_nodes(data, lambda *given: build("gat", *given), training, seed=0)
        for data in (planted, replace(planted, classes=other))
    )
    assert first["validation_accuracy"] == second["validation_accuracy"]
    assert first["epoch"] == second["epoch"]


def test_what_is_read_is_the_graph_of_the_file(planted: CitationNetwork) -> None:
    graph = planted.graph
    assert not (graph.edges[0] == graph.edges[1]).any()
    assert graph.modules[N - 1] == 0  # cites nobody
    assert graph.entanglement[N - 1] == 0
    looped = torch.eye(N)
    looped[graph.edges[0], graph.edges[1]] = looped[graph.edges[1], graph.edges[0]] = 1
    scale = looped.sum(dim=1).rsqrt()
    torch.testing.assert_close(graph.adjacency.to_dense(), looped * scale[:, None] * scale[None])
    sums = graph.features.to_dense().sum(dim=1)
    torch.testing.assert_close(sums[sums > 0], torch.ones(int((sums > 0).sum())))


def test_a_sparse_graph_is_embedded_as_a_dense_one(planted: CitationNetwork) -> None:
    torch.manual_seed(0)
    extractor, x = ModuleExtractor(8, 2), torch.randn(N, 8)
    weights = torch.zeros(N, N)
    weights[planted.graph.edges[0], planted.graph.edges[1]] = 1
    torch.testing.assert_close(
        extractor.embed(x, planted.graph.adjacency), extractor(x[None], (weights + weights.T)[None])[0]
    )


def test_walks_over_edges_return_as_those_over_all_pairs(planted: CitationNetwork) -> None:
    weights = np.zeros((N, N))
    first, second = planted.graph.edges.numpy()
    weights[first, second] = weights[second, first] = 1
    dense = _random_walk_returns(torch.from_numpy(weights[None]), 6)[0].numpy()
    np.testing.assert_allclose(sparse_walk_returns(weights, 6), dense, atol=1e-12)


def test_the_linear_model_averages_words_over_a_paper_and_its_citations(planted: CitationNetwork) -> None:
    graph = planted.graph
    own, averaged = (NodeLinear(graph, 3, hops=hops).averaged for hops in (0, 2))
    torch.testing.assert_close(own, graph.features.to_dense())
    step = graph.adjacency.to_dense()
    torch.testing.assert_close(averaged, step @ step @ own)
    torch.testing.assert_close(averaged[N - 1], own[N - 1])  # cites nobody


def test_asked_nodes_attend_as_in_the_networks_over_brain_graphs() -> None:
    torch.manual_seed(0)
    h, asked = torch.randn(20, 16), torch.tensor([3, 17, 4])
    dense, published = _DenseAttention(16, 4), FunctionalModuleAttention(16, 4, stream=16, tied=False, dropout=0.0)
    torch.testing.assert_close(attend(dense, h, h, asked), dense(h[None])[0][asked])
    torch.testing.assert_close(attend(published, h, h, asked), published(h[None], h[None])[0][0][asked])


def test_settings_are_chosen_on_validation_and_not_on_test() -> None:
    lines = [
        ("cora", "gat", "a", 0, 0.7, 0.9),
        ("cora", "gat", "b", 0, 0.8, 0.5),
        ("cora", "gat", "b", 1, 0.1, 0.4),  # a seed that the other has not: not compared
    ]
    columns = ["data", "system", "settings", "seed", "validation_accuracy", "accuracy"]
    chosen = chosen_settings(pd.DataFrame(lines, columns=columns))
    assert list(chosen["settings"]) == ["b", "b"]


def test_the_table_has_the_spread_over_seeds_and_the_papers_numbers() -> None:
    """By hand: the mean of 80 and 84 % is 82, their SD 2.8."""
    shared = {"data": "cora", "settings": "a", "validation_accuracy": 0.5, "f1": 0.5, "auc": 0.9, "parameters": 1234}
    lines = [{**shared, "system": "gat", "seed": seed, "accuracy": 0.80 + 0.04 * seed} for seed in (0, 1)]
    lines.append({**shared, "system": "words", "seed": 0, "accuracy": 0.6})
    first, second = shown_citations(pd.DataFrame(lines)).to_dict("records")
    assert (first["system"], first["accuracy"], first["paper: F1 / acc. / AUC"]) == (
        "linear model of a paper's words",
        "60.0",
        "–",
    )
    assert (second["network"], second["seeds"], second["accuracy"]) == ("Cora", "2", "82.0 ± 2.8")
    assert second["paper: F1 / acc. / AUC"] == "81.0 / 81.7 / 97.4"


def test_words_name_the_best_system_of_each_network() -> None:
    shared = {"settings": "a", "seed": 0, "validation_accuracy": 0.5}
    given = {("cora", "gat"): 0.8, ("cora", "biobgt"): 0.7, ("citeseer", "gat"): 0.6, ("citeseer", "biobgt"): 0.65}
    lines = [{**shared, "data": data, "system": system, "accuracy": value} for (data, system), value in given.items()]
    assert (
        "The highest mean accuracy is 65.0 % on Citeseer (BioBGT; BioBGT has 65.0 %) and 80.0 % on Cora (GAT; BioBGT "
        "has 70.0 %)." in citation_words(pd.DataFrame(lines))
    )


def test_a_file_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file '.*cora.npz'"):
        read_citations(tmp_path / "cora.npz")


def test_what_was_measured_is_kept(tmp_path: Path) -> None:
    file = write_network(tmp_path / "planted.npz")
    first = read_citations(file, kept=tmp_path / "kept")
    np.savez(
        tmp_path / "kept" / "planted.npz",
        entanglement=first.graph.entanglement.numpy() + 1,
        modules=first.graph.modules.numpy(),
        positions=first.graph.positions.numpy(),
    )
    again = read_citations(file, kept=tmp_path / "kept")
    torch.testing.assert_close(again.graph.entanglement, first.graph.entanglement + 1)


@pytest.mark.skipif(not REAL.exists(), reason="The citation networks are not beside the project.")
def test_the_real_files_are_read_and_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cora with NE, modules and positions left out, which take ten seconds: GAT alone, which needs none of them."""
    monkeypatch.setattr(
        "assets.studies.citation_training._measured",
        lambda edges, n, file: [np.zeros(n, np.float32), np.zeros(n, np.int64), np.zeros((n, 1), np.float32)],
    )
    data = read_citations(REAL)
    assert len(data.graph) == 2708
    assert data.n_classes == 7
    assert [len(data.parts[part]) for part in ("train", "validation", "test")] == [140, 500, 1000]
    found = fit_nodes(data, lambda *given: NodeGAT(*given, dropout=0.6), NodeTraining(epochs=30), seed=0)
    assert found["accuracy"] > 0.7
