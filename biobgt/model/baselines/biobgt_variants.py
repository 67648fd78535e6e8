"""BioBGT itself and its ablations (section 4.3 and 4.4 of the paper), as rows of the benchmark.

−NE gives every region the same importance; −FM-Attn leaves out ψ and its loss, so that attention compares the encoded
features; +PE, +DC, … put another measure in the place of NE. The ablations are of the paper's model for ABIDE, and like
it stop when validation has not improved for ten epochs (docs/model.md compares this with its 200 epochs).
"""

from dataclasses import replace

import numpy as np
import torch

from biobgt.hubs.measures import HUB_MEASURES
from biobgt.model.baselines.graph_encodings import laplacian_eigenvectors
from biobgt.model.baselines.rows import ROWS
from biobgt.model.baselines.system import BioBGTSystem, Importance
from biobgt.model.batch import GraphBatch
from biobgt.model.presets import Preset, preset_named

POSITIONS, PATIENCE = 10, 10


def with_importance(graphs: GraphBatch, importance: Importance) -> GraphBatch:
    """Put another measure of importance in the place of NE.

    Laplacian eigenvectors become further features of a region, which the model projects linearly with the others: the
    sum of two linear maps, as positional encodings are added.
    """
    if importance == "ne":
        return graphs
    eigenvectors, _, measure = importance.rpartition("+") if importance != "pe" else ("pe", "+", "none")
    if eigenvectors:
        places = laplacian_eigenvectors(graphs.weights, POSITIONS)[1]
        graphs = replace(graphs, features=torch.cat([graphs.features, places], dim=2))
    if measure == "none":
        return replace(graphs, entanglement=torch.zeros_like(graphs.entanglement))
    weights = graphs.weights.double().numpy()
    found = np.stack([HUB_MEASURES[measure].compute(one) for one in (weights + weights.transpose(0, 2, 1)) / 2])
    return replace(graphs, entanglement=torch.from_numpy(found.astype(np.float32)))


def _variant(key: str, importance: Importance = "ne", preset: Preset | None = None) -> BioBGTSystem:
    given = preset or preset_named("paper-abide", patience=PATIENCE)
    return BioBGTSystem(ROWS[key], preset=given, importance=importance)


VARIANTS = (
    _variant("best", preset=preset_named("best")),
    *(
        _variant(name, preset=preset_named(name, patience=PATIENCE))
        for name in ("paper-abide", "paper-adni", "paper-adhd")
    ),
    _variant("paper-without-ne", "none"),
    _variant(
        "paper-without-fm-attn",
        preset=preset_named("paper-abide", patience=PATIENCE, encoder_layers=0, contrast_weight=0.0),
    ),
    _variant("paper-pe", "pe"),
    _variant("paper-dc", "degree"),
    _variant("paper-pe-dc", "pe+degree"),
    _variant("paper-bc", "betweenness"),
    _variant("paper-cc", "closeness"),
    _variant("paper-ec", "eigenvector"),
)
