"""A work to cite: how a text names it, and its BibTeX entry."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from biobgt.wording import listed

_ACCENTS = {'"': "\u0308", "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "u": "\u0306"}
_ACCENTED = re.compile(r"""\\(["`'^~]|u(?=\{))\{?\\?([A-Za-z])\}?""")


@dataclass(frozen=True, eq=False)
class Reference:
    """A work to cite: its key, how the text names it, its BibTeX type, and its fields."""

    key: str
    short: str
    kind: str
    fields: Mapping[str, str]

    @property
    def in_full(self) -> str:
        """One line: of an article who, where and when, of other works their short form; and the DOI, if it has one."""
        about, (authors, year) = self.fields, self.short.rsplit(" ", 1)
        doi = f", doi:{about['doi']}" if "doi" in about else ""
        if self.kind != "article":
            return f"{self.short}{doi}"
        page = about["pages"].partition("--")[0]
        return f"{authors}, {about['journal']} {about['volume']}:{page} ({year}){doi}"

    @property
    def entry(self) -> str:
        """As a list of references has it: who, when, what, where and the DOI or address, without BibTeX's codes."""
        about = {name: _without_codes(value) for name, value in self.fields.items()}
        names = [_initialled(name) for name in self.fields["author"].split(" and ")]
        authors = f"{', '.join(names[:-1])} et al." if names[-1] == "others" else listed(names)
        where = about.get("journal", about.get("booktitle", about.get("howpublished", "")))
        volume = " ".join(filter(None, [where, about.get("volume", "")]))
        place = ":".join(filter(None, [volume, about.get("pages", "")]))
        found = f"https://doi.org/{about['doi']}" if "doi" in about else about.get("url", "")
        parts = [f"{authors} ({about['year']})", about.get("title", ""), place, about.get("note", ""), found]
        return ". ".join(part for part in parts if part) + ("" if found else ".")

    def bibtex(self) -> str:
        """Write it as BibTeX."""
        lines = [f"  {name} = {{{value}}}" for name, value in self.fields.items()]
        return f"@{self.kind}{{{self.key},\n" + ",\n".join(lines) + "\n}\n"


def article(
    key: str, short: str, author: str, title: str, journal: str, volume: str, pages: str, doi: str
) -> Reference:
    """An article; the year ends its short form.

    Parameters
    ----------
    key, short : str
    author, title, journal, volume, pages, doi : str
        As in BibTeX; an article of a journal without DOIs has an empty one.
    """
    year = short.rsplit(" ", 1)[1]
    values = {"author": author, "title": title, "journal": journal, "volume": volume, "pages": pages, "year": year}
    return Reference(key, short, "article", values | ({"doi": doi} if doi else {}))


def _without_codes(field: str) -> str:
    r"""Write a field of BibTeX as plain text: ``L{\"u}`` as ``Lü``, ``1--9`` as ``1–9``."""
    letters = _ACCENTED.sub(lambda found: unicodedata.normalize("NFC", found[2] + _ACCENTS[found[1]]), field)
    return letters.replace(r"\&", "&").replace("--", "–").replace("{", "").replace("}", "")


def _initialled(name: str) -> str:
    """A name with its first names as initials; ``others`` is ``others``, and a name in braces stays."""
    family, comma, first = name.partition(", ")
    if not comma:
        return _without_codes(name)
    initials = re.sub(r"(\w)\w*\.?", r"\1.", _without_codes(first))
    return f"{_without_codes(family)}, {initials}"
