"""The benchmark on ABIDE as a table in Markdown, beside the paper's numbers.

    python assets/studies/benchmark_table.py

Reads ``benchmark_abide.csv`` beside this script, the lines of
``biobgt benchmark --cohort abide --data DATA --threads 1 --out DIR``, and prints what docs/benchmark.md holds.
"""

import pandas as pd

from biobgt.studies import abide_benchmark
from biobgt.training.benchmark_views import shown_table


def main() -> None:
    """Print the table."""
    print(results_lines(abide_benchmark()))


def results_lines(results: pd.DataFrame) -> str:
    """One line of Markdown per system: what was measured, the difference to ridge, and what the paper reports."""
    table = shown_table(results)
    lines = [table.columns.to_list(), ["---"] * len(table.columns), *table.to_numpy().tolist()]
    first, rule, *rows = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([first.replace("|  |", "| |", 1), rule.replace(" ", ""), *rows])


if __name__ == "__main__":
    main()
