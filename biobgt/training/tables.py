"""Cards of models, and the benchmark, as tables: results beside baselines and the paper's, worse recordings, cost."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FDR, discovery_rates
from biobgt.base.wording import counted, listed, percent, signed
from biobgt.data.cohort import Cohort, kind_of_group
from biobgt.model.benchmark.linear import baseline_titles
from biobgt.model.benchmark.systems import benchmark_systems
from biobgt.model.presets import OWN_PRESET, REFERENCE
from biobgt.training.metrics import (
    METRICS,
    bootstrap_intervals,
    classification_metrics,
    is_possible,
    paired_difference,
    roc_points,
    tested_to_trained,
)
from biobgt.training.options import PROTOCOLS

# A model's card as tables: results beside baselines and the paper's, worse recordings, and a cohort of known groups.
#
# Cards and arrays in, tables out. Without torch.


Card = Mapping[str, Any]
PAPER = "Paper (BioBGT, its own cohort)"
METRIC_TITLES: Mapping[str, str] = {
    "accuracy": "Accuracy",
    "auc": "AUC",
    "f1": "F1",
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "brier": "Brier score",
    "ece": "Calibration error",
}
MOST_PROBABLE = "the most probable group"
_ENDS = ("value", "low", "high")
FIXED_SPACE = "\u00a0"  # where a line is not broken
_PERCENT = re.compile(r"^\s*([0-9.]+)\s*(?:±\s*([0-9.]+))?\s*$")


def results_points(card: Card) -> pd.DataFrame:
    """AUC and accuracy with their intervals, of the model, the baselines and the paper.

    Returns
    -------
    DataFrame
        ``metric``, ``model``, ``value``, ``low`` and ``high``, as shares of 1. The paper's interval is the ± it
        prints, the others' a 95 % bootstrap over subjects; ``interval`` says which.
    """
    rows = []
    for metric in ("auc", "accuracy"):
        for model, measured in card["results"].items():
            value = measured[metric]
            rows.append((metric, model, value["value"], value["low"], value["high"], "95 % interval"))
        if printed := paper_results(card).get(metric):
            mean, sd = printed[0], float("nan") if printed[1] is None else printed[1]
            rows.append((metric, PAPER, mean, mean - sd, mean + sd, "± as the paper prints it"))
    names = ["metric", "model", "value", "low", "high", "interval"]
    return pd.DataFrame(rows, columns=names).astype({"value": float, "low": float, "high": float})


def results_table(card: Card) -> pd.DataFrame:
    """The same as text, one row per model and a column per metric, all as shares of 1."""
    rows = []
    for model, measured in card["results"].items():
        rows.append({"Model": model} | {title: _result_cell(measured[name]) for name, title in METRIC_TITLES.items()})
    if printed := paper_results(card):
        cells = {title: _plus_minus(*printed.get(name, (None, None))) for name, title in METRIC_TITLES.items()}
        rows.append({"Model": PAPER} | cells)
    return pd.DataFrame(rows)


def evaluation_table(card: Card) -> pd.DataFrame:
    """Results over repeated splits or sites left out, mean ± SD; no rows where the model was not evaluated so."""
    rows = []
    for row in card["evaluation"]:
        known, n = PROTOCOLS.get(row["protocol"]), row["splits"]
        split = known.title.format(n=n) if known else f"{row['protocol']} ({counted(n, 'split')})"
        measured = {title: row.get(name) or {} for name, title in METRIC_TITLES.items()}
        cells = {title: _plus_minus(found.get("mean"), found.get("sd")) for title, found in measured.items()}
        rows.append({"Split": split, "Model": _model_title(row["model"])} | cells)
    return pd.DataFrame(rows, columns=["Split", "Model", *METRIC_TITLES.values()])


def _model_title(name: str) -> str:
    """A model of an evaluation in words: ``linear log``, or a preset's name, with what was changed after a comma."""
    if name == OWN_PRESET:
        return "BioBGT"
    _, comma, changed = name.partition(",")
    return f"BioBGT as published{comma}{changed}" if name.startswith("paper-") else baseline_titles().get(name, name)


