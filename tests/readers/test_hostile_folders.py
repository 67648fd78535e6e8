"""Folders with what is no file in them, and with links that lead elsewhere."""

import os

import nibabel
import numpy as np
import pytest

from biobgt import ImageOptions, InputError, read_cohort
from biobgt.data.atlas import numbered_atlas
from biobgt.readers.images import read_image
from biobgt.readers.recognise import folders_above, label_table_beside

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


REGIONS = "index\tlabel\n1\tleft\n2\tright\n3\tmiddle\n"


def save_table(path, rng):
    np.savetxt(path, rng.standard_normal((20, 3)), "%.4f", ",")


@needs_pipes
def test_pipes_are_refused_without_waiting_for_a_writer(tmp_path, rng):
    save_table(tmp_path / "good.csv", rng)
    names = ["evil.zip", "participants.tsv", "sub-09.csv", "atlas_dseg.tsv", "a_hemi-L.label.gii"]
    for name in names:
        os.mkfifo(tmp_path / name)
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("good",)
    assert sorted(refusal.file for refusal in cohort.refused) == sorted(names)
    assert all("It is a pipe" in refusal.reason for refusal in cohort.refused)


@needs_pipes
def test_a_pipe_that_is_named_as_archive_is_refused(tmp_path):
    os.mkfifo(tmp_path / "evil.zip")
    with pytest.raises(InputError, match=r"'evil\.zip' is a folder, a pipe or a device"):
        read_cohort(tmp_path / "evil.zip")


@needs_pipes
def test_confounds_that_are_a_pipe_are_refused(tmp_path, rng):
    name, affine = "sub-01_task-rest_desc-preproc_bold.nii", np.eye(4)
    labels = np.ones((4, 4, 4), np.int16)
    labels[2:] = 2
    nibabel.save(nibabel.Nifti1Image(rng.standard_normal((4, 4, 4, 9)), affine), tmp_path / name)
    nibabel.save(nibabel.Nifti1Image(labels, affine), tmp_path / "labels.nii")
    os.mkfifo(tmp_path / "sub-01_task-rest_desc-confounds_timeseries.tsv")
    options = ImageOptions(labels=tmp_path / "labels.nii", confounds="simple")
    with pytest.raises(InputError, match=r"confounds_timeseries\.tsv' are no file"):
        read_image(tmp_path / name, options=options)


@pytest.mark.parametrize("place", ["atlases", "atlases/deeper"])
def test_labels_behind_a_link_out_of_the_folder_are_not_read(tmp_path, rng, place):
    folder, outside = tmp_path / "study", tmp_path / "outside"
    (folder / place).parent.mkdir(parents=True)
    outside.mkdir()
    (outside / "x_dseg.tsv").write_text(REGIONS)
    (outside / "x_hemi-L.label.gii").touch()
    save_table(folder / "sub-01.csv", rng)
    (folder / place).symlink_to(outside, target_is_directory=True)
    assert label_table_beside(folder / "sub-01.csv", folder) is None
    assert all(above.resolve() != outside for above in folders_above(folder / "sub-01.csv", folder))
    (folder / place).unlink()
    outside.rename(folder / place)
    table = label_table_beside(folder / "sub-01.csv", folder)
    assert table is not None
    assert table.names == ("left", "right", "middle")


def test_labels_behind_a_link_within_the_folder_are_read(tmp_path, rng):
    save_table(tmp_path / "sub-01.csv", rng)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "x_dseg.tsv").write_text(REGIONS)
    (tmp_path / "atlases").symlink_to("shared", target_is_directory=True)
    assert label_table_beside(tmp_path / "sub-01.csv", tmp_path) is not None
