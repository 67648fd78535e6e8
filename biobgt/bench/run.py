"""Everybody measured with and without the lesion, and people drawn and compared as often as is asked for.

A person's values with the lesion are measured once. A repetition draws people without repeating anybody, takes one half
of them with the lesion and the other half without, and asks every measure whether the halves differ.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biobgt
from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.parallel import hand_over_subjects
from biobgt.base.wording import counted
from biobgt.bench.measures import EDGES, BenchMeasure, Looked, look, measures_of, place_of, values_of
from biobgt.bench.options import BenchOptions
from biobgt.data.cohort import Cohort, Subject, person_of
from biobgt.data.connectivity import fisher_z, subject_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.lesions import (
    HUB,
    NETWORK,
    PLANTED,
    SEGREGATION,
    Lesion,
    hub_lesion,
    lesioned,
    network_lesion,
    strongest_region,
)
from biobgt.model.pretrained import installed_model
from biobgt.results.measured import Measured

AT_ONCE = 10  # repetitions of a job
Line = dict[str, list[float]]  # what was measured of a recording


@dataclass(frozen=True, eq=False)
class BenchPlan:
    """What is known of a run before anything is measured.

    Attributes
    ----------
    cohort : Cohort
        One recording of each person used.
    settings : ConnectomeSettings
    options : BenchOptions
    lesion : Lesion
    labelling : str
        Functional networks; empty where the atlas has none.
    """

    cohort: Cohort
    settings: ConnectomeSettings
    options: BenchOptions
    lesion: Lesion
    labelling: str

    @property
    def measures(self) -> tuple[BenchMeasure, ...]:
        """The measures that look."""
        functional = self.cohort.kind.functional
        return measures_of(self.options, labelled=bool(self.labelling), functional=functional)

    @property
    def sizes(self) -> tuple[float, ...]:
        """Sizes of the lesion, each once."""
        return tuple(sorted(set(self.options.size)))

    @cached_property
    def recordings(self) -> list[tuple[str, float]]:
        """Whom to measure at which size; without a lesion everybody comes first."""
        sizes = dict.fromkeys([0.0, *self.sizes])
        return [(one.id, size) for size in sizes for one in self.cohort]

    @cached_property
    def marks(self) -> dict[tuple[str, bool], str]:
        """What the values of each person, with a lesion or without, depend on: another mark is measured again."""
        about = {
            "settings": self.settings.as_dict(),
            "options": {key: value for key, value in self.options.as_dict().items() if key in _OF_VALUES},
            "labelling": self.labelling,
            "atlas": self.cohort.atlas.table().to_json(),
            "model": installed_model(self.options.model).sha256 if self.options.model else "",
            "version": biobgt.__version__,
        }
        found = {}
        for planted in (False, True):
            lesion = {"lesion": [self.lesion.kind, self.lesion.place, self.options.noise]} if planted else {}
            digest = hashlib.sha256(json.dumps({**about, **lesion}, sort_keys=True).encode())
            for one in self.cohort:
                own = digest.copy()
                values = one.series if one.series is not None else one.connectivity
                own.update(np.ascontiguousarray(values, dtype="<f8").data)
                found[one.id, planted] = own.hexdigest()[:16]
        return found

    @property
    def cells(self) -> list[tuple[float, int]]:
        """Sizes and numbers of people, in the order in which they are compared."""
        return [(size, n) for size in self.sizes for n in sorted(set(self.options.people))]

    def subject(self, name: str, size: float) -> Subject:
        """A person with the lesion; without one as they are."""
        one, options = self.cohort[name], self.options
        if size == 0:
            return one
        functional = self.cohort.kind.functional
        return lesioned(one, self.lesion, size, noise=options.noise, seed=options.seed, functional=functional)


_OF_VALUES = ("gamma", "perturbation", "resolution", "runs", "consensus", "signed", "hub_z", "seed", "model")


def plan_bench(cohort: Cohort, settings: ConnectomeSettings, options: BenchOptions) -> BenchPlan:
    """Choose people and the place of the lesion, or refuse what cannot be planted or compared.

    Parameters
    ----------
    cohort : Cohort
    settings : ConnectomeSettings
    options : BenchOptions
    """
    group = options.group or next(iter(cohort.group_sizes), "")
    if options.group and options.group not in cohort.group_sizes:
        raise InputError(f"There is no group '{options.group}'. The groups: {', '.join(cohort.group_sizes) or 'none'}.")
    chosen = cohort.group(group) if group else cohort
    first = dict(zip(reversed(chosen.persons), reversed(chosen.subjects), strict=True))
    chosen = replace(chosen, subjects=tuple(one for one in chosen if first[person_of(one.id)] is one))
    if 2 * max(options.people) > len(chosen):
        raise InputError(
            f"{max(options.people)} people with the lesion and as many without need {2 * max(options.people)}, and "
            f"there are {counted(len(chosen), 'person')}{f' in group {group}' if group else ''}. Name fewer with "
            "--people."
        )
    labelling = options.labelling or next(iter(chosen.atlas.labels), "")
    if options.model and (why_not := installed_model(options.model).refusal(chosen)):
        raise InputError(why_not)
    return BenchPlan(chosen, settings, options, _lesion(chosen, options, labelling), labelling)


def _lesion(cohort: Cohort, options: BenchOptions, labelling: str) -> Lesion:
    atlas = cohort.atlas
    if options.lesion == SEGREGATION:
        return Lesion(SEGREGATION, "", ())
    if options.lesion == NETWORK:
        if not labelling:
            raise InputError(f"Atlas {atlas.name} has no functional labels, so there is no network to lesion.")
        return network_lesion(atlas, labelling, options.place)
    assert options.lesion == HUB
    if options.place and options.place not in atlas.regions:
        raise InputError(f"There is no region '{options.place}' in atlas {atlas.name}.")
    if options.place:
        return hub_lesion(atlas, atlas.regions.index(options.place))
    return hub_lesion(atlas, strongest_region([subject_connectivity(one) for one in cohort]))


# Measuring people.


def measure_people(
    plan: BenchPlan, known: dict[tuple[str, float], Line], take: Callable[[str, float, Line], None], **how: Any
) -> None:
    """Measure whoever is not known, and hand every line over as it comes.

    Parameters
    ----------
    plan : BenchPlan
    known : dict
        What is there, by person and size; what is measured is added.
    take : callable
        Gets the person, the size and the line.
    **how
        For :func:`biobgt.base.parallel.hand_over_subjects`.
    """
    left = [one for one in plan.recordings if one not in known]
    jobs = _People(plan, left)
    measure = partial(
        _measured,
        regions=plan.lesion.regions,
        settings=plan.settings,
        options=plan.options,
        labelling=plan.labelling,
    )

    def came(number: int, line: Line) -> None:
        known[left[number]] = line
        take(*left[number], line)

    hand_over_subjects(measure, jobs, came, **how)


class _People(Sequence[Cohort]):
    """Recordings, each put together when it is its turn."""

    def __init__(self, plan: BenchPlan, left: Sequence[tuple[str, float]]) -> None:
        self.plan, self.left = plan, left

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, number: Any) -> Any:
        return replace(self.plan.cohort, subjects=(self.plan.subject(*self.left[number]),), refused=(), notes=())


def _measured(
    alone: Cohort, *, regions: tuple[int, ...], settings: ConnectomeSettings, options: BenchOptions, labelling: str
) -> Line:
    own = Measured(alone, subject=alone.ids[0], settings=settings)
    cut_off = regions if PLANTED in alone.subjects[0].phenotypes else ()
    return {key: values.tolist() for key, values in values_of(own, options, labelling, cut_off=cut_off).items()}


# Comparing people.


@dataclass(frozen=True)
class Repetition:
    """One comparison: size of the lesion, people of each half, and the number of the repetition."""

    size: float
    people: int
    number: int


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A few repetitions at one size and number of people, with the values of those who are in them."""

    repetitions: tuple[Repetition, ...]
    rows: NDArray[np.int64]  # of each repetition, people without the lesion first
    without: Mapping[str, FloatArray]
    lesioned: Mapping[str, FloatArray]


