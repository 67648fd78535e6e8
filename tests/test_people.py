"""People are the unit: six people copied as four runs each give the numbers, intervals and n of the six alone."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from planted_cohort import planted_cohort, small

from biobgt.data.cohort import Cohort, average_by_person, counted_people, number_of_people
from biobgt.data.connectivity import cohort_graphs, subject_connectivity
from biobgt.figures.hubs import GroupBand
from biobgt.groups import compare_attention, compare_groups
from biobgt.groups.design import overall_connectivity
from biobgt.hubs.table import group_curves, measure_curves
from biobgt.model.pretrained import load_groups
from biobgt.modules.compare import group_module_difference
from biobgt.modules.measures import ModuleOptions
from biobgt.results.tables import analyse_hubs, analyse_modules
from biobgt.training.cards import write_model
from biobgt.training.evaluation import baselines_out_of_fold
from biobgt.training.folds import label_graphs, train_ensemble
from biobgt.training.splits import Split

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
        measure_curves(graph, subject_connectivity(subject), (0.5,))
        for graph, subject in zip(cohort_graphs(cohort), cohort, strict=True)
    ]
    found = group_curves(measured, 0.5, persons=cohort.persons)
    return {**{f"mean {name}": own for name, own in found.mean.items()}, **found.sd, "n": {found.n_subjects}}


def _hubs(cohort: Cohort) -> dict[str, object]:
    found = analyse_hubs(cohort)
    summary = found.summary.drop(columns="n_recordings", errors="ignore")
    return {
        "groups": found.groups.drop(columns="n_recordings"),
        "summary": summary,
        "n": {
            int(found.groups.groupby("group")["n_subjects"].first().sum()),
            *summary.loc[summary["measure"] != "partial", "n_subjects"],
        },
    }


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
    return {
        "blocks": found.blocks.table,
        "contrast": found.contrast.table,
        "n": {sum(found.blocks.n_subjects.values())},
    }


@pytest.mark.parametrize("measure", [_curves, _hubs, _modules, _tests, _attention])
def test_six_people_of_four_runs_are_six(measure: Callable[[Cohort], dict[str, object]]) -> None:
    alone, copied = measure(_six()), measure(_copied())
    assert alone["n"] == copied["n"] == {6}
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
    curves = {"node_entanglement": np.arange(3.0)}
    said = GroupBand("NC", 6, 24, curves, curves).words
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
    trained = train_ensemble(data, splits, preset, folder=tmp_path / "runs")
    card = write_model(
        tmp_path / "model",
        name="twice",
        cohort=cohort,
        data=data,
        preset=preset,
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
        expected = np.einsum("s,sij->ij", weights, trained.mean_attention[own])
        np.testing.assert_allclose(groups.attention[group].mean(axis=(0, 1)), expected, rtol=2e-3)
        np.testing.assert_allclose(
            groups.connectivity[group], np.einsum("s,sij->ij", weights, data.matrices[own]), atol=2e-3
        )
        ratio = np.einsum("s,slh->lh", weights, trained.contrast[own])
        np.testing.assert_allclose(groups.contrast[group], ratio, rtol=1e-4)
        assert card["attention"][group] == pytest.approx(ratio.mean(), rel=1e-4)
