"""A list of commands that are imported when they are called, so that ``biobgt --help`` loads nothing of the library."""

import ast
import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import MarkupMode, TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

_OPTIONS: dict[str, Any] = {"no_args_is_help": True, "add_completion": False, "pretty_exceptions_enable": False}


def commands(places: Mapping[str, str], *, help: str) -> typer.Typer:
    """Make a list of commands.

    Parameters
    ----------
    places : mapping
        The name of each command, and the function that it calls: ``{"hubs": "biobgt.cli.networks:hubs"}``.
    help : str
        What the commands have in common.
    """

    class Commands(TyperGroup):
        """Loads a command when it is called; in a list of commands it is a name and a sentence."""

        listing = False

        def list_commands(self, ctx: Any) -> list[str]:
            return [*places, *super().list_commands(ctx)]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in places:
                return super().get_command(ctx, cmd_name)
            make = _listed if self.listing else _loaded
            return make(cmd_name, places[cmd_name], self.rich_markup_mode)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            self.listing = True
            try:
                super().format_help(ctx, formatter)
            finally:
                self.listing = False

    return typer.Typer(cls=Commands, help=help, **_OPTIONS)


def _loaded(name: str, place: str, markup: MarkupMode) -> Any:
    module, function = place.split(":")
    callback = getattr(import_module(module), function)
    text, examples = parts_of(inspect.getdoc(callback) or "")
    epilog = "\n\n".join(("Examples:", *examples)) if examples else None
    info = CommandInfo(name=name, callback=callback, help=text, epilog=epilog)
    return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=markup)


def _listed(name: str, place: str, markup: MarkupMode) -> TyperCommand:
    return TyperCommand(name, help=first_paragraph(*place.split(":")), rich_markup_mode=markup)


def first_paragraph(module: str, function: str) -> str:
    """Read what a command does from the source of its module, which is not imported for that."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    return (ast.get_docstring(found) or "").split("\n\n")[0]


def parts_of(docstring: str) -> tuple[str, list[str]]:
    """Divide a docstring into what a command does and its examples, one per line; other sections are left out."""
    text, *sections = re.split(r"^(\w+)\n-+\n", docstring, flags=re.MULTILINE)
    examples = dict(zip(sections[::2], sections[1::2], strict=True)).get("Examples", "")
    return text.strip(), examples.strip().splitlines()
