"""Array files: NumPy, MATLAB and HDF5, whole, damaged and made to do harm."""

import io
import pickle
import zipfile

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from reading import refused, save_table

from biobgt import read_cohort
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.readers.formats import ReadOptions, read_file
from biobgt.readers.project import open_project
from tests.fuzz.corpus import save_mat73, with_userblock

COHORT = {"series": np.ones((8, 3)), "n_timepoints": [4, 4]}


def read(path, **how):
    return read_file(path, ReadOptions(**how))


def save_hdf5(path, values, name="group/data"):
    with h5py.File(path, "w") as file:
        file[name] = values


SAVE = {
    "s.npy": np.save,
    "columns first.npy": lambda path, values: np.save(path, np.asfortranarray(values)),
    "s.npz": lambda path, values: np.savez(path, data=values),
    "v5.mat": lambda path, values: scipy.io.savemat(path, {"data": values}),
    "v73.mat": save_mat73,
    "s.h5": save_hdf5,
    "s.hdf5": save_hdf5,
}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("name", SAVE)
@given(
    values=arrays(
        st.sampled_from([np.float64, np.float32, np.int16]),
        array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9),
        elements=st.integers(-100, 100),
    )
)
def test_any_array_we_write_we_read_back(tmp_path, name, values):
    SAVE[name](tmp_path / name, values)
    (reading,) = read(tmp_path / name)
    np.testing.assert_array_equal(reading.values, values)
    assert reading.values.dtype == np.float64


@pytest.mark.parametrize("name", SAVE)
@pytest.mark.parametrize(("axis", "said"), [(0, "first"), (-1, "last")])
def test_stacks_are_cut_along_the_subjects_of_series_once_the_user_says_where_they_lie(tmp_path, rng, name, axis, said):
    matrices = np.stack([np.corrcoef(rng.standard_normal((6, 30))) for _ in range(4)])
    SAVE[name](tmp_path / name, np.moveaxis(matrices, 0, axis))
    np.testing.assert_array_equal([reading.values for reading in read(tmp_path / name)], matrices)
    series = rng.standard_normal((3, 40, 5))
    SAVE[name](tmp_path / name, np.moveaxis(series, 0, axis))
    with pytest.raises(ChoiceNeeded) as caught:
        read(tmp_path / name)
    assert caught.value.option == "subject_axis"
    np.testing.assert_array_equal([one.values for one in read(tmp_path / name, subject_axis=said)], series)


STACK = np.random.default_rng(0).standard_normal((40, 5, 3))
SERIES = STACK.reshape(-1, 5)[:70].astype(np.float16)


@pytest.mark.parametrize(
    ("arrays", "subjects", "last"),
    [
        ({"data": STACK, "subject": ["a", "b", "c"]}, ["a", "b", "c"], STACK[..., 2]),  # which tell the axis, too
        ({"data": STACK[:1], "subject": ["s9"]}, ["s9"], STACK[0]),
        ({"series": SERIES, "n_timepoints": [30, 40], "subject": ["a", "b"]}, ["a", "b"], SERIES[30:].astype(float)),
        ({"series": SERIES, "n_timepoints": [69, 1], "subject": [50952.0, 50953.0]}, ["50952", "50953"], SERIES[69:]),
    ],
    ids=["stack", "stack of one", "one after another", "named by decimals"],
)
def test_subjects_of_an_archive_go_by_their_names(tmp_path, arrays, subjects, last):
    np.savez(tmp_path / "s.npz", **arrays)
    readings = read(tmp_path / "s.npz")
    assert [reading.subject for reading in readings] == subjects
    np.testing.assert_array_equal(readings[-1].values, last)
    assert readings[-1].columns_are_regions == ("series" in arrays)


def test_a_sparse_matrix_is_written_out(tmp_path):
    scipy.io.savemat(tmp_path / "s.mat", {"w": scipy.sparse.csc_matrix(np.array([[0, 0.5], [0.5, 0]]))})
    np.testing.assert_array_equal(read(tmp_path / "s.mat")[0].values, [[0, 0.5], [0.5, 0]])


@pytest.mark.parametrize(
    ("lengths", "names", "sentence"),
    [
        ([30, 30], {"subject": ["a", "b"]}, "add up to 60"),
        ([30, 40], {"subject": ["a"]}, "1 subject names and 2 lengths"),
        ([2**63 - 1, 2**63 - 1, 72], {}, "add up to"),  # to 70, where the sum overflows
        (np.array([2**64 - 1, 71], "u8"), {}, "add up to"),
        ([-4, 74], {}, "add up to"),
        (np.zeros(0, int), {}, "add up to"),
    ],
)
def test_a_cohort_archive_that_does_not_add_up(tmp_path, lengths, names, sentence):
    np.savez(tmp_path / "c.npz", series=SERIES, n_timepoints=lengths, **names)
    refused(sentence, read, tmp_path / "c.npz")


