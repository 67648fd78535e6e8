"""CIFTI files as HCP and XCP-D lay them out, written by nibabel and read back: names, order, time, parcels."""

import nibabel
import numpy as np
import pytest
from nibabel import cifti2

from biobgt import InputError, load_atlas, read_cohort
from biobgt.readers import ReadOptions
from biobgt.readers.images import ImageOptions

LEFT, RIGHT = "CIFTI_STRUCTURE_CORTEX_LEFT", "CIFTI_STRUCTURE_CORTEX_RIGHT"


def parcels(names):
    """A parcel axis whose parcels are vertices of the left cortex, ten each."""
    vertices = [{LEFT: np.arange(10 * i, 10 * i + 10)} for i in range(len(names))]
    no_voxels = [np.zeros((0, 3), int)] * len(names)
    return cifti2.ParcelsAxis(names, no_voxels, vertices, nvertices={LEFT: 32492})


def cortex(n, *, structure=LEFT, keep=None):
    """Grayordinates of the first vertices of a hemisphere, or of some of them."""
    return cifti2.BrainModelAxis.from_surface(np.arange(n) if keep is None else keep, 32492, name=structure)


def save(values, axes, path):
    nibabel.save(cifti2.Cifti2Image(values.astype(np.float32), header=axes), path)
    return path


def test_series_of_parcels_in_hcps_order(tmp_path, rng):
    hcp = load_atlas("glasser360_hcp")
    names = [f"{name[-1]}_{name[:-2]}_ROI" for name in hcp.regions]
    values = rng.standard_normal((30, 360))
    save(values, (cifti2.SeriesAxis(0, 0.72, 30), parcels(names)), tmp_path / "100307_rest.ptseries.nii")
    cohort = read_cohort(tmp_path)
    (subject,) = cohort.subjects
    assert (subject.id, subject.tr) == ("100307_rest", pytest.approx(0.72))
    assert (cohort.atlas.name, cohort.atlas_decided_by) == ("glasser360", "the region names")
    np.testing.assert_allclose(subject.series, np.roll(values, 180, axis=1), atol=1e-6)


def test_connectivity_of_parcels_in_xcpds_layout(tmp_path, rng):
    atlas = load_atlas("4s156")
    matrix = np.corrcoef(rng.standard_normal((156, 300)))
    axis = parcels(list(atlas.regions))
    name = "sub-01_task-rest_space-fsLR_seg-4S156Parcels_den-91k_stat-pearsoncorrelation_boldmap.pconn.nii"
    save(matrix, (axis, axis), tmp_path / name)
    cohort = read_cohort(tmp_path)
    assert cohort.atlas is atlas
    assert cohort.atlas_decided_by == "the BIDS entity seg-4S156Parcels and the region names"
    assert cohort.subjects[0].kind == "connectivity"
    np.testing.assert_allclose(cohort["sub-01"].connectivity, matrix, atol=1e-6)


def test_tables_come_before_files_of_parcels_of_the_same_subject(tmp_path, rng):
    atlas = load_atlas("4s156")
    stem = "sub-01_task-rest_space-fsLR_seg-4S156Parcels_stat-mean_timeseries"
    rows = ["\t".join(atlas.regions)] + ["\t".join(map(str, row)) for row in rng.standard_normal((20, 156))]
    (tmp_path / f"{stem}.tsv").write_text("\n".join(rows))
    save(
        rng.standard_normal((20, 156)),
        (cifti2.SeriesAxis(0, 2, 20), parcels(atlas.regions)),
        tmp_path / f"{stem}.ptseries.nii",
    )
    cohort = read_cohort(tmp_path)
    assert cohort.ids == ("sub-01",)
    assert cohort["sub-01"].source.reader == "tsv"
    assert "Not read: 1 derived file, as the same subjects' series are read." in cohort.notes


def test_a_dense_series_takes_its_parcels_from_a_label_file(tmp_path, rng):
    """Vertices are matched by number: the series leaves out some that the label file has."""
    labelled, measured = cortex(60), cortex(0, keep=np.arange(5, 55))
    keys = np.repeat([0, 3, 1, 2, 4, 9], 10)  # 9 has no row in the table of labels, 0 is no region
    table = {0: ("???", (0, 0, 0, 0))} | {key: (f"P{key}", (1, 0, 0, 1)) for key in (1, 2, 3, 4, 5)}
    labels = cifti2.LabelAxis(["parcels"], [table])
    save(keys[None], (labels, labelled), tmp_path / "mine.dlabel.nii")
    values = rng.standard_normal((25, 50))
    path = save(values, (cifti2.SeriesAxis(0, 2, 25), measured), tmp_path / "s1.dtseries.nii")
    how = ReadOptions(image=ImageOptions(labels=tmp_path / "mine.dlabel.nii"))
    cohort = read_cohort(path, options=how)
    assert cohort.atlas.regions == ("P1", "P2", "P3", "P4", "P5")
    own = keys[5:55]
    expected = np.column_stack([values[:, own == key].mean(axis=1) for key in (1, 2, 3, 4)])
    np.testing.assert_allclose(cohort["s1"].series[:, :4], expected, atol=1e-6)
    assert cohort["s1"].missing_regions == (4,), "no vertex carries the fifth"
    with pytest.raises(InputError, match=r"needs its parcels: give a label file that ends in \.dlabel\.nii"):
        read_cohort(path)


def test_another_mesh_a_cut_file_and_a_plain_image_are_sentences(tmp_path, rng):
    series = cifti2.SeriesAxis(0, 2, 25)
    path = save(rng.standard_normal((25, 50)), (series, cortex(50)), tmp_path / "s1.dtseries.nii")
    table = {0: ("???", (0, 0, 0, 0)), 1: ("a", (1, 0, 0, 1)), 2: ("b", (1, 0, 0, 1))}
    other = cifti2.LabelAxis(["right"], [table]), cortex(50, structure=RIGHT)
    save(np.repeat([[1, 2]], 25, axis=1), other, tmp_path / "right.dlabel.nii")
    how = ReadOptions(image=ImageOptions(labels=tmp_path / "right.dlabel.nii"))
    with pytest.raises(InputError, match="No grayordinate of the series is in the label file"):
        read_cohort(path, options=how)
    parcelled = save(rng.standard_normal((25, 4)), (series, parcels(list("abcd"))), tmp_path / "s2.ptseries.nii")
    parcelled.write_bytes(parcelled.read_bytes()[:-200])
    with pytest.raises(InputError, match="cut off"):
        read_cohort(parcelled)
    plain = nibabel.Nifti1Image(np.zeros((2, 2, 2), np.float32), np.eye(4))
    nibabel.save(plain, tmp_path / "s3.pconn.nii")
    with pytest.raises(InputError, match="is a NIfTI image and no CIFTI file"):
        read_cohort(tmp_path / "s3.pconn.nii")


def test_a_side_that_the_header_does_not_describe_is_a_sentence(tmp_path, rng):
    """The header is parsed when a side is asked for, after the file was opened: the fuzzer found both kinds."""
    axes = (cifti2.SeriesAxis(0, 1.0, 30), parcels([f"region {i}" for i in range(20)]))
    path = save(rng.standard_normal((30, 20)), axes, tmp_path / "s.ptseries.nii")
    path.write_bytes(path.read_bytes().replace(b'AppliesToMatrixDimension="1"', b'AppliesToMatrixDimension="9"'))
    with pytest.raises(InputError, match="cannot be read as a CIFTI file"):
        read_cohort(path)
