"""How alike two group differences are: planted likeness is found, chance is not, shared controls are counted in."""

import numpy as np
import pytest

from biobgt.base.errors import InputError
from biobgt.groups.compare import CohortDifferences, difference_likeness

N, FEATURES = 60, 25


def _cohort(rng: np.random.Generator, effects: dict[str, np.ndarray], *, names: str) -> CohortDifferences:
    """Controls and groups that differ from them by so much in each feature; features depend on each other."""
    groups = np.repeat([f"NC {names}", *effects], N)
    values = rng.standard_normal((len(groups), FEATURES)) + rng.standard_normal((len(groups), 1))
    age = rng.standard_normal(len(groups))
    values += age[:, None]
    for group, effect in effects.items():
        values[groups == group] += effect
    return CohortDifferences(values, groups, f"NC {names}", np.column_stack([np.ones(len(groups)), age]))


def test_planted_likeness_is_found_with_its_sign() -> None:
    rng = np.random.default_rng(0)
    effect = rng.standard_normal(FEATURES)
    cohorts = [_cohort(rng, {"A": effect}, names="a"), _cohort(rng, {"B": -effect}, names="b")]
    (found,) = difference_likeness(cohorts, permutations=499)
    assert found.first == ("NC a", "A")
    assert found.second == ("NC b", "B")
    assert found.r < -0.9
    assert found.p == pytest.approx(1 / 500)
    assert abs(found.expected) < 0.1


def test_the_difference_is_that_of_a_linear_model() -> None:
    rng = np.random.default_rng(1)
    one, other = (_cohort(rng, {name: np.zeros(FEATURES)}, names=name) for name in "AB")
    slopes = []
    for cohort in (one, other):
        design = np.column_stack([cohort.nuisance, cohort.groups == cohort.patients[0]])
        slope = np.linalg.lstsq(design, cohort.values, rcond=None)[0][-1]
        left = cohort.values - cohort.nuisance @ np.linalg.lstsq(cohort.nuisance, cohort.values, rcond=None)[0]
        slopes.append(slope / left.std(axis=0))
    (found,) = difference_likeness([one, other], permutations=9)
    assert found.r == pytest.approx(np.corrcoef(*slopes)[0, 1])


def test_without_a_difference_p_is_even() -> None:
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        cohorts = [_cohort(rng, {name: np.zeros(FEATURES)}, names=name) for name in "AB"]
        (one,) = difference_likeness(cohorts, permutations=99, seed=seed)
        found.append(one.p)
    assert 0.35 < np.mean(found) < 0.65
    assert np.mean(np.array(found) <= 0.1) < 0.25


def test_shared_controls_make_differences_alike_by_chance_already() -> None:
    rng = np.random.default_rng(2)
    cohort = _cohort(rng, {"MCI": np.zeros(FEATURES), "AD": np.zeros(FEATURES)}, names="s")
    (found,) = difference_likeness([cohort], permutations=999)
    assert found.expected == pytest.approx(0.5, abs=0.08)
    assert found.p > 0.01


def test_other_features_and_flat_ones_are_refused() -> None:
    rng = np.random.default_rng(3)
    one = _cohort(rng, {"A": np.zeros(FEATURES)}, names="a")
    narrow = CohortDifferences(one.values[:, :3], one.groups, one.controls, one.nuisance)
    with pytest.raises(InputError, match="the same features"):
        difference_likeness([one, narrow], permutations=9)
    flat = CohortDifferences(one.values * 0, one.groups, one.controls, one.nuisance)
    with pytest.raises(InputError, match="does not vary"):
        difference_likeness([one, flat], permutations=9)
