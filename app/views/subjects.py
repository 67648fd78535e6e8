"""Subjects: bring your own, see what was read and what was refused, the quality of each, and one subject's data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import pandas as pd
import streamlit as st
from panels import show_connectivity, show_series
from project_panel import show_project
from state import (
    ANSWERS,
    ATTEMPT,
    OWN,
    UPLOADERS,
    View,
    current_view,
    empty_uploaders,
    forget_own_cohort,
    keep_own_cohort,
    own_cohort,
)
from streamlit.delta_generator import DeltaGenerator
from subject_table import show_atlas, show_subject_table
from uploads import Brought, Upload, read_brought
from widgets import heading, plain, sentences

from biobgt import ChoiceNeeded, Cohort, ImageOptions, InputError
from biobgt.atlas import BUNDLED
from biobgt.readers.images import Confounds

OWN_NAME = "Your files"
RECOGNISE, OWN_TABLE = "recognise", "own table"
ANSWER = "answer"
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
}


@dataclass(frozen=True)
class Attempt:
    """The last reading: of what, and the question or the sentence it ended with, if it did not end well."""

    signature: tuple[object, ...]
    question: ChoiceNeeded | None = None
    problem: str | None = None


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Subjects")
    with st.expander("Bring your own subjects", icon=":material/upload_file:", expanded=True):
        brought = _ask_for_files()
        if brought is not None:
            _read_once(brought)
        _show_attempt()
    show_project(view)
    own = own_cohort()
    if view.loaded.key == OWN and own is not None:
        _show_reading(own.cohort)
        show_subject_table(own.cohort)
        show_atlas(own.cohort)
    _show_cohort(view)
    _show_subject(view)


def _ask_for_files() -> Brought | None:
    """Ask for files, phenotypes and the atlas; None while there are no files."""
    uploads = st.session_state.setdefault(UPLOADERS, 0)  # another number empties the uploaders
    files: Sequence[Upload] = st.file_uploader(
        "Region time series, connectivity matrices or images, one or many; a folder as a .zip",
        accept_multiple_files=True,
        key=f"files{uploads}",
        help=".1D, .csv, .tsv, .txt, .npy, .npz, .mat, .h5, .nii, .nii.gz, .zip",
    )
    phenotypes: Upload | None = st.file_uploader(
        "Phenotype table: subject ids, groups and further columns (optional)",
        type=["csv", "tsv", "xlsx"],
        key=f"phenotypes{uploads}",
    )
    atlas = st.selectbox("Atlas", [RECOGNISE, *BUNDLED, OWN_TABLE], format_func=_atlas_title, key=f"atlas{uploads}")
    table: Upload | None = None
    if atlas == OWN_TABLE:
        table = st.file_uploader(
            "Atlas table: columns x, y, z and label, or a BrainNet Viewer .node file",
            type=["csv", "tsv", "node"],
            key=f"table{uploads}",
        )
    labels, image = _ask_about_images(uploads)
    st.caption("Files stay on the machine that runs this app, are read once, and are gone when you close the page.")
    if not files:
        if phenotypes is not None:
            st.info("Drop the subjects' files as well; a phenotype table alone has nobody to describe.")
        return None
    return Brought(
        files=files,
        phenotypes=phenotypes,
        atlas=atlas if atlas in BUNDLED else None,
        atlas_table=table,
        label_image=labels,
        image=image,
        answers=dict(st.session_state.get(ANSWERS, {})),
    )


def _atlas_title(name: str) -> str:
    if name in BUNDLED:
        return f"{BUNDLED[name].title}, {BUNDLED[name].n_regions} regions"
    return "Recognise it by the number of regions" if name == RECOGNISE else "My own table"


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


def _read_once(brought: Brought) -> None:
    """Read what was brought, unless that was just done; the sidebar shows it from the next run on."""
    signature = brought.signature()
    attempt: Attempt | None = st.session_state.get(ATTEMPT)
    if attempt is not None and attempt.signature == signature:
        return
    bar = st.progress(0.0, text="Reading…")
    try:
        cohort = read_brought(brought, name=OWN_NAME, progress=lambda done, total: _advance(bar, done, total))
    except ChoiceNeeded as question:
        st.session_state[ATTEMPT] = Attempt(signature, question=question)
    except InputError as error:
        st.session_state[ATTEMPT] = Attempt(signature, problem=str(error))
    else:
        st.session_state[ATTEMPT] = Attempt(signature)
        keep_own_cohort(cohort)
        st.rerun()
    bar.empty()


def _advance(bar: DeltaGenerator, done: int, total: int) -> None:
    bar.progress(done / total, text=f"Read {done} of {total}")


def _show_attempt() -> None:
    """Show the reader's question, or why nothing was read."""
    attempt: Attempt | None = st.session_state.get(ATTEMPT)
    if attempt is not None and attempt.problem is not None:
        st.error(plain(attempt.problem), icon=":material/error:")
    if attempt is not None and attempt.question is not None:
        st.radio(
            plain(attempt.question.question),
            attempt.question.choices,
            index=None,
            format_func=_choice_title,
            key=ANSWER,
            on_change=_answer,
            args=(attempt.question.option,),
        )
    answers = st.session_state.get(ANSWERS)
    if answers:
        said = "; ".join(f"{option}: {_CHOICE_TITLES.get(choice, choice)}" for option, choice in answers.items())
        st.caption(plain(f"You said: {said}."))
        st.button("Ask me again", on_click=lambda: st.session_state.pop(ANSWERS))


