"""What modules cost, against bctpy in the same process."""

from collections.abc import Callable
from functools import partial

import bct
import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.graphs import brain_like_graph
from benchmarks.timing import Ratio, compare, print_costs, print_ratios, timed
from biobgt.data.graph import BrainGraph, random_graph
from biobgt.modules import consensus_modules, louvain_modules, resolution_sweep
from biobgt.modules.structure import characteristic_path_length

SIZES = (90, 200, 400, 1000)


def run() -> None:
    """Print the ratios and the cost against the number of regions."""
    with threadpool_limits(1):
        print_ratios("Modules, n = 200", _ratios())
        print_costs("Cost against n, 10 % of all pairs, one thread", SIZES, _costs())


def _ratios() -> list[Ratio]:
    graph, small = brain_like_graph(200), brain_like_graph(90)
    weights, resolutions = np.array(graph.weights), np.linspace(0.5, 2, 4)
    lengths = bct.weight_conversion(weights, "lengths")

    def louvain(runs: int) -> Callable[[], object]:
        return lambda: [bct.community_louvain(weights, seed=seed) for seed in range(runs)]

    def against(name: str, ours: Callable[[], object], runs: int) -> Ratio:
        return Ratio(name, f"{runs} × bct.community_louvain", compare(ours, louvain(runs), repeats=2))

    small_weights = np.array(small.weights)
    null = compare(
        lambda: bct.null_model_und_sign(small_weights, 1, seed=0), lambda: random_graph(small, seed=0), repeats=1
    )
    path = compare(lambda: bct.distance_wei(lengths), lambda: characteristic_path_length(weights), repeats=2)
    return [
        against("louvain_modules, 10 runs", lambda: louvain_modules(graph, runs=10), 10),
        against("resolution_sweep, 4 × 10 runs", lambda: resolution_sweep(graph, resolutions, runs=10), 40),
        against("consensus_modules, 50 runs", lambda: consensus_modules(graph, runs=50), 50),
        Ratio("bct.null_model_und_sign, n = 90", "random_graph", null),
        Ratio("bct.distance_wei", "characteristic_path_length", path),
    ]


def _costs() -> dict[str, list[float]]:
    jobs: dict[str, Callable[[BrainGraph], object]] = {
        "louvain_modules, 1 run": partial(louvain_modules, runs=1),
        "consensus_modules, 10 runs": partial(consensus_modules, runs=10),
        "random_graph": partial(random_graph, seed=0),
    }
    graphs = [brain_like_graph(n) for n in SIZES]
    return {name: [timed(partial(job, graph), repeats=2)[0] for graph in graphs] for name, job in jobs.items()}
