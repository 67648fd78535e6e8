"""What the tests of the export share."""

import pytest
from export_requests import DEMO

from biobgt.results.measured import Measured


@pytest.fixture(scope="session")
def measured():
    """The small demo cohort, measured once."""
    return Measured(DEMO.draw())
