"""One block of connectivity: its mean by hand, and two groups compared in it."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from biobgt.data.cohort import Cohort, Subject
from biobgt.data.simulate import demo_cohort
from biobgt.groups.compare import ComparisonOptions
from biobgt.groups.connections import block_mean, block_words, compare_block, connection_effects
from biobgt.results.measured import Measured

MATRIX = np.array([[1, 0.2, 0.4, -0.6], [0.2, 1, 0.6, 0.8], [0.4, 0.6, 1, np.nan], [-0.6, 0.8, np.nan, 1]])
BETWEEN = {"first": "NC", "second": "AD"}


@pytest.fixture(scope="module")
def measured():
    return Measured(demo_cohort("ad", n_per_group=8))


@pytest.mark.parametrize(
    ("rows", "columns", "mean"),
    [
        ([0], [1], 0.2),
        ([0, 1], [2, 3], (0.4 - 0.6 + 0.6 + 0.8) / 4),
        ([0, 1], [0, 1], 0.2),
        ([0, 1], [1, 2], (0.2 + 0.4 + 0.6) / 3),
        ([2], [3], np.nan),
        ([1], [1], np.nan),
    ],
    ids=["a cell", "apart", "a whole network", "overlapping", "a gap", "a region with itself"],
)
def test_the_mean_leaves_out_gaps_and_regions_with_themselves(rows, columns, mean):
    assert block_mean(MATRIX, rows, columns) == pytest.approx(mean, nan_ok=True)


def test_groups_are_compared_in_the_mean_fisher_z_of_the_block(measured):
    rows, columns = (3, 4, 5), (40, 41)
    found = compare_block(measured, ComparisonOptions(**BETWEEN, covariates=("none",)), rows, columns)
    values = {
        group: [
            np.arctanh(np.corrcoef(one.series.T)[np.ix_(rows, columns)]).mean()
            for one in measured.cohort
            if one.group == group
        ]
        for group in ("NC", "AD")
    }
    tested = found.table.iloc[0]
    assert tested["mean_NC"] == pytest.approx(np.mean(values["NC"]), abs=1e-6)
    assert tested["difference"] == pytest.approx(np.mean(values["AD"]) - np.mean(values["NC"]), abs=1e-6)
    welch = stats.ttest_ind(values["AD"], values["NC"], equal_var=False)
    assert tested["t"] == pytest.approx(welch.statistic, rel=1e-4)
    assert tested["p"] == pytest.approx(welch.pvalue, abs=0.03)


def test_who_waits_sees_how_far_the_comparison_of_connections_is_and_can_stop_it():
    cohort, told, stop_at = demo_cohort("ad", n_per_group=8), [], "8 of 16 subjects"

    @contextmanager
    def watch(key):
        told.append(key.doing)
        if stop_at and key.doing.startswith(stop_at):
            raise InterruptedError
        yield

    measured, options = Measured(cohort, watch=watch), ComparisonOptions(**BETWEEN, covariates=("none",))
    with pytest.raises(InterruptedError):
        connection_effects(measured, options)
    assert not measured.is_kept(connection_effects, options)
    assert [said for said in told if "subjects" in said] == [f"{done} of 16 subjects read…" for done in range(9)]
    stop_at = ""
    told.clear()
    found = connection_effects(measured, options)
    assert len([said for said in told if "subjects" in said]) == 16
    n_pairs = cohort.atlas.n_regions * (cohort.atlas.n_regions - 1) // 2
    assert f"0 of {n_pairs:,} connections compared…" in told
    plain = connection_effects(Measured(cohort), options)
    np.testing.assert_array_equal(found.d, plain.d)


def test_words_give_the_effect_the_test_and_who_was_compared(measured):
    options = ComparisonOptions(**BETWEEN, covariates=("none",))
    said = block_words(measured, options, (3, 4, 5), (40, 41))
    tested = compare_block(measured, options, (3, 4, 5), (40, 41)).table.iloc[0]
    assert f"p = {tested['p']:.2g}" in said
    assert f"d = {tested['d']:.2f}".replace("-", "−") in said
    for part in ("Fisher z", "AD − NC", "8 NC, 8 AD", "adjusted for no covariate", "this block alone"):
        assert part in said


def test_what_cannot_be_compared_is_a_sentence(measured):
    assert "not known of every subject" in block_words(measured, ComparisonOptions(**BETWEEN), (7,), (7,))
    alone = Measured(replace(measured.cohort, subjects=measured.cohort.subjects[:1]))
    assert "AD" in block_words(alone, ComparisonOptions(**BETWEEN), (1,), (2,))


def test_structural_connectivity_is_compared_as_it_is():
    cohort = demo_cohort("ad", n_per_group=4)
    weights = np.random.default_rng(0).gamma(2, 50, (8, 90, 90))
    weights = weights + weights.swapaxes(1, 2)
    for matrix in weights:
        np.fill_diagonal(matrix, 0)
    people = [
        Subject(id=f"s{i}", group="NC" if i < 4 else "AD", connectivity=matrix) for i, matrix in enumerate(weights)
    ]
    brought = Cohort("weights", people, cohort.atlas, given="structural")
    found = compare_block(Measured(brought), ComparisonOptions(**BETWEEN), (0, 1), (2, 3))
    assert found.table["mean_NC"].iloc[0] == pytest.approx(weights[:4, :2, 2:4].mean())
    assert "Structural connectivity" in block_words(Measured(brought), ComparisonOptions(**BETWEEN), (0, 1), (2, 3))
