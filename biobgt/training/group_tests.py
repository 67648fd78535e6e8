"""What an ensemble attends to, compared between the groups it was trained on: over people, out of fold.

Attention is made from connectivity, so that a group with stronger connectivity overall differs in attention, too. Every
test is made with mean |FC| among the covariates and without, and stands as two rows that say so. From a model's weights
and its cohort the tests can be made again without training: fold i's member meets fold i's test subjects.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.groups import compare_attention, covariates_of
from biobgt.groups.attention import AttentionComparison
from biobgt.groups.covariates import overall_connectivity
from biobgt.groups.design import DesignError, design_notes
from biobgt.model.pretrained import TESTS, GroupResults
from biobgt.model.transformer import BioBGT
from biobgt.output import write_atomically
from biobgt.people import average_by_person
from biobgt.training.data import LabelledGraphs
from biobgt.training.splits import Split

EXPLAINED_AT_ONCE = 16
# Group means are stored with 16 bits, so that they differ from those computed again by one in two thousand.
_SAME_ATTENTION = 2e-3


def group_tests(cohort: Cohort, data: LabelledGraphs, attention: NDArray[np.float32]) -> pd.DataFrame:
    """Compare attention between every two groups over people, block by block, adjusted for covariates.

    Whoever has recordings in both groups is left out of the test between them. Covariates that would leave too few
    residual degrees of freedom, or are confounded with the group, are not adjusted for; the note says so.

    Parameters
    ----------
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Out of fold, mean over layers and heads.

    Returns
    -------
    DataFrame
        For every pair of groups one row per block and one for the contrast, with overall connectivity (mean |FC|)
        adjusted for, and the same rows without: ``between`` names the two groups, ``covariates`` what was adjusted
        for, ``n_<group>`` says how many people of each were used, ``permutations`` how many were drawn, ``note`` what
        must be known of the design. Without a row where the atlas has no functional modules.
    """
    if not cohort.atlas.labels:
        return pd.DataFrame(columns=["feature", "family", "between", "covariates", "n_subjects", "permutations"])
    groups = np.array([data.groups[label] for label in data.labels])
    frames: list[pd.DataFrame] = []
    for between in combinations(data.groups, 2):
        owners = _of_one_group(groups, cohort.persons, between)
        found, refused = _compare(cohort, attention, owners, between)
        for comparison in (found, found.without_connectivity):
            if comparison is not None:
                frames += _rows(comparison, between, refused)
    tests = pd.concat(frames, ignore_index=True)
    counts = [f"n_{group}" for group in data.groups]
    return tests.astype(dict.fromkeys(counts, "Int64"))  # empty, and no decimals, where a group was not compared


def write_tests(tests: pd.DataFrame, folder: Path) -> None:
    """Write the tests of a model's groups into its folder."""
    write_atomically(folder / TESTS, tests.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def out_of_fold_attention(
    members: Sequence[BioBGT], data: LabelledGraphs, splits: Sequence[Split]
) -> NDArray[np.float32]:
    """What each fold's member attends to in the fold's test subjects, whom it never met.

    Returns
    -------
    ndarray, shape (n_subjects, n_regions, n_regions)
        Mean over layers and heads.
    """
    n_regions = data.matrices.shape[1]
    found = np.full((len(data.labels), n_regions, n_regions), np.nan, np.float32)
    device = next(members[0].parameters()).device
    with torch.no_grad():
        for member, split in zip(members, splits, strict=True):
            for start in range(0, len(split.test), EXPLAINED_AT_ONCE):
                rows = split.test[start : start + EXPLAINED_AT_ONCE]
                seen = member.explain(data.part(rows)[0].to(device))
                maps = torch.stack([layer.weights for layer in seen.attention], dim=1).float().cpu().numpy()
                found[rows] = maps.reshape(len(rows), -1, n_regions, n_regions).mean(axis=1)
    return found


def check_same_attention(attention: NDArray[np.float32], data: LabelledGraphs, known: GroupResults) -> None:
    """Refuse attention that is not the model's own: other subjects, other folds or other weights made it."""
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
    cohort: Cohort, attention: NDArray[np.float32], owners: list[str | None], between: tuple[str, str]
) -> tuple[AttentionComparison, str]:
    """Compare with as many covariates as the design allows, and say why others were left out."""
    labels = cohort.atlas.labelling(next(iter(cohort.atlas.labels)))
    covariates, strength, refused = covariates_of(cohort.table()).table, overall_connectivity(cohort), ""
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
            )
        except DesignError as error:
            refused = refused or f"Not adjusted for all covariates. {error}"
        else:
            return found, refused
    raise AssertionError("a comparison without covariates has no design to refuse")


def _rows(found: AttentionComparison, between: tuple[str, str], refused: str) -> list[pd.DataFrame]:
    """The tests of two groups, each row complete in itself."""
    frames = []
    for family, comparison in (("block", found.blocks), ("contrast", found.contrast)):
        frame = comparison.table.assign(family=family, between=" - ".join(between))
        frame["covariates"] = ", ".join(comparison.covariates)
        frame["n_subjects"] = sum(comparison.n_subjects.values())
        frame["permutations"] = comparison.permutations
        for group, n in comparison.n_subjects.items():
            frame[f"n_{group}"] = n
        frame["note"] = " ".join([refused, *design_notes(comparison.design)]).strip()
        frames.append(frame)
    return frames


def _of_one_group(groups: NDArray[np.str_], persons: Sequence[str], between: tuple[str, str]) -> list[str | None]:
    """Each row's group, None for whoever has recordings in both groups, as one who converts from MCI to AD has."""
    owners = np.array(persons)
    both = np.intersect1d(*(owners[groups == name] for name in between))
    return [None if person in both else str(group) for group, person in zip(groups, owners, strict=True)]
