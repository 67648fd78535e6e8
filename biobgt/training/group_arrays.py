"""Group results of a model as they are stored: means of groups, and how people of a group spread around them.

A mean map says nothing of how alike people are: a few can make it. So beside each group's mean stand its median and
trimmed map, the standard error of every entry, and every person's contrast of modules, in no order that names anyone.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.groups.covariates import overall_connectivity
from biobgt.model.group_spread import SPREAD_FILE, TRIMMED, GroupSpread
from biobgt.model.pretrained import GROUPS
from biobgt.model.transformer import BioBGT
from biobgt.output import atomic_file
from biobgt.people import average_by_person
from biobgt.training.data import LabelledGraphs
from biobgt.training.folds import TrainedEnsemble
from biobgt.training.group_tests import out_of_fold_contrasts
from biobgt.training.splits import Split


def write_groups(folder: Path, data: LabelledGraphs, trained: TrainedEnsemble) -> None:
    """Write the out-of-fold means of groups into a model's folder.

    Parameters
    ----------
    folder : Path
        Of the model.
    data : LabelledGraphs
    trained : TrainedEnsemble
        Of the same subjects.
    """
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


def spread_of(cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble) -> GroupSpread:
    """How the people of each group spread around its mean attention, over layers and heads, out of fold.

    Parameters
    ----------
    cohort : Cohort
        With series or connectivity, for overall connectivity.
    data : LabelledGraphs
        Of the same subjects in the same order.
    trained : TrainedEnsemble
        Of the same subjects.
    """
    contrasts = trained.contrast.mean(axis=(1, 2))
    return group_spread(data, trained.mean_attention, contrasts, overall_connectivity(cohort))


def group_spread(
    data: LabelledGraphs,
    attention: NDArray[np.float32],
    contrasts: NDArray[np.float64],
    strength: NDArray[np.float64],
) -> GroupSpread:
    """The same from each subject's attention, contrast of modules and overall connectivity.

    Parameters
    ----------
    data : LabelledGraphs
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Rows sum to 1.
    contrasts, strength : ndarray, shape (n_subjects,)
        Attention within over between the subject's own modules; mean |FC|.
    """
    from scipy.stats import trim_mean

    found: dict[str, dict[str, Any]] = {name: {} for name in ("median", "trimmed", "error", "people")}
    persons, n_regions = np.array(data.persons), attention.shape[1]
    for label, group in enumerate(data.groups):
        own = data.labels == label
        owners = persons[own].tolist()
        maps = average_by_person(attention[own], owners) * n_regions  # in multiples of uniform attention
        found["median"][group] = np.median(maps, axis=0)
        found["trimmed"][group] = trim_mean(maps, TRIMMED, axis=0)
        n = len(maps)
        found["error"][group] = maps.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(maps.shape[1:], np.nan)
        people = average_by_person(np.column_stack([contrasts, strength])[own], owners)
        found["people"][group] = people[np.argsort(people[:, 0], kind="stable")]  # nobody is found again by position
    return GroupSpread(**found)


def measure_spread(
    folder: Path,
    cohort: Cohort,
    data: LabelledGraphs,
    members: Sequence[BioBGT],
    splits: Sequence[Split],
    *,
    attention: NDArray[np.float32],
) -> None:
    """Measure from a model's members how people spread around the group means, and write it into its folder.

    Parameters
    ----------
    folder : Path
        Of the model.
    cohort : Cohort
        The one that it was trained on.
    data : LabelledGraphs
        Of the same subjects in the same order.
    members : sequence of BioBGT
        Member i was trained without the test subjects of split i.
    splits : sequence of Split
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Of :func:`biobgt.training.group_tests.out_of_fold_attention`.
    """
    contrasts = out_of_fold_contrasts(members, data, splits)
    write_spread(folder, group_spread(data, attention, contrasts, overall_connectivity(cohort)))


def write_spread(folder: Path, spread: GroupSpread) -> None:
    """Write how people spread around group means into a model's folder."""
    arrays = {
        f"{what}_{group}": values.astype(np.float32 if what == "people" else np.float16)
        for what in ("median", "trimmed", "error", "people")
        for group, values in getattr(spread, what).items()
    }
    with atomic_file(folder / SPREAD_FILE) as file, file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def _mean_of_people(values: NDArray[Any], *, persons: Sequence[str]) -> NDArray[np.float64]:
    """Mean over people of what is defined, a person's recordings averaged first."""
    return np.asarray(np.nanmean(average_by_person(values, persons), axis=0))
