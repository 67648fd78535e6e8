"""One subject's attention beside its group's; the only part of the page of attention that runs a model."""

import streamlit as st
from attention_panels import AttentionView
from export_list import subject_model_request
from loaded import View
from model_results import explain, refusal
from state import OWN_ATTENTION
from widgets import heading, plain, sentences, show_figure

from biobgt.connectome import subject_connectivity
from biobgt.figures.attention import PAGE_WIDTH, attention_heatmaps
from biobgt.figures.attention_captions import own_caption
from biobgt.figures.performance_captions import NOT_A_DIAGNOSIS
from biobgt.model.attention_views import (
    beside_connectivity,
    colour_limits,
    group_beside,
    map_correlation,
    select_attention,
)


def show_own(shown: AttentionView, view: View) -> None:
    """Show the current subject's attention beside a group's, when asked to; this runs the model."""
    subject = view.subject
    heading("One subject beside its group", simulated=subject.simulated or shown.simulated)
    if said := refusal(view, shown.name):
        st.info(plain(said), icon=":material/info:")
        return
    st.session_state.setdefault(OWN_ATTENTION, False)
    wanted = st.toggle(
        plain(f"Run {shown.name} on {subject.id}"),
        key=OWN_ATTENTION,
        persist_state="session",
        help="Takes a few seconds the first time, when the model is loaded.",
    )
    if not wanted:
        st.caption(NOT_A_DIAGNOSIS)
        return
    with sentences():
        with st.spinner("Running the model…"):
            seen = explain(view, shown.name)
        own = select_attention(seen.attention[0], layer=shown.layer, head=shown.head)
        group = group_beside(subject.group, list(shown.groups.n))
        beside = shown.map(group)
        limits = colour_limits([own, beside])
        figure = attention_heatmaps(
            {subject.id: own, f"mean of {group} (n = {shown.groups.n[group]:,})": beside},
            shown.atlas.regions,
            order=shown.order,
            limits=limits,
            title=f"Attention of {subject.id}",
            simulated=subject.simulated or shown.simulated,
        )
        caption = own_caption(
            shown.name,
            subject.id,
            group,
            correlation=map_correlation(own, beside),
            beside={
                subject.id: beside_connectivity(own, subject_connectivity(subject), shown.order.labels),
                f"mean of {group}": shown.beside_connectivity(group),
            },
            part=shown.part,
            simulated=subject.simulated,
            model_simulated=shown.simulated,
        )
        request = subject_model_request(view, shown.card, "subject_attention", group=group, **shown.how)
        with st.container(width=PAGE_WIDTH):
            show_figure(figure, caption, key="own_attention_map", file_name=f"{subject.id}_attention", export=request)
