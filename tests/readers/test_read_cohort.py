"""Files, folders and archives to cohorts, each file opened once."""

import hashlib
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
from reading import as_text, needs_pipes, question, read_beside_a_good_one, reasons, refused, save_table

from biobgt import ChoiceNeeded, ReadOptions, read_cohort
from biobgt.readers.discover import FoundFile, subject_ids
from biobgt.readers.recognise import folders_above, label_table_beside


def write_series(path, rng, n_timepoints=120, n_regions=90):
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = rng.standard_normal((n_timepoints + 4, n_regions))
    values = sum(noise[i : i + n_timepoints] for i in range(4))  # slow in time, as BOLD signals are
    path.write_text(as_text(values, "\t") + "\n")
    return np.round(values, 6)


def test_a_folder_with_groups_and_provenance(tmp_path, rng):
    values = write_series(tmp_path / "sub-01.tsv", rng)
    write_series(tmp_path / "sub-02.tsv", rng)
    (tmp_path / "participants.tsv").write_text("participant_id\tgroup\tage\nsub-01\tAD\t71\nsub-03\tNC\t66\n")
    (tmp_path / "README.txt").write_text("about")
    cohort = read_cohort(tmp_path, name="mine", atlas="aal90")
    assert cohort.name == "mine"
    assert cohort.atlas.name == "aal90"
    np.testing.assert_array_equal(cohort["sub-01"].series, values)
    assert cohort["sub-01"].group == "AD"
    assert cohort["sub-01"].phenotypes == {"age": 71}
    assert cohort.unmatched_subjects == ("sub-02",)
    assert cohort.unmatched_rows == ("sub-03",)
    source = cohort["sub-01"].source
    assert source.file == "sub-01.tsv"
    assert source.sha256 == hashlib.sha256((tmp_path / "sub-01.tsv").read_bytes()).hexdigest()
    assert source.n_bytes == (tmp_path / "sub-01.tsv").stat().st_size
    assert any("1 × .txt" in note for note in cohort.notes)


@pytest.mark.parametrize(
    ("names", "subjects"),
    [
        (["NYU_0050952_rois_cc200.1D"], ["NYU_0050952"]),
        (["UM_1_0050272_rois_aal.1D"], ["UM_1_0050272"]),
        (["0010001/sfnwmrda0010001_session_1_rest_1_cc200_TCs.1D"], ["0010001"]),
        (["0010001/sfnwmrda0010001_session_2_rest_1_cc200_TCs.1D"], ["0010001_session_2_rest_1"]),
        (["sub-01/func/sub-01_ses-2_task-rest_run-1_space-MNI_timeseries.tsv"], ["sub-01_ses-2_run-1"]),
        (["sub-044/timeseries_cc200.csv"], ["sub-044"]),
        (["patient 7.csv"], ["patient 7"]),
        (["anna/fc.csv", "ben/fc.csv", "other.csv"], ["anna", "ben", "other"]),
        (["sub-01/func/ts.csv", "sub-02/func/ts.csv"], ["sub-01", "sub-02"]),
        (["sub-01/ses-1/ts.csv", "sub-01/ses-2/ts.csv"], ["sub-01_ses-1", "sub-01_ses-2"]),
        (["NC/01.csv", "NC/02.csv", "ASD/01.csv", "ASD/02.csv"], ["NC_01", "NC_02", "ASD_01", "ASD_02"]),
        (["sub-CMU-001.csv", "sub-CMU-002.csv"], ["sub-CMU-001", "sub-CMU-002"]),
    ],
)
def test_files_and_folders_name_subjects(names, subjects):
    files = [FoundFile(Path(name), name, folders=("study", *Path(name).parts[:-1])) for name in names]
    assert subject_ids(files) == subjects


def test_one_subjects_folder_and_several_paths(tmp_path, rng):
    first, second = (tmp_path / subject / "ts.csv" for subject in ("sub-01", "sub-02"))
    write_series(first, rng)
    write_series(second, rng)
    assert read_cohort(first.parent, atlas="aal90").ids == ("sub-01",)
    for paths in ([first, second], [first, second.parent]):
        assert read_cohort(paths, atlas="aal90").ids == ("sub-01", "sub-02")


