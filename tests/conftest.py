"""What several test modules share."""

from pathlib import Path

import numpy as np
import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real cohorts, where they lie beside the repository; tests that need them skip elsewhere."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real cohorts are not on this machine (../shared/data)")
    return SHARED_DATA


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
