"""Where the bundled tables lie: ``assets/`` of a clone, ``biobgt/assets`` of an installed wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def asset(*parts: str) -> Path:
    """Return the path of a bundled file, for example ``asset("atlases", "cc200.csv")``."""
    installed = _PACKAGE / "assets"
    root = installed if installed.is_dir() else _PACKAGE.parent / "assets"
    return root.joinpath(*parts)