def test_several_tasks_are_a_question(tmp_path, rng):
    for name in ("sub-01_task-nback", "sub-01_task-rest", "sub-02_task-rest"):
        write_series(tmp_path / f"{name}_timeseries.tsv", rng)
    asked = question(tmp_path)
    assert (asked.option, asked.choices) == ("pattern", ("*_task-nback_*", "*_task-rest_*"))
    cohort = read_cohort(tmp_path, atlas="aal90", options=ReadOptions(pattern="*_task-rest_*"))
    assert [one.source.file for one in cohort] == [f"sub-0{i}_task-rest_timeseries.tsv" for i in (1, 2)]


def write_named(path, rng, names):
    frame = pd.DataFrame(rng.standard_normal((30, len(names))), columns=names)
    frame.to_csv(path, index=False)
    return frame


def test_regions_are_put_in_the_same_order_or_refused(tmp_path, rng):
    write_named(tmp_path / "s1.csv", rng, ["A", "B", "C", "D"])
    second = write_named(tmp_path / "s2.csv", rng, ["D", "C", "B", "A"])
    write_named(tmp_path / "s3.csv", rng, ["A", "B", "C", "E"])
    cohort = read_cohort(tmp_path)
    assert cohort.atlas.regions == ("A", "B", "C", "D")
    np.testing.assert_allclose(cohort["s2"].series, second[["A", "B", "C", "D"]])
    assert cohort["s2"].source.options["regions reordered"] is True
    assert "named otherwise" in cohort.refused[0].reason
    assert any("Regions in another order, put right: 1 of 2 subjects." in note for note in cohort.notes)


def test_names_of_another_atlas_of_the_same_size_are_not_taken_for_a_bundled_one(tmp_path, rng):
    write_named(tmp_path / "s.csv", rng, [f"Kong_LH_Vis_{i}" for i in range(200)])
    cohort = read_cohort(tmp_path)
    assert cohort.atlas.coordinates is None
    assert cohort.notes[0].startswith("Craddock CC200 has 200 regions too, but the region names (such as 'Kong_LH_")
    assert read_cohort(tmp_path, atlas="cc200").atlas.name == "cc200"


def test_one_file_of_another_size_does_not_stop_the_rest(tmp_path, rng):
    names = [f"region_{chr(97 + i % 26)}{i}" for i in range(100)]
    for subject in ("a", "b", "c"):
        write_named(tmp_path / f"{subject}.csv", rng, names)
    write_named(tmp_path / "demographics.csv", rng, ["age", "iq"])
    cohort = read_cohort(tmp_path)
    assert cohort.ids == ("a", "b", "c")
    assert cohort.refused[0].file == "demographics.csv"


def test_a_found_phenotype_table_that_cannot_be_used_is_refused(tmp_path):
    (tmp_path / "phenotypic.csv").write_text("note\nhello\n")
    assert "no column of subject ids" in reasons(read_beside_a_good_one(tmp_path))["phenotypic.csv"]


def test_what_was_decided_is_part_of_the_provenance(tmp_path, rng):
    values = write_series(tmp_path / "a.csv", rng)
    np.save(tmp_path / "b.npy", values.T)
    cohort = read_cohort(tmp_path, atlas="aal90")
    assert cohort.atlas_decided_by == cohort["a"].source.options["atlas decided by"] == "the user"
    assert cohort["a"].source.options["orientation decided by"] == "the number of regions of the atlas that was named"
    assert cohort["a"].source.options["orientation"] == "time-region"
    assert cohort["b"].source.options["orientation"] == "region-time"
    assert cohort["b"].source.options["kind"] == "series"
    assert any("Stored region × time, and turned: 1 of 2 subjects." in note for note in cohort.notes)


def test_athena_files_keep_their_region_names(tmp_path, rng):
    names = [f"Mean_{k}" for k in range(1, 201) if k not in {2, 5, 11, 25, 34, 68, 82, 95, 126, 191}]
    table = pd.DataFrame(np.round(rng.standard_normal((170, 190)), 6), columns=names)
    table.insert(0, "Sub-brick", [f"{i}[?]" for i in range(170)])
    table.insert(0, "File", "f.nii.gz")
    table.to_csv(tmp_path / "sfnwmrda0010001_session_1_rest_1_cc200_TCs.1D", sep="\t", index=False)
    cohort = read_cohort(tmp_path)
    np.testing.assert_array_equal(cohort["0010001"].series, table[names])
    assert cohort.atlas.regions[:2] == ("Mean_1", "Mean_3")
    assert cohort.atlas.coordinates is None
    assert any("No bundled atlas has 190 regions" in note for note in cohort.notes)


