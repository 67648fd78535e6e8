"""Figures of two groups' differences: the numbers of the test, on the screen as on paper, and what they say."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_figures import STYLE, drawn_by_both

from biobgt import Cohort, InputError, Subject, load_atlas
from biobgt.data.connectivity import subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.figures.drawing import Points
from biobgt.figures.groups import group_difference_brain, group_differences, with_known_covariates
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.register import all_figures
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.groups.compare import ComparisonOptions, compare_groups
from biobgt.groups.features import compare_measured
from biobgt.results.measured import Measured

OPTIONS = ComparisonOptions(first="NC", second="AD", of="hubs", measure="fc_strength", permutations=200)


@pytest.fixture(scope="module")
def measured():
    cohort = demo_cohort("ad", n_per_group=7)
    known = [replace(one, phenotypes={"age": 60 + 7 * i % 11}) for i, one in enumerate(cohort)]
    return Measured(replace(cohort, subjects=tuple(known))).of(None)


@pytest.fixture(scope="module")
def shown(measured):
    return group_differences(measured, OPTIONS)


def test_points_are_the_effect_sizes_of_the_test(measured, shown):
    words, found = compare_measured(measured, OPTIONS)
    assert words == "FC strength of each region"
    table = found.table.set_index("feature")
    screen, printed = drawn_by_both(shown)
    names = list(screen.layout.yaxis.categoryarray)
    assert len(names) == 25
    assert table.loc[names, "p"].max() <= table.drop(names)["p"].min(), "the clearest are drawn"
    drawn = {name: (d, low, high) for trace in screen.data for name, d, low, high in rows_of(trace)}
    for name, (d, low, high) in drawn.items():
        np.testing.assert_allclose([d, d - low, d + high], table.loc[name, ["d", "d_low", "d_high"]].astype(float))
    rates = [f"q {table.loc[name, 'q']:.2g}" for name in names]
    assert [note.text for note in screen.layout.annotations] == rates
    axes = printed.axes[0]
    assert [text.get_text() for text in axes.texts] == rates
    assert [label.get_text() for label in axes.get_yticklabels()][:3] == names[:3]
    for mark in (mark for mark in shown.marks if isinstance(mark, Points)):
        assert set(mark.ids) <= set(range(90)), "a click picks the region"


def rows_of(trace):
    return zip(trace.y, trace.x, trace.error_x.arrayminus, trace.error_x.array, strict=True)


def test_captions_and_methods_say_who_was_compared_and_adjusted_for_what(shown):
    assert "FC strength of each region, AD against NC (simulated people: 7 NC, 7 AD), adjusted for age, with 11 " in (
        shown.caption
    )
    assert "not ruled out: motion, sex and site" in shown.caption
    assert "200 permutations, seed 0" in shown.methods[-2]
    assert "tested again with the size of the region's module [@power2013]" in shown.methods[-1]
    assert all(f"@{key}" in " ".join(shown.methods) for key in ("freedman1983", "benjamini1995", "rubinov2010"))
    rows = shown.numbers()
    assert len(rows) == 90
    assert rows[["n_NC", "n_AD", "covariates", "residual_degrees"]].drop_duplicates().to_numpy().tolist() == [
        [7, 7, "age", 11]
    ]


@pytest.mark.parametrize(("of", "n_features"), [("fc-blocks", 15), ("segregation", 7)])
def test_networks_and_segregation_are_drawn_too(measured, of, n_features):
    options = replace(OPTIONS, of=of, covariates=("none",), runs=1)
    shown = group_differences(measured, options)
    assert len(shown.numbers()) == n_features
    assert "adjusted for no covariate" in shown.caption
    assert "with nilearn [@abraham2014" in " ".join(shown.methods)
    assert draw_on_paper(shown, STYLE).axes


def test_what_has_no_regions_or_features_is_refused(measured):
    with pytest.raises(InputError, match="The option 'of' cannot be 'segregation'"):
        group_difference_brain.takes(first="NC", second="AD", of="segregation")
    with pytest.raises(InputError, match="take the figure 'group_module_flow'"):
        group_differences(measured, replace(OPTIONS, of="modules"))
    with pytest.raises(InputError, match="cannot be compared with itself"):
        group_differences(measured, replace(OPTIONS, second="NC"))


def test_they_are_in_the_register():
    assert {"group_differences", "group_difference_brain"} <= set(all_figures())
    read = ComparisonOptions.read_text("covariates=age,sex", of="It")
    assert read == ("covariates", ("age", "sex"))


def test_a_figure_made_again_refuses_other_covariates(measured, shown):
    """What an export holds is the pinned options: with them, the same people of another age are no match."""
    pinned = with_known_covariates(measured.cohort, OPTIONS)
    assert group_differences(measured, pinned).numbers().equals(shown.numbers())
    older = [replace(one, phenotypes={"age": 1 + one.phenotypes["age"]}) for one in measured.cohort]
    others = Measured(replace(measured.cohort, subjects=tuple(older))).of(None)
    with pytest.raises(InputError, match="covariates"):
        group_differences(others, pinned)
    assert with_known_covariates(measured.cohort, replace(OPTIONS, covariates=("none",))).covariates_sha256 == ""
    brain = group_difference_brain.takes(first="NC", second="AD", permutations=200)
    with pytest.raises(InputError, match="covariates"):
        group_difference_brain(others, with_known_covariates(measured.cohort, brain))


def test_what_is_not_known_of_anybody_is_said_once():
    measured = Measured(demo_cohort("ad", n_per_group=7)).of(None)
    caption = group_differences(measured, OPTIONS).caption
    assert caption.count("site") == 1
    assert "so not ruled out: motion, age, sex and site." in caption


# In the brain: planted regions are found, and missing ones not tested.

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
def planted():
    rng = np.random.default_rng(3)
    subjects = [subject(i, "NC" if i < 9 else "ASD", rng) for i in range(18)]
    return Measured(Cohort("c", tuple(subjects), ATLAS)).of(None)


@pytest.fixture(scope="module")
def painted(planted):
    return group_difference_brain(planted, group_difference_brain.takes(**QUICK, brain="inflated"))


def test_numbers_are_those_of_the_groups_test(planted, painted):
    """FC strength by hand, and the test behind ``biobgt compare``."""
    matrices = [subject_connectivity(one) for one in planted.cohort]
    strengths = [(matrix.sum(axis=0) - np.diag(matrix)) / 99 for matrix in matrices]
    groups = [one.group for one in planted.cohort]
    ages = planted.cohort.table()[["age"]]
    expected = compare_groups(strengths, groups, subjects=planted.cohort.ids, covariates=ages, permutations=999).table
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


def test_only_regions_that_differ_are_coloured_on_request(planted):
    drawing = group_difference_brain(planted, group_difference_brain.takes(**QUICK, only_different=True, effect="t"))
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
    options = group_difference_brain.takes(**QUICK, covariates=("none",))
    shown = group_difference_brain(Measured(cohort).of(None), options)
    assert np.flatnonzero(shown.numbers()["t"].isna()).tolist() == [7]
    assert "1 feature not tested" in shown.caption
