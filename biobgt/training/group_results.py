"""What an ensemble attends to in the groups it was trained on: means, spread and tests, out of fold."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.files import atomic_file, write_atomically, write_csv
from biobgt.data.cohort import Cohort, average_by_person
from biobgt.data.connectivity import subject_connectivity
from biobgt.groups import compare_attention, covariates_of
from biobgt.groups.attention import AttentionComparison
from biobgt.groups.design import design_notes, one_value_per_person, overall_connectivity
from biobgt.model.network import BioBGT
from biobgt.model.pretrained import GROUPS, SPREAD_FILE, TESTS, TRIMMED, GroupResults, GroupSpread
from biobgt.modules import module_contrast
from biobgt.training.folds import LabelledGraphs, TrainedEnsemble
from biobgt.training.splits import Split

# What an ensemble attends to, compared between the groups it was trained on: over people, out of fold.
#
# Attention is made from connectivity, so that a group with stronger connectivity overall differs in attention, too.
# Every test is made with mean |FC| among the covariates and without, and stands as two rows that say so; in each row
# stand beside it the connectivity of the same block, and the test given that connectivity. From a model's weights and
# its cohort the tests can be made again without training: fold i's member meets fold i's test subjects.


EXPLAINED_AT_ONCE = 16
# Group means are stored with 16 bits, so that they differ from those computed again by one in two thousand.
_SAME_ATTENTION = 2e-3
_NO_TESTS = ["feature", "family", "between", "covariates", "n_subjects", "permutations"]


def group_tests(
    cohort: Cohort,
    data: LabelledGraphs,
    attention: NDArray[np.float32],
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> pd.DataFrame:
    """Compare attention between every two groups over people, block by block, adjusted for covariates.

    Whoever has recordings in both groups is left out of the test between them. Covariates that would leave too few
    residual degrees of freedom or too few people, or are confounded with the group, are not adjusted for; the note says
    so. Two groups of which one has fewer than two people left are not compared.

    Parameters
    ----------
    cohort : Cohort
        With phenotypes, for the covariates.
    data : LabelledGraphs
        Of the same subjects in the same order.
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Out of fold, mean over layers and heads.
    pairs : sequence of (str, str), optional
        The groups to compare; every two by default.

    Returns
    -------
    DataFrame
        For every pair of groups one row per block and one for the contrast, with overall connectivity (mean |FC|)
        adjusted for, and the same rows without; in each, columns ending in ``_of_fc`` test the connectivity of the same
        block, and in ``_given_fc`` attention given it. ``between`` names the two groups, ``covariates`` what was
        adjusted for, ``n_<group>`` says how many people of each were used, ``permutations`` how many were drawn,
        ``note`` what must be known of the design. Without a row where the atlas has no functional modules.
    """
    if not cohort.atlas.labels:
        return pd.DataFrame(columns=_NO_TESTS)
    groups = np.array([data.groups[label] for label in data.labels])
    frames: list[pd.DataFrame] = []
    correlations = np.stack([subject_connectivity(subject).astype(np.float32) for subject in cohort])
    covariates, disagreements = one_value_per_person(covariates_of(cohort.table()).table, cohort.persons)
    for between in combinations(data.groups, 2) if pairs is None else pairs:
        owners = _of_one_group(groups, cohort.persons, between)
        # One cohort may lack what another has.
        own = pd.Series(owners, dtype=object)
        told = [name for name in covariates if all(covariates[name][own == group].notna().any() for group in between)]
        compared = _compare(cohort, attention, correlations, owners, between, covariates[told])
        if compared is None:
            continue
        found, refused = compared
        for comparison in (found, found.without_connectivity):
            if comparison is not None:
                frames += _rows(comparison, between, [refused, *disagreements])
    if not frames:
        return pd.DataFrame(columns=_NO_TESTS)
    tests = pd.concat(frames, ignore_index=True)
    counts = [name for group in data.groups if (name := f"n_{group}") in tests]
    return tests.astype(dict.fromkeys(counts, "Int64"))  # empty, and no decimals, where a group was not compared


def write_tests(tests: pd.DataFrame, folder: Path) -> None:
    """Write the tests of a model's groups into its folder."""
    write_atomically(folder / TESTS, write_csv(tests, index=False, float_format="%.6g", lineterminator="\n"))


def out_of_fold_attention(
    members: Sequence[BioBGT], data: LabelledGraphs, splits: Sequence[Split]
) -> NDArray[np.float32]:
    """What each fold's member attends to in the fold's test subjects, whom it never met.

    Parameters
    ----------
    members : sequence of BioBGT
    data : LabelledGraphs
        Of the cohort that they were trained on.
    splits : sequence of Split
        Member i was trained without the test subjects of split i.

    Returns
    -------
    ndarray, shape (n_subjects, n_regions, n_regions)
        Mean over layers and heads.
    """
    n_regions = data.matrices.shape[1]
    found = np.full((len(data.labels), n_regions, n_regions), np.nan, np.float32)
    for rows, maps in _explained(members, data, splits):
        found[rows] = maps.mean(axis=1)
    return found


