"""Write a trained ensemble as a model folder: weights, card, group results and a README, with every number measured.

The first line of a card, its headline, says what the model is worth: at chance, simulated, or how far above chance.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from safetensors.torch import save_file

from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.model.ensemble import ensemble_tensors, familiarity_of
from biobgt.model.fingerprint import fingerprints
from biobgt.model.presets import Preset
from biobgt.model.pretrained import CARD, FINGERPRINTS, GROUPS, TESTS, WEIGHTS, sha256
from biobgt.output import make_folder
from biobgt.training.cohorts import STORIES, strata_words
from biobgt.training.data import LabelledGraphs
from biobgt.training.ensemble import TrainedEnsemble
from biobgt.training.evaluation import summarise
from biobgt.training.group_tests import group_tests
from biobgt.training.intervals import bootstrap_intervals
from biobgt.training.metrics import METRICS, calibration_error_by_chance, classification_metrics

FORMAT = 1
CALIBRATED = 0.05
_VERSIONS = ("torch", "numpy", "scikit-learn", "bctpy")


def write_model(
    folder: Path,
    *,
    name: str,
    cohort: Cohort,
    data: LabelledGraphs,
    preset: Preset,
    trained: TrainedEnsemble,
    linear: Mapping[str, NDArray[np.float64]],
    command: str,
    seed: int,
) -> dict[str, Any]:
    """Write a model folder and return its card.

    Parameters
    ----------
    cohort : Cohort
        Named after a kind of :data:`biobgt.training.cohorts.STORIES`.
    linear : mapping of str to ndarray, shape (n_subjects, n_groups)
        Out-of-fold probabilities of linear models, on the same folds.
    command : str
        What made it.
    """
    make_folder(folder)
    known = {FINGERPRINTS: fingerprints(data.graphs.features)}
    save_file({**ensemble_tensors(trained.members), **known}, folder / WEIGHTS)
    (folder / WEIGHTS).chmod(0o644)  # safetensors writes it for its owner alone
    _write_groups(folder, data, trained)
    tests = group_tests(cohort, data, trained)
    tests.to_csv(folder / TESTS, index=False, float_format="%.6g")
    probabilities = {"BioBGT": trained.probabilities, **linear}
    results = {model: _measured(data, values, cohort.persons) for model, values in probabilities.items()}
    card = {
        "format": FORMAT,
        "name": name,
        "headline": headline(results, data.groups, simulated=cohort.simulated),
        "simulated": cohort.simulated,
        "data": _data_words(cohort),
        "atlas": cohort.atlas.name,
        "n_regions": cohort.atlas.n_regions,
        "groups": list(data.groups),
        "preset": preset.as_dict(),
        "n_parameters": sum(parameter.numel() for parameter in trained.members[0].parameters()),
        "protocol": f"{len(trained.members)}-fold cross-validation, stratified {strata_words(cohort)}; one member a "
        "fold; epoch chosen on the fold's validation subjects, temperature on the other folds' test subjects, results "
        "on the fold's own test subjects, whom neither has seen.",
        "results": results,
        "evaluation": [],
        "paper": STORIES[cohort.name].paper,
        "attention": {
            group: float(np.nanmean(trained.contrast[data.labels == label])) for label, group in enumerate(data.groups)
        },
        "temperatures": [round(trained.temperature, 4)] * len(trained.members),
        "familiarity": _familiarity(cohort, data, trained),
        "limits": limits(cohort, preset, results["BioBGT"]["ece"]),
        "training": _training(trained, command=command, seed=seed),
        "sha256": sha256(folder / WEIGHTS),
    }
    write_card(folder, card)
    return card


def limits(cohort: Cohort, preset: Preset, calibration: Mapping[str, float | None]) -> list[str]:
    """What a user must know before believing the model: its purpose, its cohort, its attention, its probabilities."""
    found = ["Research use only, not a diagnostic device.", *STORIES[cohort.name].limits]
    if preset.start_contrast:
        found.append(
            "How sharp attention is was set on training subjects: queries are scaled until attention within modules is "
            f"{preset.start_contrast:g} times that between them. That the ratio is near that is a choice; that it "
            "holds in held-out subjects is a result."
        )
    error, by_chance = calibration["value"], calibration["by_chance"]
    if error is not None and by_chance is not None and error > CALIBRATED:
        found.append(
            f"Its probabilities are off by {error:.2f} on average in held-out subjects, where {by_chance:.2f} would be "
            "chance alone: take them for an order of subjects, not for frequencies."
        )
    return found


def check_evaluated(card: Mapping[str, Any], cohort: Cohort, preset: Preset) -> None:
    """Refuse to put the evaluation of other subjects, or of other settings under the same name, on a card."""
    same = {
        "cohort": (card["data"]["cohort"], cohort.name),
        "numbers of subjects": (dict(card["data"]["subjects"]), dict(cohort.group_sizes)),
        "atlas": (card["atlas"], cohort.atlas.name),
    }
    if preset.name == card["preset"]["name"]:
        same["preset's settings"] = (card["preset"], preset.as_dict())
    for what, (of_card, given) in same.items():
        if of_card != given:
            raise InputError(
                f"The {what} of '{card['name']}' and of this evaluation differ, so that its card cannot take the "
                "results. Evaluate without --model, or name the model that was trained on these subjects."
            )


def add_evaluation(folder: Path, results: pd.DataFrame) -> dict[str, Any]:
    """Put the summary of ``results.csv`` on the card in a folder, and write it again."""
    card = dict(json.loads((folder / CARD).read_text(encoding="utf-8")))
    rows = []
    for row in summarise(results).to_dict("records"):
        metrics = {m: {"mean": _number(row[f"{m} mean"]), "sd": _number(row[f"{m} std"])} for m in METRICS}
        rows.append({"protocol": row["protocol"], "model": row["model"], "splits": int(row["splits"]), **metrics})
    card["evaluation"] = rows
    write_card(folder, card)
    return card


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write the card, and the README that says the same in words."""
    (folder / CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(readme(card), encoding="utf-8")


def headline(results: Mapping[str, Mapping[str, Any]], groups: Sequence[str], *, simulated: bool) -> str:
    """Say in one line what the model is worth, from its out-of-fold AUC and accuracy."""
    auc, accuracy = results["BioBGT"]["auc"], results["BioBGT"]["accuracy"]
    measured = (
        f"out of fold AUC {auc['value']:.2f} [{auc['low']:.2f}, {auc['high']:.2f}], accuracy {accuracy['value']:.2f}"
    )
    told = " / ".join(groups)
    beside = _beside_linear(results)
    if simulated:
        return f"Simulated: {told}, where every patient is made by a program; {measured}; {beside}."
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


def readme(card: Mapping[str, Any]) -> str:
    """The card in words."""
    subjects = ", ".join(f"{n} {group}" for group, n in card["data"]["subjects"].items())
    lines = [f"# {card['name']}", "", card["headline"], ""]
    lines += [f"- Data: {card['data']['title']}; {subjects}. {card['data']['terms']} Cite {card['data']['citation']}."]
    lines += [f"- Protocol: {card['protocol']}"]
    lines += [f"- Made by `{card['training']['command']}`, seed {card['training']['seed']}.", ""]
    lines += ["| out of fold | " + " | ".join(METRICS) + " |", "|---|" + "---|" * len(METRICS)]
    for model, measured in card["results"].items():
        cells = [_cell(measured[metric]) for metric in METRICS]
        lines.append(f"| {model} | " + " | ".join(cells) + " |")
    contrast = ", ".join(f"{group} {value:.2f}" for group, value in card["attention"].items())
    lines += ["", f"Attention within over between modules, held-out subjects: {contrast}.", "", "Limits:", ""]
    lines += [f"- {limit}" for limit in card["limits"]]
    return "\n".join(lines) + "\n"


def _data_words(cohort: Cohort) -> dict[str, Any]:
    story = STORIES[cohort.name]
    return {
        "cohort": cohort.name,
        "title": story.title,
        "terms": story.terms,
        "citation": story.citation,
        "subjects": dict(cohort.group_sizes),
    }


def _familiarity(cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble) -> dict[str, list[float] | None]:
    familiar = familiarity_of(cohort.subjects, data.graphs, trained.members[0])
    return {
        "mean_correlation": list(familiar.mean_correlation),
        "distance": list(familiar.distance),
        "timepoints": list(familiar.timepoints) if familiar.timepoints else None,
    }


def _training(trained: TrainedEnsemble, *, command: str, seed: int) -> dict[str, Any]:
    return {
        "command": command,
        "seed": seed,
        "seconds_an_epoch": round(trained.seconds_an_epoch, 2),
        "peak_memory_mb": round(trained.peak_memory_mb),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _VERSIONS}},
    }


