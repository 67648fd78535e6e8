"""Why this region? One region of the page of hubs, picked by a click or by name, and what node entanglement sees."""

import pandas as pd
import streamlit as st
from export_list import hub_request
from loaded import STRONGEST, View
from state import GAMMAS, WHY_REGION
from widgets import heading, plain, show_figure

from biobgt.figures.why_captions import entropy_caption, neighbourhood_caption, spectra_caption, story_sentences
from biobgt.figures.why_region import MOST_DRAWN, entropy_comparison, neighbourhood_drawing, spectra_comparison
from biobgt.hubs import HUB_METRICS
from biobgt.hubs.region_story import RegionStory, region_story
from biobgt.hubs.sweep import SubjectHubs

DRAWING_WIDTH = 395  # two side by side at 1280 px, one below the other at 800
ANCHOR = "why-this-region"
# What the numbers are in; lengths of connections are 1/weight.
UNITS = {
    "node_entanglement": "bits",
    "vertex_entanglement": "bits; lower is stronger",
    "node_efficiency": "mean of 1/distance",
    "local_efficiency": "the same, among neighbours",
    "fc_strength": "mean connectivity",
    "degree": "connections",
    "betweenness": "paths; every pair counts twice",
    "closeness": "1/mean distance",
    "eigenvector": "part of a vector of length 1",
}


def picked_region(view: View, table: pd.DataFrame) -> int:
    """The region that is asked about, counted from 0: the one picked, or the one with the highest NE."""
    regions = view.atlas.regions
    if st.session_state[WHY_REGION] not in regions:  # of another atlas
        st.session_state[WHY_REGION] = STRONGEST
    name = st.session_state[WHY_REGION]
    return regions.index(name) if name != STRONGEST else _strongest(table)


def pick_region(view: View, region: int) -> None:
    """Ask about a region that was clicked."""
    st.session_state[WHY_REGION] = view.atlas.regions[region]


def show_hint(view: View, region: int) -> None:
    """Say that points can be clicked, and where the answer is."""
    name = plain(view.atlas.regions[region])
    st.markdown(
        f"Click a point to ask why NE ranks its region as it does. Picked now: **{name}**, explained in "
        f"[Why this region?](#{ANCHOR})"
    )


def show_why(view: View, hubs: SubjectHubs, table: pd.DataFrame, region: int) -> None:
    """Show what node entanglement compares for one region, in words and figures."""
    subject, regions = view.subject, view.atlas.regions
    heading("Why this region?", simulated=subject.simulated)
    strongest = regions[_strongest(table)]
    st.selectbox(
        "Region, by name or by a click on a point above",
        [STRONGEST, *regions],
        format_func=lambda name: name or f"The strongest hub by NE: {strongest}",
        key=WHY_REGION,
        persist_state="session",
    )
    graph = view.graph(view.connectivity())
    story = region_story(graph, hubs, region, gamma=view.hubs.gamma, gammas=GAMMAS, rule=view.hubs.rule)
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in story_sentences(story)))
    _show_neighbourhood(view, story)
    _show_comparisons(view, story)
    _show_standings(story)


def _strongest(table: pd.DataFrame) -> int:
    return int(table["node_entanglement_rank"].to_numpy().argmin())


def _show_neighbourhood(view: View, story: RegionStory) -> None:
    subject, around = view.subject, story.neighbourhood
    shown = slice(0, MOST_DRAWN + 1)
    names = [view.atlas.regions[member] for member in around.members[shown]]
    largest = float(max(around.before.max(), around.after.max()))
    with st.container(horizontal=True):
        for key, weights, title in (
            ("why_before", around.before, "Surroundings as measured"),
            ("why_after", around.after, "Surroundings perturbed"),
        ):
            figure = neighbourhood_drawing(
                names, weights[shown, shown], largest=largest, title=title, simulated=subject.simulated
            )
            caption = neighbourhood_caption(
                story, after=key == "why_after", subject=subject.id, simulated=subject.simulated
            )
            request = hub_request(view, "region_surroundings", region=story.name, perturbed=key == "why_after")
            with st.container(width=DRAWING_WIDTH):
                show_figure(figure, caption, key=key, file_name=f"{subject.id}_{story.name}_{key}", export=request)


def _show_comparisons(view: View, story: RegionStory) -> None:
    subject = view.subject
    spectra = spectra_comparison(
        story.spectrum_before, story.spectrum_after, title="Laplacian spectra", simulated=subject.simulated
    )
    entropies = entropy_comparison(
        story.gammas,
        story.entropy_before,
        story.entropy_after,
        typical=story.typical_change,
        chosen=story.gamma,
        title="Entropy over γ",
        simulated=subject.simulated,
    )
    requests = (
        hub_request(view, "region_spectra", region=story.name),
        hub_request(view, "region_entropy", region=story.name, gammas=GAMMAS),
    )
    with st.container(horizontal=True):
        for key, figure, words, request in (
            ("why_spectra", spectra, spectra_caption, requests[0]),
            ("why_entropy", entropies, entropy_caption, requests[1]),
        ):
            caption = words(story, subject=subject.id, simulated=subject.simulated)
            with st.container(width=DRAWING_WIDTH):
                show_figure(figure, caption, key=key, file_name=f"{subject.id}_{story.name}_{key}", export=request)


def _show_standings(story: RegionStory) -> None:
    rows = [
        {
            "Measure": HUB_METRICS[measure].capitalize().replace("Fc ", "FC "),
            "Value": standing.value,
            "Unit": UNITS[measure],
            "Rank": standing.rank,
            "Hub": standing.hub,
        }
        for measure, standing in story.standings.items()
    ]
    st.dataframe(
        pd.DataFrame(rows),
        key="why_ranks",
        hide_index=True,
        column_config={
            "Value": st.column_config.NumberColumn(format="%.4g"),
            "Unit": st.column_config.TextColumn(width=210),
            "Rank": st.column_config.NumberColumn(f"Rank of {story.n_regions}", help="1 is the strongest hub"),
        },
        alt=f"Value, rank and verdict of {story.name} by each hub measure",
    )
    st.caption(
        plain(
            f"{story.name} by each hub measure; rank 1 is the strongest hub of {story.n_regions} regions. High values "
            "make a hub, but for vertex entanglement, which is the more negative the stronger. Distances are sums of "
            "1/weight. Betweenness is not normalised: it counts the shortest paths through the region, from every "
            "region to every other and back, as bctpy does."
        )
    )
