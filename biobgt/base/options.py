"""Options are written down once: what they are called, what they mean, what they may be and their default."""

import csv
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from biobgt.base.errors import InputError, no_such

if TYPE_CHECKING:
    from biobgt.data.cohort import Cohort

# Registers: what the house has of one kind (hub measures, atlases, readers, figures), by key and in order.
#
# Everything that lists such things reads the register, so that a new one is added in one place and then found
# everywhere.


class _Keyed(Protocol):
    """Whatever has a key."""

    @property
    def key(self) -> str:
        """The name by which it is asked for, on the command line and in files."""


Entry = TypeVar("Entry", bound=_Keyed)


class Registry(dict[str, Entry]):
    """Things of one kind by their keys, in the order in which they were registered.

    Parameters
    ----------
    kind : str
        What they are, in the singular, for sentences: "hub measure".
    *entries : objects with a ``key``
    """

    def __init__(self, kind: str, *entries: Entry) -> None:
        super().__init__()
        self.kind = kind
        for entry in entries:
            self.register(entry)

    def register(self, entry: Entry) -> Entry:
        """Add one; a key that is taken is refused."""
        if entry.key in self:
            raise ValueError(f"There is a {self.kind} '{entry.key}' already.")
        self[entry.key] = entry
        return entry

    @contextmanager
    def temporarily(self, entry: Entry) -> Iterator[Entry]:
        """Add one for as long as the block runs."""
        self.register(entry)
        try:
            yield entry
        finally:
            del self[entry.key]

    def named(self, key: str) -> Entry:
        """The one with this key, or a sentence that says which there are."""
        if key not in self:
            raise no_such(self.kind, key, self)
        return self[key]


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

_TYPES: Mapping[type, str] = {str: "text", int: "whole number", float: "number"}


