"""Tables that spreadsheets open without running anything.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, also in a CSV file, and a
formula can send what stands beside it elsewhere. Ids, groups and names come from files, so text like that is written
with an apostrophe before it, as OWASP advises (*CSV Injection*), and read back without it. Numbers stay numbers,
negative ones too: cells that are numbers are never touched, and neither is text that is one.
"""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import IO, Any, overload

import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")


def safe_text(text: str) -> str:
    """Write text so that no spreadsheet runs it; :func:`as_meant` takes it back.

    >>> safe_text("=1+1"), safe_text("-0.5"), safe_text("sub-01")
    ("'=1+1", '-0.5', 'sub-01')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def as_meant(text: str) -> str:
    """Take back what :func:`safe_text` did.

    >>> as_meant("'=1+1"), as_meant("'quoted'")
    ('=1+1', "'quoted'")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def safe_table(frame: pd.DataFrame) -> pd.DataFrame:
    """A table whose words, in cells, header and index, no spreadsheet runs."""
    return _map_words(frame, safe_text)


def meant(frame: pd.DataFrame) -> pd.DataFrame:
    """A table as it was before :func:`safe_table`."""
    return _map_words(frame, as_meant)


@overload
def write_csv(frame: pd.DataFrame, path: None = None, **how: Any) -> str: ...
@overload
def write_csv(frame: pd.DataFrame, path: Path, **how: Any) -> None: ...
def write_csv(frame: pd.DataFrame, path: Path | None = None, **how: Any) -> str | None:
    """Write a table as CSV that no spreadsheet runs; further options are those of :meth:`pandas.DataFrame.to_csv`."""
    safe = safe_table(frame)
    return safe.to_csv(**how) if path is None else safe.to_csv(path, **how)


def read_csv(source: Path | IO[str], **how: Any) -> pd.DataFrame:
    """Read a table that :func:`write_csv` wrote; further options are those of :func:`pandas.read_csv`."""
    return meant(pd.read_csv(source, **how))


def _map_words(frame: pd.DataFrame, change: Any) -> pd.DataFrame:
    def word(value: Hashable) -> Hashable:
        return change(value) if isinstance(value, str) else value

    changed = frame.copy()
    for place, (_, column) in enumerate(frame.items()):
        if not pd.api.types.is_numeric_dtype(column) and any(word(one) is not one for one in column.tolist()):
            changed.isetitem(place, column.map(word, na_action="ignore").array)
    changed.columns = frame.columns.map(word)
    changed.index = frame.index if pd.api.types.is_numeric_dtype(frame.index) else frame.index.map(word)
    changed.index.names = frame.index.names
    return changed
