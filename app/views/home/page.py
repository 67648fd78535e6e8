"""Home: what this is for, at once; then what is loaded, where to go, what the models are worth, and how to cite."""

import streamlit as st

import biobgt
from biobgt.base.references import REFERENCES
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.data.cohort import GROUP_TITLES, counted_people
from biobgt.model.installed import installed_models
from session.view import View, current_view
from views.home.first_screen import show_first_screen
from views.page_map import PAGES
from views.shared.model_notes import show_headline
from views.shared.widgets import plain

PAPER = "peng2025"  # whose method this implements


def show_page() -> None:
    """Show the page."""
    view = current_view()
    show_first_screen(view)
    _show_loaded(view)
    _show_ways_on()
    _show_models()
    _show_citation(view)


def _show_loaded(view: View) -> None:
    st.subheader(plain(f"Loaded: {view.cohort.name}"))
    with st.container(horizontal=True):
        people = set(view.cohort.persons)
        st.metric("Subjects", len(people), border=True, width=100)
        for group, size in view.cohort.group_people.items():
            st.metric(plain(group), size, border=True, width=100, help=GROUP_TITLES.get(group))
        st.metric("Regions", view.atlas.n_regions, border=True, width=100)
    if len(people) < len(view.cohort):
        st.caption(f"{counted_people(len(people), len(view.cohort))}; means and tests count each person once.")
    for note in view.cohort.notes:
        st.caption(plain(note))
    st.caption(
        "The settings in the sidebar apply to every page and are part of the address, so that a link shows a "
        "colleague the same view of a demo cohort."
    )


def _show_models() -> None:
    """The trained models' worth in a line each."""
    models = installed_models().values()
    if not models:
        return
    st.subheader("How well the trained models do")
    for model in models:
        st.markdown(f"**{plain(model.name)}**")
        show_headline(model.card)


def _show_ways_on() -> None:
    st.subheader("Where to go")
    for page in PAGES.values():
        if page.shows:
            st.page_link(page.script, label=f"**{page.title}**", icon=page.icon)
            st.markdown(f"{page.shows} {page.beyond}")


def _show_citation(view: View) -> None:
    st.subheader("How to cite")
    st.markdown(
        f"Cite the paper whose method this implements, and BioBGT Explorer {biobgt.__version__} itself "
        "(`CITATION.cff` in the project)."
    )
    st.code(REFERENCES[PAPER].bibtex().rstrip(), language="latex", wrap_lines=True)
    if view.atlas.citation:
        st.caption(plain(f"Atlas: {view.atlas.title}. {view.atlas.citation}"))
    st.caption(NOT_A_DIAGNOSIS)


show_page()
