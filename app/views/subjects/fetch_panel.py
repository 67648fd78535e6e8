"""A public cohort fetched from the internet, on the page of subjects; it then is the user's own, as files are.

Nothing is asked of the internet before the button is pressed, and nothing of the user's is sent. Files stay in the
folder of nilearn, so that work that was stopped goes on where it was.
"""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from biobgt import InputError
from biobgt.readers.fetch import ABIDE_TERMS, PIPELINES, FetchOptions, abide_cohort, data_folder
from session.keys import FETCH_PROBLEM, FETCHING
from session.loaded_cohorts import empty_uploaders, keep_own_cohort
from session.long_work import bar_with_stop
from views.shared.option_widgets import ask_here
from views.shared.widgets import plain

_FEW = 20  # subjects, before another number is chosen


def show_fetching() -> None:
    """Offer to fetch ABIDE, and fetch it when asked to."""
    with st.expander("Fetch a public cohort: ABIDE", icon=":material/cloud_download:"):
        options = _ask_what()
        st.caption(
            plain(
                f"The button asks a public server on the internet (Amazon S3) for region time series of the CC200 "
                f"atlas and for phenotypes, about 0.5 MB per subject; none of your data are sent. Files are kept in "
                f"{data_folder()} on the machine that runs this app, and are not fetched twice. {ABIDE_TERMS}"
            )
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


def _ask_what() -> FetchOptions:
    asked = {name: one for name, one in FetchOptions.declared().items() if name != "mirror"}
    in_one_line = {
        "n_subjects": partial(ask_here, start=_FEW, width=150),
        "pipeline": partial(ask_here, width=170),
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        answers = {name: ask_one(asked.pop(name), key=f"fetch_{name}") for name, ask_one in in_one_line.items()}
    answers |= {name: ask_here(one, key=f"fetch_{name}") for name, one in asked.items()}
    return FetchOptions(**answers)


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
            progress=partial(_advance, bar, "Fetched"),
            reading=partial(_advance, bar, "Read"),
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


def _advance(bar: DeltaGenerator, what: str, done: int, total: int) -> None:
    bar.progress(done / total, text=f"{what} {done} of {total}")
