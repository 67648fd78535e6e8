"""Where the user brings files or a project, how the files are read, and the reader's questions to the user."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from biobgt import ChoiceNeeded, ImageOptions, InputError, ReadOptions
from biobgt.base.wording import counted
from biobgt.data.atlas import BUNDLED, UNKNOWN_ATLAS
from biobgt.readers import readable_suffixes
from biobgt.readers.discover import printable
from biobgt.readers.phenotypes import TABLE_SUFFIXES
from biobgt.readers.project import PROJECT_SUFFIX, open_project, save_project
from biobgt.readers.recognise import ATLAS_SUFFIXES
from session.cohorts import (
    OWN,
    Upload,
    UploadedFiles,
    brought_files,
    earlier_subjects,
    keep_own_cohort,
    own_cohort,
    read_uploaded,
    take_in,
)
from session.link import link_of_project, saved_view
from session.view import ANSWERS, ATTEMPT, BATCH, EDITION, NEXT_LINK, UPLOADERS, View
from views.shared import widgets
from views.shared.widgets import caption, escape_markdown
from views.subjects.autosave import show_keeping

# Under which the session keeps whether files are added to what is loaded, the files that the answers are about, and the
# last file that could not be opened as a project, and why.
_ADDING, _ANSWERED_FILES, _PROJECT_ATTEMPT = "adding", "answered_files", "project_attempt"
OWN_TABLE, OWN_TABLE_TITLE = "own table", "My own atlas table"
UNKNOWN_TITLE = "Another atlas, or not known"
UNKNOWN_IN_LIST = f"{UNKNOWN_TITLE}: regions are numbered"
_OWN_NAME = "Your files"
_LONGEST_NAME = 80  # of a project
_RECOGNISE = "recognise"
_STOPPED = "not read, reading was stopped"
_WIDTH = 440  # px, of what is asked about images: titles are sentences


def show_uploads() -> bool:
    """Ask for files and read them; true while there are files that became no subjects."""
    uploaded = _ask_for_files()
    if uploaded is not None:
        _read_once(uploaded)
    else:
        st.session_state.pop(ATTEMPT, None)  # nothing is asked about files that are gone
    _show_attempt()
    return uploaded is not None and _show_waiting_files(uploaded.files)


def _ask_for_files() -> UploadedFiles | None:
    """Ask for files, phenotypes and the atlas; None while there are no files.

    Files fold away once they are there. The phenotype table stays in sight: groups come with it.
    """
    uploads = st.session_state.setdefault(UPLOADERS, 0)  # another number empties the uploaders
    n_files, nothing_loaded = brought_files(), own_cohort() is None
    added = f"Add or remove files: {counted(n_files, 'file')} added" if n_files else "Add your own subjects"
    with st.expander(added, icon=":material/upload_file:", expanded=not n_files and nothing_loaded):
        adding = st.container()
        loose: Sequence[Upload] = st.file_uploader(
            "Region time series, connectivity matrices or images: one or more files, or a .zip archive",
            accept_multiple_files=True,
            key=f"files{uploads}",
            help=f"{', '.join(readable_suffixes())}, .zip",
        )
        folder: Sequence[Upload] = st.file_uploader(
            "Or a whole folder with its sub-folders, such as fMRIPrep's output",
            accept_multiple_files="directory",
            key=f"folder{uploads}",
            help="Use the button: browsers do not pass on the names of sub-folders when a folder is dropped here. "
            "Hidden files and files that are not data are skipped.",
        )
        files = [*loose, *folder]
        with adding:
            _ask_whether_to_add(files)
        choices = [_RECOGNISE, *BUNDLED, OWN_TABLE, UNKNOWN_ATLAS]
        titles = {name: f"{about.title}, {about.n_regions} regions" for name, about in BUNDLED.items()}
        titles |= {_RECOGNISE: "Recognise it from region names or file names", OWN_TABLE: OWN_TABLE_TITLE}
        titles |= {UNKNOWN_ATLAS: UNKNOWN_IN_LIST}
        atlas = st.selectbox("Atlas", choices, format_func=titles.__getitem__, key=f"atlas{uploads}")
        table = ask_for_atlas_table(f"table{uploads}") if atlas == OWN_TABLE else None
        labels, image = _ask_about_images(uploads)
        show_keeping()
    phenotypes: Upload | None = st.file_uploader(
        "Phenotype table: subject ids, groups and further columns (optional)",
        type=TABLE_SUFFIXES,
        key=f"phenotypes{uploads}",
    )
    if not files:
        if phenotypes is not None:
            st.info("Add the subjects' files as well: a phenotype table alone holds no data to show.")
        return None
    return UploadedFiles(
        files=files,
        phenotypes=phenotypes,
        atlas=None if atlas in (_RECOGNISE, OWN_TABLE) else atlas,
        atlas_table=table,
        label_image=labels,
        image=image,
        answers=_answers_about(frozenset(upload.file_id for upload in files)),
    )


def _ask_about_images(uploads: int) -> tuple[Upload | None, ImageOptions]:
    """Ask how series are taken from images; the defaults smooth, filter and regress nothing."""
    with_labels = tuple(key for key, about in BUNDLED.items() if about.label_image is not None or about.surface)
    asked = dict(ImageOptions.declared())
    with st.popover("How images are read", icon=":material/tune:"):
        bundled = widgets.ask_here(
            asked.pop("labels"), key=f"bundled_labels{uploads}", offered=(None, *with_labels), width=_WIDTH
        )
        labels: Upload | None = st.file_uploader(
            "Or a label image of your own (or a .dlabel.nii file for dense CIFTI series); without either, series are "
            "taken from spheres around the atlas's coordinates. Add .label.gii files with the GIfTI series instead.",
            type=["nii", "gz"],
            key=f"labels{uploads}",
        )
        others = {name: widgets.ask_here(one, key=f"{name}{uploads}", width=_WIDTH) for name, one in asked.items()}
    return labels, ImageOptions(labels=bundled, **others)


def _ask_whether_to_add(files: Sequence[Upload]) -> None:
    """Ask what becomes of the subjects that were loaded before these files, if there are any."""
    own = own_cohort()
    loaded, file_ids = None if own is None else own.cohort, frozenset(upload.file_id for upload in files)
    earlier = earlier_subjects(loaded, st.session_state.get(BATCH), file_ids)
    if earlier is None:
        return
    st.session_state.setdefault(_ADDING, True)
    titles = {True: f"added to the {counted(len(earlier), 'subject')} loaded", False: "read instead of them"}
    st.radio(
        "New files are",
        list(titles),
        format_func=titles.__getitem__,
        key=_ADDING,
        horizontal=True,
        help="Subjects that stay loaded keep the groups that you set; subjects that you removed stay removed.",
    )


def ask_for_atlas_table(key: str) -> Upload | None:
    """Ask for the table; None while there is none."""
    table: Upload | None = st.file_uploader(
        "Atlas table: columns x, y, z and label, or a BrainNet Viewer .node file", type=ATLAS_SUFFIXES, key=key
    )
    return table


@dataclass(frozen=True)
class _Attempt:
    """The last reading: of what, and the question or the sentence it ended with, if it did not end well, or at all.

    ``state`` is what the files wait for; empty once they are subjects.
    """

    signature: tuple[object, ...]
    state: str = ""
    question: ChoiceNeeded | None = None
    problem: str | None = None


def _read_once(uploaded: UploadedFiles) -> None:
    """Read what was uploaded, unless that was just done; the sidebar shows it from the next run on."""
    adding = bool(st.session_state.get(_ADDING, True))
    signature = (*uploaded.signature(), adding)
    attempt: _Attempt | None = st.session_state.get(ATTEMPT)
    if attempt is not None and attempt.signature == signature:
        return
    place = st.empty()
    with place.container():
        stopped = _Attempt(signature, _STOPPED)
        bar = widgets.bar_with_stop("reading", partial(st.session_state.update, {ATTEMPT: stopped}))
    try:
        read = read_uploaded(uploaded, name=_OWN_NAME, progress=partial(widgets.move_on, bar, "Read"))
        # With those who were there before, and with what was changed by hand.
        own, batch = own_cohort(), st.session_state.get(BATCH)
        loaded = None if own is None else own.cohort
        cohort, taken = take_in(read, loaded, batch, file_ids=uploaded.file_ids, adding=adding)
        keep_own_cohort(cohort, from_uploaders=True)
        st.session_state[BATCH] = taken
    except ChoiceNeeded as question:
        st.session_state[ATTEMPT] = _Attempt(signature, "waiting for your answer", question)
    except InputError as error:
        st.session_state[ATTEMPT] = _Attempt(signature, "could not be read", problem=str(error))
    else:
        st.session_state[ATTEMPT] = _Attempt(signature)
        st.rerun()
    place.empty()


def _show_attempt() -> None:
    """Show the reader's question, or why nothing was read."""
    attempt: _Attempt = st.session_state.get(ATTEMPT) or _Attempt(())
    if attempt.state == _STOPPED:
        st.info("Reading was stopped. No subjects were added.", icon=":material/stop:")
        again = partial(st.session_state.pop, ATTEMPT, None)
        st.button("Read the files", key="reading_start", icon=":material/play_arrow:", on_click=again)
    if attempt.problem is not None:
        st.error(escape_markdown(attempt.problem), icon=":material/error:")
    answers = st.session_state.get(ANSWERS, {})
    if attempt.question is not None:
        _ask(attempt.question, answers)
    if answers:
        said = "; ".join(f"{option}: {_choice_title(option, choice)}" for option, choice in answers.items())
        caption(f"Your answers: {said}.")
        st.button("Ask me again", on_click=partial(st.session_state.pop, ANSWERS, None))


