"""Registers: what the house has of one kind (hub measures, atlases, readers, figures), by key and in order.

Everything that lists such things reads the register, so that a new one is added in one place and then found everywhere.
"""

from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar

from biobgt.errors import no_such


class Keyed(Protocol):
    """Whatever has a key."""

    @property
    def key(self) -> str:
        """The name by which it is asked for, on the command line and in files."""


Entry = TypeVar("Entry", bound=Keyed)


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Things of one kind by their keys, in the order in which they were registered.

    Parameters
    ----------
    kind : str
        What they are, in the singular, for sentences: "hub measure".
    *entries : objects with a ``key``
    """

    def __init__(self, kind: str, *entries: Entry) -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}
        for entry in entries:
            self.register(entry)

    def register(self, entry: Entry) -> Entry:
        """Add one; a key that is taken is refused."""
        if entry.key in self._entries:
            raise ValueError(f"There is a {self.kind} '{entry.key}' already.")
        self._entries[entry.key] = entry
        return entry

    @contextmanager
    def temporarily(self, entry: Entry) -> Iterator[Entry]:
        """Add one for as long as the block runs."""
        self.register(entry)
        try:
            yield entry
        finally:
            del self._entries[entry.key]

    def named(self, key: str) -> Entry:
        """The one with this key, or a sentence that says which there are."""
        if key not in self._entries:
            raise no_such(self.kind, key, self._entries)
        return self._entries[key]

    def __getitem__(self, key: str) -> Entry:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> ItemsView[str, Entry]:
        """Keys with their entries, without a look-up of each: readers go through registers for every file."""
        return self._entries.items()

    def values(self) -> ValuesView[Entry]:
        """The entries, as quickly."""
        return self._entries.values()


def imported_later(module: str, name: str, **given: Any) -> Callable[..., Any]:
    """A function that is imported when it is first called, so that a register is read without what it names.

    Parameters
    ----------
    module, name : str
        Where it stands and what it is called there.
    **given
        Keywords that it is always called with.
    """

    def call(*arguments: Any) -> Any:
        return getattr(import_module(module), name)(*arguments, **given)

    return call
