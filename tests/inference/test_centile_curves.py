"""Centile curves: those of simulated people are found again, and shares of people left out are what they should be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from biobgt.base.errors import InputError
from biobgt.inference import centiles as model
from biobgt.inference.centiles import AgeAndSex, CentileCurve, Form, fit_centiles

CENTILES = (5, 25, 50, 75, 95)


def hand_made(shape=(), location=(10.0, 0.0, 2.0), sites=0.0):
    """μ is 9 in women and 11 in men, σ is 2, at any age."""
    size = len(location) + 1 + len(shape)
    about = {"error": np.zeros((size, size)), "site_sd": sites, "n_sites": 4, "n_people": 100}
    terms = AgeAndSex((np.log(5), np.log(20)), ("female", "male"))
    return CentileCurve(terms, np.array(location), np.log([2.0]), np.array(shape), **about)


def test_a_curve_that_one_can_work_out_by_hand():
    curve = hand_made()
    z, error = curve.scores([9, 11, 13], [8, 12, 16], ["female", "female", "male"])
    np.testing.assert_allclose(z, [0, 1, 1], atol=1e-12)
    assert not error.any()
    np.testing.assert_allclose(curve.centiles([13], [16], ["male"])[0], 84.134475, atol=1e-5)
    np.testing.assert_allclose(curve.curve(50, [6, 19], "male")[:, 0], 11)
    np.testing.assert_allclose(curve.curve(95, [6], "female")[:, 0], 9 + 2 * ndtri(0.95))


def test_sites_widen_the_interval_of_a_centile():
    centile, low, high = hand_made(sites=0.5).centiles([11], [12], ["female"])[0]
    half = 3.1824 * 0.5  # of t with the three degrees of freedom that four sites have
    np.testing.assert_allclose([centile, low, high], 100 * ndtr([1, 1 - half, 1 + half]), atol=1e-2)


def test_of_a_shape_values_are_those_of_jones_and_pewsey():
    curve = hand_made(shape=(0.4, np.log(0.7)))
    y = curve.values([-1, 0.5], [10, 10], ["male", "male"])
    np.testing.assert_allclose(y, 11 + 2 * np.sinh((np.arcsinh([-1, 0.5]) + 0.4) / 0.7))
    np.testing.assert_allclose(curve.scores(y, [10, 10], ["male", "male"])[0], [-1, 0.5], atol=1e-12)


def parts_of(rng, sizes=(5, 3, 2), n=40):
    ages, sexes = rng.uniform(5, 22, n), rng.choice(["female", "male"], n).tolist()
    columns = AgeAndSex.of(ages, sexes).columns(ages, sexes)
    return model._Parts(rng.normal(0, 0.2, sum(sizes)), sizes, rng.normal(0, 1, n), columns)


def slopes(parts, what, step=1e-6):
    """The obvious way to a derivative."""
    steps = step * np.eye(len(parts.parameters))
    return [(what(parts.at(parts.parameters + s)) - what(parts.at(parts.parameters - s))) / (2 * step) for s in steps]


@pytest.mark.parametrize("sizes", [(3, 1, 0), (5, 3, 0), (3, 1, 2), (5, 3, 2)])
def test_derivatives_are_those_of_small_steps(rng, sizes):
    parts = parts_of(rng, sizes)
    np.testing.assert_allclose(parts.gradient, slopes(parts, lambda one: one.loss), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(parts.of_score().T, slopes(parts, lambda one: one.z), rtol=1e-5, atol=1e-6)


def test_the_likelihood_is_the_slope_of_the_distribution(rng):
    parts = parts_of(rng)
    up, down = (model._Parts(parts.parameters, parts.sizes, parts.y + step, parts.columns).z for step in (1e-5, -1e-5))
    density = (ndtr(up) - ndtr(down)) / 2e-5
    prior = np.square(parts.parameters[-2:]).sum() / 2
    expected = -np.log(density).sum() - len(density) * np.log(2 * np.pi) / 2 + prior
    np.testing.assert_allclose(parts.loss, expected, rtol=1e-6)


def people(rng, n, n_sites=1, site_sd=0.0):
    """People of a skewed measure that rises with age, first steeply, and is higher and more spread in boys."""
    ages, sexes = np.exp(rng.uniform(np.log(5), np.log(22), n)), rng.choice(["female", "male"], n)
    sites = rng.integers(0, n_sites, n)
    z = rng.standard_normal(n) + site_sd * rng.standard_normal(n_sites)[sites]
    return truth(z, ages, sexes == "male"), ages, sexes.tolist(), sites.astype(str).tolist()


def truth(z, ages, boys):
    t = np.log(np.asarray(ages) / 10)
    middle = 3 + 0.8 * t - 0.5 * t**2 + 0.3 * np.asarray(boys)
    return middle + np.exp(-1 + 0.3 * t + 0.2 * np.asarray(boys)) * np.sinh((np.arcsinh(z) + 0.4) / 0.8)


def test_curves_of_simulated_people_are_found_again():
    y, ages, sexes, sites = people(np.random.default_rng(1), 3000)
    found = fit_centiles(y, ages, sexes, sites, AgeAndSex.of(ages, sexes))
    assert found.form == "a spline over log age, a spread that changes with age and sex, sinh-arcsinh"
    at = np.linspace(6, 20, 8)
    for sex in ("female", "male"):
        for centile in CENTILES:
            values = truth(ndtri(centile / 100), at, sex == "male")
            centiles = found.centiles(values, at, [sex] * len(at))[:, 0]
            np.testing.assert_allclose(centiles, centile, atol=4, err_msg=f"{sex}, {centile}")


def test_intervals_hold_the_true_centile_about_as_often_as_they_say():
    held, at = [], np.array([7.0, 10.0, 14.0, 19.0])
    for seed in range(8):
        y, ages, sexes, sites = people(np.random.default_rng(seed), 300)
        found = fit_centiles(y, ages, sexes, sites, AgeAndSex.of(ages, sexes))
        for centile in CENTILES:
            values = truth(ndtri(centile / 100), at, True)
            _, low, high = found.centiles(values, at, ["male"] * len(at)).T
            held += [*((low <= centile) & (centile <= high))]
    assert 0.85 <= np.mean(held) <= 0.99


def test_of_people_left_out_as_many_are_below_a_centile_as_it_says():
    y, ages, sexes, sites = people(np.random.default_rng(2), 4000)
    half = slice(0, 2000), slice(2000, 4000)
    terms = AgeAndSex.of(ages, sexes)
    found = fit_centiles(y[half[0]], ages[half[0]], sexes[half[0]], sites[half[0]], terms)
    centiles = found.centiles(y[half[1]], ages[half[1]], sexes[half[1]])[:, 0]
    for centile in CENTILES:
        share = (centiles < centile).mean()
        assert abs(share - centile / 100) < 3.5 * np.sqrt(centile / 100 * (1 - centile / 100) / 1000), centile


def test_how_far_sites_are_apart_is_found_again_and_nothing_where_there_is_nothing():
    for sd, low, high in ((0.6, 0.4, 0.8), (0.0, 0.0, 0.12)):
        y, ages, sexes, sites = people(np.random.default_rng(3), 3000, n_sites=30, site_sd=sd)
        found = fit_centiles(y, ages, sexes, sites, AgeAndSex.of(ages, sexes))
        # z is in units of the spread of everybody, sites among it
        assert low <= found.site_sd * np.sqrt(1 + sd**2) <= high


@given(
    shape=st.tuples(st.floats(-2, 2), st.floats(-1.5, 1.5)),
    slope=st.floats(-3, 3),
    age=st.floats(5, 20),
)
def test_centiles_never_cross(shape, slope, age):
    curve = hand_made(shape, (10.0, slope, 2.0))
    values = [curve.curve(centile, [age], "male")[0, 0] for centile in range(1, 100)]
    assert (np.diff(values) > 0).all()


def test_a_curve_survives_its_file():
    y, ages, sexes, sites = people(np.random.default_rng(4), 300, n_sites=5, site_sd=0.5)
    terms = AgeAndSex.of(ages, sexes)
    found = fit_centiles(y, ages, sexes, sites, terms)
    again = CentileCurve.from_plain(terms, found.as_plain())
    ask = y[:20], ages[:20], sexes[:20]
    np.testing.assert_allclose(again.centiles(*ask), found.centiles(*ask), atol=0.05)


def test_one_sex_and_one_age_make_a_line_for_them():
    rng = np.random.default_rng(5)
    ages = np.full(80, 23.0) + rng.choice([0, 0.01], 80)
    found = fit_centiles(rng.normal(5, 1, 80), ages, ["female"] * 80, ["a"] * 80, AgeAndSex.of(ages, ["female"] * 80))
    assert len(found.location) == 2
    np.testing.assert_allclose(found.centiles([5], [23], ["female"])[0, 0], 50, atol=12)


def test_few_people_and_equal_values_are_refused():
    y, ages, sexes, sites = people(np.random.default_rng(6), 60)
    terms = AgeAndSex.of(ages, sexes)
    y[:11] = np.nan
    with pytest.raises(InputError, match="at least 50 people"):
        fit_centiles(y, ages, sexes, sites, terms)
    with pytest.raises(InputError, match="same in everybody"):
        fit_centiles(np.ones(60), ages, sexes, sites, terms)


def test_a_form_that_is_asked_for_is_the_form():
    y, ages, sexes, sites = people(np.random.default_rng(7), 200)
    plain = fit_centiles(y, ages, sexes, sites, AgeAndSex.of(ages, sexes), forms=[Form(False, False, False)])
    columns = plain.terms.columns(ages, sexes)[:, :3]
    np.testing.assert_allclose(plain.location, np.linalg.lstsq(columns, y, rcond=None)[0], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(np.exp(plain.spread[0]), (y - columns @ plain.location).std(), rtol=1e-3)
