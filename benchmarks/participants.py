"""What a whole study costs beside its measures alone, on two processes, and in memory however many people there are.

``BIOBGT_PEOPLE=0.1 python -m benchmarks participants`` takes a tenth of the people, for a machine that others use.
"""

import os
import sys
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep

import numpy as np
from rich.console import Console

from benchmarks.timing import Ratio, print_ratios, timed
from biobgt.base.files import asset
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import KINDS
from biobgt.results.measured import Measured
from biobgt.study import DesignOptions
from biobgt.study.group import group_level
from biobgt.study.options import RecordingOptions, study_settings
from biobgt.study.participants import measure_participants
from biobgt.study.subject import measure_recording

PEOPLE, MANY, REGIONS, TIMEPOINTS = 400, 10_000, 100, 200
SHARE = float(os.environ.get("BIOBGT_PEOPLE", "1"))
OPTIONS = RecordingOptions()
LEAST = RecordingOptions(levels=(0.1,), measures=("degree",), runs=1)
SETTINGS = study_settings(KINDS["estimated"], {})
ABIDE = asset().parent.parent / "shared" / "data" / "abide_cc200.npz"
_LEAST_WORDS = ["--at", "0.1", "--measure", "degree", "--runs", "1", "--workers", "2"]


def run() -> None:
    """Print the ratios."""
    cohort = _people(round(PEOPLE * SHARE))
    ratios = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        alone, together = (
            timed(lambda n=n: measure_participants(cohort, folder / str(n), SETTINGS, OPTIONS, workers=n), repeats=1)[0]  # type: ignore[misc]
            for n in (1, 2)
        )
        ratios.append(Ratio(f"{len(cohort)} people, one process", "two processes", alone / together, "≥ 1.8"))
        few = _people(max(10, round(40 * SHARE)))
        study, _ = timed(
            lambda: measure_participants(few, folder / "few", SETTINGS, OPTIONS), repeats=1, clock=process_time
        )
        loop, _ = timed(lambda: _loop(few, OPTIONS), repeats=1, clock=process_time)
        ratios.append(Ratio(f"participant level of {len(few)} people", "a plain loop", study / loop, "≤ 1.05"))
        if ABIDE.exists():
            ratios.append(_abide(folder))
        print_ratios(f"Studies, {REGIONS} regions, {len(OPTIONS.levels)} densities", ratios)
        _memory(folder)


def _people(number: int) -> Cohort:
    rng, subjects = np.random.default_rng(0), []
    for one in range(number):
        series = rng.standard_normal((TIMEPOINTS, 8)) @ rng.standard_normal((8, REGIONS))
        subjects.append(Subject(f"sub-{one:05d}", series=series + rng.standard_normal((TIMEPOINTS, REGIONS))))
    return Cohort("simulated", tuple(subjects), numbered_atlas(REGIONS))


def _loop(cohort: Cohort, options: RecordingOptions) -> None:
    for name in cohort.ids:
        measure_recording(Measured(cohort, subject=name, settings=SETTINGS), options)


def _abide(folder: Path) -> Ratio:
    """A study of real people, hubs, modules and one design, beside its measures alone."""
    data, subjects, start = np.load(ABIDE), [], 0
    n_people = round(899 * SHARE)
    series = data["series"]
    for number, n_timepoints in enumerate(data["n_timepoints"][:n_people]):
        own, start = series[start : start + n_timepoints].astype(float), start + n_timepoints
        subjects.append(Subject(str(data["subject"][number]), series=own, group=("NC", "ASD")[number % 2]))
    cohort = Cohort("ABIDE", tuple(subjects), load_atlas("cc200"))

    def study() -> None:
        measure_participants(cohort, folder / "abide", SETTINGS, OPTIONS)
        group_level(folder / "abide", DesignOptions(design="~ group"), tell=lambda _: None)

    whole, _ = timed(study, repeats=1, clock=process_time)
    measures, _ = timed(lambda: _loop(cohort, OPTIONS), repeats=1, clock=process_time)
    return Ratio(f"study of {n_people} ABIDE subjects, both levels", "its measures alone", whole / measures, "≤ 2")


def _memory(folder: Path) -> None:
    """Print the largest private memory of the command and its processes, for a tenth of the people and for all."""
    peaks = []
    for number in (round(MANY * SHARE / 10), round(MANY * SHARE)):
        files = folder / f"files-{number}"
        files.mkdir()
        rng = np.random.default_rng(0)
        for one in range(number):
            np.save(files / f"sub-{one:05d}_timeseries.npy", rng.standard_normal((TIMEPOINTS, REGIONS)))
        words = ["study", str(files), str(folder / f"out-{number}"), "participant", "--atlas", "unknown", *_LEAST_WORDS]
        began = perf_counter()
        process = Popen(
            [sys.executable, "-c", "from biobgt.cli import main; main()", *words], stdout=DEVNULL, stderr=DEVNULL
        )
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, _private_megabytes(process.pid))
            sleep(0.2)
        peaks.append(peak)
        rate = number / (perf_counter() - began)
        Console().print(
            f"{number:,} people: {peak:,.0f} MB at most in the command itself, {rate:.1f} people per second"
        )
    print_ratios("Memory", [Ratio("ten times the people", "a tenth of them", peaks[1] / peaks[0], "≤ 1.25")])


def _private_megabytes(process: int) -> float:
    """Memory that is a process's own; what lies in files is not in it."""
    try:
        lines = Path("/proc", str(process), "status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024
    except (OSError, StopIteration):
        return 0.0
