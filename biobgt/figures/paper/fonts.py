"""Fonts of figures for the paper: those that come with the project, and those that journals ask for."""

from functools import cache

from matplotlib.font_manager import FontProperties, findfont, fontManager

from biobgt.base.files import asset
from biobgt.figures.paper_style import BUNDLED_FONT, FALLBACK_FONT

_USUAL = ("Arial", "Helvetica", "Times New Roman", "Liberation Serif", "DejaVu Serif")

for _file in sorted(asset("fonts").glob("*.ttf")):
    fontManager.addfont(_file)


@cache
def installed_fonts() -> tuple[str, ...]:
    """The usual fonts of journals that this machine has; the two that come with the project are always first."""
    return (BUNDLED_FONT, FALLBACK_FONT, *(font for font in _USUAL if is_installed(font)))


def is_installed(font: str) -> bool:
    """Whether matplotlib finds a font by its name."""
    try:
        findfont(FontProperties(family=font), fallback_to_default=False)
    except ValueError:
        return False
    return True
