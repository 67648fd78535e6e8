"""What the reliability of hub measures means, in words: sentences for the page of hubs and its table."""

import pandas as pd

from biobgt.figures.frame import whose
from biobgt.figures.hubs import SHORT_NAMES
from biobgt.hubs import HUB_METRICS
from biobgt.study_reliability import StudyReliability
from biobgt.wording import signed

NE = "node_entanglement"


def measure_reliability(measure: str, study: StudyReliability) -> str:
    """Say one measure's reliability in the study, for the head of its column; nothing where none applies."""
    if study.table is None or measure not in study.table.index:
        return ""
    known = study.table.to_dict("index")[measure]
    said = []
    for cohort in study.cohorts:
        whole, icc = signed(known[f"whole {cohort}"]), signed(known[f"icc {cohort}"])
        said.append(f"{cohort}: {whole} over regions, median ICC {icc}")
    return f"Split-half reliability of a whole recording, {'; '.join(said)}."


def reliability_rows(study: StudyReliability, own: pd.DataFrame | None) -> pd.DataFrame:
    """One row per hub measure for the page: reliability in the study's cohorts and in this subject, as far as known.

    Parameters
    ----------
    study : StudyReliability
    own : DataFrame, optional
        Of :func:`biobgt.hubs.split_half.compare_halves`.
    """
    table = pd.DataFrame(index=pd.Index(HUB_METRICS, name="measure"))
    if study.table is not None:
        for cohort in study.cohorts:
            table[cohort] = study.table[f"whole {cohort}"]
            table[f"{cohort} ICC"] = study.table[f"icc {cohort}"]
            table[f"{cohort} hubs"] = study.table[f"overlap {cohort}"]
    if own is not None:
        found = own.set_index("measure")
        table["This subject"] = found["whole"]
        table["Its hubs"] = found["overlap"]
    table.insert(0, "Measure", [HUB_METRICS[measure] for measure in table.index])
    return table.reset_index(drop=True)


def reliability_caption(study: StudyReliability) -> str:
    """Say what the columns of the table are, and on whom they were measured."""
    meaning = (
        "Under the name of a cohort and under this subject: reliability, how closely the ranks of regions would agree "
        "with those of another recording as long as this one "
        "(Spearman's ρ between the two halves, corrected for length by Spearman and Brown's formula); 1 is perfect. "
        "ICC: how well the value of a region tells people apart, by ICC(2,1) between the halves with the same "
        "correction, median over regions; below 0.4 is usually called poor, from 0.6 good (Cicchetti 1994). Hubs: "
        "the share of the hubs (top 10% of regions) of one half that are hubs in the other; by chance 10%."
    )
    return f"{meaning} {study.note}"


def own_reliability_sentence(subject: str, own: pd.DataFrame, *, simulated: bool) -> str:
    """Say what the halves of one subject's recording mean for its hubs."""
    found = own.set_index("measure")[["whole", "overlap"]].to_dict("index")
    said = ", ".join(f"{signed(found[measure]['whole'])} for {name}" for measure, name in SHORT_NAMES.items())
    share = found[NE]["overlap"]
    again = "" if share != share else f" Of the hubs by NE in one half of it, {share:.0%} are hubs in the other."
    return (
        f"{whose(subject, simulated)}: the reliability of this recording is {said}.{again} What does not come back "
        "in the other half of the same recording is noise or passing state, and says nothing about this person's brain."
    )
