"""One resolution of a sweep, with the agreement with an atlas's labels, so that a sweep can be taken in steps."""

import numpy as np

from biobgt.graph import BrainGraph
from biobgt.modules.label_agreement import module_agreement
from biobgt.modules.louvain import louvain_runs, stability
from biobgt.modules.partition import check_count


def resolution_step(graph: BrainGraph, resolution: float, *, runs: int, seed: int) -> dict[str, float]:
    """What a resolution finds, and how far Louvain runs agree on it.

    Parameters
    ----------
    graph : BrainGraph
    resolution : float
    runs : int
        At least 2.
    seed : int

    Returns
    -------
    dict of str to float
        ``resolution``, ``n_modules``, ``q`` and ``stability`` as in :func:`biobgt.modules.resolution_sweep`, and
        ``ami <labelling>``, the agreement of the best run's modules with each labelling of the atlas.
    """
    check_count("runs", runs, least=2)
    labels, qualities = louvain_runs(graph.weights, resolution=resolution, seed=seed, runs=runs)
    best = labels[int(np.argmax(qualities))]
    row = {
        "resolution": float(resolution),
        "n_modules": int(best.max(initial=0)),
        "q": float(qualities.max()),
        "stability": stability(labels),
    }
    return row | {f"ami {name}": module_agreement(best, graph.atlas, name).ami for name in graph.atlas.labels}
