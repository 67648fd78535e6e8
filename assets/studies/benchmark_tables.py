"""Write the tables of docs/benchmark.md from the results beside this script, beside the paper's numbers.

    python assets/studies/benchmark_tables.py

``benchmark_abide.csv`` holds the lines of ``biobgt benchmark --cohort abide --data DATA --threads 1 --out DIR``,
``citation_graphs.csv`` and ``epoch_times.csv`` those of the scripts of the same names.
"""

from collections.abc import Mapping
from pathlib import Path

from biobgt.results.studies import abide_benchmark, citation_runs, epoch_times
from biobgt.training.card_tables import shown_citations, shown_costs, shown_table
from handbook.study_tables import table_of, write_tables

PAGE = Path(__file__).parents[2] / "docs" / "benchmark.md"


def tables() -> Mapping[str, str]:
    """Every table in Markdown, by name."""
    made = {
        "results": shown_table(abide_benchmark()),
        "citations": shown_citations(citation_runs()),
        "costs": shown_costs(abide_benchmark(), epoch_times()),
    }
    return {name: table_of(frame) for name, frame in made.items()}


if __name__ == "__main__":
    write_tables(PAGE, tables())
