"""The frame: the page map, the sidebar every page shares, and what happens when a page fails.

Start it with ``biobgt app`` or ``streamlit run app/Home.py``: Streamlit finds ``app`` below, serves it, and runs this
file anew, as ``__main__``, for every look at a page. Pages are in ``views/``; all computing is in ``biobgt``.
"""

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent


def show_page() -> None:
    """Show the page that the address names."""
    from autosave_panel import keep_copy, offer_copies
    from login import ask_for_login, show_logout
    from sidebar import show_sidebar
    from widgets import sentences, show_bug

    # The icon is a file of ours: Streamlit fetches a named one from the network.
    st.set_page_config(page_title="BioBGT Explorer", page_icon=str(HERE / "icon.svg"), layout="wide")
    st.logo(str(HERE / "logo.svg"), size="large", icon_image=str(HERE / "icon.svg"))
    page = st.navigation(
        [
            st.Page("views/home.py", title="Home", icon=":material/home:", default=True),
            st.Page("views/subjects.py", title="Subjects", icon=":material/group:"),
            st.Page("views/hubs.py", title="Hubs", icon=":material/hub:"),
            st.Page("views/modules.py", title="Modules", icon=":material/grid_view:"),
            st.Page("views/attention.py", title="Attention", icon=":material/visibility:"),
            st.Page("views/predict.py", title="Predict", icon=":material/online_prediction:"),
            st.Page("views/models.py", title="Models", icon=":material/model_training:"),
            st.Page("views/export.py", title="Export", icon=":material/ios_share:"),
        ]
    )
    try:
        ask_for_login()
        with sentences():
            view = show_sidebar()
            with st.sidebar:
                show_logout()
            keep_copy(view)
            offer_copies()
            page.run()
    except Exception as error:
        show_bug(error)


if __name__ == "__main__":
    show_page()
else:
    from gate import Gate
    from session_lifetime import serve
    from starlette.middleware import Middleware

    app = st.App(__file__, middleware=[Middleware(Gate)], lifespan=serve)
