"""Subjects: bring your own, see what was read and what was refused, the quality of each, and one subject's data."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

import streamlit as st
from autosave_panel import show_keeping
from fetch_panel import show_fetching
from loaded import View
from long_work import bar_with_stop
from panels import show_connectivity, show_series
from project_panel import show_project
from state import ADDING, ANSWERS, ATTEMPT, BATCH, OWN, UPLOADERS, current_view, keep_own_cohort, own_cohort
from streamlit.delta_generator import DeltaGenerator
from subject_table import show_atlas, show_reading, show_remarks, show_subject_table
from uploads import Brought, Upload, earlier_subjects, read_brought, take_in
from widgets import heading, plain, sentences

from biobgt import ChoiceNeeded, Cohort, ImageOptions, InputError
from biobgt.atlas import BUNDLED, UNKNOWN_ATLAS
from biobgt.readers.images import Confounds
from biobgt.spreadsheets import written
from biobgt.wording import counted

OWN_NAME = "Your files"
RECOGNISE, OWN_TABLE = "recognise", "own table"
ANSWERED_FILES = "answered_files"  # the files that the answers are about
_CHOICE_TITLES = {
    "series": "region time series",
    "connectivity": "a connectivity matrix",
    "time-region": "rows are time points, columns are regions",
    "region-time": "rows are regions, columns are time points",
    "yes": "the first line is a header",
    "no": "the first line is data",
    "first": "subjects lie along the first axis",
    "last": "subjects lie along the last axis",
    **{name: about.title for name, about in BUNDLED.items()},
    UNKNOWN_ATLAS: "another atlas, or not known",
}


@dataclass(frozen=True)
class Attempt:
    """The last reading: of what, and the question or the sentence it ended with, if it did not end well, or at all."""

    signature: tuple[object, ...]
    question: ChoiceNeeded | None = None
    problem: str | None = None
    stopped: bool = False


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Subjects")
    with st.expander("Bring your own subjects", icon=":material/upload_file:", expanded=True):
        brought = _ask_for_files()
        if brought is not None:
            _read_once(brought)
        _show_attempt()
    show_fetching()
    show_project(view)
    own = own_cohort()
    if view.loaded.key == OWN and own is not None:
        show_reading(own.cohort)
        show_subject_table(own.cohort)
        show_atlas(own.cohort)
    _show_cohort(view)
    _show_subject(view)


def _ask_for_files() -> Brought | None:
    """Ask for files, phenotypes and the atlas; None while there are no files."""
    uploads = st.session_state.setdefault(UPLOADERS, 0)  # another number empties the uploaders
    adding = st.container()
    loose: Sequence[Upload] = st.file_uploader(
        "Region time series, connectivity matrices or images, one or many, or a .zip",
        accept_multiple_files=True,
        key=f"files{uploads}",
        help=".1D, .csv, .tsv, .txt, .npy, .npz, .mat, .h5, .nii, .nii.gz, .zip",
    )
    folder: Sequence[Upload] = st.file_uploader(
        "Or a folder with its sub-folders, such as fMRIPrep's",
        accept_multiple_files="directory",
        key=f"folder{uploads}",
        help="Choose it with the button: a folder that is dropped comes without the names of its sub-folders. Hidden "
        "files are left out, and what is no data is left aside.",
    )
    files = [*loose, *folder]
    with adding:
        _ask_whether_to_add(files)
    phenotypes: Upload | None = st.file_uploader(
        "Phenotype table: subject ids, groups and further columns (optional)",
        type=["csv", "tsv", "xlsx"],
        key=f"phenotypes{uploads}",
    )
    atlas, table = _ask_for_atlas(uploads)
    labels, image = _ask_about_images(uploads)
    show_keeping()
    if not files:
        if phenotypes is not None:
            st.info("Drop the subjects' files as well; a phenotype table alone has nobody to describe.")
        return None
    return Brought(
        files=files,
        phenotypes=phenotypes,
        atlas=atlas,
        atlas_table=table,
        label_image=labels,
        image=image,
        answers=_answers_about(files),
    )


def _answers_about(files: Sequence[Upload]) -> dict[str, str]:
    """The answers, while no file has come that they were not given about: another file may lie otherwise."""
    ids = frozenset(upload.file_id for upload in files)
    if not ids <= st.session_state.setdefault(ANSWERED_FILES, ids):
        st.session_state.pop(ANSWERS, None)
    if not st.session_state.get(ANSWERS):
        st.session_state[ANSWERED_FILES] = ids
    return dict(st.session_state.get(ANSWERS, {}))


def _ask_for_atlas(uploads: int) -> tuple[str | None, Upload | None]:
    """Ask for a bundled atlas, none of them, or a table of the user's own; both are None where the files say it."""
    choices = [RECOGNISE, *BUNDLED, OWN_TABLE, UNKNOWN_ATLAS]
    atlas = st.selectbox("Atlas", choices, format_func=_atlas_title, key=f"atlas{uploads}")
    if atlas != OWN_TABLE:
        return None if atlas == RECOGNISE else atlas, None
    table: Upload | None = st.file_uploader(
        "Atlas table: columns x, y, z and label, or a BrainNet Viewer .node file",
        type=["csv", "tsv", "node"],
        key=f"table{uploads}",
    )
    return None, table


