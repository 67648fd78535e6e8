"""Text tables that are small on the disk and would keep the server busy for minutes, or fill its memory."""

import numpy as np
import pytest

from biobgt import read_cohort
from biobgt.atlas import numbered_atlas
from biobgt.readers.layout import is_number


def good_subject(folder):
    np.savetxt(folder / "good.csv", np.random.default_rng(0).standard_normal((20, 3)), "%.4f", ",")


def test_a_long_word_that_begins_as_a_number_is_told_at_once(tmp_path):
    """Every way to divide the digits in two was tried: half an hour for this word."""
    good_subject(tmp_path)
    (tmp_path / "sub-09.csv").write_text("A,B,C\n1,2,3\n" + "1" * 200_000 + "x,2,3\n")
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("good",)
    assert "Line 3, column 1 holds '1111" in cohort.refused[0].reason


@pytest.mark.parametrize(
    "text",
    ["1", "1.", ".5", "1.5", "-1e5", "+.5E-3", "007", "inf", "-Infinity", "NaN", "", "1" * 400, "0." + "1" * 400],
)
def test_what_is_a_number(text):
    assert is_number(text, ".")


@pytest.mark.parametrize("text", [".", "1e", "e5", "1.5.2", "--1", "1x", "1,5", "infinite"])
def test_what_is_no_number(text):
    assert not is_number(text, ".")
