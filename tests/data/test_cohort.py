"""Subjects and cohorts; people are the unit of every mean."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from planted_cohort import planted_cohort, small

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas, load_atlas, numbered_atlas
from biobgt.data.cohort import Cohort, Subject, average_by_person, counted_people, join_cohorts, number_of_people
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.figures.hubs import _GroupBand
from biobgt.groups import compare_attention, compare_groups
from biobgt.hubs.table import group_curves, measure_curves
from biobgt.inference.covariates import overall_connectivity
from biobgt.model.group_results import load_groups
from biobgt.modules.compare import group_module_difference
from biobgt.modules.measures import ModuleOptions
from biobgt.results.tables import analyse_hubs, analyse_modules
from biobgt.training.cards import write_model
from biobgt.training.cohorts import Split
from biobgt.training.evaluation import baselines_out_of_fold
from biobgt.training.folds import describe_members, label_graphs, train_members


def subject(name: str, group: str | None = None, n_regions: int = 4) -> Subject:
    return Subject(id=name, group=group, series=np.random.default_rng(len(name)).standard_normal((20, n_regions)))


@pytest.fixture
def cohort() -> Cohort:
    people = (subject("a", "ASD"), subject("bb", "NC"), subject("ccc", "NC"), subject("dddd"))
    return Cohort(name="test", subjects=people, atlas=numbered_atlas(4))


def test_selecting_and_regrouping_leave_the_original_alone(cohort):
    assert cohort.group("NC").ids == ("bb", "ccc")
    changed = cohort.with_groups({"dddd": "AD", "a": None})
    assert dict(changed.group_sizes) == {"NC": 2, "AD": 1}
    assert list(cohort.group_sizes.items()) == [("NC", 2), ("ASD", 1)], "controls first"
    assert cohort.select(lambda person: person.id != "a").ids == ("bb", "ccc", "dddd")


def test_what_is_not_there_gets_a_sentence(cohort):
    with pytest.raises(InputError, match="no group 'MCI'"):
        cohort.group("MCI")
    for ask in (cohort.__getitem__, lambda name: cohort.with_groups({name: "NC"})):
        with pytest.raises(InputError, match="no subject 'zz'"):
            ask("zz")


def test_ids_are_unique_and_regions_fit_the_atlas(cohort):
    with pytest.raises(InputError, match="'a' stands twice"):
        Cohort(name="x", subjects=(subject("a"), subject("a")), atlas=numbered_atlas(4))
    with pytest.raises(InputError, match="4 regions and atlas cc200 has 200"):
        replace(cohort, atlas=load_atlas("cc200"))


def test_a_subject_has_series_or_connectivity():
    with pytest.raises(ValueError, match="either"):
        Subject(id="x")
    with pytest.raises(ValueError, match="either"):
        Subject(id="x", series=np.ones((2, 2)), connectivity=np.eye(2))


def test_names_have_no_control_characters(cohort):
    odd = replace(cohort.subjects[0], id="sub\x07-01", group="N\tC\x85")
    assert (odd.id, odd.group) == ("sub-01", "N C")
    assert replace(cohort, name="a\x00b\u00a0ü").name == "ab\u00a0ü"
    assert Atlas("a", "A", ("left\x1b", "right")).regions == ("left", "right")
    with pytest.raises(InputError, match="stands twice"):
        Atlas("a", "A", ("left\x1b", "left"))


def test_silent_regions():
    series = np.random.default_rng(0).standard_normal((10, 4))
    series[:, 2] = 5.0
    assert Subject(id="x", series=series).silent_regions == (2,)
    matrix = np.eye(3)
    matrix[0, 1] = matrix[1, 0] = 0.5
    assert Subject(id="x", connectivity=matrix).silent_regions == (2,)


def test_joining(cohort):
    other = Cohort(name="b", subjects=(subject("eeeee"),), atlas=numbered_atlas(4), notes=("said",))
    joined = join_cohorts([cohort, other], name="both")
    assert len(joined) == 5
    assert joined.notes == ("said",)
    with pytest.raises(InputError, match="same atlas"):
        join_cohorts([cohort, Cohort("c", (subject("f", n_regions=5),), numbered_atlas(5))], name="x")


RUNS = 4
PARTS = ("test", "train", "validation")


@cache
def _six() -> Cohort:
    """Three NC and three ASD."""
    return planted_cohort(3, seed=5)


@cache
def _copied() -> Cohort:
    """The same six people with four runs each, all the same."""
    runs = (replace(one, id=f"{one.id}_run-{run + 1}") for one in _six() for run in range(RUNS))
    return replace(_six(), subjects=tuple(runs))


def _curves(cohort: Cohort) -> dict[str, object]:
    measured = [
        measure_curves(brain_graph(subject, cohort.atlas), subject_connectivity(subject), (0.5,)) for subject in cohort
    ]
    mean, sd = group_curves(measured, 0.5, persons=cohort.persons, scale="z")
    return {**{f"mean {name}": own for name, own in mean.items()}, **sd}


def _hubs(cohort: Cohort) -> dict[str, object]:
    found = analyse_hubs(cohort)
    summary = found.summary.drop(columns="n_recordings", errors="ignore")
    n = {*summary.loc[summary["measure"] != "partial", "n_subjects"]}
    n.add(int(found.groups.groupby("group")["n_subjects"].first().sum()))
    return {"groups": found.groups.drop(columns="n_recordings"), "summary": summary, "n": n}


def _modules(cohort: Cohort) -> dict[str, object]:
    found = analyse_modules(cohort, options=ModuleOptions(runs=2))
    different = group_module_difference(cohort, ("NC", "ASD"), found.partitions, n_permutations=200)
    return {"groups": found.groups, "p": different.p, "within": different.within, "n": {sum(different.n_subjects)}}


def _tests(cohort: Cohort) -> dict[str, object]:
    values = np.stack([subject_connectivity(subject)[0, 1:3] for subject in cohort])
    groups = [subject.group for subject in cohort]
    found = compare_groups(values, groups, subjects=cohort.persons, permutations=200)
    return {"table": found.table, "n": {sum(found.n_subjects.values())}}


def _attention(cohort: Cohort) -> dict[str, object]:
    matrices = np.stack([np.abs(subject_connectivity(subject)) for subject in cohort])
    labels, groups = cohort.atlas.labelling("modules"), [subject.group for subject in cohort]
    found = compare_attention(
        matrices, labels, groups, subjects=cohort.persons, overall_connectivity=None, permutations=200
    )
    assert len(overall_connectivity(cohort)) == len(cohort)
    n = {sum(found.blocks.n_subjects.values())}
    return {"blocks": found.blocks.table, "contrast": found.contrast.table, "n": n}


@pytest.mark.parametrize("measure", [_curves, _hubs, _modules, _tests, _attention])
def test_six_people_of_four_runs_are_six(measure: Callable[[Cohort], dict[str, object]]) -> None:
    alone, copied = measure(_six()), measure(_copied())
    assert alone.get("n", {6}) == copied.get("n", {6}) == {6}
    for name, expected in alone.items():
        found = copied[name]
        if isinstance(expected, pd.DataFrame):
            pd.testing.assert_frame_equal(found, expected)
        elif name != "n":
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_recordings_weigh_less_the_more_a_person_has() -> None:
    values = np.array([[0.0], [2.0], [4.0], [10.0], [np.nan]])
    persons = ["a", "a", "b", "c", "c"]
    np.testing.assert_allclose(average_by_person(values, persons), [[1.0], [4.0], [10.0]])
    assert np.isnan(average_by_person(np.array([np.nan, np.nan]), ["a", "a"])).all()


def test_words_say_recordings_where_they_are_more_than_people() -> None:
    assert counted_people(6, 6) == "6 subjects"
    assert counted_people(6, 24) == "24 recordings of 6 people"
    assert counted_people(1, 4) == "4 recordings of 1 person"
    assert [number_of_people(n) for n in (0, 1, 2, 1009)] == ["0 people", "1 person", "2 people", "1,009 people"]
    said = _GroupBand("NC", 6, 24, {}, {}).words
    assert "mean ± 1 SD of the 24 recordings of 6 people of NC, averaged for each person first" in said
    assert _copied().group_people == {"NC": 3, "ASD": 3}
    assert _copied().group_sizes == {"NC": 12, "ASD": 12}


def test_a_models_group_maps_are_means_over_people(tmp_path) -> None:
    """One person of each group has a second recording, which must not count as another person."""
    drawn = planted_cohort(6, seed=2)
    renamed = {"NC-1": "NC-0_run-2", "NC-0": "NC-0_run-1", "ASD-1": "ASD-0_run-2", "ASD-0": "ASD-0_run-1"}
    cohort = replace(
        drawn, subjects=tuple(replace(one, id=renamed.get(one.id, one.id), phenotypes={}) for one in drawn)
    )
    preset = small("best", epochs=1, pretrain_steps=1)
    data = label_graphs(cohort, preset)
    rows = np.arange(12)
    folds = ((0, 1, 2), (3, 4), (5,)), ((3, 4, 5), (0, 1), (2,))
    splits = tuple(
        Split(f"fold {i}", **{part: rows[np.isin(rows % 6, own)] for part, own in zip(PARTS, fold, strict=True)})
        for i, fold in enumerate(folds)
    )
    members = train_members(data, splits, preset, folder=tmp_path / "runs")
    trained = describe_members(members, data, splits, folder=tmp_path / "runs")
    card = write_model(
        tmp_path / "model",
        name="twice",
        cohort=cohort,
        data=data,
        trained=trained,
        linear=baselines_out_of_fold(data, splits),
        command="biobgt train",
        seed=0,
    )
    groups = load_groups(tmp_path / "model")
    assert groups.n == card["data"]["subjects"] == {"NC": 5, "ASD": 5}
    assert card["data"]["recordings"] == {"NC": 6, "ASD": 6}
    assert "12 recordings of 10 people" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    weights = np.array([0.5, 0.5, 1, 1, 1, 1]) / 5
    for label, group in enumerate(data.groups):
        own = data.labels == label
        attention, connectivity, ratio = (
            np.tensordot(weights, one[own], 1) for one in (trained.mean_attention, data.matrices, trained.contrast)
        )
        np.testing.assert_allclose(groups.attention[group].mean(axis=(0, 1)), attention, rtol=2e-3)
        np.testing.assert_allclose(groups.connectivity[group], connectivity, atol=2e-3)
        np.testing.assert_allclose(groups.contrast[group], ratio, rtol=1e-4)
        assert card["attention"][group] == pytest.approx(ratio.mean(), rel=1e-4)
