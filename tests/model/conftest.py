"""A planted cohort, drawn once, its graphs and members of an ensemble; real series."""

import numpy as np
import pytest
import torch
from planted_cohort import planted_cohort, small

from biobgt.data.cohort import Cohort
from biobgt.model.inputs import prepare
from biobgt.model.network import BioBGT, GraphBatch


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    return planted_cohort(8)


@pytest.fixture(scope="session")
def graphs(cohort: Cohort) -> GraphBatch:
    return prepare(cohort.subjects, small("best"))


@pytest.fixture(scope="session")
def members(graphs: GraphBatch) -> tuple[BioBGT, ...]:
    """Two of two layers, not trained, but of opinions."""
    made = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        member = BioBGT(small("best", layers=2), n_regions=16, n_groups=2)
        member.standardise(graphs)
        torch.nn.init.normal_(member.readout.classify.weight, std=0.05)
        made.append(member.eval())
    return tuple(made)


@pytest.fixture(scope="session")
def abide_series(shared_data) -> list[np.ndarray]:
    """The first four ABIDE subjects, CC200."""
    with np.load(shared_data / "abide_cc200.npz", allow_pickle=False) as archive:
        stops = np.cumsum(archive["n_timepoints"])[:4]
        return np.split(archive["series"][: stops[-1]].astype(np.float64), stops[:-1])
