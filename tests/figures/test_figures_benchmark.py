"""The benchmark's figure and its table show the committed lines, and say which rows have none."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from drawn_figures import drawn_by_both

from biobgt.base.errors import InputError
from biobgt.figures.drawing import Drawing
from biobgt.figures.models import _benchmark_panel, benchmark_results
from biobgt.figures.register import NoOptions
from biobgt.model.pretrained import installed_model
from biobgt.model.systems import benchmark_systems
from biobgt.results.measured import Measured
from biobgt.training.metrics import METRICS
from biobgt.training.tables import FEWEST_SPLITS, PAPER_MARK, BenchmarkTables, impossible_words


def lines(**splits: dict[str, list[float]]) -> pd.DataFrame:
    """AUC of each split by model; every other metric is a half."""
    found = [
        {"protocol": "random", "split": f"split {i}", "model": model.replace("_", "-"), **dict.fromkeys(METRICS, 0.5)}
        | {"auc": auc, "seconds": 2.0, "parameters": 10.0}
        for model, aucs in splits.items()
        for i, auc in enumerate(aucs)
    ]
    return pd.DataFrame(found)


RESULTS = lines(ridge_log=[0.7, 0.72, 0.74], graphormer=[0.6, 0.62], svm=[0.7, 0.71, 0.75])


def made() -> Drawing:
    return benchmark_results(Measured(installed_model("abide-cc200").cohort), NoOptions())


def drawn(results: pd.DataFrame) -> Drawing:
    return Drawing(title="T", panels=[_benchmark_panel(BenchmarkTables(results).beside_paper)])


def test_every_row_stands_beside_the_papers_number_run_or_not() -> None:
    rows = BenchmarkTables(RESULTS).beside_paper.set_index("model")
    assert list(rows.index) == list(benchmark_systems())
    assert rows.loc["ridge-log", "auc"] == pytest.approx(0.72)
    assert rows.loc["ridge-log", "auc_low"] < 0.72 < rows.loc["ridge-log", "auc_high"]
    assert np.isnan(rows.loc["graphormer", "auc_low"])  # of two splits
    assert rows.loc["graphormer", "splits"] == 2 < FEWEST_SPLITS
    assert rows.loc["graphormer", "paper_auc"] == 0.5761
    assert np.isnan(rows.loc["graphormer", "difference"])
    assert rows.loc["svm", "difference"] == pytest.approx(0.0, abs=1e-9)
    assert (rows.loc["gat", "state"], rows.loc["gtsp", "state"], rows.loc["svm", "state"]) == (
        "not run",
        "not built",
        "",
    )
    shown = BenchmarkTables(RESULTS).shown().set_index("system")
    assert shown.loc["GAT"].tolist() == [
        "not run",
        *("[0.5341]", "[0.5351]", "[0.5612]", "[0.5773]", "[0.4813]"),
        *("–", "–"),
    ]
    assert shown.loc["BioBGT as published, −NE"].tolist() == ["not run", *["–"] * 7]
    assert shown.loc["Graphormer", f"AUC (95 %) {PAPER_MARK}"] == "0.610 [0.5761]"
    assert shown.loc["linear SVM on Fisher-z correlations", f"F1 {PAPER_MARK}"] == "0.500 [0.5202]"
    assert (
        BenchmarkTables(RESULTS)
        .words()
        .startswith(f"3 of {len(benchmark_systems())} rows were run, on 2 to 3 random splits; ")
    )
    assert "3 could not be built" in BenchmarkTables(RESULTS).words()


def test_costs_stand_beside_the_papers() -> None:
    epochs = pd.DataFrame({"model": ["graphormer", "paper-abide"], "seconds": [17.6, 20.2]})
    shown = BenchmarkTables(RESULTS).costs(epochs).set_index("system")
    assert shown.loc["Graphormer"].tolist() == ["10", "–", "2", "18", "–"]
    assert shown.loc["GTSP"].tolist() == ["–", "427,000", "–", "–", "–"]
    assert shown.loc["BioBGT as published, preset paper-abide, stopped early"].tolist()[1:] == [
        "465,000",
        "–",
        "20",
        "650",
    ]


def test_verdict_names_what_is_clearly_better_than_the_linear_model() -> None:
    found = BenchmarkTables(RESULTS).verdict()
    assert found.startswith("No system is clearly better than ridge on log-Euclidean connectivity")
    assert "0 of 2 are clearly worse" in found
    above = lines(ridge_log=[0.7, 0.72, 0.74], graphormer=[0.8, 0.8201, 0.84], svm=[0.6, 0.6201, 0.64])
    found = BenchmarkTables(above).verdict()
    assert "Clearly better than ridge on log-Euclidean connectivity, on the splits that both have: Graphormer." in found
    assert "that of Graphormer: a difference of 0.100 (95 %" in found
    assert "1 of 2 are clearly worse (false discovery rate of 5 %)" in found


def test_rows_of_the_paper_that_contradict_themselves_are_named() -> None:
    """By hand: 54.2 % is above both 48.8 and 45.9 %, 63.1 % below both 64.7 and 65.3 %; no other is 1 % outside."""
    assert impossible_words().startswith("The paper's numbers for MCST-GCN and GroupBNA contradict each other")


def test_the_screen_has_a_dot_with_its_interval_and_a_hollow_mark_of_the_paper() -> None:
    ours, papers = drawn_by_both(drawn(RESULTS))[0].data
    place = {name.split(" (")[0]: i for i, name in enumerate(ours.y)}
    assert "Graphormer (2 splits)" in ours.y
    assert "GAT (not run)" in ours.y
    assert "GTSP (not built)" in ours.y
    assert ours.x[place["Graphormer"]] == pytest.approx(0.61)
    assert papers.x[place["Graphormer"]] == 0.5761
    assert np.isnan(ours.x[place["GAT"]])
    assert ours.error_x.array[place["linear SVM on Fisher-z correlations"]] > 0
    assert papers.marker.symbol == "circle-open"


def test_numbers_and_words_are_those_of_the_committed_runs() -> None:
    shown = made()
    assert "another selection of 1,009 ABIDE subjects" in shown.caption
    assert "rows were run" in shown.caption
    long = ["\n" in name for name in shown.panels[0].y.names]
    assert not any(first and second for first, second in pairwise(long)), "two names of two lines would meet"
    numbers = shown.numbers()
    assert (numbers["auc"].notna() | numbers["paper_auc"].notna()).all(), "neither run nor in the paper"
    assert numbers["paper_auc"].notna().sum() == sum(row.paper.auc is not None for row in benchmark_systems().values())
    with pytest.raises(InputError, match="abide-cc200 only"):
        benchmark_results(Measured(installed_model("cni-adhd-cc200").cohort), NoOptions())
