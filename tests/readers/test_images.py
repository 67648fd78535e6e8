"""4-D images to series, with label images, atlas coordinates and fMRIPrep confounds."""

import gzip
import os
import shutil
from dataclasses import asdict
from importlib.resources import files

import nibabel
import numpy as np
import pandas as pd
import pytest
from nilearn.maskers import NiftiSpheresMasker
from reading import needs_pipes, reasons, refused, save_table

from biobgt import ImageOptions, InputError, ReadOptions, load_atlas, read_cohort
from biobgt.base.limits import Limits
from biobgt.data.atlas import BUNDLED, Atlas, numbered_atlas
from biobgt.readers.foreign import images as image_series
from biobgt.readers.formats import read_file


def read_image(path, *, atlas=None, **options):
    (reading,) = read_file(path, ReadOptions(image=ImageOptions(**options)), atlas)
    return reading


AFFINE = np.diag([4.0, 4.0, 4.0, 1.0])
AFFINE[:3, 3] = [-50, -60, -50]
SHAPE = (28, 30, 28)
N_VOLUMES = 120  # four times as many as nilearn's example of fMRIPrep confounds has


def save_image(path, data, affine=AFFINE):
    nibabel.save(nibabel.Nifti1Image(data, affine), path)
    return path


@pytest.fixture
def labels():
    """Five slabs of labels 1, 2, 3, 5, 9."""
    data = np.zeros(SHAPE, dtype=np.int16)
    for i, label in enumerate((1, 2, 3, 5, 9)):
        data[5 + 3 * i : 8 + 3 * i, 5:20, 5:20] = label
    return nibabel.Nifti1Image(data, AFFINE)


@pytest.fixture
def signals(rng):
    return rng.standard_normal((N_VOLUMES, 5)) * 10 + 100


@pytest.fixture
def image_path(tmp_path, labels, signals, rng):
    data = rng.standard_normal((*SHAPE, N_VOLUMES)) * 1e-3
    for i, label in enumerate((1, 2, 3, 5, 9)):
        data[np.asarray(labels.dataobj) == label] += signals[:, i]
    image = nibabel.Nifti1Image(data.astype(np.float32), AFFINE)
    image.header.set_zooms((4, 4, 4, 2.5))
    path = tmp_path / "sub-01_task-rest_space-MNI152NLin2009cAsym_desc-preproc_bold.nii.gz"
    nibabel.save(image, path)
    nibabel.save(labels, tmp_path / "labels.nii.gz")
    return path


def test_label_means(tmp_path, image_path, signals):
    reading = read_image(image_path, labels=tmp_path / "labels.nii.gz")
    np.testing.assert_allclose(reading.values, signals, atol=1e-2)
    assert reading.tr == 2.5
    assert reading.options["regions"] == "labels of labels.nii.gz"
    assert reading.options["confounds"] == "none"


def test_a_label_that_the_image_does_not_reach_does_not_shift_the_others(tmp_path, image_path, labels, signals):
    data = np.kron(np.asarray(labels.dataobj), np.ones((2, 2, 2), np.int16))
    data[11, 11, 11] = 4  # one half-size voxel, lost when resampled to the image
    fine = save_image(tmp_path / "fine.nii.gz", data, AFFINE @ np.diag([0.5, 0.5, 0.5, 1]))
    values = read_image(image_path, labels=fine).values
    assert values.shape == (N_VOLUMES, 6)
    assert np.isnan(values[:, 3]).all()
    for column, signal in zip([0, 1, 2, 4, 5], signals.T, strict=True):
        assert np.corrcoef(values[:, column], signal)[0, 1] > 0.99


def test_spheres_at_an_atlas_coordinates(image_path, signals):
    centres = [nibabel.affines.apply_affine(AFFINE, (6 + 3 * i, 12, 12)) for i in range(5)]
    atlas = Atlas(name="mine", title="Mine", regions=tuple("abcde"), coordinates=np.array(centres))
    reading = read_image(image_path, atlas=atlas, radius_mm=4)
    np.testing.assert_allclose(reading.values, signals, atol=1e-2)
    assert reading.options["regions"] == "spheres of 4 mm"


