"""The frame: the page map, the sidebar every page shares, and what happens when a page fails.

Start it with ``biobgt app`` or ``streamlit run app/Home.py``: Streamlit finds ``app`` below, serves it, and runs this
file anew, as ``__main__``, for every look at a page. Pages are in ``views/``, what a session holds is in
``session/``; all computing is in ``biobgt``.
"""

import logging
import platform
import traceback
from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent


def _show_page() -> None:
    """Show the page that the address names."""
    from biobgt.figures.register import all_figures
    from views.page_map import PAGES
    from views.shared.figures import Panel
    from views.shared.login import ask_for_login, show_logout
    from views.shared.sidebar import show_sidebar, show_tour
    from views.shared.widgets import input_errors_shown
    from views.subjects.autosave import keep_copies

    # The icon is a file of ours: Streamlit fetches a named one from the network.
    st.set_page_config(page_title="BioBGT Explorer", page_icon=str(_HERE / "icon.svg"), layout="wide")
    st.html(_HERE / "pages.css")
    st.logo(str(_HERE / "logo.svg"), size="large", icon_image=str(_HERE / "icon.svg"))
    pages = [
        st.Page(entry.script, title=entry.menu_title(), icon=entry.icon, url_path=entry.name, default=position == 0)
        for position, entry in enumerate(PAGES.values())
    ]
    page = st.navigation(pages)
    name = page.url_path or next(iter(PAGES))
    try:
        ask_for_login()
        with input_errors_shown():
            view = show_sidebar()
            with st.sidebar:
                show_logout()
            keep_copies(view)
            show_tour(name)
            page.run()
            for figure in all_figures().values():  # those of the register that name this page, with all their options
                if figure.page == name:
                    Panel(figure, asked=tuple(one.name for one in figure.takes.declared().values() if one.link))(view)
    except Exception as error:
        _show_bug(error)


def _show_bug(error: Exception) -> None:
    """Apologise for a bug, with a report to copy: where it happened, without any of the user's data."""
    import biobgt

    logging.getLogger("biobgt.app").exception("A page failed", exc_info=error)
    st.error(
        "Something went wrong in BioBGT Explorer itself; your files are not the cause. "
        "We are sorry. Please send us this report and say what you were doing.",
        icon=":material/bug_report:",
    )
    frames = traceback.extract_tb(error.__traceback__)
    # Without paths or lines of files.
    places = [f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]
    versions = f"biobgt {biobgt.__version__}, streamlit {st.__version__}, Python {platform.python_version()}"
    report = "\n".join([f"{type(error).__name__}: {error}", versions, *places])
    st.code(report, language=None, wrap_lines=True)


if __name__ == "__main__":
    _show_page()
else:
    from starlette.middleware import Middleware

    from linked.component import SCRIPTS
    from session.server import Gate, serve

    app = st.App(__file__, routes=[SCRIPTS], middleware=[Middleware(Gate)], lifespan=serve)
