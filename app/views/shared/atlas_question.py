"""Is it that atlas? Asked where only the number of regions says so, before a model is applied."""

import streamlit as st

from biobgt.data.cohort import Cohort
from biobgt.data.edits import confirm_atlas
from biobgt.model.installed import unsure_atlas
from session.loaded_cohorts import change_own_cohort
from views.shared.widgets import plain


def ask_to_confirm_atlas(cohort: Cohort, *, key: str) -> None:
    """Say what is not sure, and let the user confirm it."""
    st.warning(plain(unsure_atlas(cohort)), icon=":material/help:")
    if st.button(plain(f"Yes, they are the regions of {cohort.atlas.title}, in its order"), key=key):
        change_own_cohort(confirm_atlas(cohort))
        st.rerun()
