"""The ways in which a finding can reasonably be measured: every choice is one object, and a way has a value of each.

A way begins with the settings at which the finding was seen, the *reference*. A choice says which other values are
reasonable for a cohort, and puts one of them into a way. All combinations are specifications, but for those that nobody
would choose: a threshold by weight, such as 0.3, is one of correlations and leaves nothing of partial correlations.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np

from biobgt.base.options import Registry
from biobgt.base.wording import percent
from biobgt.data.atlas import LABELLINGS
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ESTIMATORS, PEARSON, SIGN_RULES, ConnectomeSettings, ThresholdRule
from biobgt.hubs.measures import PERTURBATIONS, HubOptions
from biobgt.hubs.reliability import half_subjects, why_not_split
from biobgt.inference.covariates import known_characteristics
from biobgt.modules.measures import ModuleOptions
from biobgt.specifications.options import EXCLUDED, LINEAR, LOGARITHM, NO_MOTION, FindingOptions, MotionCoding

GlobalSignal = Literal["kept", "regressed"]
RecordingPart = Literal["whole", "first half", "second half"]
HALF_NUMBERS: Mapping[str, int] = {"first half": 0, "second half": 1}
MOST_FD = 0.2  # mm, as in Power et al. (2012)
_MOTION_WORDS: Mapping[str, str] = {
    NO_MOTION: "motion is not adjusted for",
    LINEAR: "motion is adjusted for as mean FD",
    LOGARITHM: "motion is adjusted for as log mean FD",
    EXCLUDED: f"people above {MOST_FD:g} mm mean FD are left out",
}
_Threshold = tuple[ThresholdRule, float]
_WEIGHTS: tuple[_Threshold, ...] = (("absolute", 0.2), ("absolute", 0.3), ("absolute", 0.4))
_DENSITIES: tuple[_Threshold, ...] = tuple(("proportional", level) for level in (0.1, 0.15, 0.2, 0.25))
_OF_CORRELATIONS = (PEARSON, "ledoit-wolf")


@dataclass(frozen=True)
class Way:
    """One specification: all that a finding depends on beside the data.

    Attributes
    ----------
    settings : ConnectomeSettings
    hubs : HubOptions
    modules : ModuleOptions
    labelling : str
    global_signal : {"kept", "regressed"}
    part : {"whole", "first half", "second half"}
        Of each recording.
    motion : {"none", "linear", "log", "excluded"}
        How the test takes motion.
    overall : bool
        Whether the test adjusts for overall connectivity.
    """

    settings: ConnectomeSettings
    hubs: HubOptions
    modules: ModuleOptions
    labelling: str = ""
    global_signal: GlobalSignal = "kept"
    part: RecordingPart = "whole"
    motion: MotionCoding = NO_MOTION
    overall: bool = False

    @property
    def measured(self) -> "Way":
        """The same without what only the test depends on: what is measured of each recording."""
        return replace(self, motion=NO_MOTION, overall=False)

    @property
    def graph(self) -> tuple[GlobalSignal, RecordingPart, ConnectomeSettings]:
        """What a recording's graph depends on; ways that share one are measured together."""
        return self.global_signal, self.part, self.settings


@dataclass(frozen=True)
class Situation:
    """Of whom a finding was seen, and at which settings.

    Attributes
    ----------
    cohort : Cohort
        Those whose recordings are measured.
    asked : FindingOptions
    settings : ConnectomeSettings
    """

    cohort: Cohort
    asked: FindingOptions
    settings: ConnectomeSettings

    @cached_property
    def series(self) -> bool:
        """Whether all recordings are series."""
        return all(subject.series is not None for subject in self.cohort)

    @cached_property
    def knows_motion(self) -> bool:
        """Whether the phenotypes have a mean FD."""
        return "mean_fd" in known_characteristics(self.cohort.table())

    @property
    def reference(self) -> Way:
        """The way in which the finding was seen."""
        asked = self.asked
        return Way(
            settings=self.settings,
            hubs=asked.part(HubOptions),
            modules=asked.part(ModuleOptions),
            labelling=asked.labelling or next(iter(self.cohort.atlas.labels), ""),
            motion=asked.motion if self.knows_motion else NO_MOTION,
            overall=asked.overall,
        )


