"""Works to cite, and terms explained: the entries of ``assets/references.bib`` and ``assets/glossary.toml``."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from biobgt.base.files import asset
from biobgt.base.options import Registry
from biobgt.base.wording import listed

# Works to cite: the entries of ``assets/references.bib`` by key, and how texts and lists of references name them.
#
# The file is read here because it is our own, one field per line; BibTeX at large (strings, crossrefs) is not.


_ENTRY = re.compile(r"^@(\w+)\{([^,\s]+),\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},?$", re.MULTILINE)
_ACCENTS = {'"': "\u0308", "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "u": "\u0306", "v": "\u030c"}
_ACCENTED = re.compile(r"""\\(["`'^~]|[uv](?=\{))\{?\\?([A-Za-z])\}?""")


@dataclass(frozen=True, eq=False)
class Reference:
    """A work to cite: its key, its BibTeX type, and its fields, of which every work has author and year."""

    key: str
    kind: str
    fields: Mapping[str, str]

    @property
    def short(self) -> str:
        """As a text names it: ``Latora and Marchiori 2001``."""
        families = [_without_codes(name.partition(", ")[0]) for name in self.fields["author"].split(" and ")]
        alone = len(families) < 3 and families[-1] != "others"
        return f"{' and '.join(families) if alone else f'{families[0]} et al.'} {self.fields['year']}"

    @property
    def in_full(self) -> str:
        """One line: of an article who, where and when, of other works their short form; and the DOI, if it has one."""
        about, (authors, year) = self.fields, self.short.rsplit(" ", 1)
        doi = f", doi:{about['doi']}" if "doi" in about else ""
        if self.kind != "article":
            return f"{self.short}{doi}"
        place = ":".join(filter(None, [about.get("volume", ""), about.get("pages", "").partition("--")[0]]))
        return f"{authors}, {' '.join(filter(None, [about['journal'], place]))} ({year}){doi}"

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


REFERENCES: Registry[Reference] = Registry(
    "work to cite",
    *(
        Reference(key, kind, dict(_FIELD.findall(body)))
        for kind, key, body in _ENTRY.findall(asset("references.bib").read_text(encoding="utf-8"))
    ),
)


@dataclass(frozen=True)
class Cited:
    """A bracket that names works, ``(AMI; Vinh et al. 2010)``, with the words before and behind them."""

    works: tuple[Reference, ...]
    before: str = ""
    behind: str = ""

    @property
    def text(self) -> str:
        """As words, with its brackets."""
        return f"({'; '.join(filter(None, [self.before, *(one.short for one in self.works), self.behind]))})"


# Sentences name works by their keys, ``[@latora2001]`` or ``[AMI; @vinh2010]``, as Pandoc's Markdown does.
_BRACKET = re.compile(r"\[(?P<before>[^][@]+; )?(?P<keys>@\w+(?:; @\w+)*)(?P<behind>; [^][@]+)?\]")


def in_brackets(keys: Iterable[str]) -> str:
    """Cite works behind what they are cited for, with a blank before; nothing where there is none."""
    named = "; ".join(f"@{key}" for key in keys)
    return f" [{named}]" if named else ""


def cut(sentence: str, works: Mapping[str, Reference] = REFERENCES) -> tuple[str | Cited, ...]:
    """Cut a sentence at its citations.

    Parameters
    ----------
    sentence : str
    works : mapping of str to Reference
        By their keys; a bracket with any other key stays text.
    """
    runs: list[str | Cited] = []
    done = 0
    for bracket in _BRACKET.finditer(sentence):
        keys = bracket["keys"].removeprefix("@").split("; @")
        if all(key in works for key in keys):
            before, behind = (bracket["before"] or "").removesuffix("; "), (bracket["behind"] or "").removeprefix("; ")
            runs += [sentence[done : bracket.start()], Cited(tuple(works[key] for key in keys), before, behind)]
            done = bracket.end()
    return tuple(run for run in (*runs, sentence[done:]) if run != "")


def cited(text: str) -> str:
    """Write a text with its citations in words: ``[@latora2001]`` becomes ``(Latora and Marchiori 2001)``."""
    return "".join(run if isinstance(run, str) else run.text for run in cut(text))


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


# The terms of this project, each explained once: in a few words, in a paragraph, and with the work to cite.
#
# They are those of ``assets/glossary.toml``, in the order of a dictionary: γ stands where "gamma" would. The
# documentation's glossary is made of them, too. A page that uses a term may show its ``short`` explanation beside it. A
# hub or module measure is defined in its own register; here it has its plain words.


@dataclass(frozen=True)
class _Term:
    """A term and what it means.

    Attributes
    ----------
    key : str
        For links: the anchor on the page of the documentation.
    term : str
        As texts write it.
    short : str
        One sentence, for a tooltip.
    definition : str
        What a reader needs to know beyond that, in a few sentences.
    citations : tuple of str
        Keys of works.
    """

    key: str
    term: str
    short: str
    definition: str
    citations: tuple[str, ...] = ()


GLOSSARY: Registry[_Term] = Registry(
    "term",
    *(
        _Term(key, about["term"], about["short"], about["definition"], tuple(about.get("citations", ())))
        for key, about in sorted(tomllib.loads(asset("glossary.toml").read_text(encoding="utf-8")).items())
    ),
)
