"""Group comparisons: textbook tests, every permutation enumerated, planted effects, and motion unmasked."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biobgt.base.errors import InputError
from biobgt.base.wording import covariate_words
from biobgt.groups import compare_attention, compare_groups
from biobgt.inference import covariates_of
from biobgt.inference.covariates import complete_covariates, group_design
from biobgt.inference.likeness import CohortDifferences, difference_likeness
from biobgt.inference.permutation import group_effect
from biobgt.modules import module_blocks


def _ids(n):
    return [f"s{i}" for i in range(n)]


def _halves(n):
    return ["NC"] * (n // 2) + ["ASD"] * (n // 2)


def _compare(values, **how):
    """Two groups of the same size, each row of a person of its own, unless said otherwise."""
    how = {"groups": _halves(len(values)), "subjects": _ids(len(values)), "permutations": 10} | how
    return compare_groups(values, **how)


def _slow_t(y, group, nuisance):
    """The coefficient of the group over its standard error, each group with its own residual variance."""
    design = np.column_stack([nuisance, group])
    solve = np.linalg.pinv(design)
    residual, leverage = y - design @ (solve @ y), np.diag(design @ solve)
    variance = 0.0
    for own in (group == 0, group == 1):
        variance += (solve[-1, own] ** 2).sum() * (residual[own] ** 2).sum() / (1 - leverage[own]).sum()
    return float(solve[-1] @ y / np.sqrt(variance))


def test_without_covariates_it_is_welchs_t_test(rng):
    groups, sizes = ["NC"] * 25 + ["ASD"] * 15, (25, 15)
    values = rng.standard_normal((40, 5)) * np.repeat([1, 2], sizes)[:, None]
    values += np.linspace(0, 1, 5) * np.repeat([0, 1], sizes)[:, None]
    table = _compare(values, groups=groups, permutations=4000).table
    expected = stats.ttest_ind(values[25:], values[:25], equal_var=False)
    np.testing.assert_allclose(table["t"], expected.statistic)
    np.testing.assert_allclose(table["p"], expected.pvalue, atol=0.03)
    first, second = values[:25].var(axis=0, ddof=1), values[25:].var(axis=0, ddof=1)
    pooled = (24 * first + 14 * second) / 38
    difference = values[25:].mean(axis=0) - values[:25].mean(axis=0)
    np.testing.assert_allclose(table["difference"], difference)
    np.testing.assert_allclose(table["d"], difference / np.sqrt(pooled))
    of_sd = (24 * first**2 + 14 * second**2) / (2 * 38**2 * pooled**2)
    error = np.sqrt((first / 25 + second / 15) / pooled + table["d"] ** 2 * of_sd)
    half = stats.t.ppf(0.975, expected.df) * error
    np.testing.assert_allclose(table["d_high"] - table["d"], half)
    np.testing.assert_allclose(table["d"] - table["d_low"], half)
    np.testing.assert_allclose(table["q"], stats.false_discovery_control(table["p"]))
    np.testing.assert_allclose(table["mean_ASD"] - table["mean_NC"], difference)
    np.testing.assert_array_equal(table["p"], table["p_unadjusted"])
    assert (table["p_family"] >= table["p"]).all()


def test_groups_as_large_as_each_other_have_the_t_of_a_pooled_variance(rng):
    values = rng.standard_normal((40, 5)) * np.repeat([1, 2], 20)[:, None]
    found = _compare(values, permutations=10).table
    np.testing.assert_allclose(found["t"], stats.ttest_ind(values[20:], values[:20]).statistic)


@pytest.mark.parametrize("ratio", [3, 1 / 3])
def test_unequal_variances_of_unequal_groups_find_nothing_that_is_not_there(rng, ratio):
    # The t of a pooled variance, permuted, finds 38 % of such features at 5 % with a ratio of 3.
    patients = np.repeat([False, True], [432, 30])
    values = rng.standard_normal((462, 500)) * np.where(patients, ratio, 1)[:, None]
    found = group_effect(values, patients, np.ones((462, 1)), permutations=199, seed=0)
    assert 0.02 < (found.p <= 0.05).mean() < 0.09
    assert 0.92 < ((found.d_low < 0) & (found.d_high > 0)).mean() < 0.98


def test_a_feature_may_have_a_covariate_of_its_own(rng):
    patients = np.repeat([False, True], [22, 18])
    nuisance = np.column_stack([np.ones(40), rng.standard_normal(40)])
    values, beside = rng.standard_normal((40, 3)), rng.standard_normal((40, 3))
    values += 2 * beside + patients[:, None]
    values[0, 1] = np.nan
    found = group_effect(values, patients, nuisance, beside=beside, permutations=99, seed=3)
    for feature in (0, 2):
        whole = np.column_stack([nuisance, beside[:, feature]])
        alone = group_effect(values[:, [feature]], patients, whole, permutations=99, seed=3)
        assert found.t[feature] == pytest.approx(_slow_t(values[:, feature], patients.astype(float), whole))
        for name in ("difference", "d", "d_low", "d_high", "t", "p"):
            assert getattr(found, name)[feature] == pytest.approx(getattr(alone, name)[0])
    assert np.isnan(found.t[1])
    assert np.isnan(found.q[1])
    assert (found.p_family >= found.p)[[0, 2]].all()


def test_a_group_without_a_variance_of_its_own_shares_that_of_all(rng):
    patients = np.repeat([False, True], [18, 2])
    nuisance = np.column_stack([np.ones(20), np.arange(20) == 19]).astype(float)  # leaves one of two patients
    values = rng.standard_normal((20, 2))
    found = group_effect(values, patients, nuisance, permutations=9, seed=0)
    np.testing.assert_allclose(found.t, stats.ttest_ind(values[18:19], values[:18]).statistic)


def test_with_covariates_t_is_that_of_least_squares(rng):
    group = np.repeat([0.0, 1.0], 20)
    age, site = rng.standard_normal(40) + group, rng.choice(list("xyz"), 40)
    values = rng.standard_normal((40, 3)) + age[:, None] + 2 * (site == "y")[:, None]
    covariates = pd.DataFrame({"age": 10 + 5 * age, "site": site})
    table = _compare(values, covariates=covariates, permutations=10).table
    nuisance = np.column_stack([np.ones(40), age, site == "y", site == "z"]).astype(float)
    np.testing.assert_allclose(table["t"], [_slow_t(y, group, nuisance) for y in values.T])
    np.testing.assert_allclose(table["t_unadjusted"], stats.ttest_ind(values[20:], values[:20]).statistic)
    assert not np.allclose(table["t"], table["t_unadjusted"])


@pytest.mark.parametrize("adjusted", [False, True])
def test_p_is_that_of_every_permutation_enumerated(rng, adjusted):
    group = np.repeat([0.0, 1.0], 3)
    values = rng.standard_normal((6, 2)) + group[:, None] * [1.5, 0.2]
    age = rng.standard_normal(6)
    nuisance = np.column_stack([np.ones(6), age]) if adjusted else np.ones((6, 1))
    fitted = nuisance @ np.linalg.lstsq(nuisance, values, rcond=None)[0]

    def slow(data):
        return np.abs([_slow_t(y, group, nuisance) for y in data.T])

    observed = slow(values)
    drawn = np.array([slow(fitted + (values - fitted)[list(order)]) for order in permutations(range(6))])
    # So few subjects that all orders can be counted are too few for compare_groups to adjust anything.
    found = group_effect(values, group == 1, nuisance, permutations=20_000, seed=0)
    np.testing.assert_allclose(found.p, (drawn >= observed - 1e-9).mean(axis=0), atol=0.012)
    np.testing.assert_allclose(found.p_family, (drawn.max(axis=1)[:, None] >= observed - 1e-9).mean(axis=0), atol=0.012)


def test_p_is_uniform_where_there_is_nothing(rng):
    group = np.repeat([0.0, 1.0], 40)
    motion = np.exp(rng.standard_normal(80)) + group
    values = rng.standard_normal((80, 400)) + rng.standard_normal(400) * motion[:, None]
    covariates = pd.DataFrame({"mean_fd": motion, "sex": rng.choice(["M", "F"], 80)})
    table = _compare(values, covariates=covariates, permutations=999).table
    assert stats.kstest(table["p"], "uniform").pvalue > 0.001
    assert 0.02 < (table["p"] < 0.05).mean() < 0.09
    assert (table["p_unadjusted"] < 0.05).mean() > 0.3  # motion alone, where it is not accounted for
    assert table["p"].min() >= 1 / 1000


def test_a_planted_effect_is_found_and_its_size_within_the_interval(rng):
    group = np.repeat([0.0, 1.0], 60)
    age = rng.uniform(8, 40, 120)
    values = rng.standard_normal((120, 30)) + 0.1 * age[:, None]
    values[:, 7] += 1.0 * group
    values[:, 9] -= 1.0 * group
    covariates = pd.DataFrame({"age": age})
    table = _compare(values, covariates=covariates, permutations=999).table
    assert set(np.flatnonzero(table["p_family"] < 0.05)) == {7, 9}
    assert table["q"].nsmallest(2).max() < 0.05
    for row, size in ((7, 1.0), (9, -1.0)):
        assert table["d_low"][row] < size < table["d_high"][row]
    assert abs(table["t"][7]) > abs(table["t_unadjusted"][7])  # age explains noise
    inside = ((table["d_low"] < 0) & (table["d_high"] > 0)).drop([7, 9])
    assert inside.mean() > 0.8


def test_intervals_hold_the_true_size_as_often_as_they_say(rng):
    group = np.repeat([0.0, 1.0], 60)
    age = rng.standard_normal(120) + group
    values = rng.standard_normal((120, 1000)) + age[:, None] + 0.6 * group[:, None]
    covariates = pd.DataFrame({"age": age})
    table = _compare(values, covariates=covariates, permutations=1).table
    assert 0.92 < ((table["d_low"] < 0.6) & (table["d_high"] > 0.6)).mean() < 0.98
    assert table["d"].mean() == pytest.approx(0.6, abs=0.03)
    assert table["d_unadjusted"].mean() > 0.8


def test_an_effect_of_motion_disappears_with_motion_as_a_covariate(rng):
    group = np.repeat([0.0, 1.0], 60)
    motion = 0.1 + 0.1 * group + 0.05 * rng.standard_normal(120)
    values = (10 * motion + rng.standard_normal(120) * 0.3)[:, None]
    covariates = pd.DataFrame({"mean_fd": motion})
    result = _compare(values, covariates=covariates, permutations=1999)
    row = result.table.iloc[0]
    assert row["p_unadjusted"] < 0.001
    assert row["d_unadjusted"] > 1
    assert row["p"] > 0.05
    assert row["d_low"] < 0 < row["d_high"]
    assert result.covariates == ("mean_fd",)


def test_repeated_rows_are_averaged_and_add_no_evidence(rng):
    values, noise = rng.standard_normal((2, 40, 3))
    once = _compare(values, permutations=200)
    rows = np.vstack([values + noise, values - noise, values[:1] * np.nan])  # what one scan lacks the others give
    how = {"groups": [*_halves(40) * 2, "NC"], "subjects": [*_ids(40) * 2, "s0"]}
    twice = _compare(rows, **how, permutations=200)
    pd.testing.assert_frame_equal(once.table, twice.table)
    assert (once.n_repeated, twice.n_repeated) == (0, 41)
    assert twice.n_subjects == {"NC": 20, "ASD": 20}
    assert any("41 further rows" in note for note in twice.notes)


def test_missing_covariates_leave_subjects_out_of_both_tests(rng):
    values = rng.standard_normal((42, 2))
    age = pd.Series(rng.uniform(8, 40, 42))
    age[[3, 30]] = [np.nan, -9999]
    covariates = pd.DataFrame({"age": age.astype(object), "site": 1})
    result = _compare(values, groups=[*_halves(40), "MCI", None], covariates=covariates)
    assert (result.n_dropped, result.n_subjects) == (2, {"NC": 19, "ASD": 19})
    kept = np.delete(values[:40], (3, 30), axis=0)
    np.testing.assert_allclose(result.table["t_unadjusted"], stats.ttest_ind(kept[19:], kept[:19]).statistic)
    assert result.covariates == ("age",)
    for words in ("2 subjects left out because age", "site, the same in all"):
        assert any(words in note for note in result.notes)


def test_features_that_cannot_be_tested_stay_nan_and_out_of_q(rng):
    values = rng.standard_normal((40, 4))
    values[:, 1] = 5.0
    values[7, 2] = np.nan
    result = _compare(values, permutations=200)
    assert result.table["t"].isna().tolist() == [False, True, True, False]
    alone = _compare(values[:, [0, 3]], permutations=200).table
    np.testing.assert_allclose(result.table["q"].dropna(), alone["q"])
    assert any("2 features not tested" in note for note in result.notes)


def test_results_depend_on_the_seed_and_swapping_the_groups_turns_the_sign(rng):
    values = rng.standard_normal((40, 3))
    one, again, other = (_compare(values, permutations=99, seed=seed).table for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, again)
    assert not one["p"].equals(other["p"])
    swapped = _compare(values, permutations=99, seed=1, between=("ASD", "NC")).table
    np.testing.assert_allclose(swapped["d"], -one["d"])
    np.testing.assert_allclose(swapped["p"], one["p"])


@pytest.mark.parametrize("symmetric", [True, False])
def test_attention_between_two_modules_is_found(rng, symmetric):
    labels = ["default"] * 3 + ["visual"] * 3 + ["limbic", None]
    group = np.repeat([0.0, 1.0], 20)
    matrices = 1 + 0.1 * rng.random((40, 8, 8))
    matrices[:, :3, 3:6] += 0.1 * group[:, None, None]
    if symmetric:
        matrices = matrices + matrices.swapaxes(1, 2)
    how = {"subjects": _ids(40), "overall_connectivity": None, "permutations": 199}
    result = compare_attention(matrices, labels, _halves(40), **how)
    table = result.blocks.table
    strongest = table.loc[table["t"].abs().idxmax()]
    assert strongest[["module", "other_module"]].tolist() == ["default", "visual"]
    assert strongest["p_family"] == pytest.approx(1 / 200)
    to_limbic = matrices[:, :3, 6].mean(axis=1)
    assert table["t"][1] == pytest.approx(stats.ttest_ind(to_limbic[20:], to_limbic[:20]).statistic)
    assert len(table) == (5 if symmetric else 8)  # one region has no pair within the limbic module
    assert table["feature"][1] == ("default – limbic" if symmetric else "default → limbic")
    assert result.contrast.table["d"][0] < 0  # more attention between modules, so less contrast
    assert result.contrast.table["p"][0] < 0.05


def test_attention_that_is_connectivity_shows_nothing_given_connectivity(rng):
    labels = ["default"] * 4 + ["visual"] * 4
    group = np.repeat([0.0, 1.0], 40)
    noise = 0.05 * rng.standard_normal((80, 8, 8))
    connectivity = np.clip(0.3 + noise + noise.swapaxes(1, 2), -0.9, 0.9)
    connectivity[:, :4, :4] += 0.1 * group[:, None, None]
    attention = np.exp(3 * connectivity) + 0.05 * rng.standard_normal((80, 8, 8))
    attention[:, :4, 4:] += 0.1 * group[:, None, None]  # what connectivity does not have
    how = {"subjects": _ids(80), "overall_connectivity": None, "permutations": 499}
    groups = _halves(80)
    table = compare_attention(attention, labels, groups, connectivity=connectivity, **how).blocks.table
    by = table.set_index("feature")
    assert (by.loc["default → default", ["q", "q_of_fc"]] < 0.05).all()
    assert by.loc["default → default", "q_given_fc"] > 0.05
    assert (by.loc["default → visual", ["q", "q_given_fc"]] < 0.05).all()
    assert by.loc["default → visual", "q_of_fc"] > 0.05
    # The same by hand, one block with its own column of FC.
    block = module_blocks(np.arctanh(connectivity), labels).values[:, 0, 0]
    own = module_blocks(attention, labels).values[:, 0, 0]
    expected = _slow_t(own, group, np.column_stack([np.ones(80), block]))
    assert by.loc["default → default", "t_given_fc"] == pytest.approx(expected)
    plain = compare_attention(attention, labels, groups, **how).blocks.table
    pd.testing.assert_frame_equal(plain, table[plain.columns])


def test_covariates_are_picked_by_their_usual_names():
    ages = {"AGE_AT_SCAN": ["9.5", "n/a"], "Gender": [1, 2], "site": [None, ""], "func_mean_fd": [0.1, 0.2]}
    picked = covariates_of(pd.DataFrame({"subject": ["a", "b"], **ages}))
    assert list(picked.table.columns) == ["log_mean_fd", "age", "sex"]
    assert picked.absent == ("site",)
    assert picked.table["age"].isna().tolist() == [False, True]
    assert picked.table["sex"].tolist() == ["1", "2"]  # a code, not a quantity


def test_motion_enters_the_design_as_the_logarithm_of_mean_fd():
    table = pd.DataFrame({"subject": list("abcd"), "func_mean_fd": [0.05, "0.1", 0.2, 0.8]})
    picked = complete_covariates(table).table
    assert list(picked.columns) == ["log_mean_fd"]
    column = group_design(picked, np.array([True, False] * 2)).columns[:, 1]
    logs = np.log([0.05, 0.1, 0.2, 0.8])
    np.testing.assert_allclose(column, (logs - logs.mean()) / logs.std())
    assert covariate_words("log_mean_fd") == "motion (log mean FD)"
    linear = complete_covariates(table.rename(columns={"func_mean_fd": "mean_fd"}), ["mean_fd"]).table
    np.testing.assert_allclose(linear["mean_fd"], [0.05, 0.1, 0.2, 0.8])  # who asks for it by name has it


def test_a_displacement_that_is_not_above_zero_is_missing_and_said():
    table = pd.DataFrame({"subject": list("abcd"), "mean_fd": [0.0, -0.1, 0.2, 0.8]})
    assert covariates_of(table).table["log_mean_fd"].isna().tolist() == [True, True, False, False]
    with pytest.raises(InputError, match=r"missing for 2 of 4 subjects, such as 'a'\. A mean FD that is not above 0"):
        complete_covariates(table)
    assert covariates_of(table.assign(mean_fd=0)).absent == ("log_mean_fd", "age", "sex", "site")


def test_covariates_of_the_real_cohorts(shared_data):
    abide = pd.read_csv(shared_data / "abide_phenotypes.csv")
    assert covariates_of(abide).absent == ()
    assert covariates_of(pd.read_csv(shared_data / "cni2019_phenotypes.csv")).absent == ("log_mean_fd", "site")
    result = compare_groups(
        abide[["mean_fd", "age"]],
        abide["group"],
        subjects=abide["subject"],
        covariates=covariates_of(abide).table[["sex", "site"]],
        features=["mean_fd", "age"],
        permutations=999,
    )
    t = result.table["t_unadjusted"][0]
    assert t / np.sqrt(t**2 + 897) == pytest.approx(0.19, abs=0.01)  # ASD subjects move more
    assert result.table["p"][0] == pytest.approx(0.001)


@pytest.mark.parametrize(
    ("word", "changed"),
    [
        ("'AD'", {"between": ("NC", "AD")}),
        ("both", {"subjects": ["s0"] * 6}),
        ("5 subject ids", {"subjects": _ids(5)}),
        ("told apart", {"covariates": pd.DataFrame({"site": _halves(6)})}),
        ("'age' is missing", {"covariates": pd.DataFrame({"age": [np.nan] * 6})}),
        ("two values of 'site'", {"subjects": ["s0", *_ids(5)], "covariates": pd.DataFrame({"site": [*"xyxyxy"]})}),
        ("2 people; NC has 1, ASD has 5", {"groups": ["NC", *["ASD"] * 5]}),
        ("all covariates; NC has 1, ASD", {"covariates": pd.DataFrame({"age": [60, None, None, 61, 62, 63]})}),
        ("1 names", {"features": ["x"]}),
    ],
)
def test_what_cannot_be_compared_is_refused(rng, word, changed):
    with pytest.raises(InputError, match=word):
        _compare(rng.standard_normal((6, 2)), **changed)


# How alike two group differences are: planted likeness is found, chance is not, shared controls are counted in.


N, FEATURES = 60, 25


def _cohort(rng, effects, *, names):
    """Controls and groups that differ from them by so much in each feature; features depend on each other."""
    groups = np.repeat([f"NC {names}", *effects], N)
    values = rng.standard_normal((len(groups), FEATURES)) + rng.standard_normal((len(groups), 1))
    age = rng.standard_normal(len(groups))
    values += age[:, None]
    for group, effect in effects.items():
        values[groups == group] += effect
    return CohortDifferences(values, groups, f"NC {names}", np.column_stack([np.ones(len(groups)), age]))


def test_planted_likeness_is_found_with_its_sign():
    rng = np.random.default_rng(0)
    effect = rng.standard_normal(FEATURES)
    cohorts = [_cohort(rng, {"A": effect}, names="a"), _cohort(rng, {"B": -effect}, names="b")]
    (found,) = difference_likeness(cohorts, permutations=499)
    assert (found["first"], found["second"]) == (["NC a", "A"], ["NC b", "B"])
    assert found["r"] < -0.9
    assert found["p"] == pytest.approx(1 / 500)
    assert abs(found["expected"]) < 0.1


def test_the_difference_is_that_of_a_linear_model():
    rng = np.random.default_rng(1)
    one, other = (_cohort(rng, {name: np.zeros(FEATURES)}, names=name) for name in "AB")
    slopes = []
    for cohort in (one, other):
        design = np.column_stack([cohort.nuisance, cohort.groups == cohort.patients[0]])
        slope = np.linalg.lstsq(design, cohort.values, rcond=None)[0][-1]
        left = cohort.values - cohort.nuisance @ np.linalg.lstsq(cohort.nuisance, cohort.values, rcond=None)[0]
        slopes.append(slope / left.std(axis=0))
    (found,) = difference_likeness([one, other], permutations=9)
    assert found["r"] == pytest.approx(np.corrcoef(*slopes)[0, 1])


def test_without_a_difference_p_is_even():
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        cohorts = [_cohort(rng, {name: np.zeros(FEATURES)}, names=name) for name in "AB"]
        found += [one["p"] for one in difference_likeness(cohorts, permutations=99, seed=seed)]
    assert 0.35 < np.mean(found) < 0.65
    assert np.mean(np.array(found) <= 0.1) < 0.25


def test_shared_controls_make_differences_alike_by_chance_already():
    rng = np.random.default_rng(2)
    cohort = _cohort(rng, {"MCI": np.zeros(FEATURES), "AD": np.zeros(FEATURES)}, names="s")
    (found,) = difference_likeness([cohort], permutations=999)
    assert found["expected"] == pytest.approx(0.5, abs=0.08)
    assert found["p"] > 0.01


@pytest.mark.parametrize(
    ("change", "word"), [(lambda values: values[:, :3], "the same features"), (lambda values: values * 0, "vary")]
)
def test_other_features_and_flat_ones_are_refused(change, word):
    one = _cohort(np.random.default_rng(3), {"A": np.zeros(FEATURES)}, names="a")
    with pytest.raises(InputError, match=word):
        difference_likeness([one, replace(one, values=change(one.values))], permutations=9)
