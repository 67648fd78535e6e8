"""Sentences with their citations: a text is cut where it names works, so that every writer can set them its own way.

Figures name works in brackets by their short forms, ``(Latora and Marchiori 2001)``. Where a bracket ends with works,
it becomes a :class:`Cited`; what stands before them in the bracket stays with it, ``(AMI; Vinh et al. 2010)``.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from biobgt.references import Reference

_BRACKET = re.compile(r"\(([^()]+)\)")


@dataclass(frozen=True)
class Cited:
    """A bracket that names works, and what stands in it before them."""

    works: tuple[Reference, ...]
    before: str = ""

    @property
    def text(self) -> str:
        """As words, with its brackets."""
        return f"({'; '.join([*filter(None, [self.before]), *(one.short for one in self.works)])})"


@dataclass(frozen=True)
class ToComplete:
    """What only the authors know: a place that every writer marks."""

    what: str

    @property
    def text(self) -> str:
        """As words, with its brackets."""
        return f"[To complete: {self.what}]"


Run = str | Cited | ToComplete
Sentence = tuple[Run, ...]


def cut(sentence: str, works: Mapping[str, Reference]) -> Sentence:
    """Cut a sentence at the works it names.

    Parameters
    ----------
    sentence : str
    works : mapping of str to Reference
        By their short forms; other brackets stay text.
    """
    runs: list[Run] = []
    done = 0
    for bracket in _BRACKET.finditer(sentence):
        parts = bracket[1].split("; ")
        first = len(parts)
        while first and parts[first - 1] in works:
            first -= 1
        if first == len(parts):
            continue
        runs.append(sentence[done : bracket.start()])
        runs.append(Cited(tuple(works[part] for part in parts[first:]), "; ".join(parts[:first])))
        done = bracket.end()
    return tuple(run for run in (*runs, sentence[done:]) if run != "")


def cited_works(sentences: Iterable[Sentence]) -> dict[str, Reference]:
    """The works that sentences name, by key, in the order of the keys."""
    found = {one.key: one for runs in sentences for run in runs if isinstance(run, Cited) for one in run.works}
    return {key: found[key] for key in sorted(found)}
