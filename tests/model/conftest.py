"""A planted cohort, drawn once, and its graphs."""

import pytest
from planted_cohort import planted_cohort, small

from biobgt.data.cohort import Cohort
from biobgt.model.inputs import prepare
from biobgt.model.network import GraphBatch


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    return planted_cohort(8)


@pytest.fixture(scope="session")
def graphs(cohort: Cohort) -> GraphBatch:
    return prepare(cohort.subjects, small("best"))
