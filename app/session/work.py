"""Long work in steps: it waits for a click or starts by itself, shows how far it is, and can be stopped.

Every step keeps its result, so that work that was stopped, or was interrupted by another choice, goes on where it was.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

Step = TypeVar("Step")


def work_through(
    steps: Sequence[Step],
    do: Callable[[Step], object],
    is_done: Callable[[Step], bool],
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
    place = st.empty()
    with place.container():
        if not st.session_state.get(_wanted(key), automatic):
            st.button(
                start if len(left) == total else f"{start}: {len(left)} of {total} left",
                key=f"{key}_start",
                icon=":material/play_arrow:",
                on_click=_want,
                args=(key, True),
            )
            return False
        bar = bar_with_stop(key, partial(_want, key, False))
        for number, step in enumerate(left, start=total - len(left)):
            bar.progress(number / total, text=f"{doing} {number + 1} of {total}")
            do(step)
    place.empty()
    if not automatic:  # another subject, or other settings, are another question
        st.session_state.pop(_wanted(key), None)
    return True


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


def _wanted(key: str) -> str:
    return f"{key}_wanted"


def _want(key: str, wanted: bool) -> None:
    st.session_state[_wanted(key)] = wanted
