"""What a card says beyond results: familiar ranges, answers to worse recordings, motion alone. Nothing is trained.

All three follow from the weights and the cohort, so that a card made before they were asked for can be completed, and a
reader with the data can check them.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.kept_results import Store
from biobgt.model.ensemble import Ensemble, position
from biobgt.model.familiarity import familiarity_of, scan_measures
from biobgt.model.fingerprint import recognised
from biobgt.model.pretrained import CARD, load_pretrained
from biobgt.training.cards import measured, name_subjects, write_card
from biobgt.training.data import LabelledGraphs
from biobgt.training.motion import SIMULATED, UNKNOWN, mean_displacement, motion_out_of_fold
from biobgt.training.noise_response import HeldOut, worse_recordings
from biobgt.training.protocols import CROSS_VALIDATION
from biobgt.training.splits import Split
from biobgt.training.training_cohorts import protocol_splits

FEWEST_KNOWN = 0.9  # of the subjects: below it motion is not known for the cohort


def check_model(
    folder: Path,
    cohort: Cohort,
    data: LabelledGraphs,
    *,
    seed: int,
    splits: tuple[Split, ...] | None = None,
    store: Store | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Put familiarity, answers to worse recordings and motion baseline on the card in a folder, and return it.

    Parameters
    ----------
    folder : Path
        Of the model.
    cohort : Cohort
        The one that the model was trained on; another is refused.
    data : LabelledGraphs
        Of that cohort, for the model's preset.
    seed : int
        That of the training, from which the folds follow.
    splits : tuple of Split, optional
        The folds, where they were not made of this cohort alone.
    store : Store, optional
        Where NE and modules of noisy subjects are kept.
    progress : callable, optional
        Told (done, total) as subjects are asked about.
    """
    ensemble = load_pretrained(folder, "cpu")
    card = dict(json.loads((folder / CARD).read_text(encoding="utf-8")))
    _check_trained_on(ensemble, data, shared="readout" in card)
    splits = splits or protocol_splits(cohort, CROSS_VALIDATION, n=len(ensemble.members), seed=seed)
    means, distances = position(data.graphs, ensemble.members[0])
    scans = [scan_measures(subject) for subject in cohort]
    card["familiarity"] = familiarity_of(scans, mean_correlations=means, distances=distances).as_dict()
    if "readout" not in card and "trained_ids" not in card:  # the ids of these weights' subjects do not change
        name_subjects(card, cohort.ids)
    card |= {"noise": None, "corruption": None}
    if all(subject.series is not None for subject in cohort):
        held_out = HeldOut(ensemble, cohort, data.graphs, tuple(splits), scans, seed=seed, store=store)
        card |= worse_recordings(held_out, progress=progress)
    card["motion"] = _motion(cohort, data, splits)
    write_card(folder, card)
    return card


def _check_trained_on(ensemble: Ensemble, data: LabelledGraphs, *, shared: bool) -> None:
    """Refuse other subjects; a network that several cohorts share knows more than those of one."""
    known = ensemble.trained_on
    wrong_number = known is None or len(known) < len(data.labels) or (len(known) > len(data.labels) and not shared)
    if known is None or wrong_number or not all(recognised(data.graphs.features, known)):
        raise InputError(
            f"Model {ensemble.name} was not trained on these subjects, or not on all of them, so that nothing can be "
            "said of subjects left out. Name the data that it was trained on."
        )


def _motion(cohort: Cohort, data: LabelledGraphs, splits: tuple[Split, ...]) -> Mapping[str, Any]:
    """Metrics of motion alone, or why there are none."""
    if cohort.simulated:
        return {"results": None, "n": 0, "words": SIMULATED}
    displacement = mean_displacement(cohort)
    probabilities = motion_out_of_fold(displacement, data.labels, splits)
    known = np.isfinite(probabilities).all(axis=1)
    if known.mean() < FEWEST_KNOWN:
        return {"results": None, "n": int(known.sum()), "words": UNKNOWN}
    persons = [cohort.persons[row] for row in np.flatnonzero(known)]
    results = measured(data.labels[known], probabilities[known], data.groups, persons)
    words = (
        f"Motion alone (logistic regression on log mean framewise displacement, same folds, {int(known.sum())} "
        f"subjects): AUC {results['auc']['value']:.2f}, accuracy {results['accuracy']['value']:.2f}."
    )
    return {"results": results, "n": int(known.sum()), "words": words}
