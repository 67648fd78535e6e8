"""Widgets made of options: what an option is called, what it means and what it may be stands with the option."""

from collections.abc import Callable, Sequence
from math import floor, log10
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from biobgt import Cohort
from biobgt.base.options import LARGEST_SEED, Option, Options, Plain
from session.view import for_widget, is_offered, usable

MOST_IN_A_ROW = 4  # choices side by side; more of them are a list to open
FEW_STEPS = 8  # a slider of so few needs less room
SHORT_SLIDER_WIDTH, SLIDER_WIDTH, NUMBER_WIDTH = 140, 265, 140
LIST_WIDTH = 300  # a labelling by its whole name


def ask(kind: type[Options], *names: str, cohort: Cohort, disabled: bool = False) -> None:
    """Ask for some options of a group, each with the widget that suits it; the session keeps the answers.

    Parameters
    ----------
    kind : type of Options
    *names : str
        The options to ask for.
    cohort : Cohort
        What is offered may depend on it.
    disabled : bool
    """
    for name in names:
        ask_for(kind.declared()[name], cohort, disabled=disabled)


def ask_in_row(kind: type[Options], *names: str, cohort: Cohort) -> None:
    """Ask for some options of a group side by side."""
    with in_a_row():
        ask(kind, *names, cohort=cohort)


def in_a_row() -> DeltaGenerator:
    """Where widgets stand side by side, as far as the page is wide enough."""
    return st.container(horizontal=True, vertical_alignment="bottom")


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
    said = text or one.text
    _draw(one, offered, key=key, label=label, text=lambda chosen: cohort.kind.named(said(chosen)), disabled=disabled)


def ask_here(
    one: Option, *, key: str, offered: Sequence[Plain] | None = None, start: Plain = None, width: int | None = None
) -> Any:
    """Ask for one option that stays with its page: links do not name it. Returns the answer.

    Parameters
    ----------
    one : Option
    key : str
        Under which the session keeps the answer.
    offered : sequence of plain values, optional
        In place of what the option allows.
    start : plain value, optional
        What is shown before anything was chosen, in place of the default.
    width : int, optional
        Of a list or a number, in pixels.
    """
    begins = one.default if start is None else start
    if begins is not None:  # Streamlit takes None in the session for a list in which nothing was chosen
        st.session_state.setdefault(key, begins)
    if offered is None:
        offered = one.steps if one.steps is not None else tuple(one.choices or ())
        if offered and one.default is None:
            offered = (None, *offered)
    _draw(one, list(offered), key=key, width=width)
    return st.session_state[key]


def _draw(
    one: Option,
    offered: list[Plain],
    *,
    key: str,
    label: str | None = None,
    text: Callable[[Any], str] | None = None,
    disabled: bool = False,
    width: int | None = None,
) -> None:
    """Draw the widget that suits an option."""
    about: dict[str, Any] = {"key": key, "persist_state": "session", "help": one.help or None, "disabled": disabled}
    title, text = one.title if label is None else label, text or one.text
    if isinstance(one.default, tuple):
        st.multiselect(title, offered, format_func=text, **about)
    elif isinstance(one.default, bool) and not one.shown:
        st.toggle(title, **about)
    elif one.steps is not None and len(offered) > MOST_IN_A_ROW and not one.in_a_row:
        slider = SLIDER_WIDTH if len(offered) > FEW_STEPS else SHORT_SLIDER_WIDTH
        st.select_slider(title, offered, format_func=text, width=slider, **about)
    elif one.types[0] in (int, float) and not _of_a_list(one):
        _draw_number(one, title, width=width or NUMBER_WIDTH, **about)
    elif _fits_a_row(one, offered):
        st.segmented_control(title, offered, format_func=text, required=True, **about)
    else:
        usual = NUMBER_WIDTH if one.types == (int,) else LIST_WIDTH
        st.selectbox(title, offered, format_func=text, width=width or usual, **about)


def _draw_number(one: Option, title: str, **about: Any) -> None:
    """A number within the option's bounds; what must be above a bound is a step above it at least."""
    if one.types == (int,):
        st.number_input(title, min_value=int(one.low or 0), max_value=int(one.high or LARGEST_SEED), step=1, **about)
        return
    step = one.step or 1.0
    low = one.low if one.above is None else one.above + step
    high = None if one.high is None else float(one.high)
    begins: dict[str, Any] = {"value": None} if one.default is None else {}  # empty, and not the least
    st.number_input(title, min_value=low, max_value=high, step=step, format=number_format(step), **begins, **about)


def number_format(step: float) -> str:
    """How a number is written that changes by a step."""
    return f"%.{max(0, -floor(log10(step)))}f"


def _fits_a_row(one: Option, offered: Sequence[Plain]) -> bool:
    if one.in_a_row and one.steps is not None:
        return True
    few = len(offered) <= MOST_IN_A_ROW
    return few and one.default is not None and (one.choices_of is None or one.in_a_row)


def _of_a_list(one: Option) -> bool:
    """Whether an option is one of some values, instead of any number."""
    return one.steps is not None or one.choices is not None or one.choices_of is not None
