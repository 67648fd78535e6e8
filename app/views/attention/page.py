"""Attention: where the trained models look, group by group, and where groups differ."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from biobgt.figures.attention_maps import AttentionMapsOptions, group_maps, shared_limits
from biobgt.figures.attention_options import AttentionOptions, AverageOptions
from biobgt.model.installed import InstalledModel, installed_models
from biobgt.model.systems_attention import load_systems_attention
from biobgt.training.card_words import beside_line, beside_words, parts_words
from session.loaded_cohorts import OWN
from session.page_options import PageOptions
from session.shown_model import FITTING, model_shown
from session.view import View, current_view
from views.attention.attention_panels import (
    part_of,
    show_contrast,
    show_difference,
    show_maps,
    show_own,
    show_received,
    show_spread,
    show_systems,
)
from views.attention.network_panels import show_controls, show_disorder, show_likeness
from views.shared.model_notes import no_models, show_headline
from views.shared.option_widgets import ask, ask_for
from views.shared.widgets import explained, heading, input_errors_shown, plain

Sections = dict[str, list[Callable[[], None]]]  # what each tab shows


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Attention", help=explained("attention", "ne", "out-of-fold"))
    st.markdown(
        "Every region attends to every other region. Attention weights are computed from embeddings of regional "
        "connectivity that were trained to separate the subject's Louvain modules. The maps show these weights. They "
        "do not explain why a subject is assigned to a group: the text below each model says how much attention, node "
        "entanglement (NE) and training on the subjects' groups contribute to its predictions. Maps are group means "
        "over subjects; the attention of each subject is that of the one ensemble member not trained on it."
    )
    own, model = view, model_shown(view.model, view.cohort, "network")
    if model is None:
        no_models()
        return
    if model.readouts and view.model == FITTING:  # all groups in one network are the page's question
        view = replace(view, model=model.name)
        st.caption(
            plain(f"Shown: {model.name}, one network trained on all cohorts. Choose another model in the sidebar.")
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(AttentionMapsOptions, "order", "layer", "head", "average", cohort=model.cohort)
    sections = _sections(view, model)
    if own.model_shown is not None:  # the subject is shown to the model that fits, which the network may not
        part: list[Callable[[], None]] = [partial(show_own, own, own.model_shown)]
        is_own = own.loaded.key == OWN
        sections = {"Your subject": part, **sections} if is_own else {**sections, "One subject": part}
    for tab, parts in zip(st.tabs(list(sections)), sections.values(), strict=True):
        with tab:
            for show_part in parts:
                with input_errors_shown():
                    show_part()


def _sections(view: View, model: InstalledModel) -> Sections:
    """What the tabs show of the model's groups."""
    if model.readouts:  # of a network, every person is in the figure of the spread, and needs no contrast
        compared = {
            "Controls": [show_controls],
            "Disorders": [show_disorder, show_likeness],
            "People": [show_spread],
        }
    else:
        compared = {"Difference": [show_difference], "Within modules": [show_contrast], "People": [show_spread]}
    if model.spread is None:
        del compared["People"]
    compared["In the brain"] = [show_received]
    sections: Sections = {"Groups side by side": [partial(_show_rows, view, model)]}
    for title, shown in compared.items():
        sections[title] = [partial(show_part, view, model) for show_part in shown]
    if load_systems_attention().model in installed_models():
        sections["Other networks"] = [partial(show_systems, view)]
    return sections


def _show_rows(view: View, chosen: InstalledModel) -> None:
    """One row per model, for groups of different atlases cannot share an order of regions; one colour scale for all."""
    known = installed_models()
    ask_for(
        PageOptions.declared()["models_shown"],
        chosen.cohort,
        text=lambda name: f"{name}: {', '.join(known[name].group_names)}",
    )
    models = [known[name] for name in view.options(PageOptions).models_shown]
    if not models:
        st.info("Choose a model to see its groups.")
    order = view.options(AttentionOptions).order
    maps: list[Any] = []
    for model in models:
        with input_errors_shown():
            maps += group_maps(model, AttentionOptions(order=order, **part_of(view, model))).values()
    limits = shared_limits(maps) if len(models) > 1 and maps else ()
    if limits:
        st.caption(
            f"All maps have one colour scale, {limits[0]:.2f} to {limits[1]:.2f} times uniform attention, so that "
            "groups and models can be compared by eye."
        )
    for model in models:
        heading(model.name, simulated=model.simulated)
        if model.readouts and model.simulated:
            st.caption("Groups marked as simulated are simulated; all others are real.")
        show_headline(model.card)
        _show_parts(model)
        with input_errors_shown():
            average = view.options(AverageOptions).average
            show_maps(view, model, limits, order=order, average=average, **part_of(view, model))


def _show_parts(model: InstalledModel) -> None:
    """What NE, attention and training on groups do to predictions; of a network, readout by readout."""
    if not model.readouts:
        st.markdown(plain(parts_words(model.card)))
        if said := beside_line(model.card):
            st.caption(plain(said), help=plain(beside_words(model.card)))
        return
    with st.expander("How much do NE and attention contribute to predictions?"):
        for cohort in model.readouts:
            readout = model.readout(cohort)
            st.markdown(f"**{plain(', '.join(readout.group_names))}:** {plain(parts_words(readout.card))}")
            if said := beside_line(readout.card):
                st.caption(plain(said), help=plain(beside_words(readout.card)))


show_page()
