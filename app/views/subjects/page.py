"""Subjects: bring your own, see what was read and what was refused, the quality of each, and one subject's data."""

from functools import partial
from typing import Literal

import streamlit as st

from biobgt import Cohort, InputError
from biobgt.base.wording import counted
from biobgt.data.atlas import FEWEST_REGIONS
from biobgt.data.cohort import counted_people
from biobgt.data.edits import (
    DRAWN_AS_GAPS,
    RECORDING_RULES,
    apply_recording_rule,
    keep_shared_regions,
    missing_regions,
    missing_words,
    recording_of,
    recordings_by_person,
    remove_subjects,
)
from biobgt.figures.connectivity import HeatmapOptions, connectivity_distribution, connectivity_heatmap, series_carpet
from biobgt.figures.drawing import RegionOrderOptions
from biobgt.figures.register import NoOptions
from biobgt.readers.fetch import ABIDE_TERMS, PIPELINES, FetchOptions, abide_cohort, data_folder
from session.cohorts import OWN, brought_files, change_own_cohort, empty_uploaders, keep_own_cohort, own_cohort
from session.view import ANSWERS, ATTEMPT, FETCH_PROBLEM, FETCHING, View, current_view
from session.work import bar_with_stop, move_on
from views.shared.options import ask_here, ask_in_row, in_a_row
from views.shared.widgets import (
    caption,
    explained,
    heading,
    input_errors_shown,
    plain,
    show,
    show_remarks,
    show_table,
)
from views.subjects.table import show_atlas, show_kind, show_reading, show_subject_table
from views.subjects.upload import ask_for_files, read_once, show_attempt, show_project, show_waiting_files

_FEW = 20  # subjects that are fetched, before another number is chosen
_HEATMAP_WIDTH = 480  # leaves room for the distribution beside it at 1280 px; at 800 px that comes below


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Subjects", help=explained("region-series", "atlas"))
    uploaded = ask_for_files()
    if uploaded is not None:
        read_once(uploaded)
    else:
        st.session_state.pop(ATTEMPT, None)  # nothing is asked about files that are gone
    show_attempt()
    waiting = uploaded is not None and show_waiting_files(uploaded.files)
    own = own_cohort() if view.loaded.key == OWN else None
    if own is not None:
        show_reading(own.cohort)
    _show_fetching()
    show_project(view)
    if own is not None:
        for show_part in (_show_recordings, _show_missing, show_subject_table, show_atlas, show_kind):
            show_part(own.cohort)
    if own is not None or not waiting:  # a demo's subjects are no answer to who brought files
        _show_quality(view)
        heading(plain(view.subject.id), simulated=view.subject.simulated)
        with input_errors_shown():
            _show_subject(view)


def _show_quality(view: View) -> None:
    heading("Quality", simulated=view.cohort.simulated)
    table = view.loaded.quality
    flagged = int((table["warnings"] != "").sum())
    caption(
        f"{view.cohort.name}: {counted(len(table), 'subject')}, {flagged} with a warning. Subjects with warnings are "
        "not excluded."
    )
    flags = [
        "warning" if warning else "note" if note else ""
        for warning, note in zip(table["warnings"], table["notes"], strict=True)
    ]
    shown = table.drop(columns=["warnings", "notes"]).assign(flag=flags)
    kind = view.cohort.kind
    means = [kind.named(name) for name in ("mean FC", "mean |FC|")]
    if kind.functional:
        shown[means] = shown[means].round(3) + 0.0  # a small negative mean is no minus zero
    show_table(
        shown,
        key="quality",
        height=260 if len(table) > 6 else "auto",
        placeholder="–",
        formats=dict.fromkeys(means, "%.3f" if kind.functional else "%.3g"),
        alt="Quality of each subject: length, silent and copied regions, mean connectivity, and any flag",
    )
    show_remarks(table, {"warnings": "Warning", "notes": "Note"})


def _show_subject(view: View) -> None:
    """Show the connectivity of one subject or its graph, the distribution of connections, and the series."""
    ask_in_row(HeatmapOptions, "matrix", "order", cohort=view.cohort)
    with st.container(horizontal=True):
        with st.container(width=_HEATMAP_WIDTH):
            show(view, connectivity_heatmap, view.options(HeatmapOptions), key="connectivity")
        with st.container(width="stretch"):
            show(view, connectivity_distribution, NoOptions(), key="distribution")
    if view.subject.series is None:
        st.info("This subject was read from a connectivity matrix, so there are no series to show.")
    else:
        show(view, series_carpet, view.options(RegionOrderOptions), key="series")


# A public cohort fetched from the internet; it then is the user's own, as files are.
#
# Nothing is asked of the internet before the button is pressed, and nothing of the user's is sent. Files stay in the
# folder of nilearn, so that work that was stopped goes on where it was.


