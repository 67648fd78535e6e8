"""An atlas that is not bundled: how it is named among the atlases to choose from, and how its table is asked for."""

import streamlit as st

from biobgt.readers.recognise import ATLAS_SUFFIXES
from session.uploads import Upload

OWN_TABLE, OWN_TABLE_TITLE = "own table", "My own atlas table"
UNKNOWN_TITLE = "Another atlas, or not known"
UNKNOWN_IN_LIST = f"{UNKNOWN_TITLE}: regions are numbered"


def ask_for_atlas_table(key: str) -> Upload | None:
    """Ask for the table; None while there is none."""
    table: Upload | None = st.file_uploader(
        "Atlas table: columns x, y, z and label, or a BrainNet Viewer .node file", type=ATLAS_SUFFIXES, key=key
    )
    return table
