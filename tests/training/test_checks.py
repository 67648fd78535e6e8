"""What a card says of noise, motion, the mean of members and the model's parts, on a planted cohort and in words."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd
import pytest
import torch
from planted_cohort import planted_cohort
from planted_model import PRESET, draw_model
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score

from biobgt.base.errors import InputError
from biobgt.data.cohort import Cohort
from biobgt.data.corruptions import CORRUPTIONS, add_noise
from biobgt.model import load_pretrained
from biobgt.model.folder import load_card, pretrained_names
from biobgt.model.group_results import load_groups
from biobgt.model.inputs import log_connectivity, prepare
from biobgt.model.network import FADED, noise_directions
from biobgt.model.out_of_distribution import id_hashes, read_hashes, scan_measures
from biobgt.training import checks, folds
from biobgt.training.card_text import NE_SHUFFLED, NO_ATTENTION, CardText
from biobgt.training.checks import (
    _UNKNOWN,
    NESTED_FILE,
    _ablation_effect,
    _alone,
    _measure_ablation,
    _motion,
    _motion_out_of_fold,
    _shuffle_entanglement,
    _took_no_step,
    _without_attention,
    add_nested,
    check_model,
    evaluate_nested,
)
from biobgt.training.cohorts import Split, cross_validation, protocol_splits
from biobgt.training.folds import LabelledGraphs, label_graphs
from biobgt.training.start import _initialise_readout
from biobgt.training.tables import CardTables

Splits = tuple[Split, ...]
STUDIES = Path(__file__).resolve().parents[2] / "assets" / "studies"


@pytest.fixture(scope="module")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The planted model, of which other tests do not see what becomes."""
    return Path(shutil.copytree(folder, tmp_path_factory.mktemp("checked") / "model"))


def test_a_card_gets_ranges_noise_and_motion(model: Path, cohort: Cohort, data: LabelledGraphs, splits: Splits) -> None:
    assert load_card(model)["noise"] is None
    check_model(model, cohort, data, seed=0, splits=splits)
    card, ensemble = load_card(model), load_pretrained(model, "cpu")  # valid by the schema
    expected = np.full(len(cohort), np.nan)
    for member, split in zip(ensemble.members, splits, strict=True):
        with torch.no_grad():
            logits = member(data.part(split.test)[0]) / ensemble.temperatures[0]
        expected[split.test] = logits.softmax(dim=1)[:, 1].numpy()
    assert card["noise"][0]["probability"]["ASD"] == pytest.approx(expected.mean(), abs=1e-3), "out of fold"
    assert card["temperatures"][0] == ensemble.temperatures[0]
    assert [one["sd"] for one in card["noise"]] == [0, 0.25, 0.5, 1, 2, None]
    quiet, pure = card["noise"][0], card["noise"][-1]
    assert quiet["n"] == len(cohort)
    assert quiet["to_patient"] == quiet["to_control"] == 0
    for one in card["noise"]:
        if one["refused"] < one["n"]:
            assert sum(one["probability"].values()) == pytest.approx(1, abs=2e-4)
            assert sum(one["called"].values()) == pytest.approx(1, abs=2e-4)
    assert pure["warned"] == 1, "noise alone is always warned of"
    ranges = card["familiarity"]
    assert ranges["timepoints"] == [80, 80]
    assert 60 < ranges["effective_timepoints"][0] <= ranges["effective_timepoints"][1] <= 80
    assert 0 < ranges["strength"][0] < ranges["strength"][1] < 1
    assert card["motion"] == {"results": None, "n": 0, "words": _UNKNOWN}
    readme = (model / "README.md").read_text()
    assert CardText(card).noise in readme
    assert _UNKNOWN in readme
    assert "| noise alone |" in readme
    # 80 time points: nothing is left to cut at 100 and 150.
    assert [one["kind"] for one in card["corruption"]] == [one for one in CORRUPTIONS if one[:7] != "first 1"]
    for one in card["noise"][1:] + card["corruption"]:
        assert one["flips_warned"] <= one["flips"] <= one["n"]
        assert one["flips"] == pytest.approx(
            (one["to_patient"] + one["to_control"]) * (one["n"] - one["refused"]), abs=0.1
        )
    assert CardText(card).corruption in readme
    assert "| first 60 time points |" in readme
    assert read_hashes(card["trained_ids"]) == id_hashes(cohort.ids, card["sha256"])


def test_other_subjects_are_refused(model: Path, splits: Splits) -> None:
    other = planted_cohort(20, seed=5)
    with pytest.raises(InputError, match="was not trained on these subjects"):
        check_model(model, other, label_graphs(other, PRESET), seed=0, splits=splits)


def test_weights_are_stored_in_half_precision_and_say_the_same(model: Path, data: LabelledGraphs, monkeypatch) -> None:
    tensors = load_file(model / "model.safetensors")
    members = load_pretrained(model, "cpu").members
    assert all(value.dtype == torch.float32 for member in members for value in member.parameters())
    large = [value for name, value in tensors.items() if name.startswith("member") and value.ndim > 1]
    assert large
    assert all(value.dtype == torch.float16 for value in large)
    drawn = draw_model(PRESET, data.graphs)
    assert folds._rounded(drawn, data) is not drawn
    monkeypatch.setattr(folds, "SAME_ANSWER", 0.0)
    assert folds._rounded(drawn, data) is drawn, "rounding that changes answers is not kept"


