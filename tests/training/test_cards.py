"""A model folder as written: the card against its schema and the numbers, and the model loaded from it."""

import json
import shutil
from collections.abc import Iterator
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

import biobgt.training.cards
from biobgt.assets import asset
from biobgt.atlas import numbered_atlas
from biobgt.cohort import Cohort
from biobgt.connectome import subject_connectivity
from biobgt.errors import InputError
from biobgt.figures.attention_captions import contrast_caption, effects_caption
from biobgt.model.attention_views import all_block_tests
from biobgt.model.ensemble import TRAINED_ON
from biobgt.model.pretrained import load_card, load_groups, load_pretrained
from biobgt.quality import mean_connectivity
from biobgt.simulate import demo_cohort
from biobgt.training.calibration import calibrated
from biobgt.training.card_words import headline, limits
from biobgt.training.cards import add_evaluation, check_evaluated, write_model
from biobgt.training.data import LabelledGraphs
from biobgt.training.ensemble import TrainedEnsemble, train_ensemble
from biobgt.training.evaluation import evaluate
from biobgt.training.group_tests import check_same_attention, group_tests, out_of_fold_attention
from biobgt.training.linear import linear_out_of_fold
from biobgt.training.metrics import METRICS, classification_metrics
from biobgt.training.splits import Split, cross_validation
from biobgt.training.trainer import predict_logits

PRESET = small("best", epochs=1, pretrain_steps=2)


@pytest.fixture(autouse=True, scope="module")
def few_draws() -> Iterator[None]:
    """Intervals from 10 resamples: no test looks at their width."""
    with pytest.MonkeyPatch.context() as patch:
        original = biobgt.training.cards.bootstrap_intervals
        patch.setattr(
            biobgt.training.cards,
            "bootstrap_intervals",
            lambda *given, draws, **options: original(*given, draws=10, **options),
        )
        yield


@pytest.fixture(scope="module")
def splits(data: LabelledGraphs) -> tuple[Split, ...]:
    return cross_validation([data.groups[label] for label in data.labels], folds=3)


@pytest.fixture(scope="module")
def trained(
    data: LabelledGraphs, splits: tuple[Split, ...], tmp_path_factory: pytest.TempPathFactory
) -> TrainedEnsemble:
    return train_ensemble(data, splits, PRESET, folder=tmp_path_factory.mktemp("runs"))


def _write(folder: Path, cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble, splits: tuple) -> dict:
    return write_model(
        folder,
        name="planted",
        cohort=cohort,
        data=data,
        preset=PRESET,
        trained=trained,
        linear=linear_out_of_fold(data, splits),
        command="biobgt train --cohort folder",
        seed=0,
    )


