"""What parts of a model do: a part that is not read changes nothing, one that is read does, and the card says so."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from planted_cohort import small

from biobgt.model.network import BioBGT
from biobgt.model.pretrained import load_card, load_groups, pretrained_names
from biobgt.training.card_text import NE_SHUFFLED, NO_ATTENTION, CardText
from biobgt.training.checks import (
    _ablation_effect,
    _measure_ablation,
    _took_no_step,
    _without_attention,
    shuffle_entanglement,
)
from biobgt.training.folds import LabelledGraphs

STUDIES = Path(__file__).resolve().parents[2] / "assets" / "studies"
BEST = small("best")


def _model(data: LabelledGraphs, seed: int = 0) -> BioBGT:
    torch.manual_seed(seed)
    model = BioBGT(BEST, n_regions=data.matrices.shape[1], n_groups=2).eval()
    model.standardise(data.graphs)
    return model


def test_shuffling_keeps_each_subjects_values(data: LabelledGraphs) -> None:
    shuffled = shuffle_entanglement(data.graphs, seed=0)
    before, after = data.graphs.entanglement, shuffled.entanglement
    assert torch.equal(before.sort(dim=1).values, after.sort(dim=1).values)
    assert not torch.equal(before, after)
    assert torch.equal(shuffled.features, data.graphs.features)
    assert torch.equal(after, shuffle_entanglement(data.graphs, seed=0).entanglement)


@torch.no_grad()
def test_without_attention_a_model_is_what_its_stream_gives(data: LabelledGraphs) -> None:
    """At the start the feed-forward network adds nothing either: what is left is a linear map of the values."""
    model = _model(data)
    bare = _without_attention(model)
    values = model._values(data.graphs)
    torch.testing.assert_close(bare.flat_stream(data.graphs), values.flatten(1))
    assert not torch.allclose(model.flat_stream(data.graphs), values.flatten(1))
    assert model.layers[0].attention.output.weight.any()  # a copy was changed, not the model


def test_a_part_that_nothing_reads_changes_nothing(data: LabelledGraphs) -> None:
    model = _model(data)
    halves = np.array_split(np.arange(len(data.labels)), 2)
    before = _measure_ablation([model, model], data, halves)["without"]
    assert before[NE_SHUFFLED]["largest_change"] > 0
    with torch.no_grad():
        for encoding in (model.importance, model.value_importance):
            encoding.embedding.weight.zero_()
        model.layers[0].attention.output.weight.zero_()
        model.layers[0].attention.output.bias.zero_()
    for effect in _measure_ablation([model, model], data, halves)["without"].values():
        assert effect["largest_change"] == effect["changed_calls"] == 0


def test_effects_by_hand() -> None:
    whole = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    changed = np.array([[0.8, 0.2], [0.6, 0.4], [0.2, 0.8]])
    found = _ablation_effect(whole, changed)
    assert found["largest_change"] == pytest.approx(0.2)
    assert found["mean_change"] == pytest.approx(0.1)
    assert found["correlation"] == pytest.approx(np.corrcoef(whole[:, 0], changed[:, 0])[0, 1], abs=1e-6)
    assert found["changed_calls"] == 1
    assert _ablation_effect(np.full((3, 2), 0.5), changed)["correlation"] is None


def test_members_that_took_no_step_are_told(data: LabelledGraphs) -> None:
    start, stepped = _model(data), _model(data, seed=1)
    with torch.no_grad():
        stepped.layers[0].feed_forward[-1].weight[0, 0] = 1e-9
    assert _took_no_step(start)
    assert not _took_no_step(stepped)
    half = len(data.labels) // 2
    tests = [np.arange(half), np.arange(half, len(data.labels))]
    parts = _measure_ablation([start, stepped], data, tests)
    assert parts["members_at_start"] == 1
    assert set(parts["connectivity"]) == set(data.groups)
    for found in parts["connectivity"].values():
        assert -1 <= found["correlation"] <= 1
        assert found["connectivity_contrast"] > 1  # modules were found in that connectivity
    json.dumps(parts, allow_nan=False)


def test_words_of_parts() -> None:
    def effect(largest: float, correlation: float, calls: int) -> dict[str, float]:
        return {
            "largest_change": largest,
            "mean_change": largest / 4,
            "correlation": correlation,
            "changed_calls": calls,
        }

    without = {NE_SHUFFLED: effect(0.0009, 0.999999, 0), NO_ATTENTION: effect(0.04, 0.99916, 11)}
    card = {"temperatures": [1.0] * 10, "parts": {"members_at_start": 5, "without": without, "connectivity": {}}}
    said = CardText(card).ablation
    assert "shuffling NE over regions changes no probability by more than 0.001." in said
    assert "by 0.010 on average and 0.040 at most (r = 0.999) and puts 11 subjects into another group." in said
    assert "5 of 10 members took no training step from the subjects' groups" in said
    without[NO_ATTENTION] = effect(0.04, 0.99999, 0)
    assert "(r > 0.9999) and puts no subject into another group" in CardText(card).ablation
    without[NO_ATTENTION] = effect(0.0016, 0.998, 0)
    assert "by less than 0.001 on average and 0.002 at most (r = 0.998)" in CardText(card).ablation
    card["parts"] |= {"members_at_start": 0}
    assert "training step" not in CardText(card).ablation
    assert CardText({**card, "parts": None}).ablation == CardText({}).ablation


@pytest.mark.parametrize("name", [name for name in pretrained_names() if "readouts" not in load_card(name)])
def test_shipped_cards_say_what_the_study_found(name: str) -> None:
    card, table = load_card(name), pd.read_csv(STUDIES / "model_parts.csv")
    own = table[table["model"] == name].set_index("part")
    assert set(own.index) == {NE_SHUFFLED, NO_ATTENTION}
    for part, found in card["parts"]["without"].items():
        assert own.loc[part, "largest_change"] == pytest.approx(found["largest_change"], rel=1e-4)
        assert own.loc[part, "correlation"] > 0.99
    assert own["members_at_start"].unique().tolist() == [card["parts"]["members_at_start"]]
    attention = load_groups(name).contrast  # a mean over heads of ratios; the study's is the ratio of the mean map
    for group, found in card["parts"]["connectivity"].items():
        assert found["contrast"] == pytest.approx(float(np.nanmean(attention[group])), rel=0.05)


def test_one_bin_of_ne_is_no_ne(data: LabelledGraphs) -> None:
    """The ablation's preset without NE: no region can be told from another by it."""
    torch.manual_seed(0)
    model = BioBGT(replace(BEST, entanglement_bins=1), n_regions=data.matrices.shape[1], n_groups=2).eval()
    model.standardise(data.graphs)
    with torch.no_grad():
        assert torch.equal(model(data.graphs), model(shuffle_entanglement(data.graphs, seed=0)))
