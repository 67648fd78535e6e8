"""Regions that the user's subjects lack: which they are, and what is done about them."""

import streamlit as st

from biobgt import Cohort
from biobgt.base.wording import counted
from biobgt.data.atlas import FEWEST_REGIONS
from biobgt.data.edits import DRAWN_AS_GAPS, keep_shared_regions, missing_regions, missing_words, remove_subjects
from session.loaded_cohorts import change_own_cohort
from views.shared.widgets import input_errors_shown, plain


def show_missing(cohort: Cohort) -> None:
    """Name the missing regions, and let the user work on the shared ones or without the subjects who lack some."""
    found = missing_regions(cohort)
    if not found.anywhere:
        return
    st.subheader("Missing regions")
    st.warning(plain(missing_words(cohort, found)), icon=":material/grid_off:")
    n_shared, n_lacking = cohort.atlas.n_regions - len(found.anywhere), len(found.of_subject)
    with st.container(horizontal=True):
        sharing = st.button(
            f"Keep only the {n_shared} regions that all subjects have",
            key="keep_shared",
            icon=":material/join_inner:",
            disabled=n_shared < FEWEST_REGIONS,
        )
        removing = st.button(
            f"Remove the {counted(n_lacking, 'subject')} with missing regions",
            key="remove_lacking",
            icon=":material/person_remove:",
            disabled=n_lacking == len(cohort),
        )
    st.caption(
        f"Until you choose, missing regions stay in the atlas. {DRAWN_AS_GAPS} Models need every region of their "
        "atlas, so none can be applied to the shared regions alone."
    )
    if sharing or removing:
        with input_errors_shown():
            changed = keep_shared_regions(cohort) if sharing else remove_subjects(cohort, found.of_subject)
            change_own_cohort(changed)
            st.rerun()
