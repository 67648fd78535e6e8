"""CIFTI and GIfTI files to series of regions, whole, damaged and made to do harm."""

import gzip
import struct
from dataclasses import asdict

import nibabel
import numpy as np
import pytest
from nibabel import cifti2
from nibabel.gifti import GiftiDataArray, GiftiImage, GiftiMetaData
from reading import as_text, refused

from biobgt import load_atlas, read_cohort
from biobgt.base.limits import Limits, _variable_of
from biobgt.data.atlas import BUNDLED
from biobgt.readers import ImageOptions, ReadOptions
from biobgt.readers.foreign import images as foreign_images
from biobgt.readers.formats import file_of_other_side, side_of
from tests.fuzz.corpus import cortex, parcels, save_cifti, save_gifti_labels

TABLE = {0: ("???", (0, 0, 0, 0)), 1: ("a", (1, 0, 0, 1)), 2: ("b", (1, 0, 0, 1))}


def by_labels(labels, **image):
    """Series are taken of a label file's regions."""
    return ReadOptions(image=ImageOptions(labels=labels, **image))


def test_series_of_parcels_in_hcps_order(tmp_path, rng):
    hcp = load_atlas("glasser360_hcp")
    names = [f"{name[-1]}_{name[:-2]}_ROI" for name in hcp.regions]
    values = rng.standard_normal((30, 360))
    save_cifti(values, (cifti2.SeriesAxis(0, 0.72, 30), parcels(names)), tmp_path / "100307_rest.ptseries.nii")
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
    save_cifti(matrix, (axis, axis), tmp_path / name)
    cohort = read_cohort(tmp_path)
    assert cohort.atlas is atlas
    assert cohort.atlas_decided_by == "the BIDS entity seg-4S156Parcels and the region names"
    assert cohort.subjects[0].kind == "connectivity"
    np.testing.assert_allclose(cohort["sub-01"].connectivity, matrix, atol=1e-6)


def test_tables_come_before_files_of_parcels_of_the_same_subject(tmp_path, rng):
    regions, values = load_atlas("4s156").regions, rng.standard_normal((20, 156))
    stem = tmp_path / "sub-01_task-rest_space-fsLR_seg-4S156Parcels_stat-mean_timeseries"
    stem.with_suffix(".tsv").write_text("\t".join(regions) + "\n" + as_text(values, "\t"))
    save_cifti(values, (cifti2.SeriesAxis(0, 2, 20), parcels(regions)), stem.with_suffix(".ptseries.nii"))
    cohort = read_cohort(tmp_path)
    assert cohort.ids == ("sub-01",)
    assert cohort["sub-01"].source.reader == "tsv"
    assert "Not read: 1 derived file, as the same subjects' series are read." in cohort.notes


def test_a_dense_series_takes_its_parcels_from_a_label_file(tmp_path, rng):
    """Vertices are matched by number: the series leaves out some that the label file has."""
    labelled, measured = cortex(np.arange(60)), cortex(np.arange(5, 55))
    keys = np.repeat([0, 3, 1, 2, 4, 9], 10)  # 9 has no row in the table of labels, 0 is no region
    table = {0: ("???", (0, 0, 0, 0))} | {key: (f"P{key}", (1, 0, 0, 1)) for key in (1, 2, 3, 4, 5)}
    labels = cifti2.LabelAxis(["parcels"], [table])
    save_cifti(keys[None], (labels, labelled), tmp_path / "mine.dlabel.nii")
    values = rng.standard_normal((25, 50))
    path = save_cifti(values, (cifti2.SeriesAxis(0, 2, 25), measured), tmp_path / "s1.dtseries.nii")
    cohort = read_cohort(path, options=by_labels(tmp_path / "mine.dlabel.nii"))
    assert cohort.atlas.regions == ("P1", "P2", "P3", "P4", "P5")
    own = keys[5:55]
    expected = np.column_stack([values[:, own == key].mean(axis=1) for key in (1, 2, 3, 4)])
    np.testing.assert_allclose(cohort["s1"].series[:, :4], expected, atol=1e-6)
    assert cohort["s1"].missing_regions == (4,), "no vertex carries the fifth"
    refused(r"needs its parcels: give a label file that ends in \.dlabel\.nii", read_cohort, path)


