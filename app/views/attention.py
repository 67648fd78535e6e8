"""Attention: where the trained models look, group by group, and where groups differ.

Every tab is a list of panels. A network that several cohorts share has other tabs than a model of one cohort.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from biobgt.base.beyond import GIVEN_FC
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.figures.attention import maps, tested
from biobgt.figures.regions import ATLAS_ORDER
from biobgt.figures.screen.pen import PAGE_WIDTH
from biobgt.model.attention import WITHOUT_CONNECTIVITY, group_beside
from biobgt.model.pretrained import InstalledModel
from biobgt.training.card_text import CardText
from session.view import ModelPageOptions, PageOptions, View, current_view, measured_model
from views.shared import widgets
from views.shared.figures import NO_PLACES, Asked, Panel, show, show_beside, show_faithfulness, show_in_brain
from views.shared.widgets import caption, escape_markdown, heading, in_one_line, input_errors_shown

_EFFECTS = {"d": "d", "p": "p", "q": "FDR q"}
_ADJUSTED = {
    "": "",
    ", given FC": GIVEN_FC,
    ", without overall connectivity": WITHOUT_CONNECTIVITY,
    ", unadjusted": "_unadjusted",
}


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    about = (
        "Every region attends to every other region. Attention weights are computed from embeddings of regional "
        "connectivity that were trained to separate the subject's Louvain modules. The maps show these weights. They "
        "do not explain why a subject is assigned to a group: the text below each model says how much attention, node "
        "entanglement (NE) and training on the subjects' groups contribute to its predictions. Maps are group means "
        "over subjects; the attention of each subject is that of the one ensemble member not trained on it."
    )
    model = view.model_shown
    simulated = view.subject.simulated if model is None else model.simulated
    widgets.open_page("attention", about, "attention", "ne", "out-of-fold", "fdr", simulated=simulated)
    if model is None:
        widgets.no_models()
        return
    with widgets.controls():
        widgets.ask(ModelPageOptions, "attention_tab", cohort=model.cohort)
        widgets.ask(maps.attention_maps.takes, "order", "layer", "head", "average", cohort=model.cohort)
    for show_panel in _TABS[view.options(ModelPageOptions).attention_tab]:
        with input_errors_shown():
            show_panel(view, model)


def _part_of(view: View, model: InstalledModel) -> dict[str, int]:
    """The layer and head that were chosen; one that the model does not have is its mean."""
    chosen = view.options(maps.AttentionPartOptions)
    layer, head = chosen.layer, chosen.head
    return {"layer": layer if layer <= model.n_layers else 0, "head": head if head <= model.n_heads else 0}


def _order_in(view: View, model: InstalledModel) -> str:
    """The order of regions that was chosen; the first of another model's atlas where that does not have it."""
    order = view.options(maps.AttentionOrderOptions).order
    return order if order in (*model.atlas.labels, maps.LOUVAIN, ATLAS_ORDER) else next(iter(model.atlas.labels))


def _show_groups(view: View, model: InstalledModel) -> None:
    """Show all groups of a model side by side on one colour scale, above what the model is worth."""
    options = view.options(maps.attention_maps.takes, **_part_of(view, model))
    with st.container(width=PAGE_WIDTH):
        show(view, maps.attention_maps, options, measured=measured_model(model), key=f"attention_{model.name}")
    caption(f"All tabs show {model.name}. Choose another model in the sidebar.")
    if model.readouts and model.simulated:
        st.caption("Groups marked as simulated are simulated; all others are real.")
    widgets.show_headline(model.card)
    if model.readouts:
        with st.expander("How much do NE and attention contribute to predictions?"):
            for readout in map(model.readout, model.readouts):
                _say_what_counts(readout, f"{', '.join(readout.group_names)}: ")
    else:
        _say_what_counts(model)


def _say_what_counts(model: InstalledModel, whose: str = "") -> None:
    """What NE, attention and training on groups do to predictions."""
    text = CardText(model.card)
    in_one_line(f"{whose}{text.ablation}", key=f"counts_{model.name}")
    if said := text.beside_line:
        caption(said, help=escape_markdown(text.beside_connectivity))


def _show_difference(view: View, model: InstalledModel) -> None:
    """Show the difference of two groups, and the tests of module blocks."""
    with widgets.in_a_row():
        widgets.ask(tested.AttentionGroupsOptions, "first", "second", cohort=model.cohort)
        _ask_unit(model)
    options = view.options(tested.AttentionDifferenceOptions, **_part_of(view, model))
    if options.first == options.second:
        st.info(widgets.TWO_GROUPS)
    else:
        _show_two_groups(view, model, options)


def _ask_unit(model: InstalledModel) -> None:
    """Ask in which unit differences are shown, where it is known how uncertain they are."""
    if model.spread is not None:
        widgets.ask(tested.AttentionDifferenceOptions, "unit", cohort=model.cohort)


