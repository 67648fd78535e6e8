"""The figures a user wants to export: a list in that user's session, and the requests that pages put on it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from loaded import ModuleChoices, View
from state import EXPORT_LIST, current_view

from biobgt.export import CohortRef, FigureRequest, Plain
from biobgt.graph import ConnectomeSettings
from biobgt.simulate import DEMO_COHORTS
from biobgt.wording import counted

# Values of widgets on the page of exports.
EXPORT_WIDTH = "export_width"
EXPORT_FONT = "export_font"
EXPORT_FONT_SIZE = "export_font_size"
EXPORT_DPI = "export_dpi"
EXPORT_PALETTE = "export_palette"
EXPORT_FORMATS = "export_formats"
EXPORT_DATA = "export_data"


def request_of(view: View, figure: str, **options: Plain) -> FigureRequest:
    """Ask for a figure of the view's subject, by the name of its recipe."""
    key = view.loaded.key
    cohort = CohortRef(key, demo=True) if key in DEMO_COHORTS else CohortRef(view.cohort.name)
    return FigureRequest(figure, cohort, view.subject.id, view.settings, options)


def hub_request(view: View, figure: str, **options: Plain) -> FigureRequest:
    """Ask for a figure of the subject's hubs, at the view's γ and perturbation."""
    return request_of(view, figure, gamma=view.hubs.gamma, perturbation=view.hubs.perturbation, **options)


def ruled_request(view: View, figure: str, **options: Plain) -> FigureRequest:
    """Ask for a figure that marks hubs, by the view's rule, and the region that the user picked, if any."""
    return hub_request(view, figure, rule=view.hubs.rule, region=view.hubs.region, **options)


def module_request(view: View, choices: ModuleChoices, figure: str, **options: Plain) -> FigureRequest:
    """Ask for a figure of modules, found as the user chose."""
    how: dict[str, Plain] = {
        "resolution": choices.resolution,
        "runs": choices.runs,
        "seed": choices.seed,
        "consensus": choices.consensus,
        "signed": choices.signed,
    }
    return request_of(view, figure, **how, **options)


def named_request(view: View, choices: ModuleChoices, figure: str, **options: Plain) -> FigureRequest:
    """Ask for a figure in which modules have names."""
    return module_request(view, choices, figure, labelling=choices.labelling, **options)


def model_request(card: Mapping[str, Any], figure: str, **options: Plain) -> FigureRequest:
    """Ask for a figure of a trained model's groups."""
    cohort = CohortRef(card["name"], model=True, sha256=card["sha256"])
    return FigureRequest(figure, cohort, options=options)


def subject_model_request(view: View, card: Mapping[str, Any], figure: str, **options: Plain) -> FigureRequest:
    """Ask for a figure of what a trained model says of the view's subject; a model makes its own graph of it."""
    request = request_of(view, figure, model=card["name"], model_sha256=card["sha256"], **options)
    return replace(request, settings=ConnectomeSettings())


def listed() -> list[FigureRequest]:
    """What is to be exported, in the order of the paper."""
    return list(st.session_state.get(EXPORT_LIST, []))


def keep_list(requests: list[FigureRequest]) -> None:
    """Keep another list in the place of the present one."""
    st.session_state[EXPORT_LIST] = list(requests)


def add_to_export(request: FigureRequest) -> None:
    """Put a figure on the list, and say so; own subjects are remembered by the SHA-256 of their numbers."""
    pinned = request
    if request.cohort.own:
        pinned = replace(request, cohort=replace(request.cohort, sha256=current_view().loaded.sha256))
    requests = listed()
    if pinned in requests:
        st.toast("This figure is in the export already.", icon=":material/check:")
        return
    keep_list([*requests, pinned])
    number = counted(len(requests) + 1, "figure")
    st.toast(f"Added to the export: {number} on the page Export.", icon=":material/check:")


def move(position: int, by: int) -> None:
    """Move a figure up (−1) or down (1)."""
    requests = listed()
    other = position + by
    if 0 <= position < len(requests) and 0 <= other < len(requests):
        requests[position], requests[other] = requests[other], requests[position]
        keep_list(requests)


def remove(position: int) -> None:
    """Take a figure off the list."""
    requests = listed()
    if 0 <= position < len(requests):
        del requests[position]
        keep_list(requests)
