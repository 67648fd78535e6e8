"""The sidebar that every page shares: which cohort, which subject, and how the brain graph is made; and the tour.

Its choices open from the link, last for the session whatever page is shown, and are written back to the address bar.
"""

from math import inf
from typing import Any

import streamlit as st

from biobgt import Cohort, ConnectomeSettings
from biobgt.base.references import GLOSSARY, cited, in_brackets
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.data.graph import LEVELS, ThresholdRule, levels_of
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.model.pretrained import fitting_model, installed_models
from session.cohorts import DEFAULT_COHORT, OWN, load, own_cohort
from session.link import Link, link_of, read_link, write_address
from session.view import (
    COHORT,
    FITTING,
    IN_EVERY_LINK,
    LEVEL_KEYS,
    MODEL,
    NEXT_COHORT,
    NEXT_LINK,
    REGION,
    SUBJECT,
    VIEW,
    View,
    choose,
    for_widget,
    linked_options,
    session_choices,
)
from views.page_map import PAGES
from views.shared.widgets import ask, caption, escape_markdown, explained, number_format

# Under which the session keeps what of a link could not be used, and the address as it was then; and how far the tour
# is, counted from 0, which is absent where no tour is made.
_LINK_PROBLEMS, _LINK_OPENED, _TOUR = "link_problems", "link_opened", "tour_step"


def show_sidebar() -> View:
    """Show the sidebar and return what it says; pages find it with :func:`session.view.current_view`."""
    _open_link()
    with st.sidebar:
        own = own_cohort()
        titles = dict(DEMO_COHORTS)
        if own is not None:
            name = own.cohort.name
            titles[OWN] = f"{name}, from a project" if name in DEMO_COHORTS.values() else name
        key = st.selectbox(
            "Cohort",
            list(titles),
            format_func=titles.__getitem__,
            key=COHORT,
            persist_state="session",
            help="Simulated demo cohorts, and your own: upload files, fetch a public cohort or open a saved project on "
            "the page Subjects.",
        )
        loaded = load(key)
        if VIEW in st.session_state and st.session_state[VIEW].cohort is not loaded.cohort:
            _follow_cohort(st.session_state[VIEW].cohort, loaded.cohort)
        subject = loaded.cohort[_pick_subject(loaded.cohort)]
        caption(f"Atlas: {loaded.cohort.atlas.title}, {loaded.cohort.atlas.n_regions} regions")
        if loaded.cohort.given is not None:
            st.caption(f"{loaded.cohort.kind.title}, as given")
        model = _pick_model(loaded.cohort)
        view = View(loaded, subject, _pick_settings(loaded.cohort), session_choices(), model)
        _offer_glossary()
        st.caption(NOT_A_DIAGNOSIS)
    st.session_state[VIEW] = view
    link = link_of(view)
    write_address(link)
    opened = st.session_state.setdefault(_LINK_OPENED, link)
    if link == opened and st.session_state[_LINK_PROBLEMS]:  # said until the view changes
        with st.container(key="link_problems"):
            st.warning(escape_markdown(" ".join(st.session_state[_LINK_PROBLEMS])), icon=":material/link_off:")
    return view


def _offer_glossary() -> None:
    """A button that opens the whole glossary; :func:`views.shared.widgets.explained` gives single terms."""

    def show_all() -> None:
        for term in GLOSSARY.values():
            whole = cited(f"{term.short} {term.definition}{in_brackets(term.citations)}")
            st.markdown(f"**{term.term}**: {whole}")  # our own words, in Markdown

    if st.button("Glossary", key="glossary", type="tertiary", icon=":material/menu_book:"):
        st.dialog("Glossary", width="large")(show_all)()


def _open_link() -> None:
    """Take the first run's choices from the address, and a page's request for another view from its last run."""
    if COHORT not in st.session_state:
        link = read_link(st.query_params)
        _follow_link(link.checked(load(link.cohort).cohort))
    if NEXT_COHORT in st.session_state:
        st.session_state[COHORT] = st.session_state.pop(NEXT_COHORT)
    if NEXT_LINK in st.session_state:
        _follow_link(st.session_state.pop(NEXT_LINK))
        st.session_state.pop(_LINK_OPENED, None)  # what could not be used is said again until the view changes


