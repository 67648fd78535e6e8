"""Write a trained ensemble as a model folder: weights, card, group results and a README, with every number measured."""

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
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
from biobgt.model.attention_views import all_block_tests
from biobgt.model.ensemble import ensemble_tensors, position
from biobgt.model.familiarity import familiarity_of, scan_measures
from biobgt.model.fingerprint import fingerprints, id_hashes, written_hashes
from biobgt.model.group_spread import SPREAD_FILE
from biobgt.model.presets import Preset
from biobgt.model.pretrained import CARD, FINGERPRINTS, GROUPS, TESTS, WEIGHTS, load_card, weights_file
from biobgt.model.transformer import BioBGT
from biobgt.output import atomic_file, make_folder, sha256, write_atomically
from biobgt.people import average_by_person
from biobgt.spreadsheets import read_csv
from biobgt.training.baseline_folds import paired_auc
from biobgt.training.card_words import headline, limits, readme
from biobgt.training.cohort_stories import STORIES
from biobgt.training.data import LabelledGraphs
from biobgt.training.evaluation import summarise
from biobgt.training.folds import TrainedEnsemble
from biobgt.training.group_arrays import spread_of, write_groups, write_spread
from biobgt.training.group_tests import group_tests, write_tests
from biobgt.training.intervals import bootstrap_intervals
from biobgt.training.metrics import METRICS, calibration_error_by_chance, classification_metrics
from biobgt.training.shared_words import shared_readme
from biobgt.training.splits import Split
from biobgt.training.training_cohorts import folds_words

FORMAT = 1
CHOSEN_ON = (
    "The epoch was chosen on the fold's validation subjects and the temperature on the other folds' test subjects; "
    "results are those of the fold's own test subjects, whom neither has seen."
)
SHARED_FOLDS = (
    "Encoder and attention are shared by all cohorts of the network and were trained on all, the readout and its "
    "temperature on this cohort alone; the folds are of all cohorts together, so that someone in two cohorts is "
    "always in the same fold."
)
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
    splits: Sequence[Split] = (),
    readout: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write a model folder and return its card.

    Parameters
    ----------
    folder : Path
        Where the weights, the card and the group results go.
    name : str
        Of the model.
    cohort : Cohort
        Named after a kind of :data:`biobgt.training.cohort_stories.STORIES`.
    data : LabelledGraphs
        Of the cohort, for the preset.
    preset : Preset
    trained : TrainedEnsemble
    linear : mapping of str to ndarray, shape (n_subjects, n_groups)
        Out-of-fold probabilities of linear models, on the same folds.
    command : str
        What made it.
    seed : int
        Of the training.
    splits : sequence of Split
        The folds; with them the card says how far the model and each linear model are apart, fold by fold.
    readout : mapping, optional
        Where this is one readout of a network that several cohorts share: which of its groups are these. The weights
        are then in the folder above.
    """
    make_folder(folder)
    if readout is None:
        write_weights(folder, trained.members, data)
    write_groups(folder, data, trained)
    write_spread(folder, spread_of(cohort, data, trained))
    tests = group_tests(cohort, data, trained.mean_attention)
    write_tests(tests, folder)
    probabilities = {"BioBGT": trained.probabilities, **linear}
    results = {
        model: measured(data.labels, values, data.groups, cohort.persons) for model, values in probabilities.items()
    }
    paired = paired_auc(data, probabilities, splits) if splits else None
    attention = {group: _mean(trained.contrast, data, label) for label, group in enumerate(data.groups)}
    card = {
        "format": FORMAT,
        "name": name,
        "headline": headline(results, cohort.group_people, simulated=cohort.simulated, paired=paired),
        "simulated": cohort.simulated,
        "data": _data_words(cohort),
        "atlas": cohort.atlas.name,
        "atlas_fingerprint": cohort.atlas.fingerprint,
        "n_regions": cohort.atlas.n_regions,
        "groups": list(data.groups),
        "preset": preset.as_dict(),
        "n_parameters": sum(parameter.numel() for parameter in trained.members[0].parameters()),
        "protocol": f"{folds_words(len(trained.members), cohort)}, gave one ensemble member per fold. {CHOSEN_ON}"
        + ("" if readout is None else f" {SHARED_FOLDS}"),
        "results": results,
        **({} if paired is None else {"paired": paired}),
        "evaluation": [],
        "paper": STORIES[cohort.name].paper,
        "attention": attention,
        "beside_connectivity": beside_connectivity(tests, cohort.group_people),
        "temperatures": [round(trained.temperature, 4)] * len(trained.members),
        "familiarity": _familiarity(cohort, data, trained),
        "noise": None,
        "corruption": None,
        "motion": None,
        "nested": None,
        "limits": limits(cohort, preset, attention, results["BioBGT"]["ece"]),
        "training": _training(trained, command=command, seed=seed),
        **({} if readout is None else {"readout": dict(readout)}),
        "sha256": sha256(weights_file(folder, shared=readout is not None)),
        "files": _hashes(folder),
    }
    if readout is None:
        name_subjects(card, cohort.ids)
    write_card(folder, card)
    return card


def write_weights(folder: Path, members: Sequence[BioBGT], data: LabelledGraphs) -> None:
    """Write the members' weights, with what their training subjects are recognised by.

    Parameters
    ----------
    folder : Path
        Of the model.
    members : sequence of BioBGT
    data : LabelledGraphs
        Of all training subjects.
    """
    known = {FINGERPRINTS: fingerprints(data.graphs.features)}
    with atomic_file(folder / WEIGHTS) as file:
        save_file({**_stored(members), **known}, file)


def name_subjects(card: dict[str, Any], ids: Iterable[str]) -> None:
    """Put hashes of the training subjects' ids on a card, by which they are recognised; ids themselves never are.

    Parameters
    ----------
    card : dict
        Of a model, or of a network that several cohorts share.
    ids : iterable of str
    """
    card["trained_ids"] = written_hashes(id_hashes(ids, card["sha256"]))


def seal_card(folder: Path) -> dict[str, Any]:
    """Bind a card to the files beside it and, where it names a bundled atlas, to that; after these files changed."""
    card = load_card(folder)
    if card["atlas"] in BUNDLED:
        card.setdefault("atlas_fingerprint", load_atlas(card["atlas"]).fingerprint)
    card["files"] = _hashes(folder)
    card["beside_connectivity"] = beside_connectivity(read_csv(folder / TESTS), card["data"]["subjects"])
    write_card(folder, card)
    return card


def beside_connectivity(tests: pd.DataFrame, sizes: Mapping[str, int]) -> list[dict[str, Any]]:
    """How many blocks differ in attention, in connectivity, and in attention given it, as a card holds it.

    Parameters
    ----------
    tests : DataFrame
        Of :func:`biobgt.training.group_tests.group_tests`.
    sizes : mapping of str to int
        People of each group.
    """
    return [
        {
            "between": " - ".join(one.between),
            "blocks": len(one.blocks),
            "attention": len(one.marked),
            "connectivity": beside.of_connectivity,
            "given_connectivity": beside.given_connectivity,
            "correlation": None if np.isnan(beside.correlation) else round(beside.correlation, 4),
        }
        for one in all_block_tests(tests, sizes)
        if (beside := one.beside) is not None
    ]


def _hashes(folder: Path) -> dict[str, str]:
    return {name: sha256(folder / name) for name in (GROUPS, TESTS, SPREAD_FILE) if (folder / name).exists()}


def _stored(members: Sequence[BioBGT]) -> Mapping[str, Tensor]:
    """All members' weights; matrices that half precision holds exactly are written so."""
    return {
        name: value.half() if value.ndim > 1 and torch.equal(value.half().float(), value) else value
        for name, value in ensemble_tensors(members).items()
    }


