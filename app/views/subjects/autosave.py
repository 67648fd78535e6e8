"""What is kept where: the copy of the user's subjects on this machine, its switch, and the offer to open it again.

There are copies where the app is used on this machine only. On a server for others they would be other people's.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple
from uuid import uuid4

import streamlit as st

from biobgt import ConnectomeSettings, InputError
from biobgt.base.wording import counted
from biobgt.export import FigureRequest
from biobgt.results.autosave import KEPT_DAYS, ROOM_FOR_RESULTS, Copies, Copy
from biobgt.results.store import FolderStore
from session.cohorts import OWN, brought_files, keep_list, keep_own_cohort, listed_figures, own_cohort
from session.link import link_of_project, saved_view
from session.server import has_server, is_served_to_others, upload_limits_mb
from session.view import EDITION, NEXT_LINK, LoadedCohort, View
from views.shared.widgets import caption, escape_markdown, input_errors_shown

# Under which the session keeps the key of its copy; what the last one says; the one that this session opened, until its
# own has taken its place; why none could be kept; that none is to be offered; and the switch.
_KEY, _SAVED, _OPENED, _PROBLEM = "copy_key", "copy_saved", "copy_opened", "copy_problem"
_DISMISSED, _SWITCH = "copy_dismissed", "copy_switch"


class _Saved(NamedTuple):
    """What a copy says, and of which edition its subjects are."""

    edition: int
    settings: ConnectomeSettings
    view: Mapping[str, str]
    figures: tuple[str, ...]


def _copies_are_kept() -> bool:
    """Whether there can be copies: on this machine only, and not in tests, which share its data folder."""
    return has_server() and not is_served_to_others()


def is_copied() -> bool:
    """Whether a copy of the subjects is kept now: there can be one, and the user wants it."""
    return _copies_are_kept() and Copies().on


def keep_copies(view: View) -> None:
    """Bring the copy up to date, and offer what an earlier session had; to be called in every run."""
    if _copies_are_kept():
        _keep_copy(view)
        _offer_copies()


def _keep_copy(view: View) -> None:
    """Bring the copy up to date with what is loaded."""
    own = own_cohort()
    if own is None or not Copies().on:
        key = st.session_state.pop(_KEY, None)
        st.session_state.pop(_SAVED, None)
        if own is not None:
            own.store.beneath = None
        if key is not None:
            _forget(key)
        return
    before: _Saved | None = st.session_state.get(_SAVED)
    edition, figures = st.session_state.get(EDITION, 0), tuple(request.to_json() for request in listed_figures())
    if view.loaded.key == OWN or before is None:
        now = _Saved(edition, view.settings, saved_view(view), figures)
    else:  # a demo is looked at: what was seen last of the own subjects stays
        now = before._replace(edition=edition, figures=figures)
    if now != before:
        _save(own, before, now)


def _save(own: LoadedCohort, before: _Saved | None, now: _Saved) -> None:
    key = st.session_state.setdefault(_KEY, uuid4().hex)
    copies, what = Copies(), (key, own.cohort, now.settings, now.view, now.figures)
    st.session_state[_SAVED] = now  # also where it fails: not tried again before something changes
    with _problems_noted():
        if before is None or before.edition != now.edition:
            with st.spinner("Saving a copy of the subjects…"):
                opened = st.session_state.pop(_OPENED, "")
                if own.store.beneath is None:  # else the same numbers, and perhaps other groups
                    place = copies.take_results(key, opened)
                    own.store.beneath = FolderStore(place, own.measurements_sha256, room=ROOM_FOR_RESULTS)
                copies.save(*what)
                copies.forget(opened)
        else:
            copies.save(*what, same_subjects=True)
        st.session_state.pop(_PROBLEM, None)


def _offer_copies() -> None:
    """Offer what an earlier session had, while nothing was brought in this one."""
    if own_cohort() is not None or brought_files() or _DISMISSED in st.session_state:
        return
    found: Sequence[Copy] = ()
    with _problems_noted():
        found = Copies().listed()
    if not found:
        return
    with st.container(key="kept_copies", horizontal=True, vertical_alignment="center"):
        st.markdown("**Subjects of an earlier session are kept on this machine.**", width="content")
        with st.popover("Open them again", icon=":material/restore:"):
            for copy in found:
                st.text(f"{copy.name} ({counted(copy.n_subjects, 'subject')}), {copy.written}")
                with st.container(horizontal=True):
                    opened = st.button("Open", key=f"open_copy_{copy.key}", icon=":material/restore:")
                    forget = partial(_forget, copy.key)
                    st.button("Forget", key=f"forget_copy_{copy.key}", icon=":material/delete:", on_click=forget)
                if opened:
                    with input_errors_shown():
                        _open(copy.key)
        dismiss = partial(st.session_state.update, {_DISMISSED: True})
        st.button("Not now", key="dismiss_copies", type="tertiary", on_click=dismiss)


def _open(key: str) -> None:
    """Open the copy; this session's own then takes its place, so that two pages never write the same one."""
    project, figures = Copies().open(key)
    keep_own_cohort(project.cohort)
    requests = listed_figures()  # of this session, before those of the copy
    for text in figures:
        with suppress(InputError):  # one that cannot be read is left out
            requests.append(FigureRequest.from_json(text))
    keep_list(list(dict.fromkeys(requests)))
    st.session_state[NEXT_LINK] = link_of_project(project)
    st.session_state[_OPENED] = key
    st.rerun()


def _forget(key: str) -> None:
    with _problems_noted():
        Copies().forget(key)


@contextmanager
def _problems_noted() -> Iterator[None]:
    """Keep why the disk refused, for :func:`show_keeping` to say."""
    try:
        yield
    except (OSError, InputError) as error:
        st.session_state[_PROBLEM] = getattr(error, "strerror", None) or str(error) or type(error).__name__


def show_keeping() -> None:
    """Say how much may be uploaded, and what is kept where; with the switch for the copy."""
    most_per_file, most_in_all = upload_limits_mb()
    st.caption(
        f"At most {most_per_file} MB per file and {most_in_all} MB in all. `biobgt app --max-upload "
        f"{4 * most_per_file}` raises this; `biobgt info PATH` reads files of any size in a terminal."
    )
    caption(_kept_sentence())
    if problem := st.session_state.get(_PROBLEM):
        said = f"The copy of your subjects could not be written or deleted ({problem}). Save a project to keep them."
        st.warning(escape_markdown(said), icon=":material/save:")
    if _copies_are_kept():
        st.session_state[_SWITCH] = Copies().on
        st.toggle(
            "Keep a copy on this machine, to open after a reload or a crash",
            key=_SWITCH,
            on_change=_switch,
            help="Switching this off deletes the copies.",
        )


def _kept_sentence() -> str:
    """What is kept of the files and the subjects, where and for how long."""
    memory = "kept in memory, which is freed within a minute after you close"
    if not _copies_are_kept():
        return (
            "Files stay on the machine that runs this app and are read once. Their contents are "
            f"{memory} or reload the page. Save a project to keep it."
        )
    copies = Copies()
    if not copies.on:
        return f"Files stay on this machine and are read once. Their contents are {memory} or reload the page."
    return (
        f"Files stay on this machine and are read once. Their contents are {memory} the page, and as a copy in "
        f"{copies.folder}, with your export list and results, which only your account can read. The copy is offered "
        f"after a reload or a crash, and is deleted when you forget the subjects, or after {KEPT_DAYS} days."
    )


def _switch() -> None:
    with _problems_noted():
        Copies().switch(on=bool(st.session_state[_SWITCH]))
        st.session_state.pop(_SAVED, None)
