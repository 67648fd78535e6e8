"""Results and where they are kept: kinds of results, the keys by which they are known, and stores in memory or nowhere.

:mod:`biobgt.results.measured` measures them; :mod:`biobgt.results.store` keeps them in a folder.
"""

import logging
from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

from biobgt.data.graph import ConnectomeSettings

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Kind:
    """A kind of result.

    Attributes
    ----------
    name : str
    doing : str
        What a user who waits for it reads.
    most : int
        How many of them a session keeps; the oldest go first.
    """

    name: str
    doing: str
    most: int


TANGENT_SPACE = Kind("tangent space", "Fitting the tangent space to the cohort…", 2)
CONNECTIVITY = Kind("connectivity", "", 8)
GRAPH = Kind("graph", "", 8)
MEAN_CONNECTIVITY = Kind("mean connectivity", "", 1000)  # two numbers each
HUBS = Kind("hubs", "Perturbing every region…", 48)  # a third of a megabyte each, at 200 regions
HUB_TABLE = Kind("hub table", "", 64)
HUB_CORRELATION = Kind("hub correlation", "", 256)
HUB_SWEEP = Kind("hub sweep", "", 64)
HUB_CURVES = Kind("hub curves", "Perturbing every region…", 3000)  # 50 kB each, at 200 regions
REGION_STORY = Kind("region story", "", 64)
OWN_AGREEMENT = Kind("agreement", "", 64)
NULL_AGREEMENT = Kind("agreement in a null graph", "Measuring a null graph…", 2000)
HALF_HUBS = Kind("hubs of half a recording", "Measuring half of the recording…", 32)
PREDICTION = Kind("prediction", "Running the model…", 2000)  # a row of a table each
EXPLANATION = Kind("what a model sees", "Running the model…", 12)  # attention and embeddings take megabytes
NETWORK_FEATURES = Kind("NE and modules that a model is given", "", 4000)  # a few kilobytes each
MODEL_MODULES = Kind("modules of a model's controls", "Looking for modules…", 8)
MODULES = Kind("modules", "Looking for modules…", 48)  # a third of a megabyte each, with the consensus of 200 regions
MODULE_LABELS = Kind("module of each region", "", 2048)
MODULE_AGREEMENT = Kind("agreement of modules and labels", "", 256)
RESOLUTION_STEP = Kind("modules at a resolution", "", 1024)
NULL_MODULARITY = Kind("modularity of a null graph", "", 2048)
NULL_SMALL_WORLD = Kind("small world against a null graph", "", 256)
MODULE_DIFFERENCE = Kind("modules of two groups", "Comparing the groups…", 32)
MODULE_SHUFFLE = Kind("modules of shuffled groups", "", 2048)  # a number each
FEATURES = Kind("what groups are compared in", "", 6000)  # two numbers per region each
COMPARISON = Kind("two groups compared", "Permuting the groups…", 16)


@dataclass(frozen=True)
class Key:
    """What a result depends on, and nothing else.

    Attributes
    ----------
    kind : Kind
    subject : str
        Empty for a result of the whole cohort.
    settings : ConnectomeSettings or None
        Of the graph; None where there is none behind it.
    how : hashable
        Everything else: options, numbers of null graphs, names of groups.
    """

    kind: Kind
    subject: str = ""
    settings: ConnectomeSettings | None = None
    how: Hashable = None


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
    """Results in memory, a number of each kind; the oldest of a kind makes room for the newest.

    Attributes
    ----------
    beneath : Store or None
        Where those that somebody waited for are kept as well, such as a folder; nobody else writes to it.
    """

    trouble = ""

    def __init__(self) -> None:
        self.beneath: Store | None = None
        self._kept: dict[Kind, dict[Key, Any]] = {}
        self._not_beneath: set[Key] = set()
        self._changing = Lock()  # sessions share the stores of demo cohorts and of models

    def get(self, key: Key) -> Any | None:
        """A result, or None where it is not kept; in one step, because another session may drop it meanwhile."""
        found = self._kept.get(key.kind, {}).get(key)
        if found is None and self.beneath is not None and key.kind.doing and key not in self._not_beneath:
            found = self.beneath.get(key)
            if found is None:
                self._not_beneath.add(key)  # asked for in every run of a page, for every subject
            else:
                self._put(key, found)
        return found

    def put(self, key: Key, result: Any) -> None:
        """Keep a result in place of the oldest of its kind."""
        self._put(key, result)
        if self.beneath is not None and key.kind.doing:
            self.beneath.put(key, result)
            self._not_beneath.discard(key)

    def _put(self, key: Key, result: Any) -> None:
        with self._changing:
            kept = self._kept.setdefault(key.kind, {})
            while len(kept) >= key.kind.most:
                del kept[next(iter(kept))]
            kept[key] = result

    def kept(self, kind: Kind) -> list[Key]:
        """What is kept of a kind, the oldest first."""
        with self._changing:
            return list(self._kept.get(kind, {}))


class NoStore:
    """Keeps nothing: everything is measured whenever it is asked for."""

    trouble = ""

    def get(self, key: Key) -> None:
        """Nothing is kept."""

    def put(self, key: Key, result: Any) -> None:
        """Keep nothing."""
