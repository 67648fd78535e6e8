"""How modules are found: the choices at the head of the page of modules, which are in the link too."""

import streamlit as st
from link import module_choices
from loaded import ModuleChoices, View
from state import CONSENSUS, LABELLING, LARGEST_SEED, RESOLUTION, RESOLUTIONS, RUN_NUMBERS, RUNS, SEED, SIGNED

from biobgt.atlas import LABELLINGS

LOUVAIN, AGREED = "Best run", "Consensus"


def ask_how(view: View) -> ModuleChoices:
    """Ask how to look for modules."""
    module_choices()  # from the link, where nothing was chosen yet
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.select_slider(
            "Resolution",
            RESOLUTIONS,
            format_func=lambda value: f"{value:g}",
            key=RESOLUTION,
            persist_state="session",
            width=280,
            help="Above 1 finds more and smaller modules, below 1 fewer and larger ones.",
        )
        st.segmented_control(
            "Of all runs, show",
            (False, True),
            format_func=lambda consensus: AGREED if consensus else LOUVAIN,
            key=CONSENSUS,
            required=True,
            persist_state="session",
            help="Louvain finds other modules with every run. The best run is the one of the highest modularity; the "
            "consensus is what the runs agree on (Lancichinetti and Fortunato 2012).",
        )
        _ask_runs()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _ask_labelling(view)
        st.toggle(
            "Negative weights count",
            key=SIGNED,
            persist_state="session",
            disabled=view.settings.sign != "signed",
            help="Negative connections count against a module (Rubinov and Sporns 2011). Off, they are left out.",
        )
    return module_choices()


def _ask_runs() -> None:
    st.select_slider(
        "Runs",
        RUN_NUMBERS,
        key=RUNS,
        persist_state="session",
        width=160,
        help="How often Louvain is run.",
    )
    st.number_input(
        "Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        step=1,
        key=SEED,
        persist_state="session",
        width=130,
        help="The start of the random numbers: the same seed finds the same modules.",
    )


def sign_note(view: View, choices: ModuleChoices, *, has_negative: bool) -> str:
    """Say whether negative weights play a part, and if not, why.

    Parameters
    ----------
    view : View
    choices : ModuleChoices
    has_negative : bool
        Whether the graph in which modules were sought has negative weights.
    """
    sign = view.settings.sign
    if sign != "signed":
        rule = "keeps positive connections only" if sign == "positive" else "takes absolute values"
        return (
            f"This graph has no negative weights: its sign rule, {sign}, {rule}. "
            "Choose the sign rule Signed in the sidebar to let them count."
        )
    if not choices.signed:
        return "The negative weights of this signed graph are left out."
    if not has_negative:
        return "The sign rule keeps negative weights, but none passed the threshold: this graph has only positive ones."
    return "Negative weights count against a module."


def _ask_labelling(view: View) -> None:
    """Ask for the functional labels; an atlas without any has nothing to choose."""
    if not view.atlas.labels:
        return
    if st.session_state[LABELLING] not in view.atlas.labels:
        st.session_state[LABELLING] = next(iter(view.atlas.labels))
    st.selectbox(
        "Modules named by",
        list(view.atlas.labels),
        format_func=lambda name: LABELLINGS.get(name, name),
        key=LABELLING,
        persist_state="session",
        width=330,
        help="A module is named by the functional network that most of its regions belong to.",
    )
