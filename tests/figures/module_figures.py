"""Figures of modules, drawn of a few numbers that one can check by hand."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
from hub_figures import measured_of

from biobgt.figures import groups
from biobgt.figures import modules as family
from biobgt.modules.measures import NamedModuleOptions, NullGraphOptions, SmallWorldOptions
from biobgt.modules.partition import ModuleAgreement


def heatmap_of(modules, names, *, matrix=None, q=0.5, resolution=1.0, **about):
    """Connectivity by module, and the matrix that it is made of."""
    n = len(modules)
    matrix = np.arange(n * n, dtype=float).reshape(n, n) if matrix is None else matrix
    found = SimpleNamespace(partition=SimpleNamespace(labels=np.array(modules), q=q))
    results = {"connectivity": lambda: matrix, "quantity": "r", "modules": lambda options: found}
    measured = measured_of([f"R{i}" for i in range(n)], **results, **about)
    with patch.object(family, "named_modules", return_value=names):
        return matrix, family.module_heatmap(measured, NamedModuleOptions(resolution=resolution))


def roles_of(modules, within_z, participation, *, names=None, hub_z=2.5, regions=None, **about):
    """Regions by role."""
    names = names or {module: f"Module {module}" for module in modules}
    regions = regions or [f"<{letter}>" for letter in "abcd"[: len(modules)]]
    found = {"within_z": np.array(within_z), "participation": np.array(participation), "hub": False}
    roles = pd.DataFrame({"region": regions, "module": modules, **found})
    results = {"modules": lambda options: SimpleNamespace(roles=roles, partition=None)}
    with patch.object(family, "named_modules", return_value=names):
        return family.role_map(measured_of(regions, **results, **about), NamedModuleOptions(hub_z=hub_z))


def sweep_of(sweep, *, simulated=False, **chosen):
    """Modules over the resolution."""
    rows = sweep.set_index("resolution", drop=False)
    measured = measured_of(simulated=simulated, resolution_step=lambda options, value: rows.loc[value].to_dict())
    measured.atlas.labels = {"dosenbach": ()}
    options = family.ResolutionSweepOptions(resolutions=tuple(sweep["resolution"]), **chosen)
    return family.resolution_sweep(measured, options)


def chance_of(test, **about):
    """Modularity beside that of null graphs."""
    measured = measured_of(null_modularity=lambda options, seed: test, **about)
    with patch("biobgt.modules.structure.pool_modularity_tests", return_value=test):
        return family.modularity_against_chance(measured, NullGraphOptions(null_graphs=3))


def small_world_of(found, **about):
    """Clustering and path length beside those of null graphs."""
    with patch.object(family, "pooled_small_world", return_value=found):
        return family.small_worldness(measured_of(**about), SmallWorldOptions())


def agreement_of(contingency):
    """Two divisions that share so many regions."""
    return ModuleAgreement(0.5, 0.5, 1.0, 0.5, contingency, int(contingency.to_numpy().sum()), 0, 0)


def flow_of(agreement, *, names=None, matched=None, labelling="L", **about):
    """Modules beside functional networks."""
    results = {
        "module_agreement": lambda options, labelling: agreement,
        "modules": lambda options: SimpleNamespace(partition=None),
    }
    names = names or {1: "Module 1 · mostly a", 2: "Module 2 · b"}
    with (
        patch.object(family, "named_modules", return_value=names),
        patch("biobgt.modules.partition.match_labels", return_value=matched or {}),
    ):
        return family.module_flow(measured_of(**results, **about), NamedModuleOptions(labelling=labelling))


def group_flow_of(difference, *, simulated=False):
    """Modules of two groups, NC and AD."""
    measured = measured_of("abcdef")
    measured.cohort = SimpleNamespace(simulated=simulated)
    options = groups.ModuleComparisonOptions(first="NC", second="AD")
    with (
        patch.object(groups, "changed_modules", return_value=difference),
        patch.object(groups, "named_modules", return_value={1: "1", 2: "2"}),
        patch.object(groups, "group_methods", return_value=()),
    ):
        return groups.group_module_flow(measured, options)
