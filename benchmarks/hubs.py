"""Speed of the hub measures, as ratios to the plain way of computing them, in one process.

Every comparison first checks that both ways give the same values to 1e-10.
"""

import math
from collections.abc import Callable
from functools import partial

import bct
import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.graphs import brain_like_graph
from benchmarks.timing import Ratio, compare, print_costs, print_ratios, timed
from biobgt.data.atlas import numbered_atlas
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs import (
    control_spectra,
    default_betas,
    local_efficiency,
    node_efficiency,
    node_entanglement,
    vertex_entanglement,
)
from biobgt.hubs.entanglement import perturbed_graphs
from biobgt.hubs.resolvents import changed_regions, laplacian_change
from biobgt.hubs.table import measure_hubs

SIZES = (90, 200, 400, 1000)
LARGEST_COMPLETE = 400
MEASURED_REGIONS = 10


def run() -> None:
    """Print the ratios, single-threaded and with all cores, and the cost against the number of regions."""
    for title, threads in (("one thread", 1), ("all cores", None)):
        with threadpool_limits(threads):
            print_ratios(f"Hubs, {title}", _ratios())
    with threadpool_limits(1):
        print_costs("Cost against n, 10 % of all pairs, one thread", SIZES, _costs())


def _ratios() -> list[Ratio]:
    rows = [
        _vertex_row("n = 200, all pairs connected", _weights(200, 1.0)),
        _vertex_row("n = 200, half of all pairs", _weights(200, 0.5)),
        _vertex_row("n = 600, 3 % of all pairs", _weights(600, 0.03)),
        _vertex_row("n = 600, 10 % of all pairs", _weights(600, 0.1)),
    ]
    rows += _entanglement_rows()
    rows += _efficiency_rows(_weights(200, 0.1))
    return rows


def _vertex_row(what: str, weights: NDArray[np.float64]) -> Ratio:
    plain, expected = timed(lambda: _plain_vertex_entanglement(weights), repeats=1)
    fast, values = timed(lambda: vertex_entanglement(weights))
    _check_same(values, expected)
    return Ratio("plain loop over nodes, eigenvectors and β", f"vertex_entanglement, {what}", plain / fast, "≥ 30")


def _entanglement_rows() -> list[Ratio]:
    return [
        _exact_row(200, 0.08, "≥ 3"),
        _exact_row(400, 0.08, "≥ 8"),
        _exact_row(1000, 0.05, "≥ 30"),
        _sweep_row(200, 0.1, "≤ 1.8"),
    ]


