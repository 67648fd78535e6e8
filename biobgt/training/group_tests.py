"""What an ensemble attends to, compared between the groups it was trained on: over people, out of fold.

Attention is made from connectivity, so that a group with stronger connectivity overall differs in attention, too. Every
test is made with mean |FC| among the covariates and without, and stands as two rows that say so; in each row stand
beside it the connectivity of the same block, and the test given that connectivity. From a model's weights
and its cohort the tests can be made again without training: fold i's member meets fold i's test subjects.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.connectome import subject_connectivity
from biobgt.errors import InputError
from biobgt.groups import compare_attention, covariates_of
from biobgt.groups.attention_tests import AttentionComparison
from biobgt.groups.covariates import one_value_per_person, overall_connectivity
from biobgt.groups.design import design_notes
from biobgt.model.group_results import GroupResults
from biobgt.model.pretrained import TESTS
from biobgt.model.transformer import BioBGT
from biobgt.modules import module_contrast
from biobgt.output import write_atomically
from biobgt.people import average_by_person
from biobgt.spreadsheets import write_csv
from biobgt.training.data import LabelledGraphs
from biobgt.training.splits import Split

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
        known = known_of_both(covariates, owners, between)
        compared = _compare(cohort, attention, correlations, owners, between, known)
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


def known_of_both(covariates: pd.DataFrame, owners: Sequence[str | None], between: tuple[str, str]) -> pd.DataFrame:
    """The covariates of which something is known in each of two groups: one cohort may lack what another has.

    Parameters
    ----------
    covariates : DataFrame
        One row per subject.
    owners : sequence of str or None, length n_subjects
        Each subject's group.
    between : (str, str)
    """
    groups = pd.Series(list(owners), dtype=object)
    known = [name for name in covariates if all(covariates[name][groups == own].notna().any() for own in between)]
    return covariates[known]


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
