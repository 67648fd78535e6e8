"""What an ensemble attends to, compared between the groups it was trained on: over persons, out of fold."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.groups import compare_attention, covariates_of
from biobgt.training.data import LabelledGraphs
from biobgt.training.ensemble import TrainedEnsemble


def group_tests(cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble) -> pd.DataFrame:
    """Compare attention between every two groups over persons, block by block, adjusted for covariates.

    Whoever has recordings in both groups is left out of the test between them.

    Returns
    -------
    DataFrame
        A row a block and one for the contrast, for every pair of groups: ``between`` names the two, ``n_<group>`` says
        how many subjects of each were used, ``permutations`` how many were drawn. Without a row
        where the atlas has no functional modules.
    """
    if not cohort.atlas.labels:
        return pd.DataFrame(columns=["feature", "family", "between", "covariates", "n_subjects", "permutations"])
    labels = cohort.atlas.labelling(next(iter(cohort.atlas.labels)))
    covariates = covariates_of(cohort.table())
    groups = np.array([data.groups[label] for label in data.labels])
    frames = []
    for between in combinations(data.groups, 2):
        found = compare_attention(
            trained.mean_attention,
            labels,
            _of_one_group(groups, cohort.persons, between),
            subjects=cohort.persons,
            between=between,
            covariates=covariates.table,
        )
        for family, comparison in (("block", found.blocks), ("contrast", found.contrast)):
            frames.append(comparison.table.assign(family=family, between=" - ".join(between)))
            frames[-1]["covariates"] = ", ".join(comparison.covariates)
            frames[-1]["n_subjects"] = sum(comparison.n_subjects.values())
            frames[-1]["permutations"] = comparison.permutations
            for group, n in comparison.n_subjects.items():
                frames[-1][f"n_{group}"] = n
    tests = pd.concat(frames, ignore_index=True)
    counts = [f"n_{group}" for group in data.groups]
    return tests.astype(dict.fromkeys(counts, "Int64"))  # empty, and no decimals, where a group was not compared


def _of_one_group(groups: NDArray[np.str_], persons: Sequence[str], between: tuple[str, str]) -> list[str | None]:
    """Each row's group, None for whoever has recordings in both groups, as one who converts from MCI to AD has."""
    owners = np.array(persons)
    both = np.intersect1d(*(owners[groups == name] for name in between))
    return [None if person in both else str(group) for group, person in zip(groups, owners, strict=True)]
