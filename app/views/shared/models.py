"""What pages say of trained models before anything else: what a model is worth, or that there is none."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from biobgt.base.wording import counted
from biobgt.data.cohort import Cohort
from biobgt.data.edits import confirm_atlas
from biobgt.model.installed import InstalledModel, unsure_atlas
from biobgt.model.pretrained import is_doubtful
from session.cohorts import change_own_cohort
from session.view import ModelPageOptions, View
from views.shared.options import ask_for
from views.shared.widgets import plain


def no_models() -> None:
    """Say that there are no trained models here."""
    st.info(
        "No trained model is installed. Train one with `biobgt train`; models that come with the project "
        "are in its folder `pretrained`.",
        icon=":material/info:",
    )


def show_headline(card: Mapping[str, Any]) -> None:
    """Say first what a model is worth."""
    icon = ":material/warning:" if is_doubtful(card) else ":material/fact_check:"
    st.info(f"**{plain(card['headline'])}**", icon=icon)


def pick_readout(view: View, network: InstalledModel) -> InstalledModel | None:
    """Ask which cohort's readout of a network is meant; None as long as nobody has said."""
    st.markdown(
        plain(
            f"{network.name} was trained on {counted(len(network.readouts), 'cohort')} and has a readout for each. "
            "Choose the one whose controls the subjects are to be compared with."
        )
    )
    ask_for(
        ModelPageOptions.declared()["readout"],
        network.cohort,
        text=lambda name: f"{name}: {', '.join(network.readouts[name])}" if name else "Choose a cohort",
    )
    chosen = view.options(ModelPageOptions).readout
    return network.readout(chosen) if chosen in network.readouts else None


def ask_to_confirm_atlas(cohort: Cohort, *, key: str) -> None:
    """Say that only the number of regions tells the atlas, and let the user confirm it before a model is applied."""
    st.warning(plain(unsure_atlas(cohort)), icon=":material/help:")
    if st.button(plain(f"Yes, they are the regions of {cohort.atlas.title}, in its order"), key=key):
        change_own_cohort(confirm_atlas(cohort))
        st.rerun()
