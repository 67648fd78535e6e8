"""Speed of the hub measures, as ratios to the plain way of computing them, in one process.

Every comparison first checks that both ways give the same values to 1e-10.
"""

import math
from collections.abc import Callable

import bct
import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.graphs import brain_like_graph
from benchmarks.timing import Ratio, print_costs, print_ratios, timed
from biobgt.hubs import (
    control_spectra,
    default_betas,
    entanglement_sweep,
    local_efficiency,
    node_efficiency,
    node_entanglement,
    vertex_entanglement,
)
from biobgt.hubs.perturbation import laplacian_changes

SIZES = (90, 200, 400, 1000)
LARGEST_COMPLETE = 400


def run() -> None:
    """Print the ratios, single-threaded and with all cores, and the cost against the number of regions."""
    for title, threads in (("one thread", 1), ("all cores", None)):
        with threadpool_limits(threads):
            print_ratios(f"Hubs, {title}", _ratios())
    with threadpool_limits(1):
        caption = f"exact node_entanglement above n = {LARGEST_COMPLETE}: 10 regions measured, scaled to all"
        print_costs("Cost against n, 10 % of all pairs, one thread", SIZES, _costs(), caption=caption)


def _ratios() -> list[Ratio]:
    rows = [
        _vertex_row("n = 200, all pairs connected", _weights(200, 1.0)),
        _vertex_row("n = 200, half of all pairs", _weights(200, 0.5)),
        _vertex_row("n = 600, 3 % of all pairs", _weights(600, 0.03)),
    ]
    rows += _entanglement_rows(_weights(200, 0.1))
    rows += _efficiency_rows(_weights(200, 0.1))
    return rows


def _vertex_row(what: str, weights: NDArray[np.float64]) -> Ratio:
    plain, expected = timed(lambda: _plain_vertex_entanglement(weights), repeats=1)
    fast, values = timed(lambda: vertex_entanglement(weights))
    _check_same(values, expected)
    return Ratio("plain loop over nodes, eigenvectors and β", f"vertex_entanglement, {what}", plain / fast, "≥ 30")


def _entanglement_rows(weights: NDArray[np.float64]) -> list[Ratio]:
    n = len(weights)
    altered = np.stack([_control_laplacian(weights, i) for i in range(n)])
    gammas = np.geomspace(0.01, 10, 50)
    _check_same(control_spectra(weights).perturbed, np.stack([scipy.linalg.eigvalsh(matrix) for matrix in altered]))
    _check_same(entanglement_sweep(weights, gammas)[7], node_entanglement(weights, gamma=float(gammas[7])))
    # Ratios near 1: taken in turn, so that a busy moment does not fall on one of them alone.
    bare, exact, sweep = math.inf, math.inf, math.inf
    for _ in range(5):
        bare = min(bare, timed(lambda: [scipy.linalg.eigvalsh(matrix) for matrix in altered], repeats=1)[0])
        exact = min(exact, timed(lambda: node_entanglement(weights), repeats=1)[0])
        sweep = min(sweep, timed(lambda: entanglement_sweep(weights, gammas), repeats=1)[0])
    return [
        Ratio(f"node_entanglement, n = {n}", f"{n} bare scipy.linalg.eigvalsh", exact / bare, "≤ 1.2"),
        Ratio(f"entanglement_sweep of 50 γ, n = {n}", "one node_entanglement", sweep / exact, "≤ 1.5"),
    ]


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
    return {name: [_seconds(name, job, _weights(n, 0.1)) for n in SIZES] for name, job in measures.items()}


def _seconds(name: str, measure: Callable[[NDArray[np.float64]], object], weights: NDArray[np.float64]) -> float:
    if name == "node_entanglement (exact)" and len(weights) > LARGEST_COMPLETE:
        ten = [_control_laplacian(weights, i) for i in range(10)]
        return timed(lambda: [np.linalg.eigvalsh(matrix) for matrix in ten], repeats=1)[0] * len(weights) / 10
    return timed(lambda: measure(weights), repeats=2)[0]


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
    for i, members, change in laplacian_changes(weights, "control"):
        if i == region:
            matrix[np.ix_(members, members)] += change
            break
    return matrix


def _weights(n_regions: int, density: float) -> NDArray[np.float64]:
    return brain_like_graph(n_regions, density).weights


def _check_same(values: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    difference = float(np.abs(values - expected).max())
    if difference > 1e-10:
        raise AssertionError(f"The two ways differ by {difference}.")
