"""Models: the card of each trained model, what it is worth first, and the paper's tables done again."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from biobgt.base.wording import counted
from biobgt.data.atlas import LABELLINGS
from biobgt.figures import models as figures
from biobgt.figures.attention.tested import attention_contrast, attention_likeness
from biobgt.figures.register import NoOptions
from biobgt.model.attention import functional_labels, network_table
from biobgt.model.folder import own_folders
from biobgt.model.own import zip_model
from biobgt.model.pretrained import InstalledModel, installed_models, unusable_models
from biobgt.model.systems import benchmark_systems, kinds_of_baselines
from biobgt.results.studies import citation_networks, study_table
from biobgt.training import tables
from biobgt.training.card_text import CardText
from biobgt.training.tables import BenchmarkTables, CardTables
from session.view import FITTING, PageOptions, View, current_view, measured_model
from views.shared import widgets
from views.shared.figures import Panel, show, show_beside, show_faithfulness
from views.shared.widgets import (
    caption,
    escape_markdown,
    heading,
    in_one_line,
    input_errors_shown,
    offer_file,
    pick_readout,
    show_headline,
)

_ALL_METRICS = "All metrics, as a table"  # what a figure of results shows a part of


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    about = (
        "Every trained model comes with a card: what it was trained on, how well it does in subjects left out of "
        f"training, compared with {kinds_of_baselines()} on the same subjects and with the paper's results, and where "
        "it must not be used."
    )
    model, terms = view.model_shown, ("out-of-fold", "calibration", "tangent-space")
    widgets.open_page("models", about, *terms, simulated=model is not None and model.simulated)
    for name, reason in unusable_models().items():
        st.warning(
            escape_markdown(f"The model in the folder {name} cannot be used. {reason}"), icon=":material/warning:"
        )
    if model is None:
        widgets.no_models()
        return
    with widgets.controls():
        widgets.ask(PageOptions, "model_tab", cohort=view.cohort)
    tab = view.options(PageOptions).model_tab
    if tab in _CARD:
        _show_card(view, model, _CARD[tab])
    else:
        with input_errors_shown():
            _OF_ALL[tab](view)


def _show_card(view: View, model: InstalledModel, parts: Sequence[Callable[[View, InstalledModel], None]]) -> None:
    """Show parts of a model's card; of a network with several readouts that of one of them."""
    if view.model == FITTING:
        which = (
            f"No model fits this cohort's atlas, {view.atlas.title}. This is the card of {model.name}"
            if view.chosen_model is None
            else f"This is the card of {model.name}, which fits the cohort"
        )
        caption(f"{which}; choose another in the sidebar.")
    if model.readouts:
        chosen = pick_readout(view, model)
        if chosen is None:
            _show_network(view, model)
            return
        model = chosen
    for show_part in parts:
        with input_errors_shown():
            show_part(view, model)


def _show_network(view: View, model: InstalledModel) -> None:
    """Show what the cohorts of a network share."""
    with input_errors_shown():
        show(view, attention_likeness, NoOptions(), measured=measured_model(model), key="likeness")
    show_headline(model.card)
    st.markdown(f"**Protocol:** {escape_markdown(model.card['protocol'])}")


def _show_all(view: View) -> None:
    """All models with their headlines."""
    models = installed_models()
    cards = [model.card for model in models.values()]
    table = pd.DataFrame(
        {
            "Model": list(models),
            "How well it does": [card["headline"] for card in cards],
            # A network marks its simulated groups by their names.
            "Groups": [
                f"{_sizes(card)} (simulated)" if card["simulated"] and "readouts" not in card else _sizes(card)
                for card in cards
            ],
            "Atlas": [model.atlas.title for model in models.values()],
        }
    )
    _show_table(table, alt="All models: how well each does, its groups and its atlas")


def _sizes(card: Mapping[str, Any]) -> str:
    return ", ".join(f"{n:,} {group}" for group, n in card["data"]["subjects"].items())


def _show_results(view: View, model: InstalledModel) -> None:
    card = model.card
    show(view, figures.model_results, NoOptions(), measured=measured_model(model), key="results")
    show_headline(card)
    in_one_line(CardText(card).members, key="members")
    with st.expander(_ALL_METRICS):
        _show_table(CardTables(card).results(), alt=f"Results of the model, of {kinds_of_baselines()} and of the paper")
        caption(f"In brackets: 95 % bootstrap interval over subjects. {CardText(card).metrics}")
    evaluated = CardTables(card).evaluation()
    if not evaluated.empty:
        st.markdown("**Other ways to split the subjects**")
        # Wider than a narrow page: it scrolls, also by keyboard.
        widgets.show_table(evaluated, key="evaluated", alt="Results with other ways to split the subjects")
        caption(CardText(card).evaluation)


def _show_curves(view: View, model: InstalledModel) -> None:
    measured = measured_model(model)
    show_beside(view, (figures.roc, NoOptions(), ""), (figures.reliability, NoOptions(), ""), measured=measured)


def _show_noise(view: View, model: InstalledModel) -> None:
    """What worse recordings and motion alone do to the answers."""
    card = model.card
    if card["noise"]:
        show(view, figures.noise_response, NoOptions(), measured=measured_model(model), key="noise")
        table = CardTables(card).recordings(probabilities=False)  # which the figure shows
        _show_table(table, alt="Predictions that change, and warnings, by kind of recording")
        st.markdown(escape_markdown(CardText(card).corruption))
    else:
        st.markdown(escape_markdown(CardText(card).noise))
    st.markdown(escape_markdown(CardText(card).motion))


