"""Attention: where the trained models look, group by group, and where groups differ."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from biobgt.figures.attention_maps import AttentionMapsOptions
from biobgt.model.attention import load_systems_attention
from biobgt.model.installed import InstalledModel
from biobgt.training.card_text import ablation_words, beside_line, beside_words
from session.loaded_cohorts import OWN
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
from views.shared.option_widgets import ask
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
    model = view.model_shown
    if model is None:
        no_models()
        return
    st.caption(plain(f"All tabs show {model.name}. Choose another model in the sidebar."))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(AttentionMapsOptions, "order", "layer", "head", "average", cohort=model.cohort)
    sections = _sections(view, model)
    part: list[Callable[[], None]] = [partial(show_own, view, model)]
    is_own = view.loaded.key == OWN
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
    sections: Sections = {"Groups side by side": [partial(_show_groups, view, model)]}
    for title, shown in compared.items():
        sections[title] = [partial(show_part, view, model) for show_part in shown]
    if load_systems_attention().model == model.name:  # the others were measured beside this one
        sections["Other networks"] = [partial(show_systems, view, model)]
    return sections


def _show_groups(view: View, model: InstalledModel) -> None:
    heading(model.name, simulated=model.simulated)
    if model.readouts and model.simulated:
        st.caption("Groups marked as simulated are simulated; all others are real.")
    show_headline(model.card)
    _show_parts(model)
    chosen = view.options(AttentionMapsOptions)
    show_maps(view, model, order=chosen.order, average=chosen.average, **part_of(view, model))


def _show_parts(model: InstalledModel) -> None:
    """What NE, attention and training on groups do to predictions; of a network, readout by readout."""
    if not model.readouts:
        st.markdown(plain(ablation_words(model.card)))
        if said := beside_line(model.card):
            st.caption(plain(said), help=plain(beside_words(model.card)))
        return
    with st.expander("How much do NE and attention contribute to predictions?"):
        for cohort in model.readouts:
            readout = model.readout(cohort)
            st.markdown(f"**{plain(', '.join(readout.group_names))}:** {plain(ablation_words(readout.card))}")
            if said := beside_line(readout.card):
                st.caption(plain(said), help=plain(beside_words(readout.card)))


show_page()
