"""The frame of the command line: the list of jobs, and how errors end."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from biobgt import __version__
from biobgt.cli.lazy import commands
from biobgt.cli.screen import err, harmless, print_line
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.signals import NOTHING_WRITTEN, STOPPED, Stopped, end_cleanly_on_signals

JOBS = {
    "app": "biobgt.cli.app:app",
    "info": "biobgt.cli.subjects:info",
    "connectome": "biobgt.cli.subjects:connectome",
    "hubs": "biobgt.cli.networks:hubs",
    "modules": "biobgt.cli.networks:modules",
    "compare": "biobgt.cli.comparisons:compare",
    "figure": "biobgt.cli.figures:figure",
    "train": "biobgt.cli.models:train",
    "evaluate": "biobgt.cli.evaluations:evaluate",
    "benchmark": "biobgt.cli.benchmarks:benchmark",
    "card": "biobgt.cli.models:card",
    "predict": "biobgt.cli.predictions:predict",
    "attention": "biobgt.cli.predictions:attention",
    "demo": "biobgt.cli.subjects:demo",
    "atlases": "biobgt.cli.subjects:atlases",
}
app = commands(JOBS, help="BioBGT Explorer: hubs, functional modules and transformer attention in brain networks.")
fetch = commands({"abide": "biobgt.cli.subjects:abide"}, help="Fetch a public cohort.")
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
        err.print(harmless(_sentence(error)), markup=False, highlight=False, soft_wrap=True)
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
