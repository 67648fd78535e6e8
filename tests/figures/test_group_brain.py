"""Where two groups differ, on the cortex and in the brain: planted regions are found, and missing ones not tested."""

import numpy as np
import pytest

from biobgt import Cohort, Subject, load_atlas
from biobgt.data.connectivity import subject_connectivity
from biobgt.figures.groups import DifferenceBrainOptions, group_difference_brain
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.screen import draw_on_screen
from biobgt.groups.compare import compare_groups
from biobgt.results.measured import Measured

ATLAS = load_atlas("schaefer100")
PLANTED = (4, 5, 60)  # follow the common signal in patients
QUICK = {"first": "NC", "second": "ASD", "measure": "fc_strength", "permutations": 999}


def subject(i, group, rng, name=None):
    common = rng.standard_normal((80, 1))
    series = rng.standard_normal((80, 100)) + 0.5 * common
    if group == "ASD":
        series[:, PLANTED] += 3 * common
    return Subject(name or f"sub-{i:02d}", series=series, group=group, phenotypes={"age": 20.0 + i % 7})


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(3)
    subjects = [subject(i, "NC" if i < 9 else "ASD", rng) for i in range(18)]
    return Measured(Cohort("c", tuple(subjects), ATLAS)).of(None)


@pytest.fixture(scope="module")
def painted(measured):
    return group_difference_brain(measured, DifferenceBrainOptions(**QUICK, brain="inflated"))


def test_numbers_are_those_of_the_groups_test(measured, painted):
    """FC strength by hand, and the test behind ``biobgt compare``."""
    matrices = [subject_connectivity(one) for one in measured.cohort]
    strengths = [(matrix.sum(axis=0) - np.diag(matrix)) / 99 for matrix in matrices]
    groups = [one.group for one in measured.cohort]
    ages = measured.cohort.table()[["age"]]
    expected = compare_groups(strengths, groups, subjects=measured.cohort.ids, covariates=ages, permutations=999).table
    numbers = painted.numbers()
    for column in ("d", "t", "p", "q", "d_unadjusted"):
        np.testing.assert_allclose(numbers[column], expected[column], rtol=1e-9)
    assert set(painted.marks[0].named[:3]) == set(PLANTED)


def test_the_painted_cortex_is_white_at_no_difference_and_hover_says_p(painted):
    shown, numbers = draw_on_screen(painted), painted.numbers()
    colours = shown["layout"]["coloraxis"]
    assert -colours["cmin"] == colours["cmax"] == numbers["d"].abs().max()
    row = numbers.iloc[PLANTED[0]]
    said = f"<b>{row['feature']}</b><br>effect size d: {row['d']:.4g}<br>p = {row['p']:.2g}, q = {row['q']:.2g}"
    assert any(said in trace["text"] for trace in shown["data"] if trace["name"] == "regions")
    assert "100 regions painted on the inflated fsaverage5 cortex" in painted.caption
    drawn = draw_on_paper(painted, PaperStyle(width_mm=174))
    assert "effect size d" in [axes.get_xlabel() for axes in drawn.axes]


def test_only_regions_that_differ_are_coloured_on_request(measured):
    drawing = group_difference_brain(measured, DifferenceBrainOptions(**QUICK, only_different=True, effect="t"))
    shown, numbers = draw_on_screen(drawing), drawing.numbers()
    nodes, differs = {trace["name"]: trace for trace in shown["data"]}, (numbers["q"] <= 0.05).to_numpy()
    assert len(nodes["no value"]["x"]) == (~differs).sum() > 0
    np.testing.assert_allclose(nodes["regions"]["marker"]["color"], numbers["t"][differs])
    assert shown["layout"]["coloraxis"]["cmax"] == pytest.approx(numbers["t"].abs().max())
    assert "statistic t of the difference, red where higher in ASD" in drawing.caption
    assert "regions that do not differ at that rate are grey" in drawing.caption
    assert "glass brain" in drawing.for_paper(PaperStyle()).caption


def test_what_somebody_lacks_is_not_tested(rng):
    """A region without signal has a measure of 0, which would look like a difference."""
    subjects = [subject(i, "NC" if i < 3 else "ASD", rng) for i in range(6)]
    series = subjects[1].series.copy()
    series[:, 7] = 0
    lacking = Subject("sub-01", series=series, group="NC", phenotypes=subjects[1].phenotypes)
    cohort = Cohort("c", (subjects[0], lacking, *subjects[2:]), ATLAS)
    options = DifferenceBrainOptions(**QUICK, covariates=("none",))
    shown = group_difference_brain(Measured(cohort).of(None), options)
    assert np.flatnonzero(shown.numbers()["t"].isna()).tolist() == [7]
    assert "1 feature not tested" in shown.caption
