"""Speed of the hub measures, as ratios to the plain way of computing them, in one process.

Every comparison first checks that both ways give the same values to 1e-10.
"""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

import bct
import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

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

Result = TypeVar("Result")
Row = tuple[str, str, float, str]

SIZES = (90, 200, 400, 1000)
LARGEST_COMPLETE = 400


def run() -> None:
    """Print the table of ratios, single-threaded and with all cores, and the cost against n."""
    console = Console()
    for title, threads in (("one thread", 1), ("all cores", None)):
        with _threads(threads):
            table = Table("what", "against", "ratio", "target", title=f"Hubs, {title}")
            for what, against, ratio, target in _ratios():
                table.add_row(what, against, f"{ratio:.2f} ×", target)
            console.print(table)
    with _threads(1):
        console.print(_cost_against_size())


def _threads(limit: int | None) -> AbstractContextManager[object]:
    limits: AbstractContextManager[object] = threadpool_limits(limit)
    return limits


def _ratios() -> list[Row]:
    rows = [
        _vertex_row("n = 200, all pairs connected", _brain_like(200, 1.0)),
        _vertex_row("n = 200, half of all pairs", _brain_like(200, 0.5)),
        _vertex_row("n = 600, 3 % of all pairs", _brain_like(600, 0.03)),
    ]
    rows += _entanglement_rows(_brain_like(200, 0.1))
    rows += _efficiency_rows(_brain_like(200, 0.1))
    return rows


def _vertex_row(what: str, weights: NDArray[np.float64]) -> Row:
    plain, expected = _timed(lambda: _plain_vertex_entanglement(weights), repeats=1)
    fast, values = _timed(lambda: vertex_entanglement(weights))
    _check_same(values, expected)
    return f"vertex_entanglement, {what}", "loop over nodes, eigenvectors and β", plain / fast, "≥ 30 ×"


def _entanglement_rows(weights: NDArray[np.float64]) -> list[Row]:
    n = len(weights)
    altered = np.stack([_control_laplacian(weights, i) for i in range(n)])
    gammas = np.geomspace(0.01, 10, 50)
    _check_same(control_spectra(weights).perturbed, np.stack([scipy.linalg.eigvalsh(matrix) for matrix in altered]))
    _check_same(entanglement_sweep(weights, gammas)[7], node_entanglement(weights, gamma=float(gammas[7])))
    # Ratios near 1: taken in turn, so that a busy moment does not fall on one of them alone.
    bare, exact, sweep = math.inf, math.inf, math.inf
    for _ in range(5):
        bare = min(bare, _timed(lambda: [scipy.linalg.eigvalsh(matrix) for matrix in altered], repeats=1)[0])
        exact = min(exact, _timed(lambda: node_entanglement(weights), repeats=1)[0])
        sweep = min(sweep, _timed(lambda: entanglement_sweep(weights, gammas), repeats=1)[0])
    return [
        (f"node_entanglement, n = {n}", f"{n} bare scipy.linalg.eigvalsh", exact / bare, "≤ 1.2 ×"),
        (f"entanglement_sweep of 50 γ, n = {n}", "one node_entanglement", sweep / exact, "≤ 1.5 ×"),
    ]


def _efficiency_rows(weights: NDArray[np.float64]) -> list[Row]:
    n = len(weights)
    lengths = bct.weight_conversion(weights, "lengths")
    plain, (distances, _) = _timed(lambda: bct.distance_wei(lengths), repeats=1)
    fast, values = _timed(lambda: node_efficiency(weights))
    np.fill_diagonal(distances, np.inf)
    _check_same(values, (1 / distances).sum(axis=1) / (n - 1))
    plain_local, expected = _timed(lambda: bct.efficiency_wei(weights, local=True), repeats=1)
    fast_local, values = _timed(lambda: local_efficiency(weights))
    _check_same(values, expected)
    return [
        (f"node_efficiency, n = {n}", "bct.distance_wei", plain / fast, "≥ 40 ×"),
        (f"local_efficiency, n = {n}", "bct.efficiency_wei(local=True)", plain_local / fast_local, "≥ 20 ×"),
    ]


def _cost_against_size() -> Table:
    """Seconds for each measure and size, and the exponent fitted to them."""
    measures: dict[str, Callable[[NDArray[np.float64]], object]] = {
        "node_entanglement (exact)": node_entanglement,
        "node_entanglement (first-order)": lambda weights: node_entanglement(weights, method="first-order"),
        "vertex_entanglement": vertex_entanglement,
        "node_efficiency": node_efficiency,
        "local_efficiency": local_efficiency,
    }
    table = Table(
        "seconds at n =", *map(str, SIZES), "∝ n to the", title="Cost against n, 10 % of all pairs, one thread"
    )
    for name, measure in measures.items():
        seconds = [_seconds(name, measure, _brain_like(n, 0.1)) for n in SIZES]
        exponent = np.polyfit(np.log(SIZES), np.log(seconds), 1)[0]
        table.add_row(name, *(f"{value:.3g}" for value in seconds), f"{exponent:.1f}")
    table.caption = f"exact node_entanglement above n = {LARGEST_COMPLETE}: 10 regions measured, scaled to all"
    return table


def _seconds(name: str, measure: Callable[[NDArray[np.float64]], object], weights: NDArray[np.float64]) -> float:
    if name == "node_entanglement (exact)" and len(weights) > LARGEST_COMPLETE:
        ten = [_control_laplacian(weights, i) for i in range(10)]
        return _timed(lambda: [np.linalg.eigvalsh(matrix) for matrix in ten], repeats=1)[0] * len(weights) / 10
    return _timed(lambda: measure(weights), repeats=2)[0]


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


def _brain_like(n: int, density: float) -> NDArray[np.float64]:
    """Correlations of random series with modules, cut to a density: clustered as brain graphs are."""
    rng = np.random.default_rng(n)
    modules = rng.normal(size=(150, 8))
    series = rng.normal(size=(150, n)) + 0.5 * modules[:, rng.integers(0, 8, n)] + 0.3 * rng.normal(size=(150, 1))
    correlation = np.corrcoef(series.T)
    weights: NDArray[np.float64] = np.abs(correlation + correlation.T) / 2
    np.fill_diagonal(weights, 0)
    cut = np.quantile(weights[np.triu_indices(n, 1)], 1 - density)
    return np.where(weights >= cut, weights, 0)


def _timed(compute: Callable[[], Result], *, repeats: int = 3) -> tuple[float, Result]:
    """Best time of several, and the result."""
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = compute()
        best = min(best, time.perf_counter() - start)
    return best, result


def _check_same(values: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    difference = float(np.abs(values - expected).max())
    if difference > 1e-10:
        raise AssertionError(f"The two ways differ by {difference}.")


if __name__ == "__main__":
    run()