def test_band_pass_and_smoothing_do_what_nilearn_does(tmp_path, image_path):
    from nilearn.maskers import NiftiLabelsMasker

    options = {"labels": tmp_path / "labels.nii.gz", "low_pass": 0.1, "high_pass": 0.01, "smoothing_mm": 6}
    masker = NiftiLabelsMasker(tmp_path / "labels.nii.gz", low_pass=0.1, high_pass=0.01, smoothing_fwhm=6, t_r=2.5)
    np.testing.assert_allclose(read_image(image_path, **options).values, masker.fit_transform(image_path))


@pytest.fixture
def with_confounds(image_path, rng):
    """nilearn's example of fMRIPrep confounds, made longer, with two volumes of strong motion."""
    example = str(files("nilearn.interfaces.fmriprep") / "data" / "test-v21_desc-confounds_timeseries")
    own = f"{image_path.parent / image_path.name.split('_space-')[0]}_desc-confounds_timeseries"
    shutil.copy(f"{example}.json", f"{own}.json")
    names = [name for name in pd.read_csv(f"{example}.tsv", sep="\t") if not name.startswith(("non_s", "motion_out"))]
    table = pd.DataFrame(rng.standard_normal((N_VOLUMES, len(names))), columns=names)
    table["framewise_displacement"] = np.where(np.isin(np.arange(N_VOLUMES), [50, 51]), 2.0, 0.05)
    table["std_dvars"] = 1.0
    table.to_csv(f"{own}.tsv", sep="\t", index=False)
    return image_path


def test_more_confounds_than_volumes_get_a_sentence(tmp_path, with_confounds):
    nibabel.save(nibabel.load(with_confounds).slicer[..., :20], tmp_path / "short.nii.gz")
    (tmp_path / "short.nii.gz").rename(with_confounds)
    (confounds,) = tmp_path.glob("*_timeseries.tsv")
    pd.read_csv(confounds, sep="\t").head(20).to_csv(confounds, sep="\t", index=False)
    refused("leaves no signal", read_image, with_confounds, labels=tmp_path / "labels.nii.gz", confounds="simple")


@pytest.mark.parametrize("strategy", ["simple", "scrubbing", "compcor"])
def test_confounds_are_regressed_out(tmp_path, with_confounds, strategy):
    from nilearn.interfaces.fmriprep import load_confounds_strategy
    from nilearn.maskers import NiftiLabelsMasker

    labels = tmp_path / "labels.nii.gz"
    reading = read_image(with_confounds, labels=labels, confounds=strategy)
    confounds, kept = load_confounds_strategy(str(with_confounds), denoise_strategy=strategy)
    expected = NiftiLabelsMasker(labels, t_r=2.5).fit_transform(with_confounds, confounds=confounds, sample_mask=kept)
    np.testing.assert_allclose(reading.values, expected)
    assert reading.options["confounds"] == strategy
    assert reading.options["volumes left out"] == N_VOLUMES - len(expected)
    assert (len(expected) < N_VOLUMES) == (strategy == "scrubbing")


def test_an_fmriprep_folder_is_a_cohort(tmp_path, with_confounds):
    folder = tmp_path / "derivatives" / "sub-01" / "func"
    folder.mkdir(parents=True)
    for path in with_confounds.parent.glob("sub-01_*"):
        shutil.copy(path, folder / path.name)
    native = with_confounds.name.replace("space-MNI152NLin2009cAsym", "space-T1w")
    shutil.copy(with_confounds, folder / native)
    options = ReadOptions(image=ImageOptions(labels=tmp_path / "labels.nii.gz", confounds="simple"))
    cohort = read_cohort(tmp_path / "derivatives", options=options)
    assert cohort.ids == ("sub-01",)
    assert cohort.subjects[0].tr == 2.5
    assert cohort.atlas.n_regions == 5
    assert any("Not read: 1 image, as the same subjects have images in MNI space" in note for note in cohort.notes)
    assert cohort.subjects[0].source.options["confounds"] == "simple"


