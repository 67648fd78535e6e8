"""Words for numbers and lists in sentences."""

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Say ``1 subject``, ``2 subjects``; the noun takes a plain s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def signed(value: float) -> str:
    """Two decimals, without a minus before zero."""
    return f"{round(value, 2) or 0.0:.2f}".replace("-", "−")


def listed(names: Sequence[str]) -> str:
    """Say ``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
