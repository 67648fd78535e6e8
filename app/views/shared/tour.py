"""A tour of five pages: one sentence on what each shows, above it, until one has seen all or had enough."""

import streamlit as st

from session.keys import COHORT, NEXT_COHORT, TOUR
from session.loaded_cohorts import DEFAULT_COHORT, OWN
from views.page_map import PAGES

STOPS = ("subjects", "hubs", "modules", "attention", "export")


def start_tour() -> None:
    """Go to the first stop, with a demo cohort."""
    if st.session_state.get(COHORT) == OWN:
        st.session_state[NEXT_COHORT] = DEFAULT_COHORT
    _go_to(0)


def show_tour(page: str) -> None:
    """Say what this page shows, where the tour has come to it; on other pages offer the way back to it.

    Parameters
    ----------
    page : str
        The name of the page that is shown.
    """
    step = st.session_state.get(TOUR)
    if step is None:
        return
    stop, last = PAGES[STOPS[step]], step == len(STOPS) - 1
    with st.container(border=True, key="tour"):
        st.markdown(f"**{step + 1} of {len(STOPS)} · {stop.title}** {stop.shows}")
        with st.container(horizontal=True):
            if page != stop.name:
                forward = st.button("Back to the tour", key="tour_back", type="primary")
                target = step
            elif last:
                forward = st.button("Bring my subjects", key="tour_end", type="primary")
                target = len(STOPS)
            else:
                following = PAGES[STOPS[step + 1]].title
                forward = st.button(f"Next: {following}", key="tour_next", type="primary")
                target = step + 1
            if st.button("Skip the tour" if not last else "End the tour", key="tour_skip", type="tertiary"):
                del st.session_state[TOUR]
                st.rerun()
    if forward and target == len(STOPS):
        del st.session_state[TOUR]
        st.switch_page(PAGES["subjects"].script)
    elif forward:
        _go_to(target)


def _go_to(step: int) -> None:
    st.session_state[TOUR] = step
    st.switch_page(PAGES[STOPS[step]].script)
