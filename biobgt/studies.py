"""Results on real cohorts that ship with the project, to be shown beside a user's own subject.

They are over subjects, never of one: means, spreads and intervals. ``assets/README.md`` names the commands that made
them, and ``docs/plausibility.md`` says what they mean.
"""

from functools import cache

import pandas as pd

from biobgt.assets import asset

ABIDE = "899 subjects of ABIDE, CC200, Pearson correlation, positive connections"


@cache
def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(asset("studies", f"{name}.csv"))


def abide_plausibility(group: str = "all") -> pd.DataFrame:
    """Agreement of node entanglement with node efficiency and FC strength, over γ, threshold and perturbation.

    Parameters
    ----------
    group : {"all", "NC", "ASD"}

    Returns
    -------
    DataFrame
        One row for each ``level`` (absolute threshold), ``perturbation``, ``signed``, ``gamma`` (in units of
        1/mean(λ)), ``reference`` and ``measure``: ``mean``, ``sd``, ``low``, ``high`` and ``n_subjects``.
    """
    table = _table("abide_plausibility")
    return table[table["group"] == group].drop(columns="group").reset_index(drop=True)


def abide_modules() -> pd.DataFrame:
    """Louvain modules of NC and ASD: mean and SD of each measure, and their difference with covariates held."""
    return _table("abide_modules").copy()


def abide_consensus_modules() -> pd.DataFrame:
    """Agreement of each group's consensus modules with the functional labels, and with each other."""
    return _table("abide_modules_consensus").copy()
