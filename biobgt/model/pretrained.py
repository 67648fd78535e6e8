"""Trained models that are installed here: each is one object that knows its card, its results and how to run it.

What is read from a folder is kept for as long as its card is not written anew. Torch is imported when a model first
runs, not before.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.wording import listed
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.data.cohort import ATLAS_BY_COUNT, Cohort, kind_of_group
from biobgt.model.folder import CARD, installed_folders, load_card, load_pretrained, load_region_weights, model_folder
from biobgt.model.group_results import GroupResults, GroupSpread, load_groups, load_spread

if TYPE_CHECKING:
    from biobgt.model.ensemble import Ensemble

# An ensemble takes tens of megabytes; cards are a few kilobytes each.
_MOST_MODELS, _MOST_CARDS = 12, 64


# What a model's numbers are worth to a new subject, told from its card; light, because every page asks.


CHANCE = 0.5  # the AUC of guessing
_LITTLE = 0.65  # an AUC below it is little, though it may be more than chance
_FEWEST_A_GROUP = 20  # below it an interval over subjects says next to nothing: at an AUC of 1 it has no width at all


def model_verdict(
    results: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], *, simulated: bool
) -> Literal["simulated", "too_few", "chance", "little", "better"]:
    """Return what a model is worth, from its out-of-fold AUC.

    Parameters
    ----------
    results : mapping
        Metrics with their intervals, by model.
    sizes : mapping of str to int
        Subjects per group.
    simulated : bool
        Whether the patients are simulated.
    """
    if simulated:
        return "simulated"
    if min(sizes.values()) < _FEWEST_A_GROUP:
        return "too_few"
    auc = results["BioBGT"]["auc"]
    if auc["value"] is None or auc["low"] is None or auc["low"] <= CHANCE:
        return "chance"
    return "little" if auc["value"] < _LITTLE else "better"


def is_doubtful(card: Mapping[str, Any]) -> bool:
    """Whether a card's numbers call for a warning; not those of a network, whose readouts have cards of their own."""
    if "results" not in card:
        return False
    verdict = model_verdict(card["results"], card["data"]["subjects"], simulated=card["simulated"])
    return verdict != "better"


# Models.


