"""How well the model does in the user's own cohort, where groups are known: beside what its card says."""

import streamlit as st

from biobgt.base.wording import NOT_A_DIAGNOSIS, counted
from biobgt.data.result_keys import Key, Kind
from biobgt.figures.model_figure import AskedModelOptions
from biobgt.figures.models import cohort_reliability, cohort_roc, too_few_words
from biobgt.model.installed import InstalledModel
from biobgt.training.card_tables import CohortResults, cohort_results
from session.view import View
from views.shared.widgets import SIDE_BY_SIDE, heading, plain, show

RESULTS = Kind("results_beside_card", "Comparing with the card…", 8)


def show_cohort_results(view: View, model: InstalledModel) -> None:
    """Show ROC, calibration, confusion and metrics of the cohort beside the card's, once all subjects are predicted."""
    said = [view.measured.of(subject).predicted(model) for subject in view.cohort.ids]
    found = cohort_results(view.cohort, model.group_names, said)
    if not len(found.labels) or None in said:
        return
    if not found.is_enough:
        st.caption(plain(f"{too_few_words(view.cohort, model)} Groups are set on the page Subjects."))
        return
    simulated = view.cohort.simulated or model.simulated
    heading("How well the model does in this cohort", simulated=simulated)
    asked = AskedModelOptions(model=model.name, model_sha256=model.sha256)
    with st.container(horizontal=True):
        for figure in (cohort_roc, cohort_reliability):
            with st.container(width=SIDE_BY_SIDE):
                show(view, figure, asked)
    _show_tables(view, model, found)


def _show_tables(view: View, model: InstalledModel, found: CohortResults) -> None:
    groups = tuple((subject.id, subject.group) for subject in view.cohort)
    key = Key(RESULTS, how=(model.name, model.sha256, groups))
    table = view.measured.whole.keep(key, lambda: found.table(model.card))
    with st.container(horizontal=True):
        with st.container(width=SIDE_BY_SIDE):
            st.table(table, hide_index=True, alt="Metrics of this cohort and of the model's card")
        with st.container(width=SIDE_BY_SIDE):
            confusion = found.confusion.rename(columns=lambda group: f"Most probable: {group}")
            st.table(confusion.rename_axis("Group"), alt="Subjects of each group by their most probable group")
    left_out = (
        f" Left out: {counted(found.n_left_out, 'subject')} without a prediction or a group that the model knows."
        if found.n_left_out
        else ""
    )
    st.caption(
        plain(
            f"{counted(len(found.labels), 'subject')} with a known group. In brackets: 95 % bootstrap interval over "
            f"people.{left_out} The card reports held-out subjects. If yours were used in training, their results are "
            f"too optimistic. {NOT_A_DIAGNOSIS}"
        )
    )
