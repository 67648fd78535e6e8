"""Write trained models as folders: weights, card, group results and a README, of one cohort or several."""

import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from biobgt.base.errors import InputError
from biobgt.base.files import atomic_file, make_folder, read_csv, sha256, write_atomically, write_csv
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.data.cohort import Cohort, average_by_person, people_in_order
from biobgt.data.quality import OVERALL_CONNECTIVITY
from biobgt.groups.compare import PERMUTATIONS
from biobgt.inference.covariates import LEAST_DEGREES, coded, covariates_of, design_matrix, overall_connectivity
from biobgt.inference.likeness import CohortDifferences, difference_likeness
from biobgt.model.attention import all_block_tests
from biobgt.model.folder import CARD, FINGERPRINTS, WEIGHTS, load_card, weights_file
from biobgt.model.group_results import GROUPS, SPREAD_FILE, TESTS, TRIMMED
from biobgt.model.network import BioBGT
from biobgt.model.out_of_distribution import TrainingRanges, fingerprints, id_hashes, scan_measures
from biobgt.model.presets import Preset
from biobgt.modules.partition import module_blocks
from biobgt.training.card_text import CardText, say
from biobgt.training.cohorts import ADSIM, DATASETS, JoinedCohorts, Split, folds_words, join_training_cohorts
from biobgt.training.evaluation import baselines_out_of_fold, summarise
from biobgt.training.folds import (
    LabelledGraphs,
    TrainedEnsemble,
    describe_members,
    group_tests,
)
from biobgt.training.metrics import (
    METRICS,
    bootstrap_intervals,
    calibration_error_by_chance,
    classification_metrics,
    paired_difference,
)

_FORMAT = 1
_VERSIONS = ("torch", "numpy", "scikit-learn", "bctpy")
_CALIBRATED = 0.05  # a larger calibration error is among the limits


