"""A module's name says what it is of, also in a traceback or a tab that shows no folder."""

from collections import Counter
from pathlib import Path

import biobgt

PACKAGE = Path(biobgt.__file__).parent


def test_no_two_modules_have_one_name() -> None:
    paths = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    names = Counter(path.name for path in paths)
    twice = [name for name, n in names.items() if n > 1]
    assert not twice, f"Name {twice} after what each of them does."
