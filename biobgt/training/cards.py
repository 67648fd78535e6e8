"""Write a trained ensemble as a model folder: weights, card, group results and a README, with every number measured."""

import json
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor

from biobgt.atlas import BUNDLED, load_atlas
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.model.ensemble import ensemble_tensors, position
from biobgt.model.familiarity import familiarity_of
from biobgt.model.fingerprint import fingerprints
from biobgt.model.presets import Preset
from biobgt.model.pretrained import CARD, FINGERPRINTS, GROUPS, TESTS, WEIGHTS, load_card
from biobgt.model.transformer import BioBGT
from biobgt.output import atomic_file, make_folder, sha256, write_atomically
from biobgt.people import average_by_person
from biobgt.training.card_words import headline, limits, readme
from biobgt.training.cohorts import STORIES, strata_words
from biobgt.training.data import LabelledGraphs
from biobgt.training.ensemble import TrainedEnsemble
from biobgt.training.evaluation import summarise
from biobgt.training.group_tests import group_tests, write_tests
from biobgt.training.intervals import bootstrap_intervals
from biobgt.training.metrics import METRICS, calibration_error_by_chance, classification_metrics

FORMAT = 1
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
    with atomic_file(folder / WEIGHTS) as file:
        save_file({**_stored(trained.members), **known}, file)
    _write_groups(folder, data, trained)
    write_tests(group_tests(cohort, data, trained.mean_attention), folder)
    probabilities = {"BioBGT": trained.probabilities, **linear}
    results = {
        model: measured(data.labels, values, data.groups, cohort.persons) for model, values in probabilities.items()
    }
    attention = {group: _mean(trained.contrast, data, label) for label, group in enumerate(data.groups)}
    card = {
        "format": FORMAT,
        "name": name,
        "headline": headline(results, cohort.group_people, simulated=cohort.simulated),
        "simulated": cohort.simulated,
        "data": _data_words(cohort),
        "atlas": cohort.atlas.name,
        "atlas_fingerprint": cohort.atlas.fingerprint,
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
        "attention": attention,
        "temperatures": [round(trained.temperature, 4)] * len(trained.members),
        "familiarity": _familiarity(cohort, data, trained),
        "noise": None,
        "motion": None,
        "nested": None,
        "limits": limits(cohort, preset, attention, results["BioBGT"]["ece"]),
        "training": _training(trained, command=command, seed=seed),
        "sha256": sha256(folder / WEIGHTS),
        "files": _hashes(folder),
    }
    write_card(folder, card)
    return card


def seal_card(folder: Path) -> dict[str, Any]:
    """Bind a card to the files beside it and, where it names a bundled atlas, to that; after these files changed."""
    card = load_card(folder)
    if card["atlas"] in BUNDLED:
        card.setdefault("atlas_fingerprint", load_atlas(card["atlas"]).fingerprint)
    card["files"] = _hashes(folder)
    write_card(folder, card)
    return card


def _hashes(folder: Path) -> dict[str, str]:
    return {name: sha256(folder / name) for name in (GROUPS, TESTS)}


def _stored(members: Sequence[BioBGT]) -> Mapping[str, Tensor]:
    """All members' weights; matrices that half precision holds exactly are written so."""
    return {
        name: value.half() if value.ndim > 1 and torch.equal(value.half().float(), value) else value
        for name, value in ensemble_tensors(members).items()
    }


