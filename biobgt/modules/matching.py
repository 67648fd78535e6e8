"""The same number, and so the same colour, for the same module.

Louvain numbers modules anew in every subject, group and resolution. Here the modules of one partition take the
numbers of those modules of another with which they share the most regions in total (the assignment problem,
Kuhn 1955), one to one.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from biobgt.modules.partition import UNASSIGNED, Labels, canonical_labels, module_labels


def match_modules(labels: Labels, reference: Labels) -> NDArray[np.int64]:
    """Number the modules of a partition as those of a reference.

    Parameters
    ----------
    labels : Partition or sequence of int, length n_regions
    reference : Partition or sequence of int, length n_regions

    Returns
    -------
    ndarray of int, shape (n_regions,)
        The same modules under other numbers. A module without a counterpart takes a number above all of the
        reference, the larger module first; 0 (in no module) stays 0.

    Examples
    --------
    >>> match_modules([2, 2, 1, 1], [1, 1, 2, 2]).tolist()
    [1, 1, 2, 2]
    """
    reference = module_labels(reference)
    # In canonical order, so that a tie does not depend on the numbers the modules came with.
    labels = canonical_labels(module_labels(labels, len(reference)))
    modules = range(1, int(labels.max(initial=0)) + 1)
    numbers = np.unique(reference[reference != UNASSIGNED]).tolist()
    shared = np.array([[((labels == m) & (reference == r)).sum() for r in numbers] for m in modules])
    shared = shared.reshape(len(modules), len(numbers))
    rows, columns = linear_sum_assignment(shared, maximize=True)
    new_number = {modules[i]: numbers[j] for i, j in zip(rows, columns, strict=True) if shared[i, j] > 0}
    first_new = int(reference.max(initial=0)) + 1
    left = [module for module in modules if module not in new_number]
    new_number |= {module: first_new + i for i, module in enumerate(left)}
    matched = np.full(len(labels), UNASSIGNED, dtype=np.int64)
    for module, number in new_number.items():
        matched[labels == module] = number
    return matched