def test_another_mesh_a_cut_file_and_a_plain_image_are_sentences(tmp_path, rng):
    series = cifti2.SeriesAxis(0, 2, 25)
    path = save_cifti(rng.standard_normal((25, 50)), (series, cortex(np.arange(50))), tmp_path / "s1.dtseries.nii")
    other = cifti2.LabelAxis(["right"], [TABLE]), cortex(np.arange(50), "CIFTI_STRUCTURE_CORTEX_RIGHT")
    save_cifti(np.repeat([[1, 2]], 25, axis=1), other, tmp_path / "right.dlabel.nii")
    how = by_labels(tmp_path / "right.dlabel.nii")
    refused("No grayordinate of the series is in the label file", read_cohort, path, options=how)
    parcelled = save_cifti(rng.standard_normal((25, 4)), (series, parcels(list("abcd"))), tmp_path / "s2.ptseries.nii")
    parcelled.write_bytes(parcelled.read_bytes()[:-200])
    refused("cut off", read_cohort, parcelled)
    plain = nibabel.Nifti1Image(np.zeros((2, 2, 2), np.float32), np.eye(4))
    nibabel.save(plain, tmp_path / "s3.pconn.nii")
    refused("is a NIfTI image and no CIFTI file", read_cohort, tmp_path / "s3.pconn.nii")


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
        save_gifti_labels(KEYS, names_of(side), tmp_path / f"hemi-{side}_dseg.label.gii")
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
    how = by_labels(folder / "hemi-R_dseg.label.gii", tr=2.0)
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
    cohort = read_cohort(tmp_path, options=by_labels("schaefer100"))
    assert (cohort.ids, cohort.atlas.name) == (("100307",), "schaefer100")
    expected = np.column_stack([values[:, labels == i].mean(axis=1) for i in range(1, 101)])
    np.testing.assert_allclose(cohort["100307"].series, expected, atol=1e-6)
    assert cohort["100307"].source.options["regions"] == f"surface labels of {atlas.title} on fsaverage5"
    refused("No surface labels of AAL", read_cohort, tmp_path, options=by_labels("aal90"))


def test_names_of_freesurfers_labels_are_desikans(tmp_path, rng):
    """The same names in both hemispheres, with the side before, tell the atlas and its order."""
    atlas, labels = load_atlas("desikan68"), BUNDLED["desikan68"].surface_labels
    spelt = {own: name.removeprefix("lh_").removeprefix("rh_") for name, own in atlas.also.items() if name[2] == "_"}
    values = rng.standard_normal((12, len(labels)))
    for side, numbers, part in zip("LR", np.split(labels, 2), np.split(values, 2, axis=1), strict=True):
        names = {0: "unknown"} | {i: spelt[atlas.regions[i - 1]] for i in np.unique(numbers) if i}
        save_gifti_labels(numbers, names, tmp_path / f"{side.lower()}h.aparc.label.gii")
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
def test_hemispheres_in_names(tmp_path, name, side, other):
    for file in filter(None, (name, other)):
        (tmp_path / file).touch()
    found = file_of_other_side(tmp_path / name, tmp_path)
    assert (side_of(tmp_path / name), found and found.name) == (side, other)


def test_what_is_missing_or_does_not_fit_is_a_sentence(recording, rng):
    folder, values = recording
    left = folder / "sub-01_task-rest_hemi-L_space-fsaverage5_bold.func.gii"
    right = file_of_other_side(left, folder)

    def unusable(match, labels=None):
        refused(match, read_cohort, left, atlas="unknown", options=by_labels(labels))

    save_series(values["R"][:20], right)
    unusable("The left hemisphere has 25 time points and the right one 20")
    save_series(values["R"], right, structure="CortexLeft")
    unusable("says that it is of CortexLeft")
    save_series(values["R"][:, :50], right)
    unusable("has 50 vertices and its labels have 60")
    save_gifti_labels(KEYS, {1: "a", 2: "b"}, folder / "hemi-R_dseg.label.gii")
    unusable("vertices carry the label 3, which the label table does not name")
    save_gifti_labels(KEYS, {1: "a", 2: "a", 3: "c", 7: "d"}, folder / "hemi-R_dseg.label.gii")
    unusable("the name 'a' stands twice in the label table")
    unusable(r"'x\.nii' is no label file of vertices", labels=folder / "x.nii")
    (folder / "hemi-R_dseg.label.gii").unlink()
    unusable("is of the left hemisphere, and the one of the other hemisphere does not lie beside it")
    save_gifti_labels(KEYS, names_of("L"), folder / "lh.other.label.gii")
    unusable(r"Several label files lie beside it: hemi-L_dseg\.label\.gii, lh\.other\.label\.gii")
    for label in folder.glob("*.label.gii"):
        label.unlink()
    unusable("Series of vertices need their regions: put a label file of each hemisphere")


def regions_of(path, labels, **limits):
    """Read a file's regions in this process, as a reading process does."""
    options = {"files": [{"path": str(path), "side": None}], "labels": [str(labels)]}
    return foreign_images.read_gifti(path, options, Limits(**limits))


