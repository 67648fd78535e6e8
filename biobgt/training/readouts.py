"""Several cohorts in one model: the encoder sees all subjects, and each cohort has a readout of its own.

The readouts are columns of one linear layer, one per group. A subject's probabilities are those of its own cohort's
groups, so that nobody is ever told apart from another cohort's subjects, which scanners and preprocessing would do. A
member with one of its readouts is an ordinary model of that cohort.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from biobgt.model.transformer import BioBGT

Readouts = Sequence[Sequence[int]]


@dataclass(frozen=True, eq=False)
class ReadoutPart:
    """The subjects of one readout.

    Attributes
    ----------
    rows : ndarray of int, shape (n_subjects,)
        Where they stand among all subjects.
    columns : ndarray of int, shape (n_groups,)
        Their groups among all groups.
    labels : ndarray of int, shape (n_subjects,)
        Each one's group, as a position in ``columns``.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    labels: NDArray[np.int64]


def readout_parts(labels: NDArray[np.int64], n_groups: int, readouts: Readouts = ()) -> list[ReadoutPart]:
    """Part subjects by the readout that their group belongs to; a readout without a subject is left out.

    Parameters
    ----------
    labels : ndarray of int, shape (n_subjects,)
        Each subject's group, counted over all readouts.
    n_groups : int
        Of all readouts together.
    readouts : sequence of sequence of int
        The groups of each readout; empty for one readout of all groups.
    """
    found = []
    for groups in readouts or (range(n_groups),):
        columns = np.array(list(groups), dtype=np.int64)
        rows = np.flatnonzero(np.isin(labels, columns))
        if len(rows):
            place = {int(column): i for i, column in enumerate(columns)}
            found.append(ReadoutPart(rows, columns, np.array([place[int(one)] for one in labels[rows]])))
    return found


def own_logits(logits: Tensor, groups: Tensor, readouts: Readouts = ()) -> Tensor:
    """Logits in which the groups of other readouts than a subject's own cannot be chosen.

    Parameters
    ----------
    logits : Tensor, shape (B, n_groups)
    groups : Tensor of int, shape (B,)
        Each subject's group.
    readouts : sequence of sequence of int
        See :func:`readout_parts`.
    """
    if not readouts:
        return logits
    same = torch.zeros(logits.shape[1], logits.shape[1], dtype=torch.bool, device=logits.device)
    for columns in readouts:
        chosen = torch.tensor(list(columns), device=logits.device)
        same[chosen[:, None], chosen] = True
    return logits.masked_fill(~same[groups], -torch.inf)


def with_readout(member: BioBGT, columns: Sequence[int]) -> BioBGT:
    """A copy of a member with one of its readouts: an ordinary model of that cohort's groups."""
    copied = deepcopy(member)
    whole = member.readout.classify
    chosen = torch.tensor(list(columns), device=whole.weight.device)
    own = nn.Linear(whole.in_features, len(chosen), device=whole.weight.device)
    with torch.no_grad():
        own.weight.copy_(whole.weight[chosen])
        own.bias.copy_(whole.bias[chosen])
    copied.readout.classify = own
    return copied.eval()