def test_probabilities_are_steady_under_noise_once_its_directions_are_removed() -> None:
    # Patients are controls with weaker connections everywhere: strength is all there is to learn.
    plain = planted_cohort(30, difference=0.0, seed=1)
    cohort = replace(plain, subjects=tuple(add_noise(one, 0.4, seed=1) if one.group == "ASD" else one for one in plain))
    data = label_graphs(cohort, PRESET)
    moved = {}
    for directions in (0, 1, 4):
        preset = replace(PRESET, noise_directions=directions)
        model = draw_model(preset, data.graphs)
        _initialise_readout(model, data.graphs, data.parts, device=torch.device("cpu"))
        with torch.no_grad():
            means = [
                float(model(prepare([add_noise(one, sd, seed=0) for one in plain], preset)).softmax(1)[:, 1].mean())
                for sd in (0.0, 1.0)
            ]
        moved[directions] = means[1] - means[0]
    assert moved[0] > 0.2, "noise is taken for patients"
    assert abs(moved[1]) < moved[0] / 2
    assert abs(moved[4]) < moved[0] / 2


def test_directions_are_those_of_shrunk_means(data: LabelledGraphs) -> None:
    preset = replace(PRESET, noise_directions=2)
    basis = noise_directions(data.graphs.features, preset).double().numpy()
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-5)
    for faded in FADED[:2]:
        shrinkage = 1 - (1 - preset.shrinkage) * faded
        mean = np.mean([log_connectivity(one.astype(float), shrinkage=shrinkage) for one in data.matrices], axis=0)
        left = mean.ravel() - basis @ (basis.T @ mean.ravel())
        assert np.linalg.norm(left) < 1e-4 * np.linalg.norm(mean)


def test_motion_alone() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    moved = np.exp(rng.standard_normal(200) + labels)
    moved[3] = np.nan
    splits = cross_validation(["NC"] * 100 + ["ASD"] * 100, folds=5)
    found = _motion_out_of_fold(moved, labels, splits)
    assert np.isnan(found[3]).all()
    known = np.isfinite(found).all(axis=1)
    assert known.sum() == 199
    # Motion is one number, so that out of fold its AUC is nearly that of the number itself.
    assert roc_auc_score(labels[known], found[known, 1]) == pytest.approx(
        roc_auc_score(labels[known], moved[known]), abs=0.03
    )
    cohort = planted_cohort(3)
    told = replace(cohort, subjects=tuple(replace(one, phenotypes={"mean_fd": "0.2"}) for one in cohort))
    labels = np.repeat([0, 1], 3)
    splits = cross_validation(["NC"] * 3 + ["ASD"] * 3, folds=3)
    data = cast("LabelledGraphs", SimpleNamespace(labels=labels, groups=("NC", "ASD")))
    assert _motion(told, data, splits)["n"] == 6
    assert _motion(cohort, data, splits) == {"results": None, "n": 0, "words": _UNKNOWN}


def test_nested_folds_ask_ensembles_that_never_met_the_subject(
    model: Path, cohort: Cohort, data: LabelledGraphs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "FOLDS", 3)
    seen, original = [], checks.train_members

    def spied(data: LabelledGraphs, *given, **options):
        seen.append(data.subjects)
        return original(data, *given, **options)

    monkeypatch.setattr(checks, "train_members", spied)
    first = evaluate_nested(cohort, data, PRESET, folder=tmp_path, n_outer=1, seed=0)
    assert (tmp_path / NESTED_FILE).exists()
    both = evaluate_nested(cohort, data, PRESET, folder=tmp_path, n_outer=2, seed=0)
    assert len(seen) == 2, "the fold that was there is not done again"
    pd.testing.assert_frame_equal(both[both["fold"] == 1], first)
    outer = protocol_splits(cohort, "folds", n=3, seed=0)
    for trained_on, split in zip(seen, outer, strict=False):
        assert not set(trained_on) & {cohort.ids[row] for row in split.test}
        assert len(trained_on) + len(split.test) == len(cohort)
    assert "subject" not in both.columns
    card = add_nested(model, both)
    assert load_card(model)["nested"] == card["nested"]
    assert card["nested"]["outer_folds"] == 2
    assert card["nested"]["n"] == len(both) == sum(len(split.test) for split in outer[:2])
    with pytest.raises(InputError, match="of other subjects, settings or another seed"):
        evaluate_nested(cohort, data, PRESET, folder=tmp_path, n_outer=1, seed=1)


