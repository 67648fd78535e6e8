"""Words for numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """Say ``1 subject``, ``2 subjects``; the noun takes a plain s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def signed_number(value: float, decimals: int = 2) -> str:
    """Write a number with a true minus sign; ``not defined`` for NaN."""
    return "not defined" if value != value else f"{value:.{decimals}f}".replace("-", "−")
