from .blocks import ModuleBlocks, module_blocks, module_contrast
from .consensus import (
    ConsensusPartition,
    combine_partitions,
    consensus_modules,
)
from .finding import SubjectModules, find_modules, measure_modules
from .label_agreement import ModuleAgreement, compare_modules, module_agreement
from .louvain import louvain_modules, modularity, resolution_sweep
from .matching import match_modules
from .module_measures import MODULE_MEASURES, REGION_MEASURES, ModuleMeasure
from .module_options import HUB_Z, ModuleOptions
from .partition import UNASSIGNED, Partition, canonical_labels
from .roles import ROLES, guimera_amaral_role, node_roles
from .segregation import ModularityTest, Segregation, modularity_test, segregation
from .small_world import SmallWorld, small_world

__all__ = [
    "HUB_Z",
    "MODULE_MEASURES",
    "REGION_MEASURES",
    "ROLES",
    "UNASSIGNED",
    "ConsensusPartition",
    "ModularityTest",
    "ModuleAgreement",
    "ModuleBlocks",
    "ModuleMeasure",
    "ModuleOptions",
    "Partition",
    "Segregation",
    "SmallWorld",
    "SubjectModules",
    "canonical_labels",
    "combine_partitions",
    "compare_modules",
    "consensus_modules",
    "find_modules",
    "guimera_amaral_role",
    "louvain_modules",
    "match_modules",
    "measure_modules",
    "modularity",
    "modularity_test",
    "module_agreement",
    "module_blocks",
    "module_contrast",
    "node_roles",
    "resolution_sweep",
    "segregation",
    "small_world",
]
