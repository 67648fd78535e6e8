"""A new baseline is one object: beside the model in ``biobgt evaluate``, on the card and on the page of models."""

import json

import numpy as np
import pandas as pd
import pytest
from new_objects import run
from page_contents import assert_no_error, figure
from tiny_models import PRESET, write_tiny_model

from biobgt.model import presets, pretrained
from biobgt.model.baselines import BASELINES, Baseline
from biobgt.training.card_views import evaluation_table

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