def _show_two_groups(
    view: View, model: InstalledModel, options: tested.AttentionDifferenceOptions, *, key: str = ""
) -> None:
    """Show the difference of two groups, and the tests of module blocks; ``key`` tells several such panels apart."""
    if model.spread is None:
        options = replace(options, unit=tested.DIFFERENCES)
    measured, compared = measured_model(model), options.part(tested.AttentionGroupsOptions)
    tests = tested.tested_blocks(model, options.between(model))
    shown: list[Asked] = [(tested.attention_difference, options, f"{key}attention_difference")]
    if tests is not None:
        shown.append((tested.attention_blocks, compared, f"{key}block_effects"))
    show_beside(view, *shown, wide=True, measured=measured)
    if tests is None:
        return
    blocks = tests.blocks
    columns = {"feature": "Block (from → to)", "d_low": "95 % low", "d_high": "95 % high"}
    for words, ending in {**_ADJUSTED, ", of FC": tests.of_connectivity}.items():
        columns |= {f"{name}{ending}": f"{title}{words}" for name, title in _EFFECTS.items()}
    columns = {name: title for name, title in columns.items() if name in blocks}
    with st.expander("All module blocks, as a table"):
        table = blocks[list(columns)].rename(columns=columns).round(4)
        if tests.beside is not None:
            table["Beyond FC"] = tests.beyond_fc
        widgets.show_table(table, key=f"{key}block_table", alt="Tests of all module blocks")


def _show_systems(view: View, model: InstalledModel) -> None:
    """Show where other networks look on the same test subjects; who they are stands in the figure."""
    heading("Does attention in other networks follow functional modules, too?")
    options = maps.AttentionOrderOptions(order=_order_in(view, model))
    show(view, maps.attention_systems, options, measured=measured_model(model), key="systems")


def _show_received(view: View, model: InstalledModel) -> None:
    """Show on a brain which regions are looked at."""
    if model.atlas.coordinates is None:
        st.info(NO_PLACES, icon=":material/info:")  # the model's atlas, whatever the subjects are on
        return
    with widgets.in_a_row():
        widgets.ask(maps.attention_in_brain.takes, "group", cohort=model.cohort)
        widgets.ask(ModelPageOptions, "received_brain", cohort=model.cohort)
    shown, part = view.options(ModelPageOptions).received_brain, _part_of(view, model)
    show_in_brain(view, maps.attention_in_brain, shown, key="received", measured=measured_model(model), **part)


def _show_own(view: View, model: InstalledModel) -> None:
    """Show the current subject's attention beside a group's, when asked to; this runs the model."""
    subject = view.subject
    heading("One subject beside its group")
    if said := model.refusal(view.cohort):
        st.info(escape_markdown(said), icon=":material/info:")
        return
    wanted = PageOptions.declared()["own_attention"]
    widgets.ask_for(wanted, view.cohort, label=escape_markdown(f"Run {model.name} on {subject.id}"))
    if not view.options(PageOptions).own_attention:
        st.caption(NOT_A_DIAGNOSIS)
        return
    options = view.options(
        maps.subject_attention.takes,
        model=model.name,
        model_sha256=model.sha256,
        group=group_beside(subject.group, model.group_names),
        order=_order_in(view, model),
        **_part_of(view, model),
    )
    if warning := maps.attention_warning(view.measured, model):
        st.warning(escape_markdown(f"Caution: {warning}."), icon=":material/warning:")
    with st.container(width=PAGE_WIDTH):
        show(view, maps.subject_attention, options, key="own_attention_map")


def _show_faithful(view: View, model: InstalledModel) -> None:
    """Show whether attention is faithful: of a network that several cohorts share, with each readout."""
    if not model.readouts:
        show_faithfulness(view, model)
        return
    for readout in map(model.readout, model.readouts):
        show_faithfulness(view, readout, groups=", ".join(readout.group_names))


# A network that several cohorts share: first how far their controls differ, then each disorder beside its own.


def _show_controls(view: View, model: InstalledModel) -> None:
    """Show how far the controls of two cohorts differ, real ones if there are two: what no diagnosis can explain."""
    controls = [groups[0] for groups in model.readouts.values()]
    real = [group for group in controls if not model.simulates([group])]
    first, second = (real if len(real) > 1 else controls)[:2]
    about = (
        "Nobody here has a diagnosis, so what differs is the scanner, the preprocessing, the age or the motion of the "
        "cohorts. This bounds what may be said of groups of different cohorts: a difference between two disorders of "
        "two cohorts that is no larger than this says nothing about the disorders."
    )
    heading("Do the controls of different cohorts differ?", about=about)
    options = view.options(tested.AttentionDifferenceOptions, first=first, second=second, **_part_of(view, model))
    _show_two_groups(view, model, options, key="controls_")


def _show_disorder(view: View, model: InstalledModel) -> None:
    """Show a disorder beside the controls of its own cohort."""
    disorder = view.options(ModelPageOptions).disorder
    with widgets.in_a_row():
        widgets.ask(ModelPageOptions, "disorder", cohort=model.cohort)
        _ask_unit(model)
    two = {"first": model.controls_of(disorder), "second": disorder}
    options = view.options(tested.AttentionDifferenceOptions, **two, **_part_of(view, model))
    _show_two_groups(view, model, options)


_TABS: Mapping[str, Sequence[Callable[[View, InstalledModel], None]]] = {
    "groups": [_show_groups],
    "difference": [_show_difference],
    "contrast": [Panel(tested.attention_contrast, "contrast")],
    # Of a network every person is in the figure of the spread, and needs no contrast.
    "controls": [_show_controls],
    "disorders": [_show_disorder, Panel(tested.attention_likeness, "likeness", "How alike are the differences?")],
    "people": [Panel(tested.attention_spread, "spread", "Do a few people drive the mean?")],
    "brain": [_show_received],
    "systems": [_show_systems],
    "faithful": [_show_faithful],
    "subject": [_show_own],
}


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
