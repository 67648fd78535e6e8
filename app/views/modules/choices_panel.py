"""How modules are found: the choices at the head of the page of modules, which are in the link too."""

import streamlit as st

from biobgt.data.graph import SIGN_RULES
from biobgt.modules.measures import NEGATIVE_WEIGHTS, NamedModuleOptions
from session.view import View
from views.shared.option_widgets import ask


def ask_how(view: View) -> NamedModuleOptions:
    """Ask how to look for modules; an atlas without functional labels leaves no choice of names."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(NamedModuleOptions, "resolution", "consensus", "runs", "seed", cohort=view.cohort)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if view.atlas.labels:
            ask(NamedModuleOptions, "labelling", cohort=view.cohort)
        ask(NamedModuleOptions, "signed", cohort=view.cohort, disabled=view.settings.sign != "signed")
    return view.options(NamedModuleOptions)


def sign_note(view: View, options: NamedModuleOptions, *, has_negative: bool) -> str:
    """Say whether negative weights play a part, and if not, why.

    Parameters
    ----------
    view : View
    options : NamedModuleOptions
    has_negative : bool
        Whether the graph in which modules were sought has negative weights.
    """
    sign = view.settings.sign
    if sign != "signed":
        shown = view.settings.declared()["sign"].text
        return (
            f"This graph has no negative weights: under the sign rule {shown(sign)}, negative connections are "
            f"{SIGN_RULES[sign]}. Choose the sign rule {shown('signed')} in the sidebar to include them."
        )
    if options.signed and not has_negative:
        return "The sign rule keeps negative weights, but none passed the threshold: this graph has only positive ones."
    return NEGATIVE_WEIGHTS[options.signed]