@pytest.fixture
def one_file(tmp_path, rng):
    path = save_series(rng.standard_normal((5, N)), tmp_path / "s.func.gii")
    return path, save_gifti_labels(KEYS, names_of("L"), tmp_path / "s.label.gii")


NAMED = b'ExternalFileName="secret.bin"'
LAUGHS = b'<!DOCTYPE GIFTI [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("replaced", "sentence"),
    [
        ({b'ExternalFileName=""': NAMED}, "lie in another file"),
        ({b'ExternalFileName=""': NAMED, b"GZipBase64Binary": b"ExternalFileBinary"}, "lie in another file"),
        ({b"<GIFTI ": LAUGHS + b"<GIFTI "}, "declares XML entities"),
        ({b'Dim0="60"': b'Dim0="100000000"'}, "times its size, as no measured data do"),
        ({b"NIFTI_INTENT_TIME_SERIES": b"NIFTI_INTENT_POINTSET"}, "holds a surface, not values of its vertices"),
        ({b"</GIFTI>": b""}, "cannot be read as a GIfTI file"),
    ],
    ids=["file", "file by its encoding", "entities", "size", "surface", "cut"],
)
def test_what_a_file_of_series_never_has_is_refused(one_file, tmp_path, replaced, sentence):
    path, labels = one_file
    (tmp_path / "secret.bin").write_bytes(np.arange(N, dtype="<f4").tobytes())
    content = path.read_bytes()
    content = content[content.index(b"<GIFTI") :] if LAUGHS in b"".join(replaced.values()) else content
    for old, new in replaced.items():
        assert old in content
        content = content.replace(old, new)
    path.write_bytes(content)
    refused(sentence, regions_of, path, labels)


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
    refused(words, regions_of, *one_file, **{limit: most})


def test_a_table_of_very_many_labels_is_refused_before_its_names_are_compared(tmp_path, rng):
    keys = np.arange(1, 2_001, dtype=np.int32)
    path = save_series(rng.standard_normal((3, 2_000)), tmp_path / "s.func.gii")
    labels = save_gifti_labels(keys, {key: f"r{min(key, 1_999)}" for key in keys.tolist()}, tmp_path / "s.label.gii")
    refused(r"'s\.label\.gii' has 2,000 regions; at most 1,200", regions_of, path, labels)
    refused("the name 'r1999' stands twice", regions_of, path, labels, regions=2_000)


def test_labels_of_any_number_take_no_memory_for_those_between(tmp_path, rng):
    """FreeSurfer numbers labels by their colours; a table up to the largest one here would take 16 GB."""
    keys = np.array([0, 5, 5, 2**31 - 1, -3, 70_000], dtype=np.int32)
    path = save_series(values := rng.standard_normal((4, 6)), tmp_path / "s.func.gii")
    labels = save_gifti_labels(keys, {5: "a", 2**31 - 1: "b", 70_000: "unknown"}, tmp_path / "s.label.gii")
    answer, means_of = regions_of(path, labels)
    assert answer["names"] == ["a", "b"]
    assert answer["used"]["labels that are no region"] == "unknown"
    np.testing.assert_allclose(means_of, np.column_stack([values[:, 1:3].mean(axis=1), values[:, 3]]), atol=1e-6)


OFFSET, XML = 168, 544  # where a NIfTI-2 header says where the numbers begin, and where its extension begins


@pytest.fixture
def parcelled(tmp_path, rng):
    """Thirty time points of twenty parcels."""
    axes = (cifti2.SeriesAxis(0, 2, 30), parcels([f"region {i}" for i in range(20)]))
    return save_cifti(rng.standard_normal((30, 20)), axes, tmp_path / "s.ptseries.nii")


