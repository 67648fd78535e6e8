"""Words for numbers, names and covariates in sentences, and words of unknown origin in Markdown."""

import re
from collections.abc import Mapping, Sequence

TRAINED_ON = "the model was trained on this scan, so its prediction for it is not evidence"
KNOWN_ID = "a subject of this id was in the training data; if it is the same person, its prediction is not evidence"
NOT_A_DIAGNOSIS = "Research use only, not a diagnostic device."

# What begins emphasis, code, a tag, an entity or a link; a plain "<", "_" or "[" within a sentence is none of them.
_MARKUP = re.compile(r"[\\`*~]|<(?=[a-zA-Z/!?])|&(?=[#\w]+;)|(?<![^\W_])_|_(?![^\W_])|(?<=\])[(\[:]|(?<=!)\[")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def without_controls(text: str) -> str:
    r"""Text without control characters: no font has a letter for them; what parts words becomes a space.

    >>> without_controls("sub-01\x07\tleft")
    'sub-01 left'
    """
    return text if text.isprintable() else _CONTROLS.sub("", re.sub(r"[\t-\r]", " ", text))


def is_trained_on(warning: str) -> bool:
    """Whether a prediction's warning says that the model was trained on the scan, or on a subject of its id."""
    return TRAINED_ON in warning or KNOWN_ID in warning


def counted(number: int, noun: str) -> str:
    """Say ``1 subject``, ``2 subjects``; the noun takes a plain s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def capitalised(text: str) -> str:
    """A sentence's beginning: the first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def power_of_ten(exponent: int) -> str:
    """A power of ten, for the ticks of logarithmic scales: 0.01, 1000, 1e-8."""
    return f"{10.0**exponent:g}" if -3 < exponent < 5 else f"1e{exponent}"


def signed(value: float, decimals: int = 2) -> str:
    """Write a number with a true minus sign, and none before zero; ``not defined`` for NaN."""
    return "not defined" if value != value else f"{round(value, decimals) or 0.0:.{decimals}f}".replace("-", "−")


def percent(share: float, decimals: int = 0) -> str:
    """Write a share in percent for a sentence, with the space that units have.

    >>> percent(0.05), percent(1 / 3, 1)
    ('5 %', '33.3 %')
    """
    return f"{share:.{decimals}%}".replace("%", " %")


def listed(names: Sequence[str], last: str = "and") -> str:
    """Put names in a sentence: ``age``, ``age and sex``, ``motion, age and sex``; the last joined by another word."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def escape_markdown(text: str) -> str:
    r"""Escape what Markdown would take for markup, and nothing else, on one line.

    >>> print(escape_markdown("sub_01 <b>, p < 0.05, [0.1, 0.3], *a*"))
    sub_01 \<b>, p < 0.05, [0.1, 0.3], \*a\*
    """
    return _MARKUP.sub(lambda found: f"\\{found[0]}", " ".join(text.split()))


def whose(subject: str, simulated: bool) -> str:
    """Name a subject in a caption, and say when it is simulated."""
    return f"Simulated subject {subject}" if simulated else f"Subject {subject}"


# Covariates in words: what each is called in sentences, and what is said where they are not known.


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


_IN_A_MODEL = {
    "log_mean_fd": "motion (log mean FD)",
    "mean_fd": "motion (mean FD)",
    "overall_connectivity": "overall connectivity",
}


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


def adjusted_for(covariates: str | Sequence[str]) -> str:
    """Say what was adjusted for, from the names of covariates, or from these with commas between them.

    >>> adjusted_for("log_mean_fd, age, sex"), adjusted_for("")
    ('adjusted for motion (log mean FD), age and sex', 'adjusted for no covariate')
    >>> adjusted_for(["age", "IQ, full scale"])
    'adjusted for age and IQ, full scale'
    """
    parts = covariates.split(",") if isinstance(covariates, str) else covariates
    names = [covariate_words(name.strip()) for name in parts if name.strip()]
    return f"adjusted for {listed(names)}" if names else "adjusted for no covariate"
