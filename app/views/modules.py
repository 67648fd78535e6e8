"""Modules: a subject's Louvain modules in its brain, beside functional networks, real groups and chance."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from biobgt import ConnectomeSettings, InputError
from biobgt.base.references import cited
from biobgt.base.wording import capitalised, counted, signed
from biobgt.data.atlas import LABELLINGS
from biobgt.data.graph import SIGN_RULES
from biobgt.figures import modules as figures
from biobgt.figures.brain import NODES
from biobgt.figures.centiles import centiles_brain
from biobgt.groups.centiles import BRAIN_NUMBERS, BrainCentileOptions, brain_numbers
from biobgt.modules import measures as known
from biobgt.modules.measures import RESOLUTIONS, NamedModuleOptions, NullGraphOptions, SmallWorldOptions
from biobgt.results.measured import Measured
from biobgt.results.studies import abide_groups, study_modules
from session.view import PageOptions, View, brain_kind, choose, current_view
from views.page_map import PAGES
from views.shared import widgets
from views.shared.centiles import show_centiles
from views.shared.figures import show, show_in_brain, show_no_places
from views.shared.survival import ask_survival
from views.shared.widgets import escape_markdown, heading, in_one_line, input_errors_shown

_GLASS_MM = 140.0
_NULL_GRAPHS, _SMALL_WORLD_GRAPHS = NullGraphOptions.null_graphs, SmallWorldOptions.null_graphs


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    about = (
        "Louvain modules are groups of regions that are more strongly connected among themselves than expected by "
        "chance. Their number depends on the resolution, and they differ from run to run."
    )
    terms = ("louvain", "resolution", "modularity", "consensus")
    widgets.open_page("modules", about, *terms, simulated=view.subject.simulated)
    with widgets.controls():
        widgets.ask(PageOptions, "module_tab", cohort=view.cohort)
        widgets.ask(NamedModuleOptions, "resolution", "consensus", "runs", "seed", cohort=view.cohort)
        if view.atlas.labels:
            widgets.ask(NamedModuleOptions, "labelling", cohort=view.cohort)
        widgets.ask(NamedModuleOptions, "signed", cohort=view.cohort, disabled=view.settings.sign != "signed")
    with input_errors_shown():
        _TABS[view.options(PageOptions).module_tab](view)


def _show_modules(view: View) -> None:
    """Show the modules in the brain and in the matrix, and what negative weights did to them."""
    options = view.options(NamedModuleOptions)
    with widgets.columns("modules"):
        with st.container(), input_errors_shown():
            _show_brain(view)
        with st.container(), input_errors_shown():
            show(view, figures.module_heatmap, options, key="modules")
    if view.atlas.labels:
        ask_survival(view, "modules", {"": {"finding": "modules", "labelling": options.labelling}})
    note = _sign_note(view, options, has_negative=view.measured.modules(options).partition.signed)
    in_one_line(note, key="sign_note")
    label = "Compare the modules of two groups"
    st.page_link(PAGES["compare"].script, label=label, icon=":material/arrow_forward:")


def _sign_note(view: View, options: NamedModuleOptions, *, has_negative: bool) -> str:
    """Say whether negative weights play a part in the graph in which modules were sought, and if not, why."""
    sign = view.settings.sign
    if sign != "signed":
        shown = view.settings.declared()["sign"].text
        return (
            f"This graph has no negative weights: under the sign rule {shown(sign)}, negative connections are "
            f"{SIGN_RULES[sign]}. Choose the sign rule {shown('signed')} in the sidebar to include them."
        )
    if options.signed and not has_negative:
        return "The sign rule keeps negative weights, but none passed the threshold: this graph has only positive ones."
    return cited(known.NEGATIVE_WEIGHTS[options.signed])


def _show_brain(view: View) -> None:
    """Show the subject's modules in the brain, with the strongest connections within modules."""
    if view.atlas.coordinates is None:
        show_no_places()
        return
    shown = view.options(PageOptions).module_brain
    with widgets.in_a_row():
        widgets.ask(PageOptions, "module_brain", cohort=view.cohort)
        widgets.ask(figures.module_brain.takes, "connections", cohort=view.cohort, disabled=brain_kind(shown) != NODES)
    show_in_brain(view, figures.module_brain, shown, key="brain", picture_mm=_GLASS_MM)