BAD_IMAGES = {
    "three.nii.gz": np.ones(SHAPE, np.int16),
    "zero.nii.gz": np.zeros((*SHAPE, 12), np.int16),
    "seven.nii.gz": np.full((*SHAPE, 12), 7, np.int16),
    "air.nii.gz": np.zeros((128, 128, 64, 18), np.uint8),
}


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("", {}, "An image needs regions"),
        ("", {"labels": "nowhere.nii.gz"}, "no image 'nowhere.nii.gz'"),
        ("", {"labels": "three.nii.gz"}, "holds 1 labels"),
        ("", {"labels": "labels.nii.gz", "confounds": "simple"}, "for strategy 'simple' could not be loaded"),
        ("three.nii.gz", {"labels": "labels.nii.gz"}, "need a 4-D image"),
        ("cut.nii.gz", {"labels": "labels.nii.gz"}, "cannot be read as a NIfTI"),
        ("text.nii", {"labels": "labels.nii.gz"}, "cannot be read as a NIfTI"),
        ("zero.nii.gz", {"labels": "labels.nii.gz"}, "all voxels of its first volume have one value"),
        ("seven.nii.gz", {"labels": "labels.nii.gz"}, "all voxels of its first volume have one value"),
        # Bytes that would be large in single precision.
        ("air.nii.gz", {"labels": "labels.nii.gz"}, r"'air\.nii\.gz' would grow from .* to 72 MB"),
    ],
)
def test_bad_images_and_options_get_a_sentence(tmp_path, image_path, name, options, sentence):
    (tmp_path / "cut.nii.gz").write_bytes(image_path.read_bytes()[:3000])
    (tmp_path / "text.nii").write_text("1 2 3")
    for bad in {name, options.get("labels")} & set(BAD_IMAGES):
        save_image(tmp_path / bad, BAD_IMAGES[bad])
    if "labels" in options:
        options = {**options, "labels": tmp_path / options["labels"]}
    refused(sentence, read_image, tmp_path / name if name else image_path, **options)


@pytest.mark.parametrize(
    "options",
    [{"confounds": "magic"}, {"low_pass": 0.01, "high_pass": 0.1}, {"radius_mm": 0}, {"tr": -1}, {"smoothing_mm": -2}],
)
def test_impossible_options_are_refused_before_anything_is_read(options):
    with pytest.raises(InputError):
        ImageOptions(**options)


def test_a_bundled_label_image_by_the_name_of_its_atlas(tmp_path, rng):
    """An image whose voxels are the number of their parcel, times a signal: each region gets its own number back."""
    atlas = load_atlas("schaefer100")
    labels = nibabel.load(BUNDLED["schaefer100"].label_image)
    signal = rng.standard_normal(12) + 5
    data = np.asarray(labels.dataobj)[..., None].astype(np.float32) * signal.astype(np.float32)
    path = tmp_path / "sub-01_space-MNI152NLin6Asym_res-2_bold.nii.gz"
    nibabel.save(nibabel.Nifti1Image(data, labels.affine), path)
    cohort = read_cohort(path, options=ReadOptions(image=ImageOptions(labels="schaefer100")))
    assert (cohort.atlas, cohort.atlas_decided_by) == (atlas, "the bundled label image schaefer100")
    np.testing.assert_allclose(cohort["sub-01"].series, np.outer(signal, np.arange(1, 101)), rtol=1e-4)
    with pytest.raises(InputError, match="No label image of Glasser 360"):
        read_cohort(path, options=ReadOptions(image=ImageOptions(labels="glasser360")))


def test_an_image_whose_first_volume_is_empty_is_read(tmp_path, image_path, signals):
    data = np.asarray(nibabel.load(image_path).dataobj).copy()
    data[..., 0] = 0
    values = read_image(save_image(tmp_path / "first.nii.gz", data), labels=tmp_path / "labels.nii.gz").values
    np.testing.assert_allclose(values[1:], signals[1:], atol=1e-2)


@pytest.mark.parametrize("beyond_mm", [-6, -1, 3, 5.5])
def test_spheres_at_the_border_are_empty_when_nilearn_says_so(tmp_path, rng, beyond_mm):
    """What is refused beforehand is never more than what nilearn would have refused."""
    path = save_image(tmp_path / "x.nii", rng.standard_normal((8, 8, 8, 9)).astype(np.float32))
    last = nibabel.affines.apply_affine(AFFINE, (7, 4, 4))
    seeds = last + np.array([[-8, 0, 0], [beyond_mm, 0, 0]])
    atlas = Atlas(name="mine", title="Mine", regions=("a", "b"), coordinates=seeds)
    expected = NiftiSpheresMasker(list(map(tuple, seeds)), radius=4.0, allow_overlap=True, standardize=None)
    if beyond_mm > 4:
        refused("spheres are empty", read_image, path, atlas=atlas, radius_mm=4)
        return
    values = read_image(path, atlas=atlas, radius_mm=4).values
    np.testing.assert_allclose(values, expected.fit_transform(str(path)), atol=1e-6)