@dataclass(frozen=True)
class Option:
    """One option, as its field declares it.

    Attributes
    ----------
    name : str
        Of the field, and of the command line's option.
    default : plain value
        None: nothing is said.
    types : tuple of types
        Of what may be given, or of the parts of a tuple, by the field's annotation; the first is the command line's.
    title : str
        For the widget.
    help : str
        One or two sentences on what it means.
    choices : collection of plain values, or None
        All it may be, such as a register; those of the annotation where it is a Literal. Of a tuple of names, what each
        of them may be.
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
    shown : mapping of plain values to str, or callable
        How people read a value; by default as it is.
    link : str
        Its name in links, project files and the session; empty where a view does not depend on it.
    flag : str
        Of the command line, where that is not ``--name``.
    in_a_row : bool
        Whether a page shows few choices side by side even where they depend on the cohort, and steps in any number.
    fewest : int
        How many values a tuple needs.
    """

    name: str
    default: Plain
    title: str
    types: tuple[type, ...]
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
    shown: "Mapping[Any, str] | Callable[[Any], str]" = field(default_factory=dict)
    link: str = ""
    flag: str = ""
    in_a_row: bool = False
    fewest: int = 0

    def text(self, value: Plain) -> str:
        """A value as people read it."""
        if value is not None and callable(self.shown):
            return self.shown(value)
        return self.shown[value] if not callable(self.shown) and value in self.shown else to_text(value)

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
        return self.default if known else offered[0]

    def check(self, value: Any) -> None:
        """Refuse what the option cannot be, in a sentence."""
        if value is None and self.default is None:
            return
        parts = value if isinstance(value, tuple) else (value,)
        kinds = (*self.types, int) if float in self.types else self.types
        fit = all(isinstance(one, kinds) and isinstance(one, bool) == (bool in self.types) for one in parts)
        if not fit or isinstance(self.default, tuple) != isinstance(value, tuple):
            like = f"give a {_TYPES[self.types[0]]}" if self.default is None else f"a valid value is {self.default!r}"
            raise InputError(f"The option '{self.name}' cannot be {value!r}; {like}.")
        if len(parts) < self.fewest:
            like = f"{self.name}={to_text(self.default)}"
            raise InputError(f"The option '{self.name}' needs at least {self.fewest}; write it like {like}.")
        for one in parts:
            if self.choices is not None and one not in self.choices:
                allowed = [to_text(choice) for choice in self.choices]
                if isinstance(self.choices, Registry):
                    raise no_such(self.choices.kind, one, allowed)
                raise InputError(f"The option '{self.name}' cannot be '{one}'. Choose one of: {', '.join(allowed)}.")
            high_enough = (self.low is None or one >= self.low) and (self.above is None or one > self.above)
            if not high_enough or (self.high is not None and one > self.high):
                raise InputError(f"The option '{self.name}' is {to_text(one)}; it must be {self._bounds()}.")

    @property
    def flags(self) -> tuple[str, ...]:
        """Of the command line; of what is true or false, both."""
        if self.flag:
            return tuple(self.flag.split("/"))
        name = self.name.replace("_", "-")
        return (f"--{name}", f"--no-{name}") if isinstance(self.default, bool) else (f"--{name}",)

    def _bounds(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        if self.low is not None and self.high is not None:
            return f"from {self.low:g} to {self.high:g}{unit}"
        least = f"{self.low:g}{unit} or more" if self.above is None else f"above {self.above:g}{unit}"
        return least if self.high is None else f"{least}, and at most {self.high:g}{unit}"

    def read(self, text: str) -> Plain:
        """Read a value as :func:`to_text` writes it; ValueError where it is none."""
        if self.default is None and text == to_text(None):
            return None
        if isinstance(self.default, bool):
            if text not in ("true", "false"):
                raise ValueError(text)
            return text == "true"
        read: Callable[[str], Any] = self.types[0] if self.types[0] in (int, float) else str
        if not isinstance(self.default, tuple):
            return read(text)
        try:
            return tuple(read(part) for part in next(csv.reader([text]), []) if part)
        except csv.Error as error:
            raise ValueError(text) from error


@dataclass(frozen=True)
class Options:
    """A group of options. Every value is checked when the object is made."""

    def __post_init__(self) -> None:
        for one in self.declared().values():
            one.check(getattr(self, one.name))

    @classmethod
    def declared(cls) -> Mapping[str, Option]:
        """The options by name, in their order."""
        kind: Any = cls  # mypy takes the hash of a frozen dataclass for that of its objects
        return _declared(kind)

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

    def command_line(self, *, changed: bool = False) -> list[str]:
        """The words of a command that give these options; what is not said is left out, of several each has its own.

        Parameters
        ----------
        changed : bool
            Leave defaults out, too.
        """
        words = []
        for one in self.declared().values():
            value = getattr(self, one.name)
            if changed and value == one.default:
                continue
            if isinstance(value, bool):
                words.append(one.flags[not value])
            elif isinstance(value, tuple):
                words += [word for part in value for word in (one.flags[0], to_text(part))]
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
    return field(default=default, metadata={"title": title, "default": default, **about})


def to_text(value: Plain) -> str:
    """Write a value as a link and the command line have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        parts = map(to_text, value)  # in quotes where one holds what would end it: a column may be called 'IQ, full'
        return ",".join('"' + one.replace('"', '""') + '"' if set(one) & set(',"\r\n') else one for one in parts)
    if isinstance(value, int | float):
        return f"{value:g}"
    return "none" if value is None else str(value)


@cache
def _declared(kind: Any) -> Mapping[str, Option]:
    hints, declared = get_type_hints(kind), {}
    for one in fields(kind):
        if one.metadata:
            types, names = _allowed(hints[one.name])
            declared[one.name] = Option(name=one.name, types=types, **{"choices": names, **one.metadata})
    return declared


def _allowed(annotation: Any) -> tuple[tuple[type, ...], tuple[str, ...] | None]:
    """The types of what a field may hold, of the parts of a tuple, and the names of a Literal; None is left out."""
    types: list[type] = []
    names = None
    for part in get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,):
        if get_origin(part) is Literal:
            names = get_args(part)
            types.append(str)
        elif part is not NoneType:
            types.append(get_args(part)[0] if get_origin(part) is tuple else part)
    return tuple(types), names
