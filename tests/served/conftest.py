"""Real servers in processes of their own, one for all tests of a file where these change nothing of it."""

from collections.abc import Iterator

import pytest

from benchmarks.sessions import subject_files
from benchmarks.visitors import Server, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as a user starts it, on this machine only."""
    with running_server(tmp_path_factory.mktemp("elsewhere")) as server:
        yield server


@pytest.fixture(scope="session")
def region_series() -> bytes:
    """A subject's file, as ABIDE releases it: 150 time points of 200 regions."""
    (content,) = subject_files("Lab", 0, n_subjects=1, n_timepoints=150).values()
    return content
