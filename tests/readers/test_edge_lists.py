"""Lists of connections: of one subject or many, by names or numbers, and what is wrong with them."""

import numpy as np
import pytest
from reading import question, refused

from biobgt import ReadOptions, load_atlas, read_cohort
from biobgt.data.atlas import numbered_atlas

NAMES = ("A", "B", "C", "D")
MATRIX = np.array([[0, 0.5, -0.2, 0], [0.5, 0, 0.9, 0.1], [-0.2, 0.9, 0, 0], [0, 0.1, 0, 0]])
EDGES = [(i, j) for i in range(4) for j in range(i + 1, 4) if MATRIX[i, j]]


def lines(ends=EDGES, names=NAMES, before="", separator=","):
    return [f"{before}{names[i]}{separator}{names[j]}{separator}{MATRIX[i, j]}" for i, j in ends]


def write(path, rows, header="from,to,weight"):
    path.write_text("\n".join([header, *rows] if header else rows) + "\n")
    return path


@pytest.mark.parametrize("header", ["from,to,weight", "Source,Target,r", "node_1,node_2,fc", "roi_a,roi_b,value", ""])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt"])
def test_a_list_of_names_is_a_matrix(tmp_path, header, both, suffix):
    mark = {"csv": ",", "tsv": "\t", "txt": " "}[suffix]
    ends = EDGES + [(j, i) for i, j in EDGES] * both
    path = write(tmp_path / f"sub-01.{suffix}", lines(ends, separator=mark), header.replace(",", mark))
    cohort = read_cohort(path, atlas="unknown")
    assert cohort.ids == ("sub-01",)
    assert cohort.atlas.regions == NAMES
    np.testing.assert_array_equal(cohort["sub-01"].connectivity, MATRIX)
    assert cohort["sub-01"].source.options["pairs not listed, and 0"] == "33.3 %"
    assert any("have no connection" in note for note in cohort.notes)


@pytest.mark.parametrize("name", ["area{}", "ROI_{}", "Region {}"])
@pytest.mark.parametrize("start", [0, 1])
def test_series_whose_regions_are_counted_are_no_list(tmp_path, rng, name, start):
    series = rng.standard_normal((30, 5)).round(6)
    rows = [",".join(map(str, row)) for row in series.tolist()]
    path = write(tmp_path / "s.csv", rows, ",".join(name.format(i) for i in range(start, start + 5)))
    np.testing.assert_array_equal(read_cohort(path, atlas="unknown")["s"].series, series)


def test_lists_are_put_in_the_atlass_order(tmp_path, rng):
    atlas = load_atlas("desikan68")
    matrix = np.corrcoef(rng.standard_normal((68, 90)))
    pairs = rng.permutation([(i, j) for i in range(68) for j in range(i)])
    rows = [f"{atlas.regions[i]}\t{atlas.regions[j]}\t{float(matrix[i, j])!r}" for i, j in pairs.tolist()]
    path = write(tmp_path / "s.tsv", rows, "region1\tregion2\tr")
    for cohort in (read_cohort(path), read_cohort(path, atlas="desikan68")):
        assert cohort.atlas is atlas
        np.testing.assert_allclose(cohort["s"].connectivity, matrix - np.eye(68), atol=1e-12)
    assert not any("have no connection" in note for note in cohort.notes)
    refused("a region '.*', which .* has not", read_cohort, path, atlas="aal90")


@pytest.mark.parametrize("subject", ["subject", "participant_id"])
def test_a_long_table_holds_many_subjects(tmp_path, subject):
    rows = [line for name in ("s2", "s1") for line in lines(before=f"{name},")]
    rows[-1] = "s1,B,D,0.7"
    write(tmp_path / "study.csv", rows, f"{subject},from,to,weight")
    (tmp_path / "participants.csv").write_text("subject,group,site\ns1,AD,X\ns2,NC,Y\n")
    cohort = read_cohort(tmp_path, atlas="unknown")
    assert cohort.ids == ("s2", "s1")
    assert [one.group for one in cohort] == ["NC", "AD"]
    assert cohort["s2"].connectivity[1, 3] == 0.1
    assert cohort["s1"].connectivity[3, 1] == 0.7


