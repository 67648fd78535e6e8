"""A stack of matrices, or people and pairs, beside a table whose rows may be its subjects in order."""

from pathlib import Path

import numpy as np
import pytest
from reading import question, reasons
from typer.testing import CliRunner

from biobgt import ReadOptions, read_cohort
from biobgt.cli.main import app

NBS = Path(__file__).parents[3] / "shared" / "data" / "nbs_example"
IN_ORDER = ReadOptions(rows="in-order")


def stack(folder, n=5, name="fc.npy", axis=-1):
    rng = np.random.default_rng(0)
    matrices = np.stack([np.corrcoef(rng.standard_normal((n, 40))) for _ in range(4)])
    np.save(folder / name, np.moveaxis(matrices, 0, axis))
    return matrices


def table(folder, ids=("sub-4", "sub-2", "sub-3", "sub-1")):
    rows = [
        f"{one}\t{group}\t{age}"
        for one, group, age in zip(ids, ["NC", "AD", "AD", "NC"], [61, 62, 63, 64], strict=False)
    ]
    (folder / "participants.tsv").write_text("\n".join(["participant_id\tgroup\tage", *rows]) + "\n")


def test_rows_are_the_subjects_only_if_the_user_says_so(tmp_path):
    matrices = stack(tmp_path)
    table(tmp_path)  # whose numbers would be the stack's, in another order
    asked = question(tmp_path, atlas="unknown")
    assert (asked.option, asked.choices) == ("rows", ("in-order", "apart"))
    assert asked.consequences["in-order"] == "subject 1 is 'sub-4' of group NC, and subject 4 is 'sub-1' of group NC"
    cohort = read_cohort(tmp_path, atlas="unknown", options=IN_ORDER)
    assert cohort.ids == ("sub-4", "sub-2", "sub-3", "sub-1")
    assert [one.group for one in cohort] == ["NC", "AD", "AD", "NC"]
    assert cohort["sub-2"].phenotypes == {"age": 62}
    for subject, matrix in zip(cohort, matrices, strict=True):
        np.testing.assert_allclose(subject.connectivity, matrix)
    apart = read_cohort(tmp_path, atlas="unknown", options=ReadOptions(rows="apart"))
    assert apart.ids == ("fc_1", "fc_2", "fc_3", "fc_4")
    assert (apart.group_sizes, apart.unmatched_subjects) == ({}, apart.ids)
    shown = CliRunner().invoke(app, ["info", str(tmp_path), "--atlas", "unknown", "--rows", "in-order"])
    assert shown.exit_code == 0, shown.output


def test_another_number_of_rows_is_not_used(tmp_path):
    stack(tmp_path)
    table(tmp_path, ids=("sub-1", "sub-2", "sub-3"))
    cohort = read_cohort(tmp_path, atlas="unknown", options=IN_ORDER)
    assert cohort.group_sizes == {}
    assert any("Not used: 3 rows" in note for note in cohort.notes)


def test_a_subject_that_is_refused_does_not_move_the_rows(tmp_path):
    matrices = stack(tmp_path, axis=0)
    matrices[1, 0, 1] = np.inf
    np.save(tmp_path / "fc.npy", matrices)
    table(tmp_path)
    cohort = read_cohort(tmp_path, atlas="unknown", options=ReadOptions(rows="in-order", subject_axis="first"))
    assert cohort.ids == ("sub-4", "sub-3", "sub-1")
    assert [one.phenotypes["age"] for one in cohort] == [61, 63, 64]
    assert "not finite" in reasons(cohort)["fc.npy"]


def test_people_and_pairs_without_ids_are_asked_about_too(tmp_path):
    matrices = stack(tmp_path)
    rows, columns = np.triu_indices(5, 1)
    np.save(tmp_path / "fc.npy", matrices[:, rows, columns])
    table(tmp_path)
    said = {"kind": "pairs", "triangle": "upper", "subject_axis": "first"}
    assert question(tmp_path, atlas="unknown", options=ReadOptions(**said)).option == "rows"
    cohort = read_cohort(tmp_path, atlas="unknown", options=ReadOptions(**said, rows="in-order"))
    assert cohort["sub-3"].connectivity[rows, columns] == pytest.approx(matrices[2][rows, columns])


