"""Whether to believe a subject's hubs: agreement beyond strength and degree, and the reliability of each measure."""

from functools import partial

import pandas as pd
import streamlit as st

from biobgt.base.files import safe_table
from biobgt.figures.agreement_words import comparison_rows, given_sentence, verdict_caption, verdict_sentence
from biobgt.figures.hub_words import little_strength_reason
from biobgt.figures.reliability_words import own_reliability_sentence, reliability_caption, reliability_rows
from biobgt.hubs.options import NULL_SEEDS, EntanglementOptions, HubOptions
from biobgt.hubs.reliability import HALVES, StudyReliability, study_reliability, why_not_split
from session.long_work import work_through
from session.view import View
from views.shared.widgets import heading, input_errors_shown, plain


def show_little_strength(view: View) -> None:
    """Say where FC strength has little to compare with."""
    if reason := little_strength_reason(view.measured):
        st.info(plain(reason), icon=":material/info:")


def show_verdict(view: View) -> None:
    """Show whether NE agrees with NEff beyond strength and degree, against null graphs if asked."""
    subject, measured, options = view.subject, view.measured, view.options(EntanglementOptions)
    heading("Does NE agree beyond strength and degree?", simulated=subject.simulated, terms=("null-graph",))
    st.markdown(
        "A region with many and strong connections has a high NE and a high NEff, whatever else the graph looks like. "
        "Only agreement beyond that is evidence that NE follows NEff."
    )
    with input_errors_shown():
        own = measured.own_agreement(options.perturbation)
        verdict = st.empty()
        verdict.markdown(plain(given_sentence(own.at(options.gamma))))
        left = measured.nulls_left(options.perturbation, NULL_SEEDS)
        whole = work_through(
            left,
            partial(measured.null_agreement, options.perturbation),
            key="agreement_nulls",
            start=f"Compare with {len(NULL_SEEDS)} null graphs",
            doing="Null graph",
            done_before=len(NULL_SEEDS) - len(left),
        )
        if not whole:
            return
        found = measured.agreement_against_nulls(options, NULL_SEEDS)
        verdict.markdown(f"**{plain(verdict_sentence(found))}**")
        st.dataframe(
            safe_table(pd.DataFrame(comparison_rows(found, view.measured.kind))),
            hide_index=True,
            key="agreement_table",
            width="content",
            alt="Agreement of NE in this subject and in its null graphs",
        )
        caption = verdict_caption(
            subject.id,
            found,
            gamma=options.gamma,
            perturbation=options.perturbation,
            seed=NULL_SEEDS[0],
            simulated=subject.simulated,
        )
        st.caption(plain(caption))


def hub_reliability(view: View) -> StudyReliability:
    """The study's reliability that fits the view's graph, or why none does."""
    options = view.options(EntanglementOptions)
    return study_reliability(
        view.settings, view.atlas, gamma=options.gamma, perturbation=options.perturbation, kind=view.measured.kind
    )


def show_reliability(view: View) -> None:
    """Show how reliable each measure is, in the study where that applies and in this subject if asked."""
    heading("How reliable are these measures?")
    study = hub_reliability(view)
    own = _own_halves(view)
    if own is not None:
        st.markdown(plain(own_reliability_sentence(view.subject.id, own, simulated=view.subject.simulated)))
    if own is None and study.table is None:
        st.caption(plain(study.note))
        return
    table = reliability_rows(study, own)
    numbers = {name: st.column_config.NumberColumn(name, format="%.2f") for name in table.columns[1:]}
    st.dataframe(
        safe_table(table),
        hide_index=True,
        key="reliability_table",
        column_config=numbers,
        width="content",
        alt="Reliability of each hub measure",
    )
    st.caption(plain(reliability_caption(study, own=own is not None)))


def _own_halves(view: View) -> pd.DataFrame | None:
    """Offer to measure the halves of the recording; None before that, or where there are none."""
    if reason := why_not_split(view.subject, view.settings):
        st.caption(plain(reason))
        return None
    measured, options = view.measured, view.options(HubOptions)
    left = measured.halves_left(options.perturbation)
    whole = work_through(
        left,
        partial(measured.half_hubs, options.perturbation),
        key="hub_halves",
        start="Measure the two halves of this recording",
        doing="Half",
        done_before=len(HALVES) - len(left),
    )
    return measured.halves_compared(options) if whole else None
