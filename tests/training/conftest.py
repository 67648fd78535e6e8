"""A planted cohort, drawn once, and its graphs."""

import pytest
from planted_cohort import planted_cohort, small

from biobgt.cohort import Cohort
from biobgt.training.data import LabelledGraphs, label_graphs


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    return planted_cohort(20)


@pytest.fixture(scope="session")
def data(cohort: Cohort) -> LabelledGraphs:
    return label_graphs(cohort, small("best"))
