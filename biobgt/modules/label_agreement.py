"""How far two divisions of the brain agree: a partition with an atlas's functional labels, or with another.

Three measures, for none alone tells all: adjusted mutual information (Vinh et al. 2010) and adjusted Rand index
(Hubert & Arabie 1985) are 1 for equal divisions and about 0 for unrelated ones; the variation of information
VI = H(X|Y) + H(Y|X) (Meilă 2007) is a distance in bits. Regions that either side leaves out do not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.atlas import Atlas
from biobgt.errors import InputError
from biobgt.modules.mutual_information import mutual_information
from biobgt.modules.partition import UNASSIGNED, Labels, module_labels


@dataclass(frozen=True, eq=False)
class ModuleAgreement:
    """Agreement of modules with labels.

    Attributes
    ----------
    ami, ari : float
        Adjusted mutual information and adjusted Rand index; 1 for equal divisions, about 0 by chance.
    vi : float
        Variation of information in bits; 0 for equal divisions.
    vi_normalised : float
        VI divided by its largest possible value, log2 of the number of regions compared.
    contingency : DataFrame
        Number of regions; a row per module, a column per label.
    n_compared : int
        Regions with a module and a label. All four measures are NaN when there are fewer than 2.
    n_unlabelled : int
        Regions in a module but without a label.
    n_unassigned : int
        Regions in no module, labelled or not.
    """

    ami: float
    ari: float
    vi: float
    vi_normalised: float
    contingency: pd.DataFrame
    n_compared: int
    n_unlabelled: int
    n_unassigned: int


def module_agreement(partition: Labels, atlas: Atlas, labelling: str = "dosenbach") -> ModuleAgreement:
    """Compare modules with an atlas's functional labels.

    Parameters
    ----------
    partition : Partition or sequence of int, length n_regions
    atlas : Atlas
    labelling : str
        One of the atlas's labellings.

    Returns
    -------
    ModuleAgreement
    """
    labels = atlas.labelling(labelling)
    if len(module_labels(partition)) != len(labels):
        raise InputError(
            f"The partition has {len(module_labels(partition))} regions and atlas {atlas.name} has {len(labels)}."
        )
    return compare_modules(partition, labels)


def compare_modules(partition: Labels, labels: Sequence[str | int | None]) -> ModuleAgreement:
    """Compare modules with any labels, one per region; None marks a region without a label.

    To compare two partitions give the other one's labels, with None in place of 0.

    Parameters
    ----------
    partition : Partition or sequence of int, length n_regions
    labels : sequence of (str, int or None), length n_regions

    Returns
    -------
    ModuleAgreement

    Examples
    --------
    >>> same = compare_modules([1, 1, 2, 2], ["visual", "visual", "motor", "motor"])
    >>> same.ari, same.vi
    (1.0, 0.0)
    """
    modules = module_labels(partition, len(labels))
    assigned = modules != UNASSIGNED
    labelled = np.array([label is not None for label in labels], dtype=bool)
    both = assigned & labelled
    compared = modules[both]
    names = [label for label, kept in zip(labels, assigned, strict=True) if kept and label is not None]
    counts = pd.crosstab(pd.Series(compared, name="module"), pd.Series(names, name="label", dtype=object))
    ami, ari, vi, vi_normalised = _measures(counts.to_numpy(), compared, names)
    return ModuleAgreement(
        ami=ami,
        ari=ari,
        vi=vi,
        vi_normalised=vi_normalised,
        contingency=counts,
        n_compared=int(both.sum()),
        n_unlabelled=int((assigned & ~labelled).sum()),
        n_unassigned=int((~assigned).sum()),
    )


def variation_of_information(contingency: NDArray[np.int64]) -> float:
    """Variation of information, in bits, of two divisions given their contingency table.

    Parameters
    ----------
    contingency : ndarray of int, shape (n_modules, n_labels)

    Returns
    -------
    float
        2 H(X, Y) − H(X) − H(Y).
    """
    joint = contingency / contingency.sum()
    return max(0.0, 2 * _entropy(joint) - _entropy(joint.sum(axis=0)) - _entropy(joint.sum(axis=1)))


def adjusted_rand(contingency: NDArray[np.int64]) -> float:
    """Adjusted Rand index of two divisions given their contingency table (Hubert & Arabie 1985).

    Parameters
    ----------
    contingency : ndarray of int, shape (n_modules, n_labels)

    Returns
    -------
    float
        1 where they are the same, 0 as by chance.
    """
    together, in_first, in_second = (
        float((sizes * (sizes - 1) / 2).sum())
        for sizes in (contingency, contingency.sum(axis=1), contingency.sum(axis=0))
    )
    n = int(contingency.sum())
    expected, most = in_first * in_second / (n * (n - 1) / 2), (in_first + in_second) / 2
    # Both are one module, or every region of both is its own: the same division.
    return 1.0 if most == expected else (together - expected) / (most - expected)


def _measures(
    counts: NDArray[np.int64], modules: NDArray[np.int64], names: Sequence[str | int]
) -> tuple[float, float, float, float]:
    if len(modules) < 2:
        return (float("nan"),) * 4
    codes = np.unique([str(name) for name in names], return_inverse=True)[1] + 1  # 0 is no module
    vi = variation_of_information(counts)
    return mutual_information(codes, modules), adjusted_rand(counts), vi, vi / float(np.log2(len(modules)))


def _entropy(probabilities: NDArray[np.float64]) -> float:
    seen = probabilities[probabilities > 0]
    return float(-(seen * np.log2(seen)).sum())