@dataclass(frozen=True)
class Choice:
    """Something that a researcher decides and might have decided otherwise.

    Attributes
    ----------
    key : str
    title : str
        As panels and tables name it.
    values : callable
        All reasonable values in a situation; the reference's own is added where it is another.
    get, put : callable
        The value of a way, and the way with another one.
    shown : callable
        A value, short.
    where : callable
        A value after "where": "the global signal is regressed".
    of_test : bool
        Whether only the test depends on it, and no recording is measured anew.
    """

    key: str
    title: str
    values: Callable[[Situation], Sequence[Any]]
    get: Callable[[Way], Any]
    put: Callable[[Way, Any], Way]
    shown: Callable[[Any], str]
    where: Callable[[Any], str]
    of_test: bool = False

    def offered(self, situation: Situation) -> tuple[Any, ...]:
        """The reference's value, then the other reasonable ones."""
        own = self.get(situation.reference)
        return own, *(value for value in self.values(situation) if value != own)


def _setting(name: str) -> dict[str, Any]:
    """How a choice reads and sets a field of the settings of graphs."""
    return {
        "get": lambda way: getattr(way.settings, name),
        "put": lambda way, value: replace(way, settings=replace(way.settings, **{name: value})),
    }


def _of_hubs(name: str) -> dict[str, Any]:
    return {
        "get": lambda way: getattr(way.hubs, name),
        "put": lambda way, value: replace(way, hubs=replace(way.hubs, **{name: value})),
    }


def _of_modules(name: str) -> dict[str, Any]:
    return {
        "get": lambda way: getattr(way.modules, name),
        "put": lambda way, value: replace(way, modules=replace(way.modules, **{name: value})),
    }


def _of_way(name: str) -> dict[str, Any]:
    return {"get": lambda way: getattr(way, name), "put": lambda way, value: replace(way, **{name: value})}


def _estimators(situation: Situation) -> tuple[str, ...]:
    if not situation.cohort.kind.functional:
        return PEARSON, "log-weights", "rank-weights"
    return (PEARSON, "partial") if situation.series else ()


def _thresholds(situation: Situation) -> tuple[_Threshold, ...]:
    return (*_WEIGHTS, *_DENSITIES) if situation.cohort.kind.functional else (("none", 0.3), *_DENSITIES)


def _threshold_words(value: _Threshold) -> str:
    rule, level = value
    if rule == "none":
        return "all connections"
    return f"strongest {percent(level)}" if rule == "proportional" else f"at least {level:g}"


def _parts(situation: Situation) -> tuple[str, ...]:
    split = not any(why_not_split(subject, situation.settings) for subject in situation.cohort)
    return ("whole", *HALF_NUMBERS) if split else ()


def _criterion_words(value: tuple[str, float]) -> str:
    return f"top {percent(value[1])}" if value[0] == "top" else "mean + 1 SD"


def _criterion(way: Way) -> tuple[str, float]:
    """Rule and share; the share says nothing where the rule is another."""
    return way.hubs.rule, way.hubs.share if way.hubs.rule == "top" else 0.0


def _with_criterion(way: Way, value: tuple[Any, float]) -> Way:
    rule, share = value
    return replace(way, hubs=replace(way.hubs, rule=rule, share=share or way.hubs.share))


