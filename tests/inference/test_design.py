"""Designs of studies: what is tested, who is in it, and what is said before anything is computed."""

import numpy as np
import pandas as pd
import pytest

from biobgt.base.errors import InputError
from biobgt.inference.design import study_design
from biobgt.inference.formula import variables_of


def _table(rng, n=60, **more):
    table = {
        "group": np.resize(["NC", "MCI", "AD"], n),
        "sex": rng.choice(["F", "M"], n),
        "age": rng.uniform(50, 90, n),
        "score": rng.standard_normal(n),
        "site": np.resize(["a", "b"], n),
    }
    return variables_of(pd.DataFrame(table | more))


def _design(table, formula, test, **how):
    return study_design(table, formula, test=test, persons=[f"s{i}" for i in range(len(table))], **how)


def test_groups_are_tested_all_at_once_and_then_every_two(rng):
    design = _design(_table(rng), "~ group + age + sex", "group")
    assert [one.name for one in design.contrasts] == ["group", "AD - NC", "MCI - NC", "MCI - AD"]
    assert [len(one.weights) for one in design.contrasts] == [2, 1, 1, 1]
    assert design.sizes == {"NC": 20, "MCI": 20, "AD": 20}
    assert design.degrees == 60 - 5
    assert design.covariates == ("age", "sex")


def test_estimates_are_those_of_least_squares(rng):
    table = _table(rng)
    y = rng.standard_normal(60) + (table["group"] == "AD") * 2 + 0.1 * table["age"]
    design = _design(table, "~ group + age", "group")
    slow = np.column_stack([np.ones(60), table["group"] == "AD", table["group"] == "MCI", table["age"]]).astype(float)
    ad, mci = np.linalg.lstsq(slow, y, rcond=None)[0][1:3]
    for contrast, expected in zip(design.contrasts[1:], (ad, mci, mci - ad), strict=True):
        model = design.model(contrast)
        assert y @ model.tested[0] / model.length == pytest.approx(expected)


def test_beside_an_interaction_a_group_is_compared_at_the_mean_age_and_over_both_sexes(rng):
    table = _table(rng)
    table = table[table["group"] != "MCI"].reset_index(drop=True)
    y = (table["group"] == "AD") * (2.0 + 0.3 * table["age"] + 4 * (table["sex"] == "F"))
    design = _design(table, "~ group * age + group * sex", "group")
    model = design.model(design.contrasts[0])
    assert y @ model.tested[0] / model.length == pytest.approx(2 + 0.3 * table["age"].mean() + 2)
    slopes = _design(table, "~ group * age + group * sex", "age:group")
    (contrast,) = slopes.contrasts
    assert contrast.name == "group:age (AD - NC)"
    assert y @ slopes.model(contrast).tested[0] / slopes.model(contrast).length == pytest.approx(0.3)


def test_terms_are_found_however_they_are_written(rng):
    assert _design(_table(rng), "~ score * sex", "sex:score").tested == "score:sex"
    assert _design(_table(rng), "~ poly(age, 2)", "poly(age,2)").tested == "poly(age, 2)"
    with pytest.raises(InputError, match="no term 'iq'"):
        _design(_table(rng), "~ age", "iq")


def test_who_lacks_what_the_formula_names_is_left_out_and_it_is_said(rng):
    table = _table(rng)
    table.loc[3, "age"], table.loc[5, "group"] = np.nan, None
    design = _design(table, "~ group + log(age)", "group")
    assert "s3" not in design.names
    assert len(design.names) == 58
    assert "2 rows left out because group or log(age) is not known, such as 's3'." in design.notes


def test_recordings_of_a_person_are_averaged(rng):
    table = variables_of(pd.DataFrame({"group": ["NC"] * 4 + ["AD"] * 3, "age": [1, 3, 5, 5, 7, 7, 7]}))
    design = study_design(table, "~ group", test="group", persons=list("aabcdef"))
    assert design.names == tuple("abcdef")
    np.testing.assert_array_equal(design.observations(np.arange(7.0)[:, None])[:, 0], [0.5, 2, 3, 4, 5, 6])
    assert any("averaged" in note for note in design.notes)
    with pytest.raises(InputError, match="shape"):
        design.observations(np.zeros((6, 1)))


