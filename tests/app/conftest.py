"""What the tests of the app share: its pages, opened without a browser."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[2] / "app"
sys.path.insert(0, str(APP))  # as `streamlit run` does

TIMEOUT_S = 120


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """Open a page of the app in a new session, with the parameters of its address."""

    def open_page(page: str = "home", **parameters: str) -> AppTest:
        session = AppTest.from_file(str(APP / "Home.py"), default_timeout=TIMEOUT_S)
        for name, value in parameters.items():
            session.query_params[name] = value
        session.run()
        return session if page == "home" else session.switch_page(f"views/{page}.py").run()

    return open_page
