"""Text tables that are small on the disk and would keep the server busy for minutes, or fill its memory."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biobgt import InputError, read_cohort
from biobgt.base.limits import Limits
from biobgt.data.atlas import numbered_atlas
from biobgt.readers import read_atlas, read_phenotypes
from biobgt.readers import tables as layout
from biobgt.readers import tables as text
from biobgt.readers.tables import is_number


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
    "word",
    ["1", "1.", ".5", "1.5", "-1e5", "+.5E-3", "007", "inf", "-Infinity", "NaN", "", "1" * 400, "0." + "1" * 400],
)
def test_what_is_a_number(word):
    assert is_number(word, ".")


@pytest.mark.parametrize("word", [".", "1e", "e5", "1.5.2", "--1", "1x", "1,5", "infinite"])
def test_what_is_no_number(word):
    assert not is_number(word, ".")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\f", "\x85", "\u2028"])
def test_lines_are_counted_before_a_list_of_them_is_made(tmp_path, monkeypatch, end):
    """64 MB of ones and line ends pack into 80 kB, and are 4 GB as a list of lines."""
    monkeypatch.setenv("BIOBGT_MAX_TIMEPOINTS", "100")
    looked_at = []
    original = text.find_layout
    monkeypatch.setattr(text, "find_layout", lambda table, **how: looked_at.append(table) or original(table, **how))
    good_subject(tmp_path)
    (tmp_path / "sub-09.csv").write_bytes((f"1{end}" * 401).encode())
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("good",)
    assert cohort.refused[0].reason == (
        "The file has 401 lines; at most 400 are read. If it is meant to be so large, set BIOBGT_MAX_TIMEPOINTS=401 in "
        "the environment before BioBGT Explorer is started."
    )
    assert len(looked_at) == 1


def test_blank_lines_and_comments_are_no_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_TIMEPOINTS", "20")
    rows = [",".join(f"{value:.4f}" for value in row) for row in np.random.default_rng(0).standard_normal((20, 3))]
    table = "# made on a rainy Tuesday\n" * 20 + "\r\n\r\n".join(rows)
    assert text.read_text(io.BytesIO(table.encode())).values.shape == (20, 3)


@pytest.mark.parametrize(("name", "read"), [("p.tsv", read_phenotypes), ("a.csv", read_atlas), ("a.node", read_atlas)])
def test_lines_of_tables_with_a_header_and_of_atlases_are_counted_too(tmp_path, monkeypatch, name, read):
    monkeypatch.setenv("BIOBGT_MAX_TABLE_ROWS", "100")
    (tmp_path / name).write_text("1\n" * 401)
    with pytest.raises(InputError, match=rf"'{name}' cannot be read.* 401 lines; at most 400 .*BIOBGT_MAX_TABLE_ROWS"):
        read(tmp_path / name)


def test_cells_are_counted_also_in_rows_that_are_longer_than_the_header(tmp_path, monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_TABLE_CELLS", "20")
    (tmp_path / "p.csv").write_text("subject,group\na,NC" + "," * 30 + "\n")
    with pytest.raises(InputError, match=r"34 cells; at most 20 .*BIOBGT_MAX_TABLE_CELLS"):
        read_phenotypes(tmp_path / "p.csv")


def test_every_line_that_tells_the_separator_is_held_to_the_limit(tmp_path, monkeypatch):
    """A wide line between narrow ones would be split into millions of words before lines are compared."""
    monkeypatch.setenv("BIOBGT_MAX_TIMEPOINTS", "10")
    monkeypatch.setattr(layout, "find_separator", lambda lines: pytest.fail("the lines were looked at"))
    with pytest.raises(InputError, match=r"49 time points; at most 10"):
        text.read_text(io.BytesIO(b"1 2\n" + b"11 " * 50 + b"\n1 2\n"))


@given(data=st.text(alphabet="ab\n\r", max_size=60).map(str.encode), most=st.integers(1, 8))
def test_a_line_is_too_long_where_a_list_of_lines_has_such_a_one(data, most):
    too_long = max(map(len, data.splitlines()), default=0) > most
    try:
        text.check_lines(data, Limits(line_characters=most), "The file")
        assert not too_long
    except InputError:
        assert too_long
