"""A model's card as tables and sentences: results beside linear models and the paper's, and how sure a probability is.

Arrays and cards in, tables and words out; nothing here needs torch.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.training.metrics import reliability_curve, roc_points

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
PAPER_NOTE = "The paper's numbers are of its own cohort and runs, and do not compare directly."
_PERCENT = re.compile(r"^\s*([0-9.]+)\s*(?:±\s*([0-9.]+))?\s*$")


def results_points(card: Mapping[str, Any], metrics: Sequence[str] = ("auc", "accuracy")) -> pd.DataFrame:
    """Results with their intervals, of the model, the linear models and the paper.

    Returns
    -------
    DataFrame
        ``metric``, ``model``, ``value``, ``low`` and ``high``, as shares of 1. The paper's interval is its ± 1 SD over
        runs, the others' a 95 % bootstrap over subjects; ``interval`` says which.
    """
    rows = []
    for metric in metrics:
        for model, measured in card["results"].items():
            value = measured[metric]
            rows.append((metric, model, value["value"], value["low"], value["high"], "95 % interval"))
        printed = (card["paper"] or {}).get(metric)
        if printed is not None and (found := _PERCENT.match(printed)):
            mean, sd = float(found[1]) / 100, float(found[2] or "nan") / 100
            rows.append((metric, PAPER, mean, mean - sd, mean + sd, "± 1 SD over runs"))
    names = ["metric", "model", "value", "low", "high", "interval"]
    return pd.DataFrame(rows, columns=names).astype({"value": float, "low": float, "high": float})


def results_table(card: Mapping[str, Any]) -> pd.DataFrame:
    """The same as text, one row a model and a column a metric; the paper's as printed, in percent there."""
    rows = []
    for model, measured in card["results"].items():
        rows.append({"Model": model} | {title: _cell(measured[name]) for name, title in METRIC_TITLES.items()})
    if card["paper"]:
        printed = {title: card["paper"].get(name) for name, title in METRIC_TITLES.items()}
        rows.append({"Model": PAPER} | {title: f"{text} %" if text else "–" for title, text in printed.items()})
    return pd.DataFrame(rows)


def evaluation_table(card: Mapping[str, Any]) -> pd.DataFrame:
    """Results over repeated splits or sites left out, mean ± SD; no rows where the model was not evaluated so."""
    rows = [
        {"Protocol": row["protocol"], "Model": row["model"], "Splits": row["splits"]}
        | {title: _spread(row.get(name)) for name, title in METRIC_TITLES.items()}
        for row in card["evaluation"]
    ]
    return pd.DataFrame(rows, columns=["Protocol", "Model", "Splits", *METRIC_TITLES.values()])


def chance_level(card: Mapping[str, Any]) -> dict[str, float]:
    """What guessing gives: AUC 0.5, and accuracy by always naming the largest group."""
    sizes = card["data"]["subjects"].values()
    return {"auc": 0.5, "accuracy": max(sizes) / sum(sizes)}


def claimed_event(card: Mapping[str, Any]) -> str:
    """What a reliability curve is of: the patients, or with more groups whichever was most probable."""
    return str(card["groups"][1]) if len(card["groups"]) == 2 else MOST_PROBABLE


def paper_note(card: Mapping[str, Any]) -> str:
    """What to say of the paper's numbers beside a model's; nothing where the paper has none."""
    return PAPER_NOTE if card["paper"] else ""


def group_curves(
    labels: NDArray[np.int64], probabilities: NDArray[np.float64], groups: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """ROC curves: patients against controls, or with more groups each against all others."""
    if len(groups) == 2:
        return {f"{groups[1]} against {groups[0]}": roc_points(labels, probabilities)}
    return {
        f"{group} against the others": roc_points((labels == k).astype(np.int64), probabilities[:, k])
        for k, group in enumerate(groups)
    }


def observed_share(
    labels: NDArray[np.int64], probabilities: NDArray[np.float64], groups: Sequence[str], claimed: float, group: str
) -> str:
    """Say what became of training subjects to whom the model gave a like probability without having met them.

    Parameters
    ----------
    labels : ndarray of int, shape (n_subjects,)
    probabilities : ndarray, shape (n_subjects, n_groups)
        Out of fold.
    claimed : float
        A subject's probability of ``group``.
    """
    k = list(groups).index(group)
    curve = reliability_curve((labels == k).astype(np.int64), probabilities[:, k])
    rows = curve[(curve["low"] < claimed) & (claimed <= curve["high"])]
    said = f"The model gives {group} a probability of {claimed:.0%}."
    if rows.empty:
        return f"{said} No training subject was given one like it, so nothing is known of how often it holds."
    row = rows.iloc[0]
    return (
        f"{said} Of {row['n']:.0f} training subjects whom it gave {row['low']:.0%} to {row['high']:.0%} without having "
        f"met them, {row['observed']:.0%} were {group} (95 % interval {row['observed_low']:.0%} to "
        f"{row['observed_high']:.0%})."
    )


def calibration_words(card: Mapping[str, Any]) -> str:
    """What the card says of the probabilities: how far off they are on average, and how well groups are told apart."""
    measured = card["results"]["BioBGT"]
    error, auc = measured["ece"]["value"], measured["auc"]
    off = "not known" if error is None else f"{100 * error:.0f} percentage points on average"
    reach = f" (95 % interval {auc['low']:.2f} to {auc['high']:.2f})" if auc["low"] is not None else ""
    ranking = "" if auc["value"] is None else f" AUC {auc['value']:.2f}{reach}, where 0.5 is chance."
    return f"Claimed probabilities and observed shares differ by {off} in subjects the model never met.{ranking}"


def share_below(labels: NDArray[np.int64], values: NDArray[np.float64], groups: Sequence[str], at: float) -> str:
    """Say which share of each group's training subjects lies below a probability."""
    parts = [
        f"{(values[labels == k] < at).mean():.0%} of {group}" for k, group in enumerate(groups) if (labels == k).any()
    ]
    return f"{', '.join(parts)} lie below."


def _cell(measured: Mapping[str, float | None]) -> str:
    value, low, high = (measured[key] for key in ("value", "low", "high"))
    if value is None:
        return "–"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _spread(measured: Mapping[str, float | None] | None) -> str:
    if not measured or measured["mean"] is None:
        return "–"
    return f"{measured['mean']:.3f}" + (f" ± {measured['sd']:.3f}" if measured["sd"] is not None else "")
