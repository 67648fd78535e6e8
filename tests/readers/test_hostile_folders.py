"""Folders with what is no file in them, and with links that lead elsewhere."""

import os

import nibabel
import numpy as np
import pytest

from biobgt import ImageOptions, InputError, read_cohort
from biobgt.atlas import numbered_atlas
from biobgt.readers.images import read_image

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


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