@pytest.mark.parametrize("axis", [0, -1])
def test_with_two_equal_sizes_the_third_is_the_subjects(tmp_path, axis):
    matrices = stack(tmp_path, axis=axis)
    np.testing.assert_allclose([one.connectivity for one in read_cohort(tmp_path, atlas="unknown")], matrices)
    cube = stack(tmp_path, n=4, axis=axis)
    np.testing.assert_allclose([one.connectivity for one in read_cohort(tmp_path, atlas="unknown")], cube)
    same = np.full((4, 4, 4), 0.5)  # symmetric along any axis
    np.save(tmp_path / "fc.npy", same)
    assert question(tmp_path, atlas="unknown").option == "subject_axis"


def test_a_design_matrix_gives_groups_and_covariates_in_order(tmp_path):
    stack(tmp_path)
    (tmp_path / "designMatrix.txt").write_text("1 0 61.5\n0 1 62\n0 1 63\n1 0 64\n")
    asked = question(tmp_path, atlas="unknown")
    assert asked.option == "rows"
    assert asked.consequences["in-order"] == "subject 1 is of group design 1, and subject 4 is of group design 1"
    cohort = read_cohort(tmp_path, atlas="unknown", options=IN_ORDER)
    assert cohort.ids == ("fc_1", "fc_2", "fc_3", "fc_4")
    assert [one.group for one in cohort] == ["design 1", "design 2", "design 2", "design 1"]
    assert [one.phenotypes["design 3"] for one in cohort] == [61.5, 62, 63, 64]
    named = read_cohort(
        tmp_path / "fc.npy", atlas="unknown", phenotypes=tmp_path / "designMatrix.txt", options=IN_ORDER
    )
    assert [one.group for one in named] == [one.group for one in cohort]
    table(tmp_path)  # a table with ids comes before it
    assert "AD" in read_cohort(tmp_path, atlas="unknown", options=IN_ORDER).group_sizes


def test_a_design_matrix_beside_files_with_ids_is_not_used(tmp_path):
    for name in ("a", "b"):
        np.savetxt(tmp_path / f"{name}.csv", np.random.default_rng(ord(name)).standard_normal((30, 4)), delimiter=",")
    (tmp_path / "design.txt").write_text("1 0\n0 1\n")
    cohort = read_cohort(tmp_path, atlas="unknown", options=ReadOptions(orientation="time-region"))
    assert cohort.ids == ("a", "b")
    assert any("no subject ids" in note for note in cohort.notes)


def test_labels_and_places_beside_a_stack_are_its_regions(tmp_path):
    stack(tmp_path)
    (tmp_path / "nodeLabels.txt").write_text("A\r\nB\r\nSub\r\nSub\r\nC")
    (tmp_path / "COG.txt").write_text("\n".join(f"{i}.5 -20 {i}" for i in range(5)))
    cohort = read_cohort(tmp_path)
    assert cohort.atlas.regions == ("A", "B", "Sub (3)", "Sub (4)", "C")
    np.testing.assert_array_equal(cohort.atlas.coordinates[4], [4.5, -20, 4])
    assert not cohort.refused
    (tmp_path / "nodeLabels.txt").write_text("A\nB\n")
    assert read_cohort(tmp_path).atlas.regions[0] == "Region 1"


@pytest.mark.skipif(not NBS.is_dir(), reason="real data are not part of the project")
def test_the_nbs_toolboxs_own_example():
    cohort = read_cohort(NBS, options=IN_ORDER)
    assert (len(cohort), cohort.atlas.n_regions, cohort.given) == (27, 74, "functional")
    assert cohort.group_sizes == {"design 1": 12, "design 2": 15}
    assert cohort.atlas.regions[:2] == ("Precentral_L", "Precentral_R")
    np.testing.assert_array_equal(cohort.atlas.coordinates[0], [38, -6, 50])
    assert not cohort.refused
