"""Widgets made of options: what an option is called, what it means and what it may be stands with the option."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from biobgt import Cohort
from biobgt.options import LARGEST_SEED, Option, Options
from session.choices import for_widget, is_offered, usable

MOST_IN_A_ROW = 4  # choices side by side; more of them are a list to open
FEW_STEPS = 8  # a slider of so few needs less room
SHORT_SLIDER_WIDTH, SLIDER_WIDTH, NUMBER_WIDTH = 140, 265, 140
LIST_WIDTH = 300  # a labelling by its whole name


def ask(kind: type[Options], *names: str, cohort: Cohort, disabled: bool = False) -> None:
    """Ask for some options of a group, each with the widget that suits it; the session keeps the answers."""
    for name in names:
        ask_for(kind.declared()[name], cohort, disabled=disabled)


def ask_for(
    one: Option,
    cohort: Cohort,
    *,
    label: str | None = None,
    text: Callable[[Any], str] | None = None,
    disabled: bool = False,
) -> None:
    """Ask for one option.

    Parameters
    ----------
    one : Option
        With a name in links, under which the session keeps the answer.
    cohort : Cohort
        What is offered may depend on it.
    label : str, optional
        In place of the option's title.
    text : callable, optional
        How people read a value, where that is not for the option to say.
    disabled : bool
    """
    key, offered = one.link, list(one.offered(cohort))
    value = st.session_state.get(key, one.default_for(cohort))
    value = tuple(value) if isinstance(value, list) else value
    if key not in st.session_state or not is_offered(one, value, cohort):
        st.session_state[key] = for_widget(usable(one, value, cohort))
    about: dict[str, Any] = {"key": key, "persist_state": "session", "help": one.help or None, "disabled": disabled}
    title, text = one.title if label is None else label, text or one.text
    if isinstance(one.default, tuple):
        st.multiselect(title, offered, format_func=text, **about)
    elif isinstance(one.default, bool) and not one.shown:
        st.toggle(title, **about)
    elif one.steps is not None and len(offered) > MOST_IN_A_ROW:
        width = SLIDER_WIDTH if len(offered) > FEW_STEPS else SHORT_SLIDER_WIDTH
        st.select_slider(title, offered, format_func=text, width=width, **about)
    elif isinstance(one.default, int) and not isinstance(one.default, bool) and not _of_a_list(one):
        st.number_input(title, min_value=0, max_value=LARGEST_SEED, step=1, width=NUMBER_WIDTH, **about)
    elif len(offered) <= MOST_IN_A_ROW and (one.choices_of is None or one.in_a_row):
        st.segmented_control(title, offered, format_func=text, required=True, **about)
    else:
        width = NUMBER_WIDTH if isinstance(one.default, int) else LIST_WIDTH
        st.selectbox(title, offered, format_func=text, width=width, **about)


def _of_a_list(one: Option) -> bool:
    """Whether an option is one of some values, instead of any number."""
    return one.steps is not None or one.choices is not None or one.choices_of is not None