def test_an_image_that_reaches_no_sphere_is_refused_before_nilearn_sees_it(tmp_path, rng, monkeypatch):
    path = save_image(tmp_path / "x.nii", rng.standard_normal((8, 8, 8, 9)).astype(np.float32))
    monkeypatch.setattr(image_series, "_run", None)
    options = {**asdict(ImageOptions()), "coordinates": [[500, 0, 0], [-30, -40, -30]], "root": str(tmp_path)}
    refused("1 of 2 spheres are empty, as they lie outside the image", image_series.read_nifti, path, options, Limits())


@pytest.fixture
def small(tmp_path):
    """An image of whole numbers as bytes, which tests damage, and how it is read: by labels of its own."""
    save_image(tmp_path / "x.nii", np.ones((6, 5, 4, 10), np.int16))
    data = np.ones((6, 5, 4), np.int16)
    data[3:] = 2
    return bytearray((tmp_path / "x.nii").read_bytes()), {"labels": save_image(tmp_path / "small labels.nii", data)}


@pytest.mark.parametrize(
    ("shape", "name", "sentence"),
    [
        ((900, 900, 900, 2), "x.nii", "its header declares 2,916,000,000 bytes and the file has"),
        ((30_000, 30_000, 30_000, 2), "x.nii", "BIOBGT_MAX_VOXELS"),
        ((500, 500, 500, 5), "x.nii.gz", "BIOBGT_MAX_RATIO"),
    ],
)
def test_an_image_that_declares_more_than_its_file_has_takes_no_memory(tmp_path, small, shape, name, sentence):
    content, options = small
    content[42:50] = np.array(shape, "<i2").tobytes()  # dim[1] to dim[4]
    packed = name.endswith("gz")
    (tmp_path / name).write_bytes(gzip.compress(content + bytes(2**27), 9) if packed else content)
    refused(sentence, read_image, tmp_path / name, **options)


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (40, b"\xff\xff"),
        (70, b"\x00\x00"),
        (70, b"\x80\x00"),
        (108, b"\x00\x00\x80\x7f"),
        (123, b"\xff"),
        (254, b"\xff\x7f"),
        (0, b"\x00"),
        (344, b"ni1\x00"),
    ],
    ids=["dimensions", "no type", "colours", "offset", "unit", "code", "length", "pair"],
)
def test_damaged_headers_of_images_get_a_sentence_or_are_read(tmp_path, small, where, what):
    content, options = small
    content[where : where + len(what)] = what
    (tmp_path / "x.nii").write_bytes(content)
    files = [save_table(tmp_path / "good.csv", 2), tmp_path / "x.nii"]
    cohort = read_cohort(files, atlas=numbered_atlas(2), options=ReadOptions(image=ImageOptions(**options)))
    assert "good" in cohort.ids
    assert not any("fault of this program" in reason for reason in reasons(cohort).values())


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e30, 2.5])
def test_labels_that_are_no_whole_numbers_get_a_sentence(tmp_path, small, value):
    data = np.ones((6, 5, 4), np.float32)
    data[3:] = value
    labels = save_image(tmp_path / "l.nii", data)
    refused("must hold a whole number for each region", read_image, tmp_path / "x.nii", labels=labels)


@pytest.mark.parametrize(
    ("put", "sentence"),
    [
        (lambda path: path.symlink_to("/etc/passwd"), "link that leads out of the folder"),
        pytest.param(lambda path: os.mkfifo(path), r"confounds_timeseries\.tsv' are no file", marks=needs_pipes),
    ],
    ids=["link", "pipe"],
)
def test_confounds_that_are_links_out_of_the_folder_or_pipes_are_not_read(tmp_path, small, put, sentence):
    path = (tmp_path / "x.nii").rename(tmp_path / "sub-01_task-rest_desc-preproc_bold.nii")
    put(tmp_path / "sub-01_task-rest_desc-confounds_timeseries.tsv")
    refused(sentence, read_image, path, confounds="simple", **small[1])
