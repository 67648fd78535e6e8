"""Modules: a subject's Louvain modules beside the functional networks, and beside those of real groups."""

import pandas as pd
import streamlit as st
from module_results import subject_modules
from panels import QUANTITIES
from state import RESOLUTION, RESOLUTIONS, View, current_view
from widgets import heading, plain, sentences, show_figure

from biobgt.analysis import SubjectModules
from biobgt.figures import colour_limit, connectivity_heatmap, module_caption, order_regions, role_caption, role_map
from biobgt.modules import HUB_Z
from biobgt.studies import study_modules

MEASURES = {
    "modules": "Modules",
    "q": "Modularity Q",
    "ami dosenbach": "AMI, Dosenbach",
    "ami paper": "AMI, paper",
    "system segregation": "Segregation",
}
ROLE_COLUMNS = {
    "region": "Region",
    "module": "Module",
    "participation": "Participation",
    "within_z": "Within-module z",
    "role_name": "Role",
}


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("Modules")
    st.markdown(
        "Louvain modules are groups of regions that are connected more among themselves than chance would have it. "
        "How many there are depends on the resolution; the best of ten runs is shown."
    )
    st.session_state.setdefault(RESOLUTION, 1.0)
    resolution = st.select_slider(
        "Resolution",
        RESOLUTIONS,
        format_func=lambda value: f"{value:g}",
        key=RESOLUTION,
        persist_state="session",
        help="Above 1 finds more and smaller modules, below 1 fewer and larger ones.",
    )
    with sentences():
        modules = subject_modules(view, resolution)
        _show_measures(view, modules, resolution)
        _show_matrix(view, modules)
        _show_roles(view, modules)


def _show_measures(view: View, modules: SubjectModules, resolution: float) -> None:
    heading("Beside real groups", simulated=view.subject.simulated)
    study = study_modules(view.settings, resolution=resolution)
    own = [modules.measures.get(name) for name in MEASURES]
    table = pd.DataFrame({"Measure": list(MEASURES.values()), view.subject.id: [_shown(value) for value in own]})
    if study is not None:
        known = study.set_index("measure")
        for group in ("NC", "ASD"):
            means, spreads = known[f"{group} mean"], known[f"{group} sd"]
            table[f"ABIDE {group}"] = [f"{float(means[name]):.3f} ± {float(spreads[name]):.3f}" for name in MEASURES]
    st.dataframe(table, hide_index=True, key="measures")
    if study is None:
        note = (
            "The ABIDE study has no graphs like these, so no real groups stand beside: it has Pearson correlation at "
            "resolution 1, with positive connections of at least 0.3, the strongest 15 % of them, or all connections."
        )
    else:
        note = "Real groups: mean ± SD of 462 NC and 437 ASD subjects of ABIDE on CC200, graphs made the same way."
        if view.atlas.name != "cc200":
            note += f" This subject is on {view.atlas.title}, so the numbers do not compare directly."
    meaning = (
        "AMI is the agreement with Dosenbach's six networks and with the paper's six modules, 0 by chance and 1 for "
        "the same modules; regions without a label are left out. Segregation is (within − between) / within, in "
        "Fisher z."
    )
    st.caption(plain(f"{note} {meaning}"))


def _shown(value: float | None) -> str:
    """A count as it is, a share with three digits, nothing where there is none."""
    if value is None:
        return "not defined"
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def _show_matrix(view: View, modules: SubjectModules) -> None:
    heading("Connectivity, by module", simulated=view.subject.simulated)
    connectivity = view.connectivity()
    labels = [f"Module {label}" if label else None for label in modules.partition.labels.tolist()]
    limit = colour_limit(connectivity, view.settings.estimator)
    figure = connectivity_heatmap(
        connectivity,
        view.atlas.regions,
        order=order_regions(view.atlas.n_regions, labels, first=[f"Module {i}" for i in modules.partition.modules]),
        limit=limit,
        title=f"Connectivity of {view.subject.id} by module",
        quantity=QUANTITIES[view.settings.estimator],
        simulated=view.subject.simulated,
    )
    caption = module_caption(view.subject.id, modules.partition, limit=limit, simulated=view.subject.simulated)
    show_figure(figure, caption, key="modules", file_name=f"{view.subject.id}_modules")


def _show_roles(view: View, modules: SubjectModules) -> None:
    subject, roles = view.subject, modules.roles
    heading("Roles of regions", simulated=subject.simulated)
    figure = role_map(
        roles["participation"].to_numpy(),
        roles["within_z"].to_numpy(),
        roles["module"].tolist(),
        view.atlas.regions,
        hub_z=HUB_Z,
        title=f"Roles of the regions of {subject.id}",
        simulated=subject.simulated,
    )
    caption = role_caption(subject.id, int(roles["hub"].sum()), hub_z=HUB_Z, simulated=subject.simulated)
    show_figure(figure, caption, key="roles", file_name=f"{subject.id}_roles")
    number = st.column_config.NumberColumn(format="%.2f")
    table = roles[list(ROLE_COLUMNS)].rename(columns=ROLE_COLUMNS)
    st.dataframe(table, key="role_table", column_config={"Participation": number, "Within-module z": number})


show_page()
