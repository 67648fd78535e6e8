"""Functional modules: found (Louvain, consensus), matched, compared with an atlas, and tested against chance.

Every function takes a symmetric (n, n) array with a zero diagonal or a :class:`biobgt.connectome.BrainGraph`.
A region in no module carries the label 0; see :mod:`biobgt.modules.partition`.
"""

from biobgt.modules.agreement import ModuleAgreement, compare_modules, module_agreement
from biobgt.modules.consensus import (
    ConsensusPartition,
    agreement_matrix,
    chance_agreement,
    combine_partitions,
    consensus_modules,
    group_modules,
)
from biobgt.modules.louvain import louvain_modules, modularity, resolution_sweep
from biobgt.modules.matching import match_across, match_modules
from biobgt.modules.partition import UNASSIGNED, Partition, canonical_labels
from biobgt.modules.roles import HUB_Z, ROLES, guimera_amaral_role, node_roles
from biobgt.modules.segregation import ModularityTest, Segregation, modularity_test, segregation
from biobgt.modules.small_world import SmallWorld, small_world

__all__ = [
    "HUB_Z",
    "ROLES",
    "UNASSIGNED",
    "ConsensusPartition",
    "ModularityTest",
    "ModuleAgreement",
    "Partition",
    "Segregation",
    "SmallWorld",
    "agreement_matrix",
    "canonical_labels",
    "chance_agreement",
    "combine_partitions",
    "compare_modules",
    "consensus_modules",
    "group_modules",
    "guimera_amaral_role",
    "louvain_modules",
    "match_across",
    "match_modules",
    "modularity",
    "modularity_test",
    "module_agreement",
    "node_roles",
    "resolution_sweep",
    "segregation",
    "small_world",
]
