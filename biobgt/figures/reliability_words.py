"""What the reliability of hub measures means, in words: sentences for the page of hubs and its table."""

from typing import Any

import pandas as pd

from biobgt.base.wording import percent, signed
from biobgt.figures.frame import whose
from biobgt.hubs.measures import COMPARED, HUB_MEASURES, NE
from biobgt.hubs.options import DEFAULT_SHARE
from biobgt.hubs.reliability import StudyReliability


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
