"""The whole glossary, behind a button of the sidebar; :func:`views.shared.widgets.explained` gives single terms."""

import streamlit as st

from biobgt.base.references import Term, sorted_terms, work


def offer_glossary() -> None:
    """A button that opens the whole glossary."""
    if st.button("Glossary", key="glossary", type="tertiary", icon=":material/menu_book:"):
        st.dialog("Glossary", width="large")(_show_all)()


def _show_all() -> None:
    for term in sorted_terms():
        st.markdown(f"**{term.term}**: {_whole(term)}")  # our own words, in Markdown


def _whole(term: Term) -> str:
    """All that is said of a term, with whom to cite for it."""
    cited = "; ".join(work(one).short for one in term.citations)
    return f"{term.short} {term.definition}" + (f" ({cited})" if cited else "")
