"""A model's card in words: what it is worth, what must be known before it is believed, and the README.

The first line, the headline, says what the model is worth: at chance, simulated, too few subjects to tell, or how far
above chance.
"""

import math
from collections.abc import Mapping
from typing import Any

from biobgt.cohort import Cohort
from biobgt.model.presets import Preset
from biobgt.people import counted_people
from biobgt.training.cohorts import STORIES
from biobgt.training.metrics import METRICS
from biobgt.training.robustness_views import motion_words, nested_words, noise_table, noise_words
from biobgt.wording import counted

CALIBRATED = 0.05
NE_SHUFFLED, NO_ATTENTION = "NE shuffled over regions", "attention set to zero"
NOT_MEASURED = "What node entanglement (NE) and attention do to this model's predictions was not measured."
NEXT_TO_NOTHING = 0.001  # a probability that moves by less is printed the same in any table
FEWEST_A_GROUP = 20  # below it an interval over subjects says next to nothing: at an AUC of 1 it has no width at all


def headline(results: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], *, simulated: bool) -> str:
    """Say in one line what the model is worth, from its out-of-fold AUC and accuracy.

    Parameters
    ----------
    results : mapping
        Metrics with their intervals, by model.
    sizes : mapping of str to int
        Subjects a group.
    """
    auc, accuracy = results["BioBGT"]["auc"], results["BioBGT"]["accuracy"]
    measured = (
        f"out of fold AUC {auc['value']:.2f} [{auc['low']:.2f}, {auc['high']:.2f}], accuracy {accuracy['value']:.2f}"
    )
    told = " / ".join(sizes)
    beside = _beside_linear(results)
    if simulated:
        return f"Simulated: {told}, where every patient is made by a program; {measured}; {beside}."
    if min(sizes.values()) < FEWEST_A_GROUP:
        numbers = ", ".join(f"{n} {group}" for group, n in sizes.items())
        return f"Too few subjects to tell what this model is worth ({numbers}): {measured}; {beside}."
    if auc["low"] <= 0.5 or auc["value"] < 0.6:
        return f"At or near chance: this model does not tell {told} apart in new subjects ({measured})."
    return f"Tells {told} apart better than chance, far from well enough for a person: {measured}; {beside}."


