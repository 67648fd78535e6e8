"""A list of commands that are imported when they are called, so that ``biobgt --help`` loads nothing of the library."""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import MarkupMode, TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from biobgt import __version__
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.signals import NOTHING_WRITTEN, STOPPED, Stopped, end_cleanly_on_signals
from biobgt.cli.screen import err, escape_controls, print_line

_OPTIONS: dict[str, Any] = {"no_args_is_help": True, "add_completion": False, "pretty_exceptions_enable": False}


def _commands(places: Mapping[str, str], *, help: str) -> typer.Typer:
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
            module, function = places[cmd_name].split(":")
            if self.listing:
                return TyperCommand(
                    cmd_name, help=_first_paragraph(module, function), rich_markup_mode=self.rich_markup_mode
                )
            return _loaded(cmd_name, getattr(import_module(module), function), self.rich_markup_mode)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            self.listing = True
            try:
                super().format_help(ctx, formatter)
            finally:
                self.listing = False

    return typer.Typer(cls=Commands, help=help, **_OPTIONS)


def _loaded(name: str, callback: Callable[..., None], markup: MarkupMode) -> Any:
    # What a command does, and its examples, one per line; other sections of the docstring are left out.
    text, *sections = re.split(r"^(\w+)\n-+\n", inspect.getdoc(callback) or "", flags=re.MULTILINE)
    examples = dict(zip(sections[::2], sections[1::2], strict=True)).get("Examples", "").strip().splitlines()
    epilog = "\n\n".join(("Examples:", *examples)) if examples else None
    info = CommandInfo(name=name, callback=callback, help=text.strip(), epilog=epilog)
    return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=markup)


def _first_paragraph(module: str, function: str) -> str:
    """Read what a command does from the source of its module, which is not imported for that."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    return (ast.get_docstring(found) or "").split("\n\n")[0]


JOBS = {
    "app": "biobgt.cli.serve:app",
    "info": "biobgt.cli.subjects:info",
    "connectome": "biobgt.cli.subjects:connectome",
    "hubs": "biobgt.cli.networks:hubs",
    "modules": "biobgt.cli.networks:modules",
    "compare": "biobgt.cli.networks:compare",
    "figure": "biobgt.cli.figures:figure",
    "train": "biobgt.cli.models:train",
    "evaluate": "biobgt.cli.models:evaluate",
    "benchmark": "biobgt.cli.models:benchmark",
    "card": "biobgt.cli.models:card",
    "predict": "biobgt.cli.predict:predict",
    "attention": "biobgt.cli.predict:attention",
    "demo": "biobgt.cli.subjects:demo",
    "atlases": "biobgt.cli.subjects:atlases",
}
app = _commands(JOBS, help="BioBGT Explorer: hubs, functional modules and transformer attention in brain networks.")
fetch = _commands({"abide": "biobgt.cli.subjects:abide"}, help="Fetch a public cohort.")
app.add_typer(fetch, name="fetch")


@fetch.callback()
def _fetch_jobs() -> None:
    """Fetch a public cohort."""


@app.callback(invoke_without_command=True)
def _common(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        print_line(f"biobgt {__version__}")
        raise typer.Exit


def main() -> None:
    """Run a job; bad input, and a file or folder that cannot be used, end with a sentence and exit code 2."""
    debug = "--debug" in sys.argv
    if debug:  # wherever it stands
        sys.argv.remove("--debug")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show must not end a job
    end_cleanly_on_signals()
    try:
        app()
    except (InputError, OSError) as error:
        if debug:
            raise
        err.print(escape_controls(_sentence(error)), markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except SystemExit as end:
        if end.code in STOPPED:
            said = f"Stopped before the end. {end.kept}" if isinstance(end, Stopped) else NOTHING_WRITTEN
            err.print(said, markup=False, highlight=False, soft_wrap=True)
        raise


def _sentence(error: InputError | OSError) -> str:
    """What went wrong, for the user: a disk that is full or a file that may not be opened is no bug."""
    if isinstance(error, ChoiceNeeded):
        return f"{error} Answer with --{error.option.replace('_', '-')}."
    if isinstance(error, InputError):
        return str(error)
    what = f"'{error.filename}' cannot be read or written" if error.filename else "A file cannot be read or written"
    return f"{what} ({error.strerror or error}). Check its name, your permissions and the space left on the disk."
