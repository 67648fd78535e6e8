"""What the benchmark found, as tables: over splits, against one system, beside the paper's numbers, and its cost.

Without torch. The Models page and docs/benchmark.md show the same rows.
"""

import math
from typing import Any

import numpy as np
import pandas as pd

from biobgt.base.statistics import FDR, discovery_rates
from biobgt.base.wording import listed, percent, signed
from biobgt.model.benchmark.systems import benchmark_systems
from biobgt.model.presets import REFERENCE
from biobgt.training.metrics import METRICS, is_possible, paired_difference, tested_to_trained

PAPERS = ("accuracy", "auc", "f1", "sensitivity", "specificity")  # metrics of the paper's tables
FEWEST_SPLITS = 3  # splits of which an interval says anything
NOT_RUN, _NOT_BUILT = "not run", "not built"
OTHER_SUBJECTS = (
    "The paper used another selection of 1,009 ABIDE subjects, preprocessed differently: compare the ranking, not the "
    "numbers."
)
PAPER_MARK = "[paper]"  # how the paper's numbers stand behind ours
EMPTY = "–"
EPOCH_SUBJECTS, EPOCH_REGIONS = 719, 200  # in training in a split of ABIDE


def beside_paper(results: pd.DataFrame) -> pd.DataFrame:
    """Every row of the benchmark, run or not, beside the paper's numbers.

    Parameters
    ----------
    results : DataFrame
        Lines of one protocol.

    Returns
    -------
    DataFrame
        ``model`` and ``title`` of all rows in the order of the register; the columns of :func:`benchmark_table`, with
        intervals from three splits on; ``difference``, ``low``, ``high`` and ``q`` of :func:`compare_systems` likewise;
        ``state``, empty or why a row has no numbers; ``paper_accuracy``, ``paper_auc``, ``paper_f1``,
        ``paper_sensitivity`` and ``paper_specificity``.
    """
    systems = benchmark_systems()
    found = benchmark_table(results).set_index("model").reindex(list(systems))
    against = compare_systems(results).set_index("model").reindex(list(systems))
    few, few_common = found["splits"].fillna(0) < FEWEST_SPLITS, against["splits"].fillna(0) < FEWEST_SPLITS
    found.loc[few, ["auc_low", "auc_high"]] = np.nan
    against.loc[few_common, ["difference", "low", "high", "q"]] = np.nan
    rows, run = list(systems.values()), set(results["model"])
    return found.assign(
        title=[row.title for row in rows],
        splits=found["splits"].fillna(0).astype(int),
        state=["" if key in run else _NOT_BUILT if row.reason else NOT_RUN for key, row in systems.items()],
        **{f"paper_{name}": np.array([getattr(row.paper, name) for row in rows], dtype=float) for name in PAPERS},
        **{name: against[name] for name in ("difference", "low", "high", "q")},
    ).reset_index()