def _show_agreement(view: View) -> None:
    """Show how far modules and functional labels agree: as a flow diagram, and in numbers for every labelling."""
    options, atlas = view.options(NamedModuleOptions), view.atlas
    heading("Compared with functional networks", "ami")
    if not atlas.labels:
        st.info("This atlas has no functional labels, so there is nothing to compare the modules with.")
        return
    found = {name: view.measured.module_agreement(options, name) for name in atlas.labels}
    if not found[options.labelling].n_compared:
        st.info("No region has both a module and a label, so there is nothing to compare.")
        return
    show(view, figures.module_flow, options, key="flow")
    measures = {
        f"{one.short} (bits)" if one.unit == "bits" else one.short: one
        for one in known.MODULE_MEASURES.values()
        if one.needs == "labels"
    }
    vi = known.MODULE_MEASURES["vi"].short
    share = f"{vi} / maximum"
    rows = [
        {"Labels": capitalised(LABELLINGS.get(name, name))}
        | {title: measure.compute(one) for title, measure in measures.items()}
        | {share: one.vi_normalised, "Regions compared": one.n_compared, "Without a label": one.n_unlabelled}
        for name, one in found.items()
    ]
    alt = "Agreement of the modules with each set of functional labels"
    widgets.show_table(rows, key="agreement", formats=dict.fromkeys([*measures, share], "%.3f"), alt=alt)
    defined = cited(" ".join(measure.definition for measure in measures.values()))
    full = f"{defined} The maximum of {vi} is log2 of the number of regions compared."
    in_one_line(
        full, key="agreement", line=f"Identical divisions have AMI and ARI 1 and {vi} 0; chance has AMI and ARI 0."
    )


def _show_sweep(view: View) -> None:
    """Show how modules change with the resolution, when asked to; it is worked out step by step."""
    measured, options = view.measured, view.options(figures.resolution_sweep.takes, resolutions=RESOLUTIONS)
    heading("Across resolutions")
    done = tuple(value for value in RESOLUTIONS if measured.is_kept(Measured.resolution_step, options, value))
    whole = widgets.measure_all(
        Measured.resolution_step,
        [(measured, options, value) for value in RESOLUTIONS],
        key="sweep",
        start=f"Find the modules at {counted(len(RESOLUTIONS), 'resolution')}",
        doing="Resolution",
    )
    if done := RESOLUTIONS if whole else done:
        show(
            view,
            figures.resolution_sweep,
            view.options(figures.resolution_sweep.takes, resolutions=done),
            key="resolution_curves",
        )


def _show_measures(view: View) -> None:
    options = view.options(NamedModuleOptions)
    heading("Compared with real groups", "system-segregation")
    study = study_modules(view.settings, options, view.atlas, subject=view.subject, kind=view.measured.kind)
    own = view.measured.modules(options).measures
    shown = {name: about for name, about in known.measure_columns(view.atlas.labels).items() if about[0].shown}
    called = [
        f"{measure.short}, {LABELLINGS.get(labelling, labelling)}" if labelling else measure.short
        for measure, labelling in shown.values()
    ]
    subject = f"{view.subject.id}, simulated" if view.subject.simulated else view.subject.id
    # A count as it is, a share with three digits.
    defined_for = {name: value for name, value in own.items() if value is not None}
    values = {name: str(value) if isinstance(value, int) else f"{value:.3f}" for name, value in defined_for.items()}
    table = pd.DataFrame({"Measure": called, subject: [values.get(name, "not defined") for name in shown]})
    if study.measures is not None:
        groups = study.measures.set_index("measure")
        for group in abide_groups():
            table[f"ABIDE {group}, real"] = [
                _spread(groups, group, name, counts=measure.counts) for name, (measure, _) in shown.items()
            ]
    widgets.show_table(table, key="measures", alt="Measures of the modules beside those of real groups")
    if study.with_defaults:
        st.button(
            "Go back to the settings for which real groups exist",
            key="norm_settings",
            icon=":material/settings_backup_restore:",
            on_click=choose,
            args=(ConnectomeSettings(), known.ModuleOptions()),
        )
    defined = cited(" ".join(dict.fromkeys(measure.definition for measure, _ in shown.values())))
    whose = "Segregation is that of the Louvain modules, not of the functional networks."
    in_one_line(f"{study.note} {defined} {whose}", key="measures")


