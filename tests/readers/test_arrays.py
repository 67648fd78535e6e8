"""NumPy, MATLAB and HDF5 files: what they hold, which array is meant, and what is never opened."""

import pickle

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.readers.formats import ReadOptions, read_file

OPTIONS = ReadOptions()


def save_mat73(path, **variables):
    """Write as MATLAB 7.3 does: HDF5 behind a 512-byte text block, arrays transposed."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            file[name] = np.asarray(value).T
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(128))


def save(path, values):
    """Write one array in the format of the path's extension."""
    if path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".npz":
        np.savez(path, data=values)
    elif path.name.endswith("v5.mat"):
        scipy.io.savemat(path, {"data": values})
    elif path.suffix == ".mat":
        save_mat73(path, data=values)
    else:
        with h5py.File(path, "w") as file:
            file["group/data"] = values


NAMES = ["s.npy", "s.npz", "v5.mat", "v73.mat", "s.h5", "s.hdf5"]


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("name", NAMES)
@given(
    values=arrays(
        st.sampled_from([np.float64, np.float32, np.int16]),
        array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9),
        elements=st.integers(-100, 100),
    )
)
def test_any_array_we_write_we_read_back(tmp_path, name, values):
    save(tmp_path / name, values)
    (reading,) = read_file(tmp_path / name, OPTIONS)
    np.testing.assert_array_equal(reading.values, values)
    assert reading.values.dtype == np.float64


def symmetric_stack(rng, n_subjects=4, n_regions=6):
    return np.stack([np.corrcoef(rng.standard_normal((n_regions, 30))) for _ in range(n_subjects)])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [0, -1])
def test_stacks_of_matrices_are_cut_along_the_subjects(tmp_path, rng, name, axis):
    stack = symmetric_stack(rng)
    save(tmp_path / name, np.moveaxis(stack, 0, axis))
    readings = read_file(tmp_path / name, OPTIONS)
    assert len(readings) == 4
    np.testing.assert_array_equal(readings[2].values, stack[2])


@pytest.mark.parametrize("name", NAMES)
def test_stacks_of_series_are_a_question_and_the_answer_settles_it(tmp_path, rng, name):
    stack = rng.standard_normal((3, 40, 5))
    for axis, said in ((0, "first"), (-1, "last")):
        save(tmp_path / name, np.moveaxis(stack, 0, axis))
        with pytest.raises(ChoiceNeeded) as caught:
            read_file(tmp_path / name, OPTIONS)
        assert caught.value.option == "subject_axis"
        readings = read_file(tmp_path / name, ReadOptions(subject_axis=said))
        np.testing.assert_array_equal(readings[1].values, stack[1])


def test_subject_names_say_which_axis_is_theirs(tmp_path, rng):
    stack = rng.standard_normal((40, 5, 3))
    np.savez(tmp_path / "s.npz", data=stack, subject=["a", "b", "c"])
    readings = read_file(tmp_path / "s.npz", OPTIONS)
    assert [reading.subject for reading in readings] == ["a", "b", "c"]
    np.testing.assert_array_equal(readings[2].values, stack[..., 2])


def test_a_stack_of_one_is_one_subject(tmp_path, rng):
    np.savez(tmp_path / "s.npz", data=rng.standard_normal((1, 40, 5)), subject=["s9"])
    (reading,) = read_file(tmp_path / "s.npz", OPTIONS)
    assert (reading.subject, reading.values.shape) == ("s9", (40, 5))


def test_sparse_and_float_named(tmp_path):
    matrix = scipy.sparse.csc_matrix(np.array([[0, 0.5], [0.5, 0]]))
    scipy.io.savemat(tmp_path / "s.mat", {"w": matrix})
    np.testing.assert_array_equal(read_file(tmp_path / "s.mat", OPTIONS)[0].values, [[0, 0.5], [0.5, 0]])
    np.savez(tmp_path / "s.npz", series=np.ones((4, 3)), n_timepoints=[2, 2], subject=[50952.0, 50953.0])
    assert [reading.subject for reading in read_file(tmp_path / "s.npz", OPTIONS)] == ["50952", "50953"]


def test_a_cohort_archive_of_concatenated_series(tmp_path, rng):
    series = rng.standard_normal((70, 5)).astype(np.float16)
    np.savez(tmp_path / "c.npz", series=series, n_timepoints=[30, 40], subject=["a", "b"])
    readings = read_file(tmp_path / "c.npz", OPTIONS)
    assert [reading.subject for reading in readings] == ["a", "b"]
    np.testing.assert_array_equal(readings[1].values, series[30:].astype(float))
    assert readings[1].columns_are_regions


