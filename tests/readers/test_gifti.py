"""GIfTI series with their labels, as fMRIPrep, FreeSurfer and the HCP name them, written by nibabel and read back."""

import nibabel
import numpy as np
import pytest
from nibabel.gifti import GiftiDataArray, GiftiImage, GiftiLabel, GiftiLabelTable, GiftiMetaData

from biobgt import InputError, load_atlas, read_cohort
from biobgt.base.limits import Limits
from biobgt.data.atlas import BUNDLED
from biobgt.readers import ReadOptions
from biobgt.readers import foreign_images as gifti_series
from biobgt.readers.images import ImageOptions, of_other_side, side_of

N = 60  # vertices of a hemisphere
KEYS = np.repeat([0, 3, 1, 2, 7, 1], 10)


def save_series(values, path, *, structure=None, as_table=False):
    """Write series, shape (n_timepoints, n_vertices): one array per time point, or one table of vertices by time."""
    meta = GiftiMetaData(AnatomicalStructurePrimary=structure) if structure else None
    parts = [values.T] if as_table else list(values)
    intent = "NIFTI_INTENT_NONE" if as_table else "NIFTI_INTENT_TIME_SERIES"
    arrays = [GiftiDataArray(np.asarray(part, np.float32), intent=intent) for part in parts]
    nibabel.save(GiftiImage(darrays=arrays, meta=meta), path)
    return path


def save_labels(keys, names, path):
    table = GiftiLabelTable()
    for key, name in names.items():
        label = GiftiLabel(key=key, red=1.0, green=0.0, blue=0.0, alpha=1.0)
        label.label = name
        table.labels.append(label)
    array = GiftiDataArray(np.asarray(keys, np.int32), intent="NIFTI_INTENT_LABEL")
    nibabel.save(GiftiImage(darrays=[array], labeltable=table), path)
    return path


def names_of(side):
    """Both tables have the same names, as FreeSurfer's have; 7 is the medial wall and 9 is carried by nobody."""
    return {0: "???", 1: "cuneus", 2: "insula", 3: "fusiform", 7: f"{side}_Medial_wall", 9: "unused"}


@pytest.fixture
def recording(tmp_path, rng):
    """Both hemispheres of one recording, and their labels; vertices of no region have no value."""
    values = {side: rng.standard_normal((25, N)) for side in "LR"}
    for side, series in values.items():
        series[:, KEYS == 0] = np.nan
        save_series(series, tmp_path / f"sub-01_task-rest_hemi-{side}_space-fsaverage5_bold.func.gii")
        save_labels(KEYS, names_of(side), tmp_path / f"hemi-{side}_dseg.label.gii")
    return tmp_path, values


def means(values):
    return np.column_stack([values[:, key == KEYS].mean(axis=1) for key in (1, 2, 3)])


def test_both_hemispheres_are_one_subject_whose_regions_the_labels_name(recording):
    folder, values = recording
    cohort = read_cohort(folder, atlas="unknown")
    assert cohort.ids == ("sub-01",)
    assert cohort.refused == ()
    regions = [f"{side}_{name}" for side in ("lh", "rh") for name in ("cuneus", "insula", "fusiform")]
    assert cohort.atlas.regions == tuple(regions)
    expected = np.column_stack([means(values["L"]), means(values["R"])])
    np.testing.assert_allclose(cohort["sub-01"].series, expected, atol=1e-6)
    said = cohort["sub-01"].source.options
    assert said["regions"] == "labels of hemi-L_dseg.label.gii and hemi-R_dseg.label.gii"
    assert said["labels that are no region"] == "L_Medial_wall, R_Medial_wall"
    assert said["joined with"].startswith("sub-01_task-rest_hemi-R_space-fsaverage5_bold.func.gii (SHA-256 ")


def test_naming_either_file_and_either_label_reads_both(recording):
    folder, values = recording
    right = folder / "sub-01_task-rest_hemi-R_space-fsaverage5_bold.func.gii"
    how = ReadOptions(image=ImageOptions(labels=folder / "hemi-R_dseg.label.gii", tr=2.0))
    subject = read_cohort(right, atlas="unknown", options=how)["sub-01"]
    np.testing.assert_allclose(subject.series[:, :3], means(values["L"]), atol=1e-6)
    assert subject.tr == 2.0


def test_one_hemisphere_alone_says_so(recording):
    folder, values = recording
    (folder / "sub-01_task-rest_hemi-L_space-fsaverage5_bold.func.gii").unlink()
    subject = read_cohort(folder, atlas="unknown")["sub-01"]
    np.testing.assert_allclose(subject.series, means(values["R"]), atol=1e-6)
    assert subject.source.options["hemispheres"] == "the right one alone: no file of the other lies beside it"


