"""Each way in, from the command line: what a lab keeps ends as subjects of a cohort."""

import zipfile

import nibabel
import numpy as np
import pytest
import scipy.io
from nilearn.datasets import load_mni152_template
from nilearn.image import new_img_like

from biobgt import read_cohort


@pytest.fixture
def image(tmp_path, rng):
    """A 4-D image in MNI space, made with nilearn, in which neighbouring voxels share a signal."""
    template = load_mni152_template(resolution=8)
    signals = rng.standard_normal((30, 4))
    x = np.arange(template.shape[0]) * 4 // template.shape[0]
    data = np.broadcast_to(signals.T[x][:, None, None, :], (*template.shape, 30)) + 0.1
    path = tmp_path / "sub-07_task-rest_space-MNI152NLin2009cAsym_desc-preproc_bold.nii.gz"
    nibabel.save(new_img_like(template, data.astype(np.float32), affine=template.affine, copy_header=False), path)
    return path


def test_a_mat_file(run, tmp_path, bold):
    scipy.io.savemat(tmp_path / "sub-01.mat", {"ROISignals": bold(150, 90)})
    ended = run("info", tmp_path / "sub-01.mat", "--atlas", "aal90")
    assert ended.code == 0, ended.err
    assert "1 subject · AAL-90 (cerebrum) (90 regions) · series" in ended.out


def test_a_zip(run, tmp_path, bold):
    with zipfile.ZipFile(tmp_path / "study.zip", "w") as archive:
        for i in range(3):
            rows = "\n".join(",".join(map(str, row)) for row in bold(150, 116))
            archive.writestr(f"study/sub-0{i}.csv", rows)
        archive.writestr("study/participants.tsv", "participant_id\tgroup\nsub-00\tNC\nsub-01\tAD\nsub-02\tAD\n")
    ended = run("info", tmp_path / "study.zip", "--atlas", "aal116")
    assert ended.code == 0, ended.err
    assert "3 subjects · AAL-116" in ended.out
    assert "Groups: 1 NC, 2 AD" in ended.out


def test_an_image_with_an_atlas(run, image):
    ended = run("info", image, "--atlas", "dosenbach160", "--radius", 8)
    assert ended.code == 0, ended.err
    assert "1 subject · Dosenbach 160" in ended.out
    subject = read_cohort(image, atlas="dosenbach160")["sub-07"]
    assert subject.n_timepoints == 30
    assert subject.source.options["regions"] == "spheres of 5 mm"


def test_real_abide_files(run, shared_data):
    ended = run("info", shared_data / "raw" / "abide" / "NYU_0050952_rois_cc200.1D")
    assert ended.code == 0, ended.err
    assert "1 subject · Craddock CC200 (200 regions) · series" in ended.out


def test_a_real_cni_folder(run, shared_data):
    folder = shared_data / "raw" / "cni2019"
    asked = run("info", folder)
    assert asked.code == 2
    assert "Choose atlas: aal116 or cc200." in asked.err
    ended = run("info", folder, "--atlas", "aal116")
    assert ended.code == 0, ended.err
    assert "4 subjects · AAL-116" in ended.out
    assert "Groups: 2 NC, 2 ADHD" in ended.out
