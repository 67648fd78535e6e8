"""How reliable hubs are: whether the two halves of a recording agree, in one subject and in the cohorts of a study."""

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
from biobgt.hubs.measures import (
    COMPARED,
    DEFAULT_GAMMA,
    DEFAULT_PERTURBATION,
    DEFAULT_SHARE,
    HUB_MEASURES,
    NE,
    Perturbation,
)
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


def half_subjects(subject: Subject, settings: ConnectomeSettings | None = None) -> tuple[Subject, Subject]:
    """Split a subject's recording into its first and its second half; of an odd number of time points the last is left.

    Regions without signal in either half are silent in both, so that both have the same regions. ``settings`` are those
    of the graphs that are to be made of the halves.
    """
    if reason := why_not_split(subject, settings):
        raise InputError(reason)
    assert subject.series is not None
    middle = len(subject.series) // 2
    parts = [replace(subject, series=part) for part in (subject.series[:middle], subject.series[middle : 2 * middle])]
    silent = sorted({*parts[0].silent_regions, *parts[1].silent_regions})
    series = subject.series.copy()
    series[:, silent] = 0
    return replace(subject, series=series[:middle]), replace(subject, series=series[middle : 2 * middle])


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
    half = half_subjects(subject, settings)[number]
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

    def sentence(self, measure: str) -> str:
        """Say one measure's reliability, for the head of its column; nothing where none applies."""
        if self.table is None or measure not in self.table.index:
            return ""
        known = self.table.loc[[measure]].iloc[0].to_dict()
        said = [
            f"{cohort}: {signed(known[f'whole {cohort}'])} over regions, median ICC {signed(known[f'icc {cohort}'])}"
            for cohort in self.cohorts
        ]
        return f"Split-half reliability of a whole recording, {'; '.join(said)}."

    def rows(self, own: pd.DataFrame | None) -> pd.DataFrame:
        """One row per hub measure for the page: reliability in the cohorts and in this subject, as far as known.

        Parameters
        ----------
        own : DataFrame, optional
            Of :func:`biobgt.hubs.reliability.compare_halves`.
        """
        columns: dict[str, Any] = {"Measure": [about.title for about in HUB_MEASURES.values()]}
        if self.table is not None:
            known = self.table.reindex(list(HUB_MEASURES))
            for cohort in self.cohorts:
                shown = {cohort: "whole", f"{cohort} ICC": "icc", f"{cohort} hubs": "overlap"}
                columns |= {title: known[f"{name} {cohort}"].to_numpy() for title, name in shown.items()}
        if own is not None:
            found = own.set_index("measure").reindex(list(HUB_MEASURES))
            columns |= {"This subject": found["whole"].to_numpy(), "Its hubs": found["overlap"].to_numpy()}
        return pd.DataFrame(columns)

    def caption(self, *, own: bool) -> str:
        """Say what the columns of :meth:`rows` are, and on whom they were measured; ``own``: the subject has one."""
        columns = "Columns named after a cohort, and This subject" if own else "Columns named after a cohort"
        return (
            f"{columns}: reliability, how closely the ranks of regions would agree with those of another recording of "
            "the same length (Spearman's ρ between the two halves, corrected for length by Spearman and Brown's "
            "formula); 1 is perfect. ICC: how well the value of a region tells people apart, by ICC(2,1) between the "
            "halves with the same correction, median over regions; below 0.4 is usually called poor, from 0.6 good "
            f"(Cicchetti 1994). Hubs: the share of the hubs (top {percent(DEFAULT_SHARE)} of regions) of one half that "
            f"are hubs in the other; by chance {percent(DEFAULT_SHARE)}. {self.note}"
        )


@cache
def _reliability_table() -> pd.DataFrame:
    """The study's table: one row per cohort and measure; see ``docs/plausibility.md`` for its columns."""
    return pd.read_csv(asset("studies", "reliability.csv"))


@cache
def study_people() -> Mapping[str, int]:
    """How many people of each real cohort were measured, by its name."""
    people = _reliability_table().groupby("cohort", sort=False)["n_people"].max()
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
    differences = []
    if not kind.functional:
        differences.append("the study is of functional connectivity")
    if atlas.name != STUDY_ATLAS:
        differences.append(f"the study is on {STUDY_ATLAS_TITLE}, this subject on {atlas.title}")
    if settings != _STUDY_SETTINGS:
        differences.append(f"the study has {_STUDY_SETTINGS.describe()}")
    if differences:
        return StudyReliability(None, f"Reliability was not measured for graphs like these ({', '.join(differences)}).")
    return _reliability_at(gamma, perturbation)


@lru_cache(maxsize=32)
def _reliability_at(gamma: float, perturbation: str) -> StudyReliability:
    """The study, one row per measure and a column for each number and cohort; NE at this γ, where it was measured."""
    study = _reliability_table().rename(columns={"icc_whole_median": "icc", "overlap_within": "overlap"})
    parts = {str(cohort): part.set_index("measure") for cohort, part in study.groupby("cohort", sort=False)}
    columns = [(name, cohort) for cohort in parts for name in ("whole", "icc", "overlap")]
    table = pd.DataFrame({f"{name} {cohort}": parts[cohort][name] for name, cohort in columns})
    opening = f"{NE} γ="
    at_gamma, left_out = f"{opening}{gamma:g}", ""
    rows = [measure for measure in HUB_MEASURES if measure != NE and measure in table.index]
    if perturbation != "control":
        left_out = " NE was measured with the control graph only."
    elif at_gamma in table.index:
        rows.insert(0, at_gamma)
    else:
        known = sorted((name.removeprefix(opening) for name in table.index if name.startswith(opening)), key=float)
        left_out = f" NE was measured at γ = {', '.join(known)} only."
    people = {cohort: part["n_people"].reindex(rows).max() for cohort, part in parts.items()}
    measured = " and ".join(f"{n:.0f} {cohort} subjects" for cohort, n in people.items())
    note = (
        f"Measured on the two halves of the recordings of {measured} ({STUDY_ATLAS_TITLE}, "
        f"{_STUDY_SETTINGS.describe()}).{left_out}"
    )
    return StudyReliability(table.loc[rows].rename(index={at_gamma: NE}), note, tuple(parts))


def own_sentence(subject: str, own: pd.DataFrame, *, simulated: bool) -> str:
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
