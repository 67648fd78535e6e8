"""A subject's modules, found once for each graph and resolution.

As for hubs: demo subjects' results are shared between sessions, a user's own stay in that user's session.
"""

import streamlit as st
from state import View

from biobgt import ConnectomeSettings
from biobgt.analysis import ModuleOptions, SubjectModules, measure_modules
from biobgt.connectome import subject_connectivity
from biobgt.simulate import DEMO_COHORTS

WAITING = "Looking for modules…"
KEPT_DEMO, KEPT_OWN = 64, 16


def subject_modules(view: View, resolution: float) -> SubjectModules:
    """The modules of the view's subject."""
    if view.loaded.key in DEMO_COHORTS:
        return _demo_modules(view, view.loaded.key, view.subject.id, view.settings, resolution)
    kept = view.loaded.own_modules
    key = (view.subject.id, view.settings, resolution)
    if key not in kept:
        with st.spinner(WAITING):
            found = _find(view, resolution)
        while len(kept) >= KEPT_OWN:
            del kept[next(iter(kept))]
        kept[key] = found
    return kept[key]


@st.cache_data(show_spinner=WAITING, max_entries=KEPT_DEMO)
def _demo_modules(
    _view: View, cohort: str, subject: str, settings: ConnectomeSettings, resolution: float
) -> SubjectModules:
    """The names after the view, which is not hashed, say all that the result depends on."""
    return _find(_view, resolution)


def _find(view: View, resolution: float) -> SubjectModules:
    graph = view.graph(view.connectivity())
    return measure_modules(graph, subject_connectivity(view.subject), ModuleOptions(resolution=resolution))
