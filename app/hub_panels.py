"""The scatters, the γ-sweep and the table of the page of hubs."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import streamlit as st
from export_list import hub_request, ruled_request
from hub_evidence_panels import hub_reliability
from loaded import View
from state import GAMMAS, TABLE_MEASURES
from widgets import heading, plain, show_figure

from biobgt.atlas import LABELLINGS
from biobgt.figures import (
    SHORT_NAMES,
    correlation_text,
    gamma_sweep,
    hub_scatter,
    scatter_caption,
    sweep_caption,
    table_caption,
)
from biobgt.figures.agreement_words import little_strength_sentence
from biobgt.figures.reliability_words import measure_reliability
from biobgt.hubs import HUB_METRICS
from biobgt.hubs.rank_correlation import RankCorrelation
from biobgt.hubs.sweep import REFERENCES, SubjectHubs, subject_sweep
from biobgt.spreadsheets import written
from biobgt.studies import study_sweep

NE = "node_entanglement"
SCATTER_WIDTH = 395  # two side by side at 1280 px, one below the other at 800
LETTER_WIDTH, FEWEST_LETTERS = 8, 10  # of a column of names, in px, so that "cingulo-opercular" is whole

Pick = Callable[[int], None]


def show_scatters(
    view: View, table: pd.DataFrame, correlations: dict[str, RankCorrelation], *, picked: int, on_pick: Pick
) -> None:
    """Show node entanglement against node efficiency and against FC strength."""
    subject = view.subject
    heading("Does NE agree, region by region?", simulated=subject.simulated)
    with st.container(horizontal=True):
        for measure, found in correlations.items():
            figure = hub_scatter(
                table[measure].to_numpy(),
                table[NE].to_numpy(),
                view.atlas.regions,
                table[f"{NE}_hub"].to_numpy(),
                measure=measure,
                subtitle=correlation_text(found.rho, found.low, found.high),
                picked=picked,
                simulated=subject.simulated,
            )
            caption = scatter_caption(
                subject.id,
                measure,
                found.n_regions,
                rho=found.rho,
                low=found.low,
                high=found.high,
                gamma=view.hubs.gamma,
                remark=_remark(view) if measure == "fc_strength" else "",
                simulated=subject.simulated,
            )
            name = f"{subject.id}_ne_{measure}"
            with st.container(width=SCATTER_WIDTH):
                request = ruled_request(view, "hub_scatter", measure=measure)
                show_figure(figure, caption, key=f"ne_{measure}", file_name=name, on_pick=on_pick, export=request)


def show_sweep(view: View, hubs: SubjectHubs, correlations: dict[str, RankCorrelation]) -> None:
    """Show where over γ node entanglement agrees with the other two."""
    subject, choices = view.subject, view.hubs
    heading("At which diffusion times does NE agree?", simulated=subject.simulated)
    study = study_sweep(view.settings, view.atlas, perturbation=choices.perturbation, subject=subject)
    figure = gamma_sweep(
        subject_sweep(hubs, GAMMAS),
        REFERENCES,
        chosen=choices.gamma,
        study=study.agreement,
        title=f"Agreement over γ, {subject.id}",
        simulated=subject.simulated,
    )
    caption = sweep_caption(
        subject.id,
        gamma=choices.gamma,
        rhos={measure: found.rho for measure, found in correlations.items()},
        perturbation=choices.perturbation,
        study=study.note,
        remark=_remark(view),
        simulated=subject.simulated,
    )
    request = hub_request(view, "gamma_sweep", gammas=GAMMAS)
    show_figure(figure, caption, key="gamma_sweep", file_name=f"{subject.id}_gamma_sweep", export=request)


def show_table(view: View, table: pd.DataFrame) -> None:
    """Show every measure of every region, the strongest hub by NE first."""
    subject, choices = view.subject, view.hubs
    heading("Hub table", simulated=subject.simulated)
    st.session_state.setdefault(TABLE_MEASURES, list(SHORT_NAMES))
    chosen = st.multiselect(
        "Measures",
        list(HUB_METRICS),
        format_func=lambda measure: HUB_METRICS[measure].capitalize().replace("Fc ", "FC "),
        key=TABLE_MEASURES,
        persist_state="session",
    )
    reliability = hub_reliability(view)
    columns = [f"{measure}{what}" for measure in chosen for what in ("", "_rank", "_hub")]
    caption = table_caption(
        subject.id,
        {_name(measure): int(table[f"{measure}_hub"].sum()) for measure in chosen},
        gamma=choices.gamma,
        perturbation=choices.perturbation,
        rule=choices.rule,
        simulated=subject.simulated,
    )
    shown = table.sort_values(f"{NE}_rank", kind="stable")[["region", *view.atlas.labels, *columns]]
    labels = {
        name: st.column_config.TextColumn(name.capitalize(), width=_width(names), help=LABELLINGS.get(name))
        for name, names in view.atlas.labels.items()
    }
    st.dataframe(
        written(shown.fillna(dict.fromkeys(view.atlas.labels, ""))),
        key="hub_table",
        column_config={
            column: config
            for measure in chosen
            for column, config in _columns(measure, measure_reliability(measure, reliability)).items()
        }
        | labels,
        height=420,
        alt="Hub measures of each region: value, rank, and whether it is a hub",
    )
    st.caption(plain(caption))


def _name(measure: str) -> str:
    return SHORT_NAMES.get(measure, HUB_METRICS[measure])


def _width(names: Iterable[str | None]) -> int:
    """The width of a column in which the longest of the names is whole, in px."""
    return LETTER_WIDTH * max([FEWEST_LETTERS, *(len(name) + 2 for name in names if name)])


def _remark(view: View) -> str:
    """On FC strength, where it has little to compare with."""
    return little_strength_sentence(view.mean_connectivity()[0])


def _columns(measure: str, reliability: str) -> dict[str, Any]:
    """How a measure's columns are headed and written; its reliability stands in the help of the first."""
    name, meaning = _name(measure), HUB_METRICS[measure]
    meaning = f"{meaning}. {reliability}" if reliability else meaning
    number = "%d" if measure == "degree" else "%.4f"
    return {
        measure: st.column_config.NumberColumn(name, format=number, help=meaning),
        f"{measure}_rank": st.column_config.NumberColumn(f"{name} rank", help="1 is the strongest hub"),
        f"{measure}_hub": st.column_config.CheckboxColumn(f"{name} hub", help="A hub by the chosen rule"),
    }