def check_evaluated(card: Mapping[str, Any], cohort: Cohort, preset: Preset) -> None:
    """Refuse to put the evaluation of other subjects, or of other settings under the same name, on a card.

    Parameters
    ----------
    card : mapping
    cohort : Cohort
        The one that was evaluated.
    preset : Preset
        The one that was evaluated.
    """
    same = {
        "cohort": (card["data"]["cohort"], cohort.name),
        "numbers of subjects": (dict(card["data"]["subjects"]), dict(cohort.group_people)),
        "atlas": (card["atlas"], cohort.atlas.name),
    }
    if "atlas_fingerprint" in card:
        same["atlas's regions, order or coordinates"] = (card["atlas_fingerprint"], cohort.atlas.fingerprint)
    if preset.name == card["preset"]["name"]:
        # Settings that a card from before them does not name have the values that leave everything as it was.
        same["preset's settings"] = (Preset.from_dict(card["preset"]).as_dict(), preset.as_dict())
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
    write_atomically(folder / CARD, json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    write_readme(folder, card)


def write_words(folder: Path, card: Mapping[str, Any]) -> None:
    """Write anew what follows from a card's numbers: its first line, and the README."""
    if "results" in card:  # else a network, whose readouts have results
        sizes, paired = card["data"]["subjects"], card.get("paired")
        first = headline(card["results"], sizes, simulated=card["simulated"], paired=paired)
        card = {**card, "headline": first}
    write_card(folder, card)


def write_readme(folder: Path, card: Mapping[str, Any]) -> None:
    """Write what a card says in words, with the header that model hubs read."""
    write_atomically(folder / "README.md", card_readme(card))


def card_readme(card: Mapping[str, Any]) -> str:
    """What a card says in words: of a model, or of a network whose readouts have cards of their own."""
    return shared_readme(card) if "readouts" in card else readme(card)


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
    scans = [scan_measures(subject) for subject in cohort]
    return familiarity_of(scans, mean_correlations=means, distances=distances).as_dict()


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
    groups : sequence of str, length n_groups
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


def _number(value: float) -> float | None:
    return round(float(value), 4) if np.isfinite(value) else None