def _spread(study: pd.DataFrame, group: str, name: str, *, counts: bool) -> str:
    """Mean ± SD; of a count one decimal, for there are no thousandths of a module."""
    if name not in study.index:
        return "not measured"
    mean, sd = (float(study[f"{group} {what}"][name]) for what in ("mean", "sd"))
    return f"{mean:.1f} ± {sd:.1f}" if counts else f"{mean:.3f} ± {sd:.3f}"


def _show_roles(view: View) -> None:
    """Show the cartography of regions, and its table."""
    heading(figures.role_map.name, "participation", "within-module-z")
    options = view.options(NamedModuleOptions)
    show(view, figures.role_map, options, key="roles")
    measures = {key: measure.short for key, measure in known.REGION_MEASURES.items()}
    columns = {"region": "Region", "module": "Module", **measures, "role_name": "Role"}
    widgets.show_table(
        widgets.pinned_first(view.measured.modules(options).roles, "region")[list(columns)].rename(columns=columns),
        key="role_table",
        formats=dict.fromkeys(measures.values(), "%.2f"),
        hide_index=None,
        alt="Every region's module, participation, within-module z and role",
    )


# Is it more than chance? Modularity and small-worldness against null graphs, when asked for.


def _show_chance(view: View) -> None:
    """Show how modules change with the resolution, and whether they are more than chance makes."""
    _show_sweep(view)
    about = "Even random graphs have modules and short paths, so this graph is compared with null graphs."
    heading("Compared with chance", "null-graph", about=about)
    with widgets.columns("chance"):
        for show_test in (_test_modularity, _measure_small_world):
            with st.container(), input_errors_shown():
                show_test(view)


def _test_modularity(view: View) -> None:
    measured, options = view.measured, view.options(NullGraphOptions, null_graphs=_NULL_GRAPHS)
    whole = widgets.measure_all(
        Measured.null_modularity,
        [(measured, options, seed) for seed in options.null_seeds],
        key="modularity_test",
        start=f"Test modularity against {_NULL_GRAPHS} null graphs",
        doing="Null graph",
    )
    if not whole:
        return
    try:
        show(view, figures.modularity_against_chance, options, key="modularity_null")
    except InputError as error:  # nothing is wrong with a graph without connections
        st.info(escape_markdown(str(error)))


def _measure_small_world(view: View) -> None:
    measured, options = view.measured, view.options(SmallWorldOptions, null_graphs=_SMALL_WORLD_GRAPHS)
    whole = widgets.measure_all(
        Measured.null_small_world,
        [(measured, options, seed) for seed in options.null_seeds],
        key="small_world",
        start=f"Measure small-worldness against {_SMALL_WORLD_GRAPHS} random graphs and lattices",
        doing="Random graph and lattice",
    )
    if whole:
        found = figures.pooled_small_world(measured, options)
        widgets.show_numbers({"Small-world σ": signed(found.sigma), "Small-world ω": signed(found.omega)})
        show(view, figures.small_worldness, options)


def _show_centiles(view: View) -> None:
    """Show the centile of a number of the whole brain, and beside it those of all numbers."""
    chosen = view.options(BrainCentileOptions)
    show_centiles(
        view,
        centiles_brain,
        "brain_number",
        measure=brain_numbers,
        arguments=(chosen,),
        defaults=known.ModuleOptions(),
        beside={name: replace(chosen, brain_number=key) for key, name in BRAIN_NUMBERS.items()},
    )


_TABS = {
    "modules": _show_modules,
    "networks": _show_agreement,
    "roles": _show_roles,
    "groups": _show_measures,
    "chance": _show_chance,
    "centiles": _show_centiles,
}


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
