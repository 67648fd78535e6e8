"""How the benchmarks measure and print: ratios in one process, never bare seconds."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Ratio:
    """What was timed, against what, how it came out and what was promised."""

    what: str
    against: str
    value: float
    sense: str  # "≤" or "≥"
    promised: float

    @property
    def kept(self) -> bool:
        """Whether the promise holds."""
        return self.value <= self.promised if self.sense == "≤" else self.value >= self.promised


def compare(ours: Callable[[], object], plain: Callable[[], object], *, repeats: int = 5) -> float:
    """Return our time over the plain way's: the quickest of a few runs of each, taken in turns.

    In turns, so that other work on the machine slows both; the quickest, because it was disturbed least.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for job, seconds in zip((ours, plain), times, strict=True):
            start = perf_counter()
            job()
            seconds.append(perf_counter() - start)
    return min(times[0]) / min(times[1])


def print_ratios(title: str, ratios: list[Ratio]) -> None:
    """Print a table of ratios and whether each promise was kept."""
    table = Table(title=title, title_justify="left")
    for column in ("what", "against", "ratio", "promised", ""):
        table.add_column(column)
    for ratio in ratios:
        mark = "kept" if ratio.kept else "MISSED"
        table.add_row(ratio.what, ratio.against, f"{ratio.value:.2f} ×", f"{ratio.sense} {ratio.promised:g} ×", mark)
    Console().print(table)