def check_evaluated(card: Mapping[str, Any], cohort: Cohort, preset: Preset) -> None:
    """Refuse to put the evaluation of other subjects, or of other settings under the same name, on a card."""
    same = {
        "cohort": (card["data"]["cohort"], cohort.name),
        "numbers of subjects": (dict(card["data"]["subjects"]), dict(cohort.group_people)),
        "atlas": (card["atlas"], cohort.atlas.name),
    }
    if "atlas_fingerprint" in card:
        same["atlas's regions, order or coordinates"] = (card["atlas_fingerprint"], cohort.atlas.fingerprint)
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
    words = readme(card)
    write_atomically(folder / CARD, json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    write_atomically(folder / "README.md", words)


def _data_words(cohort: Cohort) -> dict[str, Any]:
    story = STORIES[cohort.name]
    return {
        "cohort": cohort.name,
        "title": story.title,
        "terms": story.terms,
        "citation": story.citation,
        "subjects": dict(cohort.group_people),
        **({"recordings": dict(cohort.group_sizes)} if cohort.group_sizes != cohort.group_people else {}),
    }


def _familiarity(cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble) -> dict[str, list[float] | None]:
    means, distances = position(data.graphs, trained.members[0])
    return familiarity_of(cohort.subjects, mean_correlations=means, distances=distances).as_dict()


def _training(trained: TrainedEnsemble, *, command: str, seed: int) -> dict[str, Any]:
    return {
        "command": command,
        "seed": seed,
        "seconds_an_epoch": round(trained.seconds_an_epoch, 2),
        "peak_memory_mb": None if np.isnan(trained.peak_memory_mb) else round(trained.peak_memory_mb),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _VERSIONS}},
    }


def measured(
    labels: NDArray[np.int64], probabilities: NDArray[np.float64], groups: Sequence[str], persons: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Metrics with their 95 % intervals over persons, as a card holds them.

    Parameters
    ----------
    labels : ndarray of int, shape (n_subjects,)
    probabilities : ndarray, shape (n_subjects, n_groups)
    persons : sequence of str, length n_subjects
    """
    found = bootstrap_intervals(
        lambda truth, values: classification_metrics(truth, values, groups),
        labels,
        probabilities,
        subjects=persons,
        draws=300,
        seed=0,
    )
    table = {}
    for metric, interval in found.items():
        # Resampled subjects repeat, which makes a calibration error look larger than it is: no interval for it.
        low, high = (None, None) if metric == "ece" else (_number(interval.low), _number(interval.high))
        table[metric] = {"value": _number(interval.value), "low": low, "high": high}
    table["ece"]["by_chance"] = _number(calibration_error_by_chance(probabilities))
    return table


def _mean(contrast: NDArray[np.float64], data: LabelledGraphs, label: int) -> float | None:
    """Mean over people of what is defined: a subject whose regions are all in one module has no contrast."""
    own = data.labels == label
    values = average_by_person(contrast[own], np.array(data.persons)[own].tolist())
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def _mean_of_people(values: NDArray[Any], *, persons: Sequence[str]) -> NDArray[np.float64]:
    """Mean over people of what is defined, a person's recordings averaged first."""
    return np.asarray(np.nanmean(average_by_person(values, persons), axis=0))


def _number(value: float) -> float | None:
    return round(float(value), 4) if np.isfinite(value) else None


def _write_groups(folder: Path, data: LabelledGraphs, trained: TrainedEnsemble) -> None:
    arrays: dict[str, NDArray[Any]] = {}
    persons = np.array(data.persons)
    for label, group in enumerate(data.groups):
        own = data.labels == label
        mean = partial(_mean_of_people, persons=persons[own].tolist())
        arrays[f"n_{group}"] = np.array(len(set(persons[own])))
        arrays[f"attention_{group}"] = trained.attention[label].astype(np.float16)
        arrays[f"connectivity_{group}"] = mean(data.matrices[own]).astype(np.float16)
        arrays[f"entanglement_{group}"] = mean(data.graphs.entanglement.numpy()[own]).astype(np.float32)
        arrays[f"contrast_{group}"] = mean(trained.contrast[own]).astype(np.float32)
        arrays[f"embedding_contrast_{group}"] = np.array(mean(trained.embedding_contrast[own]))
    order = np.random.default_rng(0).permutation(len(data.labels))  # nobody is found again by position
    arrays["labels"] = data.labels[order]
    arrays["probabilities"] = trained.probabilities[order].astype(np.float32)
    with atomic_file(folder / GROUPS) as file, file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