def test_words() -> None:
    metric = {"value": 0.75, "low": 0.7, "high": 0.8}
    metrics = dict.fromkeys(("accuracy", "auc", "brier"), metric) | {
        "ece": {"value": 0.04, "low": None, "high": None, "by_chance": 0.03}
    }
    card = {"groups": ["NC", "ASD"], "temperatures": [1.0] * 10}
    assert CardText(card).new_subjects.endswith("The accuracy of this mean has not been measured.")
    nested = {"outer_folds": 3, "folds": 10, "members": 10, "n": 270, "mean": metrics, "single": metrics}
    said = CardText(card | {"nested": nested}).new_subjects
    assert said.startswith("New subjects get the mean log-odds of the 10 ensemble members. Nested folds (3 of 10, 270")
    assert "AUC 0.75 [0.70, 0.80]" in said
    text, tables = CardText(card), CardTables(card)
    assert all("has not been measured" in one for one in (text.noise, text.motion, text.corruption))
    assert tables.recordings().empty
    assert tables.noise_points().empty
    answers = [
        {"sd": sd, "n": 400, "refused": 0, "probability": {"NC": 1 - p, "ASD": p}, "called": {"NC": 0.5, "ASD": 0.5}}
        | {"warned": warned, "to_patient": 0.1, "to_control": 0.02, "flips": 0, "flips_warned": 0}
        for sd, p, warned in ((0, 0.5, 0.02), (1, 0.62, 0.98), (None, 0.7, 1.0))
    ]
    card |= {"noise": json.loads(json.dumps(answers))}
    said = CardText(card).noise
    assert "the mean probability of ASD is 0.50, with noise as strong as the signal (SD 1) 0.62" in said
    assert "10 % of subjects change from NC to another group, 2 % change to NC" in said
    assert "Noise alone gets 0.70, and 100 % of such subjects carry a warning" in said
    table = CardTables(card).recordings()
    assert table["Recording"].tolist() == ["as recorded", "white noise, SD 1", "noise alone"]
    cut = answers[0] | {"kind": "first 60 time points", "n": 34, "flips": 29, "flips_warned": 28, "to_patient": 27 / 34}
    cut |= {"to_control": 2 / 34}
    del cut["sd"]
    card |= {"corruption": [cut]}
    assert CardTables(card).recordings().iloc[-1]["Changed, with a warning"] == "28 of 29"
    said = CardText(card).corruption
    assert said.endswith("By kind: first 60 time points, 27 of 29 from NC to ASD.")
    few = cut | {"flips": 9, "to_patient": 9 / 34, "to_control": 0.0}
    assert "By kind" not in CardText(card | {"corruption": [few]}).corruption, "too few to say which way they go"
    assert "29 predictions change, 27 from NC to another group and 2 to NC; 28 of the 29 carry a warning" in said
    assert "2 % of the scans as recorded" in said
    assert len(CardTables(card).noise_points()) == 6


def test_a_member_warns_by_the_ranges_of_its_own_training_subjects(
    model: Path, cohort: Cohort, data: LabelledGraphs, splits: Splits
) -> None:
    scans = [scan_measures(subject) for subject in cohort]
    for row in splits[0].test:
        scans[row] |= {"largest_frame": 99.0}  # so far off, that ranges would show that they were asked
    ensemble = load_pretrained(model, "cpu")
    first, second = (_alone(ensemble, number, data.graphs, splits[number], scans) for number in (0, 1))
    assert first.ranges.largest_frame[1] < 10 < second.ranges.largest_frame[1]
    assert len(second.members) == 1


def test_shuffling_keeps_each_subjects_values(data: LabelledGraphs) -> None:
    shuffled = _shuffle_entanglement(data.graphs, seed=0)
    before, after = data.graphs.entanglement, shuffled.entanglement
    assert torch.equal(before.sort(dim=1).values, after.sort(dim=1).values)
    assert not torch.equal(before, after)
    assert torch.equal(shuffled.features, data.graphs.features)
    assert torch.equal(after, _shuffle_entanglement(data.graphs, seed=0).entanglement)


@torch.no_grad()
def test_without_attention_a_model_is_what_its_stream_gives(data: LabelledGraphs) -> None:
    """At the start the feed-forward network adds nothing either: what is left is a linear map of the values."""
    model = draw_model(PRESET, data.graphs)
    bare = _without_attention(model)
    values = model.value_importance(model.steady_values(data.graphs), data.graphs.entanglement)
    torch.testing.assert_close(bare.flat_stream(data.graphs), values.flatten(1))
    assert not torch.allclose(model.flat_stream(data.graphs), values.flatten(1))
    assert model.layers[0].attention.output.weight.any()  # a copy was changed, not the model


def test_a_part_that_nothing_reads_changes_nothing(data: LabelledGraphs) -> None:
    model = draw_model(PRESET, data.graphs)
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
    start, stepped = draw_model(PRESET, data.graphs), draw_model(PRESET, data.graphs, seed=1)
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
        moved = {"largest_change": largest, "mean_change": largest / 4}
        return moved | {"correlation": correlation, "changed_calls": calls}

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
    model = draw_model(replace(PRESET, entanglement_bins=1), data.graphs)
    with torch.no_grad():
        assert torch.equal(model(data.graphs), model(_shuffle_entanglement(data.graphs, seed=0)))
