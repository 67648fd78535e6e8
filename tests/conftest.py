"""What several test modules share."""

from collections.abc import Callable
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


@pytest.fixture
def bold(rng: np.random.Generator) -> Callable[[int, int], np.ndarray]:
    """Make series that change slowly in time and differ between regions, as BOLD signals do."""

    def make(n_timepoints: int, n_regions: int) -> np.ndarray:
        noise = rng.standard_normal((n_timepoints + 4, n_regions))
        return np.round(sum(noise[i : i + n_timepoints] for i in range(4)), 6)

    return make
