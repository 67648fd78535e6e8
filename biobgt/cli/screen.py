"""What the jobs print: results on stdout, progress bars and sentences on stderr.

Tables and bars are imported when they are drawn: ``biobgt --help`` needs neither.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    import pandas as pd

out = Console()
err = Console(stderr=True)
# Control characters but tab and line feed, and those that turn the direction of writing: a file's name can hold them.
_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    r"""Write characters that a terminal takes for commands as escapes.

    >>> escape_controls("b\x1b[31m.mat")
    'b\\x1b[31m.mat'
    """
    return text if text.isprintable() else _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while a job runs; yields the callback that moves it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
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
    names = [escape_controls(str(name)) for name in frame.columns]
    numeric = [dtype.kind in "fiu" for dtype in frame.dtypes]
    for number, part in enumerate(_parts_that_fit(names, rows, out.width)):
        table = Table(title=None if number else Text(escape_controls(title)), title_justify="left")
        for i in part:
            table.add_column(Text(names[i]), justify="right" if numeric[i] else "left", no_wrap=i == 0)
        for row in rows:
            table.add_row(*(Text(row[i]) for i in part))
        out.print(table)
    if len(frame) > limit:
        out.print(f"… and {len(frame) - limit} more")


def _parts_that_fit(names: list[str], rows: list[list[str]], width: int) -> list[list[int]]:
    """Divide the columns, by number, into tables as wide as the terminal at most, each with the first column."""
    widths = [max(map(len, (*name.split(), *(row[i] for row in rows))), default=0) + 3 for i, name in enumerate(names)]
    parts: list[list[int]] = [[0]]
    for i in range(1, len(names)):
        if len(parts[-1]) > 1 and sum(widths[k] for k in (*parts[-1], i)) + 1 > width:
            parts.append([0])
        parts[-1].append(i)
    return parts


def print_line(text: str, *, style: str = "") -> None:
    """Print a sentence that may hold text from a user's file."""
    out.print(Text(escape_controls(text), style=style), soft_wrap=True)


def print_notice(text: str) -> None:
    """Print a sentence about the work itself, beside the results."""
    err.print(Text(escape_controls(text)), soft_wrap=True)


def _cell(value: object) -> str:
    import pandas as pd  # whoever prints a table has it

    if value is None or pd.isna(value):  # type: ignore[call-overload]
        return ""
    if not isinstance(value, float):
        return escape_controls(str(value))
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.2g}"  # a small p is not 0.000
