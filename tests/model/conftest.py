"""A planted cohort, drawn once, and its graphs."""

import pytest
from planted_cohort import planted_cohort, small

from biobgt.cohort import Cohort
from biobgt.model.batch import GraphBatch
from biobgt.model.inputs import prepare


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    return planted_cohort(8)


@pytest.fixture(scope="session")
def graphs(cohort: Cohort) -> GraphBatch:
    return prepare(cohort.subjects, small("best"))
