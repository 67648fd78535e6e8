"""Whether to believe a subject's hubs: agreement beyond strength and degree, and the reliability of each measure."""

from functools import partial

import pandas as pd
import streamlit as st
from hub_evidence import (
    HALVES,
    SEED,
    against_nulls,
    halves_left,
    measure_null,
    measure_one_half,
    nulls_left,
    own_agreement,
    own_halves,
)
from loaded import View
from long_work import work_through
from widgets import heading, plain, sentences

from biobgt.figures.agreement_words import (
    comparison_rows,
    given_sentence,
    little_strength_reason,
    verdict_caption,
    verdict_sentence,
)
from biobgt.figures.reliability_words import own_reliability_sentence, reliability_caption, reliability_rows
from biobgt.hubs.beyond_strength import NULL_GRAPHS
from biobgt.hubs.split_half import why_not_split
from biobgt.hubs.sweep import SubjectHubs
from biobgt.study_reliability import StudyReliability, study_reliability


def show_little_strength(view: View) -> None:
    """Say where FC strength has little to compare with."""
    if reason := little_strength_reason(view.mean_connectivity()[0]):
        st.info(plain(reason), icon=":material/info:")


def show_verdict(view: View, hubs: SubjectHubs) -> None:
    """Show whether NE agrees with NEff beyond strength and degree, against null graphs if asked."""
    subject, choices = view.subject, view.hubs
    heading("Does NE agree beyond strength and degree?", simulated=subject.simulated)
    st.markdown(
        "A region with many and strong connections has a high NE and a high NEff, whatever else the graph looks like. "
        "Only agreement beyond that is evidence that NE follows NEff."
    )
    with sentences():
        own = own_agreement(view, hubs).at(choices.gamma)
        st.markdown(plain(given_sentence(own)))
        left = nulls_left(view)
        whole = work_through(
            left,
            partial(measure_null, view, hubs),
            key="agreement_nulls",
            start=f"Compare with {NULL_GRAPHS} null graphs",
            doing="Null graph",
            done_before=NULL_GRAPHS - len(left),
        )
        if not whole:
            return
        found = against_nulls(view, hubs)
        st.markdown(f"**{plain(verdict_sentence(found))}**")
        st.dataframe(
            pd.DataFrame(comparison_rows(found)),
            hide_index=True,
            key="agreement_table",
            width="content",
            alt="Agreement of NE in this subject and in its null graphs",
        )
        caption = verdict_caption(
            subject.id,
            found,
            gamma=choices.gamma,
            perturbation=choices.perturbation,
            seed=SEED,
            simulated=subject.simulated,
        )
        st.caption(plain(caption))


def hub_reliability(view: View) -> StudyReliability:
    """The study's reliability that fits the view's graph, or why none does."""
    return study_reliability(view.settings, view.atlas, gamma=view.hubs.gamma, perturbation=view.hubs.perturbation)


def show_reliability(view: View) -> None:
    """Show how reliable each measure is, in the study where that applies and in this subject if asked."""
    heading("How reliable are these measures?", simulated=view.subject.simulated)
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
        table,
        hide_index=True,
        key="reliability_table",
        column_config=numbers,
        width="content",
        alt="Reliability of each hub measure",
    )
    st.caption(plain(reliability_caption(study)))


def _own_halves(view: View) -> pd.DataFrame | None:
    """Offer to measure the halves of the recording; None before that, or where there are none."""
    if reason := why_not_split(view.subject, view.settings):
        st.caption(plain(reason))
        return None
    left = halves_left(view)
    whole = work_through(
        left,
        partial(measure_one_half, view),
        key="hub_halves",
        start="Measure the two halves of this recording",
        doing="Half",
        done_before=len(HALVES) - len(left),
    )
    return own_halves(view) if whole else None
