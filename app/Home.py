"""The frame: the page map, the sidebar every page shares, and what happens when a page fails.

Start it with ``streamlit run app/Home.py``. Pages are in ``views/``; all computing is in ``biobgt``.
"""

from pathlib import Path

import streamlit as st
from sidebar import show_sidebar
from widgets import sentences, show_bug

HERE = Path(__file__).parent

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
    with sentences():
        show_sidebar()
        page.run()
except Exception as error:
    show_bug(error)
