"""The frame: the page map, the sidebar every page shares, and what happens when a page fails.

Start it with ``biobgt app`` or ``streamlit run app/Home.py``: Streamlit finds ``app`` below, serves it, and runs this
file anew, as ``__main__``, for every look at a page. Pages are in ``views/``, what a session holds is in
``session/``; all computing is in ``biobgt``.
"""

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
# On a narrow page the sidebar leaves more of it to the figures; Streamlit's own is 300 px wide at any width.
NARROW = """<style>@media (max-width: 1000px) {
[data-testid="stSidebar"][data-collapsed="false"] {width: 30vw !important; min-width: 200px !important}
[data-testid="stSidebarContent"] {padding-left: 0.25rem; padding-right: 0.25rem}
}</style>"""


def show_page() -> None:
    """Show the page that the address names."""
    from views.page_map import PAGES
    from views.shared.figures import show_further_figures
    from views.shared.login import ask_for_login, show_logout
    from views.shared.sidebar import show_sidebar, show_tour
    from views.shared.widgets import input_errors_shown, show_bug
    from views.subjects.autosave import keep_copy, offer_copies

    # The icon is a file of ours: Streamlit fetches a named one from the network.
    st.set_page_config(page_title="BioBGT Explorer", page_icon=str(HERE / "icon.svg"), layout="wide")
    st.html(NARROW)
    st.logo(str(HERE / "logo.svg"), size="large", icon_image=str(HERE / "icon.svg"))
    pages = [
        st.Page(entry.script, title=entry.menu_title(), icon=entry.icon, url_path=entry.name, default=position == 0)
        for position, entry in enumerate(PAGES.values())
    ]
    page = st.navigation(pages)
    try:
        ask_for_login()
        with input_errors_shown():
            view = show_sidebar()
            with st.sidebar:
                show_logout()
            keep_copy(view)
            offer_copies()
            show_tour(page.url_path or next(iter(PAGES)))
            page.run()
            show_further_figures(view, page.url_path or next(iter(PAGES)))
    except Exception as error:
        show_bug(error)


if __name__ == "__main__":
    show_page()
else:
    from starlette.middleware import Middleware

    from session.server import Gate, serve

    app = st.App(__file__, middleware=[Middleware(Gate)], lifespan=serve)