Outcome = dict[str, Looked]  # by measure


def compare_people(
    plan: BenchPlan,
    lines: Mapping[tuple[str, float], Line],
    known: Mapping[Repetition, Outcome],
    take: Callable[[Repetition, Outcome], None],
    **how: Any,
) -> None:
    """Draw and compare people in every repetition that is not known, and hand each over as it comes.

    Parameters
    ----------
    plan : BenchPlan
    lines : mapping
        What was measured, by person and size.
    known : mapping
    take : callable
        Gets the repetition and what each measure found.
    **how
        For :func:`biobgt.base.parallel.hand_over_subjects`.
    """
    labels = plan.cohort.atlas.labelling(plan.labelling) if plan.labelling else []
    n_regions = plan.cohort.atlas.n_regions
    places = {one.key: place_of(one, plan.lesion, list(labels), n_regions) for one in plan.measures}
    jobs = _Draws(plan, lines, known)
    permutations, seed = plan.options.permutations, plan.options.seed
    compare = partial(_compared, measures=plan.measures, places=places, permutations=permutations, seed=seed)

    def came(number: int, found: list[Outcome]) -> None:
        for repetition, outcome in zip(jobs.parts[number], found, strict=True):
            take(repetition, outcome)

    hand_over_subjects(compare, jobs, came, **how)