def test_a_table_of_vertices_by_time_reads_as_one_array_per_time_point_does(recording):
    folder, values = recording
    save_series(values["L"], folder / "lh.s2.time.gii", as_table=True)
    save_series(values["R"], folder / "rh.s2.time.gii", as_table=True)
    cohort = read_cohort(folder, atlas="unknown")
    assert cohort.ids == ("s2", "sub-01")
    np.testing.assert_array_equal(cohort["s2"].series, cohort["sub-01"].series)


def test_bundled_surface_labels_by_the_atlass_name(tmp_path, rng):
    atlas, labels = load_atlas("schaefer100"), BUNDLED["schaefer100"].surface_labels
    values = rng.standard_normal((12, len(labels)))
    for side, part in zip("LR", np.split(values, 2, axis=1), strict=True):
        save_series(part, tmp_path / f"100307.{side}.func.gii")
    cohort = read_cohort(tmp_path, options=ReadOptions(image=ImageOptions(labels="schaefer100")))
    assert (cohort.ids, cohort.atlas.name) == (("100307",), "schaefer100")
    expected = np.column_stack([values[:, labels == i].mean(axis=1) for i in range(1, 101)])
    np.testing.assert_allclose(cohort["100307"].series, expected, atol=1e-6)
    assert cohort["100307"].source.options["regions"] == f"surface labels of {atlas.title} on fsaverage5"
    with pytest.raises(InputError, match=r"No surface labels of AAL.* are bundled\. There are surface labels of: sch"):
        read_cohort(tmp_path, options=ReadOptions(image=ImageOptions(labels="aal90")))


def test_names_of_freesurfers_labels_are_desikans(tmp_path, rng):
    """The same names in both hemispheres, with the side before, tell the atlas and its order."""
    atlas, labels = load_atlas("desikan68"), BUNDLED["desikan68"].surface_labels
    spelt = {own: name.removeprefix("lh_").removeprefix("rh_") for name, own in atlas.also.items() if name[2] == "_"}
    values = rng.standard_normal((12, len(labels)))
    for side, numbers, part in zip("LR", np.split(labels, 2), np.split(values, 2, axis=1), strict=True):
        names = {0: "unknown"} | {i: spelt[atlas.regions[i - 1]] for i in np.unique(numbers) if i}
        save_labels(numbers, names, tmp_path / f"{side.lower()}h.aparc.label.gii")
        save_series(part, tmp_path / f"{side.lower()}h.s1.func.gii")
    cohort = read_cohort(tmp_path)
    assert (cohort.ids, cohort.atlas.name) == (("s1",), "desikan68")
    np.testing.assert_allclose(cohort["s1"].series[:, 40], values[:, labels == 41].mean(axis=1), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "side", "other"),
    [
        ("sub-L_hemi-L_bold.func.gii", "L", "sub-L_hemi-R_bold.func.gii"),
        ("100307.R.func.gii", "R", "100307.L.func.gii"),
        ("rest_rh.func.gii", "R", "rest_lh.func.gii"),
        ("Rest.func.gii", None, None),
        ("sub-R_bold.func.gii", None, None),
    ],
)
def test_hemispheres_in_names(name, side, other):
    assert (side_of(name), of_other_side(name)) == (side, other)


def test_what_is_missing_or_does_not_fit_is_a_sentence(recording, rng):
    folder, values = recording
    left = folder / "sub-01_task-rest_hemi-L_space-fsaverage5_bold.func.gii"
    right = left.with_name(of_other_side(left.name))

    def refused(match, **image):
        with pytest.raises(InputError, match=match):
            read_cohort(left, atlas="unknown", options=ReadOptions(image=ImageOptions(**image)))

    save_series(values["R"][:20], right)
    refused("The left hemisphere has 25 time points and the right one 20; the two files are not of the same recording")
    save_series(values["R"], right, structure="CortexLeft")
    refused("says that it is of CortexLeft, and its name says the other hemisphere")
    save_series(values["R"][:, :50], right)
    refused("has 50 vertices and its labels have 60; they are of different meshes")
    save_labels(KEYS, {1: "a", 2: "b"}, folder / "hemi-R_dseg.label.gii")
    refused("vertices carry the label 3, which the label table does not name")
    save_labels(KEYS, {1: "a", 2: "a", 3: "c", 7: "d"}, folder / "hemi-R_dseg.label.gii")
    refused("the name 'a' stands twice in the label table")
    refused(r"'x\.nii' is no label file of vertices", labels=folder / "x.nii")
    (folder / "hemi-R_dseg.label.gii").unlink()
    refused("is of the left hemisphere, and the one of the other hemisphere does not lie beside it")
    save_labels(KEYS, names_of("L"), folder / "lh.other.label.gii")
    refused(r"Several label files lie beside it: hemi-L_dseg\.label\.gii, lh\.other\.label\.gii")
    for label in folder.glob("*.label.gii"):
        label.unlink()
    refused("Series of vertices need their regions: put a label file of each hemisphere")


