"""The rooms of the app: every page is in the map, and what a session holds knows nothing of pages."""

import ast
from pathlib import Path

from views.page_map import PAGES

APP = Path(__file__).resolve().parents[2] / "app"


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports, wherever in it."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {module.partition(".")[0] for module in modules}


def test_every_page_is_in_the_map_and_every_entry_has_its_page() -> None:
    found = [*APP.glob("views/*/page.py"), *APP.glob("views/*.py")]
    pages = {path.relative_to(APP).as_posix() for path in found} - {"views/__init__.py", "views/page_map.py"}
    assert pages == {entry.script for entry in PAGES.values()}
    assert list(PAGES) == [entry.name for entry in PAGES.values()]


def test_a_session_knows_nothing_of_pages() -> None:
    files = sorted(APP.glob("session/**/*.py"))
    assert len(files) > 5
    assert [path.name for path in files if "views" in imported(path)] == []
