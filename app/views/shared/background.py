"""How far a run in the background is, followed while the page is open, with a button that stops it."""

from collections.abc import Callable

import streamlit as st

from biobgt.base.wording import counted
from biobgt.study.background import BackgroundRun, RunState
from views.shared.widgets import escape_markdown

_LOOK_EVERY_S = 2.0


@st.fragment(run_every=_LOOK_EVERY_S)
def show_progress(
    run: BackgroundRun, *, key: str, noun: str = "recording", when_ended: Callable[[], None] = lambda: None
) -> None:
    """A bar that follows the process, and a button that stops it; the page runs again at its end.

    Parameters
    ----------
    run : BackgroundRun
    key : str
        Unique on the page.
    noun : str
        What is measured one by one.
    when_ended : callable
    """
    state = run.look()
    if state.state != "running":
        when_ended()
        st.rerun()
    done, total = state.progress.get("done", 0), state.progress.get("total", 0)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}_progress"):
        st.progress(done / total if total else 0.0, text=_progress_words(state, noun), width="stretch")
        if st.button("Stop", key=f"{key}_stop", icon=":material/stop:"):
            run.stop()
            st.rerun()


def _progress_words(state: RunState, noun: str) -> str:
    """How far it is: recordings, how many per second, and the time left; or what the tests are at."""
    progress = state.progress
    if not progress:
        return "Reading the subjects…"
    if progress.get("level") == "group":
        return escape_markdown(str(progress.get("said") or "Writing the report…"))
    done, total = progress.get("done", 0), progress.get("total", 0)
    words = f"Measured {done:,} of {counted(total, noun)}"
    if "per_second" in progress:
        words += f" · {progress['per_second']:.2g} per second · {time_words(progress['seconds_left'])} left"
    return escape_markdown(words)


def time_words(seconds: float) -> str:
    """A time that is left, in words.

    >>> time_words(40), time_words(90), time_words(7300)
    ('40 s', '2 min', '2 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.0f} h"
