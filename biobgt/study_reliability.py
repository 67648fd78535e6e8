"""How reliable hub measures are in real cohorts, to be shown beside a user's own subject where that applies.

The study (``assets/studies/reliability.py``) measured both halves of every recording on one atlas and one kind of
graph. For any other it says nothing, and nothing is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import pandas as pd

from biobgt.assets import asset
from biobgt.atlas import Atlas
from biobgt.graph import ESTIMATED, KINDS, ConnectivityKind, ConnectomeSettings
from biobgt.hubs.hub_options import DEFAULT_GAMMA
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.hubs.perturbation import DEFAULT_PERTURBATION

STUDY_ATLAS, STUDY_ATLAS_TITLE = "cc200", "CC200"
ABIDE, CNI_2019 = "ABIDE", "CNI-2019"  # the cohorts of the study
STUDY_SETTINGS = ConnectomeSettings()


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
        f"{STUDY_SETTINGS.describe()}).{left_out}"
    )
    return StudyReliability(rows.drop(columns=[f"n_people {cohort}" for cohort in cohorts]), note, cohorts)


def _differences(settings: ConnectomeSettings, atlas: Atlas, kind: ConnectivityKind) -> list[str]:
    found = []
    if not kind.functional:
        found.append("the study is of functional connectivity")
    if atlas.name != STUDY_ATLAS:
        found.append(f"the study is on {STUDY_ATLAS_TITLE}, this subject on {atlas.title}")
    if settings != STUDY_SETTINGS:
        found.append(f"the study has {STUDY_SETTINGS.describe()}")
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
