"""A finding measured in every way: graph by graph, on many cores, and then put to the test as one curve."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError, first_line
from biobgt.base.files import write_csv
from biobgt.base.kept import Store, kept
from biobgt.base.parallel import hand_over_subjects
from biobgt.data.cohort import Cohort, Subject, number_of_people
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.quality import mean_connectivity
from biobgt.results.measured import Measured
from biobgt.specifications.curve import SpecificationCurve, judged
from biobgt.specifications.findings import FINDINGS, Estimate, Finding, finding_words
from biobgt.specifications.options import FindingOptions, SurvivalOptions
from biobgt.specifications.people import all_ways_tested, mean_in_all_ways, people_tested, people_words
from biobgt.specifications.plan import SurvivalPlan, plan_survival
from biobgt.specifications.ways import (
    CHOICES,
    GlobalSignal,
    RecordingPart,
    Way,
    recording_of,
)

Line = tuple[Estimate, float]  # what a way gives of a recording, and the recording's mean |FC|
Lines = dict[tuple[str, str], Line]  # by recording and name of the way


# Jobs: one recording, as a way takes it, on one graph.


@dataclass(frozen=True, eq=False)
class _Job:
    cohort: Cohort  # the recording alone
    global_signal: GlobalSignal
    part: RecordingPart
    settings: ConnectomeSettings
    ways: tuple[Way, ...]


class Jobs(Sequence[_Job]):
    """All jobs that are left, each put together when it is its turn."""

    def __init__(self, plan: SurvivalPlan, known: Lines) -> None:
        self.plan = plan
        graphs: dict[Any, list[Way]] = {}
        for way in plan.ways.measured:
            graphs.setdefault(way.graph, []).append(way)
        names = {way: plan.name(way) for way in plan.ways.measured}
        self.all_ = [(one, key, tuple(ways)) for one in plan.situation.cohort for key, ways in graphs.items()]
        self.left = [
            (one, key, missing)
            for one, key, ways in self.all_
            if (missing := tuple(way for way in ways if (one.id, names[way]) not in known))
        ]

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, number: Any) -> Any:
        one, (global_signal, part, settings), ways = self.left[number]
        alone = replace(self.plan.situation.cohort, subjects=(one,), refused=(), notes=())
        return _Job(alone, global_signal, part, settings, ways)


def _measure(job: _Job, *, finding: Finding | str, asked: FindingOptions, store: Store | None) -> list[Line]:
    """What each way gives, with the recording's mean |FC|; what cannot be measured says why."""
    known = FINDINGS[finding] if isinstance(finding, str) else finding
    try:
        one = recording_of(job.cohort.subjects[0], job.global_signal, job.part)
        alone = replace(job.cohort, subjects=(one,))
        measured = Measured(alone, store, subject=one.id, settings=job.settings)
        found = known.measure(measured, job.ways, asked)
        overall = mean_connectivity(one)[1]
        return [(estimate, overall) for estimate in found]
    except InputError as error:
        return [(Estimate(float("nan"), why=str(error)), float("nan"))] * len(job.ways)
    except Exception as error:  # one graph that fails is no reason to stop the work on all others
        why = f"It failed unexpectedly ({first_line(error)}). Please report it."
        return [(Estimate(float("nan"), why=why), float("nan"))] * len(job.ways)


def run_jobs(plan: SurvivalPlan, known: Lines, take: Callable[[Subject, Way, Line], None], **how: Any) -> None:
    """Measure what is not known, and hand every line over as it comes.

    Parameters
    ----------
    plan : SurvivalPlan
    known : dict
        What is there; what is measured is added.
    take : callable
        Gets the subject, the way and the line.
    **how
        ``store``, where results are kept; ``done``, told of every graph; the rest is for
        :func:`biobgt.base.parallel.hand_over_subjects`.
    """
    jobs, store, done = Jobs(plan, known), how.pop("store", None), how.pop("done", lambda: None)
    measure = partial(_measure, finding=plan.finding.key, asked=plan.situation.asked, store=store)

    def came(number: int, found: list[Line]) -> None:
        one, _, ways = jobs.left[number]
        for way, line in zip(ways, found, strict=True):
            known[one.id, plan.name(way)] = line
            take(one, way, line)
        done()

    hand_over_subjects(measure, jobs, came, **how)


