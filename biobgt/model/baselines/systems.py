"""The register of everything that ``biobgt benchmark`` can set side by side."""

from biobgt.model.baselines import (
    biobgt_variants,
    brain_network_transformer,
    braingb,
    braingnn,
    classical,
    gat,
    gradformer,
    graph_transformer,
    graphormer,
    polynormer,
    spectral_attention,
    structure_aware,
    unbuilt,
)
from biobgt.model.baselines.system import System
from biobgt.registry import Registry

SYSTEMS: Registry[System] = Registry(
    "model of the benchmark",
    *classical.RIDGES,
    classical.SUPPORT_VECTOR_MACHINE,
    classical.FOREST,
    *biobgt_variants.VARIANTS,
    graph_transformer.SYSTEM,
    structure_aware.WITHOUT_POSITIONS,
    structure_aware.WITH_POSITIONS,
    spectral_attention.SYSTEM,
    graphormer.SYSTEM,
    gradformer.SYSTEM,
    polynormer.SYSTEM,
    brain_network_transformer.SYSTEM,
    gat.SYSTEM,
    braingnn.SYSTEM,
    braingb.SYSTEM,
    *unbuilt.UNBUILT,
)