def child_options(path, labels):
    return {"files": [{"path": str(path), "side": None}], "labels": [str(labels)]}


@pytest.fixture
def one_file(tmp_path, rng):
    path = save_series(rng.standard_normal((5, N)), tmp_path / "s.func.gii")
    return path, child_options(path, save_labels(KEYS, names_of("L"), tmp_path / "s.label.gii"))


def test_numbers_in_another_file_are_not_read(one_file, tmp_path):
    path, options = one_file
    (tmp_path / "secret.bin").write_bytes(np.arange(N, dtype="<f4").tobytes())
    named = path.read_bytes().replace(b'ExternalFileName=""', b'ExternalFileName="secret.bin"')
    assert b"secret.bin" in named
    for encoding in (b"ExternalFileBinary", b"GZipBase64Binary"):
        path.write_bytes(named.replace(b"GZipBase64Binary", encoding))
        with pytest.raises(InputError, match="lie in another file"):
            gifti_series.read_gifti(path, options, Limits())


def test_entities_are_refused_before_they_grow(one_file):
    path, options = one_file
    text = path.read_bytes()
    start = text.index(b"<GIFTI")
    laughs = b'<!DOCTYPE GIFTI [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    path.write_bytes(b'<?xml version="1.0"?>' + laughs + text[start:])
    with pytest.raises(InputError, match="declares XML entities"):
        gifti_series.read_gifti(path, options, Limits())


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [
        ("cells", N - 1, "values"),
        ("timepoints", 4, "5 time points"),
        ("regions", 2, "3 regions"),
        ("voxels", 4 * N, "voxels"),
        ("image_file_bytes", 100, "1.3 kB"),
    ],
)
def test_limits_hold(one_file, limit, most, words):
    path, options = one_file
    with pytest.raises(InputError, match=words):
        gifti_series.read_gifti(path, options, Limits(**{limit: most}))


def test_numbers_that_the_size_of_the_file_does_not_explain_are_refused(one_file):
    path, options = one_file
    path.write_bytes(path.read_bytes().replace(b'Dim0="60"', b'Dim0="100000000"'))
    with pytest.raises(InputError, match="times its size, as no measured data do"):
        gifti_series.read_gifti(path, options, Limits())


def test_a_surface_and_a_cut_file_are_sentences(one_file, tmp_path):
    path, options = one_file
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"NIFTI_INTENT_TIME_SERIES", b"NIFTI_INTENT_POINTSET"))
    with pytest.raises(InputError, match="holds a surface, not values of its vertices"):
        gifti_series.read_gifti(path, options, Limits())
    path.write_bytes(whole[:-300])
    with pytest.raises(InputError, match="cannot be read as a GIfTI file"):
        read_cohort(path, atlas="unknown")


def test_a_table_of_very_many_labels_is_refused_before_its_names_are_compared(tmp_path, rng):
    keys = np.arange(1, 2_001, dtype=np.int32)
    names = {key: f"r{min(key, 1_999)}" for key in keys.tolist()}
    path = save_series(rng.standard_normal((3, 2_000)), tmp_path / "s.func.gii")
    options = child_options(path, save_labels(keys, names, tmp_path / "s.label.gii"))
    with pytest.raises(InputError, match=r"'s\.label\.gii' has 2,000 regions; at most 1,200 regions are read"):
        gifti_series.read_gifti(path, options, Limits())
    with pytest.raises(InputError, match="the name 'r1999' stands twice"):
        gifti_series.read_gifti(path, options, Limits(regions=2_000))


def test_labels_of_any_number_take_no_memory_for_those_between(tmp_path, rng):
    """FreeSurfer numbers labels by their colours; a table up to the largest one here would take 16 GB."""
    keys = np.array([0, 5, 5, 2**31 - 1, -3, 70_000], dtype=np.int32)
    path = save_series(values := rng.standard_normal((4, 6)), tmp_path / "s.func.gii")
    names = {5: "a", 2**31 - 1: "b", 70_000: "unknown"}
    options = child_options(path, save_labels(keys, names, tmp_path / "s.label.gii"))
    answer, means_of = gifti_series.read_gifti(path, options, Limits())
    assert answer["names"] == ["a", "b"]
    assert answer["used"]["labels that are no region"] == "unknown"
    np.testing.assert_allclose(means_of, np.column_stack([values[:, 1:3].mean(axis=1), values[:, 3]]), atol=1e-6)