def _atlas_title(name: str) -> str:
    if name in BUNDLED:
        return f"{BUNDLED[name].title}, {BUNDLED[name].n_regions} regions"
    others = {RECOGNISE: "As region names or file names say", OWN_TABLE: "My own table"}
    return others.get(name, "Another one, or not known: regions by number")


def _ask_about_images(uploads: int) -> tuple[Upload | None, ImageOptions]:
    """Ask how series are taken from images; the defaults smooth, filter and regress nothing."""
    with st.popover("How images are read", icon=":material/tune:"):
        labels: Upload | None = st.file_uploader(
            "Label image of the regions; without one, spheres around the atlas's coordinates",
            type=["nii", "gz"],
            key=f"labels{uploads}",
        )
        radius = st.number_input("Radius of spheres (mm)", min_value=1.0, value=5.0, key=f"radius{uploads}")
        tr = st.number_input("TR (s); empty takes the header's", value=None, min_value=0.01, key=f"tr{uploads}")
        smoothing = st.number_input("Smoothing (mm FWHM)", value=None, min_value=0.1, key=f"smoothing{uploads}")
        high_pass = st.number_input(
            "High-pass (Hz)", value=None, min_value=0.001, format="%.3f", key=f"high_pass{uploads}"
        )
        low_pass = st.number_input(
            "Low-pass (Hz)", value=None, min_value=0.001, format="%.3f", key=f"low_pass{uploads}"
        )
        confounds = st.selectbox(
            "fMRIPrep confounds, dropped beside the images",
            [None, *get_args(Confounds)],
            format_func=lambda strategy: strategy or "none",
            key=f"confounds{uploads}",
        )
    return labels, ImageOptions(
        radius_mm=radius,
        tr=tr,
        smoothing_mm=smoothing,
        low_pass=low_pass,
        high_pass=high_pass,
        confounds=confounds,
    )


def _ask_whether_to_add(files: Sequence[Upload]) -> None:
    """Ask what becomes of the subjects that were loaded before these files, if there are any."""
    own, batch = own_cohort(), st.session_state.get(BATCH)
    loaded = None if own is None else own.cohort
    earlier = earlier_subjects(loaded, batch, frozenset(upload.file_id for upload in files))
    if earlier is None:
        return
    st.session_state.setdefault(ADDING, True)
    titles = {True: f"added to the {counted(len(earlier), 'subject')} loaded", False: "read in their place"}
    st.radio(
        "New files are",
        list(titles),
        format_func=titles.__getitem__,
        key=ADDING,
        horizontal=True,
        help="Groups that you set and subjects that you removed stay so where the subjects stay.",
    )