def chance_level(card: Card) -> dict[str, float]:
    """What guessing gives: AUC 0.5, and accuracy by always naming the largest group."""
    sizes = card["data"]["subjects"].values()
    return {"auc": 0.5, "accuracy": max(sizes) / sum(sizes)}


def claimed_event(card: Card) -> str:
    """What a reliability curve is of: the patients, or with more groups whichever was most probable."""
    return str(card["groups"][1]) if len(card["groups"]) == 2 else MOST_PROBABLE


def group_curves(
    labels: NDArray[np.int64], probabilities: NDArray[np.float64], groups: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """ROC curves: patients against controls, or with more groups each against all others.

    Parameters
    ----------
    labels : ndarray of int, shape (n_subjects,)
        Columns of the true groups.
    probabilities : ndarray, shape (n_subjects, n_groups)
    groups : sequence of str, length n_groups
        Controls first.
    """
    if len(groups) == 2:
        return {f"{groups[1]} against {groups[0]}": roc_points(labels, probabilities)}
    return {
        f"{group} against the others": roc_points((labels == k).astype(np.int64), probabilities[:, k])
        for k, group in enumerate(groups)
    }


def paper_results(card: Card) -> dict[str, tuple[float, float | None]]:
    """The paper's means and SDs as shares of 1, by metric; none for simulated patients, with whom nothing compares."""
    if card["simulated"]:
        return {}
    found = {metric: _PERCENT.match(text) for metric, text in (card["paper"] or {}).items()}
    return {
        metric: (float(match[1]) / 100, float(match[2]) / 100 if match[2] else None)
        for metric, match in found.items()
        if match
    }


def _result_cell(measured: Mapping[str, float | None]) -> str:
    """A value, and its interval so that a narrow cell breaks the line before it and nowhere else."""
    value, low, high = (measured[key] for key in _ENDS)
    if value is None:
        return "–"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.2f},{FIXED_SPACE}{high:.2f}]"


