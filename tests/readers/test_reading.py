"""Series or connectivity, and which axis is time: told from shape and content, or asked."""

from pathlib import Path

import numpy as np
import pytest

from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.data.atlas import BUNDLED
from biobgt.readers.measurement import Reading, interpret, possible_region_counts, read_name


@pytest.fixture
def square(rng):
    return rng.standard_normal((200, 200))


def correlation(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.corrcoef(rng.standard_normal((n, 3 * n)))


def test_a_symmetric_table_is_connectivity(rng):
    matrix = correlation(10, rng)
    measured = interpret(Reading(matrix))
    assert measured.kind == "connectivity"
    np.testing.assert_allclose(measured.values, matrix)


def test_fisher_z_matrices_have_an_infinite_diagonal(rng):
    matrix = correlation(5, rng)
    np.fill_diagonal(matrix, np.inf)
    measured = interpret(Reading(matrix))
    assert measured.kind == "connectivity"
    assert (np.diag(measured.values) == 0).all()


def test_a_square_table_that_is_not_symmetric_is_a_question(square):
    with pytest.raises(ChoiceNeeded) as caught:
        interpret(Reading(square))
    assert caught.value.option == "kind"
    assert caught.value.choices == ("series", "connectivity")


def test_the_answer_settles_it(square):
    with pytest.raises(ChoiceNeeded, match="orientation"):
        interpret(Reading(square), kind="series")
    measured = interpret(Reading(square), kind="series", orientation="region-time")
    np.testing.assert_array_equal(measured.values, square.T)
    with pytest.raises(InputError, match="not symmetric"):
        interpret(Reading(square), kind="connectivity")


def test_a_damaged_correlation_matrix_is_refused_not_read_as_series(rng):
    matrix = correlation(20, rng)
    matrix[3, 7] = 0.99
    with pytest.raises(InputError, match=r"not symmetric: 0.99 from region 4 to 8|and 0.99 back"):
        interpret(Reading(matrix))


@pytest.mark.parametrize("n_regions", [BUNDLED[name].n_regions for name in ("cc200", "aal90", "power264")])
@pytest.mark.parametrize("turned", [False, True])
def test_the_size_of_an_atlas_and_slow_change_in_time_do_not_settle_the_orientation(bold, n_regions, turned):
    values = bold(150, n_regions).T if turned else bold(150, n_regions)
    with pytest.raises(ChoiceNeeded) as caught:
        interpret(Reading(values))
    rows, columns = values.shape
    assert caught.value.option == "orientation"
    assert caught.value.consequences == {
        "time-region": f"{rows} time points of {columns} regions",
        "region-time": f"{columns} time points of {rows} regions",
    }
    assert f"suggests that the {'columns' if turned else 'rows'} are time points" in caught.value.question


def test_values_without_any_sign_of_time_suggest_nothing(rng):
    with pytest.raises(ChoiceNeeded, match="too close to suggest which are the time points"):
        interpret(Reading(rng.standard_normal((150, 116))))


def test_the_chosen_atlas_does_not_settle_what_the_values_speak_against(bold):
    """200 time points of 100 regions, said to be on an atlas of 200."""
    values = bold(200, 100)
    with pytest.raises(ChoiceNeeded, match="suggests that the rows are time points"):
        interpret(Reading(values), n_regions=200)
    with pytest.raises(InputError, match="It has 100 regions, and the chosen atlas has 200"):
        interpret(Reading(values), n_regions=200, orientation="time-region")
    measured = interpret(Reading(values), n_regions=200, orientation="region-time")
    assert (measured.values.shape, measured.orientation_by) == ((100, 200), "the user")


def test_orientation_by_the_chosen_atlas(rng):
    values = rng.standard_normal((116, 200))
    np.testing.assert_array_equal(interpret(Reading(values), n_regions=116).values, values.T)
    np.testing.assert_array_equal(interpret(Reading(values), n_regions=200).values, values)


@pytest.mark.parametrize("shape", [(116, 200), (112, 150)])
def test_open_orientation_is_a_question(bold, shape):
    with pytest.raises(ChoiceNeeded, match=f"{shape[0]} rows and {shape[1]} columns") as caught:
        interpret(Reading(bold(*shape)))
    assert caught.value.option == "orientation"


def test_a_header_says_that_columns_are_regions(rng):
    values = rng.standard_normal((200, 112))
    names = tuple(f"r{i}" for i in range(112))
    np.testing.assert_array_equal(interpret(Reading(values, region_names=names)).values, values)


def test_row_labels_say_that_rows_are_regions(rng):
    values = rng.standard_normal((112, 200))
    measured = interpret(Reading(values, row_names=tuple(f"r{i}" for i in range(112))))
    np.testing.assert_array_equal(measured.values, values.T)


def test_region_counts_before_the_atlas_is_known(rng):
    assert possible_region_counts(Reading(rng.standard_normal((150, 200)))) == {150, 200}
    named = Reading(rng.standard_normal((150, 200)), file_name=read_name(Path("study_cc200.npy")))
    assert possible_region_counts(named) == {200}
    assert possible_region_counts(Reading(rng.standard_normal((116, 200)))) == {116, 200}
    assert possible_region_counts(Reading(rng.standard_normal((112, 150)))) == {112, 150}
    assert possible_region_counts(Reading(rng.standard_normal((112, 150))), orientation="region-time") == {112}
    assert possible_region_counts(Reading(correlation(7, rng))) == {7}


def test_regions_missing_throughout_are_zero_and_named(rng):
    values = rng.standard_normal((50, 90))
    values[:, [4, 8]] = np.nan
    measured = interpret(Reading(values), n_regions=90)
    assert measured.missing_regions == (4, 8)
    assert (measured.values[:, [4, 8]] == 0).all()
    matrix = correlation(6, rng)
    matrix[2], matrix[:, 2] = np.nan, np.nan
    measured = interpret(Reading(matrix))
    assert measured.missing_regions == (2,)
    assert (measured.values[2] == 0).all()


def with_value(value: float) -> np.ndarray:
    values = np.random.default_rng(0).standard_normal((50, 90))
    values[11, 3] = value
    return values


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (with_value(np.nan), "time point 12, region 4 is nan"),
        (with_value(np.inf), "time point 12, region 4 is inf"),
        (np.ones((50, 90)), "constant in every region"),
        (np.random.default_rng(0).standard_normal((1, 90)), "1 time point;"),
    ],
)
def test_unusable_series_get_a_sentence(values, sentence):
    with pytest.raises(InputError, match=sentence):
        interpret(Reading(values), n_regions=90)


def test_one_region_gets_a_sentence(rng):
    with pytest.raises(InputError, match="1 region;"):
        interpret(Reading(rng.standard_normal((50, 1))), orientation="time-region")


def test_unusable_matrices_get_a_sentence(rng):
    with pytest.raises(InputError, match="no connection"):
        interpret(Reading(np.eye(5)))
    with pytest.raises(InputError, match="10 rows and 12 columns"):
        interpret(Reading(rng.standard_normal((10, 12))), kind="connectivity")
    matrix = correlation(5, rng)
    matrix[1, 3] = matrix[3, 1] = np.nan
    with pytest.raises(InputError, match="not finite between regions 2 and 4"):
        interpret(Reading(matrix))


@pytest.mark.parametrize("n_regions", [90, 116])
def test_the_wrong_atlas_gets_a_sentence(rng, n_regions):
    with pytest.raises(InputError, match=f"chosen atlas has {n_regions} regions"):
        interpret(Reading(rng.standard_normal((150, 200))), n_regions=n_regions)
    with pytest.raises(InputError, match=f"chosen atlas has {n_regions} regions"):
        interpret(Reading(correlation(20, rng)), n_regions=n_regions)
