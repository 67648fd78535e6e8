"""Predict: what a trained model says of the subjects, how sure that is, and where a subject lies among others."""

from typing import Any

import pandas as pd
import streamlit as st
from export_list import subject_model_request
from loaded import View
from long_work import work_through
from model_results import (
    card_of,
    chosen_model,
    groups_of,
    model_names,
    no_models,
    predict,
    predicted,
    predictions,
    refusal,
    show_headline,
)
from state import OWN, PROBABILITY_OF, current_view
from widgets import heading, plain, sentences, show_figure

from biobgt import InputError
from biobgt.figures.performance import probabilities_by_group
from biobgt.figures.performance_captions import NOT_A_DIAGNOSIS, probabilities_caption
from biobgt.spreadsheets import write_csv, written
from biobgt.training.card_views import calibration_words, members_words, observed_share, share_below
from biobgt.wording import counted


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Predict")
    st.warning(f"**{NOT_A_DIAGNOSIS}**", icon=":material/medical_information:")
    if not model_names():
        no_models()
        return
    name = chosen_model(view)
    if not name:
        st.info(
            plain(
                f"No trained model is on this cohort's atlas, {view.atlas.title} with {view.atlas.n_regions} regions. "
                "Choose a cohort on one of these atlases: "
                f"{', '.join(sorted({card_of(model)['atlas'] for model in model_names()}))}."
            ),
            icon=":material/info:",
        )
        return
    card = card_of(name)
    heading(plain(f"Model {name}"), simulated=card["simulated"])
    show_headline(card)
    if said := refusal(view, name):
        st.info(plain(said), icon=":material/info:")
        return
    st.caption(plain(members_words(card)))
    with sentences():
        _show_subject(view, name, card)
    with sentences():
        _show_cohort(view, name, card)


def _show_subject(view: View, name: str, card: dict[str, Any]) -> None:
    """One subject: probabilities, how sure, and where among the training subjects."""
    subject = view.subject
    _heading(subject.id, card, simulated=subject.simulated)
    known = predicted(view, name, subject.id)
    if (
        known is None
        and view.loaded.key == OWN
        and not st.button(plain(f"Predict {subject.id}"), icon=":material/play_arrow:", key="predict_subject")
    ):
        return
    if known is None:
        with st.spinner("Running the model…"):
            known = predict(view, name, subject.id)
    if not known["prediction"]:
        raise InputError(known["warning"])
    if known["warning"]:
        st.warning(
            plain(f"Take care: {known['warning']}. The probabilities below may mean nothing."),
            icon=":material/warning:",
        )
    with st.container(horizontal=True):
        for group in card["groups"]:
            st.metric(plain(f"Probability of {group}"), f"{known[f'p_{group}']:.0%}", border=True, width="content")
    _show_place(view, name, card, known)


def _show_place(view: View, name: str, card: dict[str, Any], known: dict[str, Any]) -> None:
    groups, subject = groups_of(name), view.subject
    group = _pick_group(card["groups"])
    value = float(known[f"p_{group}"])
    column = card["groups"].index(group)
    said = observed_share(groups.labels, groups.probabilities, card["groups"], value, group)
    st.markdown(plain(f"{said} {calibration_words(card)}"))
    figure = probabilities_by_group(
        groups.probabilities[:, column],
        groups.labels,
        card["groups"],
        group=group,
        marked=value,
        marked_name=subject.id,
        title=f"{subject.id} among the subjects of {name}",
        simulated=subject.simulated or card["simulated"],
    )
    whom = f"simulated subject {subject.id}" if subject.simulated else f"subject {subject.id}"
    where = share_below(groups.labels, groups.probabilities[:, column], card["groups"], value)
    caption = probabilities_caption(
        name,
        card["groups"],
        group=group,
        subject=whom,
        value=value,
        where=where,
        warning=known["warning"],
        simulated=card["simulated"],
    )
    request = subject_model_request(view, card, "subject_probability", group=group)
    show_figure(figure, caption, key="place", file_name=f"{subject.id}_{name}", export=request)


def _pick_group(groups: list[str]) -> str:
    """Of two groups the patients are the question; of three, the user says."""
    if len(groups) == 2:
        return groups[1]
    if st.session_state.get(PROBABILITY_OF) not in groups:
        st.session_state[PROBABILITY_OF] = groups[-1]
    picked = st.segmented_control("Probability of", groups, key=PROBABILITY_OF, required=True, persist_state="session")
    return picked or groups[-1]


def _show_cohort(view: View, name: str, card: dict[str, Any]) -> None:
    """All subjects of the cohort: one by one, to be stopped at any time."""
    _heading("All subjects", card, simulated=view.cohort.simulated)
    left = [subject for subject in view.cohort.ids if predicted(view, name, subject) is None]
    work_through(
        left,
        lambda subject: predict(view, name, subject),
        key="predict_all",
        start=f"Predict {counted(len(view.cohort), 'subject')}",
        doing="Subject",
        done_before=len(view.cohort) - len(left),
    )
    table = predictions(view, name)
    if not table.empty:
        _show_table(view, name, card, table)


def _show_table(view: View, name: str, card: dict[str, Any], table: pd.DataFrame) -> None:
    """The predictions so far, to read and to take along."""
    groups = {subject.id: subject.group or "" for subject in view.cohort}
    table.insert(1, "group", [groups[subject] for subject in table["subject"]])
    refused = int((table["prediction"] == "").sum())
    unlike = int((table["warning"] != "").sum()) - refused
    columns = {"subject": "Subject", "group": "Group", "prediction": "Most probable", "warning": "Take care"}
    columns |= {f"p_{group}": f"P {group}" for group in card["groups"]}
    shares = {
        title: st.column_config.NumberColumn(format="percent") for title in columns.values() if title.startswith("P ")
    }
    st.dataframe(
        written(table.rename(columns=columns).round(3)),  # its toolbar saves it as CSV
        hide_index=True,
        column_config=shares,
        key="predictions",
        alt="Predicted probabilities of the cohort's subjects",
    )
    whose = "simulated subjects" if view.cohort.simulated else "subjects"
    by = f"model {name}, trained on simulated patients" if card["simulated"] else f"model {name}"
    without = f" Without a prediction: {counted(refused, 'subject')}; the table says why." if refused else ""
    st.caption(
        plain(
            f"{len(table) - refused} of {len(view.cohort)} {whose} by {by}; to be taken with care: {unlike}.{without} "
            f"{NOT_A_DIAGNOSIS}"
        )
    )
    st.download_button(
        "Download as CSV",
        write_csv(table.assign(model=name, note=_note(view, card)), index=False),
        file_name=f"predictions_{name}.csv",
        mime="text/csv",
        icon=":material/download:",
        key="download_predictions",
    )


def _heading(text: str, card: dict[str, Any], *, simulated: bool) -> None:
    """A section's title; what a simulated model says of real subjects is marked too, and not for simulated subjects."""
    by = ", by a model of simulated patients" if card["simulated"] and not simulated else ""
    heading(plain(f"{text}{by}"), simulated=simulated or card["simulated"])


def _note(view: View, card: dict[str, Any]) -> str:
    model = "Simulated: the model was trained on simulated patients. " if card["simulated"] else ""
    subjects = "Simulated subjects. " if view.cohort.simulated else ""
    return f"{model}{subjects}{NOT_A_DIAGNOSIS}"


show_page()
