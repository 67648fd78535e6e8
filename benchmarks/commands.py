"""What a command costs before it does anything: CPU seconds beside those of the libraries it needs."""

import resource
import subprocess
import sys

from benchmarks.timing import Ratio, print_ratios

RUNS = 7
TABLES = "import typer, rich, pandas"
STATISTICS = f"{TABLES}, scipy.stats, sklearn.metrics"
COMMAND = "import sys; from biobgt.cli import main; sys.argv = ['biobgt', *sys.argv[1:]]; main()"
CASES = (
    ("--help", "import typer, rich", 3.0),
    ("--version", "import typer, rich", 3.0),
    ("predict --help", TABLES, 1.5),
    ("info --help", TABLES, 1.5),
    ("figure --help", TABLES, 1.5),
    ("hubs --help", STATISTICS, 1.5),
    ("compare --help", STATISTICS, 1.5),
)


def run() -> None:
    """Print the ratios."""
    print_ratios(
        "Commands before they begin, in CPU seconds",
        [
            Ratio(f"biobgt {arguments}", imports, _cpu(COMMAND, *arguments.split()) / _cpu(imports), f"≤ {limit:g}")
            for arguments, imports, limit in CASES
        ],
    )


def _cpu(code: str, *arguments: str) -> float:
    """Return the least CPU seconds that Python needs for it."""
    seconds = []
    for _ in range(RUNS):
        before = _spent_by_children()
        subprocess.run([sys.executable, "-c", code, *arguments], check=True, stdout=subprocess.DEVNULL)
        seconds.append(_spent_by_children() - before)
    return min(seconds)


def _spent_by_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
