"""Models: the card of each trained model, what it is worth first, and the paper's tables done again."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pandas as pd
import streamlit as st

from biobgt.base.files import safe_table
from biobgt.base.wording import counted
from biobgt.data.atlas import LABELLINGS
from biobgt.figures.attention_groups import attention_contrast, attention_likeness
from biobgt.figures.models import BENCHMARKED, benchmark_results, model_results, noise_response, reliability, roc
from biobgt.figures.register import NoOptions
from biobgt.model.attention import functional_labels, network_table
from biobgt.model.benchmark.linear import kinds_of_baselines
from biobgt.model.benchmark.systems import benchmark_systems
from biobgt.model.installed import InstalledModel, installed_models, unusable_models
from biobgt.results.studies import abide_benchmark, citation_networks, epoch_times
from biobgt.training.benchmark_tables import (
    OTHER_SUBJECTS,
    PAPER_MARK,
    benchmark_words,
    cost_words,
    impossible_words,
    shown_costs,
    shown_table,
    verdict_words,
)
from biobgt.training.card_tables import FIXED_SPACE, evaluation_table, recordings_table, results_table
from biobgt.training.card_text import (
    ablation_words,
    beside_words,
    corruption_words,
    evaluation_words,
    members_words,
    metrics_words,
    motion_words,
    noise_words,
    preset_words,
    range_words,
)
from session.view import FITTING, View, current_view, measured_model
from views.shared.models import no_models, pick_readout, show_headline
from views.shared.widgets import SIDE_BY_SIDE, explained, heading, input_errors_shown, plain, show

# Tables of texts that are as wide as the page.


ALL_METRICS = "All metrics, as a table"  # what a figure of results shows a part of


def show_table(table: pd.DataFrame, *, alt: str) -> None:
    """A table whose cells break into lines, so that it is as wide as the page and no column is hidden.

    Parameters
    ----------
    table : DataFrame of str
        The first column names the rows.
    alt : str
        What a screen reader says of it.
    """
    st.table(table.map(_escaped).set_index(table.columns[0]), alt=alt)


def _escaped(text: str) -> str:
    """Plain text that keeps its fixed spaces, which :func:`plain` takes for any other."""
    return FIXED_SPACE.join(plain(part) for part in text.split(FIXED_SPACE))


# Models: the paper's tables done again, whichever model is chosen.


def show_benchmark(view: View) -> None:
    """Every system of the paper's comparison on the same splits of ABIDE, and the paper's other tables."""
    systems = tuple(benchmark_systems())
    heading(benchmark_results.name)
    st.markdown(
        "The paper compares BioBGT with graph transformers, graph networks and classical models. Those that "
        "could be built were written anew from their descriptions, and are given the same subjects, splits and inputs. "
        f"{OTHER_SUBJECTS} {_verdict(systems)}"
    )
    trained_there = installed_models().get(BENCHMARKED)
    if trained_there is not None:
        show(view, benchmark_results, NoOptions(), measured=measured_model(trained_there), key="benchmark")
    for name, table, words in _tables(systems):
        _show_folded(name, table, words)


@cache
def _verdict(systems: tuple[str, ...]) -> str:
    return verdict_words(abide_benchmark())


@cache
def _tables(systems: tuple[str, ...]) -> list[tuple[str, pd.DataFrame, str]]:
    """The paper's tables done again and what is said of each: of committed results, for the registered systems."""
    results = abide_benchmark()
    words = (
        f"{PAPER_MARK}: the paper's numbers. {benchmark_words(results)} {impossible_words()} docs/benchmark.md says "
        "how each system was built and run."
    )
    return [
        (ALL_METRICS, shown_table(results), words),
        ("Parameters and time", shown_costs(results, epoch_times()), cost_words()),
        ("Citation networks: the paper's last table", *citation_networks()),
    ]


def _show_folded(name: str, table: pd.DataFrame, words: str) -> None:
    with st.expander(name):
        show_table(table, alt=f"{benchmark_results.name}: {name}")
        st.caption(plain(words))


# Models: the card of each trained model, what it is worth first.


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Models", help=explained("out-of-fold", "calibration", "tangent-space"))
    st.markdown(
        "Every trained model comes with a card: what it was trained on, how well it does in subjects left out of "
        f"training, compared with {kinds_of_baselines()} on the same subjects and with the paper's results, and where "
        "it must not be used."
    )
    _show_unusable()
    model = view.model_shown
    if model is None:
        no_models()
        return
    _show_all()
    if view.model == FITTING:
        which = (
            f"No model fits this cohort's atlas, {view.atlas.title}. Below is the card of {model.name}"
            if view.chosen_model is None
            else "Below is the card of the model that fits the cohort"
        )
        st.caption(plain(f"{which}; choose another in the sidebar."))
    st.divider()
    if model.readouts:
        _show_network(view, model)
        chosen = pick_readout(view, model)
        if chosen is None:
            return
        model = chosen
    heading(plain(model.name), simulated=model.simulated)
    show_headline(model.card)
    st.markdown(members_words(model.card))
    for show_part in (_show_results, _show_curves, _show_noise, _show_data, _show_contrast, _show_region_weights):
        with input_errors_shown():
            show_part(view, model)
    _show_limits(model.card)
    _show_making(model.card)
    with input_errors_shown():
        show_benchmark(view)


def _show_network(view: View, network: InstalledModel) -> None:
    """What cohorts share, before the card of one readout."""
    heading(plain(network.name), simulated=network.simulated)
    show_headline(network.card)
    st.markdown(f"**Protocol:** {plain(network.card['protocol'])}")
    with input_errors_shown():
        show(view, attention_likeness, NoOptions(), measured=measured_model(network), key="likeness")