def _beside_linear(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Say how the best linear model does on the same folds."""
    best = max(float(measured["auc"]["value"]) for model, measured in results.items() if model != "BioBGT")
    ahead = results["BioBGT"]["auc"]["value"] - best
    if abs(ahead) < 0.01:
        return f"a linear model does as well ({best:.2f})"
    return f"a linear model is {'worse' if ahead > 0 else 'better'} ({best:.2f})"


def limits(
    cohort: Cohort,
    preset: Preset,
    attention: Mapping[str, float | None],
    calibration: Mapping[str, float | None],
) -> list[str]:
    """What a user must know before believing the model: its purpose, its cohort, its attention, its probabilities."""
    found = ["Research use only, not a diagnostic device.", *STORIES[cohort.name].limits]
    if preset.start_contrast:
        found.append(_sharpness(preset.start_contrast, attention))
    error, by_chance = calibration["value"], calibration["by_chance"]
    if error is not None and by_chance is not None and error > CALIBRATED:
        found.append(
            f"Its probabilities are off by {error:.2f} on average in held-out subjects, where {by_chance:.2f} would be "
            "chance alone: take them for an order of subjects, not for frequencies."
        )
    return found


def _sharpness(asked: float, attention: Mapping[str, float | None]) -> str:
    """Say that the sharpness of attention was set, or that what was asked for was not reached."""
    reached = [ratio for ratio in attention.values() if ratio is not None]
    if reached and min(reached) > 1 + (asked - 1) / 2:
        return (
            "How sharp attention is was set on training subjects: queries are scaled until attention within modules is "
            f"{asked:g} times that between them. That the ratio is near that is a choice; that it holds in held-out "
            "subjects is a result."
        )
    return (
        f"Attention within modules was to be {asked:g} times that between them, and is "
        f"{f'{min(reached):.2f} times' if reached else 'not defined'} in held-out subjects: the maps say little about "
        "modules."
    )


def parts_words(card: Mapping[str, Any]) -> str:
    """Say what NE, attention and labels did to a model, in full sentences, for its card and its maps."""
    parts = card.get("parts")
    if parts is None:
        return NOT_MEASURED
    n, at_start = len(card["temperatures"]), parts["members_at_start"]
    said = [
        f"In held-out subjects, shuffling NE over regions {_change(parts['without'][NE_SHUFFLED])}",
        f"Setting attention to zero {_change(parts['without'][NO_ATTENTION])}",
    ]
    if at_start:
        said.append(
            f"{at_start} of {n} members took no training step from the subjects' groups, because no step lowered the "
            "validation loss: their attention was learnt without groups, from Louvain modules alone"
        )
    return ". ".join(said) + "."


def _change(effect: Mapping[str, Any]) -> str:
    largest, calls = effect["largest_change"], effect["changed_calls"]
    if largest <= NEXT_TO_NOTHING:
        return f"changes no probability by more than {NEXT_TO_NOTHING:g}"
    alike = "" if effect["correlation"] is None else f" ({_alike(effect['correlation'])})"
    mean = effect["mean_change"]
    average = f"{mean:.3f}" if mean >= NEXT_TO_NOTHING / 2 else f"less than {NEXT_TO_NOTHING:g}"
    moved = f"changes probabilities by {average} on average and {largest:.3f} at most{alike}"
    return f"{moved} and puts {counted(calls, 'subject') if calls else 'no subject'} into another group"


def _alike(correlation: float) -> str:
    """How unchanged and changed probabilities correlate, never rounded up to 1."""
    return "r > 0.9999" if correlation > 0.9999 else f"r = {math.floor(correlation * 1000) / 1000:.3f}"


def readme(card: Mapping[str, Any]) -> str:
    """The card in words."""
    people, recordings = card["data"]["subjects"], card["data"].get("recordings", card["data"]["subjects"])
    subjects = ", ".join(f"{n} {group}" for group, n in people.items())
    if recordings != people:
        subjects += f" ({counted_people(sum(people.values()), sum(recordings.values()))})"
    lines = [f"# {card['name']}", "", card["headline"], ""]
    lines += [f"- Data: {card['data']['title']}; {subjects}. {card['data']['terms']} Cite {card['data']['citation']}."]
    lines += [f"- Protocol: {card['protocol']}"]
    lines += [f"- Made by `{card['training']['command']}`, seed {card['training']['seed']}.", ""]
    lines += ["| out of fold | " + " | ".join(METRICS) + " |", "|---|" + "---|" * len(METRICS)]
    for model, measured in card["results"].items():
        cells = [_cell(measured[metric]) for metric in METRICS]
        lines.append(f"| {model} | " + " | ".join(cells) + " |")
    contrast = ", ".join(
        f"{group} {'not defined' if ratio is None else f'{ratio:.2f}'}" for group, ratio in card["attention"].items()
    )
    lines += ["", nested_words(card), "", f"Noise: {noise_words(card)}", *_noise_lines(card), "", motion_words(card)]
    lines += ["", f"Attention within over between modules, held-out subjects: {contrast}.", "", "Limits:", ""]
    lines += [f"- {limit}" for limit in (*card["limits"], parts_words(card))]
    return "\n".join(lines) + "\n"


def _noise_lines(card: Mapping[str, Any]) -> list[str]:
    """The noise response as a table, after an empty line; nothing where it was not measured."""
    table = noise_table(card)
    if table.empty:
        return []
    rows = ["| " + " | ".join(row) + " |" for row in table.itertuples(index=False)]
    return ["", "| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns), *rows]


def _cell(measured: Mapping[str, float | None]) -> str:
    value, low, high = (measured[key] for key in ("value", "low", "high"))
    if value is None:
        return "not defined"
    return f"{value:.3f}" if low is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"
