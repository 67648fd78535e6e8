"""What the jobs print: results on stdout, progress bars and sentences on stderr."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

out = Console()
err = Console(stderr=True)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while a job runs; yields the callback that moves it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def print_table(frame: pd.DataFrame, *, title: str, limit: int = 20) -> None:
    """Print the first rows of a table; names from files are shown as they are, never as markup."""
    table = Table(title=Text(title), title_justify="left")
    for i, column in enumerate(frame.columns):
        numeric = frame[column].dtype.kind in "fiu"
        table.add_column(Text(str(column)), justify="right" if numeric else "left", no_wrap=i == 0)
    for row in frame.head(limit).itertuples(index=False):
        table.add_row(*(Text(_cell(value)) for value in row))
    out.print(table)
    if len(frame) > limit:
        out.print(f"… and {len(frame) - limit} more")


def print_line(text: str, *, style: str = "") -> None:
    """Print a sentence that may hold text from a user's file."""
    out.print(Text(text, style=style), soft_wrap=True)


def print_notice(text: str) -> None:
    """Print a sentence about the work itself, beside the results."""
    err.print(Text(text), soft_wrap=True)


def _cell(value: object) -> str:
    if value is None or pd.isna(value):  # type: ignore[call-overload]
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.2g}"  # a small p is not 0.000
