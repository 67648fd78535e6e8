"""Covariates in words: what each is called in sentences, and what is said where they are not known."""

from collections.abc import Mapping, Sequence

from biobgt.wording import listed

# Covariates by their names in tables and on the command line, in words.
COVARIATES: Mapping[str, str] = {
    "mean_abs_fc": "overall connectivity",
    "mean_fd": "motion",
    "age": "age",
    "sex": "sex",
    "site": "site",
}
USUAL_COVARIATES = tuple(COVARIATES)[1:]  # known of people and recordings; the first is made of connectivity itself
ANY_USUAL_COVARIATE = listed([COVARIATES[name] for name in USUAL_COVARIATES], "or")
UNADJUSTED_DIFFERENCE = f"A difference may be one of {ANY_USUAL_COVARIATE}."


def not_ruled_out(absent: Sequence[str]) -> str:
    """Say which usual covariates are not known of the subjects; empty where all are."""
    if not absent:
        return ""
    return f"Not known for these subjects, so not ruled out: {listed([COVARIATES[name] for name in absent])}."
