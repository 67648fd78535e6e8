"""Options are written down once: what they are called, what they mean, what they may be and their default."""

import csv
from collections.abc import Callable, Collection, ItemsView, Iterator, Mapping, Sequence, ValuesView
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, cast

from biobgt.base.errors import InputError, no_such

if TYPE_CHECKING:
    from biobgt.data.cohort import Cohort

# Registers: what the house has of one kind (hub measures, atlases, readers, figures), by key and in order.
#
# Everything that lists such things reads the register, so that a new one is added in one place and then found
# everywhere.


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


# Options are written down once: what they are called, what they mean, what they may be and what they are by default.
#
# A group of options is a frozen dataclass that derives from :class:`Options`, with a field made by :func:`option` for
# each. The command line's options, the widgets of the app, the parameters of its links, project files and the requests
# of figures are all derived from these fields.


Plain = str | int | float | bool | tuple[float, ...] | tuple[str, ...] | None
LARGEST_SEED = 9999  # that a page offers; a script may take any

_DECLARED = "option"
_TYPES: Mapping[type, str] = {str: "text", int: "whole number", float: "number"}


@dataclass(frozen=True)
class Option:
    """One option, as its field declares it.

    Attributes
    ----------
    name : str
        Of the field, and of the command line's option.
    default : plain value
        Its type is the option's. None: nothing is said, and `none` says what that means.
    type_ : type, or tuple of types
        Of what may be given where the default is None; the first is the command line's.
    title : str
        For the widget.
    help : str
        One or two sentences on what it means.
    choices : collection of plain values, or None
        All it may be, such as a register. Of a tuple of names, what each of them may be.
    choices_of : callable, or None
        The same where it depends on the cohort: its groups, or its atlas's labels.
    default_of : callable, or None
        What a page shows of a cohort before anything was chosen, where that is not the default or the first choice.
    of_model : bool
        Whether choices depend on the cohort of the trained model that is shown, instead of that of the subjects.
    steps : sequence of plain values, or None
        What the page offers; a script may take others.
    low, above, high : float or None
        The least it may be, or what it must be above, and the most.
    unit : str
        Of a number.
    step : float or None
        By which a page changes a number.
    starts_with_first : bool
        Whether a page starts with the first that it offers, instead of the default of a script.
    shown : mapping of plain values to str, or callable
        How people read a value; by default as it is.
    none : str
        How people read that nothing is said.
    link : str
        Its name in links, project files and the session; empty where a view does not depend on it.
    flag : str
        Of the command line, where that is not ``--name``.
    in_a_row : bool
        Whether a page shows few choices side by side even where they depend on the cohort, and steps in any number.
    of_numbers : bool
        Whether a tuple that is empty by default holds numbers.
    fewest : int
        How many values a tuple needs.
    """

    name: str
    default: Plain
    title: str
    type_: type | tuple[type, ...] = ()
    help: str = ""
    choices: Collection[Plain] | None = None
    choices_of: "Callable[[Cohort], Sequence[Plain]] | None" = None
    default_of: "Callable[[Cohort], Plain] | None" = None
    of_model: bool = False
    steps: Sequence[Plain] | None = None
    low: float | None = None
    above: float | None = None
    high: float | None = None
    unit: str = ""
    step: float | None = None
    starts_with_first: bool = False
    shown: "Mapping[Any, str] | Callable[[Any], str]" = field(default_factory=dict)
    none: str = "none"
    link: str = ""
    flag: str = ""
    in_a_row: bool = False
    of_numbers: bool = False
    fewest: int = 0

    def text(self, value: Plain) -> str:
        """A value as people read it."""
        if value is None:
            return self.none
        if callable(self.shown):
            return self.shown(value)
        return self.shown[value] if value in self.shown else to_text(value)

    def offered(self, cohort: "Cohort") -> Sequence[Plain]:
        """What a page offers for a cohort."""
        if self.choices_of is not None:
            return self.choices_of(cohort)
        if self.steps is not None:
            return self.steps
        if self.choices is not None:
            return tuple(self.choices)
        if isinstance(self.default, bool):
            return (False, True)
        return range(LARGEST_SEED + 1) if isinstance(self.default, int) else ()

    def default_for(self, cohort: "Cohort") -> Plain:
        """What a page shows of a cohort before anything was chosen."""
        if self.default_of is not None:
            return self.default_of(cohort)
        offered = self.offered(cohort)
        known = not offered or isinstance(self.default, tuple) or self.default in offered
        return offered[0] if offered and (self.starts_with_first or not known) else self.default

    def check(self, value: Any) -> None:
        """Refuse what the option cannot be, in a sentence."""
        if value is None and self.default is None:
            return
        if not self._has_type(value):
            raise InputError(f"The option '{self.name}' cannot be {value!r}; {self._like()}.")
        if isinstance(value, tuple) and len(value) < self.fewest:
            like = to_text(self.default)
            raise InputError(
                f"The option '{self.name}' needs at least {self.fewest}; write it like {self.name}={like}."
            )
        if self.choices is not None:
            for one in value if isinstance(value, tuple) else (value,):
                if one not in self.choices:
                    allowed = [to_text(choice) for choice in self.choices]
                    if isinstance(self.choices, Registry):
                        raise no_such(self.choices.kind, one, allowed)
                    raise InputError(
                        f"The option '{self.name}' cannot be '{one}'. Choose one of: {', '.join(allowed)}."
                    )
        for number in value if isinstance(value, tuple) else (value,):
            if not self._is_within(number):
                raise InputError(f"The option '{self.name}' is {to_text(number)}; it must be {self._bounds()}.")

    @property
    def types(self) -> tuple[type, ...]:
        """What a value may be."""
        named = self.type_ if isinstance(self.type_, tuple) else (self.type_,)
        return named or (type(self.default),)

    @property
    def flags(self) -> tuple[str, ...]:
        """Of the command line; of what is true or false, both."""
        if self.flag:
            return tuple(self.flag.split("/"))
        name = self.name.replace("_", "-")
        return (f"--{name}", f"--no-{name}") if isinstance(self.default, bool) else (f"--{name}",)

    def _like(self) -> str:
        return f"a valid value is {self.default!r}" if self.default is not None else f"give a {_TYPES[self.types[0]]}"

    def _is_within(self, number: Any) -> bool:
        return (
            (self.low is None or number >= self.low)
            and (self.above is None or number > self.above)
            and (self.high is None or number <= self.high)
        )

    def _bounds(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        if self.low is not None and self.high is not None:
            return f"from {self.low:g} to {self.high:g}{unit}"
        least = f"{self.low:g}{unit} or more" if self.above is None else f"above {self.above:g}{unit}"
        return least if self.high is None else f"{least}, and at most {self.high:g}{unit}"

    def _has_type(self, value: Any) -> bool:
        if isinstance(self.default, tuple):
            kind = int | float if self.of_numbers or _of_numbers(self.default) else str
            return isinstance(value, tuple) and all(
                isinstance(one, kind) and not isinstance(one, bool) for one in value
            )
        if isinstance(value, bool) or bool in self.types:
            return isinstance(value, bool) and bool in self.types
        return isinstance(value, (*self.types, int) if float in self.types else self.types)

    def read(self, text: str) -> Plain:
        """Read a value as :func:`to_text` writes it; ValueError where it is none."""
        if self.default is None and text == to_text(None):
            return None
        if isinstance(self.default, bool):
            if text not in ("true", "false"):
                raise ValueError(text)
            return text == "true"
        if self.types[0] in (int, float):
            return self.types[0](text)
        if isinstance(self.default, tuple):
            parts = tuple(part for part in _parts(text) if part)
            return tuple(float(part) for part in parts) if self.of_numbers or _of_numbers(self.default) else parts
        return text


@dataclass(frozen=True)
class Options:
    """A group of options. Every value is checked when the object is made."""

    def __post_init__(self) -> None:
        for one in self.declared().values():
            one.check(getattr(self, one.name))

    @classmethod
    def declared(cls) -> Mapping[str, Option]:
        """The options by name, in their order."""
        return _declared(cast("Any", cls))  # mypy takes the hash of a frozen dataclass for that of its objects

    @classmethod
    def from_plain(cls, given: Mapping[str, Any], *, of: str) -> Self:
        """Take the given values and the defaults of all others.

        Parameters
        ----------
        given : mapping of str to plain values
        of : str
            Whose options these are, for a sentence where one is not known: "The figure 'Hub curves'".
        """
        known = cls.declared()
        for name in given:
            if name not in known:
                raise InputError(f"{of} has no option '{name}'. It has: {', '.join(known) or 'none'}.")
        return cls(**given)

    @classmethod
    def read_text(cls, text: str, *, of: str) -> tuple[str, Plain]:
        """Read one option as the command line has it: ``gamma=0.5``, ``resolutions=0.5,1,1.5``."""
        known = cls.declared()
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            listed = ", ".join(f"{one.name}={to_text(one.default)}" for one in known.values()) or "none"
            raise InputError(f"{of} has no option '{text}'. Its options with their defaults: {listed}.")
        try:
            return name, known[name].read(value)
        except ValueError:
            default = to_text(known[name].default)
            raise InputError(f"The option '{text}' cannot be read; write it like {name}={default}.") from None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for provenance."""
        return asdict(self)

    def command_line(self) -> list[str]:
        """The words of a command that give these options; what is not said is left out."""
        words = []
        for one in self.declared().values():
            value = getattr(self, one.name)
            if isinstance(value, bool):
                words.append(one.flags[not value])
            elif value is not None:
                words += [one.flags[0], to_text(value)]
        return words

    def part(self, kind: "type[AnyOptions]") -> "AnyOptions":
        """Those of these options that another group has too."""
        return kind(**{one.name: getattr(self, one.name) for one in fields(kind)})


if TYPE_CHECKING:
    AnyOptions = TypeVar("AnyOptions", bound=Options)


def option(default: Plain, *, title: str, **about: Any) -> Any:
    """Declare a field of a group of options; the arguments are the attributes of :class:`Option`."""
    return field(default=default, metadata={_DECLARED: {"title": title, "default": default, **about}})


def to_text(value: Plain) -> str:
    """Write a value as a link and the command line have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(_quoted(to_text(one)) for one in value)
    if isinstance(value, int | float):
        return f"{value:g}"
    return "none" if value is None else str(value)


def _quoted(part: str) -> str:
    """A part of a list, in quotes where it holds what would end it: a column of a table may be called 'IQ, full'."""
    return '"' + part.replace('"', '""') + '"' if set(part) & set(',"\r\n') else part


def _parts(text: str) -> list[str]:
    """The parts of a list; ValueError where it is none."""
    try:
        return next(csv.reader([text]), [])
    except csv.Error as error:
        raise ValueError(text) from error


@cache
def _declared(kind: Any) -> Mapping[str, Option]:
    return {
        one.name: Option(name=one.name, **one.metadata[_DECLARED]) for one in fields(kind) if _DECLARED in one.metadata
    }


def _of_numbers(value: Plain) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], int | float)