# From lines to the curve.


def curve_of(plan: SurvivalPlan, lines: Mapping[tuple[str, str], Line]) -> SpecificationCurve:
    """Put what was measured to the test, in every way."""
    situation, options, ways = plan.situation, plan.options, plan.ways
    cohort, finding, joint = situation.cohort, plan.finding, None
    notes: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    if finding.whom == "subject":
        name = cohort.ids[0]
        found = [lines[name, plan.name(way)][0] for way in ways.every]
        whom = f"subject {name}"
    else:
        values, overall = measured_values(plan, lines)
        if finding.whom == "mean":
            found, whom = (
                mean_in_all_ways(cohort.persons, ways.every, values),
                number_of_people(len(set(cohort.persons))),
            )
        else:
            people = people_tested(situation)
            found, joint = all_ways_tested(
                people, ways.every, values, overall, permutations=options.permutations, seed=options.seed
            )
            whom, notes = people_words(options, people), people.notes
            covariates = people.adjusted_for(ways.every)
    rows = [
        {**shown, **{name: getattr(one, name) for name in ("estimate", "low", "high", "p", "verdict", "why")}}
        for shown, one in zip(ways.table(), found, strict=True)
    ]
    table = judged(pd.DataFrame(rows))
    first = table.iloc[0]
    up = bool(first["verdict"]) if first["verdict"] is not None else bool(table["estimate"].dropna()[:1].ge(0).all())
    of = {"subject": cohort.ids[0]} if finding.whom == "subject" else {"cohort": cohort.name}
    chosen = {key: CHOICES[key] for key in ways.choices if len(set(table[key])) > 1}
    return SpecificationCurve(
        options=options,
        words=cohort.kind.named(finding_words(finding, options, cohort.atlas, of, up=up)),
        quantity=cohort.kind.named(_quantity(finding, options)),
        table=table,
        titles={key: one.title for key, one in chosen.items()},
        where={(key, one.shown(value)): one.where(value) for key, one in chosen.items() for value in ways.choices[key]},
        joint=joint,
        n_possible=ways.n_possible,
        whom=whom,
        simulated=cohort.simulated,
        notes=tuple(notes),
        graph=situation.settings.describe(cohort.kind),
        covariates=covariates,
    )


def _quantity(finding: Finding, options: FindingOptions) -> str:
    if finding.whom == "difference":
        return f"partial r with {options.score}" if options.score else "effect size d"
    return ("mean " if finding.whom == "mean" else "") + finding.quantity(options)


def measured_values(
    plan: SurvivalPlan, lines: Mapping[tuple[str, str], Line]
) -> tuple[dict[Way, FloatArray], dict[Way, FloatArray]]:
    """What each way gives of every recording, in the cohort's order, and the recordings' mean |FC|."""
    names = {way: plan.name(way) for way in plan.ways.measured}
    own = {way: [lines[one, name] for one in plan.situation.cohort.ids] for way, name in names.items()}
    values = {way: np.array([line[0].estimate for line in found]) for way, found in own.items()}
    return values, {way: np.array([line[1] for line in found]) for way, found in own.items()}


@kept(
    "Measuring in every way…",
    most=32,
    subject=False,
    by=lambda measured, options: (
        options,
        measured.one.id if measured.one and FINDINGS[options.finding].whom == "subject" else "",
        "" if FINDINGS[options.finding].whom == "subject" else write_csv(measured.cohort.table()),
    ),
)
def specification_curve(measured: Measured, options: SurvivalOptions) -> SpecificationCurve:
    """A finding in all reasonable ways, measured here and now with what is kept already.

    Parameters
    ----------
    measured : Measured
        Of the subject, or of the cohort, with the settings at which the finding was seen.
    options : SurvivalOptions
    """
    subject = measured.one.id if measured.one else None
    plan = plan_survival(measured.cohort, measured.settings, options, subject=subject)
    lines: Lines = {}
    run_jobs(plan, lines, lambda *_: None, workers=1, store=measured.store)
    return curve_of(plan, lines)
