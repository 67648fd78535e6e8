"""What modules cost: each line sets a function of biobgt.modules against bctpy in the same process.

Ratios, not seconds, are what can be compared between machines. Run with ``python -m benchmarks.modules``.
"""

from collections.abc import Callable
from functools import partial
from time import perf_counter

import bct
import numpy as np

from biobgt.connectome import functional_connectivity, graph_from_connectivity
from biobgt.graph import BrainGraph, ConnectomeSettings
from biobgt.modules import consensus_modules, louvain_modules, resolution_sweep
from biobgt.modules.small_world import characteristic_path_length
from biobgt.nulls import random_graph

SIZES = (90, 200, 400)


def brain_like_graph(n_regions: int, *, n_systems: int = 7, seed: int = 0) -> BrainGraph:
    """A graph of simulated series in which systems share a signal; the strongest tenth of the pairs is kept."""
    rng = np.random.default_rng(seed)
    systems = rng.integers(n_systems, size=n_regions)
    shared = rng.standard_normal((150, n_systems))
    series = 0.6 * shared[:, systems] + rng.standard_normal((150, n_regions))
    return graph_from_connectivity(
        functional_connectivity(series), ConnectomeSettings(threshold="proportional", level=0.1)
    )


def seconds(task: Callable[[], object], *, repeats: int = 3) -> float:
    """The fastest of a few runs."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        task()
        times.append(perf_counter() - start)
    return min(times)


def compare() -> None:
    graph = brain_like_graph(200)
    small = brain_like_graph(90)
    weights, resolutions = graph.weights, np.linspace(0.5, 2, 4)
    louvain = seconds(lambda: bct.community_louvain(weights, seed=0))
    lengths = bct.weight_conversion(weights, "lengths")
    lines = [
        ("louvain_modules / bct.community_louvain", seconds(lambda: louvain_modules(graph)) / louvain),
        (
            "resolution_sweep, 4 × 10 runs / 40 bct.community_louvain",
            seconds(lambda: resolution_sweep(graph, resolutions, runs=10), repeats=1) / (40 * louvain),
        ),
        (
            "consensus_modules, 50 runs / 50 bct.community_louvain",
            seconds(lambda: consensus_modules(graph, runs=50), repeats=1) / (50 * louvain),
        ),
        (
            "bct.null_model_und_sign / random_graph, n = 90",
            seconds(lambda: bct.null_model_und_sign(np.array(small.weights), 1, seed=0), repeats=1)
            / seconds(lambda: random_graph(small, seed=0)),
        ),
        (
            "bct.distance_wei / characteristic_path_length",
            seconds(lambda: bct.distance_wei(lengths), repeats=1)
            / seconds(lambda: characteristic_path_length(weights)),
        ),
    ]
    print("modules, n = 200 unless said (ratio of times)")
    for name, ratio in lines:
        print(f"  {name:58s} {ratio:8.2f}")


def scaling() -> None:
    tasks: dict[str, Callable[[BrainGraph], object]] = {
        "louvain_modules": louvain_modules,
        "consensus_modules, 10 runs": lambda graph: consensus_modules(graph, runs=10),
        "random_graph": lambda graph: random_graph(graph, seed=0),
    }
    graphs = [brain_like_graph(n) for n in SIZES]
    print(f"cost against n, in units of n = {SIZES[0]}, and the fitted exponent")
    print(f"  {'':28s}" + "".join(f"{n:>8d}" for n in SIZES) + "   exponent")
    for name, task in tasks.items():
        times = np.array([seconds(partial(task, graph), repeats=2) for graph in graphs])
        exponent = np.polyfit(np.log(SIZES), np.log(times), 1)[0]
        print(f"  {name:28s}" + "".join(f"{time / times[0]:8.1f}" for time in times) + f"{exponent:11.2f}")


def run() -> None:
    compare()
    scaling()


if __name__ == "__main__":
    run()
