"""Results kept by their names: what under :func:`kept` is computed once, the keys, and a store in memory.

:mod:`biobgt.results.measured` measures them; :mod:`biobgt.results.store` keeps them in a folder.
"""

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, signature
from threading import Lock
from typing import Any, Protocol, TypeVar, cast

from biobgt.base.options import Options

Method = TypeVar("Method", bound=Callable[..., Any])
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Key:
    """What a result is called and what it depends on, and nothing else.

    Attributes
    ----------
    name : str
        That of the function which measures it.
    about : hashable
        Everything that it depends on: whose it is, settings, options, numbers.
    doing : str
        What a user who waits for it reads; empty where nobody does.
    most : int
        How many results of this name a session keeps; the oldest go first.
    """

    name: str
    about: Hashable = ()
    doing: str = field(default="", compare=False)
    most: int = field(default=64, compare=False)


def kept(
    doing: str = "",
    *,
    most: int = 64,
    subject: bool = True,
    graph: bool = True,
    by: Callable[..., Hashable] | None = None,
) -> Callable[[Method], Method]:
    """Let a method of :class:`biobgt.results.measured.Measured`, or a function of one, answer the same question once.

    The arguments are part of the result's key, defaults included. Options count as those that the annotation names,
    whatever more the caller's have; the method gets no others.

    Parameters
    ----------
    doing : str
        What a user who waits for the result reads; only such results are worth a file beside the session's memory.
    most : int
        How many a session keeps; the oldest go first.
    subject, graph : bool
        Whether the result depends on the subject, and on the settings of its graph.
    by : callable, optional
        Gets what the method gets and says what the result depends on, where that is not simply the arguments.
    """

    def decorate(method: Method) -> Method:
        whole = signature(method)
        named = list(whole.parameters.values())[1:]
        names = [one.name for one in named]
        places = [one.name for one in named if one.kind is not Parameter.KEYWORD_ONLY]
        defaults = {one.name: one.default for one in named if one.default is not Parameter.empty}
        narrowed = [
            (one.name, one.annotation)
            for one in named
            if isinstance(one.annotation, type) and issubclass(one.annotation, Options)
        ]

        def bind(*args: Any, **arguments: Any) -> dict[str, Any]:
            """All arguments by name; inspect's way of it takes six times as long, and pages ask very often."""
            found = {**defaults, **dict(zip(places, args, strict=False)), **arguments}
            if len(args) > len(places) or len(found) != len(names):
                whole.bind(None, *args, **arguments)  # which says what is wrong
            for name, kind in narrowed:
                if type(found[name]) is not kind:
                    found[name] = found[name].part(kind)
            return found

        def key(measured: Any, asked: dict[str, Any]) -> Key:
            whose, settings = measured.subject.id if subject else "", measured.settings if graph else None
            depends = tuple(asked[name] for name in names) if by is None else by(measured, **asked)
            return Key(method.__name__, (whose, settings, depends), doing, most)

        @wraps(method)
        def answer(measured: Any, *args: Any, **arguments: Any) -> Any:
            asked = bind(*args, **arguments)
            return measured.keep(key(measured, asked), lambda: method(measured, **asked))

        answer.key = lambda measured, *args, **arguments: key(measured, bind(*args, **arguments))  # type: ignore[attr-defined]
        return cast("Method", answer)

    return decorate


class Store(Protocol):
    """Where results are kept; ``trouble`` says why they no longer are, such as a full disk."""

    trouble: str

    def get(self, key: Key) -> Any | None:
        """A result, or None where it is not kept."""

    def put(self, key: Key, result: Any) -> None:
        """Keep a result."""


def warn_not_kept(why: str) -> None:
    """Say once for a job that it goes on without keeping results, and why."""
    _log.warning("Measured results are no longer kept: %s.", why)


class MemoryStore:
    """Results in memory, a number of each name; the oldest makes room for the newest.

    Attributes
    ----------
    beneath : Store or None
        Where those that somebody waited for are kept as well, such as a folder; nobody else writes to it.
    """

    trouble = ""

    def __init__(self) -> None:
        self.beneath: Store | None = None
        self._kept: dict[str, dict[Key, Any]] = {}
        self._not_beneath: set[Key] = set()
        self._changing = Lock()  # sessions share the stores of demo cohorts and of models

    def get(self, key: Key) -> Any | None:
        """A result, or None where it is not kept; in one step, because another session may drop it meanwhile."""
        found = self._kept.get(key.name, {}).get(key)
        if found is None and self.beneath is not None and key.doing and key not in self._not_beneath:
            found = self.beneath.get(key)
            if found is None:
                self._not_beneath.add(key)  # asked for in every run of a page, for every subject
            else:
                self._put(key, found)
        return found

    def put(self, key: Key, result: Any) -> None:
        """Keep a result in place of the oldest of its name."""
        self._put(key, result)
        if self.beneath is not None and key.doing:
            self.beneath.put(key, result)
            self._not_beneath.discard(key)

    def _put(self, key: Key, result: Any) -> None:
        with self._changing:
            kept = self._kept.setdefault(key.name, {})
            while len(kept) >= key.most:
                del kept[next(iter(kept))]
            kept[key] = result
