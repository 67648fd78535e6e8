"""Small models on one thread: several threads only wait for each other on matrices of this size."""

from collections.abc import Iterator

import pytest
import torch
from planted_cohort import planted_cohort, small

from biobgt.cohort import Cohort
from biobgt.training.data import LabelledGraphs, label_graphs


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    return planted_cohort(20)


@pytest.fixture(scope="session")
def data(cohort: Cohort) -> LabelledGraphs:
    return label_graphs(cohort, small("best"))
