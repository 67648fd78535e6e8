"""Write the tables of docs/benchmark.md, and citation_networks.json for the app, from the results beside this script.

    python assets/studies/benchmark_tables.py

``benchmark_abide.csv`` holds the lines of ``biobgt benchmark --cohort abide --data DATA --threads 1 --out DIR``,
``citation_graphs.csv`` and ``epoch_times.csv`` those of the scripts of the same names.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from assets.studies.citation_tables import citation_words, shown_citations
from biobgt.results.studies import study_table
from biobgt.training.tables import BenchmarkTables
from docs.tools.study_tables import table_of, write_tables

RUNS, SHOWN = (Path(__file__).with_name(name) for name in ("citation_graphs.csv", "citation_networks.json"))
PAGE = Path(__file__).parents[2] / "docs" / "benchmark.md"


def tables() -> Mapping[str, str]:
    """Every table in Markdown, by name."""
    made = {
        "results": BenchmarkTables(study_table("benchmark_abide")).shown(),
        "citations": shown_citations(pd.read_csv(RUNS)),
        "costs": BenchmarkTables(study_table("benchmark_abide")).costs(study_table("epoch_times")),
    }
    return {name: table_of(frame) for name, frame in made.items()}


def citations() -> str:
    """The table of citation networks and what is said of it, as the app's Models page reads them."""
    runs = pd.read_csv(RUNS)
    shown = {"words": citation_words(runs), "table": shown_citations(runs).to_dict("records")}
    return json.dumps(shown, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SHOWN.write_text(citations(), encoding="utf-8")
    write_tables(PAGE, tables())
