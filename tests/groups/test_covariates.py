"""Designs: degrees of freedom counted by hand, refusals that name the covariate, and confounding that is said."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.groups import compare_groups
from biobgt.inference.covariates import (
    LEAST_DEGREES,
    complete_covariates,
    confounding_notes,
    group_design,
    overstatement,
)

TWO = Atlas(name="two", title="Two regions", regions=("a", "b"))


def _groups(n: int) -> list[str]:
    return ["NC", "ASD"] * (n // 2)


def _compare(rng: np.random.Generator, n: int, covariates: pd.DataFrame | None = None):
    subjects = [f"s{i}" for i in range(n)]
    values = rng.standard_normal((n, 3))
    return compare_groups(values, _groups(n), subjects=subjects, covariates=covariates, permutations=99)


def _cohort(sites: str, groups: list[str]) -> Cohort:
    subjects = tuple(
        Subject(f"s{i}", connectivity=np.array([[1, 0.5], [0.5, 1]]), group=group, phenotypes={"site": site})
        for i, (site, group) in enumerate(zip(sites, groups, strict=True))
    )
    return Cohort("folder", subjects, TWO)


def test_twelve_subjects_of_seven_sites_are_refused_and_site_is_named(rng):
    covariates = pd.DataFrame({"age": rng.uniform(8, 20, 12), "site": list("aabbccddeefg")})
    with pytest.raises(InputError) as refused:
        _compare(rng, 12, covariates)
    sentence = str(refused.value)
    assert "12 subjects with these covariates leave 3 residual degrees of freedom" in sentence
    assert f"needs at least {LEAST_DEGREES}" in sentence
    assert "site takes 6 of 12, age takes 1 of 12, intercept and group 2" in sentence
    assert "Leave site and age out (on the command line --without site --without age)" in sentence


def test_only_the_covariates_that_must_go_are_named(rng):
    covariates = pd.DataFrame({"age": rng.uniform(8, 20, 20), "site": list("aabbccddeeffgghhiijj")})
    with pytest.raises(InputError, match="Leave site out"):
        _compare(rng, 20, covariates)
    found = _compare(rng, 20, covariates[["age"]])
    assert (found.design.degrees, found.covariates) == (17, ("age",))


def test_the_limit_is_where_the_count_says(rng):
    ages = [pd.DataFrame({"age": rng.uniform(8, 20, n)}) for n in (12, 14)]
    with pytest.raises(InputError, match="leave 9 residual degrees"):
        _compare(rng, 12, ages[0])
    assert _compare(rng, 14, ages[1]).design.degrees == 11


def test_columns_that_say_the_same_cost_nothing_twice(rng):
    site = list("aaaabbbbccccdddd")
    covariates = pd.DataFrame({"site": site, "scanner": [letter.upper() for letter in site], "age": range(16)})
    design = group_design(covariates, np.arange(16) % 2 == 0)
    assert dict(design.taken) == {"site": 3, "scanner": 0, "age": 1}
    assert design.degrees == 16 - 1 - 4 - 1


def test_group_explained_is_the_r_squared_of_a_linear_model(rng):
    patients = rng.random(60) < 0.5
    covariates = pd.DataFrame({"age": rng.standard_normal(60) + patients, "site": rng.choice(list("xyz"), 60)})
    design = group_design(covariates, patients)
    full = np.column_stack([np.ones(60), covariates["age"], covariates["site"] == "y", covariates["site"] == "z"])
    fitted = full.astype(float) @ np.linalg.lstsq(full.astype(float), patients.astype(float), rcond=None)[0]
    assert design.explained == pytest.approx(np.corrcoef(fitted, patients)[0, 1] ** 2)
    assert design.explained_by["age"] == pytest.approx(np.corrcoef(covariates["age"], patients)[0, 1] ** 2)


def test_sites_of_one_group_are_named_and_the_share_is_said(rng):
    # Half of everybody at site m, where both groups are; the others at sites of one group only.
    found = _compare(rng, 40, pd.DataFrame({"site": ["m", "m"] * 10 + ["p", "q"] * 10}))
    assert found.design.explained == pytest.approx(0.5)
    notes = " ".join(found.notes)
    assert "2 sites with subjects of one group only (p, q): adjusted for site" in notes
    assert "site explains 50 % of the group's variance" in notes
    assert "2.0 times" in notes


def test_a_balanced_design_says_nothing(rng):
    found = _compare(rng, 40, pd.DataFrame({"site": ["x", "x", "y", "y"] * 10}))
    assert not found.design.one_group
    assert not any("confounded" in note or "one group only" in note for note in found.notes)


def test_site_and_group_that_are_one_are_refused_with_a_way_out(rng):
    covariates = pd.DataFrame({"age": rng.standard_normal(40), "site": _groups(40)})
    with pytest.raises(InputError, match=r"every value of site has subjects of one group only.*--without site"):
        _compare(rng, 40, covariates)
    table = covariates.assign(subject=[f"s{i}" for i in range(40)])
    assert list(complete_covariates(table, without=["site"]).table.columns) == ["age"]
    with pytest.raises(InputError, match=r"no covariate 'iq' to leave out\. The covariates here: age, site"):
        complete_covariates(table, without=["iq"])


def test_a_test_that_cannot_adjust_says_what_is_confounded():
    groups = ["NC"] * 6 + ["ASD"] * 6
    assert confounding_notes(_cohort("xyxyxyxyxyxy", groups), ("NC", "ASD")) == ()
    (partly, share) = confounding_notes(_cohort("xxxxppxxxxqq", groups), ("NC", "ASD"))
    assert partly == "2 sites with subjects of one group only (p, q)."
    assert share.startswith("Group and covariates are partly confounded: site explains 33 %")
    (completely,) = confounding_notes(_cohort("xxxxxxyyyyyy", groups), ("NC", "ASD"))
    assert completely.startswith("Group and site are confounded completely")
    other = replace(_cohort("xxxxxxyyyyyy", ["NC"] * 12), name="folder")
    assert confounding_notes(other, ("NC", "ASD")) == ()


def test_few_subjects_without_covariates_are_told_that_d_is_overstated(rng):
    said = "With 6 residual degrees of freedom the effect size d is overstated, by about 15 %"
    assert any(said in note for note in _compare(rng, 8).notes)
    assert not any("overstated" in note for note in _compare(rng, 40).notes)


def test_at_the_limit_p_keeps_its_level_and_d_is_near_the_truth():
    """The limit's reason: at 10 residual degrees of freedom, with site taking as many columns as it may."""
    rng = np.random.default_rng(7)
    n, n_features = 16, 3000
    sites = pd.DataFrame({"site": [*"aabbccddee", "a", "b", "c", "d", "e", "a"]})
    groups = _groups(n)
    patients = np.array([group == "ASD" for group in groups])
    noise, of_site = rng.standard_normal((n, n_features)), rng.standard_normal((5, n_features))
    values = noise + 5 * of_site[pd.factorize(sites["site"])[0]]
    compare = {"subjects": [f"s{i}" for i in range(n)], "covariates": sites, "permutations": 999}
    null = compare_groups(values, groups, **compare)
    assert null.design.degrees == LEAST_DEGREES
    assert 0.038 < (null.table["p"] <= 0.05).mean() < 0.062
    assert (null.table["d"].abs() > 2).mean() < 0.02
    found = compare_groups(values + 0.8 * patients[:, None], groups, **compare).table
    assert found["d"].mean() / 0.8 == pytest.approx(1 + overstatement(LEAST_DEGREES), abs=0.05)
    assert overstatement(LEAST_DEGREES) < 0.1
