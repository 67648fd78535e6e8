"""Features with covariates of their own: against ordinary least squares in a loop, and uniform p under the null."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biobgt.base.errors import InputError
from biobgt.inference.design import study_design
from biobgt.inference.effects import effects_of
from biobgt.inference.permutation import group_effect

FORMULAS = {
    "group": "~ group + age",  # two groups, each with its own variance
    "three": "~ three + age",  # an F and all pairs
    "age": "~ group + age",  # a score, each person with a variance of their own
}


def _table(rng, n=48):
    table = pd.DataFrame({"group": ["NC", "AD"] * (n // 2), "three": ["a", "b", "c"] * (n // 3)})
    return table.assign(age=rng.normal(60, 5, n))


def _persons(n):
    return [f"s{i}" for i in range(n)]


def _explicit(design, contrast, values, beside, permutations, seed):
    """Freedman and Lane by explicit least squares in a loop: F of nested models where variances are equal, else HC2."""
    full = np.column_stack([design.columns, beside])
    weights = np.hstack([contrast.weights, np.zeros((len(contrast.weights), beside.shape[1]))])
    # The reduced model: all combinations of columns in which what is tested is zero.
    _, _, rows = np.linalg.svd(weights)
    reduced = full @ rows[len(weights) :].T

    def statistic(y):
        solve = np.linalg.pinv(full)
        left = y - full @ (solve @ y)
        hat = np.einsum("ij,ji->i", full, solve)
        if design.kinds is None:
            degrees = len(y) - np.linalg.matrix_rank(full)
            variances = np.full(len(y), left @ left / degrees)
        else:
            kinds = [design.kinds == kind for kind in np.unique(design.kinds)]
            variances = np.empty(len(y))
            for own in kinds:
                variances[own] = (left[own] ** 2).sum() / (1 - hat[own]).sum()
        estimate, lines = weights @ solve @ y, weights @ solve
        covariance = (lines * variances) @ lines.T
        if len(weights) == 1:
            return float(estimate[0] / np.sqrt(covariance[0, 0]))
        return float(estimate @ np.linalg.solve(covariance, estimate) / len(weights))

    fitted = reduced @ (np.linalg.pinv(reduced) @ values)
    residuals, rng = values - fitted, np.random.default_rng(seed)
    orders, signs = design.exchange.draw(permutations, rng)
    drawn = np.empty(permutations)
    for number in range(permutations):
        turned = residuals if orders is None else residuals[orders[number]]
        turned = turned if signs is None else turned * signs[number]
        drawn[number] = statistic(fitted + turned)
    observed = statistic(values)
    return observed, (1 + (np.abs(drawn) >= abs(observed) * (1 - 1e-9)).sum()) / (1 + permutations)


@pytest.mark.parametrize("unequal_variances", [True, False])
@pytest.mark.parametrize("tested", list(FORMULAS))
def test_each_feature_is_tested_as_by_explicit_least_squares(rng, tested, unequal_variances):
    table = _table(rng)
    n = len(table)
    design = study_design(
        table, FORMULAS[tested], test=tested, persons=_persons(n), unequal_variances=unequal_variances
    )
    beside = rng.standard_normal((n, 3, 2)) + (table["group"] == "AD").to_numpy()[:, None, None]
    values = rng.standard_normal((n, 3)) + beside.sum(axis=2) + 0.3 * table["age"].to_numpy()[:, None]
    found = effects_of(design, values, beside=beside, permutations=60, seed=4).table
    for contrast in design.contrasts:
        own = found[found["contrast"] == contrast.name].reset_index(drop=True)
        for feature in range(3):
            statistic, p = _explicit(design, contrast, values[:, feature], beside[:, feature], 60, seed=4)
            assert own["statistic"][feature] == pytest.approx(statistic, rel=1e-8)
            assert own["p"][feature] == pytest.approx(p)


def test_estimates_are_those_of_the_model_with_the_covariate(rng):
    table = _table(rng)
    design = study_design(table, "~ group + age", test="group", persons=_persons(len(table)))
    beside, values = rng.standard_normal((2, len(table), 4))
    found = effects_of(design, values, beside=beside[..., None], permutations=9).table
    for feature in range(4):
        wider = study_design(
            table.assign(own=beside[:, feature]), "~ group + age + own", test="group", persons=_persons(len(table))
        )
        alone = effects_of(wider, values[:, [feature]], permutations=9).table
        for name in ("estimate", "effect", "effect_low", "effect_high", "statistic"):
            assert found[name][feature] == pytest.approx(alone[name][0]), name


def test_p_is_uniform_under_the_null_and_the_simpler_quantity_alone_is_not_found(rng):
    # Both the feature and its simpler quantity differ between groups, the feature by nothing else.
    patients = np.repeat([False, True], [30, 30])
    simpler = rng.standard_normal((60, 400)) + 1.5 * patients[:, None]
    values = simpler + 0.5 * rng.standard_normal((60, 400))
    alone = group_effect(values, patients, np.ones((60, 1)), permutations=199, seed=0)
    assert (alone.p <= 0.05).mean() > 0.95
    given = group_effect(values, patients, np.ones((60, 1)), beside=simpler, permutations=199, seed=0)
    low, high = stats.binom.interval(0.999, 400, 0.05)
    assert low <= (given.p <= 0.05).sum() <= high
    assert stats.kstest(given.p, "uniform").pvalue > 0.001


def test_what_cannot_be_told_from_its_covariate_is_not_tested(rng):
    patients = np.repeat([0.0, 1.0], 15)
    values = rng.standard_normal((30, 4))
    beside = rng.standard_normal((30, 4, 2))
    beside[:, 0, 1] = 3 * patients - 1  # says who is a patient
    beside[:, 1, 0] = 2 * values[:, 1]  # says all that the feature does
    beside[4, 2, 0] = np.nan
    beside[:, 3, 1] = 2 * beside[:, 3, 0]  # says what the other does: the model is that of one
    found = group_effect(values, patients == 1, np.ones((30, 1)), beside=beside, permutations=99, seed=1)
    assert found["p"].isna().tolist() == [True, True, True, False]
    one = group_effect(values[:, 3:], patients == 1, np.ones((30, 1)), beside=beside[:, 3:, 0], permutations=99, seed=1)
    assert found["t"][3] == pytest.approx(one["t"][0])


def test_covariates_of_another_shape_are_refused(rng):
    table = _table(rng)
    design = study_design(table, "~ group", test="group", persons=_persons(len(table)))
    with pytest.raises(InputError, match="features"):
        effects_of(design, np.zeros((48, 3)), beside=np.zeros((48, 2, 1)))
