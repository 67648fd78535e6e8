"""Attention of a model's groups, panel by panel: side by side, their difference, the contrast, in the brain."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from biobgt.base.files import safe_table
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.figures.attention import (
    LOUVAIN,
    AttentionMapsOptions,
    AttentionOrderOptions,
    AttentionPartOptions,
    AttentionReceivedOptions,
    SubjectAttentionOptions,
    attention_in_brain,
    attention_maps,
    attention_systems,
    attention_warning,
    subject_attention,
)
from biobgt.figures.attention_groups import (
    DIFFERENCES,
    AttentionDifferenceOptions,
    AttentionGroupsOptions,
    attention_blocks,
    attention_contrast,
    attention_difference,
    attention_likeness,
    attention_spread,
    tested_blocks,
)
from biobgt.figures.graph_words import ATLAS_ORDER
from biobgt.figures.register import NoOptions
from biobgt.figures.screen import PAGE_WIDTH
from biobgt.model.attention import GIVEN_FC, WITHOUT_CONNECTIVITY, BlockTests, group_beside, load_systems_attention
from biobgt.model.installed import InstalledModel
from biobgt.training.card_text import ablation_words, beside_line, beside_words
from session.cohorts import OWN
from session.view import GLASS, ModelPageOptions, PageOptions, View, brain_kind, current_view, measured_model
from views.shared.models import no_models, show_headline
from views.shared.options import ask, ask_for
from views.shared.widgets import NO_PLACES, TWO_GROUPS, explained, heading, input_errors_shown, plain, show

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
    options, measured = AttentionMapsOptions(**how), measured_model(model)
    with st.container(width=PAGE_WIDTH):
        show(view, attention_maps, options, measured=measured, key=f"attention_{model.name}")


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
    measured, groups = measured_model(model), options.part(AttentionGroupsOptions)
    show(view, attention_difference, options, measured=measured, key=f"{key}attention_difference")
    tests = tested_blocks(model, options.between(model))
    if tests is not None:
        show(view, attention_blocks, groups, measured=measured, key=f"{key}block_effects")
        _show_table(tests, key=key)


def _show_table(tests: BlockTests, *, key: str) -> None:
    blocks = tests.blocks
    columns = {"feature": "Block (from → to)", "d_low": "95 % low", "d_high": "95 % high"}
    for words, ending in {**ADJUSTED, ", of FC": tests.of_connectivity}.items():
        columns |= {f"{name}{ending}": f"{title}{words}" for name, title in EFFECTS.items()}
    columns = {name: title for name, title in columns.items() if name in blocks}
    with st.expander("All module blocks, as a table"):
        table = blocks[list(columns)].rename(columns=columns).round(4)
        st.dataframe(safe_table(table), hide_index=True, key=f"{key}block_table", alt="Tests of all module blocks")


def show_contrast(view: View, model: InstalledModel) -> None:
    """Show how closely attention keeps to modules, group by group."""
    heading(attention_contrast.name, simulated=model.simulated)
    show(view, attention_contrast, NoOptions(), measured=measured_model(model), key="contrast")


def show_spread(view: View, model: InstalledModel) -> None:
    """Show how people spread around their group's mean, where that was measured."""
    if model.spread is None:
        return
    heading("Do a few people drive the mean?", simulated=model.simulated)
    show(view, attention_spread, NoOptions(), measured=measured_model(model), key="spread")


def show_systems(view: View, model: InstalledModel) -> None:
    """Show where other networks look on the same test subjects."""
    options = AttentionOrderOptions(order=_order_in(view, model))
    heading("Does attention in other networks follow functional modules, too?")
    show(view, attention_systems, options, measured=measured_model(model), key="systems")


def _order_in(view: View, model: InstalledModel) -> str:
    """The order of regions that was chosen; the first of another model's atlas where that does not have it."""
    order = view.options(AttentionOrderOptions).order
    return order if order in (*model.atlas.labels, LOUVAIN, ATLAS_ORDER) else next(iter(model.atlas.labels))


def show_received(view: View, model: InstalledModel) -> None:
    """Show on a brain which regions are looked at."""
    group = view.options(AttentionReceivedOptions, **part_of(view, model)).group
    heading(attention_in_brain.name, simulated=model.simulates([group] if group else model.group_names))
    if model.atlas.coordinates is None:
        st.info(NO_PLACES, icon=":material/info:")  # the model's atlas, whatever the subjects are on
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(AttentionReceivedOptions, "group", cohort=model.cohort)
        ask(ModelPageOptions, "received_brain", cohort=model.cohort)
    shown = view.options(ModelPageOptions).received_brain
    glass = shown == GLASS
    options = view.options(AttentionReceivedOptions, brain=brain_kind(shown), **part_of(view, model))
    key = "received_glass" if glass else "received"
    show(view, attention_in_brain, options, measured=measured_model(model), key=key, as_picture=glass)


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
        if warning := attention_warning(view.measured, model):
            st.warning(plain(f"Caution: {warning}."), icon=":material/warning:")
        with st.container(width=PAGE_WIDTH):
            show(view, subject_attention, options, key="own_attention_map")


