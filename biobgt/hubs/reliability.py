"""Reliability: whether two halves of a recording give the same hubs, here and in real cohorts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.base.wording import percent, signed, whose
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Subject
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.data.graph import ESTIMATED, KINDS, ConnectivityKind, ConnectomeSettings
from biobgt.hubs.agreement import rank_agreement
from biobgt.hubs.measures import COMPARED, HUB_MEASURES, NE
from biobgt.hubs.options import DEFAULT_GAMMA, DEFAULT_PERTURBATION, DEFAULT_SHARE, Perturbation
from biobgt.hubs.table import SubjectHubs, measure_hubs

# The two halves of a recording, each measured on its own: what a split-half reliability is made of.
#
# The halves are the first and the second half in time: every other time point would share the slow BOLD signal, and
# any measure would look reliable. A half has half the data, so that what is found is a lower bound on the whole
# recording's; :func:`spearman_brown` says what the whole would reach.


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


def hub_values(hubs: SubjectHubs, gamma: float) -> Mapping[str, FloatArray]:
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


def spearman_brown(halves: FloatArray) -> FloatArray:
    """Reliability of the whole from the correlation of its halves, 2r/(1 + r); NaN where r is −1 or not known."""
    halves = np.asarray(halves, dtype=np.float64)
    whole: FloatArray = np.divide(2 * halves, 1 + halves, out=np.full(halves.shape, np.nan), where=halves > -1)
    return whole


# How reliable hub measures are in real cohorts, to be shown beside a user's own subject where that applies.
#
# The study (``assets/studies/reliability.py``) measured both halves of every recording on one atlas and one kind of
# graph. For any other it says nothing, and nothing is shown.


STUDY_ATLAS, STUDY_ATLAS_TITLE = "cc200", "CC200"
ABIDE, CNI_2019 = "ABIDE", "CNI-2019"  # the cohorts of the study
_STUDY_SETTINGS = ConnectomeSettings()


@dataclass(frozen=True, eq=False)
class StudyReliability:
    """The reliability of hub measures in the cohorts of the study that fits a subject's graph, or why none does.

    Attributes
    ----------
    table : DataFrame or None
        One row per measure of :data:`biobgt.hubs.HUB_MEASURES`, ``measure`` its index, and for each cohort the columns
        ``whole`` (reliability of a whole recording's profile over regions), ``icc`` (median over regions of the ICC
        over people, of a whole recording) and ``overlap`` (share of hubs that come back in the other half), named
        ``<column> <cohort>``.
    note : str
        On whom and how it was measured, or why nothing is shown; for the caption.
    cohorts : tuple of str
        Of the columns.
    """

    table: pd.DataFrame | None
    note: str
    cohorts: tuple[str, ...] = ()


@cache
def reliability_table() -> pd.DataFrame:
    """The study's table: one row per cohort and measure; see ``docs/plausibility.md`` for its columns."""
    return pd.read_csv(asset("studies", "reliability.csv"))


@cache
def study_people() -> Mapping[str, int]:
    """How many people of each real cohort were measured, by its name."""
    people = reliability_table().groupby("cohort", sort=False)["n_people"].max()
    return {str(cohort): int(n) for cohort, n in people.items()}


def study_reliability(
    settings: ConnectomeSettings,
    atlas: Atlas,
    *,
    gamma: float = DEFAULT_GAMMA,
    perturbation: str = DEFAULT_PERTURBATION,
    kind: ConnectivityKind = KINDS[ESTIMATED],
) -> StudyReliability:
    """Find how reliable hub measures are on graphs that were made as these are.

    Parameters
    ----------
    settings : ConnectomeSettings
    atlas : Atlas
    gamma : float
        Of node entanglement, in units of 1/mean(λ).
    perturbation : {"control", "remove"}
        Of node entanglement.
    kind : ConnectivityKind
        What connectivity is.
    """
    if differences := _differences(settings, atlas, kind):
        return StudyReliability(None, f"Reliability was not measured for graphs like these ({', '.join(differences)}).")
    return _reliability_at(gamma, perturbation)


@lru_cache(maxsize=32)
def _reliability_at(gamma: float, perturbation: str) -> StudyReliability:
    cohorts, study = tuple(reliability_table()["cohort"].unique()), _by_measure()
    rows, left_out = _rows_at(study, gamma, perturbation)
    people = {cohort: rows[f"n_people {cohort}"].max() for cohort in cohorts}
    measured = " and ".join(f"{people[cohort]:.0f} {cohort} subjects" for cohort in cohorts)
    note = (
        f"Measured on the two halves of the recordings of {measured} ({STUDY_ATLAS_TITLE}, "
        f"{_STUDY_SETTINGS.describe()}).{left_out}"
    )
    return StudyReliability(rows.drop(columns=[f"n_people {cohort}" for cohort in cohorts]), note, cohorts)