def _exact_row(n_regions: int, density: float, promised: str) -> Ratio:
    """Node entanglement against as many eigenvalue problems as there are regions; a few of these, scaled to all."""
    weights = _weights(n_regions, density)
    few = [_control_laplacian(weights, region) for region in range(0, n_regions, n_regions // MEASURED_REGIONS)]
    if n_regions <= LARGEST_COMPLETE:
        _check_same(node_entanglement(weights), np.abs(control_spectra(weights).entropy_change()[0]))
    ours = compare(lambda: node_entanglement(weights), lambda: [scipy.linalg.eigvalsh(one) for one in few])
    what = f"node_entanglement, n = {n_regions}, {density:.0%} of pairs"
    return Ratio(f"{n_regions} bare scipy.linalg.eigvalsh", what, n_regions / len(few) / ours, promised)


def _sweep_row(n_regions: int, density: float, promised: str) -> Ratio:
    weights = _weights(n_regions, density)
    gammas = np.geomspace(0.01, 10, 50)
    _check_same(
        _sweep(weights, gammas)[7],
        node_entanglement(weights, absolute_gamma=float(gammas[7])),
    )
    altered = [_control_laplacian(weights, region) for region in range(n_regions)]
    ours = compare(
        lambda: _sweep(weights, gammas),
        lambda: [scipy.linalg.eigvalsh(matrix) for matrix in altered],
    )
    what = f"node entanglement at 50 γ, n = {n_regions}, {density:.0%} of pairs"
    return Ratio(what, f"{n_regions} bare scipy.linalg.eigvalsh", ours, promised)


def _sweep(weights: NDArray[np.float64], gammas: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.abs(perturbed_graphs(weights, absolute_gammas=gammas).entropy_change(absolute_gammas=gammas))


def _efficiency_rows(weights: NDArray[np.float64]) -> list[Ratio]:
    n = len(weights)
    lengths = bct.weight_conversion(weights, "lengths")
    plain, (distances, _) = timed(lambda: bct.distance_wei(lengths), repeats=1)
    fast, values = timed(lambda: node_efficiency(weights))
    np.fill_diagonal(distances, np.inf)
    _check_same(values, (1 / distances).sum(axis=1) / (n - 1))
    plain_local, expected = timed(lambda: bct.efficiency_wei(weights, local=True), repeats=1)
    fast_local, values = timed(lambda: local_efficiency(weights))
    _check_same(values, expected)
    return [
        Ratio("bct.distance_wei", f"node_efficiency, n = {n}", plain / fast, "≥ 40"),
        Ratio("bct.efficiency_wei(local=True)", f"local_efficiency, n = {n}", plain_local / fast_local, "≥ 20"),
    ]


def _costs() -> dict[str, list[float]]:
    measures: dict[str, Callable[[NDArray[np.float64]], object]] = {
        "node_entanglement (exact)": node_entanglement,
        "node_entanglement (first-order)": lambda weights: node_entanglement(weights, method="first-order"),
        "vertex_entanglement": vertex_entanglement,
        "node_efficiency": node_efficiency,
        "local_efficiency": local_efficiency,
    }
    costs = {
        name: [timed(partial(job, _weights(n, 0.1)), repeats=2)[0] for n in SIZES] for name, job in measures.items()
    }
    costs["measure_hubs, the Hubs page"] = [_seconds_of_the_page(n) for n in SIZES]
    return costs


def _seconds_of_the_page(n_regions: int) -> float:
    """See :data:`biobgt.hubs.resolvents.MEASURED_SECONDS`, which says this to users."""
    weights = _weights(n_regions, 0.1)
    graph = graph_from_connectivity(weights, ConnectomeSettings(threshold="none"), atlas=numbered_atlas(n_regions))
    return timed(lambda: measure_hubs(graph, weights), repeats=1)[0]


def _plain_vertex_entanglement(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Huang's vertex entanglement as one would write it down: node by node, eigenvector by eigenvector, β by β."""
    n = len(weights)
    values, vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    values[values < 1e-10] = 0
    betas = default_betas(values)
    before = [_plain_entropy(values.tolist(), beta) for beta in betas]
    result = np.zeros(n)
    for i in range(n):
        members = [j for j in range(n) if j == i or weights[i, j] > 0]
        inside = weights[np.ix_(members, members)]
        size = len(members)
        if size < 2:
            continue
        clique = np.full((size, size), inside.sum() / (size * (size - 1)))
        np.fill_diagonal(clique, 0)
        change = np.diag((clique - inside).sum(axis=1)) - (clique - inside)
        moved = []
        for j in range(n):
            vector = vectors[members, j]
            moved.append(float(values[j] + vector @ change @ vector))
        result[i] = min(_plain_entropy(moved, beta) - s for beta, s in zip(betas, before, strict=True))
    return result


def _plain_entropy(eigenvalues: list[float], beta: float) -> float:
    weights = [math.exp(-beta * value) for value in eigenvalues]
    total = sum(weights)
    shares = [weight / total for weight in weights]
    return -sum(share * math.log2(share) for share in shares if share > 0)


def _control_laplacian(weights: NDArray[np.float64], region: int) -> NDArray[np.float64]:
    matrix = np.diag(weights.sum(axis=1)) - weights
    if region in changed_regions(weights, "control"):
        members, change = laplacian_change(weights, region, "control")
        matrix[np.ix_(members, members)] += change
    return matrix


def _weights(n_regions: int, density: float) -> NDArray[np.float64]:
    return brain_like_graph(n_regions, density).weights


def _check_same(values: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    difference = float(np.abs(values - expected).max())
    if difference > 1e-10:
        raise AssertionError(f"The two ways differ by {difference}.")
