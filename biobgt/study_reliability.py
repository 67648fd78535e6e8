"""How reliable hub measures are in real cohorts, to be shown beside a user's own subject where that applies.

The study (``assets/studies/reliability.py``) measured both halves of every recording on one atlas and one kind of
graph. For any other it says nothing, and nothing is shown.
"""

from dataclasses import dataclass
from functools import cache

import pandas as pd

from biobgt.assets import asset
from biobgt.atlas import Atlas
from biobgt.graph import ConnectomeSettings
from biobgt.hubs import HUB_METRICS

STUDY_ATLAS, STUDY_ATLAS_TITLE = "cc200", "CC200"
STUDY_SETTINGS = ConnectomeSettings()
NE = "node_entanglement"


@dataclass(frozen=True, eq=False)
class StudyReliability:
    """The reliability of hub measures in the cohorts of the study that fits a subject's graph, or why none does.

    Attributes
    ----------
    table : DataFrame or None
        One row per measure of :data:`biobgt.hubs.HUB_METRICS`, ``measure`` its index, and for each cohort the columns
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


def study_reliability(
    settings: ConnectomeSettings, atlas: Atlas, *, gamma: float = 0.5, perturbation: str = "control"
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
    """
    if differences := _differences(settings, atlas):
        return StudyReliability(None, f"Reliability was not measured for graphs like these ({', '.join(differences)}).")
    study = reliability_table()
    rows, left_out = _rows_at(study, gamma, perturbation)
    cohorts = list(dict.fromkeys(study["cohort"]))
    columns = {"whole": "whole", "icc_whole_median": "icc", "overlap_within": "overlap"}
    parts = [
        rows[rows["cohort"] == cohort]
        .set_index("measure")[list(columns)]
        .rename(columns={column: f"{name} {cohort}" for column, name in columns.items()})
        for cohort in cohorts
    ]
    people = rows.groupby("cohort")["n_people"].max()
    measured = " and ".join(f"{people[cohort]:.0f} {cohort} subjects" for cohort in cohorts)
    note = (
        f"Measured on the two halves of the recordings of {measured} ({STUDY_ATLAS_TITLE}, "
        f"{STUDY_SETTINGS.describe()}).{left_out}"
    )
    return StudyReliability(pd.concat(parts, axis=1), note, tuple(cohorts))


def _differences(settings: ConnectomeSettings, atlas: Atlas) -> list[str]:
    found = []
    if atlas.name != STUDY_ATLAS:
        found.append(f"the study is on {STUDY_ATLAS_TITLE}, this subject on {atlas.title}")
    if settings != STUDY_SETTINGS:
        found.append(f"the study has {STUDY_SETTINGS.describe()}")
    return found


def _rows_at(study: pd.DataFrame, gamma: float, perturbation: str) -> tuple[pd.DataFrame, str]:
    """The rows of hub measures with NE at this γ, and what is said where NE was not measured there."""
    at_gamma = f"{NE} γ={gamma:g}"
    others = study[study["measure"].isin(set(HUB_METRICS) - {NE})]
    own = study[study["measure"] == at_gamma].assign(measure=NE)
    if perturbation != "control":
        return others, " NE was measured with the control graph only."
    if own.empty:
        known = study["measure"].str.extract(rf"{NE} γ=(.*)")[0].dropna().unique()
        return others, f" NE was measured at γ = {', '.join(known)} only."
    return pd.concat([own, others]), ""
