"""Tests of effects: nilearn's permuted_ols, textbook tests, every rearrangement enumerated, levels that are held."""

import math
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from nilearn.mass_univariate import permuted_ols
from scipy import stats

from biobgt.base.errors import InputError
from biobgt.inference.design import study_design
from biobgt.inference.effects import effects_of, smallest_effect
from biobgt.inference.formula import variables_of
from biobgt.inference.linear_model import LinearModel, linear_model
from biobgt.inference.permutation import Exchange, drawn_statistics, unit_residuals
from biobgt.inference.tails import FARTHEST, anderson_darling, tail_p


def _design(table, formula, test, **how):
    return study_design(table, formula, test=test, persons=[f"s{i}" for i in range(len(table))], **how)


def _people(rng, n=80):
    return variables_of(
        pd.DataFrame({"score": rng.standard_normal(n), "age": rng.uniform(6, 20, n), "sex": rng.choice(["F", "M"], n)})
    )


@pytest.mark.parametrize("formula", ["~ score", "~ score + age + sex"])
def test_t_and_p_are_those_of_permuted_ols(rng, formula):
    table = _people(rng)
    values = rng.standard_normal((80, 6)) + np.outer(table["score"], [0, 0.1, 0.2, 0.3, 0.4, 0])
    values += table["age"].to_numpy()[:, None] * 0.2
    design = _design(table, formula, "score", unequal_variances=False)
    found = effects_of(design, values, permutations=4000, seed=1).table
    confounds = None if formula == "~ score" else np.column_stack([table["age"], table["sex"] == "M"]).astype(float)
    theirs = permuted_ols(
        table[["score"]].to_numpy(), values, confounds, n_perm=4000, random_state=0, output_type="dict", verbose=0
    )
    np.testing.assert_allclose(found["statistic"], theirs["t"][0])
    np.testing.assert_allclose(found["p_family"], 10 ** -theirs["logp_max_t"][0], atol=0.035)
    np.testing.assert_allclose(found["p"], 2 * stats.t.sf(found["statistic"].abs(), design.degrees), atol=0.03)


def test_one_sample_is_that_of_permuted_ols_and_every_flip(rng):
    values = rng.standard_normal((9, 3)) + np.array([0, 0.5, 0.9])
    table = pd.DataFrame({"age": np.arange(9.0)})
    found = effects_of(_design(table, "~ 1", "1"), values, permutations=20_000).table
    np.testing.assert_allclose(found["statistic"], stats.ttest_1samp(values, 0).statistic)
    signs = np.array(list(product([-1.0, 1.0], repeat=9)))
    drawn = np.abs(stats.ttest_1samp(signs[:, :, None] * values, 0, axis=1).statistic)
    observed = np.abs(found["statistic"].to_numpy())
    np.testing.assert_allclose(found["p"], (drawn >= observed - 1e-9).mean(axis=0), atol=0.012)
    np.testing.assert_allclose(
        found["p_family"], (drawn.max(axis=1)[:, None] >= observed - 1e-9).mean(axis=0), atol=0.012
    )
    np.testing.assert_allclose(found["effect"], values.mean(axis=0) / values.std(axis=0, ddof=1))


def test_f_of_groups_is_that_of_the_analysis_of_variance(rng):
    group = np.repeat(["NC", "MCI", "AD"], [20, 15, 12])
    values = rng.standard_normal((47, 4)) + (group == "AD")[:, None] * [0, 0.3, 0.6, 1.5]
    table = variables_of(pd.DataFrame({"group": group}))
    found = effects_of(_design(table, "~ group", "group", unequal_variances=False), values, permutations=3000)
    whole = found.rows("group")
    expected = stats.f_oneway(*(values[group == name] for name in ("NC", "MCI", "AD")))
    np.testing.assert_allclose(whole["statistic"], expected.statistic)
    np.testing.assert_allclose(whole["p"], expected.pvalue, atol=0.03)
    eta = expected.statistic * 2 / (expected.statistic * 2 + 44)
    np.testing.assert_allclose(whole["effect"], eta)
    assert ((whole["effect_low"] <= eta) & (eta <= whole["effect_high"])).all()
    pairs = found.table[found.table["statistic_kind"] == "t"]
    assert (pairs["p_family"] >= pairs["p"]).all()
    np.testing.assert_allclose(pairs["q"], stats.false_discovery_control(pairs["p"]))
    own = values[group == "AD"].mean(axis=0) - values[group == "NC"].mean(axis=0)
    np.testing.assert_allclose(found.rows("AD - NC")["estimate"], own)


