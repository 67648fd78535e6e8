"""The frame of the command line: the list of jobs, and how errors end."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from biobgt import __version__
from biobgt.cli import comparisons, figures, models, networks, predictions, subjects
from biobgt.cli.app import app as start_app
from biobgt.cli.screen import err, print_line
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.signals import STOPPED, end_cleanly_on_signals

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="BioBGT Explorer: hubs, functional modules and transformer attention in brain networks.",
)
fetch = typer.Typer(no_args_is_help=True, help="Fetch a public cohort.")
fetch.command("abide")(subjects.abide)
app.command("app")(start_app)
app.command()(subjects.info)
app.command()(subjects.connectome)
app.command()(networks.hubs)
app.command()(networks.modules)
app.command()(comparisons.compare)
app.command()(figures.figure)
app.command()(models.train)
app.command()(models.evaluate)
app.command()(models.card)
app.command()(predictions.predict)
app.command()(predictions.attention)
app.command()(subjects.demo)
app.command()(subjects.atlases)
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
        err.print(_sentence(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except SystemExit as end:
        if end.code in STOPPED:
            err.print("Stopped before the end: no results were written.")
        raise


def _sentence(error: InputError | OSError) -> str:
    """What went wrong, for the user: a disk that is full or a file that may not be opened is no bug."""
    if isinstance(error, ChoiceNeeded):
        return f"{error} Answer with --{error.option.replace('_', '-')}."
    if isinstance(error, InputError):
        return str(error)
    what = f"'{error.filename}' cannot be read or written" if error.filename else "A file cannot be read or written"
    return f"{what} ({error.strerror or error}). Check the name, your rights to it and the space on the disk."
