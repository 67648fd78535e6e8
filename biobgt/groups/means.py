"""What a group has in common: means over its subjects, and the functional modules of its mean connectivity."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.atlas import Atlas
from biobgt.cohort import GROUP_TITLES
from biobgt.connectome import graph_from_connectivity
from biobgt.errors import InputError
from biobgt.graph import LEVELS, ConnectomeSettings
from biobgt.model.attention_views import functional_labels
from biobgt.modules import find_modules
from biobgt.modules.module_options import ModuleOptions
from biobgt.modules.naming import module_names


@dataclass(frozen=True, eq=False)
class GroupMean:
    """Mean and standard deviation (n − 1) over the subjects of a group, and their number.

    ``mean`` and ``sd`` have the shape of one subject's values; ``sd`` is NaN for a single subject.
    """

    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    n: int


def group_means(
    values: ArrayLike, groups: Sequence[str | None], *, subjects: Sequence[str] | None = None
) -> dict[str, GroupMean]:
    """Average over the subjects of each group.

    Parameters
    ----------
    values : array-like, shape (n_rows, ...)
    groups : sequence of str or None, length n_rows
        Rows without a group are left out.
    subjects : sequence of str, length n_rows, or None
        Whose row each is: a person's rows in one group are averaged first. None: each row is a person.

    Returns
    -------
    dict of str to GroupMean
        Controls first, as in :attr:`biobgt.cohort.Cohort.group_sizes`.

    Examples
    --------
    >>> means = group_means([1.0, 3.0, 5.0], ["NC", "NC", "ASD"])
    >>> {group: (float(one.mean), one.n) for group, one in means.items()}
    {'NC': (2.0, 2), 'ASD': (5.0, 1)}
    """
    array = np.asarray(values)
    if len(groups) != len(array) or (subjects is not None and len(subjects) != len(array)):
        raise InputError(f"There are {len(array)} rows of values; give one group, and one subject id if any, for each.")
    table = pd.DataFrame({"group": list(groups), "subject": range(len(array)) if subjects is None else list(subjects)})
    known = table.dropna(subset="group")["group"].unique().tolist()
    order = [group for group in GROUP_TITLES if group in known] + sorted(set(known) - set(GROUP_TITLES))
    means = {}
    for group in order:
        rows = table[table["group"] == group]
        persons = rows.groupby("subject", sort=False).indices.values()
        numbers = rows.index.to_numpy()
        each = np.stack([array[numbers[own]].mean(axis=0, dtype=np.float64) for own in persons])
        sd = each.std(axis=0, ddof=1) if len(each) > 1 else np.full(each.shape[1:], np.nan)
        means[str(group)] = GroupMean(each.mean(axis=0), np.asarray(sd), len(each))
    return means


def louvain_labels(
    connectivity: NDArray[np.float32], atlas: Atlas, *, level: float = LEVELS["absolute"].default, seed: int = 0
) -> list[str]:
    """Louvain modules of a group's mean connectivity, named by the networks in them.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
    atlas : Atlas
        Its first functional labelling gives the names.
    level : float
        Positive connections of at least this weight make the graph.
    seed : int
        Of Louvain's runs.

    Returns
    -------
    list of str, length n_regions
        Regions without connections are "no module".
    """
    graph = graph_from_connectivity(connectivity.astype(np.float64), ConnectomeSettings(level=level), atlas=atlas)
    partition = find_modules(graph, ModuleOptions(seed=seed))
    networks = functional_labels(atlas, next(iter(atlas.labels))) if atlas.labels else None
    names = module_names(partition, networks)
    return [names.get(module, "no module") for module in partition.labels.tolist()]
