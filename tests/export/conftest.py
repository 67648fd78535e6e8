"""What the tests of the export share."""

import pytest
from export_requests import DEMO, MODEL

from biobgt.export import CohortRef
from biobgt.model.folder import load_card, pretrained_names
from biobgt.results.measured import Measured


@pytest.fixture(scope="session")
def measured():
    """The small demo cohort, measured once."""
    return Measured(DEMO.draw())


@pytest.fixture(scope="session")
def model():
    """A trained model by name, and what was measured of it."""
    if MODEL not in pretrained_names():
        pytest.skip(f"the trained model {MODEL} is not on this machine")
    ref = CohortRef(MODEL, model=True, sha256=load_card(MODEL)["sha256"])
    return ref, Measured(ref.draw())
