"""Sessions that open at a page, as a link to it does."""

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash


def start_at(session: AppTest, page: str) -> AppTest:
    """Let a session that has not run yet open at a page, named as in its address.

    Before the first run, ``AppTest.switch_page`` takes the name of the file for the path in the address.
    """
    session._page_hash = "" if page == "home" else calc_hash(page)
    return session