def write_model(
    folder: Path,
    *,
    name: str,
    cohort: Cohort,
    data: LabelledGraphs,
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
        Named after a kind of :data:`biobgt.training.cohorts.DATASETS`.
    data : LabelledGraphs
        Of the cohort, for the members' preset.
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
    preset = trained.members[0].preset
    if readout is None:
        _write_weights(folder, trained.members, data)
    _write_groups(folder, data, trained)
    tests = _write_group_tests(folder, cohort, data, trained.mean_attention, trained.contrast.mean(axis=(1, 2)))
    probabilities = {"BioBGT": trained.probabilities, **linear}
    results = {
        model: measured(data.labels, values, data.groups, cohort.persons) for model, values in probabilities.items()
    }
    paired = {"paired": _paired_auc(data, probabilities, splits)} if splits else {}
    attention = {}
    for group, ratios in data.per_person(trained.contrast).items():
        known = ratios[np.isfinite(ratios)]  # a subject whose regions are all in one module has no contrast
        attention[group] = float(known.mean()) if len(known) else None
    story, protocol = DATASETS[cohort.name], say("protocol", "one", folds=folds_words(len(trained.members), cohort))
    card = {
        "format": _FORMAT,
        "name": name,
        "headline": "",
        "simulated": cohort.simulated,
        "data": {
            "cohort": cohort.name,
            "title": story.title,
            "terms": story.terms,
            "citation": story.citation,
            "subjects": dict(cohort.group_people),
            **({"recordings": dict(cohort.group_sizes)} if cohort.group_sizes != cohort.group_people else {}),
        },
        "atlas": cohort.atlas.name,
        "atlas_fingerprint": cohort.atlas.fingerprint,
        "n_regions": cohort.atlas.n_regions,
        "groups": list(data.groups),
        "preset": preset.as_dict(),
        "n_parameters": sum(parameter.numel() for parameter in trained.members[0].parameters()),
        "protocol": protocol if readout is None else f"{protocol} {say('protocol', 'readout')}",
        "results": results,
        **paired,
        "evaluation": [],
        "paper": story.paper,
        "attention": attention,
        "beside_connectivity": _beside_connectivity(tests, cohort.group_people),
        "temperatures": [round(trained.temperature, 4)] * len(trained.members),
        "familiarity": TrainingRanges.of(trained.members[0], data.graphs, map(scan_measures, cohort)).as_dict(),
        **dict.fromkeys(("noise", "corruption", "motion", "nested", "faithfulness")),
        "limits": _limits(cohort, preset, attention, results["BioBGT"]["ece"]),
        "training": {
            "command": command,
            "seed": seed,
            "seconds_an_epoch": round(trained.seconds_an_epoch, 2),
            "peak_memory_mb": None if np.isnan(trained.peak_memory_mb) else round(trained.peak_memory_mb),
            "versions": {"python": platform.python_version(), **{name: version(name) for name in _VERSIONS}},
        },
        **({} if readout is None else {"readout": dict(readout)}),
        "sha256": sha256(weights_file(folder, shared=readout is not None)),
        "files": _hashes(folder),
    }
    if readout is None:
        name_subjects(card, cohort.ids)
    write_card(folder, card)
    return card


def _limits(
    cohort: Cohort, preset: Preset, attention: Mapping[str, float | None], calibration: Mapping[str, float | None]
) -> list[str]:
    """What a user must know before believing the model: its purpose, its cohort, its attention, its probabilities."""
    found, asked = [NOT_A_DIAGNOSIS, *DATASETS[cohort.name].limits], preset.start_contrast
    if asked:
        least = min((ratio for ratio in attention.values() if ratio is not None), default=None)
        reached = "not defined" if least is None else f"{least:.2f} times"
        is_set = least is not None and least > 1 + (asked - 1) / 2
        found.append(say("limits", "sharpened" if is_set else "not_sharpened", asked=asked, reached=reached))
    error, by_chance = calibration["value"], calibration["by_chance"]
    if error is not None and by_chance is not None and error > _CALIBRATED:
        found.append(say("limits", "calibration", value=error, by_chance=by_chance))
    return found


def _write_weights(folder: Path, members: Sequence[BioBGT], data: LabelledGraphs) -> None:
    """Write the members' weights, with what their training subjects are recognised by."""
    stored = {}
    for i, member in enumerate(members):
        for name, parameter in member.state_dict().items():
            value = parameter.detach().cpu().contiguous().clone()
            exact = value.ndim > 1 and torch.equal(value.half().float(), value)
            stored[f"member{i}.{name}"] = value.half() if exact else value  # matrices that half precision holds
    with atomic_file(folder / WEIGHTS) as file:
        save_file({**stored, FINGERPRINTS: fingerprints(data.graphs.features)}, file)


def name_subjects(card: dict[str, Any], ids: Iterable[str]) -> None:
    """Put hashes of the training subjects' ids on a card, by which they are recognised; ids themselves never are.

    Parameters
    ----------
    card : dict
        Of a model, or of a network that several cohorts share.
    ids : iterable of str
    """
    card["trained_ids"] = "".join(sorted(id_hashes(ids, card["sha256"])))


def _seal_card(folder: Path) -> None:
    """Bind a card to the files beside it, after these files changed."""
    card = load_card(folder)
    card["files"] = _hashes(folder)
    card["beside_connectivity"] = _beside_connectivity(read_csv(folder / TESTS), card["data"]["subjects"])
    write_card(folder, card)


def _beside_connectivity(tests: pd.DataFrame, sizes: Mapping[str, int]) -> list[dict[str, Any]]:
    """How many blocks differ in attention, in connectivity, and in attention given it, as a card holds it."""
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
        "atlas's regions, order or coordinates": (card["atlas_fingerprint"], cohort.atlas.fingerprint),
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
    card, rows = load_card(folder), []
    for row in summarise(results).to_dict("records"):
        metrics = {m: {"mean": _rounded(row[f"{m} mean"]), "sd": _rounded(row[f"{m} std"])} for m in METRICS}
        rows.append({"protocol": row["protocol"], "model": row["model"], "splits": int(row["splits"]), **metrics})
    card["evaluation"] = rows
    write_card(folder, card)
    return card


def write_card(folder: Path, card: dict[str, Any]) -> None:
    """Write the card, with the first line that follows from its numbers, and the README that says the same in words."""
    if "results" in card:  # a network has no results of its own, but its readouts have
        card["headline"] = CardText(card).headline
    write_atomically(folder / CARD, json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    write_atomically(folder / "README.md", CardText(card).readme)


def _paired_auc(
    data: LabelledGraphs, probabilities: Mapping[str, NDArray[np.float64]], splits: Sequence[Split]
) -> dict[str, dict[str, float | None]]:
    """AUC of the model minus that of each linear model, fold by fold, as a card holds it.

    The interval is corrected for training sets that overlap; the first of the out-of-fold probabilities is the model's.
    """
    by_fold = {
        name: [
            classification_metrics(data.labels[split.test], values[split.test], data.groups)["auc"] for split in splits
        ]
        for name, values in probabilities.items()
    }
    (own, *others), ratio = by_fold, sum(len(one.test) for one in splits) / sum(len(one.train) for one in splits)
    found = {other: paired_difference(by_fold[own], by_fold[other], test_train_ratio=ratio) for other in others}
    names = {"difference": "mean", "low": "corrected_low", "high": "corrected_high"}
    return {other: {key: _rounded(one[name]) for key, name in names.items()} for other, one in found.items()}


def _rounded(value: float) -> float | None:
    """A number as a card holds it; None where it is not defined."""
    return round(float(value), 4) if np.isfinite(value) else None


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
    measure = partial(classification_metrics, groups=groups)
    found = bootstrap_intervals(measure, labels, probabilities, subjects=persons, draws=300)
    table = {}
    for metric, interval in found.items():
        # Resampled subjects repeat, which makes a calibration error look larger than it is: no interval for it.
        low, high = (None, None) if metric == "ece" else (_rounded(interval.low), _rounded(interval.high))
        table[metric] = {"value": _rounded(interval.value), "low": low, "high": high}
    table["ece"]["by_chance"] = _rounded(calibration_error_by_chance(probabilities))
    return table


# Group results of a model as they are stored: means of groups, and how people of a group spread around them.
#
# A mean map says nothing of how alike people are: a few can make it. So beside each group's mean stand its median and
# trimmed map, the standard error of every entry, and every person's contrast of modules, in no order that names
# anyone.


def _write_group_tests(
    folder: Path, cohort: Cohort, data: LabelledGraphs, attention: NDArray[np.float32], contrasts: NDArray[np.float64]
) -> pd.DataFrame:
    """Write the tests of a model's groups, and how their people spread around the mean attention; return the tests.

    Attention and contrasts are those of :func:`biobgt.training.folds.out_of_fold_attention`.
    """
    from scipy.stats import trim_mean

    tests = group_tests(cohort, data, attention)
    _write_tests(folder, tests)
    arrays: dict[str, NDArray[Any]] = {}
    measured = data.per_person(np.column_stack([contrasts, overall_connectivity(cohort)]))
    for group, maps in data.per_person(attention).items():
        maps = maps * attention.shape[1]  # in multiples of uniform attention
        n, people = len(maps), measured[group]
        arrays[f"median_{group}"] = np.median(maps, axis=0).astype(np.float16)
        arrays[f"trimmed_{group}"] = trim_mean(maps, TRIMMED, axis=0).astype(np.float16)
        error = maps.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(maps.shape[1:], np.nan)
        arrays[f"error_{group}"] = error.astype(np.float16)
        people = people[np.argsort(people[:, 0], kind="stable")]  # nobody is found again by position
        arrays[f"people_{group}"] = people.astype(np.float32)
    with atomic_file(folder / SPREAD_FILE) as file, file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    return tests


def _write_tests(folder: Path, tests: pd.DataFrame) -> None:
    """Write tests of groups into a model's folder."""
    write_atomically(folder / TESTS, write_csv(tests, index=False, float_format="%.6g", lineterminator="\n"))


def _write_groups(folder: Path, data: LabelledGraphs, trained: TrainedEnsemble) -> None:
    """Write the out-of-fold means of groups into a model's folder."""
    arrays: dict[str, NDArray[Any]] = {}
    of_subjects: dict[str, tuple[dict[str, NDArray[Any]], type]] = {
        "connectivity": (data.per_person(data.matrices), np.float16),
        "entanglement": (data.per_person(data.graphs.entanglement.numpy()), np.float32),
        "contrast": (data.per_person(trained.contrast), np.float32),
        "embedding_contrast": (data.per_person(trained.embedding_contrast), np.float64),
    }
    for label, group in enumerate(data.groups):
        arrays[f"n_{group}"] = np.array(len(of_subjects["contrast"][0][group]))
        arrays[f"attention_{group}"] = trained.attention[label].astype(np.float16)
        for what, (people, kind) in of_subjects.items():  # mean over people of what is defined
            arrays[f"{what}_{group}"] = np.asarray(np.nanmean(people[group], axis=0)).astype(kind)
    order = np.random.default_rng(0).permutation(len(data.labels))  # nobody is found again by position
    arrays["labels"] = data.labels[order]
    arrays["probabilities"] = trained.probabilities[order].astype(np.float32)
    with atomic_file(folder / GROUPS) as file, file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


# Write a network that several cohorts share: its weights, a model folder for each readout, and what compares cohorts.
#
# Each readout is described as an ordinary model is, on its own subjects and folds. Above them stand the tests between
# the control groups of different cohorts, which bound what may be said of anything else, and how alike the disorders'
# differences from their own controls are.


def write_shared_model(
    folder: Path,
    *,
    name: str,
    joined: JoinedCohorts,
    data: LabelledGraphs,
    members: Sequence[BioBGT],
    splits: Sequence[Split],
    runs: Path,
    command: str,
    seed: int,
    device: torch.device | str = "cpu",
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Write the network and its readouts, and return the network's card.

    Parameters
    ----------
    folder : Path
        Where the weights, the card and one folder per cohort go.
    name : str
        Of the network; a readout is called ``name/cohort``.
    joined : JoinedCohorts
    data : LabelledGraphs
        Of all cohorts, with their readouts.
    members : sequence of BioBGT
        Of :func:`biobgt.training.folds.train_members`.
    splits : sequence of Split
        The folds, of all cohorts together.
    runs : Path
        Where the members were trained.
    command : str
        What made it.
    seed : int
        Of the training.
    device : torch.device or str
    progress : callable, optional
        Told in words how far it is.
    """
    all_folds = [data.splits_of(part, splits) for part in data.parts]
    make_folder(folder)
    _write_weights(folder, members, data)
    attention = np.zeros((len(data.labels), *data.matrices.shape[1:]), np.float32)
    cards = {}
    for part, cohort, folds in zip(data.parts, joined.parts, all_folds, strict=True):
        if progress is not None:
            progress(f"Results of {cohort.name}")
        own = data.of_readout(part)
        readouts = [_with_readout(member, part.columns.tolist()) for member in members]
        trained = describe_members(readouts, own, folds, folder=runs, device=device)
        attention[part.rows] = trained.mean_attention
        cards[cohort.name] = write_model(
            folder / cohort.name,
            name=f"{name}/{cohort.name}",
            cohort=cohort,
            data=own,
            trained=trained,
            linear=baselines_out_of_fold(own, folds),
            command=command,
            seed=seed,
            splits=folds,
            readout={"of": name, "columns": part.columns.tolist(), "n_groups": len(data.groups)},
        )
    card = _shared_card(name, joined, data, members[0], cards)
    _compare_cohorts(folder, card, joined, data, attention)
    return card


def _with_readout(member: BioBGT, columns: Sequence[int]) -> BioBGT:
    """A copy of a member with one of its readouts: an ordinary model of that cohort's groups."""
    copied = deepcopy(member)
    whole = member.readout.classify
    chosen = torch.tensor(list(columns), device=whole.weight.device)
    own = torch.nn.Linear(whole.in_features, len(chosen), device=whole.weight.device)
    with torch.no_grad():
        own.weight.copy_(whole.weight[chosen])
        own.bias.copy_(whole.bias[chosen])
    copied.readout.classify = own
    return copied.eval()


def measure_again(
    folder: Path,
    cohorts: JoinedCohorts,
    data: LabelledGraphs,
    attention: NDArray[np.float32],
    contrasts: NDArray[np.float64],
) -> None:
    """Write the tests of a model's groups and the spread of their people anew, from its attention.

    Parameters
    ----------
    folder : Path
        Of the model, or of a network, whose readouts follow.
    cohorts : JoinedCohorts
        What it was trained on: of a model one cohort.
    data : LabelledGraphs
        Of the same subjects in the same order; of several cohorts with their readouts.
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
    contrasts : ndarray, shape (n_subjects,)
        Of :func:`biobgt.training.folds.out_of_fold_attention`.
    """
    if not cohorts.readouts:
        _write_group_tests(folder, cohorts.whole, data, attention, contrasts)
        _seal_card(folder)
        return
    for part, cohort in zip(data.parts, cohorts.parts, strict=True):
        own, alone = data.of_readout(part), join_training_cohorts([cohort])
        measure_again(folder / cohort.name, alone, own, attention[part.rows], contrasts[part.rows])
    _compare_cohorts(folder, load_card(folder), cohorts, data, attention)


def _compare_cohorts(
    folder: Path, card: dict[str, Any], joined: JoinedCohorts, data: LabelledGraphs, attention: NDArray[np.float32]
) -> None:
    """Write what compares cohorts, and the network's card with it: controls of every two, and how alike disorders are.

    Whoever stands in both cohorts is left out; with nobody left there is no test.
    """
    controls = [groups[0] for groups in joined.readouts]
    _write_tests(folder, group_tests(joined.whole, data, attention, pairs=list(combinations(controls, 2))))
    card["files"] = {TESTS: sha256(folder / TESTS)}
    card["likeness"] = _disorder_likeness(joined, attention)
    name_subjects(card, joined.own_ids)
    write_card(folder, card)


def _disorder_likeness(joined: JoinedCohorts, attention: NDArray[np.float32]) -> list[dict[str, Any]]:
    """How alike the differences of disorders from their own controls are, over module blocks; as a card holds it."""
    atlas = joined.whole.atlas
    if not atlas.labels:
        return []
    blocks = module_blocks(attention, atlas.labelling(next(iter(atlas.labels))))
    values = blocks.values.reshape(len(attention), -1)
    values = values[:, np.isfinite(values).all(axis=0)]
    cohorts, adjusted = [], {}
    for number, cohort in enumerate(joined.parts):
        differences, names = _differences(cohort, values[joined.rows(number)])
        cohorts.append(differences)
        adjusted[cohort.name] = ", ".join(names)
    shared = {"blocks": values.shape[1], "permutations": PERMUTATIONS, "covariates": adjusted}
    return [
        one | {"r": round(one["r"], 4), "expected": round(one["expected"], 4), "p": round(one["p"], 5)} | shared
        for one in difference_likeness(cohorts, permutations=PERMUTATIONS, seed=0)
    ]


def _differences(cohort: Cohort, values: NDArray[np.float64]) -> tuple[CohortDifferences, tuple[str, ...]]:
    """One row per person of one group, with as many covariates as there are for; and what was adjusted for."""
    table = coded(covariates_of(cohort.table()).table)
    table.insert(0, OVERALL_CONNECTIVITY, overall_connectivity(cohort))
    groups = np.array([str(one.group) for one in cohort])
    persons = np.array(cohort.persons)
    several = {one for one in set(persons) if len(set(groups[persons == one])) > 1}
    kept = table.notna().all(axis=1).to_numpy() & ~np.isin(persons, list(several))
    _, first = people_in_order(persons[kept].tolist())
    means = average_by_person(values[kept], persons[kept].tolist())
    known, own = table[kept].iloc[first].reset_index(drop=True), groups[kept][first]
    nuisance, names = design_matrix(known, len(known))
    if len(known) - np.linalg.matrix_rank(nuisance) - len(set(own)) < LEAST_DEGREES:
        nuisance, names = design_matrix(known[[OVERALL_CONNECTIVITY]], len(known))
    return CohortDifferences(means, own, next(iter(cohort.group_sizes)), nuisance), names


def _shared_card(
    name: str,
    joined: JoinedCohorts,
    data: LabelledGraphs,
    member: BioBGT,
    cards: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """What a network's card says beside those of its readouts."""
    first = next(iter(cards.values()))
    stories = [DATASETS[part.name] for part in joined.parts]
    numbers = {group: n for card in cards.values() for group, n in card["data"]["subjects"].items()}
    attention = {group: ratio for card in cards.values() for group, ratio in card["attention"].items()}
    found = []
    for card in cards.values():
        told = " / ".join(group.split(" (")[0] for group in card["groups"])
        told += " (simulated)" if card["simulated"] else ""
        found.append(say("headline", "readout", told=told, auc=card["results"]["BioBGT"]["auc"]))
    # What must be known before groups of different cohorts are compared, one of them perhaps simulated.
    limits = ("across_cohorts", *(("simulated_cohort",) if ADSIM in cards else ()), "of_readouts")
    same = ("format", "atlas", "atlas_fingerprint", "n_regions", "preset", "training", "sha256")
    return {
        **{key: first[key] for key in same},
        "name": name,
        "headline": say("headline", "shared", n=len(cards), found="; ".join(found)),
        "simulated": joined.whole.simulated,
        "data": {
            "cohort": joined.whole.name,
            "title": "; ".join(story.title for story in stories),
            "terms": " ".join(dict.fromkeys(story.terms for story in stories)),
            "citation": "; ".join(dict.fromkeys(story.citation for story in stories)),
            "subjects": {group: numbers[group] for group in data.groups},
        },
        "groups": list(data.groups),
        "readouts": [
            {"cohort": part.name, "groups": list(groups)}
            for part, groups in zip(joined.parts, joined.readouts, strict=True)
        ],
        "members": len(first["temperatures"]),
        "n_parameters": sum(parameter.numel() for parameter in member.parameters()),
        "protocol": say("protocol", "shared", folds=folds_words(len(first["temperatures"]), joined.parts[0])),
        "attention": {group: attention[group] for group in data.groups},
        "limits": [NOT_A_DIAGNOSIS, *(say("limits", name) for name in limits)],
    }