def shown_table(results: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`beside_paper` as texts, for a page; what they cost is in :func:`shown_costs`."""
    return pd.DataFrame([_system_texts(row) for row in _records(beside_paper(results))])


def _system_texts(row: dict[str, Any]) -> dict[str, str]:
    done = not row["state"]
    interval = "" if math.isnan(row["auc_low"]) else f"({row['auc_low']:.3f}–{row['auc_high']:.3f})"
    difference = EMPTY
    if not math.isnan(row["difference"]):
        rate = EMPTY if math.isnan(row["q"]) else f"{row['q']:.3f}"
        difference = f"{row['difference']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f}; {rate})"
    titles = {"accuracy": "accuracy", "F1": "f1", "sens.": "sensitivity", "spec.": "specificity"}
    return {
        "system": row["title"],
        "splits": str(row["splits"]) if done else row["state"],
        f"AUC (95 %) {PAPER_MARK}": _beside(row, "auc", interval),
        **{f"{title} {PAPER_MARK}": _beside(row, name) for title, name in titles.items()},
        "Brier": f"{row['brier']:.3f}" if done else EMPTY,
        f"AUC minus {REFERENCE} (q)": difference.replace("-", "−"),
    }


def _beside(row: dict[str, Any], name: str, interval: str = "") -> str:
    """Our number, its interval, and the paper's in brackets."""
    paper = row[f"paper_{name}"]
    ours = "" if row["state"] else f"{row[name]:.3f}"
    return " ".join(filter(None, (ours, interval, "" if math.isnan(paper) else f"[{paper:.4f}]"))) or EMPTY


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def benchmark_words(results: pd.DataFrame) -> str:
    """What was run of the benchmark, how often, and what was not."""
    rows = beside_paper(results)
    states = rows["state"].value_counts()
    done = rows[rows["state"] == ""]
    fewest, most = int(done["splits"].min()), int(done["splits"].max())
    splits = f"{most} random splits" if fewest == most else f"{fewest} to {most} random splits"
    why = {NOT_RUN: "not yet", _NOT_BUILT: "could not be built from what is published about them"}
    missing = [f"{states[state]} {said}" for state, said in why.items() if state in states]
    rest = f"; {' and '.join(missing)}" if missing else ""
    return (
        f"{len(done)} of {len(rows)} rows were run, on {splits}{rest}. No row but BioBGT's "
        "preset 'best' was tuned on this cohort, and that one on validation subjects."
    )


def verdict_words(results: pd.DataFrame) -> str:
    """Which systems are clearly better or worse than the linear model that all are compared with."""
    systems, rows = benchmark_systems(), _records(compare_systems(results))
    clear = [row for row in rows if row["q"] <= FDR]
    better = [systems[row["model"]].title for row in clear if row["difference"] > 0]
    first = (
        f"Clearly better than {systems[REFERENCE].title}, on the splits that both have: {listed(better)}."
        if better
        else f"No system is clearly better than {systems[REFERENCE].title} on the splits that both have."
    )
    best = max(rows, key=lambda row: row["difference"])
    title = systems[best["model"]].title
    difference, low, high = (signed(best[name], 3) for name in ("difference", "low", "high"))
    n_worse = len(clear) - len(better)
    return (
        f"{first} The highest AUC relative to it is that of {title}: a difference of {difference} "
        f"(95 % {low} to {high}). {n_worse} of {len(rows)} are clearly worse (false discovery rate of {percent(FDR)})."
    )


def impossible_words() -> str:
    """Which of the paper's rows have an accuracy outside of sensitivity and specificity; nothing where none has."""
    papers = [(row.title, row.paper) for row in benchmark_systems().values()]
    # Means over splits can leave the range by a little, where the share of patients differs from split to split.
    found = [
        title
        for title, paper in papers
        if paper.accuracy is not None
        and paper.sensitivity is not None
        and paper.specificity is not None
        and not is_possible(paper.accuracy, paper.sensitivity, paper.specificity, room=0.01)
    ]
    return (
        f"The paper's numbers for {listed(found)} contradict each other: with two groups, accuracy lies between "
        "sensitivity and specificity."
        if found
        else ""
    )


def benchmark_table(results: pd.DataFrame) -> pd.DataFrame:
    """One row per system: the mean of every metric over splits, the AUC's interval, and what a run costs.

    Parameters
    ----------
    results : DataFrame
        Lines of one protocol.

    Returns
    -------
    DataFrame
        ``model``, ``splits``, the metrics, ``auc_low`` and ``auc_high`` (95 %, counting in that the training sets of
        splits overlap, and ending at 0 and 1, beyond which there is no AUC), ``seconds`` of processor time and
        ``parameters``.
    """
    rows = []
    for model, lines in results.groupby("model", sort=False):
        found = _over_splits(lines["auc"], np.zeros(len(lines)), results)
        means = {name: lines[name].mean() for name in (*METRICS, "seconds", "parameters")}
        low, high = np.clip([found["corrected_low"], found["corrected_high"]], 0, 1)
        interval = {"auc_low": float(low), "auc_high": float(high)}
        rows.append({"model": model, "splits": len(lines), **means, **interval})
    return pd.DataFrame(rows)


def compare_systems(results: pd.DataFrame, *, reference: str = REFERENCE) -> pd.DataFrame:
    """AUC of every system minus that of one of them, on the splits that both have: the corrected resampled t-test.

    Parameters
    ----------
    results : DataFrame
        Lines of one protocol.
    reference : str
        Key of the system that all others are compared with.

    Returns
    -------
    DataFrame
        ``model``, ``splits``, the mean ``difference`` with its interval, ``low`` and ``high``, ``t``, ``p``, and ``q``,
        the false discovery rate over all systems compared (Benjamini & Hochberg). Without systems that have fewer than
        two splits in common with the reference.
    """
    by_model = results.pivot_table(index="split", columns="model", values="auc", sort=False)
    rows = []
    for model in [name for name in by_model.columns if name != reference and reference in by_model]:
        found = _over_splits(by_model[model], by_model[reference], results)
        if found["n"] > 1:
            interval = {"low": found["corrected_low"], "high": found["corrected_high"]}
            row = {"model": model, "splits": int(found["n"]), "difference": found["mean"], **interval}
            rows.append({**row, "t": found["t"], "p": found["p"]})
    table = pd.DataFrame(rows, columns=["model", "splits", "difference", "low", "high", "t", "p"])
    return table.assign(q=discovery_rates(table["p"]))


def _over_splits(first: "pd.Series[float]", second: object, results: pd.DataFrame) -> dict[str, float]:
    protocol, n_splits = str(results["protocol"].iloc[0]), results["split"].nunique()
    ratio = tested_to_trained(protocol, n_splits)
    return paired_difference(first.to_numpy(float), np.asarray(second, dtype=float), test_train_ratio=ratio)


def shown_costs(results: pd.DataFrame, epochs: pd.DataFrame) -> pd.DataFrame:
    """One row of texts per system that was run, or whose parameters the paper counts.

    Parameters
    ----------
    results : DataFrame
        Lines of the benchmark.
    epochs : DataFrame
        ``model`` and ``seconds`` of processor time of an epoch, of networks.
    """
    runs, epoch = benchmark_table(results).set_index("model"), epochs.set_index("model")["seconds"]
    rows = [
        (
            system.title,
            runs["parameters"].get(key),
            system.paper.parameters,
            runs["seconds"].get(key),
            epoch.get(key),
            system.paper.epoch_seconds,
        )
        for key, system in benchmark_systems().items()
        if key in runs.index or system.paper.parameters
    ]
    columns = ["system", "parameters", "paper: parameters", "CPU s per run", "CPU s per epoch", "paper: s per epoch"]
    shown = [[title, *(EMPTY if one is None else f"{one:,.0f}" for one in numbers)] for title, *numbers in rows]
    return pd.DataFrame(shown, columns=columns)


def cost_words() -> str:
    """What was timed, and what the paper's numbers are of."""
    return (
        "Parameters are weights, coefficients, or nodes of trees. A run is the training on one split, an epoch "
        f"{EPOCH_SUBJECTS} subjects with {EPOCH_REGIONS} regions, scaled up from single training steps, both in "
        "processor seconds on one thread. The paper trained on a GPU (NVIDIA A6000) and gives the time of BioBGT only."
    )
