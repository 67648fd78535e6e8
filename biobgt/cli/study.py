"""The job of a whole study: everybody measured into one folder, and the tests of a design read from it."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from biobgt.base.arrays import ArraysOnDisk
from biobgt.base.wording import counted
from biobgt.cli.arguments import (
    Where,
    chosen_settings,
    print_simulated,
    read_arguments,
    takes,
    takes_options,
    takes_workers,
)
from biobgt.cli.main import keeping, print_line, print_notice, progress_bar
from biobgt.data.cohort import Cohort, counted_people
from biobgt.data.graph import ConnectomeSettings
from biobgt.study.design import DesignOptions, plan_study
from biobgt.study.group import GROUP, group_level
from biobgt.study.options import RecordingOptions, study_settings
from biobgt.study.participants import measure_participants

_Stage = Literal["participant", "group"]
_NAMED = 5  # failures, on the screen
_TOLD_S = 60.0  # between two lines on progress, where no bar is shown


def _reading(**arguments: Any) -> dict[str, Any]:
    """What to read and how, for the level that reads."""
    return arguments


_reading.__signature__ = signature(read_arguments)  # type: ignore[attr-defined]  # :func:`takes` reads it


@takes("reading", _reading, panel="What to read")
@takes("graph", chosen_settings, panel="Brain graph")
@takes_workers
@takes_options("to_measure", RecordingOptions, panel="What to measure")
@takes_options("to_test", DesignOptions, panel="What to test")
def study(
    reading: dict[str, Any],
    graph: dict[str, Any],
    to_measure: RecordingOptions,
    to_test: DesignOptions,
    where: Where,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of the study; created if missing.")],
    stage: Annotated[
        _Stage | None,
        typer.Argument(
            metavar="[participant|group]",
            help="participant: measure every recording. group: test the design on what was measured. Default: both.",
        ),
    ] = None,
    participant_label: Annotated[
        list[str] | None,
        typer.Option(
            "--participant-label",
            "--participant_label",
            help="Measure only this person, with or without 'sub-'; may be repeated. Default: everybody.",
        ),
    ] = None,
) -> None:
    """Measure everybody of a study into one folder (participant), and test a design on it (group).

    A run that ended early, however it ended, is taken up by the next one into the same folder.

    Examples
    --------
    biobgt study bids/derivatives/xcp_d study participant
    biobgt study demo:asd study --design "~ group + age + sex" --test group
    """
    if stage != GROUP:
        disk = next(one for one in (out, *out.absolute().parents) if one.is_dir())
        cohort = read_arguments(**reading, keep=ArraysOnDisk(disk))
        settings = study_settings(cohort.kind, graph)
        if stage is None:  # a design that cannot be tested is refused before hours of measuring
            for sentence in plan_study(cohort.table(), cohort.persons, to_test).sentences:
                print_notice(sentence)
        _measure(cohort, settings, to_measure, where, out, participant_label or ())
    if stage != "participant":
        findings = group_level(out, to_test, tell=print_notice)
        for design in findings.designs:
            print_line(f"Tested: {design.test} in {design.formula}, {counted_people(design.n_people, design.n_rows)}.")
        print_line(f"Findings written to {out / GROUP}")
        from biobgt.export.report import write_report  # brings matplotlib

        print_notice("Writing the report…")
        print_line(f"Report: {write_report(out)}")


def _measure(
    cohort: Cohort,
    settings: ConnectomeSettings,
    to_measure: RecordingOptions,
    where: Where,
    out: Path,
    labels: Sequence[str],
) -> None:
    """The participant level."""
    kept = f"What was measured is kept in {out}; the same command goes on with it."
    with keeping(kept), _told("Measuring") as progress:
        run = measure_participants(
            cohort,
            out,
            settings,
            to_measure,
            labels=labels,
            workers=where.workers,
            scheduler=where.scheduler,
            progress=progress,
            tell=print_notice,
        )
    print_simulated(cohort)
    there = f", {run.there:,} were there" if run.there else ""
    print_line(f"Measured: {counted(run.measured, 'recording')}{there}. Written to {out}")
    for name, reason in list(run.failed.items())[:_NAMED]:
        print_line(f"Failed: {name}. {reason}")
    if len(run.failed) > _NAMED:
        print_line(f"… and {len(run.failed) - _NAMED} more; recordings.tsv says why.")
    if cohort.refused:
        print_line(f"Refused: {counted(len(cohort.refused), 'file')}; refused.tsv says why.")
    if run.waiting:
        print_line(f"Not measured yet: {counted(run.waiting, 'recording')}.")


@contextmanager
def _told(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with recordings per second and the time left; where no terminal shows it, a line per minute."""
    began = told = time.monotonic()
    with progress_bar(what, unit="recordings") as bar:

        def progress(done: int, total: int) -> None:
            nonlocal told
            bar(done, total)
            now = time.monotonic()
            if not sys.stderr.isatty() and (now - told > _TOLD_S or done == total):
                told, rate = now, done / (now - began)
                left = f"{(total - done) / rate / 60:.0f} min left"
                print_notice(f"{what}: {done} of {counted(total, 'recording')}, {rate:.2g} per second, {left}.")

        yield progress