def test_recordings_that_are_compared_stay_within_people():
    table = variables_of(pd.DataFrame({"eyes": ["closed", "open"] * 5 + ["open"], "group": ["NC"] * 6 + ["AD"] * 5}))
    persons = [name for name in "abcde" for _ in range(2)] + ["f"]
    design = study_design(table, "~ eyes", test="eyes", persons=persons, recordings="compared")
    assert design.degrees == 10 - 5 - 1
    assert "1 person with one recording left out: nothing to compare." in design.notes
    assert "There are only 32 ways to rearrange these people, so p cannot be smaller than about 0.031." in design.notes
    orders, _ = design.exchange.draw(50, np.random.default_rng(0))
    assert (orders // 2 == np.arange(10) // 2).all()
    assert (orders != np.arange(10)).any()
    between = study_design(table, "~ group", test="group", persons=persons, recordings="compared")
    with pytest.raises(InputError, match="same in all recordings"):
        between.check()


def test_people_are_permuted_within_sites(rng):
    design = _design(_table(rng), "~ group", "group", within="site")
    orders, _ = design.exchange.draw(20, rng)
    assert (orders % 2 == np.arange(60) % 2).all()


def test_a_mean_is_tested_by_turning_signs(rng):
    design = _design(_table(rng), "~ age", "1")
    assert design.exchange.flips
    assert design.degrees == 58
    orders, signs = design.exchange.draw(7, rng)
    assert orders is None
    assert set(np.unique(signs)) == {-1.0, 1.0}


def test_what_cannot_be_told_apart_is_refused_and_named(rng):
    group = np.repeat(["NC", "AD"], 15)
    table = variables_of(
        pd.DataFrame({"group": group, "site": np.where(group == "NC", "x", "y"), "age": np.arange(30)})
    )
    design = _design(table, "~ group + age + site", "group")
    assert design.inflation == np.inf
    with pytest.raises(InputError, match="group cannot be told apart from site"):
        design.check()
    assert "2 sites with subjects of one group only (x, y)" in " ".join(design.notes)
    with pytest.raises(InputError, match="residual degree"):
        _design(table.iloc[10:20], "~ group + age", "group").check()


def test_confounding_in_part_is_said_with_its_inflation(rng):
    group = np.repeat(["NC", "AD"], 50)
    age = 60 + 10 * (group == "AD") + 5 * rng.standard_normal(100)
    design = _design(variables_of(pd.DataFrame({"group": group, "age": age})), "~ group + age", "group")
    r = np.corrcoef(group == "AD", age)[0, 1]
    assert design.explained == pytest.approx(r**2)
    assert design.inflation == pytest.approx(1 / (1 - r**2))
    assert f"which inflates the variance of its effect {1 / (1 - r**2):.1f} times" in " ".join(design.notes)


def test_covariates_that_say_the_same_are_adjusted_for_once_and_it_is_said(rng):
    table = _table(rng)
    table["years"] = table["age"] * 2
    design = _design(table, "~ group + age + years", "group")
    design.check()
    assert design.degrees == _design(table, "~ group + age", "group").degrees
    assert "1 column of the covariates says what others do already" in " ".join(design.notes)


def test_leverage_is_that_of_the_hat_matrix_and_outliers_are_named(rng):
    table = _table(rng)
    table.loc[7, "score"] = 40.0
    design = _design(table, "~ score + age", "score")
    x = np.column_stack([np.ones(60), table["score"], table["age"]])
    np.testing.assert_allclose(design.leverage, np.diag(x @ np.linalg.pinv(x)))
    assert "most on 's7'" in " ".join(design.notes)


def test_what_is_the_same_in_all_is_not_adjusted_for_and_cannot_be_tested(rng):
    table = _table(rng, site=["a"] * 60)
    design = _design(table, "~ group + site", "group")
    assert "Not adjusted for site, the same in all." in design.notes
    assert design.covariates == ()
    with pytest.raises(InputError, match="same in all"):
        _design(table, "~ group + site", "site")


def test_too_many_columns_are_refused_before_they_are_made():
    table = pd.DataFrame({"a": [str(i % 90) for i in range(100)], "b": [str(i % 80) for i in range(100)]})
    with pytest.raises(InputError, match="column"):
        study_design(table, "~ a * b", test="a", persons=[str(i) for i in range(100)])
