"""Fonts that journals ask for, as far as they are installed."""

from functools import cache

from matplotlib.font_manager import FontProperties, findfont

from biobgt.figures.paper.style import BUNDLED_FONT, FALLBACK_FONT

_USUAL = ("Arial", "Helvetica", "Times New Roman", "Liberation Serif", "DejaVu Serif")


@cache
def installed_fonts() -> tuple[str, ...]:
    """The usual fonts of journals that this machine has; the two that come with the project are always first."""
    return (FALLBACK_FONT, BUNDLED_FONT, *(font for font in _USUAL if _is_installed(font)))


def _is_installed(font: str) -> bool:
    try:
        findfont(FontProperties(family=font), fallback_to_default=False)
    except ValueError:
        return False
    return True
