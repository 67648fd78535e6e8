"""Attention of a model's groups, panel by panel: side by side, their difference, the contrast, in the brain."""

from dataclasses import replace
from typing import Any

import streamlit as st

from biobgt.base.files import safe_table
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.figures.attention_blocks import AttentionBlocks
from biobgt.figures.attention_contrast import AttentionContrast
from biobgt.figures.attention_difference import DIFFERENCES, AttentionDifference, AttentionDifferenceOptions
from biobgt.figures.attention_maps import AttentionMaps, AttentionMapsOptions
from biobgt.figures.attention_options import (
    LOUVAIN,
    AttentionGroupsOptions,
    AttentionOrderOptions,
    AttentionPartOptions,
)
from biobgt.figures.attention_received import AttentionReceived, AttentionReceivedOptions
from biobgt.figures.attention_spread import AttentionSpread
from biobgt.figures.attention_systems import AttentionSystems
from biobgt.figures.graph_words import ATLAS_ORDER
from biobgt.figures.maps_beside import PAGE_WIDTH
from biobgt.figures.register import NoOptions
from biobgt.figures.subject_attention import SubjectAttention, SubjectAttentionOptions
from biobgt.model.attention import GIVEN_FC, WITHOUT_CONNECTIVITY, group_beside
from biobgt.model.installed import InstalledModel
from session.page_options import GLASS, ModelPageOptions, PageOptions, brain_kind
from session.view import View, measured_model
from views.shared.no_coordinates import NO_PLACES
from views.shared.option_widgets import ask, ask_for
from views.shared.remarks import TWO_GROUPS
from views.shared.widgets import heading, input_errors_shown, plain, show

EFFECTS = {"d": "d", "p": "p", "q": "FDR q"}
ADJUSTED = {
    "": "",
    ", given FC": GIVEN_FC,
    ", without overall connectivity": WITHOUT_CONNECTIVITY,
    ", unadjusted": "_unadjusted",
}


def part_of(view: View, model: InstalledModel) -> dict[str, int]:
    """The layer and head that were chosen; one that the model does not have is its mean."""
    chosen = view.options(AttentionPartOptions)
    layer, head = chosen.layer, chosen.head
    return {"layer": layer if layer <= model.n_layers else 0, "head": head if head <= model.n_heads else 0}


def show_maps(view: View, model: InstalledModel, **how: Any) -> None:
    """Show all groups of a model side by side on one colour scale; ``how`` are options of the figure."""
    figure = AttentionMaps.of(measured_model(model), AttentionMapsOptions(**how))
    with st.container(width=PAGE_WIDTH):
        show(view, figure, key=f"attention_{model.name}")


def show_difference(view: View, model: InstalledModel) -> None:
    """Show the difference of two groups, and the tests of module blocks."""
    heading("Difference of two groups", simulated=model.simulated, terms=("fdr",))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(AttentionGroupsOptions, "first", "second", cohort=model.cohort)
        ask_unit(model)
    options = view.options(AttentionDifferenceOptions, **part_of(view, model))
    if options.first == options.second:
        st.info(TWO_GROUPS)
        return
    show_two_groups(view, model, options)


def ask_unit(model: InstalledModel) -> None:
    """Ask in which unit differences are shown, where it is known how uncertain they are."""
    if model.spread is not None:
        ask(AttentionDifferenceOptions, "unit", cohort=model.cohort)


def show_two_groups(view: View, model: InstalledModel, options: AttentionDifferenceOptions, *, key: str = "") -> None:
    """Show the difference of two groups, and the tests of module blocks.

    Parameters
    ----------
    view : View
    model : InstalledModel
    options : AttentionDifferenceOptions
    key : str
        Tells several such panels of a page apart.
    """
    if model.spread is None:
        options = replace(options, unit=DIFFERENCES)
    figure = AttentionDifference.of(measured_model(model), options)
    show(view, figure, key=f"{key}attention_difference")
    if figure.tests is not None:
        _show_tests(view, AttentionBlocks.of(measured_model(model), options.part(AttentionGroupsOptions)), key=key)