def _slow_statistic(y, columns, contrast, kinds):
    """A Wald statistic over its degrees, each kind of rows with its own variance."""
    solve = np.linalg.pinv(columns)
    residual, leverage = y - columns @ (solve @ y), np.diag(columns @ solve)
    variances = np.array(
        [(residual[kinds == k] ** 2).sum() / (1 - leverage[kinds == k]).sum() for k in range(kinds.max() + 1)]
    )
    rows = contrast @ solve
    estimate, covariance = rows @ y, (rows * variances[kinds]) @ rows.T
    if len(contrast) == 1:
        return float(estimate[0] / np.sqrt(covariance[0, 0]))
    return float(estimate @ np.linalg.solve(covariance, estimate) / len(contrast))


@pytest.mark.parametrize("kind", ["one", "groups", "each"])
@pytest.mark.parametrize("n_tested", [1, 2])
@pytest.mark.parametrize("how", ["orders", "signs"])
def test_statistics_are_those_of_a_fit_to_every_rearrangement(rng, kind, n_tested, how):
    n = 24
    columns = np.column_stack([np.ones(n), rng.standard_normal((n, 4))])
    contrast = np.eye(5)[[1, 2][:n_tested]] + 0.5 * np.eye(5)[[3] * n_tested]
    kinds = {"one": None, "groups": np.resize([0, 1, 1], n), "each": np.arange(n)}[kind]
    mean = np.zeros(n, np.int64) if how == "orders" else None
    model = linear_model(columns, contrast, absorbed=mean, kinds=kinds)
    values = rng.standard_normal((n, 3)) + columns[:, [4]]
    _, residuals, norms = unit_residuals(model, values)
    orders, signs = Exchange(n, flips=how == "signs").draw(5, rng)
    found = model.statistics(residuals, orders, signs)
    kinds = np.zeros(n, int) if kinds is None else kinds
    for feature, row in enumerate(residuals * norms[:, None]):
        for drawn in range(5):
            moved = row[orders[drawn]] if signs is None else row * signs[drawn]
            assert found[feature, drawn] == pytest.approx(_slow_statistic(moved, columns, contrast, kinds))


def test_p_is_that_of_every_permutation_within_blocks_enumerated(rng):
    table = variables_of(pd.DataFrame({"score": rng.standard_normal(8), "site": list("aaaabbbb")}))
    y = rng.standard_normal(8) + table["score"].to_numpy()
    design = _design(table, "~ score", "score", within="site", unequal_variances=False)
    score = table["score"].to_numpy()
    orders = [[*first, *second] for first in permutations(range(4)) for second in permutations(range(4, 8))]
    drawn = np.array([abs(stats.pearsonr(score, y[order]).statistic) for order in orders])
    found = effects_of(design, y[:, None], permutations=20_000).table
    assert found["p"][0] == pytest.approx((drawn >= abs(stats.pearsonr(score, y).statistic) - 1e-9).mean(), abs=0.012)


