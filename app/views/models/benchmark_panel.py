"""Models: the paper's tables done again, whichever model is chosen."""

import pandas as pd
import streamlit as st

from biobgt.figures.benchmark_results import BenchmarkResults
from biobgt.figures.figure import NoOptions
from biobgt.model.installed import installed_models
from biobgt.studies import abide_benchmark, citation_runs, epoch_times
from biobgt.training.benchmark_views import (
    OTHER_SUBJECTS,
    PAPER_MARK,
    benchmark_words,
    impossible_words,
    shown_table,
    verdict_words,
)
from biobgt.training.citation_views import CITATIONS_NAME, citation_words, shown_citations
from biobgt.training.cost_views import COSTS_NAME, cost_words, shown_costs
from session.view import View, measured_model
from views.shared.tables import ALL_METRICS, show_table
from views.shared.widgets import heading, plain, show


def show_benchmark(view: View) -> None:
    """Every system of the paper's comparison on the same splits of ABIDE, and the paper's other tables."""
    results = abide_benchmark()
    heading(BenchmarkResults.name)
    st.markdown(
        "The paper compares BioBGT with graph transformers, graph networks and classical models. Those that "
        "could be built were written anew from their descriptions, and are given the same subjects, splits and inputs. "
        f"{OTHER_SUBJECTS} {verdict_words(results)}"
    )
    trained_there = installed_models().get(BenchmarkResults.example_of)
    if trained_there is not None:
        show(view, BenchmarkResults.of(measured_model(trained_there), NoOptions()), key="benchmark")
    words = (
        f"{PAPER_MARK}: the paper's numbers. {benchmark_words(results)} {impossible_words()} docs/benchmark.md says "
        "how each system was built and run."
    )
    _show_folded(ALL_METRICS, shown_table(results), words)
    _show_folded(COSTS_NAME, shown_costs(results, epoch_times()), cost_words())
    runs = citation_runs()
    _show_folded(CITATIONS_NAME, shown_citations(runs), citation_words(runs))


def _show_folded(name: str, table: pd.DataFrame, words: str) -> None:
    with st.expander(name):
        show_table(table, alt=f"{BenchmarkResults.name}: {name}")
        st.caption(plain(words))