@pytest.fixture(scope="module")
def folder(
    cohort: Cohort,
    data: LabelledGraphs,
    trained: TrainedEnsemble,
    splits: tuple[Split, ...],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    path = tmp_path_factory.mktemp("model")
    _write(path, cohort, data, trained, splits)
    return path


def test_the_card_passes_its_schema(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"), parse_constant=lambda name: pytest.fail(name))
    jsonschema.Draft202012Validator.check_schema(json.loads(asset("model_card.schema.json").read_text()))
    jsonschema.validate(card, json.loads(asset("model_card.schema.json").read_text()))
    assert load_card(folder) == card
    for key in ("headline", "limits", "sha256"):
        broken = {name: value for name, value in card.items() if name != key}
        with pytest.raises(jsonschema.ValidationError, match=key):
            jsonschema.validate(broken, json.loads(asset("model_card.schema.json").read_text()))


def test_the_card_says_what_was_measured(
    folder: Path, data: LabelledGraphs, trained: TrainedEnsemble, splits: tuple[Split, ...]
) -> None:
    card = load_card(folder)
    measured = classification_metrics(data.labels, trained.probabilities, data.groups)
    for metric in METRICS:
        assert card["results"]["BioBGT"][metric]["value"] == pytest.approx(measured[metric], abs=1e-4)
    for model, probabilities in linear_out_of_fold(data, splits).items():
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


def test_an_evaluation_goes_on_the_card(
    folder: Path, data: LabelledGraphs, splits: tuple[Split, ...], tmp_path: Path
) -> None:
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


def test_limits_name_what_was_set_and_what_is_off(cohort: Cohort) -> None:
    off = {"value": 0.11, "low": None, "high": None, "by_chance": 0.046}
    said = " ".join(limits(cohort, replace(PRESET, start_contrast=3.0), {"NC": 2.8, "ASD": 3.1}, off))
    assert "attention within modules is 3 times that between" in said
    assert "off by 0.11 on average in held-out subjects, where 0.05 would be chance alone" in said
    plain = " ".join(
        limits(cohort, replace(PRESET, start_contrast=0.0), {"NC": 1.0, "ASD": 1.0}, off | {"value": 0.05})
    )
    assert "set on training subjects" not in plain
    flat = " ".join(limits(cohort, replace(PRESET, start_contrast=3.0), {"NC": 1.06, "ASD": None}, off))
    assert "was to be 3 times that between them, and is 1.06 times in held-out subjects" in flat
    assert "off by" not in plain


def test_an_atlas_without_modules_makes_a_model_too(
    data: LabelledGraphs, trained: TrainedEnsemble, splits: tuple[Split, ...], tmp_path: Path
) -> None:
    nameless = planted_cohort(20).with_atlas(numbered_atlas(16))
    card = _write(tmp_path, nameless, data, trained, splits)
    assert card["atlas"] == "unknown16"
    assert load_groups(tmp_path).tests.empty


@pytest.mark.parametrize(
    ("auc", "low", "simulated", "opening", "ending"),
    [
        (0.80, 0.76, False, "Tells NC / ASD apart better than chance", "; a linear model is worse (0.75)."),
        (0.745, 0.7, False, "Tells NC / ASD apart better than chance", "; a linear model does as well (0.75)."),
        (0.70, 0.66, False, "Tells NC / ASD apart better than chance", "; a linear model is better (0.75)."),
        (0.55, 0.51, False, "At or near chance", "accuracy 0.70)."),
        (0.62, 0.49, False, "At or near chance", "accuracy 0.70)."),
        (0.99, 0.98, True, "Simulated: NC / ASD", "; a linear model is worse (0.75)."),
    ],
)
def test_the_first_line_says_what_it_is_worth(
    auc: float, low: float, simulated: bool, opening: str, ending: str
) -> None:
    measured = {
        "BioBGT": {"auc": {"value": auc, "low": low, "high": 1.0}, "accuracy": {"value": 0.7}},
        "ridge on one thing": {"auc": {"value": 0.6}},
        "ridge on another": {"auc": {"value": 0.75}},
    }
    said = headline(measured, {"NC": 462, "ASD": 437}, simulated=simulated)
    assert said.startswith(opening)
    assert said.endswith(ending)
    assert f"AUC {auc:.2f}" in said
    few = headline(measured, {"NC": 300, "ASD": 19}, simulated=simulated)
    assert few.startswith("Simulated" if simulated else "Too few subjects to tell what this model is worth (300 NC, 19")


def test_tests_are_a_table_one_can_read(folder: Path) -> None:
    table = pd.read_csv(folder / "tests.csv")
    assert {"feature", "p", "q", "covariates", "n_subjects"} <= set(table.columns)
    assert (table["n_subjects"] == 40).all()
    assert (table[["n_NC", "n_ASD"]] == 20).all(axis=None)


def _drawn(n_per_group: int, ages: dict[str, object]) -> tuple[Cohort, LabelledGraphs, np.ndarray]:
    """A demo cohort, its labels, and attention that is noise, but stronger in the occipital module of AD."""
    drawn = demo_cohort("ad", n_per_group=n_per_group)
    known = {subject.id: {"age": 60 + (7 * i) % 19} for i, subject in enumerate(drawn)} | {
        name: {"age": age} for name, age in ages.items()
    }
    cohort = replace(drawn, subjects=tuple(replace(one, phenotypes=known[one.id]) for one in drawn))
    groups = ("NC", "MCI", "AD")
    labels = np.array([groups.index(str(subject.group)) for subject in cohort])
    attention = np.random.default_rng(0).random((len(cohort), 90, 90)).astype(np.float32)
    at = [label == "occipital" for label in cohort.atlas.labelling("dosenbach")]
    attention[np.ix_(labels == 2, at, at)] += 5
    data = cast("LabelledGraphs", SimpleNamespace(groups=groups, labels=labels, subjects=cohort.ids))
    return cohort, data, attention


def test_every_two_groups_are_compared_over_the_subjects_whose_covariates_are_known(tmp_path: Path) -> None:
    cohort, data, attention = _drawn(8, {"sim-MCI-002": None})
    groups = data.groups
    found = group_tests(cohort, data, attention)
    assert list(dict.fromkeys(found["between"])) == ["NC - MCI", "NC - AD", "MCI - AD"]
    assert found.groupby(["between", "covariates", "family"]).size().tolist() == [36, 1] * 6
    assert list(dict.fromkeys(found["covariates"])) == ["mean_abs_fc, age", "age"]
    found.to_csv(tmp_path / "tests.csv", index=False)
    read = pd.read_csv(tmp_path / "tests.csv")
    tests = all_block_tests(read, dict.fromkeys(groups, 8))
    assert [dict(one.n_subjects) for one in tests] == [{"NC": 8, "MCI": 7}, {"NC": 8, "AD": 8}, {"MCI": 7, "AD": 8}]
    for one, expected in zip(tests, (0, 5, 5), strict=True):
        assert len(one.blocks) == 36
        row = one.blocks.set_index("feature").loc["occipital → occipital"]
        first, second = (row[f"mean_{group}"] for group in one.between)
        assert second - first == pytest.approx(expected, abs=0.1)
    assert (read["permutations"] == 5000).all()
    text = (tmp_path / "tests.csv").read_text(encoding="utf-8")
    assert ",15,5000,8,7," in text, "whole numbers, and nothing for the group that was not compared"


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
    said = effects_caption("m", test)
    assert "adjusted for overall connectivity and age: " in said
    assert (
        f"not adjusted for overall connectivity (mean |FC|), {test.n_marked_without_connectivity}; unadjusted" in said
    )
    row = test.contrast.iloc[0]
    assert row["p_without_connectivity"] == rows.loc["age", "p"]
    contrast = contrast_caption("m", {"NC": np.ones((1, 1)), "AD": np.ones((1, 1))}, [test])
    assert f"not adjusted for overall connectivity (mean |FC|) d = {row['d_without_connectivity']:.2f}" in contrast


def test_attention_of_a_trained_model_can_be_made_again_from_its_weights(
    folder: Path, cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble, splits: tuple[Split, ...]
) -> None:
    members = load_pretrained(folder, "cpu").members
    again = out_of_fold_attention(members, data, splits)
    np.testing.assert_allclose(again, trained.mean_attention, rtol=1e-4)
    check_same_attention(again, data, load_groups(folder))
    kept = pd.read_csv(folder / "tests.csv")
    pd.testing.assert_frame_equal(
        group_tests(cohort, data, again)[["feature", "d", "p"]], kept[["feature", "d", "p"]], rtol=1e-3
    )
    with pytest.raises(InputError, match="is not the one in the model's folder"):
        check_same_attention(out_of_fold_attention(members[::-1], data, splits), data, load_groups(folder))


def test_covariates_that_a_small_cohort_cannot_carry_are_not_adjusted_for_and_that_is_said() -> None:
    cohort, data, attention = _drawn(4, {})
    found = group_tests(cohort, data, attention)
    assert set(found["covariates"]) == {""}
    assert found["note"].str.contains("Not adjusted for all covariates. 8 subjects with these covariates leave").all()
    (first, *_) = all_block_tests(found, dict.fromkeys(data.groups, 4))
    assert "leave 4 residual degrees of freedom" in effects_caption("m", first)


def test_persons_are_compared_and_nobody_with_himself() -> None:
    drawn = demo_cohort("ad", n_per_group=4)
    names = ["a_ses-1", "a_ses-2", "b", "c", *"defg", "h", "i", "j", "d_ses-2"]  # d was MCI and is AD now
    cohort = replace(drawn, subjects=tuple(replace(one, id=name) for one, name in zip(drawn, names, strict=True)))
    groups = ("NC", "MCI", "AD")
    labels = np.array([groups.index(str(subject.group)) for subject in cohort])
    attention = np.random.default_rng(0).random((12, 90, 90)).astype(np.float32)
    data = cast("LabelledGraphs", SimpleNamespace(groups=groups, labels=labels, subjects=cohort.ids))
    found = group_tests(cohort, data, attention)
    counts = found.groupby("between", sort=False)[["n_NC", "n_MCI", "n_AD"]].first().astype("Int64")
    assert counts.loc["NC - MCI"].tolist()[:2] == [3, 4]
    assert counts.loc["MCI - AD"].tolist()[1:] == [3, 3]