def _choice_title(choice: str) -> str:
    return plain(_CHOICE_TITLES.get(choice, choice))


def _answer(option: str) -> None:
    st.session_state[ANSWERS] = {**st.session_state.get(ANSWERS, {}), option: st.session_state[ANSWER]}


def _forget() -> None:
    forget_own_cohort()
    empty_uploaders()


def _show_reading(cohort: Cohort) -> None:
    """What was read, what was refused and why, what did not match."""
    st.subheader("What was read")
    groups = ", ".join(f"{size} {group}" for group, size in cohort.group_sizes.items()) or "no groups"
    subjects = "1 subject" if len(cohort) == 1 else f"{len(cohort)} subjects"
    st.success(plain(f"Read {subjects} on {cohort.atlas.title}: {groups}."), icon=":material/check_circle:")
    for note in cohort.notes:
        st.caption(plain(note))
    if cohort.refused:
        st.warning(f"Refused: {len(cohort.refused)}. The rest was read all the same.", icon=":material/block:")
        rows = [{"file": refusal.file, "why it was refused": refusal.reason} for refusal in cohort.refused]
        st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Files that were refused, and why")
    _show_unmatched("Subjects without a row in the phenotype table", cohort.unmatched_subjects)
    _show_unmatched("Rows of the phenotype table without a subject", cohort.unmatched_rows)
    st.button("Forget these subjects", icon=":material/delete:", on_click=_forget)


def _show_unmatched(what: str, ids: tuple[str, ...]) -> None:
    if ids:
        with st.expander(f"{what}: {len(ids)}"):
            st.text(", ".join(ids))


def _show_cohort(view: View) -> None:
    heading("Quality", simulated=view.cohort.simulated)
    table = view.loaded.quality
    flagged = int((table["warnings"] != "").sum())
    st.caption(plain(f"{view.cohort.name}: {len(table)} subjects, {flagged} with a warning. A flag removes nobody."))
    st.dataframe(
        table,
        hide_index=True,
        height=260 if len(table) > 6 else "auto",
        placeholder="–",
        column_config={
            "mean FC": st.column_config.NumberColumn(format="%.3f"),
            "mean |FC|": st.column_config.NumberColumn(format="%.3f"),
        },
        alt="Quality of each subject: length, silent regions, mean connectivity, warnings and notes",
    )


def _show_subject(view: View) -> None:
    heading(plain(view.subject.id), simulated=view.subject.simulated)
    with sentences():
        order = show_connectivity(view)
        show_series(view, order)


show_page()
