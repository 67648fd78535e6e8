"""What pages ask: options as widgets, what only the user knows of a model or an atlas, whether long work shall begin.

What an option is called, what it means and what it may be stands with the option. Long work is done in steps: it waits
for a click or starts by itself, shows how far it is, and can be stopped. Every step keeps its result, so that work that
was stopped, or was interrupted by another choice, goes on where it was.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import floor, log10
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from biobgt import Cohort
from biobgt.base.options import LARGEST_SEED, Option, Options, Plain
from biobgt.base.wording import counted
from biobgt.data.edits import confirm_atlas
from biobgt.model.pretrained import InstalledModel, unsure_atlas
from session.cohorts import change_own_cohort
from session.view import ModelPageOptions, View, for_widget, from_widget, usable
from views.shared.widgets import escape_markdown

_MOST_IN_A_ROW = 4  # choices side by side; more of them are a list to open
_FEW_STEPS = 8  # a slider of so few needs less room
_SHORT_SLIDER_WIDTH, _SLIDER_WIDTH, _NUMBER_WIDTH = 140, 265, 140
_LIST_WIDTH = 300  # a labelling by its whole name

_Step = TypeVar("_Step")


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
    value = from_widget(st.session_state.get(key, one.default_for(cohort)))
    shown = usable(one, value, cohort)
    if key not in st.session_state or shown != value:
        st.session_state[key] = for_widget(shown)
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
    elif one.steps is not None and len(offered) > _MOST_IN_A_ROW and not one.in_a_row:
        slider = _SLIDER_WIDTH if len(offered) > _FEW_STEPS else _SHORT_SLIDER_WIDTH
        st.select_slider(title, offered, format_func=text, width=slider, **about)
    elif one.types[0] in (int, float) and not (one.steps or one.choices or one.choices_of):
        # A number within the option's bounds; what must be above a bound is a step above it at least.
        if one.types == (int,):
            about |= {"min_value": int(one.low or 0), "max_value": int(one.high or LARGEST_SEED), "step": 1}
        else:
            step = one.step or 1.0
            about |= {"min_value": one.low if one.above is None else one.above + step, "step": step}
            about |= {"max_value": None if one.high is None else float(one.high), "format": number_format(step)}
            about |= {"value": None} if one.default is None else {}  # empty, and not the least
        st.number_input(title, width=width or _NUMBER_WIDTH, **about)
    elif (one.in_a_row and one.steps is not None) or (
        len(offered) <= _MOST_IN_A_ROW and one.default is not None and (one.choices_of is None or one.in_a_row)
    ):
        st.segmented_control(title, offered, format_func=text, required=True, **about)
    else:
        usual = _NUMBER_WIDTH if one.types == (int,) else _LIST_WIDTH
        st.selectbox(title, offered, format_func=text, width=width or usual, **about)


def number_format(step: float) -> str:
    """How a number is written that changes by a step."""
    return f"%.{max(0, -floor(log10(step)))}f"


def pick_readout(view: View, network: InstalledModel) -> InstalledModel | None:
    """Ask which cohort's readout of a network is meant; None as long as nobody has said."""
    st.markdown(
        escape_markdown(
            f"{network.name} was trained on {counted(len(network.readouts), 'cohort')} and has a readout for each. "
            "Choose the one whose controls the subjects are to be compared with."
        )
    )
    ask_for(
        ModelPageOptions.declared()["readout"],
        network.cohort,
        text=lambda name: f"{name}: {', '.join(network.readouts[name])}" if name else "Choose a cohort",
    )
    chosen = view.options(ModelPageOptions).readout
    return network.readout(chosen) if chosen in network.readouts else None


def ask_to_confirm_atlas(cohort: Cohort, *, key: str) -> None:
    """Say that only the number of regions tells the atlas, and let the user confirm it before a model is applied."""
    st.warning(escape_markdown(unsure_atlas(cohort)), icon=":material/help:")
    if st.button(escape_markdown(f"Yes, they are the regions of {cohort.atlas.title}, in its order"), key=key):
        change_own_cohort(confirm_atlas(cohort))


def work_through(
    steps: Sequence[_Step],
    do: Callable[[_Step], object],
    is_done: Callable[[_Step], bool],
    *,
    key: str,
    start: str,
    doing: str,
    automatic: bool = False,
) -> bool:
    """Do what is left to do, or offer to; true when nothing is left.

    Parameters
    ----------
    steps : sequence
        Each takes a second or two at most, for between two of them the work can be stopped.
    do : callable
        Does one step and keeps its result.
    is_done : callable
        Whether there is a step's result.
    key : str
        Unique on the page.
    start : str
        What the button says that starts the work.
    doing : str
        What the bar says is counted: "Subject" gives "Subject 3 of 40".
    automatic : bool
        Start without a click, until the user stops it.
    """
    left, total = [step for step in steps if not is_done(step)], len(steps)
    if not left:
        return True
    place, wanted = st.empty(), f"{key}_wanted"
    with place.container():
        if not st.session_state.get(wanted, automatic):
            label = start if len(left) == total else f"{start}: {len(left)} of {total} left"
            begin = partial(st.session_state.update, {wanted: True})
            st.button(label, key=f"{key}_start", icon=":material/play_arrow:", on_click=begin)
            return False
        bar = bar_with_stop(key, partial(st.session_state.update, {wanted: False}))
        for number, step in enumerate(left, start=total - len(left)):
            bar.progress(number / total, text=f"{doing} {number + 1} of {total}")
            do(step)
    place.empty()
    if not automatic:  # another subject, or other settings, are another question
        st.session_state.pop(wanted, None)
    return True


def measure_all(method: Callable[..., object], asked: Sequence[tuple[Any, ...]], **about: Any) -> bool:
    """Measure what is left of a result that is kept, or offer to, as :func:`work_through` does.

    Parameters
    ----------
    method : callable
        Of Measured, under ``@kept``.
    asked : sequence of tuples
        Of whom (Measured), and with which arguments; a step each.
    **about
        As for :func:`work_through`.
    """
    return work_through(asked, lambda one: method(*one), lambda one: one[0].is_kept(method, *one[1:]), **about)


def bar_with_stop(key: str, on_stop: Callable[[], None]) -> DeltaGenerator:
    """Show a bar to be moved on, and the button beside it that stops the work when the bar is next moved.

    Parameters
    ----------
    key : str
        Unique on the page.
    on_stop : callable
        Keeps in the session that the work is not wanted; else the next run would start it again.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, width="stretch")
        st.button("Stop", key=f"{key}_stop", icon=":material/stop:", on_click=on_stop)
    return bar


def move_on(bar: DeltaGenerator, what: str, done: int, total: int) -> None:
    """Say on a bar how many of how many are done: "Read 3 of 40".

    Parameters
    ----------
    bar : DeltaGenerator
    what : str
        Before the numbers: "Read".
    done, total : int
    """
    bar.progress(done / total, text=f"{what} {done} of {total}")
