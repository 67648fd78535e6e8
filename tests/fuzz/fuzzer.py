"""The fuzzer: damage a valid file, read it beside a good one, and see that all is a sentence and the good one loads.

A finding is any exception but an InputError, a reader's fault, a good subject that did not load, a file left in the
temporary folder, numbers of another file, or a case that took more than twenty seconds of computing time.
"""

import os
import shutil
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biobgt import Cohort, ImageOptions, InputError, ReadOptions, read_cohort
from biobgt.base.errors import ReaderFault
from biobgt.readers import read_atlas, read_phenotypes
from biobgt.readers.project import open_project
from tests.fuzz import corpus
from tests.fuzz.mutations import mutate, mutate_folder

SLOW_SECONDS = 20.0
TOLD_EVERY = 5_000
_PLACES = "BIOBGT_FUZZ_KEEP"  # a folder in which files that were findings are kept


@dataclass(frozen=True)
class Finding:
    """A damaged file that did more than it should."""

    format: str
    seed: int
    what: str


@dataclass
class Tally:
    """How many cases of each format were tried, how they ended, and what was found."""

    cases: Counter[str]
    read: Counter[str]
    findings: list[Finding]


def run(
    cases: int,
    seed: int,
    formats: Sequence[str] = tuple(corpus.FORMATS),
    *,
    progress: Callable[[Tally], None] | None = None,
) -> Tally:
    """Try so many cases, the formats in turn; every case has a seed of its own, so it can be tried again alone.

    ``progress`` is told the tally after each :data:`TOLD_EVERY` cases.
    """
    tally = Tally(Counter(), Counter(), [])
    for i in range(cases):
        name = formats[i % len(formats)]
        outcome = try_case(name, seed + i)
        tally.cases[name] += 1
        tally.read[name] += outcome is None
        if isinstance(outcome, Finding):
            tally.findings.append(outcome)
            print(f"{outcome.format} seed {outcome.seed}: {outcome.what}", flush=True)
        if progress is not None and (i + 1) % TOLD_EVERY == 0:
            progress(tally)
    return tally


def try_case(name: str, seed: int) -> Finding | InputError | None:
    """Damage one file and read it: a finding, the sentence it was refused with, or None where it could be read."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        folder = Path(place) / "study"
        folder.mkdir()
        temporary = Path(place) / "temporary"
        temporary.mkdir()
        began = time.process_time()
        with _temporary_folder(temporary), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                outcome = _read(name, folder, np.random.default_rng(seed))
            except InputError as error:
                outcome = error
            except Exception:
                outcome = Finding(name, seed, traceback.format_exc())
        left = [path.name for path in temporary.iterdir()]
        if isinstance(outcome, ReaderFault):
            outcome = Finding(name, seed, str(outcome))
        elif isinstance(outcome, str):
            outcome = Finding(name, seed, outcome)
        elif left:
            outcome = Finding(name, seed, f"left in the temporary folder: {left}")
        elif time.process_time() - began > SLOW_SECONDS:
            outcome = Finding(name, seed, f"took {time.process_time() - began:.0f} s")
        if isinstance(outcome, Finding) and (keep := os.environ.get(_PLACES)):
            shutil.copytree(folder, Path(keep) / f"{name}-{seed}", symlinks=True, dirs_exist_ok=True)
        return outcome


@contextmanager
def _temporary_folder(folder: Path) -> Iterator[None]:
    """Send temporary files to a folder of our own, to see what stays."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


_ENDS_IN_TWO_WORDS = (
    "txt.bz2",
    "nii.gz",
    "ptseries.nii",
    "pconn.nii",
    "dtseries.nii",
    "func.gii",
    "time.gii",
    "label.gii",
)


def _read(name: str, folder: Path, rng: np.random.Generator) -> InputError | str | None:
    """Read a damaged file as its kind is read; a string is a finding."""
    suffix = name if name in _ENDS_IN_TWO_WORDS else name.rpartition(".")[2]
    mutant = folder / f"mutant.{suffix if name != 'folder' else 'csv'}"
    corpus.FORMATS[name](mutant, rng)
    mutant.write_bytes(mutate(mutant.read_bytes(), rng))
    match name:
        case "atlas.csv" | "node":
            read_atlas(mutant)
        case "xlsx" | "phenotypes.csv":
            read_phenotypes(mutant)
            return _in_cohort(folder, mutant.rename(folder / f"phenotypes.{suffix}"))
        case "biobgt":
            open_project(mutant)
        case "labels.nii" | "label.gii":
            measured = "nii" if name == "labels.nii" else "func.gii"
            corpus.FORMATS[measured](folder / f"good_bold.{measured}", rng)
            options = ReadOptions(image=ImageOptions(labels=mutant))
            read_cohort(folder / f"good_bold.{measured}", atlas=corpus.atlas(), options=options)
        case "dtseries.nii":
            corpus.cifti_labels(folder / "good.dlabel.nii")
            options = ReadOptions(image=ImageOptions(labels=folder / "good.dlabel.nii"))
            read_cohort(mutant, atlas=corpus.atlas(), options=options)
        case "zip" | "tvb.zip":
            read_cohort(mutant, atlas=corpus.atlas())
        case "folder":
            mutate_folder(folder, rng)
            return _in_cohort(folder, mutant)
        case _:
            return _in_cohort(folder, mutant)
    return None


def _in_cohort(folder: Path, mutant: Path) -> InputError | str | None:
    """Read a folder with a good subject in it: that one loads, whatever the other does."""
    np.savetxt(folder / "good.csv", np.round(corpus.series(np.random.default_rng(1)), 3), "%.3f", ",")
    pictures = mutant.name.endswith((".nii", ".nii.gz"))
    paths = [folder / "good.csv", mutant] if pictures else [folder]
    cohort = read_cohort(paths, atlas=corpus.atlas())
    return next(_faults_of(cohort), None) or (InputError(cohort.refused[0].reason) if cohort.refused else None)


def _faults_of(cohort: Cohort) -> Iterator[str]:
    if "good" not in cohort.ids:
        yield f"the good subject is gone: {[refusal.reason for refusal in cohort.refused]}"
    elif not np.array_equal(cohort["good"].series, np.round(corpus.series(np.random.default_rng(1)), 3)):
        yield "the good subject has other numbers"
    yield from (refusal.reason for refusal in cohort.refused if ReaderFault.FAULT in refusal.reason)
    if any("root:" in refusal.reason for refusal in cohort.refused):
        yield "another file's words"
