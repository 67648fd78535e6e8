"""Trained models and what they say: cards and group results, loaded once; predictions, kept with the subjects.

Cards and group results are the project's own and shared by all sessions. What a model says of a demo subject is kept
with the demo; of a user's own subject, in that user's session. Torch is imported when a model first runs, not before.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pandas as pd
import streamlit as st
from loaded import FITTING, View, keep_few
from state import MODELS_FOUND
from widgets import plain

from biobgt import Atlas, Cohort, InputError, load_atlas
from biobgt.model.attention_views import functional_labels, louvain_labels
from biobgt.model.pretrained import (
    GroupResults,
    load_card,
    load_groups,
    load_pretrained,
    load_region_weights,
    model_folder,
    pretrained_names,
)
from biobgt.model.region_views import network_table

if TYPE_CHECKING:
    from biobgt.model.ensemble import Ensemble, SubjectExplanation

# A prediction, and a subject without one: figures are made of the former only. What a model sees, and a picture.
ROW, REFUSED, SEEN, PICTURE = "row", "refused", "seen", "picture"
# Predictions are rows, but one subject's attention and embeddings take megabytes.
MOST_KEPT = {ROW: 600, REFUSED: 600, SEEN: 12, PICTURE: 24}
LOUVAIN, ATLAS_ORDER = "louvain", "atlas"

Editions = tuple[tuple[str, int], ...]
Result = TypeVar("Result")


def look_for_models() -> None:
    """Look at the disk once a run of the page, so that one trained anew while the app runs is read anew."""
    st.session_state[MODELS_FOUND] = _look()


def model_names() -> tuple[str, ...]:
    """Models whose cards can be read."""
    return tuple(_cards(_editions()))


def unusable_models() -> dict[str, str]:
    """Folders with a card that cannot be used, and why."""
    return _read_cards(_editions())[1]


def card_of(name: str) -> dict[str, Any]:
    """A model's card."""
    return _cards(_editions())[name]


def groups_of(name: str) -> GroupResults:
    """A model's group results."""
    return _groups(name, dict(_editions())[name])


def networks_of(name: str, labelling: str) -> pd.DataFrame | None:
    """How much each functional network counts in a model, in words; None where all regions count alike."""
    return _networks(name, labelling, dict(_editions())[name])


def atlas_of(name: str) -> Atlas:
    """The atlas a model was trained on."""
    return load_atlas(card_of(name)["atlas"])


def ensemble_of(name: str) -> "Ensemble":
    """A model, ready to run."""
    return _ensemble(name, dict(_editions())[name])


def fitting_model(cohort: Cohort) -> str:
    """The model that knows the cohort's atlas and most of its groups, or an empty name."""
    sizes = set(cohort.group_sizes)
    fits = {
        name: len(sizes & set(card["groups"])) - len(set(card["groups"]) - sizes) / 10
        for name, card in _cards(_editions()).items()
        if card["atlas"] == cohort.atlas.name
    }
    return max(fits, key=lambda name: fits[name], default=FITTING)


def chosen_model(view: View) -> str:
    """The model that the sidebar says, or the one that fits the cohort; an empty name where there is none."""
    return view.model or fitting_model(view.cohort)


def refusal(view: View, name: str) -> str:
    """Why a model cannot be asked about the cohort, or nothing where it can; torch is not needed to tell."""
    card, atlas = card_of(name), view.cohort.atlas
    if atlas.name == card["atlas"] and atlas.n_regions == card["n_regions"]:
        return ""
    return (
        f"Model {name} was trained on {atlas_of(name).title} with {card['n_regions']} regions; cohort "
        f"'{view.cohort.name}' is on {atlas.title} with {atlas.n_regions}. Choose a model of that atlas in the "
        "sidebar; if only the atlas's name is wrong, set it on the page of subjects."
    )


def region_labels(name: str, order: str) -> list[str | None] | None:
    """The module by which regions are ordered: a functional labelling, or Louvain's of the controls' mean."""
    atlas = atlas_of(name)
    if order == LOUVAIN:
        return cast("list[str | None]", _louvain(name, dict(_editions())[name]))
    return functional_labels(atlas, order) if order in atlas.labels else None


def predicted(view: View, name: str, subject: str) -> dict[str, Any] | None:
    """What a model said of a subject before, as a row of its table, or None."""
    results, key = view.loaded.model_results, _key(name, subject)
    found = results.get(ROW, {}).get(key) or results.get(REFUSED, {}).get(key)
    return cast("dict[str, Any] | None", found)