def _differences(settings: ConnectomeSettings, atlas: Atlas, kind: ConnectivityKind) -> list[str]:
    found = []
    if not kind.functional:
        found.append("the study is of functional connectivity")
    if atlas.name != STUDY_ATLAS:
        found.append(f"the study is on {STUDY_ATLAS_TITLE}, this subject on {atlas.title}")
    if settings != _STUDY_SETTINGS:
        found.append(f"the study has {_STUDY_SETTINGS.describe()}")
    return found


@cache
def _by_measure() -> pd.DataFrame:
    """The study with one row per measure, of NE one per γ, and a column for each number and cohort."""
    study = reliability_table().rename(columns={"icc_whole_median": "icc", "overlap_within": "overlap"})
    columns: dict[str, pd.Series[float]] = {}
    for cohort in study["cohort"].unique():
        part = study[study["cohort"] == cohort].set_index("measure")
        columns |= {f"{name} {cohort}": part[name] for name in ("whole", "icc", "overlap", "n_people")}
    return pd.DataFrame(columns)


def _rows_at(study: pd.DataFrame, gamma: float, perturbation: str) -> tuple[pd.DataFrame, str]:
    """The rows of hub measures with NE at this γ, and what is said where NE was not measured there."""
    at_gamma = f"{NE} γ={gamma:g}"
    others = [measure for measure in HUB_MEASURES if measure != NE and measure in study.index]
    if perturbation != "control":
        return study.loc[others], " NE was measured with the control graph only."
    if at_gamma not in study.index:
        opening = f"{NE} γ="
        known = sorted((name.removeprefix(opening) for name in study.index if name.startswith(opening)), key=float)
        return study.loc[others], f" NE was measured at γ = {', '.join(known)} only."
    return study.loc[[at_gamma, *others]].rename(index={at_gamma: NE}), ""


# What reliability means, in words for the page and its table.


def measure_reliability(measure: str, study: StudyReliability) -> str:
    """Say one measure's reliability in the study, for the head of its column; nothing where none applies."""
    if study.table is None or measure not in study.table.index:
        return ""
    known = study.table.loc[[measure]].iloc[0].to_dict()
    said = [
        f"{cohort}: {signed(known[f'whole {cohort}'])} over regions, median ICC {signed(known[f'icc {cohort}'])}"
        for cohort in study.cohorts
    ]
    return f"Split-half reliability of a whole recording, {'; '.join(said)}."


def reliability_rows(study: StudyReliability, own: pd.DataFrame | None) -> pd.DataFrame:
    """One row per hub measure for the page: reliability in the study's cohorts and in this subject, as far as known.

    Parameters
    ----------
    study : StudyReliability
    own : DataFrame, optional
        Of :func:`biobgt.hubs.reliability.compare_halves`.
    """
    columns: dict[str, Any] = {"Measure": [about.title for about in HUB_MEASURES.values()]}
    if study.table is not None:
        known = study.table.reindex(list(HUB_MEASURES))
        for cohort in study.cohorts:
            shown = {cohort: "whole", f"{cohort} ICC": "icc", f"{cohort} hubs": "overlap"}
            columns |= {title: known[f"{name} {cohort}"].to_numpy() for title, name in shown.items()}
    if own is not None:
        found = own.set_index("measure").reindex(list(HUB_MEASURES))
        columns |= {"This subject": found["whole"].to_numpy(), "Its hubs": found["overlap"].to_numpy()}
    return pd.DataFrame(columns)


def reliability_caption(study: StudyReliability, *, own: bool) -> str:
    """Say what the columns of the table are, and on whom they were measured; ``own`` is the column of the subject."""
    columns = "Columns named after a cohort, and This subject" if own else "Columns named after a cohort"
    meaning = (
        f"{columns}: reliability, how closely the ranks of regions would agree "
        "with those of another recording of the same length "
        "(Spearman's ρ between the two halves, corrected for length by Spearman and Brown's formula); 1 is perfect. "
        "ICC: how well the value of a region tells people apart, by ICC(2,1) between the halves with the same "
        "correction, median over regions; below 0.4 is usually called poor, from 0.6 good (Cicchetti 1994). Hubs: the "
        f"share of the hubs (top {percent(DEFAULT_SHARE)} of regions) of one half that are hubs in the other; by "
        f"chance {percent(DEFAULT_SHARE)}."
    )
    return f"{meaning} {study.note}"


def own_reliability_sentence(subject: str, own: pd.DataFrame, *, simulated: bool) -> str:
    """Say what the halves of one subject's recording mean for its hubs.

    Parameters
    ----------
    subject : str
    own : DataFrame
        One row per measure: how far its values agree between the two halves.
    simulated : bool
        Whether the subject is.
    """
    found = own.set_index("measure")[["whole", "overlap"]].to_dict("index")
    said = ", ".join(f"{signed(found[measure]['whole'])} for {HUB_MEASURES[measure].short}" for measure in COMPARED)
    share = found[NE]["overlap"]
    again = "" if share != share else f" Of the hubs by NE in one half of it, {percent(share)} are hubs in the other."
    return (
        f"{whose(subject, simulated)}: the reliability of this recording is {said}.{again} What is not found again in "
        "the other half of the same recording is noise or a passing state, not a property of this person's brain."
    )
