"""One subject's modules in figures: in the connectivity, beside the functional labels, by role, over the resolution."""

import pandas as pd
import streamlit as st
from export_list import module_request, named_request
from loaded import ModuleChoices, View
from long_work import work_through
from module_results import kept, resolution_key, sweep_step
from panels import QUANTITIES
from state import RESOLUTIONS
from widgets import heading, show_figure

from biobgt.analysis import SubjectModules
from biobgt.atlas import LABELLINGS, PAPER_MODULES
from biobgt.figures import (
    colour_limit,
    flow_caption,
    module_caption,
    module_flow,
    module_heatmap,
    resolution_caption,
    resolution_curves,
    role_caption,
    role_map,
)
from biobgt.modules import HUB_Z, module_agreement
from biobgt.modules.naming import match_labels, module_names
from biobgt.modules.partition import Labels
from biobgt.spreadsheets import written
from biobgt.wording import counted

ROLE_COLUMNS = {
    "region": "Region",
    "module": "Module",
    "participation": "Participation",
    "within_z": "Within-module z",
    "role_name": "Role",
}
AGREEMENT_COLUMNS = {"ami": "AMI", "ari": "ARI", "vi": "VI (bits)", "vi_normalised": "VI, share of largest"}


def names_of(view: View, choices: ModuleChoices, partition: Labels) -> dict[int, str]:
    """What modules are called, by the chosen functional labels where the atlas has any."""
    return module_names(partition, networks_of(view, choices))


def networks_of(view: View, choices: ModuleChoices) -> list[str | None] | None:
    """The functional network of each region, in words; None where the atlas has no labels."""
    labels = view.atlas.labels.get(choices.labelling)
    return None if labels is None else [label and PAPER_MODULES.get(label, label) for label in labels]


def show_matrix(view: View, choices: ModuleChoices, modules: SubjectModules) -> None:
    """Show the connectivity sorted by module, with named brackets."""
    subject, connectivity = view.subject, view.connectivity()
    heading("Connectivity, by module", simulated=subject.simulated)
    limit = colour_limit(connectivity, view.settings.estimator)
    figure = module_heatmap(
        connectivity,
        view.atlas.regions,
        modules.partition.labels.tolist(),
        names_of(view, choices, modules.partition),
        limit=limit,
        title=f"Connectivity of {subject.id} by module",
        quantity=QUANTITIES[view.settings.estimator],
        simulated=subject.simulated,
    )
    caption = module_caption(subject.id, modules.partition, limit=limit, simulated=subject.simulated)
    request = named_request(view, choices, "module_heatmap")
    show_figure(figure, caption, key="modules", file_name=f"{subject.id}_modules", export=request)


def show_agreement(view: View, choices: ModuleChoices, modules: SubjectModules) -> None:
    """Show how far modules and functional labels agree: as a flow diagram, and in numbers for every labelling."""
    subject, atlas = view.subject, view.atlas
    heading("Beside the functional networks", simulated=subject.simulated)
    if not atlas.labels:
        st.info("This atlas has no functional labels, so there is nothing to compare the modules with.")
        return
    found = {name: module_agreement(modules.partition, atlas, name) for name in atlas.labels}
    agreement, labelling = found[choices.labelling], LABELLINGS.get(choices.labelling, choices.labelling)
    if not agreement.n_compared:
        st.info("No region has both a module and a label, so there is nothing to compare.")
        return
    figure = module_flow(
        agreement.contingency,
        names_of(view, choices, modules.partition),
        targets=PAPER_MODULES,
        matched=match_labels(agreement.contingency),
        sides=("Modules", "Networks"),
        title=f"Modules and networks of {subject.id}",
        simulated=subject.simulated,
    )
    caption = flow_caption(subject.id, agreement, labelling=labelling, simulated=subject.simulated)
    request = named_request(view, choices, "module_flow")
    show_figure(figure, caption, key="flow", file_name=f"{subject.id}_modules_flow", export=request)
    rows = [
        {"Labels": _capital(LABELLINGS.get(name, name))}
        | {title: getattr(one, measure) for measure, title in AGREEMENT_COLUMNS.items()}
        | {"Regions compared": one.n_compared, "Without a label": one.n_unlabelled}
        for name, one in found.items()
    ]
    number = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(
        written(pd.DataFrame(rows)),
        hide_index=True,
        key="agreement",
        column_config=dict.fromkeys(AGREEMENT_COLUMNS.values(), number),
        alt="Agreement of the modules with each set of functional labels",
    )
    st.caption(
        "AMI (adjusted mutual information) and ARI (adjusted Rand index) are 1 for the same division and about 0 by "
        "chance. VI (variation of information) is a distance: 0 for the same division, larger the more they differ; "
        "the next column is its share of the largest that so many regions allow, log2 of the regions compared."
    )


def show_sweep(view: View, choices: ModuleChoices) -> None:
    """Show how modules change with the resolution, when asked to; it is worked out step by step."""
    subject = view.subject
    heading("Over the resolution", simulated=subject.simulated)
    left = [value for value in RESOLUTIONS if kept(view, "resolution", resolution_key(view, choices, value)) is None]
    whole = work_through(
        left,
        lambda value: sweep_step(view, choices, value),
        key="sweep",
        start=f"Find the modules at {counted(len(RESOLUTIONS), 'resolution')}",
        doing="Resolution",
        done_before=len(RESOLUTIONS) - len(left),
    )
    done = RESOLUTIONS if whole else [value for value in RESOLUTIONS if value not in left]
    if not done:
        return
    sweep = pd.DataFrame([sweep_step(view, choices, value) for value in done])
    figure = resolution_curves(
        sweep,
        {name: LABELLINGS.get(name, name) for name in view.atlas.labels},
        chosen=choices.resolution,
        title=f"Modules of {subject.id} over the resolution",
        simulated=subject.simulated,
    )
    caption = resolution_caption(
        subject.id,
        sweep,
        chosen=choices.resolution,
        runs=choices.runs,
        seed=choices.seed,
        simulated=subject.simulated,
    )
    request = module_request(view, choices, "resolution_sweep", resolutions=tuple(done))
    show_figure(figure, caption, key="resolution_curves", file_name=f"{subject.id}_resolution", export=request)


def show_roles(view: View, choices: ModuleChoices, modules: SubjectModules) -> None:
    """Show the cartography of regions, and its table."""
    subject, roles = view.subject, modules.roles
    heading("Roles of regions", simulated=subject.simulated)
    figure = role_map(
        roles["participation"].to_numpy(),
        roles["within_z"].to_numpy(),
        roles["module"].tolist(),
        view.atlas.regions,
        hub_z=HUB_Z,
        names=names_of(view, choices, modules.partition),
        title=f"Roles of the regions of {subject.id}",
        simulated=subject.simulated,
    )
    caption = role_caption(subject.id, int(roles["hub"].sum()), hub_z=HUB_Z, simulated=subject.simulated)
    request = named_request(view, choices, "role_map")
    show_figure(figure, caption, key="roles", file_name=f"{subject.id}_roles", export=request)
    number = st.column_config.NumberColumn(format="%.2f")
    table = roles[list(ROLE_COLUMNS)].rename(columns=ROLE_COLUMNS)
    st.dataframe(
        written(table),
        key="role_table",
        column_config={"Participation": number, "Within-module z": number},
        alt="Every region's module, participation, within-module z and role",
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
