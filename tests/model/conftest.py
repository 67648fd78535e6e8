"""Small models on one thread: several threads only wait for each other on matrices of this size."""

from collections.abc import Iterator

import pytest
import torch
from planted_cohort import planted_cohort, small

from biobgt.cohort import Cohort
from biobgt.model.batch import GraphBatch
from biobgt.model.inputs import prepare


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    return planted_cohort(8)


@pytest.fixture(scope="session")
def graphs(cohort: Cohort) -> GraphBatch:
    return prepare(cohort.subjects, small("best"))
