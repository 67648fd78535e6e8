"""The results that ship with the project: complete, over subjects, free of anybody's id, and shown where they apply."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from planted_cohort import planted_cohort

from biobgt.base.files import asset
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.cohort import Subject
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.quality import FILTERED_NOISE_FACTOR, NOISE_FACTOR
from biobgt.groups import compare_groups
from biobgt.inference import covariates_of
from biobgt.modules.measures import ModuleOptions
from biobgt.results.studies import study_modules, study_sweep, study_table


@pytest.mark.parametrize(("group", "n_subjects"), [("all", 899), ("NC", 462), ("ASD", 437)])
def test_plausibility_covers_every_subject_and_condition(group, n_subjects):
    table = study_table("abide_plausibility").query("group == @group")
    assert table["n_subjects"].max() == n_subjects
    conditions = table[["level", "perturbation", "signed", "gamma", "reference", "measure"]]
    assert len(conditions.drop_duplicates()) == len(table) == 4 * 2 * 2 * 10 * 2 * 3
    assert table["mean"].between(-1, 1).all()
    assert "subject" not in table.columns


def test_the_default_scale_is_one_at_which_ne_agrees_with_node_efficiency():
    table = study_table("abide_plausibility").query("group == 'all' and measure == 'spearman'")
    chosen = table.query("level == 0.3 and perturbation == 'control' and not signed and gamma == 0.5").set_index(
        "reference"
    )["mean"]
    assert chosen["node efficiency"] > 0.6
    assert chosen["FC strength"] < 0.4


def test_modules_tables():
    modules = study_table("abide_modules")
    assert set(modules["graphs"]) == {"positive, at least 0.3", "positive, strongest 15 %", "signed, all"}
    sizes = modules[["n NC", "n ASD"]].drop_duplicates().to_numpy().tolist()
    assert sizes == [[462, 437], [30, 30]]
    whole = modules[modules["resolution"] == 1]
    assert whole["n NC"].eq(462).all()
    assert whole["p"].between(0, 1).all()
    measured = set(modules["measure"])
    assert {f"{measure} {labels}" for measure in ("ami", "ari") for labels in load_atlas("cc200").labels} < measured
    per_resolution = modules.groupby(["graphs", "resolution"])["measure"].agg(set)
    assert all(found == measured for found in per_resolution)
    assert len(per_resolution) == 3 * 9


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, asset("studies", f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_module_study_tests_as_the_library_does(rng):
    study = _script("modules")
    drawn = planted_cohort(15)
    age, motion = rng.uniform(8, 20, 30), rng.exponential(0.2, 30)
    cohort = replace(
        drawn,
        subjects=tuple(
            replace(one, phenotypes={**one.phenotypes, "age": age[i], "mean_fd": motion[i], "sex": "MF"[i // 3 % 2]})
            for i, one in enumerate(drawn)
        ),
    )
    values = 3 * motion[:, None] + rng.standard_normal((30, len(study.MEASURES)))
    summary = pd.DataFrame(values, columns=list(study.MEASURES))
    found = study.group_comparison(summary, cohort)
    expected = compare_groups(
        values,
        [subject.group for subject in cohort],
        subjects=cohort.ids,
        covariates=covariates_of(cohort.table()).table,
        permutations=study.N_PERMUTATIONS,
        seed=study.SEED,
    ).table
    for column in ("difference", "d", "d_low", "d_high", "p", "p_unadjusted"):
        np.testing.assert_array_equal(found[column], expected[column])
    np.testing.assert_allclose(found["NC sd"], values[:15].std(axis=0, ddof=1))


def test_the_page_prints_the_tables_of_the_module_study():
    text = (Path(__file__).parents[2] / "docs" / "plausibility.md").read_text(encoding="utf-8")
    study, modules = _script("tables"), study_table("abide_modules")
    assert study.resolutions_table(modules[modules["graphs"] == "positive, at least 0.3"]) in text
    assert study.modules_table(modules[modules["resolution"] == 1]) in text


def test_the_limits_that_tell_noise_are_those_of_the_study():
    table = pd.read_csv(asset("studies", "noise_strength.csv"))
    drawn = table["series"].str.contains("noise")
    below = table["by independent time points: highest"] < FILTERED_NOISE_FACTOR
    below |= table["by time points: highest"] < NOISE_FACTOR
    pd.testing.assert_series_equal(table["taken for noise"] == table["n"], below, check_names=False, obj="all taken")
    whole = table[table["time points"] == "whole"].set_index("series")["taken for noise"]
    assert whole.to_dict() == {"abide_cc200": 1, "abide_aal116": 1, "cni2019_cc200": 0, "cni2019_aal116": 0}
    noise = table[drawn]
    assert noise["n"].sum() - noise["taken for noise"].sum() == 3, "as the comment on the limit says"


def test_the_study_of_noise_measures_what_a_subject_is_flagged_by(rng):
    study = _script("noise_strength")
    by_length, by_independent = study.ratios(rng.standard_normal((400, 50)))
    assert by_length == pytest.approx(1, abs=0.05)  # white noise is what both are measured against
    assert by_independent == pytest.approx(1, abs=0.05)
    slow = study.noise("0.009 to 0.08 Hz", 400, rng)
    assert study.ratios(slow)[0] > 1.5 > study.ratios(slow)[1]


def test_the_toy_graphs_of_degree_and_ne_are_what_the_table_says() -> None:
    study = _script("degree_fragility")
    table = pd.read_csv(asset("studies", "degree_fragility.csv"))
    found = pd.DataFrame([row for corner in study.CORNERS for row in study.measured(corner)])
    pd.testing.assert_frame_equal(found, table, rtol=1e-4, atol=1e-9, check_dtype=False)
    ne = table[table["measure"].str.startswith("NE,")].groupby("neighbours_of_b")["higher"].agg(set)
    assert ne.to_dict() == {"star": {"b"}, "clique": {"a"}}


CC200 = load_atlas("cc200")


@pytest.mark.parametrize("perturbation", ["control", "remove"])
@pytest.mark.parametrize("level", [0.0, 0.2, 0.3, 0.4])
def test_study_of_the_same_threshold_and_perturbation_is_found(level, perturbation):
    found = study_sweep(ConnectomeSettings(level=level), CC200, perturbation=perturbation)
    study = study_table("abide_plausibility").query(
        "group == 'all' and level == @level and perturbation == @perturbation and not signed and measure == 'spearman'"
    )
    assert found.agreement is not None
    assert list(found.agreement["mean"]) == list(study["mean"])
    assert list(found.agreement["sd"]) == list(study["sd"])
    assert f"of at least {level:g}, {perturbation}, |ΔS|" in found.note
    assert f"{study['n_subjects'].max()} real ABIDE subjects" in found.note
    assert "this subject" not in found.note
    fewest = study["n_subjects"].min()
    assert (f"defined in only {fewest} of them" in found.note) == (fewest < study["n_subjects"].max())


def test_no_threshold_is_the_study_at_zero():
    every = study_sweep(ConnectomeSettings(threshold="none"), CC200)
    at_zero = study_sweep(ConnectomeSettings(level=0.0), CC200)
    pd.testing.assert_frame_equal(every.agreement, at_zero.agreement)


@pytest.mark.parametrize(
    "atlas", [load_atlas("aal90"), numbered_atlas(100), replace(numbered_atlas(100), name="cc200")]
)
def test_another_atlas_has_no_norm_and_the_note_says_why(atlas):
    found = study_sweep(ConnectomeSettings(), atlas)
    assert found.agreement is None
    assert found.note.startswith("No norm is shown: ABIDE was measured on the 200 regions of Craddock CC200")
    assert f"this subject has the {atlas.n_regions} of {atlas.title}" in found.note


def test_a_matrix_that_holds_no_correlations_has_no_norm():
    counts = np.random.default_rng(0).integers(0, 900, (200, 200)).astype(float)
    subject = Subject("s", connectivity=counts + counts.T)
    assert study_sweep(ConnectomeSettings(), CC200, subject=subject).agreement is None
    found = study_modules(ConnectomeSettings(), ModuleOptions(), CC200, subject=subject)
    assert found.measures is None
    assert "this subject's matrix holds something else" in found.note


@pytest.mark.parametrize(
    ("settings", "options", "graphs"),
    [
        ({}, {}, "positive, at least 0.3"),
        ({"threshold": "proportional", "level": 0.15}, {}, "positive, strongest 15 %"),
        ({"sign": "signed", "threshold": "none"}, {}, "signed, all"),
        ({"sign": "signed", "threshold": "none"}, {"signed": False}, None),
        ({}, {"runs": 50}, None),
        ({}, {"resolution": 1.2}, "positive, at least 0.3"),
        ({}, {"resolution": 2.5}, None),
        ({}, {"consensus": True}, None),
        ({"level": 0.25}, {}, None),
    ],
)
def test_modules_have_a_norm_only_where_they_were_found_alike(settings, options, graphs):
    how = replace(ConnectomeSettings(), **settings), ModuleOptions(**options)
    found = study_modules(*how, CC200)
    assert (None if found.measures is None else set(found.measures["graphs"])) == (graphs and {graphs})
    elsewhere = study_modules(*how, load_atlas("aal90"))
    assert elsewhere.measures is None
    assert "this subject has the 90 of" in elsewhere.note


@pytest.mark.parametrize(
    ("asked", "taken"), [(1.0, 1.0), (0.5, 0.5), (1.2, 1.2), (0.9, 1.0), (1.1, 1.0), (1.3, 1.2), (1.9, 1.8), (0.7, 0.8)]
)
def test_modules_at_any_resolution_have_the_nearest_norm_and_it_is_named(asked, taken):
    found = study_modules(ConnectomeSettings(), ModuleOptions(resolution=asked), CC200)
    assert set(found.measures["resolution"]) == {taken}
    assert f"at resolution {taken:g}" in found.note
    assert (f"the nearest measured to {asked:g}" in found.note) == (asked != taken)
    assert ("30 NC and 30 ASD" in found.note) == (taken != 1)
    assert {"ami yeo7", "ami yeo17"} < set(found.measures["measure"])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"level": 0.25}, "it has thresholds 0, 0.2, 0.3, 0.4"),
        ({"threshold": "proportional", "level": 0.3}, "it has no proportional threshold"),
        ({"estimator": "partial"}, "it has Pearson correlation"),
        ({"sign": "absolute"}, "it has positive connections"),
        ({"backbone": True}, "it has no spanning tree"),
        ({"sign": "absolute", "level": 0.5}, "it has positive connections, it has thresholds"),
    ],
)
def test_graphs_made_otherwise_have_no_study_and_the_note_says_why(change, why):
    found = study_sweep(replace(ConnectomeSettings(), **change), CC200)
    assert found.agreement is None
    assert f"no graphs like these ({why}" in found.note
