"""A new baseline and a new network are one object each, found in commands, on cards, in figures and on pages."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from new_objects import bundle_of, numbers_of, run
from page_contents import as_shown, assert_no_error, figure
from tiny_models import PRESET, write_tiny_model

from biobgt.base.references import Reference
from biobgt.export import CohortRef, FigureRequest
from biobgt.model import presets, pretrained
from biobgt.model.benchmark.linear import BASELINES, Baseline
from biobgt.model.benchmark.systems import NETWORK_TRAINING, SYSTEMS, NetworkSystem, Published
from biobgt.training.card_tables import evaluation_table

TITLE = "the shares of the groups"
N_PER_GROUP = 10


class GroupShares:
    """Gives everybody the shares of the groups in training."""

    def fit(self, matrices, groups):
        self.shares = np.bincount(groups) / len(groups)

    def logits(self, matrices):
        return np.tile(np.log(self.shares), (len(matrices), 1))


@pytest.fixture
def shares():
    with BASELINES.temporarily(Baseline("shares", TITLE, lambda shrinkage: GroupShares(), family="constant")):
        yield


def test_baseline_is_evaluated_by_the_command_and_shown_on_the_page(open_page, shares, tmp_path, monkeypatch):
    folder, out = tmp_path / "pretrained", tmp_path / "out"
    write_tiny_model(folder / "mine", "ad", "folder", simulated=True, n_per_group=N_PER_GROUP, baseline=TITLE)
    run(monkeypatch, "demo", "ad", "--out", tmp_path / "study", "--n-per-group", N_PER_GROUP)
    monkeypatch.setitem(presets.PRESETS, "best", PRESET)
    asked = ("--cohort", "folder", "--data", tmp_path / "study", "--model", folder / "mine", "--out", out)
    run(monkeypatch, "evaluate", *asked, "--splits", 1, "--threads", 1, "--device", "cpu")
    lines = pd.read_csv(out / "results.csv").query("model == 'constant shares'")
    assert lines["split"].tolist() == ["split 1"]
    assert lines["auc"].tolist() == [0.5]
    card = json.loads((folder / "mine" / "card.json").read_text(encoding="utf-8"))
    assert "constant shares" in [row["model"] for row in card["evaluation"]]
    assert TITLE in evaluation_table(card)["Model"].tolist()
    monkeypatch.setattr(pretrained, "pretrained_folder", lambda: folder)
    page = open_page("models", cohort="ad")
    assert_no_error(page)
    evaluated = next(table.value for table in page.dataframe if "Model" in table.value.columns)
    assert TITLE in evaluated["Model"].tolist()
    assert TITLE in [name for table in page.table for name in table.value.index]
    assert TITLE in json.dumps(figure(page, "results"))


NETWORK = "the mean of all weights"
WORK = Reference("nobody2031", "article", {"author": "Nobody, Ada", "title": "Means", "year": "2031"})


def mean_weight(n_regions: int, n_groups: int):
    """A network that looks at the mean weight of a graph and at nothing else; torch is imported when it is built."""
    from torch import nn

    from biobgt.model.benchmark.networks import GraphNetwork

    class MeanWeight(GraphNetwork):
        def __init__(self):
            super().__init__()
            self.readout = nn.Linear(1, n_groups)

        def forward(self, batch):
            return self.readout(batch.weights.mean(dim=(1, 2))[:, None])

    return MeanWeight()


@pytest.fixture
def network():
    training = replace(NETWORK_TRAINING, epochs=2, warmup_epochs=0)
    with SYSTEMS.temporarily(
        NetworkSystem(
            "mean-weight",
            NETWORK,
            "graph networks",
            (WORK,),
            paper=Published(auc=0.555),
            build=mean_weight,
            training=training,
        )
    ):
        yield


def test_network_is_run_by_the_benchmark_and_stands_in_its_table_figure_and_references(
    open_page, shares, network, tmp_path, monkeypatch, capsys
):
    run(monkeypatch, "demo", "ad", "--out", tmp_path / "study", "--n-per-group", N_PER_GROUP)
    asked = ("--cohort", "folder", "--data", tmp_path / "study", "--out", tmp_path / "out", "--threads", 1)
    monkeypatch.setitem(presets.PRESETS, "paper-abide", PRESET)
    run(monkeypatch, "benchmark", *asked, "--splits", 2, "--models", "shares,mean-weight", "--reference", "shares")
    lines = pd.read_csv(tmp_path / "out" / "results.csv")
    assert lines["model"].tolist() == ["shares", "shares", "mean-weight", "mean-weight"]
    assert lines["parameters"].tolist()[2:] == [6, 6]  # a weight and an intercept for each of three groups
    capsys.readouterr()
    run(monkeypatch, "benchmark", *asked, "--models", "list")
    assert NETWORK in capsys.readouterr().out
    page = open_page("models")
    assert_no_error(page)
    titles = [as_shown(name) for table in page.table for name in table.value.index]
    assert {TITLE, NETWORK} <= set(titles)
    assert NETWORK in json.dumps(figure(page, "benchmark"))
    ref = CohortRef("abide-cc200", model=True)
    archive = bundle_of([FigureRequest("benchmark_results", ref)], ref.draw())
    shown = numbers_of(archive, "01_benchmark_results").set_index("title")
    assert shown.loc[NETWORK, ["state", "paper_auc"]].tolist() == ["not run", 0.555]
    assert "nobody2031" in archive.read("references.bib").decode()
