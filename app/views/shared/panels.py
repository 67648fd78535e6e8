"""The figures of a page as rows of a list: a heading, what is asked about the figure, and the figure itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from biobgt.base.options import Options, Plain
from biobgt.figures.register import Figure, all_figures
from biobgt.model.installed import InstalledModel
from biobgt.results.measured import Measured
from session.view import GLASS, View, brain_kind, measured_model
from views.shared.options import ask_in_row
from views.shared.widgets import PICTURE_MM, heading, input_errors_shown, show

SIDE_BY_SIDE = 395  # px: two figures beside each other on a page of 1280 px, one below the other on one of 800


@dataclass(frozen=True)
class Panel:
    """A figure below its heading, and above it the options that are asked; called, it is shown.

    Attributes
    ----------
    figure : Figure
        Of the register.
    key : str
        Unique on the page; by default the figure's.
    title : str
        By default the figure's name.
    terms : tuple of str
        What the heading's help explains, by keys of the glossary.
    asked : tuple of str
        Names of the figure's options.
    fixed : mapping of str to plain values
        Options that are not the user's choice here.
    """

    figure: Figure
    key: str = ""
    title: str = ""
    terms: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    fixed: Mapping[str, Plain] = field(default_factory=dict)

    def __call__(self, view: View, model: InstalledModel | None = None) -> None:
        """Show it of the view's subject, or of a model's groups."""
        whose = view.subject if model is None else model
        heading(self.title or self.figure.name, simulated=whose.simulated, terms=self.terms)
        if self.asked:
            ask_in_row(self.figure.takes, *self.asked, cohort=view.cohort if model is None else model.cohort)
        with input_errors_shown():
            options = view.options(self.figure.takes, **self.fixed)
            measured = None if model is None else measured_model(model)
            show(view, self.figure, options, measured=measured, key=self.key or None)


def show_further_figures(view: View, page: str) -> None:
    """Show every figure of the register that names this page, with widgets for all of its options."""
    for figure in all_figures().values():
        if figure.page == page:
            Panel(figure, asked=tuple(one.name for one in figure.takes.declared().values() if one.link))(view)


def show_in_brain(
    view: View,
    figure: Figure,
    shown: str,
    *,
    key: str,
    measured: Measured | None = None,
    picture_mm: float = PICTURE_MM,
    **fixed: Plain,
) -> None:
    """Show a figure in the brain that the page lets choose: to turn, painted, or as a picture of a glass brain.

    Parameters
    ----------
    view : View
    figure : Figure
        Whose options say how the brain is drawn.
    shown : str
        What was chosen.
    key, measured, picture_mm
        As for :func:`views.shared.widgets.show`.
    **fixed : plain values
        Options that are not the user's choice here.
    """
    glass, options = shown == GLASS, view.options(figure.takes, brain=brain_kind(shown), **fixed)
    key = f"{key}_glass" if glass else key
    show(view, figure, options, measured=measured, key=key, as_picture=glass, picture_mm=picture_mm)


def show_beside(
    view: View, *figures: tuple[Figure, Options, str], measured: Measured | None = None, **how: Any
) -> None:
    """Show figures side by side, each with its options and its key; ``how`` is for all of them, as in ``show``."""
    with st.container(horizontal=True):
        for figure, options, key in figures:
            with st.container(width=SIDE_BY_SIDE):
                show(view, figure, options, measured=measured, key=key or None, **how)