def test_an_xcpd_tree(tmp_path, rng):
    stem = tmp_path / "sub-01" / "func" / "sub-01_task-rest_space-MNI152NLin2009cAsym_seg-Gordon"
    stem.parent.mkdir(parents=True)
    values = pd.DataFrame(rng.standard_normal((100, 90)), columns=[f"LH_{i}" for i in range(90)])
    matrix = values.corr()
    values["LH_5"] = np.nan
    series, how = Path(f"{stem}_stat-mean_timeseries.tsv"), {"sep": "\t", "na_rep": "n/a"}
    values.to_csv(series, index=False, **how)
    matrix.to_csv(f"{stem}_stat-pearsoncorrelation_relmat.tsv", index_label="Node", **how)
    series.with_name("sub-01_task-rest_motion.tsv").write_text("framewise_displacement\n0.1\n")
    Path(f"{stem}_stat-coverage_bold.tsv").write_text("LH_0\n1.0\n")
    (subject,) = (cohort := read_cohort(tmp_path)).subjects
    assert (subject.id, subject.kind, subject.missing_regions, cohort.refused) == ("sub-01", "series", (5,), ())
    series.unlink()
    again = read_cohort(tmp_path)
    assert again["sub-01"].kind == "connectivity"
    np.testing.assert_allclose(again["sub-01"].connectivity, matrix, atol=1e-8)


def test_several_parcellations_are_a_question_and_the_answer_settles_it(tmp_path, rng):
    for subject in ("sub-1", "sub-2"):
        for atlas, n_regions in (("aal", 116), ("cc200", 200), ("ho", 112)):
            write_series(tmp_path / subject / f"timeseries_{atlas}.csv", rng, n_regions=n_regions)
    asked = question(tmp_path)
    assert (asked.option, asked.choices) == ("atlas", ("aal116", "cc200"))
    cohort = read_cohort(tmp_path, atlas="cc200")
    assert cohort.ids == ("sub-1", "sub-2")
    assert cohort.refused == ()
    assert any("Not read: 4 files of the same subjects" in note for note in cohort.notes)
    assert question(tmp_path, options=ReadOptions(pattern="*_ho*")).option == "orientation"
    in_time = ReadOptions(pattern="*_ho*", orientation="time-region")
    assert "Harvard-Oxford, in another selection or order" in question(tmp_path, options=in_time).question
    assert read_cohort(tmp_path, options=in_time, atlas="unknown").atlas.n_regions == 112


def test_one_unclear_file_is_refused_and_the_rest_is_read(tmp_path, rng):
    write_series(tmp_path / "a.csv", rng, n_regions=116)
    write_series(tmp_path / "b.csv", rng, n_timepoints=116, n_regions=116)
    cohort = read_cohort(tmp_path, atlas="aal116")
    assert cohort.ids == ("a",)
    assert "Choose kind: series or connectivity" in cohort.refused[0].reason


BAD_FILES = {
    "empty.csv": b"",
    "words.csv": b"to be or not to be\nthat is the question\n",
    "ragged.csv": b"1.5,2,3\n4,5\n6,7,8\n",
    "wrong_size.csv": b"1.5,2,3\n4,5,7\n6,7,8\n4,4,4\n",
    "picture.csv": b"\x89PNG\r\n\x1a\n",
    "cut.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (90, 90)",
}


def test_the_rest_of_the_cohort_still_loads(tmp_path, rng):
    for name, content in BAD_FILES.items():
        (tmp_path / name).write_bytes(content)
    with_nan = write_series(tmp_path / "good.csv", rng)
    with_nan[5, 5] = np.nan
    asymmetric = np.corrcoef(rng.standard_normal((90, 200)))
    asymmetric[0, 1] = 0.9
    arrays = {"nan": with_nan, "constant": np.ones((120, 90)), "moment": np.ones((1, 90)), "asymmetric": asymmetric}
    for name, values in arrays.items():
        np.save(tmp_path / f"{name}.npy", values)
    scipy.io.savemat(tmp_path / "struct.mat", {"s": {"x": 1}})
    (tmp_path / "outside.csv").symlink_to(tmp_path.parent / "elsewhere.csv")
    cohort = read_cohort(tmp_path, atlas="aal90")
    assert cohort.ids == ("good",)
    assert set(reasons(cohort)) == {*BAD_FILES, *(f"{name}.npy" for name in arrays), "struct.mat", "outside.csv"}
    for reason in reasons(cohort).values():
        assert (reason[0].isupper(), reason[-1], "Traceback" in reason) == (True, ".", False)


