"""The figure of a finding in all ways: every way once above, a dot per choice below, in the order of the estimates."""

import numpy as np
import pytest
from drawn_figures import drawn_by_both

from biobgt.base.errors import InputError
from biobgt.data.graph import ConnectomeSettings
from biobgt.figures.drawing import Band, Points
from biobgt.figures.specifications import specification_curve, subject_specification_curve
from biobgt.results.measured import Measured
from tests.planted_cohort import planted_cohort

GROUPS = {"first": "NC", "second": "ASD", "permutations": 99, "covariates": ("none",)}


@pytest.fixture(scope="module")
def measured() -> Measured:
    cohort = planted_cohort(8)
    return Measured(cohort, subject=cohort.ids[0], settings=ConnectomeSettings(threshold="proportional", level=0.2))


@pytest.fixture(scope="module")
def drawn(measured):
    return specification_curve(measured, specification_curve.takes(finding="segregation", **GROUPS))


def points(panel, *, without=()):
    return [mark for mark in panel.marks if isinstance(mark, Points) and mark.name not in without]


def test_every_way_is_drawn_once_in_order_and_with_its_interval(drawn) -> None:
    above = points(drawn.panels[0], without=("settings given",))
    numbers = drawn.numbers()
    x, y = (np.concatenate([getattr(mark, axis) for mark in above]) for axis in ("x", "y"))
    assert sorted(x) == list(range(len(numbers))) == list(range(24))
    np.testing.assert_array_equal(y[np.argsort(x)], numbers["estimate"])
    assert (np.diff(numbers["estimate"]) >= 0).all()
    low = np.concatenate([mark.low for mark in above])[np.argsort(x)]
    np.testing.assert_array_equal(low, numbers["low"])
    (own,) = points(drawn.panels[0], without=("holds", "same sign, not clear", "other sign"))
    assert own.x == np.flatnonzero(numbers["reference"])
    band = next(mark for mark in drawn.panels[0].marks if isinstance(mark, Band))
    assert len(band.low) == 24


def test_a_dot_says_every_choice_of_every_way(drawn) -> None:
    below, names = points(drawn.panels[1]), drawn.panels[1].y.names
    dots = {(int(x), names[int(y)].split(": ")[-1]) for mark in below for x, y in zip(mark.x, mark.y, strict=True)}
    columns = ["estimator", "global-signal", "recording", "overall"]
    expected = {(place, row[key]) for place, row in drawn.numbers().iterrows() for key in columns}
    assert dots == expected
    assert sum(bool(text) for text in drawn.panels[1].y.beside) == len(columns)


def test_colours_are_verdicts_and_hover_reads_the_way(drawn) -> None:
    numbers = drawn.numbers()
    for mark in points(drawn.panels[0], without=("settings given",)):
        holds = numbers.loc[mark.x, "holds"]
        assert holds.all() if mark.name == "holds" else not holds.any()
        for place, text in zip(mark.x, mark.texts, strict=True):
            assert numbers.loc[place, "recording"] in text
            assert f"{numbers.loc[place, 'estimate']:.2f}" in text


def test_both_pens_draw_it(drawn) -> None:
    drawn_by_both(drawn)


def test_it_says_what_holding_means_and_cites(drawn) -> None:
    assert "p below 0.05" in drawn.caption
    assert "rearrangements of people" in drawn.caption
    methods = " ".join(drawn.methods)
    assert "@simonsohn2020" in methods
    assert "The finding was: System segregation is" in methods
    assert "Every way was adjusted for no covariate" in methods
    assert "the strongest 20.0 % of pairs" in methods


@pytest.mark.parametrize(
    ("figure", "finding"), [(specification_curve, "hub"), (subject_specification_curve, "segregation")]
)
def test_a_finding_of_people_is_in_no_figure_of_a_subject(measured, figure, finding) -> None:
    with pytest.raises(InputError, match="specification_curve"):
        figure(measured, figure.takes(finding=finding))


def test_a_verdict_has_no_interval(measured) -> None:
    options = subject_specification_curve.takes(finding="hub", region="R6", most=12)
    drawn = subject_specification_curve(measured, options)
    assert {mark.name for mark in points(drawn.panels[0])} <= {"holds", "other verdict", "settings given"}
    assert all(mark.low is None for mark in points(drawn.panels[0]))
    drawn_by_both(drawn)
