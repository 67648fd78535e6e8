"""Hubs: node entanglement beside node efficiency and FC strength, where they agree and where not."""

from typing import Any

import pandas as pd
import streamlit as st
from hub_results import subject_hubs
from state import (
    CURVE_ORDER,
    CURVE_SCALE,
    GAMMA,
    GAMMAS,
    HUB_RULE,
    HUB_RULES,
    PERTURBATION,
    PERTURBATIONS,
    TABLE_MEASURES,
    View,
    current_view,
)
from widgets import heading, plain, sentences, show_figure

from biobgt.atlas import LABELLINGS
from biobgt.figures import (
    RULE_TITLES,
    SHORT_NAMES,
    CurveScale,
    RegionOrder,
    correlation_text,
    curves_caption,
    gamma_sweep,
    hub_curves,
    hub_scatter,
    order_by_value,
    order_regions,
    scatter_caption,
    sweep_caption,
    table_caption,
)
from biobgt.hubs import HUB_METRICS
from biobgt.hubs.rank_correlation import RankCorrelation
from biobgt.hubs.sweep import REFERENCES, SubjectHubs, hub_correlations, subject_sweep
from biobgt.studies import study_sweep

NE = "node_entanglement"
SCALE_TITLES: dict[CurveScale, str] = {"z": "z-score", "rank": "Rank", "raw": "Raw"}
BY_NE, ATLAS_ORDER = "by NE", "atlas order"
SCATTER_WIDTH = 395  # two side by side at 1280 px, one below the other at 800


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Hubs")
    st.markdown(
        "Node entanglement (NE) asks how much the spectral entropy of the brain graph changes when one region is "
        "perturbed. Whether it agrees with node efficiency (NEff) and FC strength depends on the diffusion time γ, on "
        "the threshold and on the perturbation: move them and see."
    )
    _ask_how()
    with sentences():
        hubs = subject_hubs(view)
        table = hubs.table(view.hubs.gamma, rule=view.hubs.rule)
        correlations = hub_correlations(hubs, view.hubs.gamma)
        _show_curves(view, table)
        _show_scatters(view, table, correlations)
        _show_sweep(view, hubs, correlations)
        _show_table(view, table)


def _ask_how() -> None:
    """Ask for γ, the perturbation and the rule; the sidebar opened them from the link and reads them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Perturbation",
            PERTURBATIONS,
            format_func=str.capitalize,
            key=PERTURBATION,
            required=True,
            persist_state="session",
            help="Control: the region's neighbourhood becomes a clique of the same total weight. "
            "Remove: the region loses its connections.",
        )
        st.segmented_control(
            "Hubs are",
            HUB_RULES,
            format_func=RULE_TITLES.__getitem__,
            key=HUB_RULE,
            required=True,
            persist_state="session",
            help="By each measure: the highest tenth of the regions, or those above the mean by more than one SD.",
        )
        st.select_slider(
            "Diffusion time γ, in units of 1/mean(λ)",
            GAMMAS,
            format_func=lambda gamma: f"{gamma:g}",
            key=GAMMA,
            persist_state="session",
            help="λ are the eigenvalues of the graph's Laplacian. Small γ looks at a region's surroundings, large γ "
            "at the whole brain.",
        )


def _show_curves(view: View, table: pd.DataFrame) -> None:
    subject, choices = view.subject, view.hubs
    heading("Over all regions", simulated=subject.simulated)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        scale = _pick_scale()
        order, order_title = _pick_order(view, table)
    suffix = "" if scale == "raw" else f"_{scale}"
    figure = hub_curves(
        {measure: table[f"{measure}{suffix}"].to_numpy() for measure in SHORT_NAMES},
        view.atlas.regions,
        table[f"{NE}_hub"].to_numpy(),
        scale=scale,
        order=order,
        order_title=order_title,
        title=f"NE, NEff and FC strength of {subject.id}",
        simulated=subject.simulated,
    )
    caption = curves_caption(
        subject.id,
        len(table),
        int(table[f"{NE}_hub"].sum()),
        scale=scale,
        gamma=choices.gamma,
        perturbation=choices.perturbation,
        rule=choices.rule,
        simulated=subject.simulated,
    )
    show_figure(figure, caption, key="hub_curves", file_name=f"{subject.id}_hubs")


def _pick_scale() -> CurveScale:
    st.session_state.setdefault(CURVE_SCALE, "z")
    scale: CurveScale | None = st.segmented_control(
        "Values",
        list(SCALE_TITLES),
        format_func=SCALE_TITLES.__getitem__,
        key=CURVE_SCALE,
        required=True,
        persist_state="session",
    )
    return scale or "z"


def _pick_order(view: View, table: pd.DataFrame) -> tuple[RegionOrder, str]:
    """Let the user choose the order of regions; return it, and what it is."""
    atlas = view.atlas
    titles = {ATLAS_ORDER: "Atlas order", BY_NE: "By NE, highest first"}
    titles |= {name: f"By {LABELLINGS.get(name, name)}" for name in atlas.labels}
    if st.session_state.get(CURVE_ORDER) not in titles:
        st.session_state[CURVE_ORDER] = ATLAS_ORDER
    chosen = st.selectbox(
        "Regions in order", list(titles), format_func=titles.__getitem__, key=CURVE_ORDER, persist_state="session"
    )
    if chosen == BY_NE:
        return order_by_value(table[NE].to_numpy()), "by NE, highest first"
    return order_regions(atlas.n_regions, atlas.labels.get(chosen)), "in atlas order"


def _show_scatters(view: View, table: pd.DataFrame, correlations: dict[str, RankCorrelation]) -> None:
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
                simulated=subject.simulated,
            )
            with st.container(width=SCATTER_WIDTH):
                show_figure(figure, caption, key=f"ne_{measure}", file_name=f"{subject.id}_ne_{measure}")


def _show_sweep(view: View, hubs: SubjectHubs, correlations: dict[str, RankCorrelation]) -> None:
    subject, choices = view.subject, view.hubs
    heading("At which diffusion times does NE agree?", simulated=subject.simulated)
    study = study_sweep(view.settings, view.atlas, perturbation=choices.perturbation)
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
        simulated=subject.simulated,
    )
    show_figure(figure, caption, key="gamma_sweep", file_name=f"{subject.id}_gamma_sweep")


def _show_table(view: View, table: pd.DataFrame) -> None:
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
        name: st.column_config.TextColumn(name.capitalize(), help=LABELLINGS.get(name)) for name in view.atlas.labels
    }
    st.dataframe(
        shown.fillna(dict.fromkeys(view.atlas.labels, "")),
        column_config={column: config for measure in chosen for column, config in _columns(measure).items()} | labels,
        height=420,
        alt="Hub measures of each region: value, rank, and whether it is a hub",
    )
    st.caption(plain(caption))


def _name(measure: str) -> str:
    return SHORT_NAMES.get(measure, HUB_METRICS[measure])


def _columns(measure: str) -> dict[str, Any]:
    """How a measure's columns are headed and written."""
    name, meaning = _name(measure), HUB_METRICS[measure]
    number = "%d" if measure == "degree" else "%.4f"
    return {
        measure: st.column_config.NumberColumn(name, format=number, help=meaning),
        f"{measure}_rank": st.column_config.NumberColumn(f"{name} rank", help="1 is the strongest hub"),
        f"{measure}_hub": st.column_config.CheckboxColumn(f"{name} hub", help="A hub by the chosen rule"),
    }


show_page()