CHOICES: Registry[Choice] = Registry(
    "choice",
    Choice(
        "estimator",
        "Connectivity",
        values=_estimators,
        **_setting("estimator"),
        shown=lambda value: ESTIMATORS[value].title,
        where=lambda value: f"connectivity is {ESTIMATORS[value].words.split(',')[0]}",
    ),
    Choice(
        "sign",
        "Negative connections",
        values=lambda situation: ("positive", "absolute") if situation.cohort.kind.functional else (),
        **_setting("sign"),
        shown=lambda value: SIGN_RULES[value],
        where=lambda value: f"negative connections are {SIGN_RULES[value]}",
    ),
    Choice(
        "threshold",
        "Threshold",
        values=_thresholds,
        get=lambda way: (way.settings.threshold, way.settings.level if way.settings.threshold != "none" else 0.3),
        put=lambda way, value: replace(way, settings=replace(way.settings, threshold=value[0], level=value[1])),
        shown=_threshold_words,
        where=lambda value: (
            f"graphs keep {'the ' if value[0] == 'proportional' else ''}{_threshold_words(value)}"
            + {"proportional": " of pairs", "absolute": " in weight"}.get(value[0], "")
        ),
    ),
    Choice(
        "global-signal",
        "Global signal",
        values=lambda situation: ("kept", "regressed") if situation.series else (),
        **_of_way("global_signal"),
        shown=lambda value: {"kept": "as brought"}.get(value, value),
        where=lambda value: f"the global signal is {({'kept': 'as brought'}).get(value, value)}",
    ),
    Choice(
        "recording",
        "Recording",
        values=_parts,
        **_of_way("part"),
        shown=str,
        where=lambda value: f"the {value} recording is used" if value == "whole" else f"the {value} is used alone",
    ),
    Choice(
        "gamma",
        "Diffusion time γ",
        values=lambda situation: (0.1, 0.5, 2.0, 10.0),
        **_of_hubs("gamma"),
        shown=lambda value: f"{value:g}",
        where=lambda value: f"γ is {value:g}",
    ),
    Choice(
        "perturbation",
        "Perturbation",
        values=lambda situation: tuple(PERTURBATIONS),
        **_of_hubs("perturbation"),
        shown=str,
        where=lambda value: PERTURBATIONS[value],
    ),
    Choice(
        "criterion",
        "Hub criterion",
        values=lambda situation: (("top", 0.05), ("top", 0.1), ("top", 0.2), ("sd", 0.0)),
        get=_criterion,
        put=_with_criterion,
        shown=_criterion_words,
        where=lambda value: f"hubs are {'the ' if value[0] == 'top' else 'above the '}{_criterion_words(value)}",
    ),
    Choice(
        "resolution",
        "Resolution of modules",
        values=lambda situation: (0.8, 1.0, 1.2, 1.5),
        **_of_modules("resolution"),
        shown=lambda value: f"{value:g}",
        where=lambda value: f"the resolution is {value:g}",
    ),
    Choice(
        "labelling",
        "Functional networks",
        values=lambda situation: tuple(situation.cohort.atlas.labels),
        **_of_way("labelling"),
        shown=lambda value: LABELLINGS.get(value, value),
        where=lambda value: f"networks are those of {LABELLINGS.get(value, value)}",
    ),
    Choice(
        "seed",
        "Seed",
        values=lambda situation: tuple(situation.asked.seed + step for step in range(3)),
        **_of_modules("seed"),
        shown=str,
        where=lambda value: f"the seed is {value}",
    ),
    Choice(
        "motion",
        "Motion",
        values=lambda situation: tuple(_MOTION_WORDS) if situation.knows_motion else (),
        **_of_way("motion"),
        shown=lambda value: {EXCLUDED: f"above {MOST_FD:g} mm left out"}.get(value, value),
        where=lambda value: _MOTION_WORDS[value],
        of_test=True,
    ),
    Choice(
        "overall",
        "Overall connectivity",
        values=lambda situation: (False, True) if situation.cohort.kind.functional else (),
        **_of_way("overall"),
        shown=lambda value: "adjusted" if value else "not adjusted",
        where=lambda value: f"overall connectivity is {'' if value else 'not '}adjusted for",
        of_test=True,
    ),
)


def varied_choices(
    situation: Situation, moved_by: Sequence[str], off: Sequence[str] = ()
) -> dict[str, tuple[Any, ...]]:
    """The choices that can move a finding here and are not switched off, with their values; the reference's first.

    Parameters
    ----------
    situation : Situation
    moved_by : sequence of str
        Keys of the choices that can move the finding.
    off : sequence of str
    """
    offered = {key: one.offered(situation) for key, one in CHOICES.items() if key in moved_by and key not in off}
    return {key: values for key, values in offered.items() if len(values) > 1}