# A network that several cohorts share: first how far their controls differ, then each disorder beside its own.


def show_controls(view: View, model: InstalledModel) -> None:
    """Show how far the controls of two cohorts differ, real ones if there are two: what no diagnosis can explain."""
    controls = [groups[0] for groups in model.readouts.values()]
    real = [group for group in controls if not model.simulates([group])]
    first, second = (real if len(real) > 1 else controls)[:2]
    heading("Do the controls of different cohorts differ?", simulated=model.simulates([first, second]), terms=("fdr",))
    st.markdown(
        plain(
            "Nobody here has a diagnosis, so what differs is the scanner, the preprocessing, the age or the motion of "
            "the cohorts. This bounds what may be said of groups of different cohorts: a difference between two "
            "disorders of two cohorts that is no larger than this says nothing about the disorders."
        )
    )
    options = view.options(AttentionDifferenceOptions, first=first, second=second, **part_of(view, model))
    show_two_groups(view, model, options, key="controls_")


def show_disorder(view: View, model: InstalledModel) -> None:
    """Show a disorder beside the controls of its own cohort."""
    disorder = view.options(ModelPageOptions).disorder
    heading("Each disorder beside its own controls", simulated=model.simulates([disorder]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(ModelPageOptions, "disorder", cohort=model.cohort)
        ask_unit(model)
    groups = {"first": model.controls_of(disorder), "second": disorder}
    show_two_groups(view, model, view.options(AttentionDifferenceOptions, **groups, **part_of(view, model)))


def show_likeness(view: View, model: InstalledModel) -> None:
    """Show how alike the disorders' differences from their own controls are."""
    heading("How alike are the differences?", simulated=model.simulated)
    show(view, attention_likeness, NoOptions(), measured=measured_model(model), key="likeness")


# Attention: where the trained models look, group by group, and where groups differ.


Sections = dict[str, list[Callable[[], None]]]  # what each tab shows


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Attention", help=explained("attention", "ne", "out-of-fold"))
    st.markdown(
        "Every region attends to every other region. Attention weights are computed from embeddings of regional "
        "connectivity that were trained to separate the subject's Louvain modules. The maps show these weights. They "
        "do not explain why a subject is assigned to a group: the text below each model says how much attention, node "
        "entanglement (NE) and training on the subjects' groups contribute to its predictions. Maps are group means "
        "over subjects; the attention of each subject is that of the one ensemble member not trained on it."
    )
    model = view.model_shown
    if model is None:
        no_models()
        return
    st.caption(plain(f"All tabs show {model.name}. Choose another model in the sidebar."))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(AttentionMapsOptions, "order", "layer", "head", "average", cohort=model.cohort)
    sections = _sections(view, model)
    part: list[Callable[[], None]] = [partial(show_own, view, model)]
    is_own = view.loaded.key == OWN
    sections = {"Your subject": part, **sections} if is_own else {**sections, "One subject": part}
    for tab, parts in zip(st.tabs(list(sections)), sections.values(), strict=True):
        with tab:
            for show_part in parts:
                with input_errors_shown():
                    show_part()


def _sections(view: View, model: InstalledModel) -> Sections:
    """What the tabs show of the model's groups."""
    if model.readouts:  # of a network, every person is in the figure of the spread, and needs no contrast
        compared = {
            "Controls": [show_controls],
            "Disorders": [show_disorder, show_likeness],
            "People": [show_spread],
        }
    else:
        compared = {"Difference": [show_difference], "Within modules": [show_contrast], "People": [show_spread]}
    if model.spread is None:
        del compared["People"]
    compared["In the brain"] = [show_received]
    sections: Sections = {"Groups side by side": [partial(_show_groups, view, model)]}
    for title, shown in compared.items():
        sections[title] = [partial(show_part, view, model) for show_part in shown]
    if load_systems_attention().model == model.name:  # the others were measured beside this one
        sections["Other networks"] = [partial(show_systems, view, model)]
    return sections


def _show_groups(view: View, model: InstalledModel) -> None:
    heading(model.name, simulated=model.simulated)
    if model.readouts and model.simulated:
        st.caption("Groups marked as simulated are simulated; all others are real.")
    show_headline(model.card)
    _show_parts(model)
    chosen = view.options(AttentionMapsOptions)
    show_maps(view, model, order=chosen.order, average=chosen.average, **part_of(view, model))


def _show_parts(model: InstalledModel) -> None:
    """What NE, attention and training on groups do to predictions; of a network, readout by readout."""
    if not model.readouts:
        st.markdown(plain(ablation_words(model.card)))
        if said := beside_line(model.card):
            st.caption(plain(said), help=plain(beside_words(model.card)))
        return
    with st.expander("How much do NE and attention contribute to predictions?"):
        for cohort in model.readouts:
            readout = model.readout(cohort)
            st.markdown(f"**{plain(', '.join(readout.group_names))}:** {plain(ablation_words(readout.card))}")
            if said := beside_line(readout.card):
                st.caption(plain(said), help=plain(beside_words(readout.card)))


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    show_page()
