"""The scatters, the γ-sweep and the table of the page of hubs."""

from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from biobgt.base.files import safe_table
from biobgt.data.atlas import LABELLINGS, PAPER_MODULES
from biobgt.figures.hub_words import table_caption
from biobgt.figures.hubs import GammaSweepOptions, HubScatterOptions, gamma_sweep, hub_scatter
from biobgt.figures.reliability_words import measure_reliability
from biobgt.hubs.measures import HUB_MEASURES, NE, HubMeasure
from biobgt.hubs.options import HubOptions
from session.view import View
from views.hubs.evidence_panels import hub_reliability
from views.shared.widgets import SIDE_BY_SIDE, heading, plain, show

LETTER_WIDTH, FEWEST_LETTERS = 8, 10  # of a column of names, in px, so that "cingulo-opercular" is whole


def show_scatters(view: View, measures: tuple[str, ...], *, region: str, on_pick: Callable[[int], None]) -> None:
    """Show node entanglement against each of the other measures.

    Parameters
    ----------
    view : View
    measures : tuple of str
        Keys of the other measures.
    region : str
        Name of the region to mark.
    on_pick : callable
        Told the number of the region that was clicked.
    """
    heading("Does NE agree, region by region?", simulated=view.subject.simulated, terms=("agreement",))
    with st.container(horizontal=True):
        for measure in measures:
            options = view.options(HubScatterOptions, measure=measure, region=region)
            with st.container(width=SIDE_BY_SIDE):
                show(view, hub_scatter, options, key=f"ne_{measure}", on_pick=on_pick)


def show_sweep(view: View, measures: tuple[str, ...]) -> None:
    """Show where over γ node entanglement agrees with the other measures."""
    heading("At which diffusion times does NE agree?", simulated=view.subject.simulated)
    show(view, gamma_sweep, view.options(GammaSweepOptions, measures=measures))


def show_table(view: View, measures: tuple[str, ...]) -> None:
    """Show the measures of every region, the strongest hub by NE first."""
    subject, options = view.subject, view.options(HubOptions)
    table = view.measured.hub_table(options, tuple(dict.fromkeys((NE, *measures))))
    heading("Hub table", simulated=subject.simulated)
    reliability = hub_reliability(view)
    columns = [f"{measure}{what}" for measure in measures for what in ("", "_rank", "_hub")]
    kind = view.measured.kind
    n_hubs = {HUB_MEASURES[measure].in_words_of(kind).short: int(table[f"{measure}_hub"].sum()) for measure in measures}
    caption = table_caption(subject.id, n_hubs, options, simulated=subject.simulated)
    shown = table.sort_values(f"{NE}_rank", kind="stable")[["region", *columns, *view.atlas.labels]]
    labels = {
        name: st.column_config.TextColumn(name.capitalize(), width=_width(names), help=_label_help(name, names))
        for name, names in view.atlas.labels.items()
    }
    st.dataframe(
        safe_table(shown.fillna(dict.fromkeys(view.atlas.labels, ""))),
        key="hub_table",
        column_config={
            column: config
            for measure in measures
            for column, config in _columns(
                HUB_MEASURES[measure].in_words_of(kind), measure_reliability(measure, reliability)
            ).items()
        }
        | labels,
        height=420,
        alt="Hub measures of each region: value, rank, and whether it is a hub",
    )
    st.caption(plain(caption))


def _label_help(labelling: str, names: Iterable[str | None]) -> str | None:
    """What a labelling is, and which networks its abbreviations are."""
    title = LABELLINGS.get(labelling)
    found = set(names)
    spelt = "; ".join(f"{short}: {name}" for short, name in PAPER_MODULES.items() if short in found)
    return f"{title}. {spelt}" if title and spelt else title


def _width(names: Iterable[str | None]) -> int:
    """The width of a column in which the longest of the names is whole, in px."""
    return LETTER_WIDTH * max([FEWEST_LETTERS, *(len(name) + 2 for name in names if name)])


def _columns(about: HubMeasure, reliability: str) -> dict[str, Any]:
    """How a measure's columns are headed and written; its reliability stands in the help of the first."""
    measure = about.key
    meaning = f"{about.title}. {reliability}" if reliability else about.title
    number = "%d" if about.counts else "%.4g"
    return {
        measure: st.column_config.NumberColumn(about.short, format=number, help=meaning),
        f"{measure}_rank": st.column_config.NumberColumn(f"{about.short} rank"),
        f"{measure}_hub": st.column_config.CheckboxColumn(f"{about.short} hub", help="A hub by the chosen rule"),
    }
