"""What speaks for a subject's hubs: null graphs and the halves of its recording, measured step by step and kept.

Results are kept with the cohort: a demo's for all sessions, a user's own in that user's session and nowhere else.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import pandas as pd
from loaded import View, keep_few
from state import GAMMAS

from biobgt.hubs import HUB_METRICS
from biobgt.hubs.beyond_strength import (
    NULL_GRAPHS,
    AgainstNulls,
    GraphAgreement,
    graph_agreement,
    null_agreement,
    set_against_nulls,
)
from biobgt.hubs.split_half import compare_halves, measure_half
from biobgt.hubs.sweep import SubjectHubs

SEED = 0
HALVES = (0, 1)
KEPT = {"own": 64, "null": 40 * NULL_GRAPHS, "half": 32}

Result = TypeVar("Result")


def nulls_left(view: View) -> list[int]:
    """The null graphs that have not been measured yet, by number."""
    return [number for number in range(NULL_GRAPHS) if not _is_kept(view, "null", number)]


def measure_null(view: View, hubs: SubjectHubs, number: int) -> GraphAgreement:
    """Measure one null graph at every γ, and keep it."""
    return _keep(
        view,
        "null",
        number,
        lambda: null_agreement(
            view.graph(view.connectivity()),
            GAMMAS,
            seed=SEED + number,
            has_signal=hubs.has_signal,
            perturbation=view.hubs.perturbation,
        ),
    )


def own_agreement(view: View, hubs: SubjectHubs) -> GraphAgreement:
    """The subject's own agreement at every γ, from the spectra that are known."""
    return _keep(
        view,
        "own",
        0,
        lambda: graph_agreement(
            view.graph(view.connectivity()), GAMMAS, has_signal=hubs.has_signal, spectra=hubs.spectra
        ),
    )


def against_nulls(view: View, hubs: SubjectHubs) -> dict[str, AgainstNulls]:
    """The subject's agreement at the view's γ beside that of all null graphs."""
    nulls = [measure_null(view, hubs, number) for number in range(NULL_GRAPHS)]
    return set_against_nulls(own_agreement(view, hubs), nulls, view.hubs.gamma)


def halves_left(view: View) -> list[int]:
    """The halves of the recording that have not been measured yet, by number."""
    return [number for number in HALVES if not _is_kept(view, "half", number)]


def measure_one_half(view: View, number: int) -> SubjectHubs:
    """Measure the hubs of one half of the recording, and keep them."""
    return _keep(
        view,
        "half",
        number,
        lambda: measure_half(view.subject, view.atlas, view.settings, number, perturbation=view.hubs.perturbation),
    )


def own_halves(view: View) -> pd.DataFrame:
    """How alike the halves of the recording are, measure by measure, at the view's γ."""
    first, second = (measure_one_half(view, number) for number in HALVES)
    return compare_halves(first, second, view.hubs.gamma, measures=list(HUB_METRICS))


def _key(view: View, number: int) -> tuple[object, ...]:
    return (view.subject.id, view.settings, view.hubs.perturbation, number)


def _is_kept(view: View, kind: str, number: int) -> bool:
    return _key(view, number) in view.loaded.hub_evidence.get(kind, {})


def _keep(view: View, kind: str, number: int, measure: Callable[[], Result]) -> Result:
    results = cast("dict[tuple[object, ...], Result]", view.loaded.hub_evidence.setdefault(kind, {}))
    return keep_few(results, _key(view, number), measure, most=KEPT[kind])
