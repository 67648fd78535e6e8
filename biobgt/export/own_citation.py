"""How this software is cited: what ``CITATION.cff`` says, so that an address stands in methods once it stands there."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from biobgt.assets import asset
from biobgt.export.cited_text import ToComplete
from biobgt.references import Citation, Reference

CITATION_FILE = "CITATION.cff"
_ADDRESSES = ("doi", "repository-code", "url")  # in order of preference


def software_sentences(versions: Mapping[str, str]) -> tuple[Sequence[str | ToComplete], Sequence[Citation]]:
    """Say with what numbers and figures were made, and what to cite for it.

    Parameters
    ----------
    versions : mapping of str to str
        Of programs, by their names.
    """
    own, about = own_work(), _about()
    others = ", ".join(f"{name} {number}" for name, number in versions.items() if name not in ("biobgt", "python"))
    found = next((str(about[name]) for name in _ADDRESSES if name in about), "")
    made = (
        f"Numbers and figures were made with {about['title']}, version {versions['biobgt']} ({own.short}; Peng et al. "
        f"2025){f', available at {found}' if found else ''}, on Python {versions['python']} with {others}."
    )
    missing = ToComplete(f"where readers can obtain {about['title']}; {CITATION_FILE} names no address")
    drawn = "Figures were drawn with matplotlib (Hunter 2007)."
    return [made, drawn, *([] if found else [missing])], [own, "peng2025", "hunter2007"]


def own_work() -> Reference:
    """BioBGT Explorer as a work to cite, with its version, its year and, where it has one, its address."""
    about = _about()
    author, year = " and ".join(one["name"] for one in about["authors"]), str(about["date-released"])[:4]
    fields = {
        "author": f"{{{author}}}",
        "title": f"{{{about['title']}}}",
        "year": year,
        "note": f"Computer software, version {about['version']}",
    }
    for name, field in (("doi", "doi"), ("url", "url"), ("repository-code", "url")):
        if name in about:
            fields[field] = str(about[name])
    return Reference("biobgt", "misc", fields)


@cache
def _about() -> Mapping[str, Any]:
    import yaml  # methods alone need it

    installed = asset(CITATION_FILE)
    path: Path = installed if installed.is_file() else asset().parent / CITATION_FILE
    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document
