"""The terms of this project, each explained once: in a few words, in a paragraph, and with the work to cite.

They are those of ``assets/glossary.toml``, of which the documentation's glossary is made, too. A page that uses a term
may show its ``short`` explanation beside it. A hub or module measure is defined in its own register; here it has its
plain words.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from biobgt.assets import asset
from biobgt.references import Citation
from biobgt.registry import Registry


@dataclass(frozen=True)
class Term:
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
    citations : tuple of Citation
    """

    key: str
    term: str
    short: str
    definition: str
    citations: tuple[Citation, ...] = ()


def _bundled() -> Iterator[Term]:
    for key, about in tomllib.loads(asset("glossary.toml").read_text(encoding="utf-8")).items():
        yield Term(key, about["term"], about["short"], about["definition"], tuple(about.get("citations", ())))


GLOSSARY: Registry[Term] = Registry("term", *_bundled())


def sorted_terms() -> list[Term]:
    """All terms in the order of a dictionary; γ stands where "gamma" would."""
    return sorted(GLOSSARY.values(), key=lambda one: one.key)
