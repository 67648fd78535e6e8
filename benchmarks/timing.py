"""How the benchmarks measure and print: ratios in one process, never bare seconds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

Result = TypeVar("Result")


@dataclass(frozen=True)
class Ratio:
    """What was timed, against what, how it came out and, where there is one, what was promised (``≤ 1.2``)."""

    what: str
    against: str
    value: float
    promised: str = ""

    @property
    def kept(self) -> bool:
        """Whether the promise holds."""
        sense, limit = self.promised.split()
        return self.value <= float(limit) if sense == "≤" else self.value >= float(limit)


def timed(
    job: Callable[[], Result], *, repeats: int = 3, clock: Callable[[], float] = perf_counter
) -> tuple[float, Result]:
    """Return the seconds of the quickest of a few runs, the one least disturbed by other work, and the result.

    Parameters
    ----------
    job : callable
    repeats : int
    clock : callable
        ``time.process_time`` counts the processor's seconds, which other work on the machine does not lengthen much.
    """
    best = math.inf
    for _ in range(repeats):
        start = clock()
        result = job()
        best = min(best, clock() - start)
    return best, result


def compare(ours: Callable[[], object], plain: Callable[[], object], *, repeats: int = 5) -> float:
    """Return our time over the plain way's; in turns, so that other work on the machine slows both."""
    times = [(timed(ours, repeats=1)[0], timed(plain, repeats=1)[0]) for _ in range(repeats)]
    return min(time for time, _ in times) / min(time for _, time in times)


def compare_computing(ours: Callable[[], object], plain: Callable[[], object], *, repeats: int = 25) -> float:
    """Return our computing time, reading processes included, over the plain way's.

    For short jobs on a machine that others use, too: waiting does not count, and the median over many turns is taken,
    because what others do to the caches changes from turn to turn.
    """
    ours(), plain()
    clock = computing_seconds
    turns = [(timed(ours, repeats=1, clock=clock)[0], timed(plain, repeats=1, clock=clock)[0]) for _ in range(repeats)]
    return median(own / other for own, other in turns)


def computing_seconds() -> float:
    """Seconds that this process and the running ones it started have computed; of the latter, Linux alone tells."""
    children = [pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()]
    started = sum(int(Path("/proc", pid, "schedstat").read_text().split()[0]) for pid in children)
    return process_time() + started / 1e9


def print_ratios(title: str, ratios: list[Ratio]) -> None:
    """Print a table of ratios and whether each promise was kept."""
    table = Table("what", "against", "ratio", "promised", "", title=title, title_justify="left")
    for ratio in ratios:
        verdict = ("kept" if ratio.kept else "MISSED") if ratio.promised else ""
        table.add_row(ratio.what, ratio.against, f"{ratio.value:.2f} ×", ratio.promised, verdict)
    Console().print(table)


def print_costs(title: str, sizes: tuple[int, ...], costs: dict[str, list[float]], *, caption: str = "") -> None:
    """Print seconds against the number of regions, with the exponent fitted to them."""
    table = Table("seconds at n =", *map(str, sizes), "∝ n to the", title=title, title_justify="left", caption=caption)
    for name, seconds in costs.items():
        exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        table.add_row(name, *(f"{value:.3g}" for value in seconds), f"{exponent:.1f}")
    Console().print(table)