def test_several_tables_are_a_question(tmp_path, rng):
    path = tmp_path / "s.mat"
    scipy.io.savemat(path, {"left": rng.standard_normal((30, 5)), "right": rng.standard_normal((30, 5)), "TR": 2.0})
    with pytest.raises(ChoiceNeeded) as caught:
        read(path)
    assert caught.value.option == "variable"
    assert set(caught.value.choices) == {"left", "right"}
    (reading,) = read(path, variable="right")
    assert reading.options["array"] == "right"
    refused("no variable 'middle'", read, path, variable="middle")


def cut(name):
    def write(path):
        SAVE[name](path.with_name(name), np.random.default_rng(0).standard_normal((60, 30)))
        whole = path.with_name(name).read_bytes()
        path.write_bytes(whole[: len(whole) // 2])

    return write


def renamed(name):
    def write(path):
        SAVE[name](path.with_name(name), np.ones((60, 30)))
        path.with_name(name).rename(path)

    return write


OBJECTS = np.array([[1, "x"], [None, 2]], dtype=object)


@pytest.mark.parametrize(
    ("name", "write", "sentence"),
    [
        ("object.npy", lambda path: np.save(path, OBJECTS, allow_pickle=True), "Python objects"),
        ("object.npz", lambda path: np.savez(path, data=OBJECTS, allow_pickle=True), "Python objects"),
        ("x.npy", lambda path: path.write_bytes(pickle.dumps(np.ones((4, 4)), protocol=4)), "Python pickle"),
        ("x.csv", lambda path: path.write_bytes(pickle.dumps([1, 2])), "Python pickle"),
        ("x.npy", lambda path: path.write_bytes(b""), "empty"),
        ("x.mat", lambda path: scipy.io.savemat(path, {"s": {"connectivity": np.eye(3)}}), "'s' is a MATLAB struct"),
        ("x.mat", lambda path: scipy.io.savemat(path, {"names": "hello"}), "no table of real numbers.*text"),
        ("x.h5", lambda path: save_hdf5(path, "hello", "names"), "no table of real numbers"),
        ("x.h5", lambda path: save_hdf5(path, "hello", "group/names"), "no table of real numbers"),
        ("x.npy", lambda path: np.save(path, np.ones(7)), "no table of real numbers"),
        ("x.npy", lambda path: np.save(path, np.ones((4, 5), dtype=complex)), "complex numbers"),
        ("x.npy", lambda path: np.save(path, np.ones((2, 3, 4, 5))), "no table of real numbers"),
        ("x.npy", cut("s.npy"), "cut off"),
        ("x.npz", cut("s.npz"), "cut off"),
        ("x.mat", cut("v5.mat"), "cannot be read as MATLAB"),
        ("x.mat", cut("v73.mat"), "cut off"),
        ("x.h5", cut("s.h5"), "cut off"),
        ("x.npy", lambda path: path.write_text("1,2\n3,4\n"), "content is something else"),
        ("x.csv", renamed("s.npy"), "is a NumPy array. Rename it to end in .npy"),
        ("x.csv", renamed("s.npz"), "zip archive"),
        ("x.docx", lambda path: path.write_bytes(b"PK\x03\x04"), "are not read"),
    ],
)
def test_bad_arrays_get_a_sentence(tmp_path, name, write, sentence):
    write(tmp_path / name)
    refused(sentence, read, tmp_path / name)


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An ``.npy`` file behind any header."""
    text = header.encode("latin-1")
    length = len(text).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    return b"\x93NUMPY" + version + length + text + data


def described(shape: str, descr: str = "'<f8'", order: str = "False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


HEADERS = {
    "TokenError": described("(2,"),
    "OverflowError": described("(99999999999999999999999, 2)"),
    "IndexError": described("(3, 2)", descr="('<f8',)"),
    "RecursionError": described("(" * 3000 + "2" + ")" * 3000),
    "negative": described("(-1, 5)"),
    "true": described("(True, 5)"),
    "no type": described("(3, 2)", descr="'no such type'"),
    "objects": described("(3, 2)", descr="'|O'"),
    "huge text": described("(3, 2)", descr="'<U999999999'"),
    "no tuple": described("7"),
    "words": "{'descr'",
    "null": "\x00" * 60,
    "nothing": "",
    "extra": described("(3, 2)") + "; import os",
    "dimensions": described("(1, " * 1 + ", ".join(["2"] * 60) + ")"),
    "no values": described("(0, 5)"),
    "a nothing type": described("(3, 2)", descr="'<U0'"),
}


@pytest.mark.parametrize("version", [b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"])
@pytest.mark.parametrize("name", HEADERS)
def test_damaged_headers_get_a_sentence(tmp_path, name, version):
    content = npy(HEADERS[name], np.ones(30).tobytes(), version)
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(InputError) as of_array:
        read(tmp_path / "x.npy")
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("data.npy", content)
    with pytest.raises(InputError) as of_archive:
        read(tmp_path / "x.npz")
    assert all(str(error.value).endswith(".") for error in (of_array, of_archive))


def test_a_header_that_declares_more_than_the_file_has_takes_no_memory(tmp_path):
    (tmp_path / "x.npy").write_bytes(npy(described("(1200, 90000)"), bytes(100)))
    refused(r"864,000,000 bytes long by its header and the file has 100", read, tmp_path / "x.npy")
    (tmp_path / "x.npy").write_bytes(npy(described("(22000, 22000)"), bytes(100)))
    refused("BIOBGT_MAX_CELLS=484000000", read, tmp_path / "x.npy")


def test_only_what_is_needed_of_an_archive_is_read(tmp_path, rng):
    """An array of no use that is damaged does not keep the others from being read."""
    values = rng.standard_normal((30, 5))
    np.savez(tmp_path / "x.npz", data=values, note=np.ones(2_000))
    content = (tmp_path / "x.npz").read_bytes()
    where = content.rfind(np.ones(50).tobytes())
    (tmp_path / "x.npz").write_bytes(content[:where] + b"\xff" * 8 + content[where + 8 :])
    np.testing.assert_array_equal(read(tmp_path / "x.npz")[0].values, values)


def test_ten_million_subjects_of_two_regions_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2_000_000, 2, 2), "i1"))
    refused("BIOBGT_MAX_SUBJECTS", read, tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("character", "length", "sentence"),
    [
        (ord("a"), 10_000, "10,000 characters in a subject's id"),
        (0xD800, 1, "not UTF-8 text"),  # half of a pair
        (0xFFFFFFFF, 1, "are no text"),  # no character at all
    ],
)
def test_ids_without_end_or_that_are_no_text_are_refused(tmp_path, character, length, sentence):
    names = np.array(["a" * length, "b"])
    names.view("u4")[0] = character
    np.savez(tmp_path / "x.npz", **COHORT, subject=names)
    refused(sentence, read_cohort, tmp_path / "x.npz", atlas=numbered_atlas(3))


def test_subjects_add_up_over_a_cohort(tmp_path, rng, monkeypatch):
    for i in range(6):
        np.save(tmp_path / f"{i}.npy", rng.standard_normal((100, 5)))
    monkeypatch.setenv("BIOBGT_MAX_COHORT_BYTES", "20000")
    refused(r"The cohort has 19\.5 kB|BIOBGT_MAX_COHORT_BYTES=24000", read_cohort, tmp_path, atlas=numbered_atlas(5))
    monkeypatch.setenv("BIOBGT_MAX_COHORT_BYTES", "24000")
    assert len(read_cohort(tmp_path, atlas=numbered_atlas(5))) == 6
    monkeypatch.setenv("BIOBGT_MAX_SUBJECTS", "5")
    refused("BIOBGT_MAX_SUBJECTS=6", read_cohort, tmp_path, atlas=numbered_atlas(5))


def test_too_many_regions_are_refused_with_the_way_to_raise_the_limit(tmp_path, rng, monkeypatch):
    np.save(tmp_path / "x.npy", rng.standard_normal((200, 1_500)))
    atlas = numbered_atlas(1_500)
    refused("1,500 regions; at most 1,200 .*BIOBGT_MAX_REGIONS=1500", read_cohort, tmp_path / "x.npy", atlas=atlas)
    monkeypatch.setenv("BIOBGT_MAX_REGIONS", "1500")
    assert read_cohort(tmp_path / "x.npy", atlas=atlas).atlas.n_regions == 1_500


def entries(count: int, name: str) -> bytes:
    """An archive with so many entries; with one name, all are duplicates."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("project.json", "{}")
        for i in range(count):
            entry = zipfile.ZipInfo(name.format(i))
            archive.filelist.append(entry)  # in the list alone, where they cost
            entry.header_offset = entry.CRC = 0
    return stream.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_of_very_many_files_are_refused_by_their_list_alone(tmp_path):
    (tmp_path / "x.zip").write_bytes(entries(90_000, "{:06}.csv"))
    refused("BIOBGT_MAX_MEMBERS", read_cohort, tmp_path / "x.zip")
    refused("BIOBGT_MAX_MEMBERS", open_project, io.BytesIO(entries(60_000, "arrays/x.npy")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_very_many_duplicates_in_a_project_get_a_sentence(monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_MEMBERS", "100000")
    refused("overlaps what comes after it", open_project, io.BytesIO(entries(60_000, "arrays/x.npy")))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("project.json", '{"format": "biobgt project", "version": 1, "arrays": {"arrays/x.npy": {}}}')
        for _ in range(5_000):
            archive.writestr("arrays/x.npy", b"")
    refused(r"'arrays/x\.npy' is missing, twice there, or does not belong", open_project, stream)


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "elsewhere" / "secret"
    path.parent.mkdir()
    path.write_bytes(b"root:x:0:0:secret of the server:/root:/bin/sh\n" * 40)
    return path


@pytest.mark.parametrize("name", ["x.h5", "x.mat"])
def test_external_storage_is_never_followed(tmp_path, secret, name):
    path = tmp_path / name
    with h5py.File(path, "w", userblock_size=512 if name.endswith("mat") else 0) as file:
        file.create_dataset("group/data", shape=(30, 8), dtype="u1", external=[(str(secret), 0, 240)])
    if name.endswith("mat"):
        with_userblock(path)
    refused("whose numbers lie in another file, which is never followed", read, path)
    refused("never followed", read, path, variable="group/data")


@pytest.mark.parametrize("maxshape", [None, (None, 30)], ids=["fixed", "unlimited"])
def test_virtual_datasets_are_never_followed(tmp_path, maxshape):
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file.create_dataset("data", data=np.eye(30), maxshape=(None, 30))
    layout = h5py.VirtualLayout(shape=(30, 30), dtype="f8", maxshape=maxshape)
    layout[:] = h5py.VirtualSource(str(tmp_path / "source.h5"), "data", shape=(30, 30), maxshape=maxshape)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_virtual_dataset("v", layout)
    refused("virtual dataset, whose numbers lie in other files", read, tmp_path / "x.h5")


@pytest.mark.parametrize("where", ["link", "deep/in/groups/link"])
def test_links_to_other_files_are_never_followed(tmp_path, where):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["data"] = np.eye(30)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file[where] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/data")
        file["own"] = np.eye(30)
    refused(f"'{where}' in the file is a link to another file", read, tmp_path / "x.h5")


def test_soft_links_groups_in_themselves_and_unknown_types_are_passed_over(tmp_path, rng):
    values = rng.standard_normal((30, 5))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("group")
        group["self"], group["root"], group["data"] = group, file["/"], values
        for name, target in {
            "again": "/group/data",
            "loop": "/loop",
            "a": "/b",
            "b": "/a",
            "gone": "/no/where",
        }.items():
            file[name] = h5py.SoftLink(target)
        h5py.h5d.create(file.id, b"when", h5py.h5t.UNIX_D32LE, h5py.h5s.create_simple((4, 4)))
        file.create_dataset("where", shape=(4, 4), dtype=h5py.ref_dtype)
    (reading,) = read(tmp_path / "x.h5")
    np.testing.assert_array_equal(reading.values, values)
    assert reading.options["array"] == "group/data"


def test_groups_without_end_are_refused(tmp_path):
    with h5py.File(tmp_path / "deep.h5", "w") as file:
        file["/".join(["g"] * 40) + "/data"] = np.eye(30)
    refused(r"levels of folders or groups.*BIOBGT_MAX_NESTING", read, tmp_path / "deep.h5")
    with h5py.File(tmp_path / "wide.h5", "w") as file:
        for i in range(10_050):
            file.create_group(str(i))
    refused(r"objects.*BIOBGT_MAX_OBJECTS", read, tmp_path / "wide.h5")


@pytest.mark.parametrize(("shape", "sentence"), [((22_000, 22_000), "BIOBGT_MAX_CELLS"), ((1_200, 90_000), "RATIO")])
def test_two_kilobytes_that_declare_gigabytes(tmp_path, shape, sentence):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("data", shape=shape, dtype="f8", chunks=(100, 100))
    assert (tmp_path / "x.h5").stat().st_size < 10_000
    refused(sentence, read, tmp_path / "x.h5")


def test_only_the_chosen_dataset_is_read(tmp_path, rng):
    """A huge neighbour is no reason to refuse a table that the user named."""
    values = rng.standard_normal((30, 5))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["data"] = values
        file.create_dataset("huge", shape=(10**6, 10**6), dtype="f8", chunks=(100, 100))
    np.testing.assert_array_equal(read(tmp_path / "x.h5", variable="data")[0].values, values)


def sparse_file(path, *, of, place, to):
    """A sparse unit matrix with one index changed in the file: of its rows (0 to 5) or its columns' ends (0 to 6)."""
    scipy.io.savemat(path, {"w": scipy.sparse.csc_matrix(np.eye(6))})
    data = bytearray(path.read_bytes())
    stored = np.arange({"rows": 6, "ends": 7}[of], dtype="<i4").tobytes()
    where = (data.find if of == "rows" else data.rfind)(stored) + 4 * place
    data[where : where + 4] = to.to_bytes(4, "little", signed=True)
    path.write_bytes(data)


@pytest.mark.parametrize("of", ["rows", "ends"])
@pytest.mark.parametrize("to", [6, 7, 5_000, 2**30, -1, -(2**30)])
def test_sparse_indices_outside_the_matrix_are_refused(tmp_path, of, to):
    sparse_file(tmp_path / "x.mat", of=of, place=3, to=to)
    refused(r"sparse matrix 'w' is damaged|cannot be read as MATLAB|crashed on it", read, tmp_path / "x.mat")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        # A few hundred bytes, which would be almost a gigabyte.
        (scipy.sparse.csc_matrix(([1.0, 2.0], ([0, 1], [0, 1])), shape=(100_000, 1_200)), "Save it as a full matrix"),
        (scipy.sparse.csc_matrix((200_000, 200_000)), "40,000,000,000 values"),
        (np.zeros((1_000, 20_000)), "BIOBGT_MAX_RATIO"),
    ],
    ids=["sparse", "larger than memory", "packed"],
)
def test_a_small_matlab_file_that_would_be_large_is_one_refused_file(tmp_path, values, sentence):
    save_table(tmp_path / "good.csv", 12)
    scipy.io.savemat(tmp_path / "x.mat", {"w": values}, do_compression=True)
    assert (tmp_path / "x.mat").stat().st_size < 2**20
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(12))
    assert cohort.ids == ("good",)
    assert sentence in cohort.refused[0].reason


def test_cells_within_cells_are_refused_and_the_others_load(tmp_path, rng):
    """Five thousand cells in one another crash SciPy's reader; here they are one refused file."""
    (tmp_path / "deep.mat").write_bytes(_nested_cells(5_000))
    scipy.io.savemat(tmp_path / "good.mat", {"data": rng.standard_normal((30, 5))})
    cohort = read_cohort([tmp_path / "deep.mat", tmp_path / "good.mat"], atlas=numbered_atlas(5))
    assert cohort.ids == ("good",)
    assert [refusal.file for refusal in cohort.refused] == ["deep.mat"]


def _element(kind: int, content: bytes) -> bytes:
    padded = content + bytes(-len(content) % 8)
    return kind.to_bytes(4, "little") + len(content).to_bytes(4, "little") + padded


def _matrix(kind: int, name: bytes, dimensions: tuple[int, int], content: bytes) -> bytes:
    flags = _element(6, kind.to_bytes(4, "little") + bytes(4))
    shape = _element(5, b"".join(n.to_bytes(4, "little") for n in dimensions))
    return _element(14, flags + shape + _element(1, name) + content)


def _nested_cells(depth: int) -> bytes:
    """A MATLAB 5 file: a table of numbers whose content is a cell in a cell in a cell."""
    inner = _matrix(6, b"", (2, 2), _element(9, np.eye(2).tobytes()))
    for _ in range(depth):
        inner = _matrix(1, b"", (1, 1), inner)
    header = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + b"\x00\x01IM"
    return header + _matrix(1, b"x", (1, 1), inner) + _matrix(1, b"y", (2, 2), inner * 4)


@pytest.mark.parametrize("cut", [8, 40, 120, 128, 132, 200, 400])
def test_damaged_headers_are_one_refused_file(tmp_path, rng, cut):
    scipy.io.savemat(tmp_path / "bad.mat", {"data": rng.standard_normal((30, 5))})
    scipy.io.savemat(tmp_path / "good.mat", {"data": rng.standard_normal((30, 5))})
    data = bytearray((tmp_path / "bad.mat").read_bytes())
    data[cut : cut + 8] = b"\xff" * 8
    (tmp_path / "bad.mat").write_bytes(data)
    cohort = read_cohort([tmp_path / "bad.mat", tmp_path / "good.mat"], atlas=numbered_atlas(5))
    assert "good" in cohort.ids
