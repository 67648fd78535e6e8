"""Connectomes of The Virtual Brain: archives of weights, centres and lengths of tracts."""

import bz2
import io
import zipfile

import numpy as np
import pytest
from reading import reasons, refused, zipped

from biobgt import ConnectomeSettings, ReadOptions, load_atlas, read_cohort
from biobgt.readers.project import open_project, save_project

NAMES = ("rA1", "rA2", "lA1", "lA2")
PLACES = np.array([[30.5, -2, 10], [25, 40, 3], [-30.5, -2, 10], [-25, 40, 3]])
WEIGHTS = np.array([[0, 3, 1, 0], [3, 0, 0, 2], [1, 0, 0, 5], [0, 2, 5, 0]])
LENGTHS = np.array([[0, 12.5, 40, 0], [12.5, 0, 0, 33], [40, 0, 0, 18], [0, 33, 18, 0]])


def as_text(matrix):
    return "\n".join(" ".join(map(str, row)) for row in matrix.tolist())


def files(names=NAMES, places=PLACES, weights=WEIGHTS, lengths=LENGTHS, ending=""):
    centres = "\n".join(f"{name}  {x} {y} {z}" for name, (x, y, z) in zip(names, places.tolist(), strict=False))
    texts = {"weights": as_text(weights), "centres": centres, "tract_lengths": as_text(lengths), "areas": "1\n2\n3\n4"}
    packed = {name: bz2.compress(text.encode()) if ending else text for name, text in texts.items()}
    return {f"{name}.txt{ending}": content for name, content in packed.items()}


@pytest.mark.parametrize("ending", ["", ".bz2"])
@pytest.mark.parametrize("folder", ["", "connectivity_4/"])
def test_an_archive_is_one_subject_with_names_places_and_lengths(tmp_path, ending, folder):
    content = {f"{folder}{name}": text for name, text in files(ending=ending).items()}
    (tmp_path / "connectivity_4.zip").write_bytes(zipped(content))
    cohort = read_cohort(tmp_path / "connectivity_4.zip")
    assert (cohort.ids, cohort.given, cohort.refused) == (("connectivity_4",), "structural", ())
    assert cohort.atlas.regions == NAMES
    np.testing.assert_array_equal(cohort.atlas.coordinates, PLACES)
    (subject,) = cohort
    np.testing.assert_array_equal(subject.connectivity, WEIGHTS)
    np.testing.assert_array_equal(subject.lengths, LENGTHS)
    assert any("taken for MNI coordinates" in note for note in cohort.notes)
    stream = io.BytesIO()
    save_project(cohort, ConnectomeSettings(), {}, stream)
    again = open_project(io.BytesIO(stream.getvalue())).cohort
    np.testing.assert_array_equal(again.subjects[0].lengths, LENGTHS)


def test_archives_of_several_people_are_put_in_one_order(tmp_path):
    turned = slice(None, None, -1)
    (tmp_path / "p1.zip").write_bytes(zipped(files()))
    other = files(NAMES[turned], PLACES[turned], WEIGHTS[turned, turned] * 2, LENGTHS[turned, turned])
    (tmp_path / "p2.zip").write_bytes(zipped(other))
    cohort = read_cohort(tmp_path)
    assert cohort.ids == ("p1", "p2")
    np.testing.assert_array_equal(cohort["p2"].connectivity, 2 * WEIGHTS)
    np.testing.assert_array_equal(cohort["p2"].lengths, LENGTHS)


def test_regions_of_a_known_atlas_lie_where_it_has_them(tmp_path):
    atlas = load_atlas("desikan68")
    weights = np.ones((68, 68)) - np.eye(68)
    weights[0, 1] = weights[1, 0] = 900
    content = files(atlas.regions, np.zeros((68, 3)), weights, weights)
    (tmp_path / "c.zip").write_bytes(zipped(content))
    assert read_cohort(tmp_path / "c.zip").atlas is atlas


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"names": NAMES[:3]}, "'centres.txt' has 3 regions"),
        ({"names": ("a", "a", "b", "c")}, "names a region twice"),
        ({"names": ("", "a", "b", "c")}, "a name and three coordinates"),
        ({"places": np.full((4, 3), np.nan)}, "a name and three coordinates"),
        ({"lengths": LENGTHS[:3]}, "4 × 4 lengths"),
        ({"lengths": -LENGTHS}, "lengths of 0 mm or more"),
        ({"lengths": np.triu(LENGTHS)}, "differ between the two directions"),
        ({"weights": WEIGHTS + np.tri(4, k=-2)}, "Directed connectivity is not supported"),
    ],
)
def test_files_that_do_not_fit_get_a_sentence(tmp_path, changed, sentence):
    (tmp_path / "c.zip").write_bytes(zipped(files(**changed)))
    refused(sentence, read_cohort, tmp_path / "c.zip")


def test_places_outside_a_head_are_not_drawn(tmp_path):
    (tmp_path / "c.zip").write_bytes(zipped(files(places=PLACES * 100)))
    cohort = read_cohort(tmp_path / "c.zip")
    assert cohort.atlas.coordinates is None
    assert any("cannot be drawn on a brain" in note for note in cohort.notes)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_TEXT_BYTES", "100000")
    (tmp_path / "s.txt.bz2").write_bytes(bz2.compress(b"0 " * 10_000_000))
    refused("BIOBGT_MAX_TEXT_BYTES", read_cohort, tmp_path / "s.txt.bz2")


def test_a_compressed_table_that_was_cut_off_is_refused_and_a_whole_one_read(tmp_path):
    series = np.random.default_rng(0).standard_normal((30, 4))
    content = bz2.compress(as_text(series).encode())
    (tmp_path / "s1.txt.bz2").write_bytes(content)
    (tmp_path / "s2.txt.bz2").write_bytes(content[:-20])
    (tmp_path / "s3.txt.bz2").write_bytes(b"1 2 3")
    cohort = read_cohort(tmp_path, atlas="unknown", options=ReadOptions(orientation="time-region"))
    assert cohort.ids == ("s1",)
    np.testing.assert_allclose(cohort["s1"].series, series)
    assert "cannot be unpacked" in reasons(cohort)["s2.txt.bz2"]
    assert "content is something else" in reasons(cohort)["s3.txt.bz2"]


def test_weights_without_centres_are_a_table_like_any(tmp_path):
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("weights.txt", as_text(WEIGHTS))
    assert read_cohort(tmp_path / "c.zip").atlas.coordinates is None
