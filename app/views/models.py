"""Models: the card of each trained model, what it is worth first."""

from typing import Any

import pandas as pd
import streamlit as st
from export_list import model_request
from loaded import FITTING
from model_results import (
    atlas_of,
    card_of,
    chosen_model,
    groups_of,
    model_names,
    networks_of,
    no_models,
    show_headline,
    unusable_models,
)
from state import current_view
from widgets import heading, plain, sentences, show_figure

from biobgt.atlas import LABELLINGS
from biobgt.figures.attention import contrast_points
from biobgt.figures.attention_captions import contrast_caption
from biobgt.figures.connectivity_words import contrast_of_card
from biobgt.figures.noise import noise_caption, noise_response
from biobgt.figures.performance import reliability, results_beside, roc_curves
from biobgt.figures.performance_captions import reliability_caption, results_caption, roc_caption
from biobgt.model.attention_views import all_block_tests
from biobgt.model.pretrained import GroupResults
from biobgt.training import reliability_curve
from biobgt.training.card_views import (
    FIXED_SPACE,
    chance_level,
    claimed_event,
    evaluation_table,
    evaluation_words,
    group_curves,
    members_words,
    metrics_words,
    paper_note,
    preset_words,
    results_points,
    results_table,
)
from biobgt.training.card_words import parts_words
from biobgt.training.robustness_views import motion_words, noise_points, noise_table, noise_words, range_words
from biobgt.wording import counted

BESIDE = 400  # two figures side by side at 1280 px, one below the other at 800


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Models")
    st.markdown(
        "Every trained model comes with a card: what it was trained on, how well it does in subjects left out "
        "of training, beside linear models on the same subjects and the paper's numbers, and where it must not be used."
    )
    names = model_names()
    _show_unusable()
    if not names:
        no_models()
        return
    _show_all(names)
    name = chosen_model(view) or names[0]
    if view.model == FITTING:
        st.caption("Below is the card of the model that fits the cohort; choose another in the sidebar.")
    card = card_of(name)
    st.divider()
    heading(plain(name), simulated=card["simulated"])
    show_headline(card)
    st.markdown(members_words(card))
    with sentences():
        _show_results(card)
    with sentences():
        _show_curves(card, groups_of(name))
    with sentences():
        _show_noise(card)
    _show_data(card)
    with sentences():
        _show_contrast(card, groups_of(name))
    with sentences():
        _show_region_weights(card)
    _show_limits(card)
    _show_making(card)


def _show_unusable() -> None:
    """Name the folders that hold a model which cannot be used, and say why."""
    for name, reason in unusable_models().items():
        st.warning(plain(f"The folder {name} of the trained models is left out. {reason}"), icon=":material/warning:")


def _show_all(names: tuple[str, ...]) -> None:
    """All models with their headlines."""
    cards = [card_of(name) for name in names]
    table = pd.DataFrame(
        {
            "Model": names,
            "What it is worth": [card["headline"] for card in cards],
            "Groups": [", ".join(f"{n:,} {group}" for group, n in card["data"]["subjects"].items()) for card in cards],
            "Atlas": [card["atlas"] for card in cards],
        }
    )
    _show_table(table, alt="All models: what each is worth, its groups and its atlas")


def _show_table(table: pd.DataFrame, *, alt: str) -> None:
    """A table whose cells break into lines, so that it is as wide as the page and no column is hidden."""
    st.table(table.map(_escaped).set_index(table.columns[0]), alt=alt)


def _escaped(text: str) -> str:
    """Plain text that keeps its fixed spaces, which :func:`plain` takes for any other."""
    return FIXED_SPACE.join(plain(part) for part in text.split(FIXED_SPACE))


def _show_results(card: dict[str, Any]) -> None:
    name = card["name"]
    heading("Results", simulated=card["simulated"])
    points = results_points(card)
    figure = results_beside(
        points, chance=chance_level(card), title=f"{name} beside other models", simulated=card["simulated"]
    )
    caption = results_caption(name, points, note=paper_note(card), simulated=card["simulated"])
    request = model_request(card, "model_results")
    show_figure(figure, caption, key="results", file_name=f"{name}_results", export=request)
    _show_table(results_table(card), alt="Results of the model, of linear models and of the paper")
    st.caption(plain(f"In brackets: 95 % bootstrap interval over subjects. {metrics_words(card)}"))
    evaluated = evaluation_table(card)
    if evaluated.empty:
        return
    st.markdown("**Other ways to split the subjects**")
    _show_table(evaluated, alt="Results with other ways to split the subjects")
    st.caption(plain(evaluation_words(card)))


