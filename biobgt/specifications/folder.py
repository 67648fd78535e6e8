"""A finding measured in every way into a folder, and taken up where an earlier run ended.

Every way gives a line per recording in a table of the folder, as soon as it is measured. Lines say of which numbers
they are, so that the next run into the folder, for other choices too, measures what is not there.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import biobgt
from biobgt.base.errors import InputError
from biobgt.base.files import make_folder, write_atomically, write_csv
from biobgt.base.kept import Store
from biobgt.data.cohort import Subject
from biobgt.specifications.curve import SpecificationCurve
from biobgt.specifications.findings import Estimate
from biobgt.specifications.plan import SurvivalPlan
from biobgt.specifications.run import Jobs, Line, Lines, curve_of, run_jobs
from biobgt.specifications.ways import (
    Way,
)
from biobgt.study.folder import FINISHED, STOPPED, Progress, StudyFolder

LINES, TABLE, VALUES, VERDICT = "measures.jsonl", "specifications.csv", "choices.csv", "verdict.json"
SURVIVAL = "survival"  # the level in the folder's progress
_Write = Callable[[Mapping[str, Any]], None]
_NUMBERS = ("estimate", "low", "high", "p")


def survive(
    plan: SurvivalPlan,
    out: Path,
    *,
    workers: int | None = 1,
    scheduler: str | None = None,
    store: Store | None = None,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> SpecificationCurve:
    """Measure a finding in every way into a folder, taking up what an earlier run left there, and write what it says.

    Parameters
    ----------
    plan : SurvivalPlan
    out : Path
        Made if missing.
    workers, scheduler, tell
        As for :func:`biobgt.base.parallel.map_subjects`.
    store : Store, optional
        Where results are kept, and found again.
    progress : callable, optional
        Told (done, total) of the graphs that are to be measured now.
    """
    with StudyFolder(out).alone():
        _check_folder(out)
        known = _read_lines(out / LINES, plan)
        jobs = Jobs(plan, known)
        said, done = Progress(out, len(jobs.all_) - len(jobs), len(jobs.all_), level=SURVIVAL), 0

        def count() -> None:
            nonlocal done
            done += 1
            said.tell(done)

        try:
            with _appending(out / LINES) as write:
                take = partial(_write_line, write, plan)
                how: dict[str, Any] = {"workers": workers, "scheduler": scheduler, "progress": progress, "tell": tell}
                run_jobs(plan, known, take, store=store, done=count, **how)
            curve = curve_of(plan, known)
            _write(curve, out)
        except BaseException:  # Ctrl-C and a full disk, too: what was measured stays
            with suppress(OSError):
                said.end(STOPPED, done)
            raise
        said.end(FINISHED, done)
    return curve


def finished_survival(plan: SurvivalPlan, out: Path) -> SpecificationCurve | None:
    """What a run into a folder found, tested again; None where something is still to be measured.

    Parameters
    ----------
    plan : SurvivalPlan
    out : Path
    """
    known = _read_lines(out / LINES, plan)
    return None if len(Jobs(plan, known)) else curve_of(plan, known)


def _check_folder(out: Path) -> None:
    others = [one.name for one in out.iterdir() if not one.name.startswith(".") and one.name != "progress.json"]
    if others and not (out / LINES).exists():
        raise InputError(f"'{out}' holds other files ({min(others)}) and no specifications. Name an empty folder.")


def _read_lines(path: Path, plan: SurvivalPlan) -> Lines:
    """The lines of recordings whose numbers are still the same; one that was cut off by an end is left out."""
    found: Lines = {}
    with suppress(FileNotFoundError), path.open(encoding="utf-8") as stream:
        for line in stream:
            with suppress(ValueError, TypeError, KeyError):
                row = json.loads(line)
                if plan.marks.get(row["subject"]) == row["mark"]:
                    estimate, low, high, p = (float(row[name]) for name in _NUMBERS)
                    verdict = row["verdict"] if isinstance(row["verdict"], bool) else None
                    one = Estimate(estimate, low, high, p, verdict, str(row["why"]))
                    found[row["subject"], str(row["way"])] = one, float(row["overall"])
    return found


@contextmanager
def _appending(path: Path) -> Iterator[_Write]:
    """Lines that are on the disk as soon as they are written; what was cut off before gets an end."""
    make_folder(path.parent)
    with path.open("a", encoding="utf-8") as stream:
        if stream.tell():
            stream.write("\n")

        def write(row: Mapping[str, Any]) -> None:
            stream.write(f"{json.dumps(row, ensure_ascii=False)}\n")
            stream.flush()

        yield write


def _write_line(write: _Write, plan: SurvivalPlan, one: Subject, way: Way, line: Line) -> None:
    estimate, overall = line
    write(
        {
            "subject": one.id,
            "mark": plan.marks[one.id],
            "way": plan.name(way),
            **{name: getattr(estimate, name) for name in (*_NUMBERS, "verdict", "why")},
            "overall": overall,
        }
    )


def _write(curve: SpecificationCurve, out: Path) -> None:
    """The specifications, what each choice does, and the verdict."""
    write_atomically(out / TABLE, write_csv(curve.table, index=False, float_format="%.8g"))
    explained = curve.explained()
    by_value = curve.by_value()
    by_value["explained"] = [explained[key] for key in by_value["key"]]
    write_atomically(out / VALUES, write_csv(by_value, index=False, float_format="%.8g"))
    joint = {} if curve.joint is None else {key: one for key, one in vars(curve.joint).items() if "curve" not in key}
    about = {
        "sentence": curve.sentence,
        "definition": curve.definition,
        "of": curve.whom,
        "simulated": curve.simulated,
        "estimate": curve.quantity,
        "ways": len(curve.known),
        "possible_ways": curve.n_possible,
        "holding": curve.n_holding,
        "same_sign": curve.same_sign,
        "clear": curve.clear,
        "explained": explained,
        "joint_test": joint or None,
        "notes": curve.notes,
        "options": curve.options.as_dict(),
        "version": biobgt.__version__,
    }
    write_atomically(out / VERDICT, json.dumps(about, indent=2, ensure_ascii=False, default=str))