def _show_tests(view: View, figure: AttentionBlocks, *, key: str) -> None:
    show(view, figure, key=f"{key}block_effects")
    blocks = figure.blocks
    columns = {"feature": "Block (from → to)", "d_low": "95 % low", "d_high": "95 % high"}
    for words, ending in {**ADJUSTED, ", of FC": figure.tests.of_connectivity}.items():
        columns |= {f"{name}{ending}": f"{title}{words}" for name, title in EFFECTS.items()}
    columns = {name: title for name, title in columns.items() if name in blocks}
    with st.expander("All module blocks, as a table"):
        table = blocks[list(columns)].rename(columns=columns).round(4)
        st.dataframe(safe_table(table), hide_index=True, key=f"{key}block_table", alt="Tests of all module blocks")


def show_contrast(view: View, model: InstalledModel) -> None:
    """Show how closely attention keeps to modules, group by group."""
    heading(AttentionContrast.name, simulated=model.simulated)
    show(view, AttentionContrast.of(measured_model(model), NoOptions()), key="contrast")


def show_spread(view: View, model: InstalledModel) -> None:
    """Show how people spread around their group's mean, where that was measured."""
    if model.spread is None:
        return
    heading("Do a few people drive the mean?", simulated=model.simulated)
    show(view, AttentionSpread.of(measured_model(model), NoOptions()), key="spread")


def show_systems(view: View, model: InstalledModel) -> None:
    """Show where other networks look on the same test subjects."""
    order = _order_in(view, model)
    heading("Does attention in other networks follow functional modules, too?")
    show(view, AttentionSystems.of(measured_model(model), AttentionOrderOptions(order=order)), key="systems")


def _order_in(view: View, model: InstalledModel) -> str:
    """The order of regions that was chosen; the first of another model's atlas where that does not have it."""
    order = view.options(AttentionOrderOptions).order
    return order if order in (*model.atlas.labels, LOUVAIN, ATLAS_ORDER) else next(iter(model.atlas.labels))


def show_received(view: View, model: InstalledModel) -> None:
    """Show on a brain which regions are looked at."""
    group = view.options(AttentionReceivedOptions, **part_of(view, model)).group
    heading(AttentionReceived.name, simulated=model.simulates([group] if group else model.group_names))
    if model.atlas.coordinates is None:
        st.info(NO_PLACES, icon=":material/info:")  # the model's atlas, whatever the subjects are on
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(AttentionReceivedOptions, "group", cohort=model.cohort)
        ask(ModelPageOptions, "received_brain", cohort=model.cohort)
    shown = view.options(ModelPageOptions).received_brain
    glass = shown == GLASS
    options = view.options(AttentionReceivedOptions, brain=brain_kind(shown), **part_of(view, model))
    figure = AttentionReceived.of(measured_model(model), options)
    show(view, figure, key="received_glass" if glass else "received", as_picture=glass)


def show_own(view: View, model: InstalledModel) -> None:
    """Show the current subject's attention beside a group's, when asked to; this runs the model."""
    subject = view.subject
    heading("One subject beside its group", simulated=subject.simulated or model.simulated)
    if said := model.refusal(view.cohort):
        st.info(plain(said), icon=":material/info:")
        return
    wanted = PageOptions.declared()["own_attention"]
    ask_for(wanted, view.cohort, label=plain(f"Run {model.name} on {subject.id}"))
    if not view.options(PageOptions).own_attention:
        st.caption(NOT_A_DIAGNOSIS)
        return
    with input_errors_shown():
        options = view.options(
            SubjectAttentionOptions,
            model=model.name,
            model_sha256=model.sha256,
            group=group_beside(subject.group, model.group_names),
            order=_order_in(view, model),
            **part_of(view, model),
        )
        figure = SubjectAttention.of(view.measured, options)
        if figure.warning:
            st.warning(plain(f"Caution: {figure.warning}."), icon=":material/warning:")
        with st.container(width=PAGE_WIDTH):
            show(view, figure, key="own_attention_map")
