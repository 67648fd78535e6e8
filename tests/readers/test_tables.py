"""Text tables as labs and releases write them, and those made to do harm."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from reading import refused

from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.limits import Limits
from biobgt.readers import read_atlas, read_phenotypes, tables
from biobgt.readers.measurement import interpret
from biobgt.readers.tables import is_number, read_text

VALUES = np.array([[1.5, -2.25, 3.0], [0.5, 1e-3, -7.0], [9.0, 8.0, 7.125]])


def read(content: str | bytes, **how):
    return read_text(io.BytesIO(content.encode() if isinstance(content, str) else content), **how)


def lines(separator: str, values: np.ndarray = VALUES) -> list[str]:
    return [separator.join(repr(float(value)) for value in row) for row in values]


@pytest.mark.parametrize("separator", ["\t", ",", ";", " ", "   ", ", "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends(separator, end):
    reading = read(end.join(lines(separator)) + end)
    np.testing.assert_array_equal(reading.values, VALUES)
    assert reading.region_names is None


@pytest.mark.parametrize(
    "content",
    [
        "sep=;\n" + "\n".join(lines(";")),  # Excel's note
        "\n".join(["# made by AFNI 3dROIstats", "# on some rainy Tuesday", *lines(" ")]),
        "\n\n".join(line + "\t" for line in lines("\t")) + "\n\n",
        "\t\n".join(lines(" ")) + "\t\n",
    ],
    ids=["a note on the separator", "comments", "separators at ends of lines and blank lines", "spaces and a tab"],
)
def test_what_surrounds_a_table_is_no_part_of_it(content):
    reading = read(content)
    np.testing.assert_array_equal(reading.values, VALUES)
    assert reading.region_names is None


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("#1\t#2\t#3", ("1", "2", "3")),  # ABIDE
        ("# a b c", ("a", "b", "c")),  # numpy.savetxt
        ("Insula.L\tInsula.R\tCuneus", ("Insula.L", "Insula.R", "Cuneus")),
        ('"A 1"\t"A 2"\t"B"', ("A 1", "A 2", "B")),
        ("A,B,C", ("A", "B", "C")),  # and a separator at the end of every other line
        ("File\tSub-brick\tMean_1\tMean_3\tMean_4", ("Mean_1", "Mean_3", "Mean_4")),  # ADHD-200 Athena
    ],
)
def test_headers(header, names):
    separator = next(mark for mark in "\t, " if mark in header)
    before, after = "sfnwmrda1.nii.gz\t0[?]\t" if "File" in header else "", "," if separator == "," else ""
    reading = read("\n".join([header, *(before + line + after for line in lines(separator))]))
    assert reading.region_names == names
    np.testing.assert_array_equal(reading.values, VALUES)
    assert reading.options.get("columns left out") == ("File, Sub-brick" if before else "column 4" if after else None)


@pytest.mark.parametrize(
    "header",
    [
        [str(i) for i in range(6)],
        [str(i) for i in range(1, 7)],
        [f"{i}.0" for i in range(1, 7)],
        ["2001", "2002", "2101", "2102", "2111", "2112"],  # AAL's codes
        [f"V{i}" for i in range(1, 7)],  # R
        [f"t{i}" for i in range(6)],
    ],
)
def test_headers_that_only_count_are_headers_but_name_no_regions(header):
    values = np.random.default_rng(0).standard_normal((4, 6))
    reading = read("\n".join([",".join(header), *lines(",", values)]))
    np.testing.assert_array_equal(reading.values, values)
    assert reading.options["header"] == "yes"
    assert reading.region_names is None


def test_whole_numbers_under_numbers_that_count_are_a_question():
    content = "1,2,3,4,5\n6,7,8,9,1\n3,5,2,7,8\n"
    with pytest.raises(ChoiceNeeded) as caught:
        read(content)
    assert caught.value.option == "header"
    assert read(content, header="no").values.shape == (3, 5)
    assert read(content, header="yes").values.shape == (2, 5)


@pytest.mark.parametrize("index_name", ["", "ROI", "Time (s)", "scan"])
@pytest.mark.parametrize("columns", [list("abcdef"), list(range(6)), list(range(1, 7))])
@pytest.mark.parametrize("rows", [range(8), range(1, 9), [2.0 * i for i in range(8)], list("stuvwxyz")])
def test_index_columns_are_left_out(index_name, columns, rows):
    values = np.random.default_rng(0).standard_normal((8, 6))
    frame = pd.DataFrame(values, columns=columns, index=pd.Index(rows, name=index_name or None))
    reading = read(frame.to_csv())
    np.testing.assert_array_equal(reading.values, values)


def test_an_index_without_a_header_is_left_out_and_row_labels_name_the_regions():
    values = np.random.default_rng(0).standard_normal((8, 6))
    np.testing.assert_array_equal(read(pd.DataFrame(values).to_csv(header=False)).values, values)
    assert read(pd.DataFrame(values.T, index=list("pqrstu")).to_csv()).row_names == tuple("pqrstu")


@pytest.mark.parametrize("separator", [";", "\t", " "])
def test_decimal_commas(separator):
    reading = read("\n".join(line.replace(".", ",") for line in lines(separator)))
    np.testing.assert_array_equal(reading.values, VALUES)
    assert reading.options["decimal mark"] == ","
    np.testing.assert_array_equal(read("A;B\n1;2\n3,5;4\n").values, [[1, 2], [3.5, 4]])


@pytest.mark.parametrize("missing", ["NaN", "NAN", "nan", "n/a", "NONE", "null", ""])
def test_the_ways_to_say_missing(missing):
    values = read(f"A,B,C\n1.5,2,{missing}\n4,5,{missing}\n").values
    np.testing.assert_array_equal(np.isnan(values), [[False, False, True]] * 2)


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_missing_cells_at_every_edge_keep_their_places(separator):
    rows = [["", "2", "3"], ["4", "nan ", "6"], ["7", "8", ""]]  # the space comes from a spreadsheet
    reading = read("\n".join(map(separator.join, [["A", "B", "C"], *rows])))
    np.testing.assert_array_equal(reading.values, [[np.nan, 2, 3], [4, np.nan, 6], [7, 8, np.nan]])


FRAME = pd.DataFrame(VALUES, columns=["a", "b", "c"], index=["x", "y", "z"])


@pytest.mark.parametrize(
    "content",
    [
        FRAME.to_csv(),
        FRAME.reset_index(drop=True).to_csv(),
        pd.DataFrame(VALUES).to_csv(),
        FRAME.to_csv(sep=";", decimal=","),
        "a b c\n" + "\n".join(f"{name} {line}" for name, line in zip("xyz", lines(" "), strict=True)),
    ],
)
def test_tables_written_by_pandas_and_r(content):
    reading = read(content)
    np.testing.assert_array_equal(reading.values, VALUES)
    assert reading.options["header"] == "yes"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding):
    content = "\n".join(["Région,b,c", *lines(",")])
    reading = read(content.encode(encoding))
    assert reading.region_names == ("Région", "b", "c")
    np.testing.assert_array_equal(reading.values, VALUES)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "empty"),
        ("  \n\n ", "empty"),
        ("a,b,c\n", "header and no rows"),
        ("# only\n# comments\n", "comments and no rows"),
        ("1.5,2,3\n4,5\n6,7,8\n", "Line 2 has 2 values where line 1 has 3"),
        ("1.5,2,3\n4,5,6,7\n8,9,1\n", "Line 2 has 4 values"),
        ("1.5,2,3\n4,5,6\n7,8", "Line 3 has 2 values .* cut off"),
        ("index,A,B,C\n0,.13,.33,.04\n3,7,-1.1,.24,1.44,99\n5,1,2,3\n", "Line 3 has 6 values"),
        ("1.5,2,3\n4,abc,6\n", "Line 2, column 2 holds 'abc'"),
        ("1.5,x,3\n4,5,6\n", "Line 1, column 2 holds 'x'"),
        ("A,B,C\n1,nan ,3\n4,high,6\n", "Line 3, column 2 holds 'high'"),
        ("a,b\n1,2,3,4\n", "2 names and line 2 has 4 values"),
        ("one\ntwo\n", "no column of numbers"),
        ("1,2\n3,4\n".encode("utf-16-le"), "UTF-16 without a byte-order mark"),
        ("A,B,C\n1,2,1_000\n", "holds '1_000'"),
        ("A,B\n1,\uff12\n", "where a number belongs"),
        (b"\xff\xfe1\x00,", "damaged"),
    ],
)
def test_bad_tables_get_a_sentence(content, sentence):
    refused(sentence, read, content)


finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(
    values=arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=8), elements=finite),
    separator=st.sampled_from(["\t", ",", ";", " "]),
    header=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_any_table_we_write_we_read_back(values, separator, header, end, encoding):
    counting = values.shape[1] > 2 and (np.diff(values[0]) > 0).all() and values[0, 0] >= 0
    assume(header or not (counting and (values[0] == np.round(values[0])).all()))  # a header that counts looks the same
    assume(len(values) < 5 or not np.allclose(np.diff(values[:, 0]), values[1, 0] - values[0, 0]))  # so does a clock
    names = [f"region{chr(97 + i)}" for i in range(values.shape[1])]
    rows = [separator.join(names)] * header + lines(separator, values)
    reading = read(end.join(rows).encode(encoding))
    np.testing.assert_array_equal(reading.values, values)
    assert reading.region_names == (tuple(names) if header else None)


@pytest.mark.parametrize(("content", "sentence"), [("1 2 3 4 5 6\n", "1 time point"), ("1\n2\n3\n", "1 region;")])
def test_one_line_and_one_column_are_named_for_what_they_are(content, sentence):
    refused(sentence, interpret, read(content))


def test_a_long_word_that_begins_as_a_number_is_told_at_once():
    """Every way to divide the digits in two was tried: half an hour for this word."""
    refused("Line 3, column 1 holds '1111", read, "A,B,C\n1,2,3\n" + "1" * 200_000 + "x,2,3\n")


NUMBERS = ["1", "1.", ".5", "1.5", "-1e5", "+.5E-3", "007", "inf", "-Infinity", "NaN", "", "1" * 400, "0." + "1" * 400]
WORDS = [".", "1e", "e5", "1.5.2", "--1", "1x", "1,5", "infinite"]


@pytest.mark.parametrize("word", [*NUMBERS, *WORDS])
def test_what_is_a_number(word):
    assert is_number(word, ".") == (word in NUMBERS)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\f", "\x85", "\u2028"])
def test_lines_are_counted_before_a_list_of_them_is_made(monkeypatch, end):
    """64 MB of ones and line ends pack into 80 kB, and are 4 GB as a list of lines."""
    monkeypatch.setenv("BIOBGT_MAX_TIMEPOINTS", "100")
    monkeypatch.setattr(tables, "_find_layout", lambda *_, **__: pytest.fail("the lines were looked at"))
    refused("401 lines; at most 400 .*BIOBGT_MAX_TIMEPOINTS=401", read, f"1{end}" * 401)


def test_blank_lines_and_comments_are_no_rows(monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_TIMEPOINTS", "20")
    rows = [",".join(f"{value:.4f}" for value in row) for row in np.random.default_rng(0).standard_normal((20, 3))]
    table = "# made on a rainy Tuesday\n" * 20 + "\r\n\r\n".join(rows)
    assert read(table).values.shape == (20, 3)


@pytest.mark.parametrize(("name", "read"), [("p.tsv", read_phenotypes), ("a.csv", read_atlas), ("a.node", read_atlas)])
def test_lines_of_tables_with_a_header_and_of_atlases_are_counted_too(tmp_path, monkeypatch, name, read):
    monkeypatch.setenv("BIOBGT_MAX_TABLE_ROWS", "100")
    (tmp_path / name).write_text("1\n" * 401)
    refused(rf"'{name}' cannot be read.* 401 lines; at most 400 .*BIOBGT_MAX_TABLE_ROWS", read, tmp_path / name)


def test_cells_are_counted_also_in_rows_that_are_longer_than_the_header(tmp_path, monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_TABLE_CELLS", "20")
    (tmp_path / "p.csv").write_text("subject,group\na,NC" + "," * 30 + "\n")
    refused(r"34 cells; at most 20 .*BIOBGT_MAX_TABLE_CELLS", read_phenotypes, tmp_path / "p.csv")


def test_every_line_that_tells_the_separator_is_held_to_the_limit(monkeypatch):
    """A wide line between narrow ones would be split into millions of words before lines are compared."""
    monkeypatch.setenv("BIOBGT_MAX_TIMEPOINTS", "10")
    monkeypatch.setattr(tables, "find_separator", lambda lines: pytest.fail("the lines were looked at"))
    refused(r"49 time points; at most 10", read, b"1 2\n" + b"11 " * 50 + b"\n1 2\n")


@given(data=st.text(alphabet="ab\n\r", max_size=60).map(str.encode), most=st.integers(1, 8))
def test_a_line_is_too_long_where_a_list_of_lines_has_such_a_one(data, most):
    too_long = max(map(len, data.splitlines()), default=0) > most
    try:
        tables._check_lines(data, Limits(line_characters=most))
        assert not too_long
    except InputError:
        assert too_long