def test_nothing_readable_is_an_error_that_says_why(tmp_path):
    for name, content in BAD_FILES.items():
        (tmp_path / name).write_bytes(content)
    refused("None of the 6 files", read_cohort, tmp_path, atlas="aal90")
    refused(r"'ragged.csv' could not be read. Line 2 has 2 values", read_cohort, tmp_path / "ragged.csv")
    refused("no file or folder", read_cohort, tmp_path / "nowhere")


def test_the_same_subject_twice_is_refused_once(tmp_path, rng):
    write_series(tmp_path / "one" / "sub-01.csv", rng)
    write_series(tmp_path / "two" / "sub-01.csv", rng)
    cohort = read_cohort(tmp_path, atlas="aal90")
    assert cohort.ids == ("sub-01",)
    assert cohort["sub-01"].source.file == "one/sub-01.csv"
    assert "Subject 'sub-01' was read from 'one/sub-01.csv' already" in cohort.refused[0].reason


def test_links_within_the_folder_are_followed(tmp_path, rng):
    write_series(tmp_path / ".git" / "annex" / "key", rng)
    (tmp_path / "sub-01.csv").symlink_to(tmp_path / ".git" / "annex" / "key")
    (tmp_path / "sub-02.csv").symlink_to(tmp_path / ".git" / "annex" / "lost")
    cohort = read_cohort(tmp_path, atlas="aal90")
    assert cohort.ids == ("sub-01",)
    assert "datalad get" in cohort.refused[0].reason


def test_stacks_beside_names(tmp_path, rng):
    stack = np.stack([np.corrcoef(rng.standard_normal((90, 200))) for _ in range(3)])
    np.savez(tmp_path / "study.npz", connectivity=stack, subject=["x", "y", "z"])
    assert read_cohort(tmp_path / "study.npz", atlas="aal90").ids == ("x", "y", "z")
    np.save(tmp_path / "study.npy", stack)
    assert read_cohort(tmp_path / "study.npy", atlas="aal90").ids == ("study_1", "study_2", "study_3")


def test_a_refused_file_has_no_say_in_how_the_atlas_was_decided(tmp_path, rng):
    """The regions of one file have names of another atlas. It lacks a value and is refused; the others name nothing."""
    for name in ("a", "b"):
        write_series(tmp_path / f"{name}.tsv", rng)
    values = pd.DataFrame(rng.standard_normal((120, 90)).cumsum(axis=0), columns=[f"Area {i}R" for i in range(90)])
    values.to_csv(tmp_path / "c.csv", index=False)
    how = ReadOptions(orientation="time-region")
    assert read_cohort(tmp_path, atlas="aal90", options=how).atlas_decided_by == "the user, against the region names"
    values.iloc[5, 4] = np.nan
    values.to_csv(tmp_path / "c.csv", index=False)
    cohort = read_cohort(tmp_path, atlas="aal90", options=how)
    assert (cohort.ids, [refusal.file for refusal in cohort.refused]) == (("a", "b"), ["c.csv"])
    assert cohort.atlas_decided_by == "the user"
    assert "But " not in cohort.notes[0]


_opened: Counter[str] = Counter()
_watched: list[str] = []


def _watch(event: str, arguments: tuple) -> None:
    """Python cannot take an audit hook back, so it stays and counts only while a folder is watched."""
    if event == "open" and _watched and str(arguments[0]).startswith(_watched[0]):
        _opened[Path(str(arguments[0])).name] += 1


sys.addaudithook(_watch)


@pytest.fixture
def opened():
    """How often each file of the test's folder was opened since the test began to read."""
    _opened.clear()
    yield _opened
    _watched.clear()


def write_study(folder) -> None:
    rng = np.random.default_rng(0)
    for name in ("sub-01", "sub-02"):
        table = pd.DataFrame(rng.standard_normal((400, 20)).cumsum(axis=0), columns=[f"area{i}x" for i in range(20)])
        table.to_csv(folder / f"{name}.tsv", sep="\t", index=False)
        table.T.to_csv(folder / f"{name}-named.csv", header=False)  # words in the first column, beyond the first 64 KB
    (folder / "participants.tsv").write_text("participant_id\tgroup\nsub-01\tNC\nsub-02\tASD\n")
    (folder / "people.csv").write_text("who,age\nsub-01,20\nsub-02,30\n")