@dataclass(frozen=True)
class Ways:
    """Specifications, the reference first.

    Attributes
    ----------
    choices : mapping of str to tuple
        What is varied, with its values.
    every : tuple of Way
        Those that are measured.
    n_possible : int
        How many there are; more than are measured where they were drawn.
    """

    choices: Mapping[str, tuple[Any, ...]]
    every: tuple[Way, ...]
    n_possible: int

    @property
    def measured(self) -> tuple[Way, ...]:
        """What is to be measured of every recording, each once, in order."""
        return tuple(dict.fromkeys(way.measured for way in self.every))

    def table(self) -> list[dict[str, str]]:
        """The values of each way, as they are shown."""
        chosen = [CHOICES[key] for key in self.choices]
        return [{one.key: one.shown(one.get(way)) for one in chosen} for way in self.every]


def ways_of(
    situation: Situation,
    choices: Mapping[str, tuple[Any, ...]],
    *,
    most: int,
    seed: int = 0,
    thresholded: bool = True,
) -> Ways:
    """All combinations of choices that somebody would make or, where they are too many, some of them drawn.

    What is measured of recordings is drawn, and goes through every test: the test takes no time, and recordings do.

    Parameters
    ----------
    situation : Situation
    choices : mapping of str to tuple
        From :func:`varied_choices`.
    most, seed : int
    thresholded : bool
        Whether the finding depends on the threshold of graphs.
    """
    reference = situation.reference
    of_data = {key: values for key, values in choices.items() if not CHOICES[key].of_test}
    recorded = [
        way
        for way in _combinations(reference, of_data)
        if not thresholded or way.settings == reference.settings or _is_usual(way.settings)
    ]
    tests = {key: values for key, values in choices.items() if CHOICES[key].of_test}
    n_tests = len(list(_combinations(reference, tests)))
    n_possible, room = len(recorded) * n_tests, max(1, most // n_tests)
    if len(recorded) > room:
        drawn = np.random.default_rng(seed).choice(np.arange(1, len(recorded)), room - 1, replace=False)
        recorded = [recorded[place] for place in (0, *np.sort(drawn).tolist())]
    return Ways(choices, tuple(way for one in recorded for way in _combinations(one, tests)), n_possible)


def _combinations(start: Way, choices: Mapping[str, tuple[Any, ...]]) -> Iterator[Way]:
    """Every way, the one that it starts from first."""
    for values in product(*choices.values()):
        way = start
        for key, value in zip(choices, values, strict=True):
            way = CHOICES[key].put(way, value)
        yield way


def _is_usual(settings: ConnectomeSettings) -> bool:
    """Whether anybody makes such graphs: a threshold by weight is one of correlations."""
    return settings.threshold != "absolute" or settings.estimator in _OF_CORRELATIONS


# The recordings that ways are measured on.


def recording_of(subject: Subject, global_signal: GlobalSignal, part: RecordingPart) -> Subject:
    """A subject's recording as a way takes it, under a name of its own.

    Parameters
    ----------
    subject : Subject
    global_signal : {"kept", "regressed"}
    part : {"whole", "first half", "second half"}
        Taken first: a half has a global signal of its own.
    """
    said: list[str] = []
    if part != "whole":
        subject = half_subjects(subject)[HALF_NUMBERS[part]]
        said.append(part)
    if global_signal == "regressed":
        subject = without_global_signal(subject)
        said.append("global signal regressed")
    return replace(subject, id=f"{subject.id} ({', '.join(said)})") if said else subject


def without_global_signal(subject: Subject) -> Subject:
    """A subject with the mean over its regions with signal regressed out of every region's series."""
    if subject.series is None:
        return subject
    centred = subject.series - subject.series.mean(axis=0)
    centred[:, list(subject.silent_regions)] = 0
    known = np.setdiff1d(np.arange(subject.n_regions), subject.silent_regions)
    signal = centred[:, known].mean(axis=1)
    power = float(signal @ signal)
    left = centred if power == 0 else centred - np.outer(signal, signal @ centred / power)
    return replace(subject, series=left)
