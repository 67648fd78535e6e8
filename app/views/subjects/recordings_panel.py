"""Several recordings of one person: kept apart, averaged, or one of them chosen."""

import streamlit as st

from biobgt import Cohort
from biobgt.data.cohort import counted_people
from biobgt.data.edits import RECORDING_RULES, apply_recording_rule, recording_of, recordings_by_person
from session.keys import ANSWERS
from session.loaded_cohorts import brought_files, change_own_cohort
from views.shared.widgets import input_errors_shown, plain


def show_recordings(cohort: Cohort) -> None:
    """Say who has several recordings, and let the user choose what becomes of them."""
    people = recordings_by_person(cohort)
    if len(people) == len(cohort):
        return
    st.subheader("Several recordings per person")
    st.markdown(
        plain(f"There are {counted_people(len(people), len(cohort))}. Until you choose, {RECORDING_RULES['apart']}.")
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        averaging = st.button("Average each person's recordings", key="average_recordings", icon=":material/merge:")
        first = st.button("Keep each person's first", key="first_recordings", icon=":material/looks_one:")
        run = st.selectbox(
            "Session or run", _runs(cohort), index=None, placeholder="choose one", key="kept_run", width=220
        )
        keeping = st.button("Keep only this one", key="keep_run", icon=":material/filter_1:", disabled=run is None)
    st.caption(plain(f"Averaged: {RECORDING_RULES['averaged']}. First: {RECORDING_RULES['earliest']}."))
    if averaging or first:
        _choose(cohort, "recordings", "averaged" if averaging else "earliest")
    elif keeping and run is not None:
        _choose(cohort, "run", run)


def _runs(cohort: Cohort) -> list[str]:
    """The sessions, the runs, and both together, as ids name them."""
    labels = sorted({recording_of(name) for name in cohort.ids} - {""})
    parts = sorted({part for label in labels for part in label.split("_") if part.startswith(("ses-", "run-"))})
    return list(dict.fromkeys([*parts, *labels]))


def _choose(cohort: Cohort, option: str, choice: str) -> None:
    """Answer for the files, which are read again; a cohort without files here is changed as it is."""
    with input_errors_shown():
        if brought_files():
            st.session_state[ANSWERS] = {**st.session_state.get(ANSWERS, {}), option: choice}
        elif option == "run":
            change_own_cohort(apply_recording_rule(cohort, run=choice))
        else:
            change_own_cohort(apply_recording_rule(cohort, "averaged" if choice == "averaged" else "earliest"))
        st.rerun()
