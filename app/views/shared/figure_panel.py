"""Figures that have no panel of their own: each is shown below its page's panels, with widgets for its options."""

import streamlit as st

from biobgt.figures.catalogue import FIGURES
from biobgt.figures.register import Figure
from session.view import View
from views.shared.options import ask
from views.shared.widgets import heading, input_errors_shown, show


def show_further_figures(view: View, page: str) -> None:
    """Show every figure of the register that names this page."""
    for figure in FIGURES.values():
        if figure.page != page:
            continue
        heading(figure.name, simulated=view.subject.simulated)
        asked = [one.name for one in figure.takes.declared().values() if one.link]
        with st.container(horizontal=True, vertical_alignment="bottom"):
            ask(figure.takes, *asked, cohort=view.cohort)
        with input_errors_shown():
            options = view.options(figure.takes)
            if isinstance(figure, Figure):
                show(view, figure, options)
            else:
                show(view, figure.of(view.measured, options))
