"""Attention: where the trained models look, group by group, and where groups differ."""

import streamlit as st
from attention_panels import (
    attention_view,
    shared_limits,
    show_contrast,
    show_difference,
    show_maps,
    show_received,
)
from loaded import View
from model_results import LOUVAIN, atlas_of, card_of, chosen_model, groups_of, model_names, no_models, show_headline
from own_attention import show_own
from page_choices import models_in_order
from state import ATTENTION_HEAD, ATTENTION_LAYER, ATTENTION_ORDER, MODELS_SHOWN, current_view
from widgets import ATLAS_ORDER, heading, plain, sentences

from biobgt.atlas import LABELLINGS
from biobgt.training.card_words import parts_words

MEAN = 0
LOUVAIN_TITLE = "Louvain modules of the controls"


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Attention")
    st.markdown(
        "In the model every region looks at every other. Where it looks follows from its connectivity, in embeddings "
        "that were taught to tell a subject's Louvain modules apart. The maps show this view of the brain. They do not "
        "explain why a subject is put into a group: below each model stands how little or how much attention, node "
        "entanglement (NE) and training on the subjects' groups do to its predictions. Shown are group means over "
        "subjects, each seen by one member (one of the models that vote) whose training left it out."
    )
    names = model_names()
    if not names:
        no_models()
        return
    chosen = chosen_model(view) or names[0]
    order, layer, head = _ask_how(names, chosen)
    with sentences():
        _show_rows(view, names, chosen, order, layer, head)
    shown = attention_view(chosen, order, _words(chosen, order), layer=layer, head=head)
    st.divider()
    with sentences():
        st.markdown(f"The sections below are of **{chosen}**, the model chosen in the sidebar.")
        show_difference(shown)
    with sentences():
        show_contrast(shown)
    with sentences():
        show_received(shown, view)
    show_own(shown, view)


def _ask_how(names: tuple[str, ...], chosen: str) -> tuple[str, int | None, int | None]:
    """Ask for the order of regions, and for layer and head."""
    layers, heads = (
        max(next(iter(groups_of(name).attention.values())).shape[axis] for name in names) for axis in (0, 1)
    )
    labels = atlas_of(chosen).labels
    titles = {name: f"By {LABELLINGS.get(name, name)}" for name in labels}
    titles |= {LOUVAIN: f"By {LOUVAIN_TITLE}", ATLAS_ORDER: "Atlas order"}
    if st.session_state.get(ATTENTION_ORDER) not in titles:
        st.session_state[ATTENTION_ORDER] = next(iter(titles))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        order = st.selectbox(
            "Order of regions",
            list(titles),
            format_func=titles.__getitem__,
            key=ATTENTION_ORDER,
            persist_state="session",
            width=330,
        )
        layer = _pick_number("Layer", layers, ATTENTION_LAYER)
        head = _pick_number("Head", heads, ATTENTION_HEAD)
    return order, layer, head


def _pick_number(title: str, count: int, key: str) -> int | None:
    options = list(range(count + 1))
    if st.session_state.get(key, MEAN) not in options:
        st.session_state[key] = MEAN
    picked = st.selectbox(
        title,
        options,
        format_func=lambda number: f"{title} {number}" if number else "Mean",
        key=key,
        persist_state="session",
        width=130,
    )
    return None if picked == MEAN else picked - 1


def _show_rows(
    view: View, names: tuple[str, ...], chosen: str, order: str, layer: int | None, head: int | None
) -> None:
    """One row a model, for groups of different atlases cannot share an order of regions; one colour scale for all."""
    if MODELS_SHOWN not in st.session_state:
        st.session_state[MODELS_SHOWN] = models_in_order(chosen)
    st.session_state[MODELS_SHOWN] = [name for name in st.session_state[MODELS_SHOWN] if name in names]
    models = st.multiselect(
        "Models",
        names,
        format_func=lambda name: f"{name}: {', '.join(card_of(name)['groups'])}",
        key=MODELS_SHOWN,
        persist_state="session",
    )
    if not models:
        st.info("Choose a model to see its groups.")
    views = []
    for name in models:
        with sentences():
            views.append(attention_view(name, order, _words(name, order), layer=layer, head=head))
    limits = shared_limits(views) if len(views) > 1 else None
    if limits is not None:
        st.caption(
            f"All maps have one colour scale, {limits[0]:.2f} to {limits[1]:.2f} times even attention, so that groups "
            "and models can be compared by eye."
        )
    for shown in views:
        heading(shown.name, simulated=shown.simulated)
        show_headline(shown.card)
        st.markdown(plain(parts_words(shown.card)))
        with sentences():
            show_maps(shown, limits)


def _words(name: str, order: str) -> str:
    """What a caption says after 'ordered by'."""
    if order == LOUVAIN:
        return "Louvain modules of the controls' mean connectivity"
    if order in atlas_of(name).labels:
        return f"functional module ({LABELLINGS.get(order, order)})"
    return "their number in the atlas"


show_page()