def test_paired_recordings_have_the_t_of_a_paired_test(rng):
    first, persons = rng.standard_normal((20, 3)), [f"p{i}" for i in range(20)]
    second = first + 0.5 * rng.standard_normal((20, 3)) + [0, 0.1, 0.4]
    table = pd.DataFrame({"eyes": ["closed"] * 20 + ["open"] * 20})
    design = study_design(table, "~ eyes", test="eyes", persons=persons * 2, recordings="compared")
    found = effects_of(design, np.vstack([first, second]), permutations=4000).table
    expected = stats.ttest_rel(second, first)
    np.testing.assert_allclose(found["statistic"], expected.statistic)
    np.testing.assert_allclose(found["estimate"], (second - first).mean(axis=0))
    np.testing.assert_allclose(found["p"], expected.pvalue, atol=0.03)
    flipped = effects_of(_design(pd.DataFrame({"x": range(20)}), "~ 1", "1"), second - first, permutations=4000).table
    np.testing.assert_allclose(found["p"], flipped["p"], atol=0.03)


@pytest.mark.parametrize("formula", ["~ score + age", "~ group + age", "~ three"])
def test_unequal_variances_find_nothing_that_is_not_there(rng, formula):
    """People of extreme scores, or smaller groups, vary more: alone, and as the largest of a family."""
    n, n_sets, n_features = 60, 50, 20
    test = formula.split()[1]
    shares = np.zeros((2, 2))
    for seed in range(n_sets):
        table = variables_of(pd.DataFrame({"score": rng.standard_normal(n), "age": rng.uniform(6, 20, n)}))
        table["group"], table["three"] = np.resize(["NC"] * 5 + ["AD"], n), np.resize(["NC"] * 5 + ["AD", "MCI"], n)
        spread = np.abs(table["score"]) + 0.3 if test == "score" else np.where(table[test] == "NC", 1, 3)
        values = rng.standard_normal((n, n_features)) * np.asarray(spread)[:, None]
        for place, unequal in enumerate((True, False)):
            design = _design(table, formula, test, unequal_variances=unequal)
            found = effects_of(design, values, permutations=99, seed=seed).rows(design.contrasts[0].name)
            shares[place] += [(found["p"] <= 0.05).mean(), (found["p_family"] <= 0.05).any()]
    alone, family = shares[0] / n_sets
    low, high = stats.binom.interval(0.999, n_sets, 0.05)
    assert 0.03 < alone < 0.075
    assert low <= family * n_sets <= high
    assert shares[1, 1] > high  # of one variance for all


def test_many_features_are_tested_in_pieces_without_a_difference(rng, monkeypatch):
    table, values = _people(rng), rng.standard_normal((80, 50))
    design = _design(table, "~ score + age", "score")
    whole = effects_of(design, values, permutations=60).table
    monkeypatch.setattr("biobgt.inference.permutation._BLOCK", 4000)
    pd.testing.assert_frame_equal(effects_of(design, values, permutations=60).table, whole)


def test_an_interaction_is_tested_beside_its_parts(rng):
    table = _people(rng, 200)
    male = (table["sex"] == "M").to_numpy(float)
    y = (table["age"] * 0.1 + table["score"] * male).to_numpy() + 0.5 * rng.standard_normal(200)
    found = effects_of(_design(table, "~ score * sex + age", "score:sex"), y[:, None], permutations=500).table
    x = np.column_stack([np.ones(200), table["score"], male, table["age"], table["score"] * male])
    assert found["estimate"][0] == pytest.approx(np.linalg.lstsq(x, y, rcond=None)[0][-1])
    assert found["p"][0] == pytest.approx(1 / 501)
    kinds = (table["sex"] == "M").to_numpy(int)
    assert found["statistic"][0] == pytest.approx(_slow_statistic(y, x, np.eye(5)[[4]], kinds))


def test_partial_r_and_its_interval(rng):
    table = _people(rng)
    y = 0.5 * table["score"] + 0.1 * table["age"] + rng.standard_normal(80)
    found = effects_of(_design(table, "~ score + age", "score"), y.to_numpy()[:, None], permutations=9).table
    left = [one - np.polyval(np.polyfit(table["age"], one, 1), table["age"]) for one in (table["score"], y)]
    r = np.corrcoef(left)[0, 1]
    assert found["effect"][0] == pytest.approx(r)
    half = stats.norm.ppf(0.975) / math.sqrt(80 - 1 - 3)
    assert found["effect_low"][0] == pytest.approx(np.tanh(np.arctanh(r) - half), abs=1e-6)
    assert found["effect_kind"][0] == "partial r"


