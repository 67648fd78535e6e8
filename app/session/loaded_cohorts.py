"""The cohorts of a session: the demo cohorts, and the one that its user uploaded.

Demo cohorts are nobody's data and are shared between sessions. A user's own subjects live in that user's session
and nowhere else: nothing here is cached across sessions that was read from a file.
"""

import streamlit as st
from threadpoolctl import threadpool_limits

from biobgt import Cohort
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.readers.fetch import DEMO_PREFIX, find_cohort
from session.keys import (
    ANSWERS,
    ATTEMPT,
    BATCH,
    EDITION,
    EXPORT_FILES,
    EXPORT_GRAPHS,
    EXPORT_LIST,
    EXPORT_MEASURED,
    EXPORT_PANELS,
    EXPORT_PREVIEWS,
    NEXT_COHORT,
    OWN_COHORT,
    UPLOADERS,
)
from session.view import LoadedCohort

# A few hundred regions are small matrices: several BLAS threads a session only wait for one another.
threadpool_limits(1, user_api="blas")

OWN = "own"
DEFAULT_COHORT = next(iter(DEMO_COHORTS))


@st.cache_resource(show_spinner="Drawing the demo cohort…")
def _demo(name: str) -> LoadedCohort:
    return LoadedCohort(name, find_cohort(f"{DEMO_PREFIX}{name}"))


def cohort_titles() -> dict[str, str]:
    """The cohorts of this session, by key, for the picker."""
    own = own_cohort()
    if own is None:
        return dict(DEMO_COHORTS)
    name = own.cohort.name
    return {**DEMO_COHORTS, OWN: f"{name}, from a project" if name in DEMO_COHORTS.values() else name}


def load(key: str) -> LoadedCohort:
    """Return a cohort by its key."""
    own = own_cohort()
    return own if key == OWN and own is not None else _demo(key)


def own_cohort() -> LoadedCohort | None:
    """The subjects this session's user uploaded."""
    own: LoadedCohort | None = st.session_state.get(OWN_COHORT)
    return own


def keep_own_cohort(cohort: Cohort) -> None:
    """Keep the subjects that the user added, and show it from the next run on."""
    st.session_state[OWN_COHORT] = LoadedCohort(OWN, cohort)
    st.session_state[NEXT_COHORT] = OWN
    _forget_exported()  # the same recordings may come with other phenotypes
    _next_edition()


def change_own_cohort(cohort: Cohort) -> None:
    """Keep what the user made of the own cohort; results stay where the change cannot have touched them."""
    own = own_cohort()
    st.session_state[OWN_COHORT] = LoadedCohort(OWN, cohort) if own is None else own.changed_to(cohort)
    _forget_exported()  # which may depend on groups and phenotypes, too
    _next_edition()


def brought_files() -> int:
    """How many files of subjects lie in the uploaders of the page of subjects, before these are drawn."""
    uploads = st.session_state.get(UPLOADERS, 0)
    return sum(len(st.session_state.get(f"{name}{uploads}") or ()) for name in ("files", "folder"))


def empty_uploaders() -> None:
    """Let the page of subjects start with nothing dropped and nothing answered."""
    st.session_state[UPLOADERS] = st.session_state.get(UPLOADERS, 0) + 1
    for key in (ATTEMPT, BATCH, ANSWERS):
        st.session_state.pop(key, None)


def _next_edition() -> None:
    st.session_state[EDITION] = st.session_state.get(EDITION, 0) + 1


def forget_own_cohort() -> None:
    """Drop what the user uploaded."""
    st.session_state.pop(OWN_COHORT, None)
    st.session_state[NEXT_COHORT] = DEFAULT_COHORT
    # Nor does the export keep anything of them.
    exported = st.session_state.get(EXPORT_LIST, [])
    st.session_state[EXPORT_LIST] = [request for request in exported if not request.cohort.own]
    _forget_exported()


def _forget_exported() -> None:
    for key in (EXPORT_FILES, EXPORT_PREVIEWS, EXPORT_MEASURED, EXPORT_PANELS, EXPORT_GRAPHS):
        st.session_state.pop(key, None)
