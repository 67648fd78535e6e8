"""Modules: a subject's Louvain modules in its brain, beside functional networks and real groups, and between groups."""

import pandas as pd
import streamlit as st
from loaded import ModuleChoices, View
from module_brains import show_brain
from module_chance import show_chance
from module_choices import ask_how, sign_note
from module_groups import show_groups
from module_panels import names_of, show_agreement, show_matrix, show_roles, show_sweep
from module_results import options_of, subject_modules
from state import current_view
from widgets import heading, plain, sentences

from biobgt.analysis import SubjectModules
from biobgt.studies import study_modules

MEASURES = {
    "modules": "Modules",
    "q": "Modularity Q",
    "ami dosenbach": "AMI, Dosenbach",
    "ami paper": "AMI, paper",
    "system segregation": "Segregation",
}


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Modules")
    st.markdown(
        "Louvain modules are groups of regions that are connected more among themselves than chance would have it. "
        "How many there are depends on the resolution, and which ones differs from run to run."
    )
    choices = ask_how(view)
    with sentences():
        modules = subject_modules(view, choices)
        st.caption(plain(sign_note(view, choices, has_negative=modules.partition.signed)))
        show_brain(view, choices, modules, names_of(view, choices, modules.partition))
        show_matrix(view, choices, modules)
        show_agreement(view, choices, modules)
        sweep = st.container()
        _show_measures(view, choices, modules)
        show_roles(view, choices, modules)
        groups = st.container()
        show_chance(view, choices)
        # What may take long comes last, for the rest can be read meanwhile. None of it is a fragment of the page: those
        # wait for each other, and a click would not stop them.
        with groups:
            show_groups(view, choices)
        with sweep:
            show_sweep(view, choices)


def _show_measures(view: View, choices: ModuleChoices, modules: SubjectModules) -> None:
    # The badge would be taken for one of the real groups: the subject's own column says that it is simulated.
    heading("Beside real groups")
    study = study_modules(view.settings, options_of(choices), view.atlas, subject=view.subject)
    own = [modules.measures.get(name) for name in MEASURES]
    subject = f"{view.subject.id}, simulated" if view.subject.simulated else view.subject.id
    table = pd.DataFrame({"Measure": list(MEASURES.values()), subject: [_shown(value) for value in own]})
    if study.measures is not None:
        known = study.measures.set_index("measure")
        for group in ("NC", "ASD"):
            means, spreads = known[f"{group} mean"], known[f"{group} sd"]
            table[f"ABIDE {group}, real"] = [
                _spread(name, float(means[name]), float(spreads[name])) for name in MEASURES
            ]
    st.dataframe(table, hide_index=True, key="measures", alt="Measures of the modules beside those of real groups")
    meaning = (
        "AMI is the agreement with Dosenbach's six networks and with the paper's six modules, 0 by chance and 1 for "
        "the same modules; regions without a label are left out. Segregation is that of the Louvain modules found "
        "here, not of the functional networks: (within − between) / within, in Fisher z."
    )
    st.caption(plain(f"{study.note} {meaning}"))


def _shown(value: float | None) -> str:
    """A count as it is, a share with three digits, nothing where there is none."""
    if value is None:
        return "not defined"
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def _spread(name: str, mean: float, sd: float) -> str:
    """Mean ± SD; of a count one decimal, for there are no thousandths of a module."""
    return f"{mean:.1f} ± {sd:.1f}" if name == "modules" else f"{mean:.3f} ± {sd:.3f}"


show_page()
