"""Tests in all ways: each is that of the comparison, the curve is tested as one, and who is left out is."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from biobgt.base.errors import InputError
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.groups.compare import compare_groups
from biobgt.inference.covariates import complete_covariates
from biobgt.specifications.options import FindingOptions
from biobgt.specifications.people import all_ways_tested, mean_in_all_ways, people_tested
from biobgt.specifications.ways import Situation, varied_choices, ways_of
from tests.planted_cohort import planted_cohort

GROUPS = {"first": "NC", "second": "ASD"}


def with_phenotypes(n_per_group: int = 20, *, seed: int = 0) -> Cohort:
    rng, cohort = np.random.default_rng(seed), planted_cohort(n_per_group)
    subjects = []
    for one in cohort:
        motion = float(np.exp(rng.normal(-2 + 0.4 * (one.group == "ASD"), 0.4)))
        known = {"mean_fd": motion, "age": float(rng.uniform(8, 30)), "score": float(rng.normal())}
        subjects.append(replace(one, phenotypes=known))
    return replace(cohort, subjects=tuple(subjects))


def asked(cohort: Cohort, **options) -> Situation:
    return Situation(cohort, FindingOptions(**{**GROUPS, **options}), ConnectomeSettings())


def outcome(situation: Situation, values, overall=None, *, permutations: int = 499, seed: int = 0, off=()):
    """All ways that differ in the test alone, of the same values."""
    choices = varied_choices(situation, ("motion", "overall"), off)
    ways = ways_of(situation, choices, most=100).every
    measured = ways[0].measured
    overall = np.ones(len(values)) if overall is None else overall
    people = people_tested(situation)
    found, joint = all_ways_tested(
        people, ways, {measured: values}, {measured: overall}, permutations=permutations, seed=seed
    )
    return ways, found, joint


def test_every_way_is_the_comparison_with_its_covariates(rng: np.random.Generator) -> None:
    cohort = with_phenotypes()
    values, overall = rng.normal(size=len(cohort)), rng.normal(size=len(cohort))
    ways, found, _ = outcome(asked(cohort), values, overall)
    assert len(ways) == 8
    for way, one in zip(ways, found, strict=True):
        names = ["age", *{"linear": ["mean_fd"], "log": ["log_mean_fd"]}.get(way.motion, [])]
        known = complete_covariates(cohort.table(), names).table
        known = known.assign(overall=overall) if way.overall else known
        kept = np.ones(len(cohort), bool)
        if way.motion == "excluded":
            kept = cohort.table()["mean_fd"].to_numpy() <= 0.2
            assert 4 < kept.sum() < len(cohort)
        alone = compare_groups(
            values[kept, None],
            [group for group, its in zip(cohort.table()["group"], kept, strict=True) if its],
            subjects=[name for name, its in zip(cohort.ids, kept, strict=True) if its],
            covariates=known[kept],
            permutations=4999,
        ).table.iloc[0]
        np.testing.assert_allclose([one.estimate, one.low, one.high], alone[["d", "d_low", "d_high"]].astype(float))
        assert one.p == pytest.approx(alone["p"], abs=0.08)


def test_a_planted_difference_is_found_and_the_curve_is_beyond_chance(rng: np.random.Generator) -> None:
    cohort = with_phenotypes()
    values = rng.normal(size=len(cohort)) + 3 * (cohort.table()["group"] == "ASD").to_numpy()
    _, found, joint = outcome(asked(cohort), values)
    assert all(one.estimate > 1 and one.p < 0.01 for one in found if np.isfinite(one.estimate))
    assert joint.median_p == 1 / 500
    assert joint.share_p < 0.05, "all of so few ways are significant at once by chance, too"
    assert joint.share == 1
    assert joint.median_low < 0 < joint.median_high < joint.median
    assert joint.share_expected == pytest.approx(0.05, abs=0.03)


def test_the_same_way_many_times_is_one_finding(rng: np.random.Generator) -> None:
    """The joint test of a curve of equal specifications is the test of any of them."""
    cohort = with_phenotypes(12)
    situation = asked(cohort, motion="none")
    values = rng.normal(size=len(cohort)) + 0.7 * (cohort.table()["group"] == "ASD").to_numpy()
    one = ways_of(situation, {}, most=2).every[0]
    ways = [replace(one, labelling=str(number)) for number in range(9)]
    known, overall = dict.fromkeys(ways, values), dict.fromkeys(ways, values)
    found, joint = all_ways_tested(people_tested(situation), ways, known, overall, permutations=999, seed=1)
    assert len({(each.estimate, each.p) for each in found}) == 1
    assert joint.median == pytest.approx(found[0].estimate)
    assert joint.median_p == pytest.approx(found[0].p, abs=0.01)  # one of a pooled variance, one of Welch's
    assert 0.001 < joint.median_p < 0.5


def test_a_score_is_a_partial_correlation(rng: np.random.Generator) -> None:
    cohort = with_phenotypes()
    score = cohort.table()["score"].to_numpy(float)
    values = score + rng.normal(size=len(score))
    situation = asked(cohort, score="score", motion="none", covariates=("none",), first="", second="")
    ways, found, joint = outcome(situation, values, off=("overall",))
    plain = next(one for way, one in zip(ways, found, strict=True) if way.motion == "none")
    assert plain.estimate == pytest.approx(stats.pearsonr(score, values)[0])
    assert plain.low < plain.estimate < plain.high
    assert plain.p < 0.01
    assert joint.median == pytest.approx(np.median([one.estimate for one in found]))


def test_recordings_of_a_person_count_once(rng: np.random.Generator) -> None:
    cohort = planted_cohort(8)
    values = rng.normal(size=len(cohort))
    twice = tuple(replace(one, id=f"sub-{one.id}_ses-{number}") for one in cohort for number in (1, 2))
    repeated = replace(cohort, subjects=twice)
    apart = np.repeat(values, 2) + np.tile([-1, 1], len(values))
    _, once, _ = outcome(asked(cohort), values)
    _, both, _ = outcome(asked(repeated), apart)
    assert [one.estimate for one in both] == pytest.approx([one.estimate for one in once])


def test_what_cannot_be_tested_says_why() -> None:
    cohort = with_phenotypes(8)
    values = np.random.default_rng(0).normal(size=16)
    moved = tuple(replace(one, phenotypes={"mean_fd": 0.5 + 0.1 * i}) for i, one in enumerate(cohort))
    ways, found, joint = outcome(asked(replace(cohort, subjects=moved)), values)
    for way, one in zip(ways, found, strict=True):
        assert np.isnan(one.estimate) == (way.motion == "excluded")
        assert ("fewer than" in one.why) == (way.motion == "excluded")
    assert joint is not None
    values[3] = np.nan
    _, found, joint = outcome(asked(cohort), values)
    assert joint is None
    assert {"It is not defined for somebody, or the same in all."} <= {one.why for one in found}
    assert all(one.why for one in found)


def test_a_score_of_words_is_refused() -> None:
    with pytest.raises(InputError, match="words"):
        people_tested(asked(planted_cohort(6), score="site", first="", second=""))


def test_the_mean_over_people_is_students() -> None:
    cohort = planted_cohort(5)
    values = np.random.default_rng(0).normal(0.5, 1, len(cohort))
    way = asked(cohort).reference
    (one,) = mean_in_all_ways(cohort.persons, [way], {way.measured: values})
    expected = stats.ttest_1samp(values, 0)
    assert (one.estimate, one.p) == pytest.approx((values.mean(), expected.pvalue))
    np.testing.assert_allclose([one.low, one.high], expected.confidence_interval())
