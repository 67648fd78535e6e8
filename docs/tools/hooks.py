"""What MkDocs calls while it builds the site: made tables, the gallery's page and pictures, and equations."""

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from biobgt.base.references import cited
from docs.tools.equations import with_mathml
from docs.tools.gallery import PAGE, PICTURES
from docs.tools.tables import expanded

GALLERY = Path("build/gallery")
ICON = Path("app/icon.svg")
# Docstrings name functions as Sphinx has it; here they are plain code.
_ROLE = re.compile(r":(?:func|class|meth|mod|data|attr|exc):<code>~?(?:[\w.]*\.)?(\w+)</code>")
# The type "ndarray, shape (n,)" of a docstring is read as Python, and written as the tuple that it would be.
_SHAPE = re.compile(r'<code>\((.+?), <span title="shape">shape</span>\((.+?)\)\)</code>')
_TAG = re.compile(r"<[^>]+>")
# GitHub wants bars in code of a table escaped; Python's Markdown then shows the backslash.
_BAR = re.compile(r"<code>[^<]*\\\|[^<]*</code>")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the app's icon, and the gallery, which ``python -m docs.tools.gallery build/gallery`` has drawn."""
    files.append(File.generated(config, f"img/{ICON.name}", abs_src_path=str(ICON.resolve())))
    if not (GALLERY / PAGE).is_file():
        raise PluginError("The gallery is not drawn yet: make docs, or python -m docs.tools.gallery build/gallery.")
    pictures = sorted((GALLERY / PICTURES).glob("*.png"))
    for path in [GALLERY / PAGE, *pictures]:
        name = path.relative_to(GALLERY).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path.resolve())))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Make the tables that a page asks for, and write its citations out."""
    return cited(expanded(markdown))


def on_page_content(html: str, **_: Any) -> str:
    """Write equations as MathML, and code as it is meant."""
    html = _BAR.sub(lambda found: found[0].replace("\\|", "|"), with_mathml(html))
    return _SHAPE.sub(_shape, _ROLE.sub(r"<code>\1</code>", html))


def _shape(found: re.Match[str]) -> str:
    kind, axes = (_TAG.sub("", part) for part in found.groups())
    return f"<code>{kind}, shape ({axes if ',' in axes else axes + ','})</code>"
