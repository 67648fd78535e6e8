"""What BioBGT is given in the place of NE in its ablations (sections 4.3 and 4.4 of the paper).

−NE gives every region the same importance; +PE, +DC, … put another measure in the place of NE.
"""

from dataclasses import replace

import numpy as np
import torch

from biobgt.hubs.measures import HUB_MEASURES
from biobgt.model.baselines.graph_encodings import laplacian_eigenvectors
from biobgt.model.baselines.system import Importance
from biobgt.model.batch import GraphBatch

POSITIONS = 10


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