def test_the_interval_of_partial_eta_squared_holds_the_true_share(rng):
    group, true = np.repeat([0, 1, 2], 30), 0.1
    means = np.array([-1.0, 0, 1]) * math.sqrt(true / (1 - true) * 3 / 2)
    table = pd.DataFrame({"group": [f"g{i}" for i in group]})
    values = rng.standard_normal((90, 1500)) + means[group][:, None]
    found = effects_of(_design(table, "~ group", "group"), values, permutations=1).rows("group")
    held = ((found["effect_low"] <= true) & (true <= found["effect_high"])).mean()
    assert 0.93 < held < 0.97


@pytest.mark.parametrize(("formula", "test"), [("~ group", "group"), ("~ score + age", "score"), ("~ three", "three")])
def test_the_smallest_effect_is_seen_with_a_power_of_80_percent(rng, formula, test):
    table = _people(rng, 60)
    table["group"], table["three"] = np.resize(["a", "a", "b"], 60), np.resize(list("xyz"), 60)
    design = _design(table, formula, test, unequal_variances=False)
    contrast = design.contrasts[0]
    smallest, model = smallest_effect(design, contrast), design.model(contrast)
    if test == "group":
        planted = smallest * (table["group"] == "b").to_numpy(float)
    else:
        share = smallest if test == "three" else smallest**2
        planted = model.tested[0] * math.sqrt(share / (1 - share) * 60)
    values = rng.standard_normal((60, 2000)) + planted[:, None]
    _, residuals, _ = unit_residuals(model, values)
    statistic = model.statistics(residuals)[:, 0]
    f = statistic**2 if len(contrast.weights) == 1 else statistic
    assert (stats.f.sf(f, len(contrast.weights), design.degrees) < 0.05).mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("true", [1e-2, 1e-3, 1e-4])
def test_tails_of_few_permutations_are_near_the_truth_and_rather_too_large(rng, true):
    drawn = np.abs(np.asarray(stats.t.rvs(98, size=(400, 1000), random_state=rng)))
    fitted, p = tail_p(np.full(400, stats.t.isf(true / 2, 98)), drawn)
    assert fitted.mean() > 0.9
    decades = np.log10(p[fitted] / true)
    assert -0.1 < np.median(decades) < 1
    assert np.quantile(decades, 0.05) > -0.35
    assert p.min() >= 1 / (20 * 1001)


def test_tails_are_an_option_and_small_p_become_smaller(rng):
    table = _people(rng, 100)
    values = rng.standard_normal((100, 12)) + np.outer(table["score"], np.linspace(0, 0.6, 12))
    design = _design(table, "~ score", "score")
    counted, fitted = (effects_of(design, values, permutations=600, tail=tail) for tail in (False, True))
    assert counted.table["p"].min() == 1 / 601
    assert 0 < fitted.table["p"].min() < 1 / 601
    large = counted.table["p"] > 0.05
    np.testing.assert_array_equal(counted.table["p"][large], fitted.table["p"][large])
    few = effects_of(design, values, permutations=100, tail=True)
    assert any("count of the permutations" in note for note in few.notes)


def test_the_limit_of_the_distance_holds_5_percent(rng):
    share = [
        (anderson_darling(np.asarray(stats.genpareto.rvs(shape, size=(4000, 250), random_state=rng))) > FARTHEST).mean()
        for shape in (-0.3, -0.2, -0.1, 0.0, 0.1)
    ]
    assert 0.03 < np.mean(share) < 0.08


