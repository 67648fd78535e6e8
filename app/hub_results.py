"""A subject's hubs, and the hub curves of its group, measured once for each graph and perturbation.

Any γ is then read off at once, and kept, too. A group is measured subject by subject, and every subject is kept as soon
as it is done: work that was stopped goes on where it ended.

Demo subjects are nobody's: their results are shared between sessions. Those of a user's own subjects are kept with
the subjects, in that user's session and nowhere else.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pandas as pd
import streamlit as st
from loaded import View, keep_few
from state import GAMMAS

from biobgt import ConnectomeSettings, Subject
from biobgt.connectome import subject_connectivity
from biobgt.hubs import HubRule, Perturbation
from biobgt.hubs.group_curves import SubjectCurves, measure_curves
from biobgt.hubs.rank_correlation import RankCorrelation
from biobgt.hubs.remembered_spectra import RememberedSpectra
from biobgt.hubs.sweep import SubjectHubs, hub_correlations, measure_hubs
from biobgt.simulate import DEMO_COHORTS

WAITING = "Perturbing every region…"
DRAWING = "Drawing the brain…"
KEPT_DEMO, KEPT_OWN = 64, 16  # a third of a megabyte each, at 200 regions
KEPT_DEMO_CURVES, KEPT_OWN_CURVES = 24, 3  # of all subjects, at as many settings; 50 kB a subject
KEPT_PICTURES = 32
KEPT_TABLES = 64  # 50 kB each


@dataclass(frozen=True, eq=False)
class KeptHubs(SubjectHubs):
    """A subject's hubs that remember their tables and correlations."""

    tables: dict[tuple[float, HubRule, float], pd.DataFrame] = field(default_factory=dict)
    agreement: dict[float, dict[str, RankCorrelation]] = field(default_factory=dict)

    def table(self, gamma: float, *, rule: HubRule = "top", share: float = 0.1) -> pd.DataFrame:
        """The table of :func:`biobgt.hubs.hub_table`, with γ in units of 1/mean(λ)."""
        judge = super().table
        kept = keep_few(
            self.tables, (gamma, rule, share), lambda: judge(gamma, rule=rule, share=share), most=KEPT_TABLES
        )
        return kept.copy()

    def correlations(self, gamma: float) -> dict[str, RankCorrelation]:
        """The agreement of node entanglement with the other two at one γ."""
        return keep_few(self.agreement, gamma, lambda: hub_correlations(self, gamma), most=KEPT_TABLES)


def subject_hubs(view: View) -> KeptHubs:
    """The hubs of the view's subject, at any γ."""
    if view.loaded.key in DEMO_COHORTS:
        return _demo_hubs(view, view.loaded.key, view.subject.id, view.settings, view.hubs.perturbation)
    kept = view.loaded.own_hubs
    key = (view.subject.id, view.settings, view.hubs.perturbation)

    def measure() -> KeptHubs:
        with st.spinner(WAITING):
            return _measure(view)

    return keep_few(kept, key, measure, most=KEPT_OWN)


@st.cache_resource(show_spinner=WAITING, max_entries=KEPT_DEMO)  # as it is, not a copy that remembers nothing
def _demo_hubs(
    _view: View, cohort: str, subject: str, settings: ConnectomeSettings, perturbation: Perturbation
) -> KeptHubs:
    """The names after the view, which is not hashed, say all that the result depends on."""
    return _measure(_view)


def _measure(view: View) -> KeptHubs:
    # FC strength is on the Pearson matrix, as in the paper and on the command line, whatever the graph is made of.
    graph = view.graph(view.connectivity())
    hubs = measure_hubs(graph, subject_connectivity(view.subject), perturbation=view.hubs.perturbation)
    spectra = RememberedSpectra(**vars(hubs.spectra))
    return KeptHubs(**{**vars(hubs), "spectra": spectra})


def group_members(view: View) -> tuple[Subject, ...]:
    """The subjects of the view's subject's group, itself among them; the whole cohort where it has no group."""
    group = view.subject.group
    return tuple(subject for subject in view.cohort if group is None or subject.group == group)


def kept_curves(view: View) -> dict[str, SubjectCurves]:
    """What has been measured of the cohort's hub curves so far, by subject."""
    if view.loaded.key in DEMO_COHORTS:
        return _demo_curves(view.loaded.key, view.settings, view.hubs.perturbation)
    kept = view.loaded.own_curves
    return keep_few(kept, (view.settings, view.hubs.perturbation), dict, most=KEPT_OWN_CURVES)


def keep_curves(view: View, subject: Subject) -> None:
    """Measure one subject's hub curves, and keep them."""
    kept_curves(view)[subject.id] = _measure_curves(replace(view, subject=subject))


def hub_picture(view: View, kind: str, draw: Callable[[], bytes]) -> bytes:
    """A picture of the subject's hubs at the view's γ, drawn once."""
    name = (kind, view.subject.id, view.settings, view.hubs.gamma, view.hubs.perturbation)
    if view.loaded.key in DEMO_COHORTS:
        return _demo_picture(draw, (view.loaded.key, *name))

    def draw_in_sight() -> bytes:
        with st.spinner(DRAWING):
            return draw()

    return keep_few(view.loaded.own_pictures, name, draw_in_sight, most=KEPT_PICTURES)


@st.cache_resource(show_spinner=False, max_entries=KEPT_DEMO_CURVES)
def _demo_curves(cohort: str, settings: ConnectomeSettings, perturbation: Perturbation) -> dict[str, SubjectCurves]:
    """What all sessions have measured of a demo cohort so far, by subject."""
    return {}


@st.cache_data(show_spinner=DRAWING, max_entries=KEPT_PICTURES)
def _demo_picture(_draw: Callable[[], bytes], name: tuple[object, ...]) -> bytes:
    return _draw()


def _measure_curves(view: View) -> SubjectCurves:
    graph = view.graph(view.connectivity())
    connectivity = subject_connectivity(view.subject)
    return measure_curves(graph, connectivity, GAMMAS, perturbation=view.hubs.perturbation)
