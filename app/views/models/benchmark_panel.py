"""Models: the paper's tables done again, whichever model is chosen."""

from functools import cache

import pandas as pd
import streamlit as st

from biobgt.figures.models import BENCHMARKED, benchmark_results
from biobgt.figures.register import NoOptions
from biobgt.model.benchmark.systems import benchmark_systems
from biobgt.model.installed import installed_models
from biobgt.results.studies import abide_benchmark, citation_networks, epoch_times
from biobgt.training.benchmark_tables import (
    OTHER_SUBJECTS,
    PAPER_MARK,
    benchmark_words,
    cost_words,
    impossible_words,
    shown_costs,
    shown_table,
    verdict_words,
)
from session.view import View, measured_model
from views.shared.tables import ALL_METRICS, show_table
from views.shared.widgets import heading, plain, show


def show_benchmark(view: View) -> None:
    """Every system of the paper's comparison on the same splits of ABIDE, and the paper's other tables."""
    systems = tuple(benchmark_systems())
    heading(benchmark_results.name)
    st.markdown(
        "The paper compares BioBGT with graph transformers, graph networks and classical models. Those that "
        "could be built were written anew from their descriptions, and are given the same subjects, splits and inputs. "
        f"{OTHER_SUBJECTS} {_verdict(systems)}"
    )
    trained_there = installed_models().get(BENCHMARKED)
    if trained_there is not None:
        show(view, benchmark_results, NoOptions(), measured=measured_model(trained_there), key="benchmark")
    for name, table, words in _tables(systems):
        _show_folded(name, table, words)


@cache
def _verdict(systems: tuple[str, ...]) -> str:
    return verdict_words(abide_benchmark())


@cache
def _tables(systems: tuple[str, ...]) -> list[tuple[str, pd.DataFrame, str]]:
    """The paper's tables done again and what is said of each: of committed results, for the registered systems."""
    results = abide_benchmark()
    words = (
        f"{PAPER_MARK}: the paper's numbers. {benchmark_words(results)} {impossible_words()} docs/benchmark.md says "
        "how each system was built and run."
    )
    return [
        (ALL_METRICS, shown_table(results), words),
        ("Parameters and time", shown_costs(results, epoch_times()), cost_words()),
        ("Citation networks: the paper's last table", *citation_networks()),
    ]


def _show_folded(name: str, table: pd.DataFrame, words: str) -> None:
    with st.expander(name):
        show_table(table, alt=f"{benchmark_results.name}: {name}")
        st.caption(plain(words))
