"""Values as an address writes them, and the sentence for one that cannot be used."""

from collections.abc import Mapping, Sequence
from typing import Any

Value = str | float | bool

LINKS, PROJECTS = "The link's", "The project's"


def read_choices(
    params: Mapping[str, str],
    defaults: Mapping[str, Value],
    allowed: Mapping[str, Sequence[Value]],
    problems: list[str],
) -> list[Any]:
    """Read values of which there is a list, in the order of their defaults."""
    values: list[Any] = []
    for name, default in defaults.items():
        named = {as_text(value): value for value in allowed[name]}
        text = params.get(name, as_text(default))
        if text not in named:
            problems.append(instead(name, text, as_text(default)))
        values.append(named.get(text, default))
    return values


def read_seed(text: str, largest: int) -> list[int]:
    """The seed that a text names, as the only one allowed; empty where it names none."""
    return [int(text)] if text.isascii() and text.isdecimal() and len(text) <= len(str(largest)) else []


def as_text(value: Value) -> str:
    """Write a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{value:g}"


def instead(what: str, found: str, used: str) -> str:
    """Say that a value cannot be used, and what is shown in its place."""
    return f"{LINKS} {what} '{found[:40]}' does not exist here, so {used} is shown instead."
