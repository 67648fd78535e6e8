"""The demo cohorts: subjects drawn from group-level parameters, because no real subject may be shipped.

Subject i of a group is the same however many are drawn. What the subjects reproduce of the real groups, and
what not, is measured in ``docs/simulation.md``; they show how things work and are evidence of nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import load_atlas
from biobgt.cohort import Cohort, Subject
from biobgt.errors import InputError, no_such
from biobgt.simulate.parameters import GroupParameters, draw_series, load_parameters
from biobgt.simulate.progression import SEVERITY, simulate_progression, vulnerability


@dataclass(frozen=True)
class _Demo:
    title: str
    atlas: str
    groups: tuple[str, ...]
    origin: str


_ABIDE = "ABIDE (Di Martino et al. 2014; Craddock et al. 2013)"
_DEMOS: Mapping[str, _Demo] = {
    "asd": _Demo("Demo NC / ASD (simulated)", "cc200", ("NC", "ASD"), _ABIDE),
    "adhd": _Demo("Demo NC / ADHD (simulated)", "cc200", ("NC", "ADHD"), "CNI-TLC 2019 (Schirmer et al. 2021)"),
    "ad": _Demo("Demo NC / MCI / AD (simulated)", "aal90", ("NC", "MCI", "AD"), _ABIDE),
}
DEMO_PER_GROUP = 20
DEMO_COHORTS: Mapping[str, str] = {name: demo.title for name, demo in _DEMOS.items()}


def demo_cohort(name: str, *, n_per_group: int = DEMO_PER_GROUP, seed: int = 0) -> Cohort:
    """Draw a demo cohort.

    Parameters
    ----------
    name : str
        One of :data:`DEMO_COHORTS`: ``asd``, ``adhd`` or ``ad``.
    n_per_group : int
    seed : int
        Zero or more. The same seed gives the same subjects, and a larger cohort begins with those of a
        smaller one in every group.

    Returns
    -------
    Cohort
        Every subject is marked simulated.

    Examples
    --------
    >>> cohort = demo_cohort("asd", n_per_group=2, seed=0)
    >>> cohort.ids
    ('sim-NC-001', 'sim-NC-002', 'sim-ASD-001', 'sim-ASD-002')
    >>> cohort.atlas.name, cohort.atlas.n_regions
    ('cc200', 200)
    """
    if name not in _DEMOS:
        raise no_such("demo cohort", name, _DEMOS)
    if n_per_group < 1:
        raise InputError(f"A demo cohort needs at least 1 subject per group, not {n_per_group}.")
    if seed < 0:
        raise InputError(f"The seed is {seed}; it must be 0 or more.")
    demo, parameters = _DEMOS[name], load_parameters(name)
    atlas = load_atlas(demo.atlas)
    fading = None
    if _is_progression(demo, parameters):
        fading = vulnerability(parameters.mean_connectivity("NC"), atlas)
    subjects = tuple(
        _draw_subject(parameters, group, i, rng=_subject_rng(seed, name, group, i), fading=fading)
        for group in demo.groups
        for i in range(n_per_group)
    )
    return Cohort(name=demo.title, subjects=subjects, atlas=atlas, notes=_notes(demo, parameters))


def _draw_subject(
    parameters: GroupParameters,
    group: str,
    index: int,
    *,
    rng: np.random.Generator,
    fading: NDArray[np.float64] | None,
) -> Subject:
    # In the progression everyone is drawn as a control first.
    drawn_as = group if fading is None else "NC"
    subject = Subject(
        id=f"sim-{group}-{index + 1:03d}",
        series=draw_series(parameters, drawn_as, rng),
        group=group,
        tr=parameters.tr,
        simulated=True,
    )
    return subject if fading is None else simulate_progression(subject, group, fading, seed=rng)


def _subject_rng(seed: int, cohort: str, group: str, index: int) -> np.random.Generator:
    """Give every subject a stream of its own, so that it does not depend on how many are drawn."""
    key = crc32(f"{cohort}/{group}".encode())
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key, index)))


def _is_progression(demo: _Demo, parameters: GroupParameters) -> bool:
    return set(demo.groups) != set(parameters.groups)


def _notes(demo: _Demo, parameters: GroupParameters) -> tuple[str, ...]:
    counted = " and ".join(
        f"{count} {group}" for group, count in zip(parameters.groups, parameters.n_subjects, strict=True)
    )
    drawn = (
        f"All subjects are simulated: they were drawn from group-level averages over {counted} subjects of "
        f"{demo.origin}. They show how things work and are evidence of nothing."
    )
    if not _is_progression(demo, parameters):
        return (drawn,)
    severities = ", ".join(f"{group} {SEVERITY[group].mean:g}" for group in demo.groups)
    progression = (
        "MCI and AD are an invented progression, not measured on patients: connections of hubs and of the default "
        f"mode fade with severity (mean severity: {severities})."
    )
    return drawn, progression
