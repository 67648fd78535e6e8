"""Hubs in the brain, on the page of hubs: in 3-D, in the glass brain, and five measures side by side."""

from functools import partial

import pandas as pd
import streamlit as st
from export_list import hub_request
from hub_results import hub_picture
from loaded import View
from state import BRAIN_SHOWN, HUB_BRAINS
from widgets import as_png, heading, show_figure, show_picture

from biobgt.figures import brain_3d, brain_caption, centralities_caption
from biobgt.figures.brain import CORTEX, GLASS_BRAIN
from biobgt.graph import Matrix

IN_3D, GLASS, FIVE = HUB_BRAINS
TITLES = {IN_3D: "Interactive, 3-D", GLASS: "Glass brain", FIVE: "Five measures"}
# The paper's five, by their names there and in the hub table, with what they are.
MEASURES = {
    "DC": ("degree", "degree"),
    "BC": ("betweenness", "betweenness"),
    "CC": ("closeness", "closeness"),
    "EC": ("eigenvector", "eigenvector centrality"),
    "NE": ("node_entanglement", "node entanglement"),
}
PICTURE_MM, SCREEN_DPI = 174.0, 220
GLASS_RECIPE = "hub_brain"  # on paper the brain is always of glass


def show_brain(view: View, table: pd.DataFrame) -> None:
    """Show the regions at their places, sized by NE and coloured by its rank, or by five measures."""
    heading("Hubs in the brain", simulated=view.subject.simulated)
    coordinates = view.atlas.coordinates
    if coordinates is None:
        st.info(
            "This atlas has no coordinates, so its regions cannot be drawn in the brain. Choose a bundled atlas on the "
            "page of subjects, or bring one with coordinates.",
            icon=":material/info:",
        )
        return
    st.session_state.setdefault(BRAIN_SHOWN, IN_3D)
    shown = st.segmented_control(
        "Drawn as",
        list(TITLES),
        format_func=TITLES.__getitem__,
        key=BRAIN_SHOWN,
        required=True,
        persist_state="session",
    )
    if shown == FIVE:
        _show_five(view, table, coordinates)
    elif shown == GLASS:
        _show_glass(view, table, coordinates)
    else:
        _show_in_3d(view, table, coordinates)


def _show_in_3d(view: View, table: pd.DataFrame, coordinates: Matrix) -> None:
    subject = view.subject
    figure = brain_3d(
        coordinates,
        view.atlas.regions,
        sizes=table["node_entanglement"].to_numpy(),
        values=table["node_entanglement_rank"].to_numpy(float),
        quantity="rank by NE",
        ranked=True,
        title=f"Hubs of {subject.id}",
        simulated=subject.simulated,
    )
    request = hub_request(view, GLASS_RECIPE)
    show_figure(figure, _caption(view), key="hub_brain", file_name=f"{subject.id}_hub_brain", export=request)


def _show_glass(view: View, table: pd.DataFrame, coordinates: Matrix) -> None:
    png = hub_picture(view, GLASS, partial(_draw_glass, view, table, coordinates))
    caption = _caption(view, GLASS_BRAIN)
    show_picture(png, caption, "hub_glass", export=hub_request(view, GLASS_RECIPE))


def _show_five(view: View, table: pd.DataFrame, coordinates: Matrix) -> None:
    png = hub_picture(view, FIVE, partial(_draw_five, view, table, coordinates))
    caption = centralities_caption(
        view.subject.id,
        {name: title for name, (_, title) in MEASURES.items()},
        gamma=view.hubs.gamma,
        perturbation=view.hubs.perturbation,
        simulated=view.subject.simulated,
    )
    show_picture(png, caption, "hub_five", export=hub_request(view, "five_brains"))


def _caption(view: View, where: str = CORTEX) -> str:
    gamma = f"at γ = {view.hubs.gamma:g}/mean(λ)"
    quantity = f"the rank by NE {gamma} (1 is the strongest hub)"
    return brain_caption(
        view.subject.id,
        view.atlas.n_regions,
        quantity=quantity,
        size="NE itself",
        where=where,
        simulated=view.subject.simulated,
    )


def _draw_glass(view: View, table: pd.DataFrame, coordinates: Matrix) -> bytes:
    from biobgt.figures.paper import PaperStyle, glass_brain  # brings matplotlib, which only a picture needs

    style = PaperStyle(width_mm=PICTURE_MM, dpi=SCREEN_DPI)
    figure = glass_brain(
        coordinates,
        view.atlas.regions,
        sizes=table["node_entanglement"].to_numpy(),
        values=table["node_entanglement_rank"].to_numpy(float),
        quantity="rank by NE",
        ranked=True,
        title=f"Hubs of {view.subject.id}",
        simulated=view.subject.simulated,
        style=style,
    )
    return as_png(figure, style=style)


def _draw_five(view: View, table: pd.DataFrame, coordinates: Matrix) -> bytes:
    from biobgt.figures.paper import PaperStyle, five_brains

    style = PaperStyle(width_mm=PICTURE_MM, dpi=SCREEN_DPI)
    figure = five_brains(
        {name: table[f"{measure}_z"].to_numpy() for name, (measure, _) in MEASURES.items()},
        coordinates,
        view.atlas.regions,
        captions={name: title for name, (_, title) in MEASURES.items()},
        quantity="z-score over regions",
        title=f"Five hub measures of {view.subject.id}",
        simulated=view.subject.simulated,
        style=style,
    )
    return as_png(figure, style=style)
