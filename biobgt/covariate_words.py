"""Covariates in words: what each is called in sentences, and what is said where they are not known."""

from collections.abc import Mapping, Sequence

from biobgt.wording import listed

# Covariates by their names in tables and on the command line, in words.
COVARIATES: Mapping[str, str] = {
    "mean_abs_fc": "overall connectivity",
    "log_mean_fd": "motion",
    "age": "age",
    "sex": "sex",
    "site": "site",
}
USUAL_COVARIATES = tuple(COVARIATES)[1:]  # known of people and recordings; the first is made of connectivity itself
ANY_USUAL_COVARIATE = listed([COVARIATES[name] for name in USUAL_COVARIATES], "or")
UNADJUSTED_DIFFERENCE = f"A difference may be one of {ANY_USUAL_COVARIATE}."


_IN_A_MODEL = {"log_mean_fd": "motion (log mean FD)", "mean_fd": "motion (mean FD)"}


def covariate_words(name: str) -> str:
    """A covariate as it enters a linear model, in words.

    >>> covariate_words("log_mean_fd"), covariate_words("iq")
    ('motion (log mean FD)', 'iq')
    """
    return _IN_A_MODEL.get(name) or COVARIATES.get(name, name)


def not_ruled_out(absent: Sequence[str]) -> str:
    """Say which usual covariates are not known of the subjects; empty where all are."""
    if not absent:
        return ""
    return f"Not known for these subjects, so not ruled out: {listed([COVARIATES[name] for name in absent])}."