def _show_data(view: View, model: InstalledModel) -> None:
    card, data = model.card, model.card["data"]
    rows = {
        "Data": data["title"],
        "Subjects": _sizes(card),
        "Atlas": f"{model.atlas.title}, {card['n_regions']} regions",
        "Terms": data["terms"],
        "Cite": data["citation"],
        "Protocol": card["protocol"],
        "Training subjects": CardText(card).ranges,
    }
    for title, text in rows.items():
        st.markdown(f"**{title}:** {escape_markdown(text)}")


def _show_region_weights(view: View, model: InstalledModel) -> None:
    labelling = next(iter(model.atlas.labels), None)
    if labelling is None or model.region_weights is None:
        return
    table = network_table(model.region_weights, functional_labels(model.atlas, labelling))
    heading("Which networks count?")
    _show_table(table, alt="How much the regions of each functional network count in the model")
    caption(
        "In the model the connection of two regions is multiplied by the weights of both, which training learns "
        "first: above 1 a network counts more, below 1 less. Mean over its regions, which are named by "
        f"{LABELLINGS.get(labelling, labelling)}. A weight says where this model looks, not where groups differ."
    )


def _show_limits_and_making(_view: View, model: InstalledModel) -> None:
    card = model.card
    st.subheader("Limits")
    text = CardText(card)
    limits = (*card["limits"], text.ablation, text.beside_connectivity)
    st.markdown("\n".join(f"- {escape_markdown(limit)}" for limit in limits if limit))
    st.subheader("How it was made")
    training, preset = card["training"], card["preset"]
    st.code(training["command"], language="bash", wrap_lines=True)
    versions = ", ".join(f"{name} {number}" for name, number in training["versions"].items())
    memory = "" if training["peak_memory_mb"] is None else f", {training['peak_memory_mb']:,} MB"
    caption(
        f"{text.preset}: {counted(preset['layers'], 'layer')}, "
        f"{counted(preset['heads'], 'head')}, width {preset['width']}; {card['n_parameters']:,} parameters "
        f"per member, {counted(len(card['temperatures']), 'member')}. "
        f"Seed {training['seed']}. {training['seconds_an_epoch']:g} s per epoch{memory}. "
        f"{versions}."
    )
    st.caption("SHA-256 of the weights:")
    st.code(card["sha256"], language=None, wrap_lines=True)
    if folder := own_folders().get(model.name):
        offer_file("Download this model", partial(zip_model, folder), f"{model.name}.zip", key="own_model")
        caption(
            "Others install it by `biobgt models add`. It holds no subject; what may be shared is for the terms of "
            "your data to say."
        )


# The paper's tables done again, whichever model is chosen.


def _show_benchmark(view: View) -> None:
    """Every system of the paper's comparison on the same splits of ABIDE, and the paper's other tables."""
    verdict, results = _paper_again(tuple(benchmark_systems()))
    about = (
        "The paper compares BioBGT with graph transformers, graph networks and classical models. Those that "
        "could be built were written anew from their descriptions, and are given the same subjects, splits and inputs. "
        f"{tables.OTHER_SUBJECTS}"
    )
    heading(figures.benchmark_results.name, about=about)
    trained_there = installed_models().get(figures.BENCHMARKED)
    if trained_there is not None:
        show(view, figures.benchmark_results, NoOptions(), measured=measured_model(trained_there), key="benchmark")
    in_one_line(verdict, key="paper_verdict")
    for name, table, words in results:
        with st.expander(name):
            _show_table(table, alt=f"{figures.benchmark_results.name}: {name}")
            caption(words)


@st.cache_resource(show_spinner=False)
def _paper_again(systems: tuple[str, ...]) -> tuple[str, list[tuple[str, pd.DataFrame, str]]]:
    """A verdict on committed results of the registered systems, the paper's tables done again, and words on each."""
    found = BenchmarkTables(study_table("benchmark_abide"))
    words = (
        f"{tables.PAPER_MARK}: the paper's numbers. {found.words()} {tables.impossible_words()} "
        "docs/benchmark.md says how each system was built and run."
    )
    return found.verdict(), [
        (_ALL_METRICS, found.shown(), words),
        ("Parameters and time", found.costs(study_table("epoch_times")), tables.COST_WORDS),
        ("Citation networks: the paper's last table", *citation_networks()),
    ]


def _show_table(table: pd.DataFrame, *, alt: str) -> None:
    """A table whose cells break into lines, so that it is as wide as the page and no column is hidden.

    Parameters
    ----------
    table : DataFrame of str
        The first column names the rows.
    alt : str
        What a screen reader says of it.
    """

    def escaped(text: str) -> str:  # keeps fixed spaces, which `escape_markdown` takes for any other
        return tables.FIXED_SPACE.join(escape_markdown(part) for part in text.split(tables.FIXED_SPACE))

    st.table(table.map(escaped).set_index(table.columns[0]), alt=alt)


# By tab: parts of a model's card, and what is shown of all models.
_CARD: Mapping[str, Sequence[Callable[[View, InstalledModel], None]]] = {
    "results": (_show_results, _show_curves),
    "noise": (_show_noise,),
    "attention": (
        Panel(attention_contrast, "contrast", "Does attention keep to modules?"),
        show_faithfulness,
        _show_region_weights,
    ),
    "data": (_show_data, _show_limits_and_making),
}
_OF_ALL = {"all": _show_all, "paper": _show_benchmark}


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
