"""A network that several cohorts share: first how far their controls differ, then each disorder beside its own."""

import streamlit as st

from biobgt.figures.attention_difference import AttentionDifferenceOptions
from biobgt.figures.attention_likeness import AttentionLikeness
from biobgt.figures.register import NoOptions
from biobgt.model.installed import InstalledModel
from session.page_options import ModelPageOptions
from session.view import View, measured_model
from views.attention.attention_panels import ask_unit, part_of, show_two_groups
from views.shared.option_widgets import ask
from views.shared.widgets import heading, plain, show


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
    show(view, AttentionLikeness.of(measured_model(model), NoOptions()), key="likeness")