def _show_fetching() -> None:
    """Offer to fetch ABIDE, and fetch it when asked to."""
    with st.expander("Fetch a public cohort: ABIDE", icon=":material/cloud_download:"):
        asked = {name: one for name, one in FetchOptions.declared().items() if name != "mirror"}
        with in_a_row():
            n_subjects = ask_here(asked.pop("n_subjects"), key="fetch_n_subjects", start=_FEW, width=150)
            pipeline = ask_here(asked.pop("pipeline"), key="fetch_pipeline", width=170)
        others = {name: ask_here(one, key=f"fetch_{name}") for name, one in asked.items()}
        options = FetchOptions(n_subjects=n_subjects, pipeline=pipeline, **others)
        caption(
            f"The button asks a public server on the internet (Amazon S3) for region time series of the CC200 atlas "
            f"and for phenotypes, about 0.5 MB per subject; none of your data are sent. Files are kept in "
            f"{data_folder()} on the machine that runs this app, and are not fetched twice. {ABIDE_TERMS}"
        )
        st.button(
            f"Fetch {options.n_subjects} subjects",
            key="fetch_start",
            icon=":material/download:",
            on_click=partial(_want, options),
            disabled=FETCHING in st.session_state,
        )
        wanted: FetchOptions | None = st.session_state.get(FETCHING)
        if wanted is not None:
            _fetch(wanted)
        if FETCH_PROBLEM in st.session_state:
            st.error(plain(st.session_state[FETCH_PROBLEM]), icon=":material/error:")


def _fetch(options: FetchOptions) -> None:
    """Fetch and read; the sidebar shows the cohort from the next run on."""
    place = st.empty()
    with place.container():
        bar = bar_with_stop("fetch", partial(st.session_state.pop, FETCHING, None))
        bar.progress(0.0, text="Asking for the list of subjects…")
    try:
        cohort = abide_cohort(
            data_folder(),
            options,
            name=f"ABIDE, {PIPELINES[options.pipeline]}",
            progress=partial(move_on, bar, "Fetched"),
            reading=partial(move_on, bar, "Read"),
        )
    except InputError as error:
        st.session_state[FETCH_PROBLEM] = str(error)
    else:
        empty_uploaders()
        keep_own_cohort(cohort)
    st.session_state.pop(FETCHING, None)
    st.rerun()


def _want(options: FetchOptions) -> None:
    st.session_state[FETCHING] = options
    st.session_state.pop(FETCH_PROBLEM, None)


# What becomes of several recordings of a person, and of regions that some subjects lack.


def _show_recordings(cohort: Cohort) -> None:
    """Say who has several recordings, and let the user choose what becomes of them."""
    people = recordings_by_person(cohort)
    if len(people) == len(cohort):
        return
    st.subheader("Several recordings per person")
    st.markdown(
        plain(f"There are {counted_people(len(people), len(cohort))}. Until you choose, {RECORDING_RULES['apart']}.")
    )
    with in_a_row():
        averaging = st.button("Average each person's recordings", key="average_recordings", icon=":material/merge:")
        first = st.button("Keep each person's first", key="first_recordings", icon=":material/looks_one:")
        # The sessions, the runs, and both together, as ids name them.
        labels = sorted({recording_of(name) for name in cohort.ids} - {""})
        parts = sorted({part for label in labels for part in label.split("_") if part.startswith(("ses-", "run-"))})
        runs = list(dict.fromkeys([*parts, *labels]))
        run = st.selectbox("Session or run", runs, index=None, placeholder="choose one", key="kept_run", width=220)
        keeping = st.button("Keep only this one", key="keep_run", icon=":material/filter_1:", disabled=run is None)
    caption(f"Averaged: {RECORDING_RULES['averaged']}. First: {RECORDING_RULES['earliest']}.")
    if not (averaging or first or keeping):
        return
    rule: Literal["averaged", "earliest"] = "averaged" if averaging else "earliest"
    with input_errors_shown():
        if brought_files():  # an answer about the files, which are read again
            answer = {"run": run} if keeping else {"recordings": rule}
            st.session_state[ANSWERS] = st.session_state.get(ANSWERS, {}) | answer
        else:
            changed = apply_recording_rule(cohort, run=run) if keeping else apply_recording_rule(cohort, rule)
            change_own_cohort(changed)
        st.rerun()


def _show_missing(cohort: Cohort) -> None:
    """Name the missing regions, and let the user work on the shared ones or without the subjects who lack some."""
    lacking = missing_regions(cohort)
    if not lacking:
        return
    st.subheader("Missing regions")
    st.warning(plain(missing_words(cohort)), icon=":material/grid_off:")
    n_shared = cohort.atlas.n_regions - len(set().union(*lacking.values()))
    with st.container(horizontal=True):
        sharing = st.button(
            f"Keep only the {n_shared} regions that all subjects have",
            key="keep_shared",
            icon=":material/join_inner:",
            disabled=n_shared < FEWEST_REGIONS,
        )
        removing = st.button(
            f"Remove the {counted(len(lacking), 'subject')} with missing regions",
            key="remove_lacking",
            icon=":material/person_remove:",
            disabled=len(lacking) == len(cohort),
        )
    st.caption(
        f"Until you choose, missing regions stay in the atlas. {DRAWN_AS_GAPS} Models need every region of their "
        "atlas, so none can be applied to the shared regions alone."
    )
    if sharing or removing:
        with input_errors_shown():
            changed = keep_shared_regions(cohort) if sharing else remove_subjects(cohort, lacking)
            change_own_cohort(changed)
            st.rerun()


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    show_page()
