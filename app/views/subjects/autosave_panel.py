"""What is kept where: the copy of the user's subjects on this machine, its switch, and the offer to open it again.

There are copies where the app is used on this machine only. On a server for others they would be other people's.
"""

from collections.abc import Mapping
from uuid import uuid4

import streamlit as st

from biobgt import autosave
from biobgt.wording import counted
from session.access.gate import has_server, is_served_to_others, most_per_file_mb, most_per_session_mb
from session.address import link_of_project, saved_view
from session.keys import (
    COPY_DISMISSED,
    COPY_KEY,
    COPY_OPENED,
    COPY_PROBLEM,
    COPY_SAVED,
    COPY_SWITCH,
    EDITION,
    NEXT_LINK,
)
from session.loaded_cohorts import OWN, empty_uploaders, keep_own_cohort, own_cohort
from session.view import View
from views.shared.widgets import input_errors_shown, plain

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400


def copies_are_kept() -> bool:
    """Whether there can be copies: on this machine only, and not in tests, which share its data folder."""
    return has_server() and not is_served_to_others()


def is_copied() -> bool:
    """Whether a copy of the subjects is kept now: there can be one, and the user wants it."""
    return copies_are_kept() and autosave.is_on(autosave.autosave_folder())


def keep_copy(view: View) -> None:
    """Bring the copy up to date with what is loaded; to be called in every run."""
    if not copies_are_kept():
        return
    folder = autosave.autosave_folder()
    own = own_cohort()
    if own is None or not autosave.is_on(folder):
        key = st.session_state.pop(COPY_KEY, None)
        st.session_state.pop(COPY_SAVED, None)
        if key is not None:
            _forget(key)
        return
    if view.loaded.key == OWN or COPY_SAVED not in st.session_state:
        _save(view, (st.session_state.get(EDITION, 0), {**view.settings.as_dict(), **saved_view(view)}))


def _save(view: View, now: tuple[int, Mapping[str, object]]) -> None:
    own = own_cohort()
    before: tuple[int, Mapping[str, object]] | None = st.session_state.get(COPY_SAVED)
    if own is None or before == now:
        return
    key = st.session_state.setdefault(COPY_KEY, uuid4().hex)
    what = (autosave.autosave_folder(), key, own.cohort, view.settings, saved_view(view))
    st.session_state[COPY_SAVED] = now  # also where it fails: not tried again before something changes
    try:
        if before is None or before[0] != now[0]:
            with st.spinner("Saving a copy of the subjects…"):
                autosave.save_copy(*what)
            autosave.forget_copy(what[0], st.session_state.pop(COPY_OPENED, ""))
        else:
            autosave.save_settings(*what)
        st.session_state.pop(COPY_PROBLEM, None)
    except OSError as error:
        st.session_state[COPY_PROBLEM] = error.strerror or type(error).__name__


def offer_copies() -> None:
    """Offer what an earlier session had, while nothing was loaded in this one."""
    if not copies_are_kept() or own_cohort() is not None or COPY_DISMISSED in st.session_state:
        return
    try:
        found = autosave.copies(autosave.autosave_folder())
    except OSError as error:
        st.session_state[COPY_PROBLEM] = error.strerror or type(error).__name__
        return
    if not found:
        return
    with st.container(border=True):
        st.markdown("**Subjects of an earlier session are kept on this machine.** Open them again?")
        for copy in found:
            with st.container(horizontal=True, vertical_alignment="center"):
                words = f"{copy.name}, {counted(copy.n_subjects, 'subject')}, last used {_ago(copy.age_s)} ago"
                st.text(words, width="stretch")
                opened = st.button("Open", key=f"open_copy_{copy.key}", icon=":material/restore:")
                st.button(
                    "Forget",
                    key=f"forget_copy_{copy.key}",
                    icon=":material/delete:",
                    on_click=_forget,
                    args=(copy.key,),
                )
            if opened:
                with input_errors_shown():
                    _open(copy.key)
        st.button("Not now", key="dismiss_copies", type="tertiary", on_click=_dismiss)


def _open(key: str) -> None:
    """Open the copy; this session's own then takes its place, so that two pages never write the same one."""
    folder = autosave.autosave_folder()
    project = autosave.open_copy(folder, key)
    keep_own_cohort(project.cohort)
    st.session_state[NEXT_LINK] = link_of_project(project)
    st.session_state[COPY_OPENED] = key
    empty_uploaders()
    st.rerun()


def _forget(key: str) -> None:
    try:
        autosave.forget_copy(autosave.autosave_folder(), key)
    except OSError as error:
        st.session_state[COPY_PROBLEM] = error.strerror or type(error).__name__


def _dismiss() -> None:
    st.session_state[COPY_DISMISSED] = True


def show_keeping() -> None:
    """Say how much may be uploaded, and what is kept where; with the switch for the copy."""
    st.caption(caps_sentence())
    st.caption(plain(kept_sentence()))
    if COPY_PROBLEM in st.session_state:
        st.warning(
            plain(
                f"The copy of your subjects could not be written or deleted ({st.session_state[COPY_PROBLEM]}). Save a "
                "project to keep them."
            ),
            icon=":material/save:",
        )
    if copies_are_kept():
        st.session_state[COPY_SWITCH] = autosave.is_on(autosave.autosave_folder())
        st.toggle(
            "Keep a copy on this machine, to open after a reload or a crash",
            key=COPY_SWITCH,
            on_change=_switch,
            help="Switching this off deletes the copies.",
        )


def caps_sentence() -> str:
    """How much may be uploaded, and how to allow more."""
    return (
        f"At most {most_per_file_mb()} MB per file and {most_per_session_mb()} MB in all. `biobgt app --max-upload "
        f"{4 * most_per_file_mb()}` raises this; `biobgt info PATH` reads files of any size in a terminal."
    )


def kept_sentence() -> str:
    """What is kept of the files and the subjects, where and for how long."""
    memory = "kept in memory, which is freed within a minute after you close"
    if not copies_are_kept():
        return (
            "Files stay on the machine that runs this app and are read once. Their contents are "
            f"{memory} or reload the page. Save a project to keep it."
        )
    folder = autosave.autosave_folder()
    if not autosave.is_on(folder):
        return f"Files stay on this machine and are read once. Their contents are {memory} or reload the page."
    return (
        f"Files stay on this machine and are read once. Their contents are {memory} the page, and as a copy in "
        f"{folder}, which only your account can read. The copy is offered after a reload or a crash, and is deleted "
        f"when you forget the subjects, or after {autosave.KEPT_DAYS} days."
    )


def _switch() -> None:
    try:
        autosave.switch(autosave.autosave_folder(), on=bool(st.session_state[COPY_SWITCH]))
        st.session_state.pop(COPY_SAVED, None)
    except OSError as error:
        st.session_state[COPY_PROBLEM] = error.strerror or type(error).__name__


def _ago(seconds: float) -> str:
    """Tell a time in the largest whole unit."""
    for unit, length in (("day", _DAY_S), ("hour", _HOUR_S), ("minute", _MINUTE_S)):
        if seconds >= length:
            return counted(int(seconds // length), unit)
    return "less than a minute"
