"""One subject's modules in the brain: to turn on the screen, in nilearn's glass brain or painted on the cortex."""

import streamlit as st

from biobgt.figures.module_brains import ModuleBrain, ModuleBrainOptions
from biobgt.figures.surface import NODES
from session.page_options import GLASS, PageOptions, brain_kind
from session.view import View
from views.shared.no_coordinates import show_no_places
from views.shared.option_widgets import ask
from views.shared.widgets import heading, show

GLASS_MM = 140.0


def show_brain(view: View) -> None:
    """Show the subject's modules in the brain, with the strongest connections within modules."""
    heading("In the brain", simulated=view.subject.simulated)
    if view.atlas.coordinates is None:
        show_no_places()
        return
    shown = view.options(PageOptions).module_brain
    glass, brain = shown == GLASS, brain_kind(shown)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(PageOptions, "module_brain", cohort=view.cohort)
        ask(ModuleBrainOptions, "connections", cohort=view.cohort, disabled=brain != NODES)
    figure = ModuleBrain.of(view.measured, view.options(ModuleBrainOptions, brain=brain))
    show(view, figure, key="brain_glass" if glass else "brain", as_picture=glass, picture_mm=GLASS_MM)
