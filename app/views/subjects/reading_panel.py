"""Reading the files that were uploaded: once, with a way to stop it, and with the reader's questions to the user."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from biobgt import ChoiceNeeded, Cohort, InputError, ReadOptions
from biobgt.base.files import safe_table
from biobgt.base.wording import counted
from biobgt.data.atlas import BUNDLED, UNKNOWN_ATLAS
from biobgt.readers.discover import printable
from session.keys import ADDING, ANSWERED_FILES, ANSWERS, ATTEMPT, BATCH
from session.loaded_cohorts import keep_own_cohort, own_cohort
from session.long_work import bar_with_stop
from session.uploads import Upload, UploadedFiles, read_uploaded, take_in
from views.shared.remarks import MOST_ROWS, TABLE_HEIGHT
from views.shared.widgets import plain
from views.subjects.own_atlas import UNKNOWN_TITLE

OWN_NAME = "Your files"


@dataclass(frozen=True)
class Attempt:
    """The last reading: of what, and the question or the sentence it ended with, if it did not end well, or at all."""

    signature: tuple[object, ...]
    question: ChoiceNeeded | None = None
    problem: str | None = None
    stopped: bool = False

    @property
    def state(self) -> str | None:
        """What the files wait for; None once they are subjects."""
        if self.question is not None:
            return "waiting for your answer"
        if self.problem is not None:
            return "could not be read"
        return "not read, reading was stopped" if self.stopped else None


def read_once(uploaded: UploadedFiles) -> None:
    """Read what was uploaded, unless that was just done; the sidebar shows it from the next run on."""
    adding = bool(st.session_state.get(ADDING, True))
    signature = (*uploaded.signature(), adding)
    attempt: Attempt | None = st.session_state.get(ATTEMPT)
    if attempt is not None and attempt.signature == signature:
        return
    place = st.empty()
    with place.container():
        bar = bar_with_stop("reading", partial(_stop, signature))
    try:
        read = read_uploaded(uploaded, name=OWN_NAME, progress=partial(_advance, bar))
        _keep(read, uploaded.file_ids, adding=adding)
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


def show_attempt() -> None:
    """Show the reader's question, or why nothing was read."""
    attempt: Attempt | None = st.session_state.get(ATTEMPT)
    if attempt is not None and attempt.stopped:
        st.info("Reading was stopped. No subjects were added.", icon=":material/stop:")
        again = partial(st.session_state.pop, ATTEMPT, None)
        st.button("Read the files", key="reading_start", icon=":material/play_arrow:", on_click=again)
    if attempt is not None and attempt.problem is not None:
        st.error(plain(attempt.problem), icon=":material/error:")
    if attempt is not None and attempt.question is not None:
        _ask(attempt.question)
    answers = st.session_state.get(ANSWERS)
    if answers:
        said = "; ".join(f"{option}: {_choice_title(option, choice)}" for option, choice in answers.items())
        st.caption(plain(f"Your answers: {said}."))
        st.button("Ask me again", on_click=partial(st.session_state.pop, ANSWERS, None))


def show_waiting_files(files: Sequence[Upload]) -> bool:
    """List the files that became no subjects, and what they wait for; false where all were read."""
    attempt: Attempt | None = st.session_state.get(ATTEMPT)
    if attempt is None or attempt.state is None:
        return False
    st.subheader("Your files")
    st.caption(f"No subjects yet from {counted(len(files), 'file')}.")
    rows = [
        {"File": printable(file.name), "Size (kB)": file.getbuffer().nbytes / 1000, "State": attempt.state}
        for file in files
    ]
    st.dataframe(
        safe_table(pd.DataFrame(rows)),  # its toolbar saves it as CSV
        hide_index=True,
        height=TABLE_HEIGHT if len(rows) > MOST_ROWS else "auto",
        column_config={"Size (kB)": st.column_config.NumberColumn(format="%.1f")},
        key="waiting_files",
        alt="Files that were brought, and what each waits for",
    )
    return True


def _ask(question: ChoiceNeeded) -> None:
    """A button for each answer, which says what would be read then."""
    with st.container(border=True, key=f"question_{question.option}"):
        st.markdown(plain(question.question))
        for i, choice in enumerate(question.choices):
            consequence = question.consequences.get(choice, "")
            said = f"**{plain(_choice_title(question.option, choice))}**"
            said += f": {plain(consequence)}" if consequence else ""
            st.button(said, key=f"answer_{question.option}{i}", on_click=_answer, args=(question.option, choice))


def _choice_title(option: str, choice: str) -> str:
    if option == "atlas":
        return UNKNOWN_TITLE if choice == UNKNOWN_ATLAS else BUNDLED[choice].title
    declared = ReadOptions.declared()
    return declared[option].text(choice) if option in declared else choice


def _answer(option: str, answer: str) -> None:
    st.session_state[ANSWERS] = {**st.session_state.get(ANSWERS, {}), option: answer}


def answers_about(files: Sequence[Upload]) -> dict[str, str]:
    """The answers, while no file has come that they were not given about: another file may lie otherwise."""
    ids = frozenset(upload.file_id for upload in files)
    if not ids <= st.session_state.setdefault(ANSWERED_FILES, ids):
        st.session_state.pop(ANSWERS, None)
    if not st.session_state.get(ANSWERS):
        st.session_state[ANSWERED_FILES] = ids
    return dict(st.session_state.get(ANSWERS, {}))