def _follow_link(link: Link) -> None:
    cohort = load(link.cohort).cohort
    always = [one for kind in IN_EVERY_LINK for one in kind.declared().values() if one.link]
    choices = {one.link: one.default_for(cohort) for one in always} | {REGION: "", **link.choices}
    st.session_state.update({COHORT: link.cohort, SUBJECT: link.subject, MODEL: link.model})
    st.session_state.update({name: for_widget(value) for name, value in choices.items()})
    st.session_state[_LINK_PROBLEMS] = link.problems
    choose(link.settings)
    st.session_state.pop(VIEW, None)  # what a link says stays, also where the view before it started with the same


def _follow_cohort(before: Cohort, now: Cohort) -> None:
    """Where a choice is what one cohort starts with, show what the next one starts with: its own networks, for one."""
    chosen = session_choices()
    for name, one in linked_options().items():
        if not one.of_model and name in chosen and chosen[name] == one.default_for(before):
            st.session_state[name] = for_widget(one.default_for(now))
    if before.kind.functional != now.kind.functional:  # a level of one is none of the other
        st.session_state["threshold"] = now.kind.threshold
        st.session_state[LEVEL_KEYS["absolute"]] = levels_of(now.kind)["absolute"].default


def _pick_subject(cohort: Cohort) -> str:
    if st.session_state.get(SUBJECT) not in cohort.ids:
        st.session_state[SUBJECT] = cohort.ids[0]
    groups = {subject.id: subject.group for subject in cohort}
    return st.selectbox(
        "Subject",
        cohort.ids,
        format_func=lambda name: f"{name} · {groups[name]}" if groups[name] else name,
        key=SUBJECT,
        persist_state="session",
    )


def _pick_model(cohort: Cohort) -> str:
    """Ask for the model; which one fits a cohort depends on its atlas and groups."""
    models = installed_models()
    if st.session_state.get(MODEL, FITTING) not in models:
        st.session_state[MODEL] = FITTING
    if not models:
        return FITTING
    fitting = fitting_model(cohort, models)
    return st.selectbox(
        "Model",
        [FITTING, *models],
        format_func=lambda name: name or (f"{fitting} (fits the cohort)" if fitting else "none fits the cohort"),
        key=MODEL,
        persist_state="session",
    )


def _pick_settings(cohort: Cohort) -> ConnectomeSettings:
    st.markdown("**Brain graph**", help=explained("brain-graph", "threshold"))
    ask(ConnectomeSettings, "estimator", "sign", "threshold", cohort=cohort)
    rule: ThresholdRule = st.session_state["threshold"]
    level = ConnectomeSettings().level
    if rule in LEVELS:  # each rule remembers its own level; weights without an upper end are typed
        asked = levels_of(cohort.kind)[rule]
        about: dict[str, Any] = {"min_value": asked.low, "key": LEVEL_KEYS[rule], "persist_state": "session"}
        if asked.high == inf:
            level = st.number_input(asked.title, format="%g", **about)
        else:
            shown = "percent" if asked.in_percent else number_format(asked.step)
            level = st.slider(asked.title, max_value=asked.high, step=asked.step, format=shown, **about)
    ask(ConnectomeSettings, "backbone", cohort=cohort)
    chosen = {name: st.session_state[name] for name in ConnectomeSettings.declared() if name != "level"}
    return ConnectomeSettings(level=float(level), **chosen)


# A tour of five pages: one sentence on what each shows, above it, until one has seen all or had enough.


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
    step = st.session_state.get(_TOUR)
    if step is None:
        return
    stop, last = PAGES[STOPS[step]], step == len(STOPS) - 1
    with st.container(border=True, key="tour"):
        st.markdown(f"**{step + 1} of {len(STOPS)} · {stop.title}** {stop.shows}")
        with st.container(horizontal=True):
            if page != stop.name:
                label, key, target = "Back to the tour", "tour_back", step
            elif last:
                label, key, target = "Bring my subjects", "tour_end", len(STOPS)
            else:
                label, key, target = f"Next: {PAGES[STOPS[step + 1]].title}", "tour_next", step + 1
            forward = st.button(label, key=key, type="primary")
            if st.button("Skip the tour" if not last else "End the tour", key="tour_skip", type="tertiary"):
                del st.session_state[_TOUR]
                st.rerun()
    if forward and target == len(STOPS):
        del st.session_state[_TOUR]
        st.switch_page(PAGES["subjects"].script)
    elif forward:
        _go_to(target)


def _go_to(step: int) -> None:
    st.session_state[_TOUR] = step
    st.switch_page(PAGES[STOPS[step]].script)
