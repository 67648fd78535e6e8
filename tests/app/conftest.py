"""What the tests of the app share: its pages, opened without a browser."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from brought_files import Uploaded, abide_text
from page_contents import assert_no_error
from start_page import start_at
from streamlit.testing.v1 import AppTest
from subjects_page import N_REGIONS, PHENOTYPES, table_file
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
    return start_at(session, page).run()


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


@pytest.fixture
def series(rng) -> np.ndarray:
    return rng.standard_normal((4, 40, N_REGIONS)).cumsum(axis=1)


@pytest.fixture
def own(open_page, series):
    """The page of subjects with four subjects, two of them controls and one without a group."""
    page = open_page("subjects")
    page.file_uploader(key="phenotypes0").set_value(PHENOTYPES)
    page.file_uploader(key="files0").set_value([table_file(series, i) for i in range(4)])
    page.run()
    assert_no_error(page)
    return page


@pytest.fixture
def recordings(rng) -> np.ndarray:
    """Series of three subjects, shape (120, 3, 200)."""
    return rng.standard_normal((120, 3, 200)).cumsum(axis=0).round(6)


@pytest.fixture
def abide(recordings) -> list[Uploaded]:
    """The same, as files of ABIDE."""
    return [Uploaded(f"Site_005000{i}_rois_cc200.1D", abide_text(recordings[:, i])) for i in range(3)]