@pytest.mark.parametrize("pattern", ["*.tsv", "*-named.csv"])
def test_every_text_file_of_a_folder_is_opened_at_most_twice(tmp_path, opened, pattern):
    write_study(tmp_path)
    _watched.append(str(tmp_path) + os.sep)
    cohort = read_cohort(tmp_path, atlas="unknown", options=ReadOptions(pattern=pattern))
    assert len(cohort) == 2
    assert set(opened) >= {"sub-01.tsv", "sub-02-named.csv", "participants.tsv"}
    assert max(opened.values()) <= 2, opened


def test_abide_files(shared_data):
    cohort = read_cohort(shared_data / "raw" / "abide", phenotypes=shared_data / "abide_phenotypes.csv")
    assert len(cohort) == 8
    assert cohort.atlas.name == "cc200"
    assert dict(cohort.group_sizes) == {"NC": 3, "ASD": 5}
    assert cohort.refused == ()
    subject = cohort["NYU_0050952"]
    table = pd.read_csv(shared_data / "raw" / "abide" / "NYU_0050952_rois_cc200.1D", sep="\t")
    np.testing.assert_array_equal(subject.series, table.to_numpy())
    assert subject.phenotypes["site"] == "NYU"


def test_a_cni_folder(shared_data):
    folder = shared_data / "raw" / "cni2019"
    with pytest.raises(ChoiceNeeded, match="more than one atlas"):
        read_cohort(folder)
    cohort = read_cohort(folder, atlas="cc200")
    assert dict(cohort.group_sizes) == {"NC": 2, "ADHD": 2}
    raw = np.loadtxt(folder / "sub-044" / "timeseries_cc200.csv", delimiter=",")
    np.testing.assert_array_equal(cohort["sub-044"].series, raw.T)  # region by time, as released


@pytest.mark.parametrize(
    ("name", "phenotypes", "atlas", "groups"),
    [
        ("abide_cc200", "abide", "cc200", {"NC": 462, "ASD": 437}),
        ("abide_aal116", "abide", "aal116", {"NC": 462, "ASD": 437}),
        ("cni2019_cc200", "cni2019", "cc200", {"NC": 120, "ADHD": 120}),
    ],
)
def test_cohort_archives(shared_data, name, phenotypes, atlas, groups):
    cohort = read_cohort(shared_data / f"{name}.npz", phenotypes=shared_data / f"{phenotypes}_phenotypes.csv")
    assert cohort.atlas.name == atlas
    assert dict(cohort.group_sizes) == groups
    assert cohort.unmatched_subjects == ()
    assert cohort.unmatched_rows == ()


def test_the_archive_and_the_release_agree(shared_data):
    archive = read_cohort(shared_data / "abide_cc200.npz")
    raw = read_cohort(shared_data / "raw" / "abide")
    for subject in raw:
        standardised = (subject.series - subject.series.mean(axis=0)) / subject.series.std(axis=0)
        np.testing.assert_allclose(archive[subject.id].series, standardised, atol=5e-3)


REGIONS = "index\tlabel\n1\tleft\n2\tright\n3\tmiddle\n"


@needs_pipes
def test_pipes_are_refused_without_waiting_for_a_writer(tmp_path):
    names = {"evil.zip", "participants.tsv", "sub-09.csv", "atlas_dseg.tsv", "a_hemi-L.label.gii"}
    for name in names:
        os.mkfifo(tmp_path / name)
    found = reasons(read_beside_a_good_one(tmp_path))
    assert set(found) == names
    assert all("It is a pipe" in reason for reason in found.values())
    refused(r"'evil\.zip' is a folder, a pipe or a device", read_cohort, tmp_path / "evil.zip")


@pytest.mark.parametrize("place", ["atlases", "atlases/deeper"])
def test_labels_behind_a_link_are_read_within_the_folder_alone(tmp_path, place):
    folder, outside = tmp_path / "study", tmp_path / "outside"
    (folder / place).parent.mkdir(parents=True)
    outside.mkdir()
    (outside / "x_dseg.tsv").write_text(REGIONS)
    (outside / "x_hemi-L.label.gii").touch()
    path = save_table(folder / "sub-01.csv")
    (folder / place).symlink_to(outside, target_is_directory=True)
    assert label_table_beside(path, folder) is None
    assert all(above.resolve() != outside for above in folders_above(path, folder))
    (folder / place).unlink()
    inside = outside.rename(folder / "shared")
    (folder / place).symlink_to(inside, target_is_directory=True)
    assert label_table_beside(path, folder) == ("x_dseg.tsv", ("left", "right", "middle"))