class _Draws(Sequence[_Drawn]):
    """Repetitions that are left, some at a time, each put together when it is its turn."""

    def __init__(
        self, plan: BenchPlan, lines: Mapping[tuple[str, float], Line], known: Mapping[Repetition, Outcome]
    ) -> None:
        self.plan, self.lines = plan, lines
        self.parts: list[tuple[Repetition, ...]] = []
        for size, n in plan.cells:
            left = [Repetition(size, n, number) for number in range(plan.options.repetitions)]
            left = [one for one in left if one not in known]
            self.parts += [tuple(left[start : start + AT_ONCE]) for start in range(0, len(left), AT_ONCE)]
        self._held: dict[float, dict[str, FloatArray]] = {}

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, number: Any) -> Any:
        part = self.parts[number]
        rows = np.stack([_draw(one, len(self.plan.cohort), seed=self.plan.options.seed) for one in part])
        return _Drawn(part, rows, self._values(0.0), self._values(part[0].size))

    def _values(self, size: float) -> dict[str, FloatArray]:
        """Values of everybody at a size; of two sizes at most at a time."""
        if size not in self._held:
            self._held = {key: value for key, value in self._held.items() if key == 0}
            names = self.plan.cohort.ids
            each = [self.lines[name, size] for name in names]
            found = {key: np.array([line[key] for line in each]) for key in each[0]}
            if self.plan.options.edges:
                found[EDGES] = np.stack([self._edges(name, size) for name in names])
            self._held[size] = found
        return self._held[size]

    def _edges(self, name: str, size: float) -> FloatArray:
        """Edges of a person: correlations as Fisher z."""
        whole = subject_connectivity(self.plan.subject(name, size))
        whole = fisher_z(whole) if self.plan.cohort.kind.functional else whole
        return np.asarray(whole[np.triu_indices(len(whole), 1)], np.float32)


def _draw(one: Repetition, n_all: int, *, seed: int) -> NDArray[np.int64]:
    """People of a repetition, no one twice: those without the lesion, then as many with it."""
    rng = np.random.default_rng([seed, round(1e6 * one.size), one.people, one.number])
    return rng.permutation(n_all)[: 2 * one.people]


def _compared(
    job: _Drawn,
    *,
    measures: tuple[BenchMeasure, ...],
    places: Mapping[str, NDArray[np.bool_] | None],
    permutations: int,
    seed: int,
) -> list[Outcome]:
    found = []
    for repetition, rows in zip(job.repetitions, job.rows, strict=True):
        n = repetition.people
        patients = np.arange(2 * n) >= n
        values = {
            key: np.concatenate([whole[rows[:n]], job.lesioned[key][rows[n:]]]) for key, whole in job.without.items()
        }
        how: dict[str, Any] = {"permutations": permutations, "seed": seed + repetition.number}
        found.append({one.key: look(one, values, patients, places[one.key], **how) for one in measures})
    return found
