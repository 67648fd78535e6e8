"""Tables with one row per person and one column per pair of regions: text and arrays, named and nameless."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from reading import question, reasons, refused
from typer.testing import CliRunner

from biobgt import InputError, ReadOptions, load_atlas, read_cohort
from biobgt.cli.main import app
from biobgt.data.atlas import numbered_atlas
from biobgt.readers.connections.pairs import _in_triangle, counted_pairs, named_pairs, regions_of_pairs
from tests.fuzz.corpus import save_mat73

DATA = Path(__file__).parents[3] / "shared" / "data"
NAMES = ("Frontal", "Parietal", "Occipital", "Temporal", "Insula")
N = len(NAMES)


def people(n_people=4, n=N, seed=0):
    """Correlation matrices of people, of more time points than regions, with two networks that all have."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 2))
    return np.stack(
        [
            np.corrcoef(shared @ rng.standard_normal((2, 3 * n)) + rng.standard_normal((n, 3 * n)))
            for _ in range(n_people)
        ]
    )


def order(triangle, n=N):
    """The pairs of a triangle, one after another, written out: the oracle."""
    first = 0 if triangle.endswith("diagonal") else 1
    if triangle.startswith("upper"):
        return [(i, j) for i in range(n) for j in range(i + first, n)]
    return [(i, j) for i in range(n) for j in range(i + 1 - first)]


def vectors(matrices, pairs):
    return np.array([[matrix[i, j] for i, j in pairs] for matrix in matrices])


def off_diagonal(matrix):
    return np.where(np.eye(len(matrix), dtype=bool), 0, matrix)


def save(path, matrices, pairs, names, **columns):
    frame = pd.DataFrame(vectors(matrices, pairs), columns=names)
    for at, (name, values) in enumerate(columns.items()):
        frame.insert(at, name, values)
    frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def test_hand_checked_orders():
    """Four regions, whose pairs count 12, 13, 14, 23, 24, 34 by the numbers of the two regions."""
    upper = _in_triangle("upper", 6, "").matrix(np.array([12, 13, 14, 23, 24, 34]))
    lower = _in_triangle("lower", 6, "").matrix(np.array([12, 13, 23, 14, 24, 34]))
    expected = [[0, 12, 13, 14], [12, 0, 23, 24], [13, 23, 0, 34], [14, 24, 34, 0]]
    assert upper.tolist() == lower.tolist() == expected
    diagonal = _in_triangle("lower-diagonal", 6, "").matrix(np.array([11, 21, 22, 31, 32, 33]))
    assert diagonal.tolist() == [[11, 21, 31], [21, 22, 32], [31, 32, 33]]


