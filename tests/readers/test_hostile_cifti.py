"""CIFTI files that ask for more than they hold: refused before the XML is parsed and before numbers are read."""

import gzip
import struct
from dataclasses import asdict

import nibabel
import numpy as np
import pytest
from nibabel import cifti2

from biobgt import InputError, read_cohort
from biobgt.base.limits import Limits, variable_of
from biobgt.readers import foreign_images as cifti_series
from biobgt.readers import foreign_images as image_series
from biobgt.readers.images import ImageOptions

CORTEX = "CIFTI_STRUCTURE_CORTEX_LEFT"
OFFSET, XML = 168, 544  # where a NIfTI-2 header says where the numbers begin, and where its extension begins


@pytest.fixture
def parcelled(tmp_path, rng):
    """Thirty time points of twenty parcels."""
    names = [f"region {i}" for i in range(20)]
    vertices = [{CORTEX: np.arange(10 * i, 10 * i + 10)} for i in range(20)]
    parcels = cifti2.ParcelsAxis(names, [np.zeros((0, 3), int)] * 20, vertices, nvertices={CORTEX: 32492})
    image = cifti2.Cifti2Image(rng.standard_normal((30, 20)).astype(np.float32), (cifti2.SeriesAxis(0, 2, 30), parcels))
    nibabel.save(image, tmp_path / "s.ptseries.nii")
    return tmp_path / "s.ptseries.nii"


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


def test_xml_longer_than_any_atlas_needs_is_not_parsed(parcelled, monkeypatch):
    with_xml(parcelled, xml_of(parcelled) + b"<!--" + b"x" * Limits().header_bytes + b"-->")
    monkeypatch.setattr(nibabel, "load", unparsed)
    with pytest.raises(InputError, match=r"The XML of 's\.ptseries\.nii' has 16 MB; at most.*HEADER_BYTES"):
        cifti_series.read_cifti(parcelled, {"labels": None}, Limits())


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
def test_such_xml_in_an_image_is_not_parsed_either(parcelled, monkeypatch, suffix):
    with_xml(parcelled, xml_of(parcelled) + b"<!--" + b"x" * Limits().header_bytes + b"-->")
    content, path = parcelled.read_bytes(), parcelled.with_name(f"s_bold{suffix}")
    path.write_bytes(gzip.compress(content, 1) if suffix.endswith("gz") else content)
    monkeypatch.setattr(nibabel, "load", unparsed)
    options = {**asdict(ImageOptions()), "coordinates": None, "root": str(path.parent)}
    with pytest.raises(InputError, match=r"The XML of 's_bold\.nii.* has 16 MB; at most.*HEADER_BYTES"):
        image_series.read_nifti(path, options, Limits())


@pytest.mark.parametrize("n_bytes", [-16, 0, 8, 2**31 - 16])
def test_xml_that_does_not_end_where_the_numbers_begin_is_not_parsed(parcelled, monkeypatch, n_bytes):
    content = bytearray(parcelled.read_bytes())
    struct.pack_into("<i", content, XML, n_bytes)
    parcelled.write_bytes(content)
    monkeypatch.setattr(nibabel, "load", unparsed)
    with pytest.raises(InputError, match="does not end where its numbers begin"):
        cifti_series.read_cifti(parcelled, {"labels": None}, Limits())


def test_numbers_that_begin_nowhere_are_a_sentence(parcelled):
    content = bytearray(parcelled.read_bytes())
    struct.pack_into("<q", content, OFFSET, 0)
    parcelled.write_bytes(content)
    with pytest.raises(InputError, match="does not end where its numbers begin"):
        read_cohort(parcelled)


def test_entities_that_grow_are_refused_and_files_that_they_name_are_not_read(parcelled, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    xml = xml_of(parcelled)
    laughs = b"".join(b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10) for i in range(1, 11))
    named = xml.replace(b'Name="region 0"', b'Name="&l10;"')
    with_xml(parcelled, b'<!DOCTYPE C [<!ENTITY l0 "ha">' + laughs + b"]>" + named)
    with pytest.raises(InputError, match="cannot be read as a CIFTI file"):
        read_cohort(parcelled)
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
    with pytest.raises(InputError, match=f"has {words}.*{variable_of(limit)}"):
        cifti_series.read_cifti(parcelled, {"labels": None}, Limits(**{limit: most}))


@pytest.mark.parametrize(("code", "bits"), [(32, 64), (128, 24)])  # complex numbers, and colours
def test_what_are_no_real_numbers_is_a_sentence(parcelled, code, bits):
    content = bytearray(parcelled.read_bytes())
    struct.pack_into("<hh", content, 12, code, bits)
    parcelled.write_bytes(content + bytes(10_000))
    with pytest.raises(InputError, match=r"cannot be read as a CIFTI file|not real numbers"):
        read_cohort(parcelled)


@pytest.mark.parametrize("turned", [False, True])
def test_a_dense_series_is_averaged_in_parts(tmp_path, rng, monkeypatch, turned):
    monkeypatch.setattr(cifti_series, "_AT_ONCE", 7 * 50)
    cortex = cifti2.BrainModelAxis.from_surface(np.arange(50), 32492, name=CORTEX)
    table = {0: ("???", (0, 0, 0, 0)), 1: ("a", (1, 0, 0, 1)), 2: ("b", (1, 0, 0, 1))}
    keys = rng.integers(0, 3, (1, 50)).astype(np.float32)
    nibabel.save(cifti2.Cifti2Image(keys, (cifti2.LabelAxis(["x"], [table]), cortex)), tmp_path / "x.dlabel.nii")
    values = rng.standard_normal((25, 50)).astype(np.float32)
    axes = (cifti2.SeriesAxis(0, 2, 25), cortex)
    image = cifti2.Cifti2Image(values.T, axes[::-1]) if turned else cifti2.Cifti2Image(values, axes)
    nibabel.save(image, tmp_path / "s.dtseries.nii")
    about, means = cifti_series.read_cifti(
        tmp_path / "s.dtseries.nii", {"labels": str(tmp_path / "x.dlabel.nii")}, Limits(cells=60)
    )
    expected = np.column_stack([values[:, keys[0] == key].mean(axis=1, dtype=float) for key in (1, 2)])
    np.testing.assert_allclose(means, expected, rtol=1e-12, atol=1e-15)
    assert about["names"] == ["a", "b"]
