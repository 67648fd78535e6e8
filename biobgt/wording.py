"""Words for numbers and names in sentences."""

from collections.abc import Mapping, Sequence

# Covariates by their names in tables and on the command line, in words.
COVARIATES: Mapping[str, str] = {
    "mean_abs_fc": "overall connectivity",
    "mean_fd": "motion",
    "age": "age",
    "sex": "sex",
    "site": "site",
}


def counted(number: int, noun: str) -> str:
    """Say ``1 subject``, ``2 subjects``; the noun takes a plain s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def signed(value: float, decimals: int = 2) -> str:
    """Write a number with a true minus sign, and none before zero; ``not defined`` for NaN."""
    return "not defined" if value != value else f"{round(value, decimals) or 0.0:.{decimals}f}".replace("-", "−")


def listed(names: Sequence[str]) -> str:
    """Put names in a sentence: ``age``, ``age and sex``, ``motion, age and sex``."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