@dataclass(frozen=True, eq=False)
class InstalledModel:
    """A trained model; what is not in its card is read when it is first asked for.

    Attributes
    ----------
    name : str
        Of an installed model, or the folder of any other.
    card : mapping
    device : str
        Where it runs.
    """

    name: str
    card: Mapping[str, Any]
    device: str = "auto"

    @property
    def sha256(self) -> str:
        """Of its weights."""
        return str(self.card["sha256"])

    @cached_property
    def identity(self) -> tuple[str, str, str]:
        """What tells it from all other models, and from itself with another card."""
        of_card = hashlib.sha256(json.dumps(self.card, sort_keys=True, default=str).encode()).hexdigest()
        return self.name, self.sha256, of_card

    @property
    def simulated(self) -> bool:
        """Whether patients of this model are simulated."""
        return bool(self.card["simulated"])

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups it tells apart, controls first."""
        return tuple(self.card["groups"])

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return int(self.card["preset"]["layers"])

    @property
    def n_heads(self) -> int:
        """Number of heads in each layer."""
        return int(self.card["preset"]["heads"])

    @cached_property
    def atlas(self) -> Atlas:
        """The atlas it was trained on."""
        return load_atlas(self.card["atlas"])

    @cached_property
    def cohort(self) -> Cohort:
        """The cohort it was trained on: its subjects are not shipped, so there are none, but its atlas is known."""
        return Cohort(self.name, (), self.atlas)

    @cached_property
    def groups(self) -> GroupResults:
        """Results of its groups, out of fold."""
        return load_groups(self.name)

    @cached_property
    def spread(self) -> GroupSpread | None:
        """How people spread around the group means; None for a model made before that was measured."""
        return load_spread(self.name)

    @property
    def readouts(self) -> Mapping[str, tuple[str, ...]]:
        """The groups of each cohort, controls first, where several cohorts share the network; else empty."""
        return {one["cohort"]: tuple(one["groups"]) for one in self.card.get("readouts", ())}

    def readout(self, cohort: str) -> "InstalledModel":
        """The network with the readout of one of its cohorts: a model that can be asked about subjects."""
        if cohort not in self.readouts:
            raise InputError(f"Model {self.name} has no readout '{cohort}'; it has: {', '.join(self.readouts)}.")
        return installed_model(f"{self.name}/{cohort}")

    def simulates(self, groups: Sequence[str]) -> bool:
        """Whether one of these groups is of a cohort with simulated patients."""
        if not self.readouts:
            return self.simulated
        cohorts = [cohort for cohort, own in self.readouts.items() if set(own) & set(groups)]
        return any(self.readout(cohort).simulated for cohort in cohorts)

    def controls_of(self, group: str) -> str:
        """The controls of the cohort that a group belongs to."""
        return next((own for own in self.readouts.values() if group in own), self.group_names)[0]

    def pair_with(self, group: str | None) -> tuple[str, str]:
        """Two groups to show side by side: a group of patients, or else the first one, after its own controls."""
        if group not in self.group_names or group is None or group == self.controls_of(group):
            group = next(iter(self.readouts.values()), self.group_names)[1]
        return self.controls_of(group), group

    @cached_property
    def region_weights(self) -> NDArray[np.float32] | None:
        """How much each region counts, shape (n_members, n_regions); None where all count alike."""
        return load_region_weights(self.name)

    @cached_property
    def ensemble(self) -> "Ensemble":
        """The model itself, ready to run."""
        return load_pretrained(self.name, self.device)

    def refusal(self, cohort: Cohort) -> str:
        """Why it cannot be asked about a cohort, or nothing where it can; torch is not needed to tell."""
        if said := other_connectivity(self.name, cohort):
            return said
        atlas, n_regions = cohort.atlas, self.card["n_regions"]
        if atlas.name == self.card["atlas"] and atlas.n_regions == n_regions:
            return "" if cohort.atlas_is_sure else unsure_atlas(cohort)
        others = [name for name, model in installed_models().items() if model.card["atlas"] == atlas.name]
        advice = f"Choose {listed(others, last='or')} instead." if others else "No installed model is of that atlas."
        return (
            f"Model {self.name} was trained on {self.atlas.title} with {n_regions} regions; cohort '{cohort.name}' is "
            f"on {atlas.title} with {atlas.n_regions}. {advice} If only the atlas's name is wrong, set it on "
            "the page of subjects."
        )


def other_connectivity(model: str, cohort: Cohort) -> str:
    """Why a model cannot be asked about a cohort whose connectivity is not functional; nothing where it is.

    Parameters
    ----------
    model : str
        Its name.
    cohort : Cohort
    """
    if cohort.kind.functional:
        return ""
    kind = "structural" if cohort.given == "structural" else "neither region series nor functional connectivity"
    return (
        f"Model {model} was trained on correlations of fMRI signals; the matrices of cohort '{cohort.name}' are "
        f"{kind}, of which it can say nothing. If they are such correlations, choose functional as their kind of "
        "connectivity."
    )


def unsure_atlas(cohort: Cohort) -> str:
    """Say that nothing but the number of regions tells the atlas of a cohort, which is not enough for a prediction."""
    return (
        f"These {cohort.atlas.n_regions} regions were taken for those of {cohort.atlas.title} by {ATLAS_BY_COUNT}. A "
        "model predicts only where the atlas is sure: confirm it, or choose the right one on the page of subjects."
    )


def installed_model(name: str) -> InstalledModel:
    """An installed model by its name, or any other by its folder."""
    folder = model_folder(name)
    return _model(name, folder, _edition(folder))


def installed_models() -> dict[str, InstalledModel]:
    """Every installed model that can be used, by its name."""
    return {name: one for name, one in _installed().items() if isinstance(one, InstalledModel)}


def unusable_models() -> dict[str, str]:
    """Folders of models that cannot be used, and why."""
    return {name: one for name, one in _installed().items() if isinstance(one, str)}


def fitting_model(cohort: Cohort, models: Mapping[str, InstalledModel]) -> str:
    """The name of the model that knows the cohort's atlas and most of its groups, or an empty one.

    Parameters
    ----------
    cohort : Cohort
    models : mapping of str to InstalledModel
        Those of :func:`installed_models`.
    """
    sizes = set(cohort.group_sizes)
    known = {name: set(map(kind_of_group, model.group_names)) for name, model in models.items()}
    fits = {
        name: len(sizes & known[name]) - len(known[name] - sizes) / 10
        for name, model in models.items()
        if model.card["atlas"] == cohort.atlas.name
    }
    return max(fits, key=lambda name: fits[name], default="")


def _installed() -> dict[str, InstalledModel | str]:
    """Every installed model by its name, or why it cannot be used."""
    found: dict[str, InstalledModel | str] = {}
    for name, folder in installed_folders().items():
        try:
            model = _model(name, folder, _edition(folder))
            load_atlas(model.card["atlas"])
            found[name] = model
        except InputError as error:
            found[name] = str(error)
    return found


def _edition(folder: Path) -> int:
    """When a model's card was written: one that was trained anew is another."""
    return (folder / CARD).stat().st_mtime_ns


@lru_cache(_MOST_MODELS)
def _model(name: str, folder: Path, edition: int) -> InstalledModel:
    return InstalledModel(name, _card(name, folder, edition))


@lru_cache(_MOST_CARDS)
def _card(name: str, folder: Path, edition: int) -> dict[str, Any]:
    return load_card(name)
