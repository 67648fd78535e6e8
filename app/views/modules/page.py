"""Modules: a subject's Louvain modules in its brain, beside functional networks and real groups."""

import pandas as pd
import streamlit as st

from biobgt import ConnectomeSettings
from biobgt.base.files import safe_table
from biobgt.data.atlas import LABELLINGS
from biobgt.modules.measures import ModuleMeasure, ModuleOptions, NamedModuleOptions, measure_columns
from biobgt.results.studies import abide_groups, study_modules
from session.choices import choose
from session.view import View, current_view
from views.modules.chance_panel import show_chance
from views.modules.choices_panel import ask_how, sign_note
from views.modules.module_brain_panel import show_brain
from views.modules.subject_panels import show_agreement, show_matrix, show_roles, show_sweep
from views.page_map import PAGES
from views.shared.widgets import explained, heading, input_errors_shown, plain


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Modules", help=explained("louvain", "resolution", "modularity", "consensus"))
    st.markdown(
        "Louvain modules are groups of regions that are more strongly connected among themselves than expected by "
        "chance. Their number depends on the resolution, and they differ from run to run."
    )
    options = ask_how(view)
    with input_errors_shown():
        modules = view.measured.modules(options)
        st.caption(plain(sign_note(view, options, has_negative=modules.partition.signed)))
        show_brain(view)
        show_matrix(view)
        show_agreement(view)
        sweep = st.container()
        _show_measures(view, options)
        show_roles(view)
        show_chance(view)
        st.page_link(
            PAGES["compare"].script,
            label="Compare the modules of two groups",
            icon=":material/arrow_forward:",
        )
        # What may take long comes last, for the rest can be read meanwhile. None of it is a fragment of the page: those
        # wait for each other, and a click would not stop them.
        with sweep:
            show_sweep(view)


def _show_measures(view: View, options: NamedModuleOptions) -> None:
    # The badge would be taken for one of the real groups: the subject's own column says that it is simulated.
    heading("Compared with real groups", terms=("system-segregation",))
    study = study_modules(view.settings, options, view.atlas, subject=view.subject, kind=view.measured.kind)
    own = view.measured.modules(options).measures
    shown = {name: about for name, about in measure_columns(view.atlas.labels).items() if about[0].shown}
    subject = f"{view.subject.id}, simulated" if view.subject.simulated else view.subject.id
    names = [_called(measure, labelling) for measure, labelling in shown.values()]
    table = pd.DataFrame({"Measure": names, subject: [_shown(own.get(name)) for name in shown]})
    if study.measures is not None:
        known = study.measures.set_index("measure")
        for group in abide_groups():
            table[f"ABIDE {group}, real"] = [
                _spread(known, group, name, measure) for name, (measure, _) in shown.items()
            ]
    st.dataframe(
        safe_table(table), hide_index=True, key="measures", alt="Measures of the modules beside those of real groups"
    )
    if study.with_defaults:
        st.button(
            "Go back to the settings for which real groups exist",
            key="norm_settings",
            icon=":material/settings_backup_restore:",
            on_click=choose,
            args=(ConnectomeSettings(), ModuleOptions()),
        )
    defined = " ".join(dict.fromkeys(measure.definition for measure, _ in shown.values()))
    whose = "Segregation is that of the Louvain modules, not of the functional networks."
    st.caption(plain(f"{study.note} {defined} {whose}"))


def _called(measure: ModuleMeasure, labelling: str) -> str:
    return f"{measure.short}, {LABELLINGS.get(labelling, labelling)}" if labelling else measure.short


def _shown(value: float | None) -> str:
    """A count as it is, a share with three digits, nothing where there is none."""
    if value is None:
        return "not defined"
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def _spread(study: pd.DataFrame, group: str, name: str, measure: ModuleMeasure) -> str:
    """Mean ± SD; of a count one decimal, for there are no thousandths of a module."""
    if name not in study.index:
        return "not measured"
    mean, sd = (float(study[f"{group} {what}"][name]) for what in ("mean", "sd"))
    return f"{mean:.1f} ± {sd:.1f}" if measure.counts else f"{mean:.3f} ± {sd:.3f}"


show_page()
