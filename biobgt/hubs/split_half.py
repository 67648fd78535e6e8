"""The two halves of a recording, each measured on its own: what a split-half reliability is made of.

The halves are the first and the second half in time: every other time point would share the slow BOLD signal, and any
measure would look reliable. A half has half the data, so that what is found is a lower bound on the whole recording's;
:func:`spearman_brown` says what the whole would reach.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.atlas import Atlas
from biobgt.cohort import Subject
from biobgt.connectome import brain_graph, subject_connectivity
from biobgt.errors import InputError
from biobgt.graph import ConnectomeSettings
from biobgt.hubs.agreement import rank_agreement
from biobgt.hubs.hub_options import DEFAULT_SHARE
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.hubs.perturbation import DEFAULT_PERTURBATION, Perturbation
from biobgt.hubs.table import SubjectHubs, measure_hubs

Values = NDArray[np.float64]
# The shortest recording of the 899 ABIDE subjects on whom reliability was measured.
LEAST_TIMEPOINTS = 78
HALVES = (0, 1)  # the first and the second in time


def why_not_split(subject: Subject, settings: ConnectomeSettings | None = None) -> str | None:
    """Say why a subject's recording cannot be split in two halves to be measured, None where it can."""
    if subject.series is None:
        return (
            f"Subject '{subject.id}' has a connectivity matrix only, which cannot be split into halves. "
            "Add its region series."
        )
    if len(subject.series) < LEAST_TIMEPOINTS:
        return (
            f"Subject '{subject.id}' has {len(subject.series)} time points; a split half needs at least "
            f"{LEAST_TIMEPOINTS}, as the shortest recording on which reliability was measured."
        )
    if settings is not None and settings.estimator == "tangent":
        return "The tangent estimator is fitted on a cohort, so that one subject's halves have no graph of their own."
    return None


def half_subjects(subject: Subject) -> tuple[Subject, Subject]:
    """Split a subject's recording into its first and its second half; of an odd number of time points the last is left.

    Regions without signal in either half are silent in both, so that both have the same regions.
    """
    if reason := why_not_split(subject):
        raise InputError(reason)
    assert subject.series is not None
    middle = len(subject.series) // 2
    parts = [replace(subject, series=part) for part in (subject.series[:middle], subject.series[middle : 2 * middle])]
    silent = sorted({*parts[0].silent_regions, *parts[1].silent_regions})
    first, second = (_silenced(part, silent) for part in parts)
    return first, second


def measure_half(
    subject: Subject,
    atlas: Atlas,
    settings: ConnectomeSettings | None,
    number: int,
    *,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
) -> SubjectHubs:
    """Measure the hubs of the first half (0) or the second (1) of a recording, for any γ.

    Parameters
    ----------
    subject : Subject
        With series of at least :data:`LEAST_TIMEPOINTS` time points.
    atlas : Atlas
    settings : ConnectomeSettings or None
        Of the graph, as for the whole recording.
    number : {0, 1}
        Which half.
    perturbation : {"control", "remove"}
    """
    if reason := why_not_split(subject, settings):
        raise InputError(reason)
    half = half_subjects(subject)[number]
    return measure_hubs(brain_graph(half, atlas, settings), subject_connectivity(half), perturbation=perturbation)


def hub_values(hubs: SubjectHubs, gamma: float) -> Mapping[str, Values]:
    """Every hub measure at one γ (in units of 1/mean(λ)), shape (n_regions,): high in a hub, NaN without signal."""
    return {
        key: np.where(hubs.has_signal, -values if HUB_MEASURES[key].low_in_hubs else values, np.nan)
        for key, values in hubs.values(gamma).items()
    }


def compare_halves(
    first: SubjectHubs, second: SubjectHubs, gamma: float, *, measures: Sequence[str], top: float = DEFAULT_SHARE
) -> pd.DataFrame:
    """Compare every hub measure between the halves of one recording.

    Parameters
    ----------
    first, second : SubjectHubs
        Of :func:`measure_half`.
    gamma : float
        In units of 1/mean(λ).
    measures : sequence of str
        Of :data:`biobgt.hubs.HUB_MEASURES`, one row each.
    top : float
        Share of the regions that count as hubs.

    Returns
    -------
    DataFrame
        ``measure``; ``halves``, Spearman's ρ over regions between the halves; ``whole``, the reliability of the whole
        recording that follows (Spearman-Brown); ``overlap``, the share of the hubs of one half that are hubs in the
        other.
    """
    one, other = hub_values(first, gamma), hub_values(second, gamma)
    rows = []
    for name in measures:
        known = np.isfinite(one[name]) & np.isfinite(other[name])
        found = rank_agreement(one[name][None, known], other[name][known], top=top)
        rho = float(found["spearman"][0])
        whole = float(spearman_brown(np.array(rho)))
        rows.append({"measure": name, "halves": rho, "whole": whole, "overlap": float(found["overlap"][0])})
    return pd.DataFrame(rows)


def _silenced(subject: Subject, regions: Sequence[int]) -> Subject:
    if not regions or subject.series is None:
        return subject
    series = subject.series.copy()
    series[:, list(regions)] = 0
    return replace(subject, series=series)


def spearman_brown(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Reliability of the whole from the correlation of its halves, 2r/(1 + r); NaN where r is −1 or not known."""
    halves = np.asarray(halves, dtype=np.float64)
    whole: NDArray[np.float64] = np.divide(2 * halves, 1 + halves, out=np.full(halves.shape, np.nan), where=halves > -1)
    return whole