def out_of_fold_contrasts(
    members: Sequence[BioBGT], data: LabelledGraphs, splits: Sequence[Split]
) -> NDArray[np.float64]:
    """Attention within over between each subject's own Louvain modules, mean over layers and heads, out of fold.

    Parameters
    ----------
    members, data, splits
        See :func:`out_of_fold_attention`.

    Returns
    -------
    ndarray, shape (n_subjects,)
    """
    found = np.full(len(data.labels), np.nan)
    for rows, maps in _explained(members, data, splits):
        modules = data.graphs.modules.numpy()[rows]
        found[rows] = np.mean([module_contrast(maps[:, head], modules) for head in range(maps.shape[1])], axis=0)
    return found


@torch.no_grad()
def _explained(
    members: Sequence[BioBGT], data: LabelledGraphs, splits: Sequence[Split]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Some test subjects at a time, and their maps of all layers and heads, shape (n_rows, n_maps, n, n)."""
    n_regions = data.matrices.shape[1]
    device = next(members[0].parameters()).device
    for member, split in zip(members, splits, strict=True):
        for start in range(0, len(split.test), EXPLAINED_AT_ONCE):
            rows = split.test[start : start + EXPLAINED_AT_ONCE]
            seen = member.explain(data.part(rows)[0].to(device))
            maps = torch.stack([layer.weights for layer in seen.attention], dim=1).float().cpu().numpy()
            yield rows, maps.reshape(len(rows), -1, n_regions, n_regions)


def check_same_attention(attention: NDArray[np.float32], data: LabelledGraphs, known: GroupResults) -> None:
    """Refuse attention that is not the model's own: other subjects, other folds or other weights made it.

    Parameters
    ----------
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Out of fold, mean over layers and heads.
    data : LabelledGraphs
        Of the same subjects in the same order.
    known : GroupResults
        Those in the model's folder.
    """
    persons = np.array(data.persons)
    for label, group in enumerate(data.groups):
        own = data.labels == label
        mean = average_by_person(attention[own], persons[own].tolist()).mean(axis=0)
        stored = known.attention[group].mean(axis=(0, 1))
        if np.abs(mean - stored).max() > _SAME_ATTENTION * stored.max():
            raise InputError(
                f"The attention of {group} computed again is not the one in the model's folder. The subjects, their "
                "order or the folds are not those that it was trained on; name the data and phenotypes of its card."
            )


def _compare(
    cohort: Cohort,
    attention: NDArray[np.float32],
    correlations: NDArray[np.float32],
    owners: list[str | None],
    between: tuple[str, str],
    covariates: pd.DataFrame,
) -> tuple[AttentionComparison, str] | None:
    """Compare with as many covariates as the design allows, and say why others were left out.

    None where there is nothing to compare even without covariates: too few people, or no two regions with modules.
    """
    labels = cohort.atlas.labelling(next(iter(cohort.atlas.labels)))
    strength, refused = overall_connectivity(cohort), ""
    for known, overall in ((covariates, strength), (None, strength), (None, None)):
        try:
            found = compare_attention(
                attention,
                labels,
                owners,
                subjects=cohort.persons,
                between=between,
                covariates=known,
                overall_connectivity=overall,
                connectivity=correlations,
            )
        except InputError as error:  # of the design, or of who has all covariates
            refused = refused or f"Not adjusted for all covariates. {error}"
        else:
            return found, refused
    return None


def _rows(found: AttentionComparison, between: tuple[str, str], notes: Sequence[str]) -> list[pd.DataFrame]:
    """The tests of two groups, each row complete in itself."""
    frames = []
    for family, comparison in (("block", found.blocks), ("contrast", found.contrast)):
        frame = comparison.table.assign(family=family, between=" - ".join(between))
        frame["covariates"] = ", ".join(comparison.covariates)
        frame["n_subjects"] = sum(comparison.n_subjects.values())
        frame["permutations"] = comparison.permutations
        for group, n in comparison.n_subjects.items():
            frame[f"n_{group}"] = n
        frame["note"] = " ".join([*notes, *design_notes(comparison.design)]).strip()
        frames.append(frame)
    return frames


def _of_one_group(groups: NDArray[np.str_], persons: Sequence[str], between: tuple[str, str]) -> list[str | None]:
    """Each row's group, None for whoever has recordings in both groups, as one who converts from MCI to AD has."""
    owners = np.array(persons)
    both = np.intersect1d(*(owners[groups == name] for name in between))
    return [None if person in both else str(group) for group, person in zip(groups, owners, strict=True)]


# Group results of a model as they are stored: means of groups, and how people of a group spread around them.
#
# A mean map says nothing of how alike people are: a few can make it. So beside each group's mean stand its median and
# trimmed map, the standard error of every entry, and every person's contrast of modules, in no order that names
# anyone.


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


def group_spread(
    cohort: Cohort, data: LabelledGraphs, attention: NDArray[np.float32], contrasts: NDArray[np.float64]
) -> GroupSpread:
    """How the people of each group spread around its mean attention, over layers and heads, out of fold.

    Parameters
    ----------
    cohort : Cohort
        With series or connectivity, for overall connectivity.
    data : LabelledGraphs
        Of the same subjects in the same order.
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Rows sum to 1.
    contrasts : ndarray, shape (n_subjects,)
        Attention within over between the subject's own modules.
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
        people = average_by_person(np.column_stack([contrasts, overall_connectivity(cohort)])[own], owners)
        found["people"][group] = people[np.argsort(people[:, 0], kind="stable")]  # nobody is found again by position
    return GroupSpread(**found)


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