def _show_unusable() -> None:
    """Name the folders that hold a model which cannot be used, and say why."""
    for name, reason in unusable_models().items():
        st.warning(plain(f"The model in the folder {name} cannot be used. {reason}"), icon=":material/warning:")


def _show_all() -> None:
    """All models with their headlines."""
    models = installed_models()
    cards = [model.card for model in models.values()]
    table = pd.DataFrame(
        {
            "Model": list(models),
            "How well it does": [card["headline"] for card in cards],
            "Groups": [_groups_words(card) for card in cards],
            "Atlas": [model.atlas.title for model in models.values()],
        }
    )
    show_table(table, alt="All models: how well each does, its groups and its atlas")


def _groups_words(card: Mapping[str, Any]) -> str:
    """How many subjects each group has; a network marks its simulated groups by their names."""
    groups = ", ".join(f"{n:,} {group}" for group, n in card["data"]["subjects"].items())
    return f"{groups} (simulated)" if card["simulated"] and "readouts" not in card else groups


def _show_results(view: View, model: InstalledModel) -> None:
    card = model.card
    heading("Results", simulated=model.simulated)
    show(view, model_results, NoOptions(), measured=measured_model(model), key="results")
    with st.expander(ALL_METRICS):
        show_table(results_table(card), alt=f"Results of the model, of {kinds_of_baselines()} and of the paper")
        st.caption(plain(f"In brackets: 95 % bootstrap interval over subjects. {metrics_words(card)}"))
    evaluated = evaluation_table(card)
    if evaluated.empty:
        return
    st.markdown("**Other ways to split the subjects**")
    st.dataframe(  # wider than a narrow page: it scrolls, also by keyboard
        safe_table(evaluated), hide_index=True, key="evaluated", alt="Results with other ways to split the subjects"
    )
    st.caption(plain(evaluation_words(card)))


def _show_curves(view: View, model: InstalledModel) -> None:
    measured = measured_model(model)
    with st.container(horizontal=True):
        with st.container(width=SIDE_BY_SIDE):
            show(view, roc, NoOptions(), measured=measured)
        with st.container(width=SIDE_BY_SIDE):
            show(view, reliability, NoOptions(), measured=measured)


def _show_noise(view: View, model: InstalledModel) -> None:
    """What worse recordings and motion alone do to the answers."""
    card = model.card
    heading("Noise, motion and other corruptions", simulated=model.simulated)
    if card["noise"]:
        show(view, noise_response, NoOptions(), measured=measured_model(model), key="noise")
        table = recordings_table(card, probabilities=False)  # which the figure shows
        show_table(table, alt="Predictions that change, and warnings, by kind of recording")
        st.markdown(plain(corruption_words(card)))
    else:
        st.markdown(plain(noise_words(card)))
    st.markdown(plain(motion_words(card)))


def _show_data(view: View, model: InstalledModel) -> None:
    card = model.card
    heading("Data and protocol", simulated=model.simulated)
    data = card["data"]
    subjects = ", ".join(f"{n:,} {group}" for group, n in data["subjects"].items())
    rows = {
        "Data": data["title"],
        "Subjects": subjects,
        "Atlas": f"{model.atlas.title}, {card['n_regions']} regions",
        "Terms": data["terms"],
        "Cite": data["citation"],
        "Protocol": card["protocol"],
        "Training subjects": range_words(card),
    }
    for title, text in rows.items():
        st.markdown(f"**{title}:** {plain(text)}")


def _show_contrast(view: View, model: InstalledModel) -> None:
    heading("Does attention keep to modules?", simulated=model.simulated)
    show(view, attention_contrast, NoOptions(), measured=measured_model(model), key="contrast")


def _show_region_weights(view: View, model: InstalledModel) -> None:
    labelling = next(iter(model.atlas.labels), None)
    if labelling is None or model.region_weights is None:
        return
    table = network_table(model.region_weights, functional_labels(model.atlas, labelling))
    heading("Which networks count?", simulated=model.simulated)
    show_table(table, alt="How much the regions of each functional network count in the model")
    st.caption(
        plain(
            "In the model the connection of two regions is multiplied by the weights of both, which training learns "
            "first: above 1 a network counts more, below 1 less. Mean over its regions, which are named by "
            f"{LABELLINGS.get(labelling, labelling)}. A weight says where this model looks, not where groups differ."
        )
    )


def _show_limits(card: Mapping[str, Any]) -> None:
    st.subheader("Limits")
    st.markdown(
        "\n".join(f"- {plain(limit)}" for limit in (*card["limits"], ablation_words(card), beside_words(card)) if limit)
    )


def _show_making(card: Mapping[str, Any]) -> None:
    st.subheader("How it was made")
    training, preset = card["training"], card["preset"]
    st.code(training["command"], language="bash", wrap_lines=True)
    versions = ", ".join(f"{name} {number}" for name, number in training["versions"].items())
    memory = "" if training["peak_memory_mb"] is None else f", {training['peak_memory_mb']:,} MB"
    st.caption(
        plain(
            f"{preset_words(preset['name'])}: {counted(preset['layers'], 'layer')}, "
            f"{counted(preset['heads'], 'head')}, width {preset['width']}; {card['n_parameters']:,} parameters "
            f"per member, {counted(len(card['temperatures']), 'member')}. "
            f"Seed {training['seed']}. {training['seconds_an_epoch']:g} s per epoch{memory}. "
            f"{versions}."
        )
    )
    st.caption("SHA-256 of the weights:")
    st.code(card["sha256"], language=None, wrap_lines=True)


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    show_page()
