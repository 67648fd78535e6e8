"""A model folder as written: the card against its schema and the numbers, its groups compared by attention."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import jsonschema
import numpy as np
import pandas as pd
import pytest
from full_disk import files_end_at
from planted_cohort import planted_cohort, small
from planted_model import PRESET, write_planted

from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort
from biobgt.data.connectivity import subject_connectivity
from biobgt.data.quality import mean_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.figures.attention.tested import _comparison_sentence, _contrast_sentence
from biobgt.inference.covariates import one_value_per_person
from biobgt.model.attention import all_block_tests
from biobgt.model.ensemble import TRAINED_ON
from biobgt.model.folder import load_card, load_pretrained
from biobgt.model.group_results import load_groups
from biobgt.model.systems import BASELINES, Baseline, kinds_of_baselines
from biobgt.training.card_text import CardText
from biobgt.training.cards import _beside_connectivity, add_evaluation, check_evaluated
from biobgt.training.cohorts import Split
from biobgt.training.evaluation import baselines_out_of_fold, evaluate, paired_with_baselines
from biobgt.training.folds import (
    LabelledGraphs,
    TrainedEnsemble,
    check_same_attention,
    group_tests,
    out_of_fold_attention,
)
from biobgt.training.metrics import METRICS, calibrated, classification_metrics
from biobgt.training.tables import CardTables
from biobgt.training.trainer import predict_logits

Splits = tuple[Split, ...]


def test_the_card_passes_its_schema(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"), parse_constant=lambda name: pytest.fail(name))
    schema = json.loads(asset("model_card.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(card, schema)
    assert load_card(folder) == card
    for key in ("headline", "limits", "sha256"):
        broken = {name: value for name, value in card.items() if name != key}
        with pytest.raises(jsonschema.ValidationError, match=key):
            jsonschema.validate(broken, schema)


class GroupShares:
    """Gives everybody the shares of the groups in training."""

    def fit(self, matrices: np.ndarray, groups: np.ndarray) -> None:
        self.shares = np.bincount(groups) / len(groups)

    def logits(self, matrices: np.ndarray) -> np.ndarray:
        return np.tile(np.log(self.shares), (len(matrices), 1))


def test_a_baseline_is_one_object_found_in_the_evaluation_and_on_the_card(
    cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble, splits: Splits, tmp_path: Path
) -> None:
    guessing = Baseline("shares", "the shares of the groups", lambda shrinkage: GroupShares(), family="constant")
    with BASELINES.temporarily(guessing):
        results = evaluate(data, splits[:2], PRESET, protocol="folds", folder=tmp_path / "runs")
        lines = results[results["model"] == "constant shares"]
        assert lines["split"].tolist() == [split.name for split in splits[:2]]
        assert lines["auc"].tolist() == [0.5, 0.5]
        compared = paired_with_baselines(results, PRESET.name)
        assert compared["baseline"].tolist() == ["linear fisher-z", "linear tangent", "linear log", "constant shares"]
        write_planted(tmp_path / "model", cohort, data, trained, splits)
        card = add_evaluation(tmp_path / "model", results)
        assert "the shares of the groups" in CardTables(card).evaluation()["Model"].tolist()
        shown = CardTables(load_card(tmp_path / "model")).results().set_index("Model")
        guessed = baselines_out_of_fold(data, splits)["the shares of the groups"]
        auc = classification_metrics(data.labels, guessed, data.groups)["auc"]
        assert shown.loc["the shares of the groups", "AUC"].startswith(f"{auc:.3f} [")
    assert "shares" not in BASELINES


def test_the_card_says_what_was_measured(
    folder: Path, data: LabelledGraphs, trained: TrainedEnsemble, splits: Splits
) -> None:
    card = load_card(folder)
    measured = classification_metrics(data.labels, trained.probabilities, data.groups)
    for metric in METRICS:
        assert card["results"]["BioBGT"][metric]["value"] == pytest.approx(measured[metric], abs=1e-4)
    for model, probabilities in baselines_out_of_fold(data, splits).items():
        expected = classification_metrics(data.labels, probabilities, data.groups)["auc"]
        assert card["results"][model]["auc"]["value"] == pytest.approx(expected, abs=1e-4)
    assert len(card["results"]) == 4
    assert card["groups"] == ["NC", "ASD"]
    assert card["data"]["subjects"] == {"NC": 20, "ASD": 20}
    assert card["attention"]["NC"] == pytest.approx(np.nanmean(trained.contrast[data.labels == 0]))
    readme = (folder / "README.md").read_text()
    assert card["headline"] in readme
    assert all(limit in readme for limit in card["limits"])


def test_the_loaded_model_gives_the_members_mean(
    folder: Path, cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble
) -> None:
    loaded = load_pretrained(folder, "cpu")
    table = loaded.predict(cohort)
    logits = [predict_logits(member, data.graphs).double().numpy() / trained.temperature for member in trained.members]
    expected = calibrated(np.mean(logits, axis=0), 1.0)
    np.testing.assert_allclose(table[["p_NC", "p_ASD"]].to_numpy(), expected, atol=1e-3)
    assert list(table.columns) == ["subject", "p_NC", "p_ASD", "prediction", "warning"]
    assert table["prediction"].tolist() == [("NC", "ASD")[best] for best in expected.argmax(axis=1)]
    assert table["warning"].str.startswith(TRAINED_ON).all()
    familiar = f"{TRAINED_ON}; 80 time points; fewer than 100 are unreliable"  # and nothing more
    assert (table["warning"] == familiar).sum() >= 32  # those it was trained on are familiar
    seen = loaded.explain(cohort.subjects[:2])
    np.testing.assert_allclose(seen.probabilities, table[["p_NC", "p_ASD"]].to_numpy()[:2], atol=1e-5)
    np.testing.assert_allclose(seen.attention.sum(axis=-1), 1, rtol=1e-5)


def test_group_results_come_back(folder: Path, data: LabelledGraphs, trained: TrainedEnsemble) -> None:
    groups = load_groups(folder)
    assert groups.n == {"NC": 20, "ASD": 20}
    for label, group in enumerate(data.groups):
        own = data.labels == label
        np.testing.assert_allclose(groups.attention[group], trained.attention[label], atol=1e-3)
        np.testing.assert_allclose(groups.connectivity[group], data.matrices[own].mean(axis=0), atol=2e-3)
        entanglement = data.graphs.entanglement.numpy()[own].astype(np.float64)  # kept in single precision
        np.testing.assert_allclose(groups.entanglement[group], entanglement.mean(axis=0), rtol=1e-6)
        np.testing.assert_allclose(groups.contrast[group], trained.contrast[own].mean(axis=0), rtol=1e-5)
    stored = np.column_stack([groups.labels, groups.probabilities])
    known = np.column_stack([data.labels, trained.probabilities])
    np.testing.assert_allclose(stored[np.lexsort(stored.T)], known[np.lexsort(known.T)], atol=1e-6)
    assert set(groups.tests["family"]) == {"block", "contrast"}
    assert set(groups.tests["between"]) == {"NC - ASD"}


def test_an_evaluation_goes_on_the_card(folder: Path, data: LabelledGraphs, splits: Splits, tmp_path: Path) -> None:
    results = evaluate(data, splits[:2], PRESET, protocol="random", folder=tmp_path)
    add_evaluation(folder, results)
    rows = {row["model"]: row for row in load_card(folder)["evaluation"]}
    assert rows["best"]["splits"] == 2
    own = results.loc[results["model"] == "best", "auc"]
    assert rows["best"]["auc"] == pytest.approx({"mean": own.mean(), "sd": own.std()}, abs=1e-4)


def test_a_full_disk_keeps_the_card_as_it_was(folder: Path, tmp_path: Path) -> None:
    mine = Path(shutil.copytree(folder, tmp_path / "mine"))
    before = {path.name: path.read_bytes() for path in mine.iterdir()}
    line = {"protocol": "random", "split": "split 1", "model": "best", **dict.fromkeys(METRICS, 0.5)}
    with files_end_at(1500), pytest.raises(OSError, match="File too large"):
        add_evaluation(mine, pd.DataFrame([line]))
    assert {path.name: path.read_bytes() for path in mine.iterdir()} == before


def test_a_card_takes_only_the_evaluation_of_its_own_subjects(folder: Path, cohort: Cohort) -> None:
    card = load_card(folder)
    check_evaluated(card, cohort, PRESET)
    check_evaluated(card, cohort, small("paper-abide"))  # another preset may stand beside
    with pytest.raises(InputError, match="preset's settings of 'planted'"):
        check_evaluated(card, cohort, replace(PRESET, shrinkage=0.2))
    with pytest.raises(InputError, match="numbers of subjects of 'planted'"):
        check_evaluated(card, cohort.select(lambda subject: subject.id != cohort.ids[0]), PRESET)


def test_an_atlas_without_modules_makes_a_model_too(
    data: LabelledGraphs, trained: TrainedEnsemble, splits: Splits, tmp_path: Path
) -> None:
    nameless = replace(planted_cohort(20), atlas=numbered_atlas(16))
    card = write_planted(tmp_path, nameless, data, trained, splits)
    assert card["atlas"] == "unknown16"
    assert load_groups(tmp_path).tests.empty


def test_a_baseline_that_is_not_linear_is_not_called_so() -> None:
    measured = {
        "BioBGT": {"auc": {"value": 0.7, "low": 0.66, "high": 0.74}, "accuracy": {"value": 0.7}},
        BASELINES["log"].title: {"auc": {"value": 0.75}},
        "a kernel machine": {"auc": {"value": 0.8}},
    }
    card = {"results": measured, "data": {"subjects": {"NC": 462, "ASD": 437}}, "simulated": False}
    kernel = Baseline("kernel", "a kernel machine", lambda shrinkage: GroupShares(), family="additive")
    with BASELINES.temporarily(kernel):
        assert CardText(card).headline.endswith("; an additive model is better (0.80).")
        assert kinds_of_baselines() == "linear and additive models"
        assert kinds_of_baselines(["a kernel machine"]) == "additive models"
    assert kinds_of_baselines() == "linear models"
    assert CardText(card).headline.endswith("; a baseline model is better (0.80).")


def test_attention_of_a_trained_model_can_be_made_again_from_its_weights(
    folder: Path, cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble, splits: Splits
) -> None:
    members = load_pretrained(folder, "cpu").members
    again, contrasts = out_of_fold_attention(members, data, splits)
    np.testing.assert_allclose(contrasts, trained.contrast.mean(axis=(1, 2)), rtol=1e-4)
    np.testing.assert_allclose(again, trained.mean_attention, rtol=1e-4)
    check_same_attention(again, data, load_groups(folder))
    kept = pd.read_csv(folder / "tests.csv")
    pd.testing.assert_frame_equal(
        group_tests(cohort, data, again)[["feature", "d", "p"]], kept[["feature", "d", "p"]], rtol=1e-3
    )
    with pytest.raises(InputError, match="is not the one in the model's folder"):
        check_same_attention(out_of_fold_attention(members[::-1], data, splits)[0], data, load_groups(folder))


def _drawn(n_per_group: int, ages: dict[str, object]) -> tuple[Cohort, LabelledGraphs, np.ndarray]:
    """A demo cohort, its labels, and attention that is noise, but stronger in the occipital module of AD."""
    drawn = demo_cohort("ad", n_per_group=n_per_group)
    known = {subject.id: {"age": 60 + (7 * i) % 19} for i, subject in enumerate(drawn)} | {
        name: {"age": age} for name, age in ages.items()
    }
    cohort = replace(drawn, subjects=tuple(replace(one, phenotypes=known[one.id]) for one in drawn))
    data = _labelled(cohort)
    attention = np.random.default_rng(0).random((len(cohort), 90, 90)).astype(np.float32)
    at = [label == "occipital" for label in cohort.atlas.labelling("dosenbach")]
    attention[np.ix_(data.labels == 2, at, at)] += 5
    return cohort, data, attention


def _labelled(cohort: Cohort) -> LabelledGraphs:
    """What tests of groups read of a prepared cohort."""
    groups = ("NC", "MCI", "AD")
    labels = np.array([groups.index(str(subject.group)) for subject in cohort])
    return cast("LabelledGraphs", SimpleNamespace(groups=groups, labels=labels, subjects=cohort.ids))


def test_every_two_groups_are_compared_over_the_subjects_whose_covariates_are_known(tmp_path: Path) -> None:
    cohort, data, attention = _drawn(8, {"sim-MCI-002": None})
    groups = data.groups
    found = group_tests(cohort, data, attention)
    assert list(dict.fromkeys(found["between"])) == ["NC - MCI", "NC - AD", "MCI - AD"]
    assert found.groupby(["between", "covariates", "family"]).size().tolist() == [25, 1] * 6
    assert list(dict.fromkeys(found["covariates"])) == ["mean_abs_fc, age", "age"]
    found.to_csv(tmp_path / "tests.csv", index=False)
    read = pd.read_csv(tmp_path / "tests.csv")
    tests = all_block_tests(read, dict.fromkeys(groups, 8))
    assert [dict(one.n_subjects) for one in tests] == [{"NC": 8, "MCI": 7}, {"NC": 8, "AD": 8}, {"MCI": 7, "AD": 8}]
    for one, expected in zip(tests, (0, 5, 5), strict=True):
        assert len(one.blocks) == 25  # of the five networks of AAL-90
        row = one.blocks.set_index("feature").loc["occipital → occipital"]
        first, second = (row[f"mean_{group}"] for group in one.between)
        assert second - first == pytest.approx(expected, abs=0.1)
    assert (read["permutations"] == 5000).all()
    text = (tmp_path / "tests.csv").read_text(encoding="utf-8")
    assert ",15,5000,8,7," in text, "whole numbers, and nothing for the group that was not compared"


def test_connectivity_of_the_same_block_stands_beside_every_test_and_is_said() -> None:
    cohort, data, attention = _drawn(8, {})
    found = group_tests(cohort, data, attention, pairs=[("NC", "AD")])
    assert found[["d_of_fc", "q_of_fc", "d_given_fc", "q_given_fc"]].notna().all(axis=None)
    blocks = found[found["family"] == "block"].set_index(["covariates", "feature"])
    there, back = (blocks.loc[("age", name), "t_of_fc"] for name in ("default → occipital", "occipital → default"))
    assert there == pytest.approx(back)  # connectivity has no direction
    (test,) = all_block_tests(found, {"NC": 8, "AD": 8})
    beside = test.beside
    assert beside is not None
    # Attention that is not made of connectivity is still there given connectivity.
    assert test.blocks.set_index("feature").loc["occipital → occipital", "q_given_fc"] < 0.05
    said = f"Given FC of the same block, attention differs in {beside.given_connectivity} of {len(test.blocks)} blocks"
    assert said in _comparison_sentence(test)
    card = {"beside_connectivity": _beside_connectivity(found, {"NC": 8, "AD": 8})}
    assert f"in attention in {beside.given_connectivity}" in CardText(card).beside_connectivity
    assert (
        f"differ in attention in {beside.given_connectivity} of {len(test.blocks)} blocks" in CardText(card).beside_line
    )
    study = {"between": "NC - AD", "auc_attention": 0.6, "auc_connectivity": 0.7, "shuffled_folds": 2}
    study |= {"shuffled_subjects": 90, "map_correlation": 0.9991, "difference_correlation": 0.97}
    told = CardText({**card, "attention_study": [study]}).beside_connectivity
    assert "attention has an AUC of 0.60, on those of FC 0.70" in told
    assert "shuffled groups (2 folds, 90 held-out subjects), the model has maps that correlate" in told
    (old,) = all_block_tests(found.drop(columns=[name for name in found if "_fc" in name]), {"NC": 8, "AD": 8})
    assert old.beside is None
    assert CardText({}).beside_connectivity == CardText({}).beside_line == ""


def test_overall_connectivity_is_adjusted_for_and_the_test_without_it_stands_beside() -> None:
    drawn, data, _ = _drawn(10, {})
    rng = np.random.default_rng(1)
    matrices = [
        np.clip(subject_connectivity(one) + 0.3 * (one.group == "AD") + 0.05 * rng.standard_normal(), -1, 1)
        for one in drawn
    ]
    subjects = (replace(one, series=None, connectivity=own) for one, own in zip(drawn, matrices, strict=True))
    cohort = replace(drawn, subjects=tuple(subjects))
    strength = np.array([mean_connectivity(subject)[1] for subject in cohort])
    labels = cohort.atlas.labelling("dosenbach")
    within = np.array([[a == b and a is not None for a in labels] for b in labels])
    # Attention within modules follows overall connectivity, and nothing else.
    noise = 0.1 * rng.standard_normal((len(cohort), 90, 90))
    attention = (1 + noise + 2 * strength[:, None, None] * within).astype(np.float32)
    found = group_tests(cohort, data, attention)
    rows = found[(found["family"] == "contrast") & (found["between"] == "NC - AD")].set_index("covariates")
    assert rows.loc["age", "p"] < 0.01
    assert rows.loc["mean_abs_fc, age", "p"] > 0.05
    assert (rows["p_unadjusted"] < 0.01).all()
    test = all_block_tests(found, {"NC": 10, "AD": 10})[0]
    assert test.n_marked_without_connectivity is not None
    assert len(test.marked) < test.n_marked_without_connectivity
    said = _comparison_sentence(test)
    assert "adjusted for overall connectivity and age: " in said
    without = test.n_marked_without_connectivity
    assert f"Without adjusting for overall connectivity (mean |FC|), {without} differ; unadjusted" in said
    row = test.contrast.iloc[0]
    assert row["p_without_connectivity"] == rows.loc["age", "p"]
    without = f"not adjusted for overall connectivity (mean |FC|) d = {row['d_without_connectivity']:.2f}"
    assert without in _contrast_sentence(test)


def test_covariates_that_a_small_cohort_cannot_carry_are_not_adjusted_for_and_that_is_said() -> None:
    cohort, data, attention = _drawn(4, {})
    found = group_tests(cohort, data, attention)
    assert set(found["covariates"]) == {""}
    assert found["note"].str.contains("Not adjusted for all covariates. 8 subjects with these covariates leave").all()
    (first, *_) = all_block_tests(found, dict.fromkeys(data.groups, 4))
    assert "leave 4 residual degrees of freedom" in _comparison_sentence(first)


def test_persons_are_compared_and_nobody_with_himself() -> None:
    drawn = demo_cohort("ad", n_per_group=4)
    names = ["a_ses-1", "a_ses-2", "b", "c", *"defg", "h", "i", "j", "d_ses-2"]  # d was MCI and is AD now
    cohort = replace(drawn, subjects=tuple(replace(one, id=name) for one, name in zip(drawn, names, strict=True)))
    attention = np.random.default_rng(0).random((12, 90, 90)).astype(np.float32)
    found = group_tests(cohort, _labelled(cohort), attention)
    counts = found.groupby("between", sort=False)[["n_NC", "n_MCI", "n_AD"]].first().astype("Int64")
    assert counts.loc["NC - MCI"].tolist()[:2] == [3, 4]
    assert counts.loc["MCI - AD"].tolist()[1:] == [3, 3]


def test_people_recorded_at_two_sites_are_tested_and_the_note_says_where_they_count() -> None:
    cohort, data, attention = _drawn(16, {})
    ids = [f"p{i // 2:02}_ses-{i % 2 + 1}" for i in range(len(cohort))]
    # Sites in turn for people; the first person's recordings disagree, which ends no training.
    sites = ["Z" if i == 0 else "AB"[i // 2 % 2] for i in range(len(cohort))]
    subjects = tuple(
        replace(one, id=name, phenotypes={"site": site}) for one, name, site in zip(cohort, ids, sites, strict=True)
    )
    found = group_tests(replace(cohort, subjects=subjects), data, attention)
    assert set(found["covariates"]) == {"mean_abs_fc, site", "site"}
    assert found["note"].str.startswith("1 person has recordings with different values of site: the value of").all()
    assert (found.loc[found["between"] == "NC - MCI", ["n_NC", "n_MCI"]] == 8).all(axis=None)


@pytest.mark.parametrize(
    ("sites", "counted_at"),
    [(["A", "B", "B"], "B"), (["B", "A", "A"], "A"), (["B", "A"], "B"), (["A", "B"], "A"), (["A", None], "A")],
)
def test_a_person_counts_for_the_site_of_most_recordings_or_the_first(sites: list, counted_at: str) -> None:
    table = pd.DataFrame({"site": [*sites, "C"], "age": range(len(sites) + 1)})
    found, notes = one_value_per_person(table, [*["p"] * len(sites), "q"])
    known = found["site"].dropna().tolist()
    assert known == [counted_at] * (len(known) - 1) + ["C"]
    assert found["age"].tolist() == table["age"].tolist()
    assert len(notes) == int(None not in sites)


def test_groups_of_one_person_are_not_compared_and_end_nothing() -> None:
    cohort, _, attention = _drawn(4, {})
    kept = [0, 1, 2, 3, 4, 8, 9, 10, 11]  # one MCI
    few = replace(cohort, subjects=tuple(cohort.subjects[row] for row in kept))
    found = group_tests(few, _labelled(few), attention[kept])
    assert set(found["between"]) == {"NC - AD"}