def _cell(measured: Mapping[str, float | None]) -> str:
    value, low, high = (measured[key] for key in ("value", "low", "high"))
    if value is None:
        return "not defined"
    return f"{value:.3f}" if low is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _measured(
    data: LabelledGraphs, probabilities: NDArray[np.float64], persons: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    found = bootstrap_intervals(
        lambda truth, values: classification_metrics(truth, values, data.groups),
        data.labels,
        probabilities,
        subjects=persons,
        draws=300,
        seed=0,
    )
    measured = {}
    for metric, interval in found.items():
        # Resampled subjects repeat, which makes a calibration error look larger than it is: no interval for it.
        low, high = (None, None) if metric == "ece" else (_number(interval.low), _number(interval.high))
        measured[metric] = {"value": _number(interval.value), "low": low, "high": high}
    measured["ece"]["by_chance"] = _number(calibration_error_by_chance(probabilities))
    return measured


def _number(value: float) -> float | None:
    return round(float(value), 4) if np.isfinite(value) else None


def _write_groups(folder: Path, data: LabelledGraphs, trained: TrainedEnsemble) -> None:
    arrays: dict[str, NDArray[Any]] = {}
    for label, group in enumerate(data.groups):
        own = data.labels == label
        arrays[f"n_{group}"] = np.array(int(own.sum()))
        arrays[f"attention_{group}"] = trained.attention[label].astype(np.float16)
        arrays[f"connectivity_{group}"] = data.matrices[own].mean(axis=0).astype(np.float16)
        arrays[f"entanglement_{group}"] = data.graphs.entanglement.numpy()[own].mean(axis=0).astype(np.float32)
        arrays[f"contrast_{group}"] = np.nanmean(trained.contrast[own], axis=0).astype(np.float32)
        arrays[f"embedding_contrast_{group}"] = np.array(np.nanmean(trained.embedding_contrast[own]))
    order = np.random.default_rng(0).permutation(len(data.labels))  # nobody is found again by position
    arrays["labels"] = data.labels[order]
    arrays["probabilities"] = trained.probabilities[order].astype(np.float32)
    with (folder / GROUPS).open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
