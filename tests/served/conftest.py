"""Real servers in processes of their own, one for all tests of a file where these change nothing of it."""

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.visitors import Server, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as a user starts it, on this machine only."""
    with running_server(tmp_path_factory.mktemp("elsewhere")) as server:
        yield server


@pytest.fixture(scope="session")
def region_series() -> bytes:
    """A subject's file: 150 time points of 200 regions."""
    values = np.random.default_rng(0).standard_normal((150, 200))
    return "\n".join(" ".join(f"{value:.4f}" for value in row) for row in values).encode()
