"""A cohort and its settings saved as one project file, and opened again."""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from biobgt import Cohort, ConnectomeSettings, InputError
from biobgt.readers.project import PROJECT_SUFFIX, save_project
from session.address import link_of_project, saved_view
from session.keys import EDITION, NEXT_LINK, PROJECT_ATTEMPT, UPLOADERS
from session.loaded_cohorts import OWN, empty_uploaders, keep_own_cohort
from session.uploads import Upload, open_uploaded_project
from session.view import View
from views.shared.widgets import plain

_LONGEST_NAME = 80


@dataclass(frozen=True)
class ProjectAttempt:
    """The last file that could not be opened as a project, and why."""

    file_id: str
    problem: str


def show_project(view: View) -> None:
    """Let the user save what is loaded, or open what was saved."""
    with st.expander("Save or open a project", icon=":material/save:"):
        _show_saving(view)
        uploads = st.session_state.get(UPLOADERS, 0)
        upload: Upload | None = st.file_uploader(
            f"Open a project ({PROJECT_SUFFIX}): it replaces the subjects that you added",
            type=[PROJECT_SUFFIX.removeprefix(".")],
            key=f"project{uploads}",
        )
        if upload is not None:
            _open_once(upload)


def project_file(cohort: Cohort, settings: ConnectomeSettings, values: Mapping[str, str], name: str) -> bytes:
    """Write the project under a name, as the bytes of its file.

    Parameters
    ----------
    cohort : Cohort
    settings : ConnectomeSettings
    values : mapping of str to str
        The view, from :func:`session.address.saved_view`.
    name : str
    """
    stream = io.BytesIO()
    save_project(replace(cohort, name=name), settings, values, stream)
    return stream.getvalue()


def file_name(name: str) -> str:
    """Make a file's name from a project's."""
    bare = re.sub(r"[^\w.-]+", "_", name).strip("._")
    return f"{bare or 'project'}{PROJECT_SUFFIX}"


def _show_saving(view: View) -> None:
    edition = st.session_state.get(EDITION, 0) if view.loaded.key == OWN else 0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(
            "Name of the project",
            value=view.cohort.name[:_LONGEST_NAME],
            max_chars=_LONGEST_NAME,
            key=f"project_name_{view.loaded.key}{edition}",
            width=320,
        )
        name = " ".join(typed.split()) or view.cohort.name
        st.download_button(
            "Save the project",
            # Written when it is asked for, not whenever the page is drawn.
            data=partial(project_file, view.cohort, view.settings, saved_view(view), name),
            file_name=file_name(name),
            mime="application/octet-stream",
            icon=":material/download:",
            on_click="ignore",
            key="save_project",
        )
    st.caption(
        "One file with the subjects' data, groups, phenotypes and atlas, the settings of the sidebar, and those for "
        "hubs and modules. It contains the data: share it only as you would share them. In a terminal, "
        "`biobgt info FILE` and all other commands read it."
    )


def _open_once(upload: Upload) -> None:
    """Open the project, and show it from the next run on; what could not be opened is not tried at every run."""
    attempt: ProjectAttempt | None = st.session_state.get(PROJECT_ATTEMPT)
    if attempt is None or attempt.file_id != upload.file_id:
        try:
            with st.spinner("Opening the project…"):
                project = open_uploaded_project(upload)
        except InputError as error:
            attempt = st.session_state[PROJECT_ATTEMPT] = ProjectAttempt(upload.file_id, str(error))
        else:
            st.session_state.pop(PROJECT_ATTEMPT, None)
            keep_own_cohort(project.cohort)
            st.session_state[NEXT_LINK] = link_of_project(project)
            empty_uploaders()
            st.rerun()
    st.error(plain(attempt.problem), icon=":material/error:")
