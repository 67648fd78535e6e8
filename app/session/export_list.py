"""The figures a user wants to export: a list in that user's session, and the requests that pages put on it."""

from dataclasses import replace

import streamlit as st

from biobgt.base.options import Options
from biobgt.base.wording import counted
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.export import CohortRef, FigureRequest
from biobgt.figures.register import Figure
from biobgt.model.installed import installed_model
from biobgt.results.measured import Measured
from session.view import EXPORT_LIST, View, current_view


def figure_request(view: View, figure: Figure, options: Options, measured: Measured | None = None) -> FigureRequest:
    """Ask for a figure that a page shows, with all its options.

    Parameters
    ----------
    view : View
    figure : Figure
        Of the register.
    options : Options
    measured : Measured, optional
        Of a model's cohort, of which a figure of its groups is made.
    """
    if figure.of_model:
        name = measured.cohort.name if measured else ""
        cohort = CohortRef(name, model=True, sha256=installed_model(name).sha256)
        return FigureRequest(figure.key, cohort, options=options.as_dict())
    key = view.loaded.key
    cohort = CohortRef(key, demo=True) if key in DEMO_COHORTS else CohortRef(view.cohort.name)
    subject = view.subject.id if figure.of_subject else None
    settings = view.settings if figure.of_graph else ConnectomeSettings()
    return FigureRequest(figure.key, cohort, subject, settings, options.as_dict())


def listed_figures() -> list[FigureRequest]:
    """What is to be exported, in the order of the paper."""
    return list(st.session_state.get(EXPORT_LIST, []))


def keep_list(requests: list[FigureRequest]) -> None:
    """Keep another list in the place of the present one."""
    st.session_state[EXPORT_LIST] = list(requests)


def is_in_export(request: FigureRequest) -> bool:
    """Whether a figure is on the list."""
    requests = listed_figures()
    # The SHA-256 of a large cohort takes a while, and no other request can be one of own subjects.
    return any(one.cohort.own == request.cohort.own for one in requests) and _pinned(request) in requests


def add_to_export(request: FigureRequest) -> None:
    """Put a figure on the list, and say so."""
    pinned, requests = _pinned(request), listed_figures()
    if pinned in requests:
        return
    keep_list([*requests, pinned])
    number = counted(len(requests) + 1, "figure")
    st.toast(f"Added to the export: {number} on the page Export.", icon=":material/check:")


def _pinned(request: FigureRequest) -> FigureRequest:
    """A request as the list keeps it: own subjects are remembered by the SHA-256 of their numbers."""
    if not request.cohort.own:
        return request
    return replace(request, cohort=replace(request.cohort, sha256=current_view().loaded.sha256))


def move(position: int, by: int) -> None:
    """Move a figure up (−1) or down (1)."""
    requests = listed_figures()
    other = position + by
    if 0 <= position < len(requests) and 0 <= other < len(requests):
        requests[position], requests[other] = requests[other], requests[position]
        keep_list(requests)


def remove(position: int) -> None:
    """Take a figure off the list."""
    requests = listed_figures()
    if 0 <= position < len(requests):
        del requests[position]
        keep_list(requests)
