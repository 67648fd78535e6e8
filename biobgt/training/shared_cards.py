"""Write a network that several cohorts share: its weights, a model folder for each readout, and what compares cohorts.

Each readout is described as an ordinary model is, on its own subjects and folds. Above them stand the tests between the
control groups of different cohorts, which bound what may be said of anything else, and how alike the disorders'
differences from their own controls are.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.groups.comparison_options import PERMUTATIONS
from biobgt.groups.covariates import coded, covariates_of, design_matrix, overall_connectivity
from biobgt.groups.design import LEAST_DEGREES
from biobgt.groups.likeness import CohortDifferences, as_card, difference_likeness
from biobgt.model.presets import Preset
from biobgt.model.pretrained import TESTS, load_card
from biobgt.model.transformer import BioBGT
from biobgt.modules.blocks import module_blocks
from biobgt.output import make_folder, sha256
from biobgt.people import average_by_person, people_in_order
from biobgt.quality import OVERALL_CONNECTIVITY
from biobgt.training.baseline_folds import baselines_out_of_fold
from biobgt.training.cards import FORMAT, name_subjects, seal_card, write_card, write_model, write_weights
from biobgt.training.cohort_stories import ADSIM, STORIES
from biobgt.training.data import LabelledGraphs
from biobgt.training.folds import describe_members
from biobgt.training.group_arrays import measure_spread
from biobgt.training.group_tests import group_tests, write_tests
from biobgt.training.joined_cohorts import JoinedCohorts
from biobgt.training.readouts import with_readout
from biobgt.training.shared_words import shared_headline
from biobgt.training.splits import Split
from biobgt.training.training_cohorts import folds_words
from biobgt.wording import NOT_A_DIAGNOSIS


def write_shared_model(
    folder: Path,
    *,
    name: str,
    joined: JoinedCohorts,
    data: LabelledGraphs,
    preset: Preset,
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
    preset : Preset
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
    make_folder(folder)
    write_weights(folder, members, data)
    attention = np.zeros((len(data.labels), *data.matrices.shape[1:]), np.float32)
    cards = {}
    for part, cohort in zip(data.parts, joined.parts, strict=True):
        if progress is not None:
            progress(f"Results of {cohort.name}")
        own, folds = data.of_readout(part), tuple(split.within(part.rows) for split in splits)
        readouts = [with_readout(member, part.columns.tolist()) for member in members]
        trained = describe_members(readouts, own, folds, folder=runs, device=device)
        attention[part.rows] = trained.mean_attention
        cards[cohort.name] = write_model(
            folder / cohort.name,
            name=f"{name}/{cohort.name}",
            cohort=cohort,
            data=own,
            preset=preset,
            trained=trained,
            linear=baselines_out_of_fold(own, folds),
            command=command,
            seed=seed,
            splits=folds,
            readout={"of": name, "columns": part.columns.tolist(), "n_groups": len(data.groups)},
        )
    write_tests(control_tests(joined, data, attention), folder)
    card = _shared_card(folder, name, joined, data, members[0], cards)
    card["likeness"] = disorder_likeness(joined, attention)
    name_subjects(card, joined.own_ids)
    write_card(folder, card)
    return card


def measure_shared_again(
    folder: Path,
    joined: JoinedCohorts,
    data: LabelledGraphs,
    members: Sequence[BioBGT],
    splits: Sequence[Split],
    *,
    attention: NDArray[np.float32],
) -> None:
    """Write the tests of a network and of its readouts anew, and how alike disorders are, from its attention.

    Parameters
    ----------
    folder : Path
        Of the network.
    joined : JoinedCohorts
    data : LabelledGraphs
        Of all cohorts, with their readouts.
    members : sequence of BioBGT
    splits : sequence of Split
        The folds, of all cohorts together.
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Out of fold, mean over layers and heads.
    """
    for part, cohort in zip(data.parts, joined.parts, strict=True):
        place, own, shown = folder / cohort.name, data.of_readout(part), attention[part.rows]
        write_tests(group_tests(cohort, own, shown), place)
        folds = [split.within(part.rows) for split in splits]
        measure_spread(place, cohort, own, members, folds, attention=shown)
        seal_card(folder / cohort.name)
    write_tests(control_tests(joined, data, attention), folder)
    card = load_card(folder)
    card["likeness"] = disorder_likeness(joined, attention)
    name_subjects(card, joined.own_ids)
    card["files"] = {TESTS: sha256(folder / TESTS)}
    write_card(folder, card)


def control_tests(joined: JoinedCohorts, data: LabelledGraphs, attention: NDArray[np.float32]) -> pd.DataFrame:
    """Compare the controls of every two cohorts; whoever stands in both is left out, and with nobody left no test is.

    Parameters
    ----------
    joined : JoinedCohorts
    data : LabelledGraphs
        Of all cohorts.
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Out of fold, mean over layers and heads.
    """
    controls = [groups[0] for groups in joined.readouts]
    return group_tests(joined.whole, data, attention, pairs=list(combinations(controls, 2)))


def disorder_likeness(joined: JoinedCohorts, attention: NDArray[np.float32]) -> list[dict[str, Any]]:
    """How alike the differences of disorders from their own controls are, over module blocks; as a card holds it.

    Parameters
    ----------
    joined : JoinedCohorts
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Out of fold, mean over layers and heads.
    """
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
    found = difference_likeness(cohorts, permutations=PERMUTATIONS, seed=0)
    return as_card(found, blocks=values.shape[1], permutations=PERMUTATIONS, covariates=adjusted)


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
    folder: Path,
    name: str,
    joined: JoinedCohorts,
    data: LabelledGraphs,
    member: BioBGT,
    cards: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """What a network's card says beside those of its readouts."""
    first = next(iter(cards.values()))
    stories = [STORIES[part.name] for part in joined.parts]
    numbers = {group: n for card in cards.values() for group, n in card["data"]["subjects"].items()}
    attention = {group: ratio for card in cards.values() for group, ratio in card["attention"].items()}
    same = ("format", "atlas", "atlas_fingerprint", "n_regions", "preset", "training", "sha256")
    assert first["format"] == FORMAT
    return {
        **{key: first[key] for key in same},
        "name": name,
        "headline": shared_headline(cards),
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
        "protocol": f"{folds_words(len(first['temperatures']), joined.parts[0])}, was over all cohorts together, so "
        "that someone in two cohorts is always in the same fold. Encoder and attention were trained on all cohorts, "
        "each readout and its temperature on its own cohort alone.",
        "attention": {group: attention[group] for group in data.groups},
        "limits": _limits(tuple(cards)),
        "files": {TESTS: sha256(folder / TESTS)},
    }


def _limits(cohorts: Sequence[str]) -> list[str]:
    """What must be known before groups of different cohorts are compared; the limits of each are on its own card."""
    said = [
        NOT_A_DIAGNOSIS,
        "Groups of different cohorts differ in scanner, preprocessing, age and motion as well as in diagnosis: compare "
        "a disorder with its own controls only, and see first how far the controls of the cohorts differ.",
        "The simulated progression is made of ABIDE's controls. Its controls are some of the very same scans, so that "
        "it adds no control group of its own.",
        "The limits of each cohort are on the card of its readout.",
    ]
    return said if ADSIM in cohorts else [*said[:2], said[3]]