@pytest.mark.parametrize(
    ("n_timepoints", "subject", "sentence"),
    [([30, 30], ["a", "b"], "add up to 60"), ([30, 40], ["a"], "1 subject names and 2 lengths")],
)
def test_a_cohort_archive_that_does_not_add_up(tmp_path, n_timepoints, subject, sentence):
    np.savez(tmp_path / "c.npz", series=np.ones((70, 5)), n_timepoints=n_timepoints, subject=subject)
    with pytest.raises(InputError, match=sentence):
        read_file(tmp_path / "c.npz", OPTIONS)


def test_several_tables_are_a_question(tmp_path, rng):
    path = tmp_path / "s.mat"
    scipy.io.savemat(path, {"left": rng.standard_normal((30, 5)), "right": rng.standard_normal((30, 5)), "TR": 2.0})
    with pytest.raises(ChoiceNeeded) as caught:
        read_file(path, OPTIONS)
    assert caught.value.option == "variable"
    assert set(caught.value.choices) == {"left", "right"}
    (reading,) = read_file(path, ReadOptions(variable="right"))
    assert reading.options["array"] == "right"
    with pytest.raises(InputError, match="no variable 'middle'"):
        read_file(path, ReadOptions(variable="middle"))


def write_bad_files(folder):
    rng = np.random.default_rng(0)
    np.save(folder / "object.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    np.savez(folder / "object.npz", data=np.array([[1, "x"], [None, 2]], dtype=object), allow_pickle=True)
    (folder / "pickle.npy").write_bytes(pickle.dumps(np.ones((4, 4)), protocol=4))
    (folder / "pickle.csv").write_bytes(pickle.dumps([1, 2]))
    (folder / "empty.npy").write_bytes(b"")
    scipy.io.savemat(folder / "struct.mat", {"s": {"connectivity": np.eye(3)}})
    scipy.io.savemat(folder / "words.mat", {"names": "hello"})
    with h5py.File(folder / "words.h5", "w") as file:
        file["names"] = "hello"
    np.save(folder / "one.npy", np.ones(7))
    np.save(folder / "complex.npy", np.ones((4, 5), dtype=complex))
    np.save(folder / "four.npy", np.ones((2, 3, 4, 5)))
    for name in ("a.npy", "a.npz", "v5.mat", "v73.mat", "a.h5"):
        save(folder / name, rng.standard_normal((60, 30)))
        whole = (folder / name).read_bytes()
        (folder / f"cut_{name}").write_bytes(whole[: len(whole) // 2])
    (folder / "text.npy").write_text("1,2\n3,4\n")
    (folder / "array.csv").write_bytes((folder / "a.npy").read_bytes())
    (folder / "book.csv").write_bytes((folder / "a.npz").read_bytes())
    (folder / "notes.docx").write_bytes(b"PK\x03\x04")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("object.npy", "Python objects"),
        ("object.npz", "Python objects"),
        ("pickle.npy", "Python pickle"),
        ("pickle.csv", "Python pickle"),
        ("empty.npy", "empty"),
        ("struct.mat", "'s' is a MATLAB struct"),
        ("words.mat", "no table of real numbers.*text"),
        ("words.h5", "no table of real numbers"),
        ("one.npy", "no table of real numbers"),
        ("complex.npy", "complex numbers"),
        ("four.npy", "no table of real numbers"),
        ("cut_a.npy", "cut off"),
        ("cut_a.npz", "cut off"),
        ("cut_v5.mat", "cannot be read as MATLAB"),
        ("cut_v73.mat", "cut off"),
        ("cut_a.h5", "cut off"),
        ("text.npy", "content is something else"),
        ("array.csv", "is a NumPy array. Rename it to end in .npy"),
        ("book.csv", "zip archive"),
        ("notes.docx", "are not read"),
    ],
)
def test_bad_arrays_get_a_sentence(tmp_path, name, sentence):
    write_bad_files(tmp_path)
    with pytest.raises(InputError, match=sentence):
        read_file(tmp_path / name, OPTIONS)


def test_an_array_that_would_not_fit_in_memory_is_refused(tmp_path):
    with h5py.File(tmp_path / "huge.h5", "w") as file:
        file.create_dataset("x", shape=(10**6, 10**6), dtype="f8", chunks=(1000, 1000))
    with pytest.raises(InputError, match=r"1,000,000,000,000 values; at most"):
        read_file(tmp_path / "huge.h5", OPTIONS)