def predict(view: View, name: str, subject: str) -> dict[str, Any]:
    """What a model says of a subject: a row of the table of :meth:`biobgt.model.ensemble.Ensemble.predict`.

    Where it cannot be asked about the subject, the prediction is empty and the warning says why. That is kept too, so
    that one subject does not stop the work on all.
    """
    model = ensemble_of(name)  # what is wrong with a model is no subject's fault, and not kept

    def ask() -> dict[str, Any]:
        alone = view.cohort.select(lambda one: one.id == subject)
        return cast("dict[str, Any]", model.predict(alone).iloc[0].to_dict())

    try:
        return _keep(view, ROW, _key(name, subject), ask)
    except InputError as error:
        row = {"subject": subject, "prediction": "", "warning": str(error)}
        return _keep(view, REFUSED, _key(name, subject), lambda: row)


def predictions(view: View, name: str) -> pd.DataFrame:
    """All rows so far, in the cohort's order."""
    rows = [predicted(view, name, subject) for subject in view.cohort.ids]
    columns = ["subject", *(f"p_{group}" for group in card_of(name)["groups"]), "prediction", "warning"]
    return pd.DataFrame([row for row in rows if row is not None], columns=columns)


def explain(view: View, name: str) -> "SubjectExplanation":
    """What a model sees in the view's subject."""

    def ask() -> "SubjectExplanation":
        model = ensemble_of(name)
        model.check(view.cohort)
        return model.explain([view.subject])

    return _keep(view, SEEN, _key(name, view.subject.id), ask)


def keep_picture(view: View, key: tuple[object, ...], draw: Callable[[], bytes]) -> bytes:
    """A picture of a model's results, drawn once."""
    return _keep(view, PICTURE, key, draw)


def no_models() -> None:
    """Say that there are no trained models here."""
    st.info(
        "No trained model is installed here. `biobgt train` makes one from a cohort; models that come with the project "
        "are in its folder `pretrained`.",
        icon=":material/info:",
    )


def show_headline(card: Mapping[str, Any]) -> None:
    """Say first what a model is worth."""
    doubtful = not card["headline"].startswith("Tells ")  # simulated, at chance, or too few subjects
    st.info(f"**{plain(card['headline'])}**", icon=":material/warning:" if doubtful else ":material/fact_check:")


def _key(name: str, subject: str) -> tuple[object, ...]:
    return (name, card_of(name)["sha256"], subject)


def _keep(view: View, kind: str, key: tuple[object, ...], ask: Callable[[], Result]) -> Result:
    """Ask for what is not known yet, and keep it in place of the oldest of its kind."""
    results = cast("dict[tuple[object, ...], Result]", view.loaded.model_results.setdefault(kind, {}))
    return keep_few(results, key, ask, most=MOST_KEPT[kind])


def _editions() -> Editions:
    """Models with the time of their card, as this run found them."""
    found: Editions | None = st.session_state.get(MODELS_FOUND)
    return _look() if found is None else found


def _look() -> Editions:
    return tuple((name, (model_folder(name) / "card.json").stat().st_mtime_ns) for name in pretrained_names())


def _cards(editions: Editions) -> dict[str, dict[str, Any]]:
    return _read_cards(editions)[0]


@st.cache_resource(show_spinner=False, max_entries=4)
def _read_cards(editions: Editions) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The cards that can be used, and why the others cannot."""
    cards, problems = {}, {}
    for name, _ in editions:
        try:
            card = load_card(name)
            load_atlas(card["atlas"])
        except InputError as error:
            problems[name] = str(error)
        else:
            cards[name] = card
    return cards, problems


@st.cache_resource(show_spinner="Reading the group results…", max_entries=8)
def _groups(name: str, edition: int) -> GroupResults:
    return load_groups(name)


@st.cache_resource(show_spinner=False, max_entries=8)
def _networks(name: str, labelling: str, edition: int) -> pd.DataFrame | None:
    weights = load_region_weights(name)
    return None if weights is None else network_table(weights, functional_labels(atlas_of(name), labelling))


@st.cache_resource(show_spinner="Loading the model…", max_entries=4)
def _ensemble(name: str, edition: int) -> "Ensemble":
    return load_pretrained(name)


@st.cache_resource(show_spinner="Looking for modules…", max_entries=8)
def _louvain(name: str, edition: int) -> list[str]:
    groups = groups_of(name)
    controls = next(iter(groups.connectivity))
    return louvain_labels(groups.connectivity[controls], atlas_of(name))
