"""Figures of centiles: the curves of the reference, the subject among them, and what is said where there is none."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_figures import STYLE, drawn_by_both

from biobgt import Cohort, ConnectomeSettings, InputError, Subject, load_atlas
from biobgt.figures.centiles import centiles, centiles_brain
from biobgt.figures.drawing import Band, Points, Rule
from biobgt.figures.paper_style import PaperStyle
from biobgt.groups.centiles import BRAIN_NUMBERS, BrainCentileOptions, HubCentileOptions
from biobgt.groups.standing import centile_words, reference_of, standing_of
from biobgt.results.measured import Measured

DEGREE = HubCentileOptions(measure="degree", place="Default")


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(0)
    series = rng.standard_normal((120, 200)) + 0.8 * rng.standard_normal((120, 8))[:, np.arange(200) % 8]
    series -= series.mean(axis=1, keepdims=True)
    one = Subject("one", series=series, phenotypes={"age": 14.5, "sex": "F"})
    return Measured(Cohort("own", (one,), load_atlas("cc200"))).of("one")


def known_as(measured, **phenotypes):
    one = replace(measured.subject, phenotypes=phenotypes)
    return Measured(replace(measured.cohort, subjects=(one,)), measured.store).of("one")


def test_both_pens_draw_the_curves_and_the_subject_in_its_own_panel(measured):
    drawing, found = centiles(measured, DEGREE), standing_of(measured, DEGREE)
    drawn_by_both(drawing)
    female, male = drawing.panels
    (dot,) = (mark for mark in female.marks if isinstance(mark, Points))
    assert (dot.x, dot.y) == ([14.5], [found.value])
    assert not any(isinstance(mark, Points | Rule) for mark in male.marks)
    assert sum(isinstance(mark, Band) for mark in male.marks) == 3
    assert (female.title, male.title, female.y.title) == ("Female", "Male", "degree")


def test_the_numbers_are_the_subject_and_every_curve(measured):
    rows, reference = centiles(measured, DEGREE).numbers(), reference_of(measured, DEGREE)
    found = standing_of(measured, DEGREE)
    own = rows[rows["subject"] == "one"].iloc[0]
    expected = [found.value, found.centile, found.low, found.high]
    np.testing.assert_allclose(own[["value", "centile", "centile_low", "centile_high"]].astype(float), expected)
    curves = rows[rows["subject"] == ""]
    assert len(curves) == 2 * 5 * 61
    low, _high = reference.ages["male"]
    youngest = curves[(curves["sex"] == "male") & (curves["age"] == low) & (curves["centile"] == 95)]
    np.testing.assert_allclose(
        youngest[["value", "value_low", "value_high"]].to_numpy()[0],
        reference.curves[DEGREE.curve].curve(95, [low], "male")[0],
    )


def test_words_name_the_centile_its_interval_and_the_people(measured):
    drawing, found = centiles(measured, DEGREE), standing_of(measured, DEGREE)
    centile, low, high = map(centile_words, (found.centile, found.low, found.high))
    said = f"centile {centile} (95 % interval {low} to {high}) of degree"
    assert f"Subject one: female, 14.5 years, is at {said}" in drawing.caption
    assert f"centile {centile} [{low}, {high}] among the controls of ABIDE" in drawing.line
    methods = " ".join(drawing.methods)
    assert all(f"@{key}" in methods for key in ("jones2009", "hurvich1989", "dimartino2014", "craddock2013"))
    assert "Non-commercial" in methods
    young = centiles(known_as(measured, age=2, sex="F"), DEGREE)
    assert young.line.startswith("There is no centile: 'one' is 2.0 years old")


def test_without_age_or_sex_a_line_stands_in_for_the_dot(measured):
    drawing = centiles(known_as(measured, age=14.5), DEGREE)
    drawn_by_both(drawing)
    assert [sum(isinstance(mark, Rule) for mark in panel.marks) for panel in drawing.panels] == [1, 1]
    assert "the sex of 'one' is not known" in drawing.caption


@pytest.mark.parametrize("number", BRAIN_NUMBERS)
def test_every_number_of_the_brain_is_drawn(measured, number):
    drawing = centiles_brain(measured, BrainCentileOptions(brain_number=number))
    drawn_by_both(drawing, replace(STYLE, width_mm=85))
    assert BRAIN_NUMBERS[number] in drawing.title
    assert drawing.methods


def test_a_group_of_ones_own_is_drawn_at_any_settings(rng):
    atlas = load_atlas("aal90")
    subjects = [
        Subject(
            f"c{i}",
            series=rng.standard_normal((40, 90)),
            group="NC",
            phenotypes={"age": 8 + i / 10, "sex": "FM"[i % 2]},
        )
        for i in range(56)
    ]
    measured = Measured(Cohort("own", tuple(subjects), atlas), settings=ConnectomeSettings(level=0.2)).of("c3")
    with pytest.raises(InputError, match="AAL-90"):
        centiles(measured, replace(DEGREE, place="whole brain"))
    drawing = centiles(measured, replace(DEGREE, place="whole brain", reference="NC"))
    drawn_by_both(drawing, PaperStyle(width_mm=174, dpi=72))
    assert "among group NC of own (56 people)" in drawing.caption
