"""What a comparison rests on, before anything is computed: people, covariates, what these cost, and what is refused."""

import pandas as pd
import streamlit as st

from biobgt import InputError
from biobgt.base.files import safe_table
from biobgt.base.wording import not_ruled_out, percent
from biobgt.data.cohort import number_of_people
from biobgt.groups.compare import ComparisonOptions, covariate_title
from biobgt.groups.design import check_design, design_notes
from biobgt.groups.features import PlannedComparison, plan_comparison
from session.view import View
from views.shared.widgets import heading, plain


def show_design(view: View, options: ComparisonOptions) -> bool:
    """Show who is compared and what covariates cost; false where the comparison is refused, with the reason."""
    heading("Sample and design", simulated=view.cohort.simulated, terms=("residual-degrees",))
    try:
        planned = plan_comparison(view.cohort, options)
    except InputError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return False
    people, design = planned.people, planned.people.design
    with st.container(horizontal=True):
        for group, n in people.sizes.items():
            st.metric(f"People of {plain(group)}", n, width="content", border=True)
        st.metric("Residual degrees of freedom", max(design.degrees, 0), width="content", border=True)
    if design.covariates:
        _show_costs(planned)
    try:
        check_design(design, sum(people.sizes.values()))
    except InputError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return False
    said = [*design_notes(design), not_ruled_out(planned.covariates.absent)]
    if people.n_dropped:
        said.insert(0, f"Excluded because a covariate is missing: {number_of_people(people.n_dropped)}.")
    if text := " ".join(sentence for sentence in said if sentence):
        st.caption(plain(text))
    return True


def _show_costs(planned: PlannedComparison) -> None:
    """One row per covariate: what it takes, and how far it and the group are one."""
    design, known = planned.people.design, planned.people.covariates
    assert known is not None
    rows = [
        {
            "Covariate": covariate_title(name),
            "Degrees of freedom used": taken,
            "Group variance explained": percent(design.explained_by[name]),
            "Missing in (people)": int(known[name].isna().sum()),
        }
        for name, taken in design.taken.items()
    ]
    st.dataframe(
        safe_table(pd.DataFrame(rows)),
        hide_index=True,
        key="covariate_costs",
        width="content",
        alt="What each covariate costs",
    )
