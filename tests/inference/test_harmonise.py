"""ComBat: the published packages' numbers, planted sites and effects, people who count once, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biobgt.base.errors import InputError
from biobgt.inference.harmonise import combat_of_saved, fit_combat, site_shares
from biobgt.inference.sites import FEWEST_OF_SITE


@pytest.fixture(scope="module")
def oracle():
    """Made by ``combat_oracle.py``."""
    with np.load(Path(__file__).parent / "combat_oracle.npz") as stored:
        return dict(stored)


def _people(oracle):
    return oracle["values"], oracle["sites"], pd.DataFrame({"age": oracle["age"], "sex": oracle["sex"]})


def _planted(rng, n=150, n_features=60, effect=1.0):
    """Three sites that shift and scale every feature, and a group that is not balanced over them."""
    sites = np.repeat(["a", "b", "c"], n // 3)
    patient = rng.random(n) < np.repeat([0.3, 0.5, 0.7], n // 3)
    values = rng.standard_normal((n, n_features)) + effect * patient[:, None]
    spread, shift = rng.uniform(0.5, 2, (3, n_features)), rng.standard_normal((3, n_features)) * 2
    site = np.repeat(range(3), n // 3)
    return values * spread[site] + shift[site], sites, pd.DataFrame({"group": np.where(patient, "AD", "NC")})


def test_numbers_are_those_of_neurocombat(oracle):
    people = _people(oracle)
    found = fit_combat(*people).harmonised(*people)
    np.testing.assert_allclose(found, oracle["exact"], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found, oracle["published"], atol=2e-3)
    np.testing.assert_allclose(fit_combat(*people, shrink=False).harmonised(*people), oracle["unshrunk"], atol=1e-6)


def test_others_get_what_neuroharmonize_gives_them(oracle):
    values, sites, covariates = _people(oracle)
    fitted = oracle["fitted"]
    combat = fit_combat(values[fitted], sites[fitted], covariates[fitted])
    found = combat.harmonised(values[~fitted], sites[~fitted], covariates[~fitted])
    np.testing.assert_allclose(found, oracle["applied"], atol=2e-3)


def test_what_was_saved_harmonises_as_before(oracle, tmp_path):
    values, sites, covariates = _people(oracle)
    combat = fit_combat(values, sites, covariates)
    np.savez(tmp_path / "combat.npz", **combat.saved())
    with np.load(tmp_path / "combat.npz", allow_pickle=False) as stored:
        again = combat_of_saved(stored)
    assert (again.coding, again.notes, again.sites) == (combat.coding, combat.notes, combat.sites)
    expected = combat.harmonised(values, sites, covariates)
    np.testing.assert_array_equal(again.harmonised(values[:3], sites[:3], covariates[:3]), expected[:3])


def test_sites_have_equal_means_and_variances_afterwards_and_effects_stay(rng):
    values, sites, group = _planted(rng)
    combat = fit_combat(values, sites, group, shrink=False)
    found, patient = combat.harmonised(values, sites, group), (group["group"] == "AD").to_numpy(float)
    assert combat.coding == (("group", ("AD", "NC")),)
    residuals = found - combat.mean - (1 - patient)[:, None] * combat.slopes
    means = np.array([residuals[sites == site].mean(axis=0) for site in "abc"])
    np.testing.assert_allclose(means, 0, atol=1e-10)
    spreads = np.array([residuals[sites == site].var(axis=0, ddof=1) for site in "abc"])
    np.testing.assert_allclose(spreads, spreads[[0, 0, 0]], rtol=1e-8)
    before, after = (stats.ttest_ind(one[patient == 1], one[patient == 0]).statistic for one in (values, found))
    assert np.median(after) > 5 > np.median(before)
    without = fit_combat(values, sites).harmonised(values, sites)
    assert np.median(stats.ttest_ind(without[patient == 1], without[patient == 0]).statistic) < np.median(after)


@pytest.mark.parametrize("robust", [False, True])
def test_shares_of_sites_vanish_and_are_there_before(rng, robust):
    values, sites, group = _planted(rng)
    found = fit_combat(values, sites, group, robust=robust).harmonised(values, sites, group)
    before, after = site_shares(values, sites, group), site_shares(found, sites, group)
    assert np.median(before[0]) > 0.4
    assert np.median(before[1]) > 0.05
    assert abs(np.median(after[0])) < 0.02
    assert abs(np.median(after[1])) < 0.02


def test_shares_are_those_of_an_analysis_of_variance_and_near_zero_by_chance(rng):
    values, sites = rng.standard_normal((90, 400)), np.repeat(["a", "b", "c"], 30)
    f = stats.f_oneway(*(values[sites == site] for site in "abc")).statistic
    means, spreads = site_shares(values, sites)
    np.testing.assert_allclose(means, 1 - 89 / (87 + 2 * f))
    assert abs(means.mean()) < 0.005
    assert abs(spreads.mean()) < 0.005


def test_sites_that_do_not_differ_are_left_nearly_as_they_are(rng):
    values, sites = rng.standard_normal((3000, 40)), np.repeat(["a", "b", "c"], 1000)
    combat = fit_combat(values, sites)
    unshrunk = fit_combat(values, sites, shrink=False)
    moved, further = (one.harmonised(values, sites) - values for one in (combat, unshrunk))
    assert moved.std() < 0.7 * further.std() < 0.03
    same = np.tile(rng.standard_normal((500, 40)), (2, 1))
    np.testing.assert_allclose(
        fit_combat(same, np.repeat(["a", "b"], 500)).harmonised(same, ["a"] * 1000), same, atol=0.01
    )


def test_single_people_far_off_do_not_decide_the_robust_fit(rng):
    values, sites, group = _planted(rng, n=300)
    plain = fit_combat(values, sites, group)
    spoiled = values.copy()
    spoiled[[3, 120, 250]] += 200
    gauss, robust = (fit_combat(spoiled, sites, group, robust=one) for one in (False, True))
    own = np.setdiff1d(np.arange(300), [3, 120, 250])
    expected = plain.harmonised(values[own], sites[own], group.iloc[own])
    errors = [
        np.median(np.abs(one.harmonised(values[own], sites[own], group.iloc[own]) - expected))
        for one in (gauss, robust)
    ]
    assert errors[1] < 0.15 < errors[0]
    assert robust.notes[0].startswith("ComBat, robust,")


def test_robust_scales_are_those_of_the_least_squares_where_errors_are_normal(rng):
    values, sites = rng.standard_normal((400, 200)) * np.repeat([1.0, 2.0], 200)[:, None], np.repeat(["a", "b"], 200)
    robust, gauss = (fit_combat(values, sites, robust=one, shrink=False) for one in (True, False))
    np.testing.assert_allclose(robust.sd, gauss.sd, rtol=0.12)
    assert robust.sd.mean() == pytest.approx(gauss.sd.mean(), rel=0.02)
    assert np.log(robust.scales[1] / robust.scales[0]).mean() == pytest.approx(np.log(2), abs=0.02)


@pytest.mark.parametrize("robust", [False, True])
def test_each_person_counts_once_however_often_recorded(rng, robust):
    values, sites, group = _planted(rng)
    again = np.concatenate([np.arange(150), [0, 0, 0, 70]])
    persons = [f"p{i}" for i in again]
    once = fit_combat(values, sites, group, robust=robust)
    often = fit_combat(
        values[again], sites[again], group.iloc[again].reset_index(drop=True), persons=persons, robust=robust
    )
    np.testing.assert_array_equal(often.people, once.people)
    for name in ("mean", "slopes", "sd", "shifts", "scales"):
        np.testing.assert_allclose(getattr(often, name), getattr(once, name), rtol=1e-5, atol=1e-6)
    assert "4 further recordings of the same people at a site: each person counts once." in often.notes
    assert not any("further" in note for note in once.notes)


def test_features_that_some_lack_are_fitted_on_those_who_have_them(rng):
    values, sites, group = _planted(rng)
    values[4, 1], values[:46, 2], values[:, 3] = np.nan, np.nan, 7.0
    combat = fit_combat(values, sites, group)
    found = combat.harmonised(values, sites, group)
    assert np.isnan(found[:, 1]).tolist() == [i == 4 for i in range(150)]
    assert np.isnan(found[:, 2]).all()
    np.testing.assert_array_equal(found[:, 3], 7)
    assert any(note.startswith("1 feature not harmonised") for note in combat.notes)
    own = np.arange(150) != 4
    alone = fit_combat(values[own], sites[own], group[own], shrink=False).harmonised(
        values[own], sites[own], group[own]
    )
    plain = fit_combat(values, sites, group, shrink=False).harmonised(values, sites, group)
    np.testing.assert_allclose(plain[own, 1], alone[:, 1])
    with pytest.raises(InputError, match="No feature"):
        fit_combat(values[:, [2]], sites, group)


def test_one_number_per_person_is_not_drawn_towards_others_and_it_is_said(rng):
    values, sites, group = _planted(rng)
    one = fit_combat(values[:, :1], sites, group)
    assert not one.shrunk
    assert "1 feature is too few for empirical Bayes: each site has the plain mean and variance." in one.notes
    every = fit_combat(values, sites, group, shrink=False).harmonised(values, sites, group)
    np.testing.assert_allclose(one.harmonised(values[:, :1], sites, group), every[:, :1])


def test_many_features_are_fitted_in_pieces_without_a_difference(rng, monkeypatch):
    people = _planted(rng)
    people[0][3, 7] = np.nan
    whole = fit_combat(*people).harmonised(*people)
    monkeypatch.setattr("biobgt.inference.sites._AT_ONCE", 1500)
    np.testing.assert_allclose(fit_combat(*people).harmonised(*people), whole, rtol=1e-10)


def test_site_and_what_is_preserved_must_not_be_one(rng):
    values, sites, group = _planted(rng)
    with pytest.raises(InputError, match="group cannot be told apart from site"):
        fit_combat(values, sites, pd.DataFrame({"group": np.where(sites == "a", "NC", "AD")}))
    group["years"] = rng.uniform(6, 20, 150)
    group["months"] = 12 * group["years"]
    with pytest.raises(InputError, match="says what the others do"):
        fit_combat(values, sites, group)
    group["months"] = np.where(sites == "a", 0, 100) + rng.standard_normal(150)
    notes = fit_combat(values, sites, group).notes
    assert any(note.startswith("Sites explain 100 % of months") for note in notes)


def test_who_cannot_be_harmonised_is_named(rng):
    values, sites, group = _planted(rng)
    group["sex"] = np.where(sites == "c", "M", rng.choice(["F", "M"], 150))
    few = np.concatenate([np.arange(104), [104, 105]])
    with pytest.raises(InputError, match=f"needs {FEWEST_OF_SITE} people.*'?c has 4"):
        fit_combat(values[:104], sites[:104], group[:104])
    assert any("b 4" not in note for note in fit_combat(values[few], sites[few], group.iloc[few]).notes)
    with pytest.raises(InputError, match="one site"):
        fit_combat(values[:50], sites[:50])
    with pytest.raises(InputError, match="site of 1 row is not known"):
        fit_combat(values, [None, *sites[1:]])
    with pytest.raises(InputError, match="shape"):
        fit_combat(values[0], sites)
    combat = fit_combat(values[:100], sites[:100], group[:100])
    with pytest.raises(InputError, match=r"50 rows of sites.*\(c\)"):
        combat.harmonised(values, sites, group)
    with pytest.raises(InputError, match="no sex"):
        combat.harmonised(values[:9], sites[:9], group[["group"]][:9])
    with pytest.raises(InputError, match="nobody whose sex is X"):
        combat.harmonised(values[:9], sites[:9], group[:9].assign(sex="X"))
    with pytest.raises(InputError, match="sex is not known in 9 rows"):
        combat.harmonised(values[:9], sites[:9], group[:9].assign(sex=None))
    with pytest.raises(InputError, match="fitted on 60 features"):
        combat.harmonised(values[:, :9], sites, group)


def test_what_is_the_same_in_those_it_is_fitted_on_is_not_modelled_and_it_is_said(rng):
    values, sites, group = _planted(rng)
    controls = (group["group"] == "NC").to_numpy()
    combat = fit_combat(values[controls], sites[controls], group[controls])
    assert combat.coding == ()
    assert "group: the same in all whom ComBat was fitted on, so not modelled." in combat.notes
    found = combat.harmonised(values, sites, group)
    patient = ~controls
    assert np.median(found[patient].mean(axis=0) - found[controls].mean(axis=0)) == pytest.approx(1, abs=0.35)