@given(st.integers(2, 3_000))
def test_numbers_of_pairs_are_told(n):
    assert regions_of_pairs(n * (n - 1) // 2) == n
    assert n == 2 or regions_of_pairs(n * (n - 1) // 2 + 1) is None


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize("triangle", ["upper", "lower", "upper-diagonal", "lower-diagonal"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("between", ["__", "-", "_", ".", " - ", "->", "~"])
def test_names_of_columns_say_the_order(tmp_path, suffix, triangle, turned, between):
    matrices, pairs = people(), order(triangle)
    names = [between.join((NAMES[j], NAMES[i]) if turned else (NAMES[i], NAMES[j])) for i, j in pairs]
    path = save(tmp_path / f"fc.{suffix}", matrices, pairs, names, participant_id=["s1", "s2", "s3", "s4"])
    cohort = read_cohort(path, atlas="unknown")
    assert cohort.ids == ("s1", "s2", "s3", "s4")
    assert cohort.atlas.regions == NAMES
    for subject, matrix in zip(cohort, matrices, strict=True):
        expected = matrix if triangle.endswith("diagonal") else off_diagonal(matrix)
        np.testing.assert_allclose(subject.connectivity, expected)
    assert cohort["s3"].source.options["order of pairs"] == "names of columns"
    assert cohort["s3"].source.options["row"] == 3


@pytest.mark.parametrize("write", ["edge_{}_{}", "V{}.V{}", "{}-{}", "fc_{:03d}_{:03d}", "ROI{}_ROI{}", "r_{}_{}"])
@pytest.mark.parametrize("start", [0, 1])
def test_numbers_in_names_say_the_order_too(tmp_path, write, start):
    matrices, pairs = people(n=12), order("lower", 12)
    names = [write.format(i + start, j + start) for i, j in pairs]
    cohort = read_cohort(save(tmp_path / "fc.csv", matrices, pairs, names), atlas="unknown")
    assert cohort.ids == ("fc_1", "fc_2", "fc_3", "fc_4")
    assert cohort.atlas.n_regions == 12
    np.testing.assert_allclose(cohort["fc_2"].connectivity, off_diagonal(matrices[1]))


def test_columns_in_any_order_are_put_in_the_atlass(tmp_path, rng):
    atlas = load_atlas("desikan68")
    matrices = people(n=68)
    pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in rng.permutation(order("upper", 68)).tolist()]
    names = [f"fc_{atlas.regions[i]}__{atlas.regions[j]}" for i, j in pairs]
    cohort = read_cohort(save(tmp_path / "fc.csv", matrices, pairs, names))
    assert cohort.atlas.name == "desikan68"
    for subject, matrix in zip(cohort, matrices, strict=True):
        np.testing.assert_allclose(subject.connectivity, off_diagonal(matrix))


def test_other_columns_are_kept_as_phenotypes(tmp_path):
    matrices, pairs = people(), order("upper")
    names = [f"{NAMES[i]}__{NAMES[j]}" for i, j in pairs]
    columns = {
        "Subject_ID": ["a", "b", "c", "d"],
        "diagnosis": ["control", "AD", "AD", "control"],
        "AGE": [70, 71.5, 72, 73],
    }
    path = save(tmp_path / "study.csv", matrices, pairs, names, **columns, bdi_1=[1, 2, 3, 4])
    cohort = read_cohort(path, atlas="unknown")
    assert [subject.group for subject in cohort] == ["NC", "AD", "AD", "NC"]
    assert cohort["b"].phenotypes == {"age": 71.5, "bdi_1": 2}
    assert any("control to NC" in note for note in cohort.notes)
    in_folder = read_cohort(tmp_path, atlas="unknown")  # where it is not taken for a table of phenotypes
    assert in_folder.ids == ("a", "b", "c", "d")
    (tmp_path / "participants.tsv").write_text("participant_id\tsite\na\tX\nb\tY\nz\tX\n")
    both = read_cohort(tmp_path, atlas="unknown")
    assert both["b"].phenotypes == {"age": 71.5, "bdi_1": 2, "site": "Y"}
    assert (both["b"].group, both.unmatched_rows) == ("AD", ("z",))


def test_sessions_of_a_person_are_recordings(tmp_path):
    names = [f"{NAMES[i]}__{NAMES[j]}" for i, j in order("upper")]
    columns = {"participant_id": ["sub-1", "sub-1", "sub-2", "sub-2"], "session": [1, 2, 1, 2]}
    path = save(tmp_path / "fc.csv", people(), order("upper"), names, **columns)
    cohort = read_cohort(path, atlas="unknown")
    assert cohort.ids == ("sub-1_ses-1", "sub-1_ses-2", "sub-2_ses-1", "sub-2_ses-2")
    assert cohort.persons == ("sub-1", "sub-1", "sub-2", "sub-2")


@pytest.mark.parametrize("triangle", ["upper", "lower"])
def test_columns_that_only_count_are_asked_about(tmp_path, triangle):
    matrices = people(n=20)
    names = [f"edge_{i}" for i in range(1, 191)]
    path = save(tmp_path / "fc.csv", matrices, order(triangle, 20), names, subject=list("abcd"), age=[1, 2, 3, 4])
    asked = question(path, atlas="unknown")
    assert asked.option == "triangle"
    assert asked.choices == ("upper", "lower", "upper-diagonal", "lower-diagonal")
    assert asked.consequences["upper"].startswith("20 regions")
    assert asked.consequences["lower-diagonal"].startswith("19 regions")
    assert f"suggests {triangle}" in asked.question  # the wrong order is no matrix of correlations
    cohort = read_cohort(path, atlas="unknown", options=ReadOptions(triangle=triangle))
    np.testing.assert_allclose(cohort["d"].connectivity, off_diagonal(matrices[3]))
    assert cohort["d"].phenotypes == {"age": 4}
    shown = CliRunner().invoke(app, ["info", str(path), "--atlas", "unknown", "--triangle", triangle])
    assert shown.exit_code == 0, shown.output


def test_the_atlas_the_user_names_is_evidence_and_narrows_the_choices(tmp_path):
    """Mirrored regions are connected most in a matrix made so; only one of the two orders has them there."""
    atlas = load_atlas("aal90")
    matrix = np.full((90, 90), 0.1)
    left, right = np.arange(0, 90, 2), np.arange(1, 90, 2)  # AAL has them side by side
    matrix[left, right] = matrix[right, left] = 0.8
    np.save(tmp_path / "fc.npy", vectors([matrix, matrix], order("lower", 90)))
    asked = question(tmp_path / "fc.npy", atlas="aal90")
    assert set(asked.choices) == {"upper", "lower"}
    numbers = asked.question.partition("two hemispheres is ")[2].split(" ")
    assert float(numbers[0]) < 0.3
    assert float(numbers[4]) > 0.7
    other = save(tmp_path / "x.csv", [matrix] * 2, order("upper", 90), [f"edge_{i}" for i in range(4005)])
    refused("chosen atlas has 116", read_cohort, other, atlas="aal116")
    cohort = read_cohort(
        tmp_path / "fc.npy", atlas="aal90", options=ReadOptions(triangle="lower", connectivity="functional")
    )
    assert cohort.atlas is atlas
    np.testing.assert_allclose(cohort.subjects[1].connectivity, off_diagonal(matrix))


@pytest.mark.parametrize("triangle", ["upper-diagonal", "lower-diagonal"])
@pytest.mark.parametrize("value", [1.0, 0.0, np.nan])
def test_a_diagonal_of_one_value_says_the_order(tmp_path, triangle, value):
    matrices = people(n=20)
    matrices[:, range(20), range(20)] = value
    np.save(tmp_path / "fc.npy", vectors(matrices, order(triangle, 20)))
    cohort = read_cohort(tmp_path / "fc.npy", atlas="unknown", options=ReadOptions(kind="pairs"))
    assert cohort.atlas.n_regions == 20
    np.testing.assert_allclose(cohort.subjects[2].connectivity, np.nan_to_num(matrices[2]))
    assert "diagonal" in cohort.subjects[2].source.options["order of pairs"]


SAVE = {
    "fc.npy": np.save,
    "fc.npz": lambda path, values: np.savez(path, fc=values),
    "v5.mat": lambda path, values: scipy.io.savemat(path, {"fc": values}),
    "v73.mat": save_mat73,
}


@pytest.mark.parametrize("name", SAVE)
@pytest.mark.parametrize("along", ["first", "last"])
def test_arrays_of_people_and_pairs(tmp_path, name, along):
    matrices = people(5, n=60)
    values = vectors(matrices, order("upper", 60))
    SAVE[name](tmp_path / name, values if along == "first" else values.T)
    assert question(tmp_path / name, atlas="unknown").option == "kind"  # 1,770 time points of 5 regions are possible
    asked = question(tmp_path / name, atlas="unknown", options=ReadOptions(kind="pairs"))
    assert asked.option == "triangle"
    cohort = read_cohort(tmp_path / name, atlas="unknown", options=ReadOptions(kind="pairs", triangle="upper"))
    assert len(cohort) == 5
    np.testing.assert_allclose(cohort.subjects[4].connectivity, off_diagonal(matrices[4]))
    atlas = numbered_atlas(60)
    assert question(tmp_path / name, atlas=atlas).option == "triangle"  # which settles that it is no series


def test_names_of_people_in_an_archive_say_that_it_is_people(tmp_path):
    matrices = people(5, n=60)
    np.savez(tmp_path / "fc.npz", fc=vectors(matrices, order("upper", 60)), subject=list("abcde"))
    assert question(tmp_path / "fc.npz", atlas="unknown").option == "triangle"
    cohort = read_cohort(tmp_path / "fc.npz", atlas="unknown", options=ReadOptions(triangle="upper"))
    assert cohort.ids == tuple("abcde")


def test_as_many_people_as_there_are_pairs_is_asked(tmp_path):
    np.save(tmp_path / "fc.npy", np.random.default_rng(0).standard_normal((10, 6)))
    asked = question(tmp_path / "fc.npy", atlas="unknown", options=ReadOptions(kind="pairs"))
    assert asked.option == "subject_axis"
    assert asked.consequences == {
        "first": "10 people and the pairs of 4 regions",
        "last": "6 people and the pairs of 5 regions",
    }
    options = ReadOptions(kind="pairs", subject_axis="last", triangle="upper")
    assert len(read_cohort(tmp_path / "fc.npy", atlas="unknown", options=options)) == 6


def test_series_stay_series(tmp_path, rng):
    """As many time points as some regions have pairs are no question, unless they are too many for regions."""
    np.save(tmp_path / "s.npy", rng.standard_normal((190, 12)))
    assert question(tmp_path / "s.npy", atlas="unknown").option == "orientation"
    np.save(tmp_path / "long.npy", rng.standard_normal((1770, 12)))
    assert question(tmp_path / "long.npy", atlas="unknown").option == "kind"
    cohort = read_cohort(tmp_path / "long.npy", atlas=numbered_atlas(12))
    assert cohort.subjects[0].series.shape == (1770, 12)
    options = ReadOptions(kind="series", orientation="time-region")
    assert read_cohort(tmp_path / "long.npy", atlas="unknown", options=options).atlas.n_regions == 12


def test_a_wide_table_without_names_is_asked_about(tmp_path):
    matrices = people(3, n=60)
    values = vectors(matrices, order("upper", 60))
    (tmp_path / "fc.txt").write_text("\n".join(" ".join(map(repr, row.tolist())) for row in values))
    assert question(tmp_path / "fc.txt", atlas="unknown").option == "kind"
    said = ReadOptions(kind="pairs", triangle="upper")
    cohort = read_cohort(tmp_path / "fc.txt", atlas="unknown", options=said)
    np.testing.assert_allclose(cohort.subjects[2].connectivity, off_diagonal(matrices[2]))
    assert read_cohort(tmp_path / "fc.txt", atlas="unknown", options=said).ids == ("fc_1", "fc_2", "fc_3")


def test_the_word_on_pairs_holds_where_names_only_count(tmp_path):
    names = [f"item{i}" for i in range(1, 11)]
    save(tmp_path / "fc.csv", people(), order("upper"), names, subject=list("abcd"), group=["NC", "AD"] * 2)
    cohort = read_cohort(tmp_path, atlas="unknown", options=ReadOptions(kind="pairs", triangle="upper"))
    assert [subject.group for subject in cohort] == ["NC", "AD", "NC", "AD"]


def broken(names=None, cell=None, drop=None, ids=None):
    def write(path):
        pairs = order("upper")
        save(path, people(), pairs, names or [f"{NAMES[i]}__{NAMES[j]}" for i, j in pairs], subject=ids or list("abcd"))
        lines = path.read_text().splitlines()
        if cell is not None:
            lines[2] = ",".join([*lines[2].split(",")[:-1], cell])
        if drop is not None:
            lines = [",".join(line.split(",")[:drop] + line.split(",")[drop + 1 :]) for line in lines]
        path.write_text("\n".join(lines))

    return write


TWICE = [f"{a}__{b}" for a, b in combinations(NAMES, 2)]
TWICE[3] = TWICE[2]


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (broken(drop=3), "1 pair of them, such as .*, have no column"),
        (broken(cell="much"), "Line 3, column 11 holds 'much' where a number belongs"),
        (broken(cell="1_000"), "holds '1_000' where a number belongs"),
        (broken(cell="0.1,0.2"), "Line 3 has 12 values where line 2 has 11"),
        (broken(ids=["a", "b", "a", "d"]), "two rows for 'a'"),
        (broken(ids=["a", "", "c", "d"]), "1 row without a subject id"),
        (broken(cell="inf"), "not finite"),
    ],
)
def test_tables_that_do_not_add_up_get_a_sentence(tmp_path, write, sentence):
    write(tmp_path / "fc.csv")
    try:
        cohort = read_cohort(tmp_path / "fc.csv", atlas="unknown")
    except InputError as error:
        said = str(error)
    else:
        said = str(reasons(cohort))
    assert re.search(sentence, said)


def test_a_pair_that_has_two_columns_is_refused():
    refused("the same pair of regions", named_pairs, ["A__B", "A__C", "A__D", "B__C", "B__D", "C__D", "A__B"])


def test_both_directions_of_a_pair_must_agree(tmp_path):
    matrices = people()
    pairs = [(i, j) for i in range(N) for j in range(N) if i != j]
    names = [f"{NAMES[i]}->{NAMES[j]}" for i, j in pairs]
    cohort = read_cohort(save(tmp_path / "fc.csv", matrices, pairs, names), atlas="unknown")
    np.testing.assert_allclose(cohort.subjects[0].connectivity, off_diagonal(matrices[0]))
    matrices[:, 1, 0] += 0.5
    refused("Directed connectivity", read_cohort, save(tmp_path / "fc.csv", matrices, pairs, names), atlas="unknown")


@pytest.mark.parametrize(
    "names",
    [
        ["subject", "group", "age_at_scan", "sex", "bdi_1", "bdi_2", "bdi_3"],
        ["subject", *(f"bdi_{i}" for i in range(1, 22))],  # 21 items, and 7 regions have 21 pairs
        ["pre_post", "pre_follow", "post_follow"],
        load_atlas("aal90").regions,
        load_atlas("schaefer100").regions,
        [f"#{i}" for i in range(190)],
        [],
    ],
)
def test_other_tables_are_none_of_pairs(names):
    assert named_pairs(names) is None
    assert counted_pairs(names) is None


def test_it_is_refused_before_memory_is_taken(tmp_path, monkeypatch):
    np.save(tmp_path / "fc.npy", np.zeros((301, 4950), "f4"))
    options = ReadOptions(kind="pairs", triangle="upper")
    monkeypatch.setenv("BIOBGT_MAX_COHORT_BYTES", "1000000")
    refused("BIOBGT_MAX_COHORT_BYTES", read_cohort, tmp_path / "fc.npy", atlas="unknown", options=options)
    monkeypatch.setenv("BIOBGT_MAX_SUBJECTS", "300")
    refused("BIOBGT_MAX_SUBJECTS", read_cohort, tmp_path / "fc.npy", atlas="unknown", options=options)
    np.save(tmp_path / "fc.npy", np.zeros((2, 1202 * 1203 // 2), "f4"))
    refused("BIOBGT_MAX_REGIONS", read_cohort, tmp_path / "fc.npy", atlas="unknown", options=options)


@pytest.mark.skipif(not DATA.is_dir(), reason="real data are not part of the project")
def test_real_connectomes_are_read_as_they_were_written():
    path = DATA / "structural" / "pd_glasser379.npz"
    cohort = read_cohort(path, atlas="unknown", options=ReadOptions(triangle="upper"))
    assert (len(cohort), cohort.atlas.n_regions, cohort.given) == (67, 379, "structural")
    with np.load(path) as archive:
        np.testing.assert_array_equal(
            cohort.subjects[7].connectivity[np.triu_indices(379, 1)], archive["weights"][7].astype(float)
        )
    functional = DATA / "hbn_schaefer200.npz"
    asked = question(functional)
    assert asked.option == "triangle"
    assert "suggests upper" in asked.question
