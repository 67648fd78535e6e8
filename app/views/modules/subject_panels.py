"""One subject's modules in figures: in the connectivity, beside the functional labels, by role, over the resolution."""

from functools import partial

import pandas as pd
import streamlit as st

from biobgt.base.files import safe_table
from biobgt.base.wording import capitalised, counted
from biobgt.data.atlas import LABELLINGS
from biobgt.data.result_keys import RESOLUTION_STEP
from biobgt.figures.module_flow import ModuleFlow
from biobgt.figures.module_heatmap import ModuleHeatmap
from biobgt.figures.module_sweep import ResolutionSweep, ResolutionSweepOptions
from biobgt.figures.role_map import RoleMap
from biobgt.modules.measures import MODULE_MEASURES, REGION_MEASURES, RESOLUTIONS, ModuleMeasure, NamedModuleOptions
from session.long_work import work_through
from session.view import View
from views.shared.widgets import heading, plain, show


def show_matrix(view: View) -> None:
    """Show the connectivity sorted by module, with named brackets."""
    heading(ModuleHeatmap.name, simulated=view.subject.simulated)
    show(view, ModuleHeatmap.of(view.measured, view.options(NamedModuleOptions)), key="modules")


def show_agreement(view: View) -> None:
    """Show how far modules and functional labels agree: as a flow diagram, and in numbers for every labelling."""
    options, atlas = view.options(NamedModuleOptions), view.atlas
    heading("Compared with functional networks", simulated=view.subject.simulated, terms=("ami",))
    if not atlas.labels:
        st.info("This atlas has no functional labels, so there is nothing to compare the modules with.")
        return
    found = {name: view.measured.module_agreement(options, name) for name in atlas.labels}
    if not found[options.labelling].n_compared:
        st.info("No region has both a module and a label, so there is nothing to compare.")
        return
    show(view, ModuleFlow.of(view.measured, options), key="flow")
    measures = {_heading(one): one for one in MODULE_MEASURES.values() if one.needs == "labels"}
    vi = MODULE_MEASURES["vi"].short
    share = f"{vi} / maximum"
    rows = [
        {"Labels": capitalised(LABELLINGS.get(name, name))}
        | {title: measure.compute(one) for title, measure in measures.items()}
        | {share: one.vi_normalised, "Regions compared": one.n_compared, "Without a label": one.n_unlabelled}
        for name, one in found.items()
    ]
    number = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(
        safe_table(pd.DataFrame(rows)),
        hide_index=True,
        key="agreement",
        column_config=dict.fromkeys([*measures, share], number),
        alt="Agreement of the modules with each set of functional labels",
    )
    defined = " ".join(measure.definition for measure in measures.values())
    st.caption(plain(f"{defined} The maximum of {vi} is log2 of the number of regions compared."))


def show_sweep(view: View) -> None:
    """Show how modules change with the resolution, when asked to; it is worked out step by step."""
    measured, options = view.measured, view.options(ResolutionSweepOptions, resolutions=RESOLUTIONS)
    heading("Across resolutions", simulated=view.subject.simulated)
    left = [
        value
        for value in RESOLUTIONS
        if not measured.has(RESOLUTION_STEP, measured.resolution_step_how(options, value))
    ]
    whole = work_through(
        left,
        partial(measured.resolution_step, options),
        key="sweep",
        start=f"Find the modules at {counted(len(RESOLUTIONS), 'resolution')}",
        doing="Resolution",
        done_before=len(RESOLUTIONS) - len(left),
    )
    done = RESOLUTIONS if whole else tuple(value for value in RESOLUTIONS if value not in left)
    if done:
        figure = ResolutionSweep.of(measured, view.options(ResolutionSweepOptions, resolutions=done))
        show(view, figure, key="resolution_curves")


def show_roles(view: View) -> None:
    """Show the cartography of regions, and its table."""
    heading(RoleMap.name, simulated=view.subject.simulated, terms=("participation", "within-module-z"))
    figure = RoleMap.of(view.measured, view.options(NamedModuleOptions))
    show(view, figure, key="roles")
    measures = {key: REGION_MEASURES[key].short for key in REGION_MEASURES}
    columns = {"region": "Region", "module": "Module", **measures, "role_name": "Role"}
    number = st.column_config.NumberColumn(format="%.2f")
    st.dataframe(
        safe_table(figure.roles[list(columns)].rename(columns=columns)),
        key="role_table",
        column_config=dict.fromkeys(measures.values(), number),
        alt="Every region's module, participation, within-module z and role",
    )


def _heading(measure: ModuleMeasure) -> str:
    return f"{measure.short} (bits)" if measure.unit == "bits" else measure.short
