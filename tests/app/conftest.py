"""What the tests of the app share: its pages, opened without a browser."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from tiny_models import write_tiny_model

from biobgt.model import pretrained
from biobgt.model.pretrained import GroupResults, load_groups

APP = Path(__file__).resolve().parents[2] / "app"
sys.path.insert(0, str(APP))  # as `streamlit run` does

TIMEOUT_S = 120


def _open(page: str = "home", **parameters: str) -> AppTest:
    session = AppTest.from_file(str(APP / "Home.py"), default_timeout=TIMEOUT_S)
    for name, value in parameters.items():
        session.query_params[name] = value
    if page != "home":
        session.switch_page(f"views/{page}.py")  # at once, as a link to the page does
    return session.run()


@pytest.fixture(scope="session")
def open_page() -> Callable[..., AppTest]:
    """Open a page of the app in a new session, with the parameters of its address."""
    return _open


@pytest.fixture(scope="module")
def look_at() -> Callable[..., AppTest]:
    """As ``open_page``, but opened once for all tests of a file: for those that only look, and touch nothing."""
    return cache(_open)


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
    monkeypatch.setattr(pretrained, "pretrained_folder", lambda: folder)


@pytest.fixture
def groups(models: None) -> GroupResults:
    """The first one's group results."""
    return load_groups("abide-cc200")
