"""The command line as data: every command with what ``--help`` says of it, as the page of commands shows it."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from typer.core import TyperArgument, TyperGroup
from typer.main import get_command

from biobgt.cli.main import app

Words = tuple[str, ...]


def all_commands() -> Iterator[tuple[Words, Any]]:
    """Every command with the words that call it, such as ``("fetch", "abide")``."""
    return _within(get_command(app), ())


def _within(command: Any, words: Words) -> Iterator[tuple[Words, Any]]:
    if isinstance(command, TyperGroup):
        context = command.make_context(" ".join(("biobgt", *words)), [], resilient_parsing=True)
        for name in command.list_commands(context):
            yield from _within(command.get_command(context, name), (*words, name))
    else:
        yield words, command


def command_sections() -> str:
    """One section per command: what it does, its arguments and its options."""
    return "\n\n".join(_section(words, command) for words, command in all_commands())


def _section(words: Words, command: Any) -> str:
    examples = (command.epilog or "").split("\n\n")[1:]
    block = ["```sh", *examples, "```", ""] if examples else []
    return "\n".join([f"## biobgt {' '.join(words)}", "", (command.help or "").strip(), "", *block, *_tables(command)])


def _tables(command: Any) -> Iterator[str]:
    """A table for each group of options, as ``--help`` has them."""
    groups: dict[str, list[str]] = {}
    for parameter in command.params:
        if parameter.name != "help":
            groups.setdefault(parameter.rich_help_panel or "", []).append(_row(parameter))
    for name, rows in groups.items():
        yield from ([f"**{name}**", ""] if name else [])
        yield from ("| | default | |", "|---|---|---|", *rows, "")


def _row(parameter: Any) -> str:
    if isinstance(parameter, TyperArgument):
        name = parameter.metavar or parameter.name.upper()
    else:
        name = "/".join((*parameter.opts[:1], *parameter.secondary_opts[:1]))
    told = (parameter.help or "").strip()
    if choices := _choices(parameter.type_descriptor.annotation):
        told += f" One of: {', '.join(f'`{choice}`' for choice in choices)}."
    default = parameter.default
    shown = "required" if parameter.required else "–" if default is None or default is False else f"`{default}`"
    return f"| `{name}` | {shown} | {told.replace('|', chr(92) + '|')} |"


def _choices(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next((get_args(part) for part in get_args(annotation) if get_origin(part) is Literal), ())
