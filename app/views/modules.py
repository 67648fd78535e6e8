"""How modules are found: the choices at the head of the page of modules, which are in the link too."""

from functools import partial

import pandas as pd
import streamlit as st

from biobgt import ConnectomeSettings, InputError
from biobgt.base.files import safe_table
from biobgt.base.wording import capitalised, counted
from biobgt.data.atlas import LABELLINGS
from biobgt.data.graph import SIGN_RULES
from biobgt.figures.brain import NODES
from biobgt.figures.module_brains import ModuleBrainOptions, module_brain
from biobgt.figures.modules import (
    ResolutionSweepOptions,
    modularity_against_chance,
    module_flow,
    module_heatmap,
    pooled_small_world,
    resolution_sweep,
    role_map,
    small_world_indices,
    small_worldness,
)
from biobgt.modules.measures import (
    MODULE_MEASURES,
    NEGATIVE_WEIGHTS,
    REGION_MEASURES,
    RESOLUTIONS,
    ModuleMeasure,
    ModuleOptions,
    NamedModuleOptions,
    NullGraphOptions,
    SmallWorldOptions,
    measure_columns,
)
from biobgt.results.measured import Measured
from biobgt.results.studies import abide_groups, study_modules
from session.view import GLASS, PageOptions, View, brain_kind, choose, current_view
from session.work import work_through
from views.page_map import PAGES
from views.shared.options import ask
from views.shared.widgets import explained, heading, input_errors_shown, plain, show, show_no_places


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


# One subject's modules in the brain: to turn on the screen, in nilearn's glass brain or painted on the cortex.


GLASS_MM = 140.0


def show_brain(view: View) -> None:
    """Show the subject's modules in the brain, with the strongest connections within modules."""
    heading("In the brain", simulated=view.subject.simulated)
    if view.atlas.coordinates is None:
        show_no_places()
        return
    shown = view.options(PageOptions).module_brain
    glass, brain = shown == GLASS, brain_kind(shown)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(PageOptions, "module_brain", cohort=view.cohort)
        ask(ModuleBrainOptions, "connections", cohort=view.cohort, disabled=brain != NODES)
    options = view.options(ModuleBrainOptions, brain=brain)
    show(view, module_brain, options, key="brain_glass" if glass else "brain", as_picture=glass, picture_mm=GLASS_MM)


# One subject's modules in figures: in the connectivity, beside the functional labels, by role, over the resolution.


def show_matrix(view: View) -> None:
    """Show the connectivity sorted by module, with named brackets."""
    heading(module_heatmap.name, simulated=view.subject.simulated)
    show(view, module_heatmap, view.options(NamedModuleOptions), key="modules")


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
    show(view, module_flow, options, key="flow")
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
    left = [value for value in RESOLUTIONS if not measured.is_kept(Measured.resolution_step, options, value)]
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
        how = view.options(ResolutionSweepOptions, resolutions=done)
        show(view, resolution_sweep, how, key="resolution_curves")


def show_roles(view: View) -> None:
    """Show the cartography of regions, and its table."""
    options = view.options(NamedModuleOptions)
    heading(role_map.name, simulated=view.subject.simulated, terms=("participation", "within-module-z"))
    show(view, role_map, options, key="roles")
    measures = {key: REGION_MEASURES[key].short for key in REGION_MEASURES}
    columns = {"region": "Region", "module": "Module", **measures, "role_name": "Role"}
    number = st.column_config.NumberColumn(format="%.2f")
    st.dataframe(
        safe_table(view.measured.modules(options).roles[list(columns)].rename(columns=columns)),
        key="role_table",
        column_config=dict.fromkeys(measures.values(), number),
        alt="Every region's module, participation, within-module z and role",
    )


def _heading(measure: ModuleMeasure) -> str:
    return f"{measure.short} (bits)" if measure.unit == "bits" else measure.short


# Is it more than chance? Modularity and small-worldness against null graphs, when asked for.


NULL_GRAPHS, SMALL_WORLD_GRAPHS = NullGraphOptions.null_graphs, SmallWorldOptions.null_graphs


def show_chance(view: View) -> None:
    """Offer both tests, and show what was found."""
    heading("Compared with chance", simulated=view.subject.simulated, terms=("null-graph",))
    st.markdown("Even random graphs have modules and short paths, so this graph is compared with null graphs.")
    with input_errors_shown():
        _test_modularity(view)
    with input_errors_shown():
        _measure_small_world(view)


def _test_modularity(view: View) -> None:
    measured, options = view.measured, view.options(NullGraphOptions, null_graphs=NULL_GRAPHS)
    left = [seed for seed in options.null_seeds if not measured.is_kept(Measured.null_modularity, options, seed)]
    whole = work_through(
        left,
        partial(measured.null_modularity, options),
        key="modularity_test",
        start=f"Test modularity against {NULL_GRAPHS} null graphs",
        doing="Null graph",
        done_before=NULL_GRAPHS - len(left),
    )
    if not whole:
        return
    try:
        show(view, modularity_against_chance, options, key="modularity_null")
    except InputError as error:  # nothing is wrong with a graph without connections
        st.info(plain(str(error)))


def _measure_small_world(view: View) -> None:
    measured, options = view.measured, view.options(SmallWorldOptions, null_graphs=SMALL_WORLD_GRAPHS)
    left = [seed for seed in options.null_seeds if not measured.is_kept(Measured.null_small_world, options, seed)]
    whole = work_through(
        left,
        partial(measured.null_small_world, options),
        key="small_world",
        start=f"Measure small-worldness against {SMALL_WORLD_GRAPHS} random graphs and lattices",
        doing="Random graph and lattice",
        done_before=SMALL_WORLD_GRAPHS - len(left),
    )
    if whole:
        with st.container(horizontal=True):
            for title, value in small_world_indices(pooled_small_world(measured, options)).items():
                st.metric(title, value, width="content", border=True)
        show(view, small_worldness, options)


# Modules: a subject's Louvain modules in its brain, beside functional networks and real groups.


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


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    show_page()
