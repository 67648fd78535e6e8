"""Tables of texts that are as wide as the page."""

import pandas as pd
import streamlit as st

from biobgt.training.card_tables import FIXED_SPACE
from views.shared.widgets import plain

ALL_METRICS = "All metrics, as a table"  # what a figure of results shows a part of


def show_table(table: pd.DataFrame, *, alt: str) -> None:
    """A table whose cells break into lines, so that it is as wide as the page and no column is hidden.

    Parameters
    ----------
    table : DataFrame of str
        The first column names the rows.
    alt : str
        What a screen reader says of it.
    """
    st.table(table.map(_escaped).set_index(table.columns[0]), alt=alt)


def _escaped(text: str) -> str:
    """Plain text that keeps its fixed spaces, which :func:`plain` takes for any other."""
    return FIXED_SPACE.join(plain(part) for part in text.split(FIXED_SPACE))
