"""HDF5 and MATLAB files made to read other files, to fill the memory, or to crash their reader."""

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse

from biobgt import InputError, read_cohort
from biobgt.data.atlas import numbered_atlas
from biobgt.readers.formats import ReadOptions, read_file

OPTIONS = ReadOptions()
SECRET = b"root:x:0:0:secret of the server:/root:/bin/sh\n" * 40


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "elsewhere" / "secret"
    path.parent.mkdir()
    path.write_bytes(SECRET)
    return path


def with_userblock(path):
    """Make a MATLAB 7.3 file of it."""
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(128))


@pytest.mark.parametrize("name", ["x.h5", "x.mat"])
def test_external_storage_is_never_followed(tmp_path, secret, name):
    path = tmp_path / name
    with h5py.File(path, "w", userblock_size=512 if name.endswith("mat") else 0) as file:
        file.create_dataset("group/data", shape=(30, 8), dtype="u1", external=[(str(secret), 0, 240)])
    if name.endswith("mat"):
        with_userblock(path)
    with pytest.raises(InputError, match="whose numbers lie in another file, which is never followed"):
        read_file(path, OPTIONS)
    with pytest.raises(InputError, match="never followed"):
        read_file(path, ReadOptions(variable="group/data"))


@pytest.mark.parametrize("size", ["fixed", "unlimited"])
def test_virtual_datasets_are_never_followed(tmp_path, size):
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file.create_dataset("data", data=np.eye(30), maxshape=(None, 30))
    source = h5py.VirtualSource(
        str(tmp_path / "source.h5"), "data", shape=(30, 30), maxshape=(None, 30) if size == "unlimited" else None
    )
    layout = h5py.VirtualLayout(shape=(30, 30), dtype="f8", maxshape=(None, 30) if size == "unlimited" else None)
    layout[:] = source
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_virtual_dataset("v", layout)
    with pytest.raises(InputError, match="virtual dataset, whose numbers lie in other files"):
        read_file(tmp_path / "x.h5", OPTIONS)


@pytest.mark.parametrize("where", ["link", "deep/in/groups/link"])
def test_links_to_other_files_are_never_followed(tmp_path, where):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["data"] = np.eye(30)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file[where] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/data")
        file["own"] = np.eye(30)
    with pytest.raises(InputError, match=f"'{where}' in the file is a link to another file"):
        read_file(tmp_path / "x.h5", OPTIONS)


def test_soft_links_only_name_again_what_is_there(tmp_path, rng):
    values = rng.standard_normal((30, 5))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["data"] = values
        file["again"] = h5py.SoftLink("/data")
        file["loop"] = h5py.SoftLink("/loop")
        file["a"], file["b"] = h5py.SoftLink("/b"), h5py.SoftLink("/a")
        file["gone"] = h5py.SoftLink("/nowhere/at/all")
    (reading,) = read_file(tmp_path / "x.h5", OPTIONS)
    np.testing.assert_array_equal(reading.values, values)


def test_groups_that_hold_themselves_end(tmp_path, rng):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("group")
        group["self"], group["root"] = group, file["/"]
        group["data"] = rng.standard_normal((30, 5))
    assert read_file(tmp_path / "x.h5", OPTIONS)[0].options["array"] == "group/data"


def test_groups_without_end_are_refused(tmp_path):
    with h5py.File(tmp_path / "deep.h5", "w") as file:
        file["/".join(["g"] * 40) + "/data"] = np.eye(30)
    with pytest.raises(InputError, match=r"levels of folders or groups.*BIOBGT_MAX_NESTING"):
        read_file(tmp_path / "deep.h5", OPTIONS)
    with h5py.File(tmp_path / "wide.h5", "w") as file:
        for i in range(10_050):
            file.create_group(str(i))
    with pytest.raises(InputError, match=r"objects.*BIOBGT_MAX_OBJECTS"):
        read_file(tmp_path / "wide.h5", OPTIONS)


@pytest.mark.parametrize(("shape", "sentence"), [((22_000, 22_000), "BIOBGT_MAX_CELLS"), ((1_200, 90_000), "RATIO")])
def test_two_kilobytes_that_declare_gigabytes(tmp_path, shape, sentence):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("data", shape=shape, dtype="f8", chunks=(100, 100))
    assert (tmp_path / "x.h5").stat().st_size < 10_000
    with pytest.raises(InputError, match=sentence):
        read_file(tmp_path / "x.h5", OPTIONS)


def test_only_the_chosen_dataset_is_read(tmp_path, rng):
    """A huge neighbour is no reason to refuse a table that the user named."""
    values = rng.standard_normal((30, 5))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["data"] = values
        file.create_dataset("huge", shape=(10**6, 10**6), dtype="f8", chunks=(100, 100))
    np.testing.assert_array_equal(read_file(tmp_path / "x.h5", ReadOptions(variable="data"))[0].values, values)


def test_types_that_numpy_does_not_have_are_passed_over(tmp_path, rng):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["data"] = rng.standard_normal((30, 5))
        h5py.h5d.create(file.id, b"when", h5py.h5t.UNIX_D32LE, h5py.h5s.create_simple((4, 4)))
        file.create_dataset("where", shape=(4, 4), dtype=h5py.ref_dtype)
    assert read_file(tmp_path / "x.h5", OPTIONS)[0].values.shape == (30, 5)


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
    with pytest.raises(InputError, match=r"sparse matrix 'w' is damaged|cannot be read as MATLAB|crashed on it"):
        read_file(tmp_path / "x.mat", OPTIONS)


def test_a_small_sparse_matrix_that_would_be_large_written_out_is_one_refused_file(tmp_path, bold):
    """A few hundred bytes, which would be almost a gigabyte."""
    np.savetxt(tmp_path / "good.csv", bold(60, 12), delimiter=",")
    air = scipy.sparse.csc_matrix(([1.0, 2.0], ([0, 1], [0, 1])), shape=(100_000, 1_200))
    scipy.io.savemat(tmp_path / "x.mat", {"w": air}, do_compression=True)
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(12))
    assert cohort.ids == ("good",)
    assert "'w' would grow from" in cohort.refused[0].reason
    assert "Save it as a full matrix" in cohort.refused[0].reason


def test_a_sparse_matrix_that_would_fill_the_memory_is_refused(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"w": scipy.sparse.csc_matrix((200_000, 200_000))})
    with pytest.raises(InputError, match="40,000,000,000 values"):
        read_file(tmp_path / "x.mat", OPTIONS)


def test_a_matlab_file_that_unpacks_to_gigabytes_is_refused(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"x": np.zeros((1_000, 20_000))}, do_compression=True)
    assert (tmp_path / "x.mat").stat().st_size < 2**20
    with pytest.raises(InputError, match="BIOBGT_MAX_RATIO"):
        read_file(tmp_path / "x.mat", OPTIONS)


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