def _read_once(brought: Brought) -> None:
    """Read what was brought, unless that was just done; the sidebar shows it from the next run on."""
    adding = bool(st.session_state.get(ADDING, True))
    signature = (*brought.signature(), adding)
    attempt: Attempt | None = st.session_state.get(ATTEMPT)
    if attempt is not None and attempt.signature == signature:
        return
    place = st.empty()
    with place.container():
        bar = bar_with_stop("reading", partial(_stop, signature))
    try:
        read = read_brought(brought, name=OWN_NAME, progress=partial(_advance, bar))
        _keep(read, brought.file_ids, adding=adding)
    except ChoiceNeeded as question:
        st.session_state[ATTEMPT] = Attempt(signature, question=question)
    except InputError as error:
        st.session_state[ATTEMPT] = Attempt(signature, problem=str(error))
    else:
        st.session_state[ATTEMPT] = Attempt(signature)
        st.rerun()
    place.empty()


def _keep(read: Cohort, file_ids: frozenset[str], *, adding: bool) -> None:
    """Keep what was read, with those who were there before and with what was changed by hand."""
    own, batch = own_cohort(), st.session_state.get(BATCH)
    loaded = None if own is None else own.cohort
    cohort, taken = take_in(read, loaded, batch, file_ids=file_ids, adding=adding)
    keep_own_cohort(cohort)
    st.session_state[BATCH] = taken


def _stop(signature: tuple[object, ...]) -> None:
    st.session_state[ATTEMPT] = Attempt(signature, stopped=True)


def _advance(bar: DeltaGenerator, done: int, total: int) -> None:
    bar.progress(done / total, text=f"Read {done} of {total}")


def _show_attempt() -> None:
    """Show the reader's question, or why nothing was read."""
    attempt: Attempt | None = st.session_state.get(ATTEMPT)
    if attempt is not None and attempt.stopped:
        st.info("Reading was stopped, and nothing was taken in.", icon=":material/stop:")
        again = partial(st.session_state.pop, ATTEMPT)
        st.button("Read the files", key="reading_start", icon=":material/play_arrow:", on_click=again)
    if attempt is not None and attempt.problem is not None:
        st.error(plain(attempt.problem), icon=":material/error:")
    if attempt is not None and attempt.question is not None:
        question = attempt.question
        st.radio(
            plain(question.question),
            question.choices,
            index=None,
            format_func=_choice_title,
            captions=[plain(question.consequences.get(choice, "")) for choice in question.choices],
            key=_answer_key(question.option),
            on_change=_answer,
            args=(question.option,),
        )
    answers = st.session_state.get(ANSWERS)
    if answers:
        said = "; ".join(f"{option}: {_CHOICE_TITLES.get(choice, choice)}" for option, choice in answers.items())
        st.caption(plain(f"You said: {said}."))
        st.button("Ask me again", on_click=lambda: st.session_state.pop(ANSWERS))


def _choice_title(choice: str) -> str:
    return plain(_CHOICE_TITLES.get(choice, choice))


def _answer_key(option: str) -> str:
    return f"answer_{option}"  # one question may follow another, with other choices


def _answer(option: str) -> None:
    answer = st.session_state[_answer_key(option)]
    st.session_state[ANSWERS] = {**st.session_state.get(ANSWERS, {}), option: answer}


def _show_cohort(view: View) -> None:
    heading("Quality", simulated=view.cohort.simulated)
    table = view.loaded.quality
    flagged = int((table["warnings"] != "").sum())
    st.caption(plain(f"{view.cohort.name}: {len(table)} subjects, {flagged} with a warning. A flag removes nobody."))
    flags = [
        "warning" if warning else "note" if note else ""
        for warning, note in zip(table["warnings"], table["notes"], strict=True)
    ]
    shown = table.drop(columns=["warnings", "notes"]).assign(flag=flags)
    shown["mean FC"] = shown["mean FC"].round(3) + 0.0  # a small negative mean is no minus zero
    st.dataframe(
        written(shown),  # its toolbar saves it as CSV
        hide_index=True,
        height=260 if len(table) > 6 else "auto",
        placeholder="–",
        column_config={
            "mean FC": st.column_config.NumberColumn(format="%.3f"),
            "mean |FC|": st.column_config.NumberColumn(format="%.3f"),
        },
        alt="Quality of each subject: length, silent and copied regions, mean connectivity, and any flag",
    )
    show_remarks(table)


def _show_subject(view: View) -> None:
    heading(plain(view.subject.id), simulated=view.subject.simulated)
    with sentences():
        order = show_connectivity(view)
        show_series(view, order)


show_page()
