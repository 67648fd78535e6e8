"""Groups compared by attention: over whom, adjusted for what, and what is said where that cannot be."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd
import pytest

from biobgt.data.cohort import Cohort
from biobgt.data.connectivity import subject_connectivity
from biobgt.data.quality import mean_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.figures.attention_groups import _comparison_sentence, _contrast_sentence
from biobgt.groups.design import one_value_per_person
from biobgt.model.attention import all_block_tests
from biobgt.training.card_text import CardText
from biobgt.training.cards import _beside_connectivity, group_tests
from biobgt.training.folds import LabelledGraphs


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
    groups = ("NC", "MCI", "AD")
    labels = np.array([groups.index(str(subject.group)) for subject in cohort])
    attention = np.random.default_rng(0).random((12, 90, 90)).astype(np.float32)
    data = cast("LabelledGraphs", SimpleNamespace(groups=groups, labels=labels, subjects=cohort.ids))
    found = group_tests(cohort, data, attention)
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
    cohort, data, attention = _drawn(4, {})
    kept = [0, 1, 2, 3, 4, 8, 9, 10, 11]  # one MCI
    few = replace(cohort, subjects=tuple(cohort.subjects[row] for row in kept))
    labels = cast("LabelledGraphs", SimpleNamespace(groups=data.groups, labels=data.labels[kept], subjects=few.ids))
    found = group_tests(few, labels, attention[kept])
    assert set(found["between"]) == {"NC - AD"}
