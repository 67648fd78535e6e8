"""What a curve says: shares, where it turns, and how much each choice moves it, checked by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from biobgt.specifications.curve import SpecificationCurve, judged
from biobgt.specifications.options import SurvivalOptions

ROWS = [{"colour": colour, "size": size} for colour, size in product(("red", "blue"), ("1", "2", "3"))]
WHERE = {("colour", one): f"it is {one}" for one in ("red", "blue")} | {
    ("size", one): f"size is {one}" for one in ("1", "2", "3")
}


def curve(estimates, p=None, *, verdict=None, **about) -> SpecificationCurve:
    """Six ways of two choices."""
    nothing = [np.nan] * 6
    table = pd.DataFrame(ROWS).assign(estimate=estimates, low=nothing, high=nothing, p=p or nothing, why="")
    table["verdict"] = verdict if verdict is not None else [None] * 6
    return SpecificationCurve(
        options=SurvivalOptions(),
        words="It is so",
        quantity="d",
        table=judged(table),
        titles={"colour": "Colour", "size": "Size"},
        where=WHERE,
        joint=None,
        n_possible=6,
        whom="nobody",
        **about,
    )


def test_it_turns_where_one_value_does() -> None:
    one = curve([1, 2, 3, -1, -2, -3], [0.01] * 6)
    assert one.sentence == "It is so: holds in 3 of 6 ways; turns where it is blue."
    assert (one.same_sign, one.clear) == (0.5, 1.0)
    assert "p below 0.05" in one.definition


def test_it_is_not_clear_where_p_is_large() -> None:
    one = curve([1, 2, 3, 1, 2, 3], [0.01, 0.01, 0.2, 0.01, 0.01, 0.3])
    assert one.sentence == "It is so: holds in 4 of 6 ways; mostly not clear where size is 3."


def test_it_turns_only_where_the_other_sign_is_clear() -> None:
    one = curve([1, 2, 3, -1, -2, -3], [0.01, 0.01, 0.01, 0.5, 0.5, 0.5])
    assert one.sentence == "It is so: holds in 3 of 6 ways; mostly not clear where it is blue."


def test_it_holds_everywhere() -> None:
    assert curve([1] * 6, [0.01] * 6).sentence == "It is so: holds in 6 of 6 ways."


def test_the_reference_itself_may_not_be_clear() -> None:
    one = curve([1, 2, 3, 4, 5, 6], [0.2, 0.2, 0.2, 0.2, 0.01, 0.2])
    assert one.sentence.startswith("It is so: not clear at the settings given, and clear in 1 of 6 ways")


def test_few_ways_hold_in_one_value_alone() -> None:
    one = curve([1, 2, 3, 1, 2, 3], [0.01, 0.2, 0.2, 0.01, 0.2, 0.2])
    assert one.sentence == "It is so: holds in 2 of 6 ways; in most ways only where size is 1."


def test_ways_without_an_estimate_are_said_and_not_counted() -> None:
    one = curve([1, np.nan, 1, 1, np.nan, 1], [0.01] * 6)
    assert one.sentence == "It is so: holds in 4 of 4 ways; 2 further ways gave no estimate."


def test_a_verdict_holds_where_it_is_the_same() -> None:
    one = curve([2, 1, 0.5, 2, 1, 0.5], verdict=[True, True, False, True, True, False])
    assert one.sentence == "It is so: holds in 4 of 6 ways; turns where size is 3."
    assert "verdict" in one.definition


def test_without_a_test_the_interval_decides() -> None:
    table = pd.DataFrame(ROWS).assign(estimate=0.5, low=[0.1] * 3 + [-0.1] * 3, high=0.9, p=np.nan, verdict=None)
    assert judged(table)["holds"].tolist() == [True] * 3 + [False] * 3


def test_explained_variance_is_that_of_analysis_of_variance() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=6)
    one = curve(values)
    grid = values.reshape(2, 3)
    total = ((grid - grid.mean()) ** 2).sum()
    expected = {
        "colour": 3 * ((grid.mean(axis=1) - grid.mean()) ** 2).sum() / total,
        "size": 2 * ((grid.mean(axis=0) - grid.mean()) ** 2).sum() / total,
    }
    assert one.explained() == pytest.approx(expected)
    assert curve([1.0] * 6).explained() == {"colour": 0, "size": 0}


def test_shares_of_each_value() -> None:
    table = curve([1, 2, 3, -1, -2, 3], [0.01] * 6).by_value().set_index("value")
    assert table.loc["blue", ["n", "median", "holding", "turned"]].tolist() == pytest.approx([3, -1, 1 / 3, 2 / 3])
    assert table.loc["3", "holding"] == 1
