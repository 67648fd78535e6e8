"""Roles of regions in the modular structure: provincial hubs, connector hubs and the rest.

Guimerà & Amaral (2005): the within-module strength z tells hubs from other regions, the participation
coefficient P = 1 − Σ_m (k_im / k_i)² how evenly a region's connections spread over the modules. Both come from
bctpy; the borders between the seven roles are the paper's.
"""

from collections.abc import Mapping

import bct
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.graph import BrainGraph, Graph, graph_weights
from biobgt.modules.module_measures import PARTICIPATION, REGION_MEASURES, WITHIN_Z
from biobgt.modules.module_options import HUB_Z
from biobgt.modules.partition import UNASSIGNED, Labels, module_labels

ROLES: Mapping[str, str] = {
    "R1": "ultra-peripheral",
    "R2": "peripheral",
    "R3": "connector",
    "R4": "kinless",
    "R5": "provincial hub",
    "R6": "connector hub",
    "R7": "kinless hub",
}
# Upper borders of P: R1, R2, R3 and then R4 for non-hubs; R5, R6 and then R7 for hubs.
_NON_HUB_BORDERS = (0.05, 0.62, 0.80)
_HUB_BORDERS = (0.30, 0.75)


def node_roles(graph: Graph, partition: Labels, *, hub_z: float = HUB_Z) -> pd.DataFrame:
    """Within-module strength, participation and role of every region.

    Of a signed graph only the positive connections count: P is a share of connections, and shares of both
    signs have no meaning. Connections to regions in no module are left out.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    partition : Partition or sequence of int, length n_regions
    hub_z : float
        Regions of at least this within-module z are hubs. The paper's 2.5 was set on networks of thousands of
        nodes; in a module of 30 regions few or none reach it, and brain studies often take 1 to 1.5.

    Returns
    -------
    DataFrame
        One row per region, numbered from 1: ``region`` (for a BrainGraph), ``module``, the measures of
        :data:`biobgt.modules.module_measures.REGION_MEASURES` (``within_z``, ``participation``), ``role`` (R1 ... R7),
        ``role_name``, ``hub``. Where the regions of a module do not differ in strength, as in a
        module of one, z is 0. For a region in no module z and P are NaN and the role is None.
    """
    weights = np.maximum(graph_weights(graph), 0)
    labels = module_labels(partition, len(weights))
    if not np.isfinite(hub_z):
        raise InputError(f"The hub threshold is {hub_z}; it must be a number.")
    assigned = np.flatnonzero(labels != UNASSIGNED)
    measures = {key: np.full(len(weights), np.nan) for key in REGION_MEASURES}
    if len(assigned):
        inside, modules = weights[np.ix_(assigned, assigned)], labels[assigned]
        for key, values in measures.items():
            values[assigned] = REGION_MEASURES[key].compute(inside, modules)
    placed = zip(measures[WITHIN_Z], measures[PARTICIPATION], strict=True)
    roles = [guimera_amaral_role(z, p, hub_z=hub_z) for z, p in placed]
    frame = pd.DataFrame(
        {
            "module": labels,
            **measures,
            "role": pd.Series(roles, dtype=object),
            "role_name": pd.Series([role and ROLES[role] for role in roles], dtype=object),
            "hub": measures[WITHIN_Z] >= hub_z,
        }
    )
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="number")
    if isinstance(graph, BrainGraph):
        frame.insert(0, "region", graph.atlas.regions)
    return frame


def guimera_amaral_role(within_z: float, participation: float, *, hub_z: float = HUB_Z) -> str | None:
    """Role (``R1`` ... ``R7``) of one region, None where z or P is not known.

    Parameters
    ----------
    within_z : float
        Within-module strength z.
    participation : float
        Participation coefficient P.
    hub_z : float
        A region of at least this z is a hub.
    """
    if np.isnan(within_z) or np.isnan(participation):
        return None
    if within_z >= hub_z:
        return f"R{5 + int(np.searchsorted(_HUB_BORDERS, participation))}"
    return f"R{1 + int(np.searchsorted(_NON_HUB_BORDERS, participation))}"


def participation(weights: NDArray[np.float64], modules: NDArray[np.int64]) -> NDArray[np.float64]:
    """Participation coefficient, shape (n_regions,); see :func:`node_roles`."""
    with np.errstate(invalid="ignore"):  # 0/0 for a region without connections, which bctpy then sets to 0
        found: NDArray[np.float64] = bct.participation_coef(weights, modules)
    return np.maximum(found, 0)  # rounding leaves -1e-16 where all connections stay in one module


def within_module_z(weights: NDArray[np.float64], modules: NDArray[np.int64]) -> NDArray[np.float64]:
    """Within-module z, shape (n_regions,); see :func:`node_roles`."""
    with np.errstate(invalid="ignore", divide="ignore"):  # 0/0 in a module of one
        z: NDArray[np.float64] = bct.module_degree_zscore(weights, modules)
    for module in np.unique(modules):
        members = modules == module
        strength = weights[np.ix_(members, members)].sum(axis=1)
        # Equal strengths differ by rounding, and dividing dust by dust makes hubs out of nothing.
        if np.ptp(strength) <= 1e-12 * strength.max():
            z[members] = 0
    return z