@pytest.mark.parametrize(("start", "said"), [(0, "0"), (1, "1")])
def test_numbers_count_regions(tmp_path, start, said):
    numbers = [str(i + start) for i in range(4)]
    path = write(tmp_path / "s.csv", lines(names=numbers))
    cohort = read_cohort(path, atlas="unknown")
    np.testing.assert_array_equal(cohort["s"].connectivity, MATRIX)
    assert any(f"numbers regions from {said}" in note for note in cohort.notes)


def test_numbers_that_may_begin_with_0_or_1_are_asked_about(tmp_path):
    path = write(tmp_path / "s.csv", ["1,2,0.5", "2,3,-0.9"])
    asked = question(path, atlas=numbered_atlas(5))
    assert (asked.option, asked.choices) == ("numbering", ("0", "1"))
    for said in ("0", "1"):
        cohort = read_cohort(path, atlas=numbered_atlas(5), options=ReadOptions(numbering=said))
        expected = np.zeros((5, 5))
        a = 1 - int(said)
        expected[a, a + 1] = expected[a + 1, a] = 0.5
        expected[a + 1, a + 2] = expected[a + 2, a + 1] = -0.9
        np.testing.assert_array_equal(cohort["s"].connectivity, expected)
    refused("a region 3, and the chosen atlas has 2", read_cohort, path, atlas=numbered_atlas(2))


def test_codes_of_an_atlas_are_names(tmp_path):
    cohort = read_cohort(write(tmp_path / "s.csv", lines(names=("2001", "2002", "2101", "9170"))), atlas="unknown")
    np.testing.assert_array_equal(cohort["s"].connectivity, MATRIX)
    assert cohort.atlas.regions == ("2001", "2002", "2101", "9170")


def test_numbers_without_a_header_are_asked_about(tmp_path):
    path = write(tmp_path / "s.csv", lines(names="1234"), header="")
    asked = question(path, atlas="unknown")
    assert (asked.option, set(asked.choices)) == ("kind", {"edges", "series"})
    np.testing.assert_array_equal(
        read_cohort(path, atlas="unknown", options=ReadOptions(kind="edges"))["s"].connectivity, MATRIX
    )
    series = ReadOptions(kind="series", orientation="time-region")
    assert read_cohort(path, atlas="unknown", options=series)["s"].series.shape == (4, 3)


def test_one_of_several_columns_of_weights_is_asked_for(tmp_path):
    path = write(tmp_path / "s.csv", [f"{line},0.01" for line in lines()], "from,to,effect,p")
    asked = question(path, atlas="unknown")
    assert (asked.option, asked.choices) == ("variable", ("effect", "p"))
    cohort = read_cohort(path, atlas="unknown", options=ReadOptions(variable="effect"))
    np.testing.assert_array_equal(cohort["s"].connectivity, MATRIX)


@pytest.mark.parametrize(
    ("rows", "header", "sentence"),
    [
        ([*lines(), "B,A,0.6"], "from,to,weight", r"'A' and 'B' are listed more than once.* \(0.5 and 0.6\)"),
        ([*lines(), "A,B,0.6"], "from,to,weight", "listed more than once"),
        ([*lines(), "A,B,strong"], "from,to,weight", "'strong', which is no number"),
        ([*lines(), "A,C,"], "from,to,weight", "Connection 5 of the list has no weight"),
        ([*lines(), ",C,0.1"], "from,to,weight", "no name for one of its regions"),
        ([*lines(), "A,C,0.1,7"], "from,to,weight", "cannot be read"),
        (["A,B", "B,C"], "from,to", "no column of weights"),
        (["A,B,inf", "B,C,1"], "from,to,weight", "not finite"),
        ([], "from,to,weight", "no rows|no connection|no column"),
        (["A,A,1"], "from,to,weight", "at least 2 are needed"),
        (["A,B,0"], "from,to,weight", "no connection"),
    ],
)
def test_lists_that_do_not_add_up_get_a_sentence(tmp_path, rows, header, sentence):
    refused(sentence, read_cohort, write(tmp_path / "s.csv", rows, header), atlas="unknown")


def test_a_list_of_too_many_regions_or_connections_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path / "s.csv", [f"r{i},r{i + 1},1" for i in range(1_300)])
    refused("BIOBGT_MAX_REGIONS", read_cohort, path, atlas="unknown")
    monkeypatch.setenv("BIOBGT_MAX_CONNECTIONS", "100")
    refused("BIOBGT_MAX_CONNECTIONS", read_cohort, path, atlas="unknown")
