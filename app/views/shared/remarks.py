"""Sentences about files and subjects in tables whose lines break: a sentence that is cut off loses its advice."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from biobgt.base.wording import counted
from views.shared.widgets import plain

TABLE_HEIGHT, MOST_ROWS = 300, 7  # longer tables scroll
TWO_GROUPS = "Choose two different groups."
NAMED_SUBJECTS = 5  # by a remark; of more the number is given


def show_sentences(rows: Sequence[Mapping[str, str]], *, alt: str) -> None:
    """Show a table whose lines break. It takes its cells for Markdown, and they hold names that came from files."""
    cells = pd.DataFrame([{title: plain(text) for title, text in row.items()} for row in rows])
    st.table(cells, hide_index=True, height=TABLE_HEIGHT if len(rows) > MOST_ROWS else "content", alt=alt)


def show_remarks(table: pd.DataFrame, levels: Mapping[str, str]) -> None:
    """Show each remark of a table of subjects once, in full, with the subjects it is about.

    Parameters
    ----------
    table : DataFrame
        One row per subject, with the column ``subject``; a remark may be empty.
    levels : mapping of str to str
        Columns of remarks, and what a remark in them is called.
    """
    rows = [
        {"Flag": level, "What it says": str(remark), "Subjects": _named(subjects.tolist())}
        for column, level in levels.items()
        for remark, subjects in table[table[column] != ""].groupby(column, sort=False)["subject"]
    ]
    if rows:
        show_sentences(rows, alt="Remarks in full, and the subjects they are about")


def _named(subjects: Sequence[str]) -> str:
    more = len(subjects) - NAMED_SUBJECTS
    return counted(len(subjects), "subject") if more > 0 else ", ".join(subjects)
