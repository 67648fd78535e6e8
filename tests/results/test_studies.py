"""The results that ship with the project: complete, over subjects, and free of anybody's id."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from planted_cohort import planted_cohort

from biobgt.base.files import asset
from biobgt.data.atlas import load_atlas
from biobgt.data.quality import FILTERED_NOISE_FACTOR, NOISE_FACTOR
from biobgt.groups import compare_groups, covariates_of
from biobgt.results.studies import study_table


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
    assert spec is not None
    assert spec.loader is not None
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
