"""Tables of pages that are written from the results of studies, between two marks, and stay readable as text.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``; the words around it are not touched.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from docs.tools.tables import table


def write_tables(page: Path, tables: Mapping[str, str]) -> None:
    """Write every table of a page anew.

    Parameters
    ----------
    page : Path
    tables : mapping of str to str
        Markdown by name of the table.
    """
    page.write_text(with_tables(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """The text of a page with its tables; a table that it has no place for is an error."""
    for name, made in tables.items():
        block = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end of table -->)", re.DOTALL)
        if (place := block.search(text)) is None:
            raise SystemExit(f"The page has no place for the table '{name}'.")
        text = text[: place.start()] + place[1] + made + "\n" + place[2] + text[place.end() :]
    return text


def table_of(frame: pd.DataFrame) -> str:
    """A table of texts in Markdown."""
    return table(list(map(str, frame.columns)), frame.to_numpy().tolist())