def test_a_tail_of_another_form_is_not_fitted(rng):
    drawn = np.concatenate([rng.uniform(0, 1, 900), rng.choice([2.0, 3.0, 5.0], 100)])[None]
    fitted, p = tail_p(np.array([4.0]), drawn)
    assert not fitted[0]
    assert p[0] == (1 + (drawn >= 4).sum()) / 1001
    assert not tail_p(np.array([9.0]), np.tile([0.0, 1.0], (1, 500)))[0][0]


def test_features_that_cannot_be_tested_are_counted(rng):
    table, values = _people(rng), rng.standard_normal((80, 4))
    values[3, 1], values[:, 2] = np.nan, 7.0
    found = effects_of(_design(table, "~ score", "score"), values, features=list("abcd"), permutations=19)
    assert found.table["p"].isna().tolist() == [False, True, True, False]
    assert "2 features not tested: missing for somebody, or the same in all." in found.notes
    with pytest.raises(InputError, match="names"):
        effects_of(_design(table, "~ score", "score"), values, features=["a"])
    with pytest.raises(InputError, match="permutations"):
        effects_of(_design(table, "~ score", "score"), values, permutations=0)


def test_eyes_closed_and_open_are_compared_as_pairs(shared_data):
    with np.load(shared_data / "beijing_eoec_aal116.npz") as stored:
        series, condition, subject = stored["series"][:, :, :20], stored["condition"], stored["subject"]
    pairs = np.triu_indices(20, 1)
    values = np.array([np.arctanh(np.corrcoef(one.astype(float).T)[pairs]) for one in series])
    table = pd.DataFrame({"eyes": condition})
    persons = [str(one) for one in subject]
    design = study_design(table, "~ eyes", test="eyes", persons=persons, recordings="compared")
    assert design.sizes == {"EC": 47, "EO": 47}
    found = effects_of(design, values, permutations=99)
    closed, opened = (values[condition == name][np.argsort(subject[condition == name])] for name in ("EC", "EO"))
    np.testing.assert_allclose(found.table["statistic"], stats.ttest_rel(opened, closed).statistic, rtol=1e-6)


def test_age_explains_connectivity_of_young_people_more_than_its_interaction_with_sex(shared_data):
    table = variables_of(pd.read_csv(shared_data / "hbn_phenotypes.csv"))
    with np.load(shared_data / "hbn_schaefer200.npz") as stored:
        values = np.arctanh(np.clip(stored["fc"][:, ::50].astype(float), -0.999, 0.999))
    shares = {}
    for formula, test in (("~ age + sex + site", "age"), ("~ age * sex + site", "age:sex")):
        found = effects_of(_design(table, formula, test), values, permutations=199).table
        shares[test] = (found["p_family"] <= 0.05).mean()
    assert shares["age"] > 0.2 > 10 * shares["age:sex"]


def test_blocks_of_rearrangements_are_those_of_one_run(rng):
    model: LinearModel = linear_model(np.column_stack([np.ones(12), np.arange(12.0)]), np.array([[0.0, 1.0]]))
    tested = [(np.arange(2), model, unit_residuals(model, rng.standard_normal((12, 2)))[1])]
    how = {"permutations": 10, "seed": 3}
    one, many = (
        np.hstack(list(drawn_statistics(tested, 2, Exchange(12), **how, at_once=at_once))) for at_once in (10, 3)
    )
    np.testing.assert_allclose(one, many)


@pytest.mark.parametrize("seed", range(5))
def test_rounding_is_no_covariate(seed):
    rng = np.random.default_rng(seed)
    group = np.repeat([0.0, 1.0], [20, 27])
    age = rng.uniform(20, 60, 47)
    columns = np.column_stack([np.ones(47), group, age, age * (1 + 1e-13 * rng.standard_normal(47))])
    model = linear_model(columns, np.array([[0.0, 1, 0, 0]]), absorbed=np.zeros(47, np.int64))
    assert model.nuisance.shape == (1, 47)
    assert model.degrees == 44
    np.testing.assert_allclose(model.own_degrees, 44)
