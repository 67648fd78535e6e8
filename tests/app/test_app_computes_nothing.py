"""The app asks the library, shows, and hands over: no library that computes is imported in it.

import-linter cannot say this, as the folders of the app are no packages.
"""

import ast
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "app"
COMPUTING = {"bct", "dask", "networkx", "nilearn", "numpy", "scipy", "sklearn", "torch", "torch_geometric"}


def imported_libraries(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("path", sorted(APP.rglob("*.py")), ids=lambda path: path.relative_to(APP).as_posix())
def test_the_app_computes_nothing(path: Path) -> None:
    assert not imported_libraries(path.read_text(encoding="utf-8")) & COMPUTING


def test_imports_are_seen_wherever_they_stand() -> None:
    source = "import os, numpy.linalg as la\ndef f():\n    from scipy.stats import rankdata\n"
    assert imported_libraries(source) == {"os", "numpy", "scipy"}
