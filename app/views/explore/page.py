"""Explore: the brain, the matrix, the curves and the people of a cohort on one screen, linked by region.

Tiles show figures of the register. The browser holds what it needs to follow the cursor and γ; the rest is asked. The
screen is about one subject, about the groups of a model, or about the difference of two groups of the cohort.
"""

from collections.abc import Mapping

import streamlit as st

from session.view import DIFFERENCE, GROUP, ONE_SUBJECT, OWN_GROUPS, PageOptions, current_view
from views.explore.difference import DifferenceScreen
from views.explore.group import GroupScreen, OwnGroupScreen
from views.explore.screen import DETAILS, Screen
from views.explore.subject import SubjectScreen
from views.page_map import PAGES
from views.shared.widgets import input_errors_shown, no_models

# The screen takes the width and the height of the window, so that nothing is scrolled.
_WHOLE_WINDOW = """<style>
[data-testid="stMainBlockContainer"] {padding: 2.6rem 1rem 0 1rem; max-width: none}
body:has(.st-key-kept_copies, .st-key-link_problems) {--notices: 4rem}
[class*="st-key-explore_"][class*="_parts"] {height: 0; overflow: hidden; position: absolute}
:has(> .st-key-explore_work) {position: fixed; bottom: 4px; right: 16px; width: auto; max-width: 560px; z-index: 9}
</style>"""
_SCREENS: Mapping[str, type[Screen]] = {
    ONE_SUBJECT: SubjectScreen,
    GROUP: GroupScreen,
    DIFFERENCE: DifferenceScreen,
}


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    if details := st.session_state.pop(DETAILS, None):
        st.switch_page(PAGES[details].script)
    st.html(_WHOLE_WINDOW)
    mode = view.options(PageOptions).explore_mode
    with input_errors_shown():
        if mode == GROUP and view.model_shown is None:
            no_models()
        else:
            beside = mode == GROUP and view.options(PageOptions).explore_whose == OWN_GROUPS
            (OwnGroupScreen if beside else _SCREENS[mode])(view).show()


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
