"""Reading in a process of its own: the same numbers, and nothing that happens to that process happens to this one."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np
import pytest
from reading import refused

from biobgt.base.errors import ReaderFault
from biobgt.readers.foreign import isolate as isolated
from biobgt.readers.foreign.isolate import read_isolated
from biobgt.readers.formats import ReadOptions, read_file

READER = "biobgt.readers.foreign.tables:read_hdf5"
HDF5 = {"variable": None, "matlab": False}


def write(path: Path, values: np.ndarray) -> Path:
    with h5py.File(path, "w") as file:
        file["data"] = values
    return path


def children() -> set[int]:
    return {child._process.pid for child in isolated._POOL._idle}


@pytest.fixture
def good(tmp_path, rng) -> Path:
    return write(tmp_path / "good.h5", rng.standard_normal((30, 5)))


def read(path):
    return read_isolated(READER, path, HDF5)


@pytest.fixture
def warm(good):
    """One idle process, and no other."""
    isolated._POOL.close()
    read(good)
    (pid,) = children()
    return pid


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<f2", ">i2", "<u8", "i1"])
def test_every_type_of_number_comes_back_to_the_last_bit(tmp_path, rng, dtype):
    values = (rng.standard_normal((7, 5)) * 50).astype(dtype)
    _, array = read(write(tmp_path / "s.h5", values))
    assert array.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(array, values)
    assert array.flags.writeable


def test_the_process_outlives_the_thread_that_asked_first_and_is_kept_for_the_next_file(good):
    isolated._POOL.close()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(read, good).result()
    (first,) = children()
    time.sleep(0.1)
    read(good)
    assert children() == {first}


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads a process's environment as Linux shows it")
def test_the_process_knows_no_password(good, monkeypatch):
    monkeypatch.setenv("BIOBGT_PASSWORD", "correct horse")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "battery staple")
    isolated._POOL.close()
    read(good)
    for process in children():
        known = Path(f"/proc/{process}/environ").read_bytes()
        assert b"horse" not in known
        assert b"staple" not in known
        assert b"PATH=" in known


def test_after_a_damaged_file_the_process_is_another(tmp_path, good, warm):
    (tmp_path / "bad.h5").write_bytes(good.read_bytes()[:1000])
    refused("cannot be read as HDF5", read, tmp_path / "bad.h5")
    read(good)
    assert warm not in children()


def test_a_process_that_was_killed_while_idle_costs_no_file(good, warm):
    os.kill(warm, signal.SIGKILL)
    assert read(good)[1].shape == (30, 5)


def test_a_process_that_dies_over_a_file_is_one_refused_file(tmp_path, good, warm, monkeypatch):
    """A stopped process that is then killed stands for every crash in a library."""
    os.kill(warm, signal.SIGSTOP)
    threading.Timer(0.2, os.kill, (warm, signal.SIGKILL)).start()
    assert read(good)[1].shape == (30, 5), "a warm process's death is not the file's fault"
    monkeypatch.setattr(isolated, "__file__", str(tmp_path / "no.py"))
    isolated._POOL.close()
    refused("crashed on it", read, good)


def test_a_file_that_takes_too_long_is_refused_and_the_next_is_read(good, warm, monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_SECONDS", "1")
    os.kill(warm, signal.SIGSTOP)  # as good as a loop in C: it answers to SIGKILL alone
    refused(r"longer than 1 seconds.*BIOBGT_MAX_SECONDS=4", read, good)
    monkeypatch.delenv("BIOBGT_MAX_SECONDS")
    assert read(good)[1].shape == (30, 5)


def test_memory_beyond_what_the_file_declares_is_refused(tmp_path, monkeypatch):
    """A dataset of 100 numbers whose one chunk unpacks to 800 MB."""
    path = tmp_path / "chunk.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.ones((10, 10)), chunks=(10_000, 10_000), compression=9, maxshape=(None, None))
    monkeypatch.setenv("BIOBGT_MAX_READER_BYTES", str(2**28))
    refused(r"cannot be read as HDF5|more memory", read_file, path, ReadOptions())
    monkeypatch.setenv("BIOBGT_MAX_READER_BYTES", str(2**31))
    assert read_file(path, ReadOptions())[0].values.sum() == 100


def test_a_fault_of_a_reader_is_told_from_a_refusal(good):
    with pytest.raises(ReaderFault, match=r"KeyError.*fault of this program"):
        read_isolated(READER, good, {})  # no 'variable': our own mistake


def test_threads_share_the_processes(tmp_path, rng):
    values = [rng.standard_normal((20, 4)) for _ in range(24)]
    paths = [write(tmp_path / f"{i}.h5", array) for i, array in enumerate(values)]
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(read, paths))
    for (_, array), expected in zip(replies, values, strict=True):
        np.testing.assert_array_equal(array, expected)
    assert len(children()) <= isolated.MOST_AT_ONCE


def test_files_that_are_read_apart_come_in_their_order(tmp_path, rng):
    """Two are read at a time, between others that are read here; each keeps its place and its numbers."""
    from biobgt.data.atlas import numbered_atlas
    from biobgt.readers import read_cohort

    values = {f"s{i:02}": rng.standard_normal((20 + i, 4)) for i in range(12)}
    for i, (name, array) in enumerate(values.items()):
        if i % 3:
            write(tmp_path / f"{name}.h5", array)
        else:
            np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "s05.h5").write_bytes(b"\x89HDF\r\n\x1a\n and nothing else")
    done = []
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(4), progress=lambda i, n: done.append((i, n)))
    assert cohort.ids == tuple(name for name in values if name != "s05")
    assert [refusal.file for refusal in cohort.refused] == ["s05.h5"]
    assert done == [(i, 12) for i in range(1, 13)]
    for subject in cohort:
        np.testing.assert_array_equal(subject.series, values[subject.id])


@pytest.mark.usefixtures("interruptible")
def test_who_stops_does_not_wait_for_the_files_ahead(tmp_path, rng, warm):
    """An interrupt while a file hangs: the processes end with their threads, long before the limit of two minutes."""
    from biobgt.readers.cohort import _read_candidates
    from biobgt.readers.discover import FoundFile

    folder = tmp_path / "cohort"
    folder.mkdir()
    np.save(folder / "0.npy", rng.standard_normal((20, 4)))
    paths = [folder / "0.npy", *(write(folder / f"{i}.h5", rng.standard_normal((20, 4))) for i in range(1, 6))]
    files = [FoundFile(path, path.name) for path in paths]
    reading = _read_candidates(files, ReadOptions(), None, None, lambda values: values)
    assert next(reading).subject == "0"
    assert next(reading).subject == "1"
    assert next(reading).subject == "2"
    reading.close()
    asked_for = children()
    assert asked_for
    for pid in asked_for:
        os.kill(pid, signal.SIGSTOP)
    reading = _read_candidates(files[1:], ReadOptions(), None, None, lambda values: values)
    # To the process, as a terminal sends it: a signal to the thread of the timer would not wake the one that waits.
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        next(reading)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("biobgt-reading")]
    assert not [pid for pid in asked_for if pid in children() or Path(f"/proc/{pid}/fd").exists()]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it ends once it has answered")
def test_a_process_ends_with_its_parent_even_when_that_is_killed(good):
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom biobgt.readers.foreign import isolate as isolated\n"
        f"isolated.read_isolated({READER!r}, Path({str(good)!r}), {HDF5!r})\n"
        "pid = isolated._POOL._idle[0]._process.pid\nos.kill(pid, 19)\nprint(pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    root = str(Path(isolated.__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=root, check=False)
    pid = int(done.stdout)
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the reading process was left behind")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_a_process_may_not_do(good, warm):
    lines = Path(f"/proc/{warm}/limits").read_text().splitlines()[1:]
    limits = {line[:25].strip(): line[26:46].strip() for line in lines}
    assert limits["Max core file size"] == "0"
    assert limits["Max file size"] == "0"
    assert limits["Max address space"] != "unlimited"
    assert limits["Max cpu time"] != "unlimited"
