"""Compare: whether two groups of the cohort differ, and whether it may be the diagnosis."""

import streamlit as st

from biobgt.data.cohort import FEWEST_COMPARED
from biobgt.groups.compare import (
    HUBS,
    MODULES,
    NETWORKS,
    SEGREGATION,
    ComparisonOptions,
    comparable_groups,
    offered_covariates,
)
from biobgt.hubs.measures import HUB_MEASURES
from session.view import View, current_view
from views.compare.design_panel import show_design
from views.compare.differences_panel import show_differences
from views.compare.modules_panel import show_modules
from views.page_map import PAGES
from views.shared.option_widgets import ask
from views.shared.remarks import TWO_GROUPS
from views.shared.widgets import explained, input_errors_shown

# What is asked beside the groups, by what is compared.
_ASKED = {
    NETWORKS: ("labelling",),
    SEGREGATION: ("resolution", "consensus", "runs", "seed"),
    HUBS: ("measure",),
    MODULES: ("resolution", "consensus", "runs", "seed"),
}


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Compare", help=explained("covariate"))
    st.markdown(
        "Two groups of the cohort, compared over people: several recordings of a person are averaged first. What the "
        "covariates cost is said before anything is computed."
    )
    if len(comparable_groups(view.cohort)) < 2:
        st.info(f"Two groups of at least {FEWEST_COMPARED} people each are needed.")
        st.page_link(PAGES["subjects"].script, label="Set groups on the page Subjects", icon=":material/arrow_forward:")
        return
    with input_errors_shown():
        options = _ask(view)
        if options.first == options.second:
            st.info(TWO_GROUPS)
        elif options.of == MODULES:
            show_modules(view)
        elif show_design(view, options):
            show_differences(view, options)


def _ask(view: View) -> ComparisonOptions:
    """Ask which groups are compared, in what, and adjusted for what."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(ComparisonOptions, "first", "second", cohort=view.cohort)
    ask(ComparisonOptions, "of", cohort=view.cohort)
    compared = view.options(ComparisonOptions).of
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in _ASKED[compared]:
            if name != "labelling" or view.atlas.labels:
                ask(ComparisonOptions, name, cohort=view.cohort)
        if compared == HUBS and HUB_MEASURES[view.options(ComparisonOptions).measure].depends_on_gamma:
            ask(ComparisonOptions, "gamma", "perturbation", cohort=view.cohort)
    if compared != MODULES and offered_covariates(view.cohort):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            ask(ComparisonOptions, "covariates", "leave_out_incomplete", cohort=view.cohort)
    return view.options(ComparisonOptions)


show_page()
