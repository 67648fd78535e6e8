"""A run of the bench in its folder: lines that are on the disk as soon as they are known, and taken up by the next run.

``values.jsonl`` has a line per recording, with and without the lesion; ``repetitions.csv`` one per comparison and
measure; ``power.csv`` is made of these.
"""

import csv
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

import biobgt
from biobgt.base.errors import InputError
from biobgt.base.files import make_folder, write_atomically, write_csv
from biobgt.bench.measures import Looked
from biobgt.bench.power import power_table
from biobgt.bench.run import BenchPlan, Line, Outcome, Repetition, compare_people, measure_people
from biobgt.study.folder import StudyFolder

VALUES, REPETITIONS, POWER, ABOUT = "values.jsonl", "repetitions.csv", "power.csv", "bench.json"
_LOOKED = tuple(one.name for one in fields(Looked))
_COLUMNS = ("mark", "size", "people", "repetition", "measure", *_LOOKED)
_WORDS = {"yes": True, "no": False, "": None}
_SAID = {value: word for word, value in _WORDS.items()}


def run_bench(
    plan: BenchPlan,
    out: Path,
    *,
    workers: int | None = 1,
    scheduler: str | None = None,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
    tell: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """Plant, measure and compare into a folder, taking up what an earlier run left there.

    Parameters
    ----------
    plan : BenchPlan
    out : Path
        Made if missing.
    workers, scheduler, tell
        As for :func:`biobgt.base.parallel.map_subjects`.
    progress : callable
        Told what is done, and (done, total) of it.

    Returns
    -------
    DataFrame
        See :func:`biobgt.bench.power.power_table`.
    """
    how: dict[str, Any] = {"workers": workers, "scheduler": scheduler, "tell": tell}
    with StudyFolder(out).alone():
        others = [one.name for one in out.iterdir() if not one.name.startswith(".")]
        if others and not (out / ABOUT).exists():
            raise InputError(f"'{out}' holds other files ({min(others)}) and no bench. Name an empty folder.")
        write_atomically(out / ABOUT, json.dumps(_about(plan), indent=2, ensure_ascii=False))
        lines = _read_values(out / VALUES, plan)
        with _appending(out / VALUES) as write:
            told = lambda done, total: progress("Recordings", done, total)  # noqa: E731
            measure_people(plan, lines, lambda *line: write(_value_line(plan, *line)), progress=told, **how)
        mark = comparison_mark(plan)
        known = _read_repetitions(out / REPETITIONS, mark)
        with _appending(out / REPETITIONS, ",".join(_COLUMNS)) as write:

            def take(one: Repetition, outcome: Outcome) -> None:
                known[one] = outcome
                for key, looked in outcome.items():
                    words = [_SAID[getattr(looked, name)] for name in _LOOKED]
                    write(",".join([mark, repr(one.size), str(one.people), str(one.number), key, *words]))

            told = lambda done, total: progress("Comparisons", done, total)  # noqa: E731
            compare_people(plan, lines, dict(known), take, progress=told, **how)
        asked = {(size, n) for size, n in plan.cells}
        wanted = sorted(
            (one for one in known if (one.size, one.people) in asked and one.number < plan.options.repetitions),
            key=lambda one: (one.size, one.people, one.number),
        )
        table = power_table((one, known[one]) for one in wanted)
        write_atomically(out / POWER, write_csv(table, index=False, float_format="%.6g"))
    return table


def _about(plan: BenchPlan) -> dict[str, Any]:
    return {
        "cohort": plan.cohort.name,
        "people": len(plan.cohort),
        "lesion": plan.lesion.kind,
        "place": plan.lesion.place,
        "regions": [plan.cohort.atlas.regions[region] for region in plan.lesion.regions],
        "labelling": plan.labelling,
        "settings": plan.settings.as_dict(),
        "options": plan.options.as_dict(),
        "version": biobgt.__version__,
    }


def comparison_mark(plan: BenchPlan) -> str:
    """What comparisons depend on, but for sizes, numbers of people and how many there are."""
    options, measures = plan.options, [one.key for one in plan.measures]
    about = [sorted(plan.marks.values()), options.permutations, options.seed, measures]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]


def _value_line(plan: BenchPlan, name: str, size: float, line: Line) -> str:
    return json.dumps({"person": name, "mark": plan.marks[name, size > 0], "size": size, "values": line})


def _read_values(path: Path, plan: BenchPlan) -> dict[tuple[str, float], Line]:
    """Lines of people whose numbers are still the same; one that was cut off is left out."""
    found: dict[tuple[str, float], Line] = {}
    with suppress(FileNotFoundError), path.open(encoding="utf-8") as stream:
        for text in stream:
            with suppress(ValueError, KeyError, TypeError):
                row = json.loads(text)
                size = float(row["size"])
                if plan.marks.get((row["person"], size > 0)) == row["mark"]:
                    found[row["person"], size] = row["values"]
    return found


def _read_repetitions(path: Path, mark: str) -> dict[Repetition, Outcome]:
    found: dict[Repetition, Outcome] = {}
    with suppress(FileNotFoundError), path.open(encoding="utf-8", newline="") as stream:
        for row in csv.reader(stream):
            if len(row) != len(_COLUMNS) or row[0] != mark:
                continue
            with suppress(ValueError, KeyError):
                one = Repetition(float(row[1]), int(row[2]), int(row[3]))
                found.setdefault(one, {})[row[4]] = Looked(*(_WORDS[word] for word in row[5:]))  # type: ignore[arg-type]
    whole = max((len(outcome) for outcome in found.values()), default=0)
    return {one: outcome for one, outcome in found.items() if len(outcome) == whole}


@contextmanager
def _appending(path: Path, heading: str = "") -> Iterator[Callable[[str], None]]:
    """Lines that are on the disk as soon as they are written; what was cut off before gets an end."""
    make_folder(path.parent)
    with path.open("a", encoding="utf-8", newline="") as stream:
        if stream.tell():
            stream.write("\n")
        elif heading:
            stream.write(f"{heading}\n")

        def write(line: str) -> None:
            stream.write(f"{line}\n")
            stream.flush()

        yield write