def _plus_minus(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return "–"
    return f"{mean:.3f}" + (f" ±{FIXED_SPACE}{sd:.3f}" if sd is not None else "")


# Worse recordings.


def noise_points(card: Card) -> pd.DataFrame:
    """The noise response: one row per level and group.

    Returns
    -------
    DataFrame
        ``noise`` in words, ``group``, mean ``probability``, share ``called`` so and share ``warned``; without rows
        where it was not measured.
    """
    rows = [
        (_noise_level(one["sd"]), group, one["probability"][group], one["called"][group], one["warned"])
        for one in card.get("noise") or ()
        for group in card["groups"]
    ]
    table = pd.DataFrame(rows, columns=["noise", "group", "probability", "called", "warned"])
    return table.astype({"probability": float, "called": float})


def _noise_level(sd: float | None) -> str:
    return "noise alone" if sd is None else "none" if sd == 0 else f"SD {sd:g}"


def recordings_table(card: Card, *, probabilities: bool = True) -> pd.DataFrame:
    """What worse recordings do to predictions, as text: one row per level of noise and kind of corruption.

    Parameters
    ----------
    card : mapping
    probabilities : bool
        Whether mean probabilities are among them.
    """
    first, *others = card["groups"]
    known = {0: "as recorded", None: "noise alone"}
    noisy = [(known.get(one["sd"], f"white noise, {_noise_level(one['sd'])}"), one) for one in card.get("noise") or ()]
    rows = []
    for name, one in [*noisy, *((one["kind"], one) for one in card.get("corruption") or ())]:
        row = {"Recording": name, "Subjects": str(one["n"])}
        if probabilities:
            row |= {f"Mean probability of {group}": shown_share(one["probability"][group]) for group in others}
        row |= {f"Changed from {first}": percent(one["to_patient"]), f"Changed to {first}": percent(one["to_control"])}
        row["Changed, with a warning"] = f"{one['flips_warned']} of {one['flips']}"
        row |= {"With a warning": percent(one["warned"]), "Not predicted": str(one["refused"])}
        rows.append(row)
    return pd.DataFrame(rows)


def shown_share(value: float | None) -> str:
    """A share as text."""
    return "–" if value is None else f"{value:.2f}"


# How well a trained model does in a cohort whose groups are known, beside what its card says of it.
#
# The card's numbers are of subjects left out of training; these are of other people, scanned and preprocessed
# elsewhere, and usually of few. Who has no group that the model knows, or no prediction, is left out and counted.


THIS_COHORT, THE_CARD = "This cohort", "The model's card"
DRAWS = 500  # of the bootstrap
FEWEST_PER_GROUP = 5  # subjects of every group: with fewer a ROC curve has a step or two


@dataclass(frozen=True, eq=False)
class CohortResults:
    """Predictions of subjects whose groups are known.

    Attributes
    ----------
    groups : tuple of str
        The model's, controls first.
    labels : ndarray of int, shape (n_subjects,)
        Columns of the true groups.
    probabilities : ndarray, shape (n_subjects, n_groups)
    people : tuple of str, length n_subjects
        Whose recordings these are.
    n_left_out : int
        Subjects of another group, or of none, or without a prediction.
    """

    groups: tuple[str, ...]
    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    people: tuple[str, ...]
    n_left_out: int

    @property
    def is_enough(self) -> bool:
        """Whether every group has enough subjects to be judged by."""
        return bool((np.bincount(self.labels, minlength=len(self.groups)) >= FEWEST_PER_GROUP).all())

    @property
    def confusion(self) -> pd.DataFrame:
        """How many subjects of each true group (rows) were most probably of each group (columns)."""
        counts = np.zeros((len(self.groups), len(self.groups)), dtype=np.int64)
        np.add.at(counts, (self.labels, self.probabilities.argmax(axis=1)), 1)
        return pd.DataFrame(counts, index=list(self.groups), columns=list(self.groups))

    def table(self, card: Mapping[str, Any], *, seed: int = 0) -> pd.DataFrame:
        """One row per metric: this cohort's value with its 95 % bootstrap interval over people, and the card's.

        Parameters
        ----------
        card : mapping
            Of the model.
        seed : int
            Of the bootstrap.
        """
        found = bootstrap_intervals(
            partial(classification_metrics, groups=self.groups),
            self.labels,
            self.probabilities,
            subjects=self.people,
            draws=DRAWS,
            seed=seed,
        )
        of_model, rows = next(iter(card["results"].values())), []
        for name, title in METRIC_TITLES.items():
            # As on cards: nothing where it is not defined, and no interval of what rises by chance.
            own = {key: None if np.isnan(getattr(found[name], key)) else getattr(found[name], key) for key in _ENDS}
            own |= {"low": None, "high": None} if name == "ece" else {}
            rows.append({"Metric": title, THIS_COHORT: _result_cell(own), THE_CARD: _result_cell(of_model[name])})
        return pd.DataFrame(rows)


def cohort_results(
    cohort: Cohort, groups: Sequence[str], predictions: Sequence[Mapping[str, Any] | None]
) -> CohortResults:
    """Take the predictions of those whose group the model knows.

    Parameters
    ----------
    cohort : Cohort
    groups : sequence of str
        The model's, controls first.
    predictions : sequence of (mapping or None), length n_subjects
        With ``prediction`` and ``p_GROUP``, in the cohort's order; None where there is none yet.
    """
    column = {kind_of_group(group): k for k, group in enumerate(groups)}
    rows = [
        (column[subject.group], [float(said[f"p_{group}"]) for group in groups], person)
        for subject, said, person in zip(cohort, predictions, cohort.persons, strict=True)
        if said is not None and said["prediction"] and subject.group in column
    ]
    return CohortResults(
        tuple(groups),
        np.array([label for label, _, _ in rows], dtype=np.int64),
        np.array([shares for _, shares, _ in rows], dtype=np.float64).reshape(len(rows), len(groups)),
        tuple(person for _, _, person in rows),
        len(cohort) - len(rows),
    )


# What the benchmark found, as tables: over splits, against one system, beside the paper's numbers, and its cost.
#
# Without torch. The Models page and docs/benchmark.md show the same rows.


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
