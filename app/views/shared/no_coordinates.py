"""What stands in the place of a brain where the atlas has no coordinates, and what can be done about it."""

import streamlit as st

NO_PLACES = "This atlas has no coordinates, so its regions cannot be drawn in the brain."
HOW_TO_GET_PLACES = "On the page Subjects, choose a bundled atlas or add an atlas table with coordinates."


def show_no_places() -> None:
    """Say that the regions of the subjects' atlas cannot be drawn, and what to do."""
    st.info(f"{NO_PLACES} {HOW_TO_GET_PLACES}", icon=":material/info:")
