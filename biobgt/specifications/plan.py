"""In which ways a finding will be measured, how many graphs that takes and how long: all known before it begins."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ConnectivityKind, ConnectomeSettings
from biobgt.groups.compare import check_groups
from biobgt.specifications.findings import FINDINGS, Finding, check_finding
from biobgt.specifications.options import FindingOptions, SurvivalOptions
from biobgt.specifications.people import check_people
from biobgt.specifications.ways import (
    Situation,
    Way,
    Ways,
    varied_choices,
    ways_of,
)
from biobgt.study.files import fingerprint
from biobgt.study.options import RecordingOptions

_MEASURED_OF = ("finding", "region", "other_region", "measure", "beside", "labelling", "networks", "model", "seed")
# Seconds of one core at 200 regions: of NE in a graph at one γ, of modules, of reading off a matrix; see benchmarks.
_HUBS_S, _MODULES_S, _MATRIX_S, _ATTENTION_S = 0.1, 0.2, 0.01, 0.5


@dataclass(frozen=True, eq=False)
class SurvivalPlan:
    """What is to be measured, known before it is.

    Attributes
    ----------
    finding : Finding
    options : SurvivalOptions
    situation : Situation
        Of those whose recordings are measured.
    offered : mapping of str to tuple
        All choices that can move the finding here, with their values.
    ways : Ways
    """

    finding: Finding
    options: SurvivalOptions
    situation: Situation
    offered: Mapping[str, tuple[Any, ...]]
    ways: Ways

    @cached_property
    def marks(self) -> dict[str, str]:
        """By which the numbers of each recording are known again."""
        cohort = self.situation.cohort
        return {one.id: _mark(one, cohort.kind, cohort.atlas) for one in cohort}

    def name(self, way: Way) -> str:
        """By which what a way measures is known again, whatever else varies."""
        asked = tuple(getattr(self.options, name) for name in _MEASURED_OF)
        return hashlib.sha256(repr((way.measured, asked)).encode()).hexdigest()[:16]

    @property
    def n_graphs(self) -> int:
        """Graphs that are made, over all recordings."""
        return len({way.graph for way in self.ways.every}) * len(self.situation.cohort)

    def seconds(self, workers: int | None = None) -> float:
        """About how long it takes where nothing is there yet.

        Parameters
        ----------
        workers : int, optional
            Processes; by default one per core.
        """
        scale = (self.situation.cohort.atlas.n_regions / 200) ** 3
        moved = self.finding.moved_by(self.options)
        each = _HUBS_S if "gamma" in moved else _MODULES_S if "resolution" in moved else _MATRIX_S
        each = _ATTENTION_S if self.finding.key == "attention" else each
        return len(self.ways.measured) * len(self.situation.cohort) * each * scale / (workers or os.cpu_count() or 1)


def plan_survival(
    cohort: Cohort, settings: ConnectomeSettings, options: SurvivalOptions, *, subject: str | None = None
) -> SurvivalPlan:
    """Plan in which ways a finding is measured; what cannot be measured is refused.

    Parameters
    ----------
    cohort : Cohort
    settings : ConnectomeSettings
        At which it was seen.
    options : SurvivalOptions
    subject : str, optional
        Of whom a finding of one subject is; by default the first.
    """
    finding = FINDINGS.named(options.finding)
    check_finding(finding, options, cohort.atlas)
    if settings.sign == "signed":
        raise InputError(
            "Hub measures are not defined for negative weights. Choose the sign rule positive or absolute."
        )
    if settings.estimator == "tangent":
        raise InputError(
            "The tangent space is one of a whole cohort and has no ways of its own. Choose another estimator."
        )
    chosen = _chosen(cohort, finding, options, subject)
    situation = Situation(chosen, options.asked, settings)
    if finding.whom == "difference":
        check_people(situation)
    moved_by = finding.moved_by(options)
    choices = varied_choices(situation, moved_by, options.off)
    ways = ways_of(situation, choices, most=options.most, seed=options.seed, thresholded="threshold" in moved_by)
    return SurvivalPlan(finding, options, situation, varied_choices(situation, moved_by), ways)


_marks: WeakKeyDictionary[Subject, dict[tuple[str, Atlas], str]] = WeakKeyDictionary()


def _mark(subject: Subject, kind: ConnectivityKind, atlas: Atlas) -> str:
    """By which a recording's numbers are known again; a page that asks at every look reads them once."""
    known = _marks.setdefault(subject, {})
    if (kind.key, atlas) not in known:
        known[kind.key, atlas] = fingerprint(subject, kind, atlas, ConnectomeSettings(), RecordingOptions())[:16]
    return known[kind.key, atlas]


def _chosen(cohort: Cohort, finding: Finding, options: FindingOptions, subject: str | None) -> Cohort:
    """Those whose recordings are measured."""
    if not len(cohort):
        raise InputError("The cohort is empty.")
    if finding.whom == "subject":
        one = cohort[subject or cohort.ids[0]]
        return replace(cohort, subjects=(one,))
    if finding.whom == "mean" or options.score:
        return cohort
    if not cohort.group_sizes:
        raise InputError(f"No subject of '{cohort.name}' has a group. Name a table of groups with --phenotypes.")
    check_groups(options.groups, cohort.group_sizes)
    return cohort.select(lambda one: one.group in options.groups)
