"""Modules in the brain: to turn on the screen, or as nilearn's glass brain."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from export_list import named_request
from loaded import ModuleChoices, View
from module_results import graph_of_modules, keep
from state import BRAIN_EDGES, BRAIN_KIND, BRAIN_KINDS, EDGE_NUMBERS
from widgets import as_png, heading, show_figure, show_picture

from biobgt.analysis import SubjectModules
from biobgt.export import FigureRequest
from biobgt.figures import brain_3d, brain_caption, module_colours
from biobgt.figures.brain import CORTEX, GLASS_BRAIN
from biobgt.modules.connections import strongest_within_modules

THREE_D, GLASS = BRAIN_KINDS
GLASS_WIDTHS_MM = {False: 140.0, True: 85.0}
FARTHER = 1.3
_NO_PLACES = "The coordinates of this atlas are not known, so its regions cannot be drawn on a brain."


def show_brain(view: View, choices: ModuleChoices, modules: SubjectModules, names: Mapping[int, str]) -> None:
    """Show the subject's modules in the brain, with the strongest connections within modules."""
    subject = view.subject
    heading("In the brain", simulated=subject.simulated)
    if view.atlas.coordinates is None:
        st.info(_NO_PLACES)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = pick_brain(key=BRAIN_KIND)
        st.session_state.setdefault(BRAIN_EDGES, 0)
        most = st.slider(
            "Strongest connections within modules",
            EDGE_NUMBERS[0],
            EDGE_NUMBERS[-1],
            step=EDGE_NUMBERS[1],
            key=BRAIN_EDGES,
            persist_state="session",
            width=330,
        )
    edges = strongest_within_modules(graph_of_modules(view, choices), modules.partition, most=most)
    draw_modules(
        view,
        modules.partition.labels.tolist(),
        names,
        kind=kind,
        edges=edges,
        caption=partial(
            brain_caption,
            subject.id,
            view.atlas.n_regions,
            n_groups=modules.partition.n_modules,
            n_edges=len(edges),
            simulated=subject.simulated,
        ),
        key="brain",
        title=f"Modules of {subject.id}",
        simulated=subject.simulated,
        export=named_request(view, choices, "module_brain", connections=most),
    )


def pick_brain(*, key: str) -> str:
    """Ask for the kind of brain."""
    st.session_state.setdefault(key, THREE_D)
    kind = st.segmented_control("Brain", [THREE_D, GLASS], key=key, required=True, persist_state="session")
    return kind or THREE_D


def draw_modules(
    view: View,
    labels: Sequence[int],
    names: Mapping[int, str],
    *,
    kind: str,
    caption: Callable[..., str],
    key: str,
    title: str,
    simulated: bool,
    export: FigureRequest,
    edges: Sequence[tuple[int, int, float]] = (),
    narrow: bool = False,
) -> None:
    """Draw regions in the colours of their modules.

    Parameters
    ----------
    view : View
    labels : sequence of int, length n_regions
        Modules; 0 is none.
    names : mapping of int to str
    kind : str
        :data:`THREE_D` or :data:`GLASS`.
    caption : callable
        What is said of a brain, when told which (``where``).
    key : str
        Unique on the page.
    title : str
    simulated : bool
    export : FigureRequest
        Makes the figure for the paper.
    edges : sequence of (int, int, float)
    narrow : bool
        Draw for half the page: a smaller picture with letters of the same size, a brain seen from farther off.
    """
    numbers = sorted(set(labels) - {0})
    groups = tuple(names[label] if label else None for label in labels)
    colours = {names[number]: colour for number, colour in module_colours(numbers).items()}
    coordinates, regions = view.atlas.coordinates, view.atlas.regions
    assert coordinates is not None
    drawn: dict[str, Any] = {
        "groups": groups,
        "group_colours": colours,
        "edges": edges,
        "title": title,
        "simulated": simulated,
    }
    if kind == THREE_D:
        figure = brain_3d(coordinates, regions, **drawn)
        if narrow:
            eye = figure.layout.scene.camera.eye
            figure.update_scenes(camera_eye={axis: FARTHER * eye[axis] for axis in ("x", "y", "z")})
        show_figure(figure, caption(where=CORTEX), key=key, file_name=title, export=export)
        return
    from biobgt.figures.paper.brain import glass_brain  # they bring matplotlib, which only this picture needs
    from biobgt.figures.paper.style import PaperStyle

    def draw() -> bytes:
        with st.spinner("Drawing the glass brain…"):
            style = PaperStyle(width_mm=GLASS_WIDTHS_MM[narrow])
            return as_png(glass_brain(coordinates, regions, style=style, **drawn))

    picture = keep(view, "picture", (groups, tuple(edges), title, narrow), draw)
    show_picture(picture, caption(where=GLASS_BRAIN), f"{key}_glass", export=export)
