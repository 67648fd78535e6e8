"""Words for numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """Say ``1 subject``, ``2 subjects``; the noun takes a plain s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
