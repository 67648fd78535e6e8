"""What methods say of trained models: on whom each was trained, and what to cite for these data."""

from collections.abc import Mapping, Sequence
from typing import Any

from biobgt.export.cited_text import ToComplete
from biobgt.model.installed import InstalledModel, installed_model
from biobgt.references import Citation, in_brackets
from biobgt.training.cohort_stories import STORIES, CohortStory
from biobgt.wording import counted, listed


def model_paragraphs(names: Sequence[str]) -> tuple[list[Sequence[str | ToComplete]], list[Citation]]:
    """Write a paragraph per model, and what these cite.

    Parameters
    ----------
    names : sequence of str
        Of installed models, or folders of one's own; a readout brings its network.
    """
    models = {one.name: one for name in names for one in _with_network(installed_model(name))}
    cited = [citation for model in models.values() for kind in _kinds(model.card) for citation in STORIES[kind].works]
    return [_sentences(model) for model in models.values()], cited


def _with_network(model: InstalledModel) -> list[InstalledModel]:
    """The model, after the network whose readout it is."""
    readout = model.card.get("readout")
    return [model] if readout is None else [installed_model(model.name.rpartition("/")[0]), model]


def _kinds(card: Mapping[str, Any]) -> list[str]:
    return [kind for kind in str(card["data"]["cohort"]).split("+") if kind in STORIES]


def _sentences(model: InstalledModel) -> list[str | ToComplete]:
    card, sizes = model.card, model.card["data"]["subjects"]
    parts = [
        f"{listed([f'{sizes[group]:,} {group}' for group in groups])} from {_named(STORIES[kind])}"
        for kind, groups in _groups_of(model).items()
        if kind in STORIES
    ]
    part = "readout of the network" if "readout" in card else "model"
    total = counted(sum(sizes.values()), "subject")
    said: list[str | ToComplete] = [
        f"The {part} {model.name} was trained on {total}: {'; '.join(parts) or listed(list(sizes))}."
    ]
    if model.simulated:
        said.append(
            "Its simulated patients are not measurements of people; what it learned from them is not evidence about "
            "people."
        )
    if any(not STORIES[kind].works for kind in _kinds(card)) or not _kinds(card):
        said.append(ToComplete(f"source, terms and citation of the data that {model.name} was trained on"))
    return said


def _groups_of(model: InstalledModel) -> Mapping[str, Sequence[str]]:
    """The groups of every cohort that a model was trained on."""
    if model.readouts:
        return model.readouts
    return {kind: tuple(model.card["data"]["subjects"]) for kind in _kinds(model.card)}


def _named(story: CohortStory) -> str:
    """A cohort within a sentence, with its works: the first letter small, unless the word is an abbreviation."""
    title = story.title
    title = title[:1].lower() + title[1:] if title.split()[0].istitle() else title
    return f"{title}{in_brackets(story.works)}"
