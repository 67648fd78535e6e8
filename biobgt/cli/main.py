"""The command line itself: its list of commands, what they print, and how they end.

Commands, tables and bars are imported when they are needed, so that ``biobgt --help`` loads nothing of the library.
Results go to stdout, progress bars and sentences about the work to stderr.
"""

import ast
import inspect
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import MarkupMode, TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from biobgt import __version__
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.cli import INTERRUPTED, NOTHING_WRITTEN

if TYPE_CHECKING:
    import pandas as pd

# What jobs print.


_OUT, _ERR = Console(), Console(stderr=True)
# Control characters but tab and line feed, and those that turn the direction of writing: a file's name can hold them.
_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _escape_controls(text: str) -> str:
    r"""Write characters that a terminal takes for commands as escapes.

    >>> _escape_controls("b\x1b[31m.mat")
    'b\\x1b[31m.mat'
    """
    return text if text.isprintable() else _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)


@contextmanager
def progress_bar(what: str, *, unit: str = "") -> Iterator[Callable[[int, int], None]]:
    """Show a bar while a job runs, with so many units per second where one is named; yields what moves it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

    class Rate(ProgressColumn):
        """How many are done in a second."""

        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:.2g} {unit}/s" if unit and task.speed else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=_ERR, transient=True, disable=not _ERR.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def print_table(frame: "pd.DataFrame", *, title: str, limit: int = 20) -> None:
    """Print the first rows of a table; names from files are shown as they are, never as markup.

    A table that is wider than the terminal is printed in parts, each with the first column in front.

    Parameters
    ----------
    frame : DataFrame
    title : str
    limit : int
        Rows to print; how many more there are is said below.
    """
    from rich.table import Table

    rows = [[_cell(value) for value in row] for row in frame.head(limit).itertuples(index=False)]
    names = [_escape_controls(str(name)) for name in frame.columns]
    numeric = [dtype.kind in "fiu" for dtype in frame.dtypes]
    for number, part in enumerate(_parts_that_fit(names, rows, _OUT.width)):
        table = Table(title=None if number else Text(_escape_controls(title)), title_justify="left")
        for i in part:
            table.add_column(Text(names[i]), justify="right" if numeric[i] else "left", no_wrap=i == 0)
        for row in rows:
            table.add_row(*(Text(row[i]) for i in part))
        _OUT.print(table)
    if len(frame) > limit:
        _OUT.print(f"… and {len(frame) - limit} more")


def _parts_that_fit(names: list[str], rows: list[list[str]], width: int) -> list[list[int]]:
    """Divide the columns, by number, into tables as wide as the terminal at most, each with the first column."""
    widths = [max(map(len, (*name.split(), *(row[i] for row in rows))), default=0) + 3 for i, name in enumerate(names)]
    parts: list[list[int]] = [[0]]
    for i in range(1, len(names)):
        if len(parts[-1]) > 1 and sum(widths[k] for k in (*parts[-1], i)) + 1 > width:
            parts.append([0])
        parts[-1].append(i)
    return parts


def print_line(text: str) -> None:
    """Print a sentence that may hold text from a user's file."""
    _OUT.print(Text(_escape_controls(text)), soft_wrap=True)


def print_notice(text: str) -> None:
    """Print a sentence about the work itself, beside the results."""
    _ERR.print(Text(_escape_controls(text)), soft_wrap=True)


def _cell(value: object) -> str:
    import pandas as pd  # whoever prints a table has it

    if value is None or pd.isna(value):  # type: ignore[call-overload]
        return ""
    if not isinstance(value, float):
        return _escape_controls(str(value))
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.2g}"  # a small p is not 0.000


# The commands.


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
    "centiles": "biobgt.cli.centiles:centiles",
    "study": "biobgt.cli.study:study",
    "survive": "biobgt.cli.survive:survive",
    "bench": "biobgt.cli.bench:bench",
    "figure": "biobgt.cli.figures:figure",
    "train": "biobgt.cli.models:train",
    "evaluate": "biobgt.cli.models:evaluate",
    "benchmark": "biobgt.cli.models:benchmark",
    "card": "biobgt.cli.models:card",
    "predict": "biobgt.cli.subjects:predict",
    "attention": "biobgt.cli.subjects:attention",
    "demo": "biobgt.cli.subjects:demo",
    "atlases": "biobgt.cli.subjects:atlases",
}
app = _commands(JOBS, help="BioBGT Explorer: hubs, functional modules and transformer attention in brain networks.")
fetch = _commands({"abide": "biobgt.cli.subjects:abide"}, help="Fetch a public cohort.")
app.add_typer(fetch, name="fetch")

models = _commands(
    {"add": "biobgt.cli.own_models:add", "remove": "biobgt.cli.own_models:remove"},
    help="List the models that are installed; add your own, or remove it.",
)
app.add_typer(models, name="models")


@models.callback(invoke_without_command=True, no_args_is_help=False)
def _list_models(context: typer.Context) -> None:
    """List the models that are installed; add your own, or remove it."""
    if context.invoked_subcommand is None:
        from biobgt.cli.own_models import list_models

        list_models()


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


# How jobs end: with a sentence, whoever or whatever ends them.


# What batch systems, service managers and closed terminals send.
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_STOPPED = (INTERRUPTED, *(128 + number for number in _ENDING))


class _Stopped(SystemExit):
    """The end of a job by a signal, where not all is lost: ``kept`` says what is not."""

    def __init__(self, code: int, kept: str) -> None:
        super().__init__(code)
        self.kept = kept


@contextmanager
def keeping(kept: str) -> Iterator[None]:
    """Say what is kept, in full sentences, where a signal stops what is done here."""
    try:
        yield
    except KeyboardInterrupt:
        raise _Stopped(INTERRUPTED, kept) from None
    except SystemExit as end:
        if isinstance(end.code, int) and end.code in _STOPPED and not isinstance(end, _Stopped):
            raise _Stopped(end.code, kept) from None
        raise


def _end_cleanly_on_signals() -> None:
    """Leave by an exception when a signal ends the job, so that folders are cleared and processes ended."""
    for number in _ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:  # what was started with nohup goes on
            signal.signal(number, lambda number, _: sys.exit(128 + number))


def main() -> None:
    """Run a job; bad input, and a file or folder that cannot be used, end with a sentence and exit code 2."""
    debug = "--debug" in sys.argv
    if debug:  # wherever it stands
        sys.argv.remove("--debug")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show must not end a job
    _end_cleanly_on_signals()
    try:
        app()
    except (InputError, OSError) as error:
        if debug:
            raise
        print_notice(_sentence(error))
        sys.exit(2)
    except SystemExit as end:
        if end.code in _STOPPED:
            said = f"Stopped before the end. {end.kept}" if isinstance(end, _Stopped) else NOTHING_WRITTEN
            print_notice(said)
        raise


def _sentence(error: InputError | OSError) -> str:
    """What went wrong, for the user: a disk that is full or a file that may not be opened is no bug."""
    if isinstance(error, ChoiceNeeded):
        return f"{error} Answer with --{error.option.replace('_', '-')}."
    if isinstance(error, InputError):
        return str(error)
    what = f"'{error.filename}' cannot be read or written" if error.filename else "A file cannot be read or written"
    return f"{what} ({error.strerror or error}). Check its name, your permissions and the space left on the disk."
