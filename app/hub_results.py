"""A subject's hubs, measured once for each graph and perturbation; any γ is then read off at once.

Demo subjects are nobody's: their results are shared between sessions. Those of a user's own subjects are kept with
the subjects, in that user's session and nowhere else.
"""

import streamlit as st
from state import View

from biobgt import ConnectomeSettings
from biobgt.connectome import subject_connectivity
from biobgt.hubs import Perturbation
from biobgt.hubs.sweep import SubjectHubs, measure_hubs
from biobgt.simulate import DEMO_COHORTS

WAITING = "Perturbing every region…"
KEPT_DEMO, KEPT_OWN = 64, 16  # a third of a megabyte each, at 200 regions


def subject_hubs(view: View) -> SubjectHubs:
    """The hubs of the view's subject, at any γ."""
    if view.loaded.key in DEMO_COHORTS:
        return _demo_hubs(view, view.loaded.key, view.subject.id, view.settings, view.hubs.perturbation)
    kept = view.loaded.own_hubs
    key = (view.subject.id, view.settings, view.hubs.perturbation)
    if key not in kept:
        with st.spinner(WAITING):
            measured = _measure(view)
        while len(kept) >= KEPT_OWN:
            del kept[next(iter(kept))]
        kept[key] = measured
    return kept[key]


@st.cache_data(show_spinner=WAITING, max_entries=KEPT_DEMO)
def _demo_hubs(
    _view: View, cohort: str, subject: str, settings: ConnectomeSettings, perturbation: Perturbation
) -> SubjectHubs:
    """The names after the view, which is not hashed, say all that the result depends on."""
    return _measure(_view)


def _measure(view: View) -> SubjectHubs:
    # FC strength is on the Pearson matrix, as in the paper and on the command line, whatever the graph is made of.
    graph = view.graph(view.connectivity())
    return measure_hubs(graph, subject_connectivity(view.subject), perturbation=view.hubs.perturbation)
