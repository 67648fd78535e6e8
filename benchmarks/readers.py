"""Reading and connectivity against the plainest way to do the same, in one process."""

import resource
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import h5py
import numpy as np
import pandas as pd
import scipy.io
from numpy.typing import NDArray

from benchmarks.timing import Ratio, compare, compare_computing, print_ratios
from biobgt.base.limits import current_limits
from biobgt.data.atlas import load_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.connectivity import cohort_connectivity, subject_connectivity
from biobgt.readers import read_cohort

N_TIMEPOINTS = 196  # the mean of the 899 ABIDE subjects
N_REGIONS = 200
N_APART = 25  # files in a process of their own: short turns, many of them


def run() -> None:
    """Print the ratios of this page of the benchmarks."""
    with tempfile.TemporaryDirectory() as folder:
        files = _write_abide_lookalikes(Path(folder), 100)
        _streaming_memory(Path(folder))  # first: the peak of a process never goes down
        ratios = [_reading(Path(folder), files), *_isolated_reading(Path(folder)), _connectivity()]
        print_ratios("Readers and connectivity", ratios)


def _reading(folder: Path, files: list[Path]) -> Ratio:
    def plain() -> None:
        for file in files:
            pd.read_csv(file, sep="\t")

    ratio = compare_computing(lambda: read_cohort(folder, atlas="cc200"), plain, repeats=9)
    return Ratio("read 100 .1D files", "pandas' C parser", ratio, "≤ 1.5")


def _isolated_reading(folder: Path) -> list[Ratio]:
    """Good files in a warm process of their own, against the same readers in this one."""
    rng = np.random.default_rng(0)
    series = [rng.standard_normal((N_TIMEPOINTS, N_REGIONS)) for _ in range(N_APART)]
    atlas = load_atlas("cc200")
    ratios = []
    for name, write in (("mat", _write_matlab), ("h5", _write_hdf5)):
        inside = folder / name
        inside.mkdir()
        for i, values in enumerate(series):
            write(inside / f"sub-{i:03d}.{name}", values)

        def isolated(inside: Path = inside) -> None:
            read_cohort(inside, atlas=atlas)

        def in_process(inside: Path = inside) -> None:
            here = patch("biobgt.readers.arrays.read_isolated", _read_here)
            with here, patch("biobgt.readers.cohort.reader_of", return_value=None):
                read_cohort(inside, atlas=atlas)

        isolated()  # so that the process that reads is there
        what = f"read {N_APART} .{name} files apart"
        ratios.append(Ratio(what, "in this process", compare(isolated, in_process, repeats=15), "≤ 1.3"))
        computing = compare_computing(isolated, in_process)
        ratios.append(Ratio(f"{what}, computing time", "in this process", computing, ""))
    return ratios


def _read_here(reader: str, path: Path, options: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any]:
    module, name = reader.split(":")
    return getattr(import_module(module), name)(path, options, current_limits())


def _write_matlab(path: Path, values: NDArray[np.float64]) -> None:
    scipy.io.savemat(path, {"data": values}, do_compression=True)


def _write_hdf5(path: Path, values: NDArray[np.float64]) -> None:
    with h5py.File(path, "w") as file:
        file["data"] = values


def _connectivity() -> Ratio:
    rng = np.random.default_rng(0)
    series = [rng.standard_normal((N_TIMEPOINTS, N_REGIONS)) for _ in range(900)]
    subjects = tuple(Subject(id=str(i), series=values) for i, values in enumerate(series))
    cohort = Cohort(name="bench", subjects=subjects, atlas=load_atlas("cc200"))
    ratio = compare(
        lambda: cohort_connectivity(cohort), lambda: [np.corrcoef(values.T) for values in series], repeats=3
    )
    return Ratio("900 × 200 regions to FC", "bare numpy.corrcoef", ratio, "≤ 1.2")


def _streaming_memory(folder: Path) -> None:
    """Stream 900 subjects (the same 100 files nine times) through connectivity; the peak is the whole process's."""
    total = np.zeros((N_REGIONS, N_REGIONS))
    for _ in range(9):
        for file in sorted(folder.iterdir()):
            for subject in read_cohort(file, atlas="cc200"):
                total += subject_connectivity(subject)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of a process that streams 900 subjects: {peak:.0f} MB (promised: below 1024)\n")


def _write_abide_lookalikes(folder: Path, n_files: int) -> list[Path]:
    rng = np.random.default_rng(0)
    header = "\t".join(f"#{i}" for i in range(1, N_REGIONS + 1))
    files = []
    for i in range(n_files):
        path = folder / f"NYU_{50000 + i:07d}_rois_cc200.1D"
        np.savetxt(path, 20 * rng.standard_normal((N_TIMEPOINTS, N_REGIONS)), "%.6f", "\t", header=header, comments="")
        files.append(path)
    return files