def _show_curves(card: dict[str, Any], groups: GroupResults) -> None:
    name, simulated = card["name"], card["simulated"]
    measured = card["results"]["BioBGT"]
    event = claimed_event(card)
    curve = reliability_curve(groups.labels, groups.probabilities)
    with st.container(horizontal=True):
        with st.container(width=BESIDE):
            curves = group_curves(groups.labels, groups.probabilities, card["groups"])
            figure = roc_curves(curves, title=f"ROC, {name}", simulated=simulated)
            caption = roc_caption(name, measured["auc"], len(groups.labels), simulated=simulated)
            request = model_request(card, "roc")
            show_figure(figure, caption, key="roc", file_name=f"{name}_roc", export=request)
        with st.container(width=BESIDE):
            figure = reliability(curve, event=event, title=f"Reliability, {name}", simulated=simulated)
            caption = reliability_caption(name, measured["ece"]["value"], curve, event=event, simulated=simulated)
            request = model_request(card, "reliability")
            show_figure(figure, caption, key="reliability", file_name=f"{name}_reliability", export=request)


def _show_noise(card: dict[str, Any]) -> None:
    """What noise and motion alone do to the answers."""
    name, simulated = card["name"], card["simulated"]
    heading("Noise and motion", simulated=simulated)
    points = noise_points(card)
    if points.empty:
        st.markdown(plain(noise_words(card)))
    else:
        figure = noise_response(points, title=f"Noise, {name}", simulated=simulated)
        caption = noise_caption(name, noise_words(card), simulated=simulated)
        request = model_request(card, "noise_response")
        show_figure(figure, caption, key="noise", file_name=f"{name}_noise", export=request)
        _show_table(noise_table(card), alt="Mean probabilities and calls at every level of noise")
    st.markdown(plain(motion_words(card)))


def _show_data(card: dict[str, Any]) -> None:
    heading("Data and protocol", simulated=card["simulated"])
    data = card["data"]
    subjects = ", ".join(f"{n:,} {group}" for group, n in data["subjects"].items())
    rows = {
        "Data": data["title"],
        "Subjects": subjects,
        "Atlas": f"{atlas_of(card['name']).title}, {card['n_regions']} regions",
        "Terms": data["terms"],
        "Cite": data["citation"],
        "Protocol": card["protocol"],
        "Training subjects": range_words(card),
    }
    for title, text in rows.items():
        st.markdown(f"**{title}:** {plain(text)}")


def _show_contrast(card: dict[str, Any], groups: GroupResults) -> None:
    name, simulated = card["name"], card["simulated"]
    heading("Does attention keep to modules?", simulated=simulated)
    figure = contrast_points(groups.contrast, title=f"Module contrast of attention, {name}", simulated=simulated)
    caption = contrast_caption(
        name,
        groups.contrast,
        all_block_tests(groups.tests, groups.n),
        **contrast_of_card(card),
        simulated=simulated,
    )
    request = model_request(card, "attention_contrast")
    show_figure(figure, caption, key="contrast", file_name=f"{name}_contrast", export=request)


def _show_region_weights(card: dict[str, Any]) -> None:
    labelling = next(iter(atlas_of(card["name"]).labels), None)
    table = None if labelling is None else networks_of(card["name"], labelling)
    if labelling is None or table is None:
        return
    heading("Which networks count?", simulated=card["simulated"])
    _show_table(table, alt="How much the regions of each functional network count in the model")
    st.caption(
        plain(
            "In the model the connection of two regions is multiplied by the weights of both, which training learns "
            "first: above 1 a network counts more, below 1 less. Mean over its regions, which are named by "
            f"{LABELLINGS.get(labelling, labelling)}. A weight says where this model looks, not where groups differ."
        )
    )


def _show_limits(card: dict[str, Any]) -> None:
    st.subheader("Limits")
    st.markdown("\n".join(f"- {plain(limit)}" for limit in (*card["limits"], parts_words(card))))


def _show_making(card: dict[str, Any]) -> None:
    st.subheader("How it was made")
    training, preset = card["training"], card["preset"]
    st.code(training["command"], language="bash", wrap_lines=True)
    versions = ", ".join(f"{name} {number}" for name, number in training["versions"].items())
    memory = "" if training["peak_memory_mb"] is None else f", {training['peak_memory_mb']:,} MB"
    st.caption(
        plain(
            f"{preset_words(preset['name'])}: {counted(preset['layers'], 'layer')}, "
            f"{counted(preset['heads'], 'head')}, width {preset['width']}; {card['n_parameters']:,} parameters a "
            f"member, {counted(len(card['temperatures']), 'member')}. "
            f"Seed {training['seed']}. {training['seconds_an_epoch']:g} s an epoch{memory}. "
            f"{versions}."
        )
    )
    st.caption("SHA-256 of the weights:")
    st.code(card["sha256"], language=None, wrap_lines=True)


show_page()
