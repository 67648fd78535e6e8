"""Why this region? One region of the page of hubs, picked by a click or by name, and what node entanglement sees."""

import pandas as pd
import streamlit as st

from biobgt.base.files import safe_table
from biobgt.base.wording import listed
from biobgt.data.graph import ConnectivityKind
from biobgt.figures.hub_words import RANK_1
from biobgt.figures.why_region import (
    EntropyOptions,
    RegionOptions,
    SurroundingsOptions,
    region_entropy,
    region_spectra,
    region_surroundings,
    story_of,
    story_sentences,
)
from biobgt.hubs.measures import HUB_MEASURES, notes_on
from biobgt.hubs.options import HubOptions
from biobgt.hubs.table import RegionStory
from session.keys import REGION
from session.view import View
from views.shared.widgets import SIDE_BY_SIDE, heading, plain, show

ANCHOR = "why-this-region"
STRONGEST = ""  # in place of a region: whichever has the highest NE


def picked_region(view: View) -> str:
    """The region that is asked about: the one picked, or the one with the highest NE."""
    if st.session_state.setdefault(REGION, STRONGEST) not in view.atlas.regions:  # none, or of another atlas
        st.session_state[REGION] = STRONGEST
    return st.session_state[REGION] or _strongest(view)


def pick_region(view: View, region: int) -> None:
    """Ask about a region that was clicked."""
    st.session_state[REGION] = view.atlas.regions[region]


def show_hint(region: str) -> None:
    """Say that points can be clicked, and where the answer is."""
    st.markdown(
        f"Click a point to see why NE ranks its region as it does. Selected: **{plain(region)}**, explained in "
        f"[Why this region?](#{ANCHOR})"
    )


def show_why(view: View, region: str) -> None:
    """Show what node entanglement compares for one region, in words and figures."""
    terms = ("control-graph", "laplacian", "spectral-entropy", "ve")
    heading("Why this region?", simulated=view.subject.simulated, terms=terms)
    strongest = _strongest(view)
    st.selectbox(
        "Region: choose it here, or click a point above",
        [STRONGEST, *view.atlas.regions],
        format_func=lambda name: name or f"The strongest hub by NE: {strongest}",
        key=REGION,
        persist_state="session",
    )
    story = story_of(view.measured, view.options(RegionOptions, region=region))
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in story_sentences(story, view.measured.kind)))
    with st.container(horizontal=True):
        for key, perturbed in (("why_before", False), ("why_after", True)):
            options = view.options(SurroundingsOptions, region=region, perturbed=perturbed)
            with st.container(width=SIDE_BY_SIDE):
                show(view, region_surroundings, options, key=key)
    with st.container(horizontal=True):
        with st.container(width=SIDE_BY_SIDE):
            show(view, region_spectra, view.options(RegionOptions, region=region), key="why_spectra")
        with st.container(width=SIDE_BY_SIDE):
            show(view, region_entropy, view.options(EntropyOptions, region=region), key="why_entropy")
    _show_standings(story, view.measured.kind)


def _strongest(view: View) -> str:
    return view.atlas.regions[view.measured.strongest_hub(view.options(HubOptions))]


def _show_standings(story: RegionStory, kind: ConnectivityKind) -> None:
    rows = [
        {
            "Measure": HUB_MEASURES[measure].in_words_of(kind).heading,
            "Value": standing.value,
            "Unit": HUB_MEASURES[measure].unit,
            "Rank": standing.rank,
            "Hub": standing.hub,
        }
        for measure, standing in story.standings.items()
    ]
    st.dataframe(
        safe_table(pd.DataFrame(rows)),
        key="why_ranks",
        hide_index=True,
        column_config={
            "Value": st.column_config.NumberColumn(format="%.4g"),
            "Unit": st.column_config.TextColumn(width=210),
            "Rank": st.column_config.NumberColumn(f"Rank of {story.n_regions}"),
        },
        alt=f"Value, rank and verdict of {story.name} by each hub measure",
    )
    st.caption(
        plain(
            f"{story.name} by each hub measure; rank {RANK_1}. Hubs have "
            f"high values{_low_in_hubs(story)}. {' '.join(notes_on(story.standings))}"
        )
    )


def _low_in_hubs(story: RegionStory) -> str:
    """Of which measures hubs have low values; nothing where there is none."""
    low = [HUB_MEASURES[measure].title for measure in story.standings if HUB_MEASURES[measure].low_in_hubs]
    return f", and low values of {listed(low)}" if low else ""
