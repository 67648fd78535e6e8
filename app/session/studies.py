"""The study of the session's cohort: where it is at work, and what it has found."""

import hashlib

import streamlit as st

from biobgt.export import CohortRef
from biobgt.study.background import BackgroundStudy
from biobgt.study.finished import FinishedStudy, finished_study
from session.view import FINISHED_STUDY, View

_KEY_LENGTH = 24


def background_study(view: View) -> BackgroundStudy:
    """The study of the view's cohort, known by its numbers, groups and phenotypes."""
    about = f"{view.loaded.sha256} {view.loaded.people}"
    return BackgroundStudy(hashlib.sha256(about.encode()).hexdigest()[:_KEY_LENGTH])


def opened_study(study: BackgroundStudy) -> FinishedStudy:
    """What it has found, read once for every run of it."""
    which = (str(study.out), study.report.stat().st_mtime_ns)
    kept: tuple[tuple[str, int], FinishedStudy] | None = st.session_state.get(FINISHED_STUDY)
    if kept is None or kept[0] != which:
        with st.spinner("Reading the study…"):
            kept = (which, finished_study(study.out))
        st.session_state[FINISHED_STUDY] = kept
    return kept[1]


def forget_study() -> None:
    """Show no study any more."""
    st.session_state.pop(FINISHED_STUDY, None)


def listed_study(ref: CohortRef) -> FinishedStudy | None:
    """The study that a figure of the export is of, if it is the one that is shown, with the same findings."""
    kept = st.session_state.get(FINISHED_STUDY)
    if not ref.study or kept is None:
        return None
    study: FinishedStudy = kept[1]
    return study if (study.cohort.name, study.sha256) == (ref.name, ref.sha256) else None