def _show_waiting_files(files: Sequence[Upload]) -> bool:
    """List the files that became no subjects, and what they wait for; false where all were read."""
    attempt: _Attempt | None = st.session_state.get(ATTEMPT)
    if attempt is None or not attempt.state:
        return False
    st.subheader("Your files")
    st.caption(f"No subjects yet from {counted(len(files), 'file')}.")
    rows = [
        {"File": printable(file.name), "Size (kB)": file.getbuffer().nbytes / 1000, "State": attempt.state}
        for file in files
    ]
    height = widgets.TABLE_HEIGHT if len(rows) > widgets.MOST_ROWS else "auto"
    alt = "Files that were brought, and what each waits for"
    widgets.show_table(rows, key="waiting_files", formats={"Size (kB)": "%.1f"}, height=height, alt=alt)
    return True


def _ask(question: ChoiceNeeded, answers: Mapping[str, str]) -> None:
    """A button for each answer, which says what would be read then."""
    with st.container(border=True, key=f"question_{question.option}"):
        st.markdown(escape_markdown(question.question))
        for i, choice in enumerate(question.choices):
            consequence = question.consequences.get(choice, "")
            said = f"**{escape_markdown(_choice_title(question.option, choice))}**"
            said += f": {escape_markdown(consequence)}" if consequence else ""
            answer = partial(st.session_state.update, {ANSWERS: {**answers, question.option: choice}})
            st.button(said, key=f"answer_{question.option}{i}", on_click=answer)


