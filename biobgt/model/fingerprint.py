"""Recognise a scan that a model was trained on: its probability would be no evidence of anything.

A fingerprint is 32 random sums over all correlations of a subject. The same scan, read from another file or rounded
otherwise, lies within 0.001; two different ABIDE scans are 0.5 apart or more. From a fingerprint no
correlation can be found again.
"""

import torch
from torch import Tensor

SIZE = 32
SAME_SCAN = 0.1


def fingerprints(correlations: Tensor) -> Tensor:
    """Sum correlations with random signs.

    Parameters
    ----------
    correlations : Tensor, shape (n_subjects, n_regions, n_regions)

    Returns
    -------
    Tensor, shape (n_subjects, 32)
    """
    rows, columns = torch.triu_indices(correlations.shape[1], correlations.shape[1], 1)
    values = correlations[:, rows, columns].double().cpu()
    signs = torch.randint(2, (SIZE, len(rows)), generator=torch.Generator().manual_seed(0)).double() * 2 - 1
    return (values @ signs.T / len(rows) ** 0.5).float()


def recognised(correlations: Tensor, known: Tensor) -> list[bool]:
    """Tell of each subject whether its scan is among the known fingerprints, shape (n_known, 32)."""
    distances = torch.cdist(fingerprints(correlations), known.float())
    return [bool(nearest < SAME_SCAN) for nearest in distances.amin(dim=1)]
