"""What the tests of the app share: its pages, opened without a browser."""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_contents import assert_no_error
from page_hands import N_REGIONS, PHENOTYPES, Uploaded, abide_file, bring, start_at, table_file
from streamlit.testing.v1 import AppTest
from tiny_models import write_tiny_model

from biobgt import Cohort
from biobgt.model import folder as model_files
from biobgt.model.group_results import GroupResults, load_groups

APP = Path(__file__).resolve().parents[2] / "app"
sys.path.insert(0, str(APP))  # as `streamlit run` does

from session import cohorts as loaded_cohorts  # noqa: E402
from session.view import LoadedCohort  # noqa: E402


def _session() -> AppTest:
    return AppTest.from_file(str(APP / "Home.py"), default_timeout=120)


def _open(page: str = "home", **parameters: str) -> AppTest:
    session = _session()
    for name, value in parameters.items():
        session.query_params[name] = value
    return start_at(session, page).run()


@pytest.fixture
def may_fail() -> None:
    """For tests whose pages show an error."""


@pytest.fixture(autouse=True)
def no_errors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run of a page ends in an error, but in tests that ask for ``may_fail``."""
    if "may_fail" in request.fixturenames:
        return
    run = AppTest._run

    def checked(session: AppTest, *arguments: Any, **options: Any) -> AppTest:
        page = run(session, *arguments, **options)
        assert_no_error(page)
        return page

    monkeypatch.setattr(AppTest, "_run", checked)


@pytest.fixture(scope="session")
def open_page() -> Callable[..., AppTest]:
    """Open a page of the app in a new session, with the parameters of its address."""
    return _open


@pytest.fixture(scope="module")
def look_at() -> Callable[..., AppTest]:
    """As ``open_page``, but opened once for all tests of a file: for those that only look, and touch nothing."""
    return cache(_open)


@pytest.fixture(scope="session")
def open_own() -> Callable[..., AppTest]:
    """Open a page with a cohort of one's own, and other values of the session."""

    def open_own(page: str, cohort: Cohort, **state: object) -> AppTest:
        session = _session()
        session.session_state["own_cohort"] = LoadedCohort(loaded_cohorts.OWN, cohort)
        session.session_state["next_cohort"] = loaded_cohorts.OWN
        for key, value in state.items():
            session.session_state[key] = value
        return start_at(session, page).run()

    return open_own


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[Any]]]:
    """Count what a function is asked for, by its first argument's subject; nothing is left from other tests."""

    def count(owner: Any, name: str) -> list[Any]:
        asked: list[Any] = []
        do = getattr(owner, name)

        def counting(first: Any, *arguments: Any, **options: Any) -> Any:
            asked.append(getattr(first, "subject", first))
            return do(first, *arguments, **options)

        monkeypatch.setattr(owner, name, counting)
        return asked

    loaded_cohorts._demo.clear()
    yield count
    loaded_cohorts._demo.clear()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two tiny models, of real and of simulated patients."""
    folder = tmp_path_factory.mktemp("pretrained")
    write_tiny_model(folder / "abide-cc200", "asd", "abide", simulated=False)
    write_tiny_model(folder / "adsim-aal90", "ad", "adsim", simulated=True)
    return folder


@pytest.fixture
def models(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tiny models in the place of the shipped ones."""
    monkeypatch.setattr(model_files, "pretrained_folder", lambda: folder)


@pytest.fixture
def groups(models: None) -> GroupResults:
    """The first one's group results."""
    return load_groups("abide-cc200")


@pytest.fixture
def series(rng) -> np.ndarray:
    return rng.standard_normal((4, 40, N_REGIONS)).cumsum(axis=1)


@pytest.fixture
def own(open_page, series) -> AppTest:
    """The page of subjects with four subjects, two of them controls and one without a group."""
    return bring(open_page("subjects"), *(table_file(series, i) for i in range(4)), phenotypes=PHENOTYPES)


@pytest.fixture
def recordings(rng) -> np.ndarray:
    """Series of three subjects, shape (120, 3, 200)."""
    return rng.standard_normal((120, 3, 200)).cumsum(axis=0).round(6)


@pytest.fixture
def abide(recordings) -> list[Uploaded]:
    """The same, as files of ABIDE."""
    files = [abide_file(f"Site_005000{i}_rois_cc200.1D", recordings[:, i]) for i in range(3)]
    return [Uploaded(name, content) for name, content, _ in files]
