"""The participant level of a study: every recording that is not yet in its folder is measured, and written as it comes.

Recordings are independent of each other: one that fails is a row of the table with its reason, and a run that ends
early loses no more than what it was at.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from biobgt.base.errors import InputError, first_line
from biobgt.base.parallel import hand_over_subjects
from biobgt.base.wording import listed
from biobgt.data.cohort import Cohort, person_of
from biobgt.data.graph import ConnectomeSettings
from biobgt.results.measured import Measured
from biobgt.study.files import fingerprint, recording_files, stems
from biobgt.study.folder import FINISHED, MEASURED, STOPPED, WAITING, Progress, StudyFolder
from biobgt.study.options import RecordingOptions
from biobgt.study.subject import measure_recording, model_of


@dataclass(frozen=True)
class ParticipantsRun:
    """What a run of the participant level came to.

    Attributes
    ----------
    measured, there : int
        Recordings that were measured now, and those that were there before.
    failed : mapping of str to str
        Why recordings failed, by id.
    waiting : int
        Recordings that were not asked for and are not there.
    """

    measured: int
    there: int
    failed: Mapping[str, str]
    waiting: int


def measure_participants(
    cohort: Cohort,
    out: Path,
    settings: ConnectomeSettings,
    options: RecordingOptions,
    *,
    labels: Sequence[str] = (),
    workers: int | None = 1,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> ParticipantsRun:
    """Measure every recording that the folder does not have yet.

    Parameters
    ----------
    cohort : Cohort
    out : Path
        The study's folder; made if missing.
    settings : ConnectomeSettings
        From :func:`biobgt.study.options.study_settings`.
    options : RecordingOptions
    labels : sequence of str
        Only these people, by id or by BIDS label, with or without ``sub-``; by default everybody.
    workers, scheduler, tell
        As for :func:`biobgt.base.parallel.map_subjects`.
    progress : callable, optional
        Told (done, total) of those that are to be measured now.
    """
    if options.model and (why := model_of(options).refusal(cohort)):
        raise InputError(why)
    folder = StudyFolder(out)
    with folder.alone():
        folder.begin(cohort, settings, options)
        where = stems(cohort.ids, cohort.kind, cohort.atlas)
        asked = _asked(where, labels)
        marks = {one.id: fingerprint(one, cohort.kind, cohort.atlas, settings, options) for one in cohort}
        status = {name: MEASURED if folder.has(stem, marks[name]) else WAITING for name, stem in where.items()}
        jobs = _Jobs(cohort, [number for number, name in enumerate(cohort.ids) if name in asked], marks).without(status)
        there = sum(one == MEASURED for one in status.values())
        folder.write_recordings(cohort, status)
        said = Progress(out, there, there + len(jobs))
        done, failed = 0, {}

        def take(number: int, found: Mapping[str, bytes] | str) -> None:
            nonlocal done
            name = jobs.name(number)
            if isinstance(found, str):
                failed[name] = status[name] = found
                said.failed += 1
            else:
                folder.write_recording(where[name], found)
                status[name] = MEASURED
            done += 1
            said.tell(done)

        measure = partial(_measured, settings=settings, options=options)
        try:
            hand_over_subjects(measure, jobs, take, workers=workers, scheduler=scheduler, progress=progress, tell=tell)
        except BaseException:  # Ctrl-C and a full disk, too: what was measured stays
            with suppress(OSError):
                folder.write_recordings(cohort, status)
                said.end(STOPPED, done)
            raise
        folder.write_recordings(cohort, status)
        said.end(FINISHED, done)
    return ParticipantsRun(done - len(failed), there, failed, sum(one == WAITING for one in status.values()))


@dataclass(frozen=True)
class _Jobs(Sequence[tuple[Cohort, str]]):
    """Recordings to be measured, with their fingerprints; each is put together when it is its turn."""

    cohort: Cohort
    places: Sequence[int]
    marks: Mapping[str, str]

    def without(self, status: Mapping[str, str]) -> "_Jobs":
        """Those that are not there yet."""
        ids = self.cohort.ids
        return replace(self, places=[place for place in self.places if status[ids[place]] != MEASURED])

    def name(self, number: int) -> str:
        """Whose it is."""
        return self.cohort.subjects[self.places[number]].id

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, number: Any) -> Any:
        one = self.cohort.subjects[self.places[number]]
        return replace(self.cohort, subjects=(one,), refused=(), notes=()), self.marks[one.id]


def _asked(where: Mapping[str, str], labels: Sequence[str]) -> set[str]:
    """The recordings of the people who were asked for."""
    if not labels:
        return set(where)
    asked = {label.removeprefix("sub-") for label in labels}
    people = {name: {person_of(name).removeprefix("sub-"), stem.split("/")[0][4:]} for name, stem in where.items()}
    unknown = sorted(asked.difference(*people.values()))
    if unknown:
        raise InputError(f"There is no participant {listed(unknown[:5])} in the input: check --participant-label.")
    return {name for name, own in people.items() if own & asked}


def _measured(
    job: tuple[Cohort, str], *, settings: ConnectomeSettings, options: RecordingOptions
) -> Mapping[str, bytes] | str:
    """The files of one recording, or why it failed; what fails is no reason to stop the work on all others."""
    alone, mark = job
    try:
        measures = measure_recording(Measured(alone, subject=alone.ids[0], settings=settings), options)
        return recording_files(alone, measures, settings, mark)
    except InputError as error:
        return str(error)
    except Exception as error:
        return f"It failed unexpectedly ({first_line(error) or type(error).__name__}). Please report it."