def _choice_title(option: str, choice: str) -> str:
    if option == "atlas":
        return UNKNOWN_TITLE if choice == UNKNOWN_ATLAS else BUNDLED[choice].title
    declared = ReadOptions.declared()
    return declared[option].text(choice) if option in declared else choice


def _answers_about(file_ids: frozenset[str]) -> dict[str, str]:
    """The answers, while no file has come that they were not given about: another file may lie otherwise."""
    if not file_ids <= st.session_state.setdefault(_ANSWERED_FILES, file_ids):
        st.session_state.pop(ANSWERS, None)
    if not st.session_state.get(ANSWERS):
        st.session_state[_ANSWERED_FILES] = file_ids
    return dict(st.session_state.get(ANSWERS, {}))


def show_project(view: View) -> None:
    """Let the user save what is loaded, or open what was saved."""
    with st.expander("Save or open a project", icon=":material/save:"):
        edition = st.session_state.get(EDITION, 0) if view.loaded.key == OWN else 0
        with widgets.in_a_row():
            typed = st.text_input(
                "Name of the project",
                value=view.cohort.name[:_LONGEST_NAME],
                max_chars=_LONGEST_NAME,
                key=f"project_name_{view.loaded.key}{edition}",
                width=320,
            )
            name = " ".join(typed.split()) or view.cohort.name

            def write() -> bytes:
                stream = io.BytesIO()
                save_project(replace(view.cohort, name=name), view.settings, saved_view(view), stream)
                return stream.getvalue()

            widgets.offer_file("Save the project", write, _file_name(name), key="save_project")
        st.caption(
            "One file with the subjects' data, groups, phenotypes and atlas, the settings of the sidebar, and those "
            "for hubs and modules. It contains the data: share it only as you would share them. In a terminal, "
            "`biobgt info FILE` and all other commands read it."
        )
        uploads = st.session_state.get(UPLOADERS, 0)
        upload: Upload | None = st.file_uploader(
            f"Open a project ({PROJECT_SUFFIX}): it replaces the subjects that you added",
            type=[PROJECT_SUFFIX.removeprefix(".")],
            key=f"project{uploads}",
        )
        if upload is not None:
            _open_once(upload)


def _file_name(name: str) -> str:
    """Make a file's name from a project's."""
    bare = re.sub(r"[^\w.-]+", "_", name).strip("._")
    return f"{bare or 'project'}{PROJECT_SUFFIX}"


def _open_once(upload: Upload) -> None:
    """Open the project, and show it from the next run on; what could not be opened is not tried at every run."""
    refused, problem = st.session_state.get(_PROJECT_ATTEMPT, ("", ""))
    if refused != upload.file_id:
        try:
            with st.spinner("Opening the project…"):
                project = open_project(io.BytesIO(upload.getbuffer()))
        except InputError as error:
            problem = str(error)
            st.session_state[_PROJECT_ATTEMPT] = (upload.file_id, problem)
        else:
            st.session_state.pop(_PROJECT_ATTEMPT, None)
            keep_own_cohort(project.cohort)
            st.session_state[NEXT_LINK] = link_of_project(project)
            st.rerun()
    st.error(escape_markdown(problem), icon=":material/error:")
