"""Examples in docstrings do what they show."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import biobgt

PACKAGE = Path(biobgt.__file__).parent
PATHS = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
MODULES = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PATHS]


@pytest.mark.parametrize("module", MODULES)
def test_examples_do_what_they_show(module: str) -> None:
    done = doctest.testmod(import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.attempted > 0
    assert done.failed == 0, "what each example gave instead is printed above"
