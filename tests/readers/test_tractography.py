"""Structural connectomes as programs write them: MRtrix's tables, QSIRecon's MATLAB files."""

import numpy as np
import pytest
import scipy.io
from reading import question, reasons

from biobgt import ReadOptions, load_atlas, read_cohort

COUNTS = np.array([[9, 30, 0, 2], [30, 7, 11, 0], [0, 11, 5, 4], [2, 0, 4, 8]])
HISTORY = "# command_history: tck2connectome tracks.tck nodes.mif connectome.csv (version=3.0.4)"


@pytest.mark.parametrize("separator", [" ", ",", "\t"])
@pytest.mark.parametrize("header", [HISTORY, ""])
@pytest.mark.parametrize(("triangle", "part"), [("upper", np.triu), ("lower", np.tril), ("", np.asarray)])
def test_one_triangle_as_mrtrix_writes_it_is_mirrored_openly(tmp_path, separator, header, triangle, part):
    rows = [separator.join(map(str, row)) for row in part(COUNTS).tolist()]
    (tmp_path / "sub-01.csv").write_text("\n".join([header, *rows] if header else rows) + "\n")
    cohort = read_cohort(tmp_path / "sub-01.csv", atlas="unknown")
    np.testing.assert_array_equal(cohort["sub-01"].connectivity, COUNTS)
    assert cohort.given == "structural"
    assert any("was mirrored: 1 of 1 subject" in note for note in cohort.notes) == bool(triangle)
    assert cohort["sub-01"].source.options.get("only triangle filled") == (triangle or None)


def test_a_triangle_behind_which_values_are_missing_is_mirrored(tmp_path):
    np.save(tmp_path / "s.npy", np.where(np.tri(4, k=-1, dtype=bool), np.nan, COUNTS))
    cohort = read_cohort(tmp_path / "s.npy", atlas="unknown")
    np.testing.assert_array_equal(cohort["s"].connectivity, COUNTS)


def test_one_value_below_the_diagonal_is_no_triangle(tmp_path):
    matrix = np.triu(COUNTS).astype(float)
    matrix[3, 0] = 1
    np.save(tmp_path / "s.npy", matrix)
    assert question(tmp_path / "s.npy", atlas="unknown").option == "kind"


def test_a_stack_of_triangles_lies_along_the_other_axis(tmp_path):
    np.save(tmp_path / "s.npy", np.stack([np.triu(COUNTS), np.triu(2 * COUNTS)], axis=-1))
    cohort = read_cohort(tmp_path / "s.npy", atlas="unknown")
    np.testing.assert_array_equal(cohort["s_2"].connectivity, 2 * COUNTS)


def save_qsirecon(path, labels, **changed):
    atlas = load_atlas("aal116")
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 90, (116, 116))
    counts += counts.T
    scipy.io.savemat(
        path,
        {
            "AAL116_sift_invnodevol_radius2_count_connectivity": counts / 7,
            "AAL116_radius2_count_connectivity": counts,
            "AAL116_radius2_meanlength_connectivity": counts * 0.5,
            "AAL116_region_ids": np.arange(1, 117),
            "AAL116_region_labels": np.array(labels(atlas.regions)),
            "command": "tck2connectome",
            **changed,
        },
    )
    return counts


def test_which_matrix_of_qsirecon_is_asked_and_its_regions_have_their_names(tmp_path):
    counts = save_qsirecon(tmp_path / "sub-01_dwimap-fod_connectivity.mat", lambda regions: regions[::-1])
    asked = question(tmp_path)
    assert asked.option == "variable"
    assert set(asked.choices) == {
        "AAL116_sift_invnodevol_radius2_count_connectivity",
        "AAL116_radius2_count_connectivity",
        "AAL116_radius2_meanlength_connectivity",
    }
    cohort = read_cohort(tmp_path, options=ReadOptions(variable="AAL116_radius2_count_connectivity"))
    assert (cohort.ids, cohort.atlas.name, cohort.given) == (("sub-01",), "aal116", "structural")
    np.testing.assert_array_equal(cohort["sub-01"].connectivity, counts[::-1, ::-1])  # in the atlas's order


def test_labels_that_are_not_as_many_as_regions_name_nothing(tmp_path):
    save_qsirecon(tmp_path / "s.mat", lambda regions: regions[:50])
    options = ReadOptions(variable="AAL116_radius2_count_connectivity")
    cohort = read_cohort(tmp_path / "s.mat", atlas="unknown", options=options)
    assert cohort.atlas.regions[0] == "Region 1"
    assert not reasons(cohort)


def test_all_matrices_of_many_atlases_can_be_chosen(tmp_path):
    more = {f"Atlas{i}_{what}_connectivity": np.eye(3) for i in range(12) for what in ("count", "length")}
    save_qsirecon(tmp_path / "s.mat", lambda regions: regions, **more)
    asked = question(tmp_path / "s.mat")
    assert len(asked.choices) == 27
    assert "and 7 more" in asked.question
