"""What several test modules share."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# One thread a process, in what the tests start too: on matrices of this size several only wait for each other, and
# tests run side by side. numpy and torch read it when they are imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

# No timing in tests: an example may take as long as the machine needs.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real cohorts, where they lie beside the repository; tests that need them skip elsewhere."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real cohorts are not on this machine (../shared/data)")
    return SHARED_DATA


@pytest.fixture(scope="session", autouse=True)
def own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keys and copies of tests go to a folder of theirs, in what they start too, not to the user's."""
    os.environ["XDG_DATA_HOME"] = str(tmp_path_factory.mktemp("data"))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Interrupts raise KeyboardInterrupt, also where whoever started the tests has them ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
