"""Ways: all combinations that somebody would choose, the reference first; and recordings as a way takes them."""

from dataclasses import replace

import numpy as np
import pytest

from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ConnectomeSettings
from biobgt.specifications.options import FindingOptions
from biobgt.specifications.ways import (
    CHOICES,
    Situation,
    Way,
    recording_of,
    varied_choices,
    ways_of,
    without_global_signal,
)
from tests.planted_cohort import planted_cohort

EVERY = tuple(CHOICES)


def situation(**settings) -> Situation:
    return Situation(planted_cohort(3), FindingOptions(gamma=0.7), ConnectomeSettings(**settings))


def test_every_choice_reads_what_it_puts() -> None:
    one = situation()
    for choice in CHOICES.values():
        for value in choice.offered(one):
            way = choice.put(one.reference, value)
            assert choice.get(way) == value
            assert choice.shown(value)
            assert choice.where(value)


def test_the_reference_is_first_and_its_values_are_among_all() -> None:
    one = situation(level=0.37)
    choices = varied_choices(one, EVERY)
    assert choices["gamma"][0] == 0.7
    assert choices["threshold"][0] == ("absolute", 0.37)
    assert len(choices["threshold"]) == 8
    assert "motion" not in choices, "nobody's motion is known"
    assert "labelling" not in choices, "there is one labelling only"
    ways = ways_of(one, {key: choices[key] for key in ("threshold", "gamma")}, most=1000)
    assert ways.every[0] == one.reference
    assert len(set(ways.every)) == len(ways.every) == ways.n_possible == 8 * 5


def test_what_is_switched_off_stays_as_it_is() -> None:
    one = situation()
    choices = varied_choices(one, EVERY, off=("gamma", "sign"))
    assert not {"gamma", "sign"} & set(choices)
    assert {way.hubs.gamma for way in ways_of(one, choices, most=50).every} == {0.7}


def test_weights_are_no_threshold_of_partial_correlations() -> None:
    one = situation()
    choices = varied_choices(one, ("estimator", "threshold"))
    ways = ways_of(one, choices, most=100).every
    found = {(way.settings.estimator, way.settings.threshold) for way in ways}
    assert found == {("pearson", "absolute"), ("pearson", "proportional"), ("partial", "proportional")}
    assert len(ways) == 7 + 4


def test_of_too_many_some_are_drawn_and_each_goes_through_every_test() -> None:
    one = situation()
    choices = varied_choices(one, ("threshold", "gamma", "perturbation", "overall"))
    ways = ways_of(one, choices, most=20, seed=1)
    assert ways.n_possible == 7 * 5 * 2 * 2
    assert len(ways.every) == 20
    assert len(ways.measured) == 10
    assert ways.every[0] == one.reference
    assert ways.every == ways_of(one, choices, most=20, seed=1).every
    assert ways.every != ways_of(one, choices, most=20, seed=2).every
    assert sum(way.overall for way in ways.every) == 10


def test_motion_is_a_choice_where_it_is_known() -> None:
    cohort = planted_cohort(3)
    moved = tuple(replace(one, phenotypes={"mean_fd": 0.1 + 0.01 * i}) for i, one in enumerate(cohort))
    known = Situation(replace(cohort, subjects=moved), FindingOptions(motion="linear"), ConnectomeSettings())
    assert varied_choices(known, ("motion",))["motion"] == ("linear", "none", "log", "excluded")
    assert situation().reference.motion == "none"


def test_the_global_signal_is_regressed_out_of_every_region(rng: np.random.Generator) -> None:
    series = rng.standard_normal((50, 6)) + rng.standard_normal((50, 1))
    series[:, 2] = 0
    left = without_global_signal(Subject("s", series=series)).series
    known = [0, 1, 3, 4, 5]
    signal = (series[:, known] - series[:, known].mean(axis=0)).mean(axis=1)
    design = np.column_stack([np.ones(50), signal])
    expected = series[:, known] - design @ np.linalg.lstsq(design, series[:, known], rcond=None)[0]
    np.testing.assert_allclose(left[:, known], expected, atol=1e-12)
    assert not left[:, 2].any()


def test_a_way_takes_a_recording_under_a_name_of_its_own(bold) -> None:
    one = Subject("s", series=bold(200, 5))
    assert recording_of(one, "kept", "whole") is one
    half = recording_of(one, "kept", "second half")
    np.testing.assert_array_equal(half.series, one.series[100:])
    both = recording_of(one, "regressed", "first half")
    assert len({one.id, half.id, both.id}) == 3
    assert both.series.shape == (100, 5)
    assert abs(both.series.mean(axis=1)).max() < 1


def test_short_recordings_have_no_halves_and_matrices_one_estimator() -> None:
    short = Cohort("c", (Subject("s", series=np.random.default_rng(0).normal(size=(60, 8))),), numbered_atlas(8))
    matrix = np.corrcoef(np.random.default_rng(0).normal(size=(8, 30)))
    brought = Cohort("m", (Subject("s", connectivity=matrix),), numbered_atlas(8))
    for cohort, lacking in ((short, {"recording"}), (brought, {"recording", "estimator", "global-signal"})):
        one = Situation(cohort, FindingOptions(), ConnectomeSettings())
        assert not lacking & set(varied_choices(one, EVERY))


@pytest.mark.parametrize("field", ["motion", "overall"])
def test_what_only_the_test_depends_on_is_not_measured_anew(field: str) -> None:
    one = situation().reference
    other: Way = replace(one, **{field: "log" if field == "motion" else True})
    assert one != other
    assert one.measured == other.measured