def with_xml(path, xml):
    """Put other XML into a file, with its length where it belongs."""
    content = bytearray(path.read_bytes())
    (numbers_at,) = struct.unpack_from("<q", content, OFFSET)
    n_bytes = -(-(len(xml) + 8) // 16) * 16
    extension = struct.pack("<ii", n_bytes, 32) + xml.ljust(n_bytes - 8, b"\0")
    struct.pack_into("<q", content, OFFSET, XML + n_bytes)
    path.write_bytes(content[:XML] + extension + content[numbers_at:])


def xml_of(path):
    content = path.read_bytes()
    (n_bytes,) = struct.unpack_from("<i", content, XML)
    return content[XML + 8 : XML + n_bytes].rstrip(b"\0")


def unparsed(*_, **__):
    raise AssertionError("the file was opened")


@pytest.mark.parametrize("name", ["s.ptseries.nii", "s_bold.nii", "s_bold.nii.gz"])
def test_xml_longer_than_any_atlas_needs_is_not_parsed_of_an_image_neither(parcelled, monkeypatch, name):
    with_xml(parcelled, xml_of(parcelled) + b"<!--" + b"x" * Limits().header_bytes + b"-->")
    content, path = parcelled.read_bytes(), parcelled.with_name(name)
    path.write_bytes(gzip.compress(content, 1) if name.endswith("gz") else content)
    monkeypatch.setattr(nibabel, "load", unparsed)
    read = foreign_images.read_cifti if path == parcelled else foreign_images.read_nifti
    options = {**asdict(ImageOptions()), "coordinates": None, "root": str(path.parent)}
    refused(rf"The XML of '{name}' has 16 MB; at most.*HEADER_BYTES", read, path, options, Limits())


@pytest.mark.parametrize("n_bytes", [-16, 0, 8, 2**31 - 16])
def test_xml_that_does_not_end_where_the_numbers_begin_is_not_parsed(parcelled, monkeypatch, n_bytes):
    content = bytearray(parcelled.read_bytes())
    struct.pack_into("<i", content, XML, n_bytes)
    parcelled.write_bytes(content)
    monkeypatch.setattr(nibabel, "load", unparsed)
    refused("does not end where its numbers begin", foreign_images.read_cifti, parcelled, {"labels": None}, Limits())


NO_NUMBERS = "cannot be read as a CIFTI file|not real numbers"


@pytest.mark.parametrize(
    ("where", "bytes_there", "sentence"),
    [
        (OFFSET, struct.pack("<q", 0), "does not end where its numbers begin"),
        (12, struct.pack("<hh", 32, 64), NO_NUMBERS),  # complex numbers
        (12, struct.pack("<hh", 128, 24), NO_NUMBERS),  # colours
        (b'MatrixDimension="1"', b'MatrixDimension="9"', "cannot be read as a CIFTI file"),  # parsed after it is open
    ],
)
def test_damaged_headers_are_a_sentence(parcelled, where, bytes_there, sentence):
    content = bytearray(parcelled.read_bytes())
    where = content.index(where) if isinstance(where, bytes) else where
    content[where : where + len(bytes_there)] = bytes_there
    parcelled.write_bytes(content + bytes(10_000))
    refused(sentence, read_cohort, parcelled)


def test_entities_that_grow_are_refused_and_files_that_they_name_are_not_read(parcelled, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    xml = xml_of(parcelled)
    laughs = b"".join(b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10) for i in range(1, 11))
    named = xml.replace(b'Name="region 0"', b'Name="&l10;"')
    with_xml(parcelled, b'<!DOCTYPE C [<!ENTITY l0 "ha">' + laughs + b"]>" + named)
    refused("cannot be read as a CIFTI file", read_cohort, parcelled)
    metadata = b"<Matrix><MetaData><MD><Name>a</Name><Value>&file;</Value></MD></MetaData>"
    outside = b'<!DOCTYPE C [<!ENTITY file SYSTEM "%s">]>' % secret.as_uri().encode()
    with_xml(parcelled, outside + xml.replace(b"<Matrix>", metadata))
    assert "secret" not in repr(vars(read_cohort(parcelled, atlas="unknown")["s"]))


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [("cells", 599, "600 values"), ("timepoints", 29, "30 time"), ("regions", 19, "20 regi")],
)
def test_a_file_beyond_a_limit_is_refused_before_its_numbers_are_read(parcelled, monkeypatch, limit, most, words):
    monkeypatch.setattr(cifti2.Cifti2Image, "dataobj", property(unparsed))
    sentence, limits = f"has {words}.*{_variable_of(limit)}", Limits(**{limit: most})
    refused(sentence, foreign_images.read_cifti, parcelled, {"labels": None}, limits)


@pytest.mark.parametrize("turned", [False, True])
def test_a_dense_series_is_averaged_in_parts(tmp_path, rng, monkeypatch, turned):
    monkeypatch.setattr(foreign_images, "_AT_ONCE", 7 * 50)
    keys = rng.integers(0, 3, (1, 50))
    save_cifti(keys, (cifti2.LabelAxis(["x"], [TABLE]), cortex(np.arange(50))), tmp_path / "x.dlabel.nii")
    values = rng.standard_normal((25, 50)).astype(np.float32)
    axes = (cifti2.SeriesAxis(0, 2, 25), cortex(np.arange(50)))
    path = save_cifti(*((values.T, axes[::-1]) if turned else (values, axes)), tmp_path / "s.dtseries.nii")
    about, means = foreign_images.read_cifti(path, {"labels": str(tmp_path / "x.dlabel.nii")}, Limits(cells=60))
    expected = np.column_stack([values[:, keys[0] == key].mean(axis=1, dtype=float) for key in (1, 2)])
    np.testing.assert_allclose(means, expected, rtol=1e-12, atol=1e-15)
    assert about["names"] == ["a", "b"]
