"""Files of one hemisphere each: which one a file's name says, and how the other's file is called.

BIDS writes ``hemi-L``, the Human Connectome Project ``100307.L.func.gii``, FreeSurfer ``lh.name``.
"""

import re
from pathlib import Path
from typing import Literal

Side = Literal["L", "R"]

_MARK = re.compile(r"(?:(?<=hemi-)|(?<![A-Za-z0-9-]))(?:[LR]|[lr]h)(?![A-Za-z0-9])")
_OTHER = {"L": "R", "R": "L", "lh": "rh", "rh": "lh"}


def side_of(name: str) -> Side | None:
    """The hemisphere that a file's name gives; None where it gives none."""
    mark = _last_mark(name)
    if mark is None:
        return None
    return "L" if mark[0] in ("L", "lh") else "R"


def of_other_side(name: str) -> str | None:
    """How the file of the other hemisphere is called; None where the name gives no hemisphere.

    >>> of_other_side("sub-01_hemi-L_bold.func.gii"), of_other_side("rh.rest.func.gii"), of_other_side("rest.func.gii")
    ('sub-01_hemi-R_bold.func.gii', 'lh.rest.func.gii', None)
    """
    mark = _last_mark(name)
    return None if mark is None else name[: mark.start()] + _OTHER[mark[0]] + name[mark.end() :]


def without_side(name: str) -> str:
    """A name without the hemisphere in it, so that both hemispheres have the same.

    >>> without_side("sub-01_hemi-L_bold"), without_side("lh.rest"), without_side("100307.L")
    ('sub-01_bold', 'rest', '100307')
    """
    mark = _last_mark(name)
    if mark is None:
        return name
    before = name[: mark.start()].removesuffix("hemi-")
    after = name[mark.end() :]
    return before[:-1] + after if before else after[1:]


def file_of_other_side(path: Path, root: Path | None) -> Path | None:
    """The other hemisphere's file beside this one; None where there is none, or a link leads out of ``root``."""
    name = of_other_side(path.name)
    if name is None or not (other := path.with_name(name)).is_file():
        return None
    if other.is_symlink() and not other.resolve().is_relative_to((root or path.parent).resolve()):
        return None
    return other


def _last_mark(name: str) -> re.Match[str] | None:
    return next(reversed([*_MARK.finditer(name)]), None)
