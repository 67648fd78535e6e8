"""Names for modules: Louvain numbers them, a reader wants to know which functional network they are.

A module is named by the label that most of its labelled regions carry. The names describe, and do not test: how far
modules and labels agree as a whole is :func:`biobgt.modules.module_agreement`.
"""

from collections import Counter
from collections.abc import Sequence

import pandas as pd
from scipy.optimize import linear_sum_assignment

from biobgt.errors import InputError
from biobgt.modules.partition import UNASSIGNED, Labels, module_labels


def module_names(partition: Labels, labels: Sequence[str | None] | None = None) -> dict[int, str]:
    """Name every module by the functional network most of its regions belong to.

    Parameters
    ----------
    partition : Partition or sequence of int, length n_regions
    labels : sequence of (str or None), length n_regions, optional
        Functional labels; None marks a region without one. Without any labels modules are only numbered.

    Returns
    -------
    dict of int to str
        ``Module 2 · mostly default`` where more than half of the module's labelled regions carry that label,
        ``Module 2 · default`` where all do, ``Module 2 · default, occipital`` with the two most frequent labels (ties
        in alphabetical order) where none has the majority, and ``Module 2 · unlabelled`` where no region has a label.
    """
    modules = module_labels(partition)
    numbers = sorted(set(modules.tolist()) - {UNASSIGNED})
    if labels is None:
        return {number: f"Module {number}" for number in numbers}
    if len(labels) != len(modules):
        raise InputError(f"There are {len(labels)} functional labels for {len(modules)} regions.")
    members = {
        number: [label for label, own in zip(labels, modules, strict=True) if own == number] for number in numbers
    }
    return {number: f"Module {number} · {_network(own)}" for number, own in members.items()}


def match_labels(contingency: pd.DataFrame) -> dict[str, int]:
    """Give each label the module with which it shares the most regions in total, one to one (Kuhn 1955).

    Parameters
    ----------
    contingency : DataFrame
        Number of regions; a row per module, a column per label, as in :class:`biobgt.modules.ModuleAgreement`.

    Returns
    -------
    dict of str to int
        Module of each label; labels without a counterpart are left out.
    """
    counts = contingency.to_numpy()
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return {
        str(contingency.columns[j]): int(contingency.index[i])
        for i, j in zip(rows, columns, strict=True)
        if counts[i, j] > 0
    }


def _network(labels: Sequence[str | None]) -> str:
    counts = Counter(label for label in labels if label is not None)
    if not counts:
        return "unlabelled"
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    share = counts[ranked[0]] / counts.total()
    if share == 1:
        return ranked[0]
    return f"mostly {ranked[0]}" if share > 0.5 else ", ".join(ranked[:2])
