"""A model's card as tables and sentences: results beside baselines and the paper's, and how sure a probability is.

Arrays and cards in, tables and words out; nothing here needs torch.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.model.baselines import baseline_titles
from biobgt.model.training_settings import OWN_PRESET
from biobgt.training.metrics import CALIBRATION_BINS, reliability_curve, roc_points
from biobgt.training.protocols import PROTOCOLS
from biobgt.training.robustness_views import nested_words
from biobgt.wording import counted, percent

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
PAPER_NOTE = (
    "The paper's numbers are from its own cohort and splits and are not directly comparable. Its text calls the ± an "
    "SD over ten runs, its table a margin of error."
)
_TITLES = tuple(METRIC_TITLES.items())
FIXED_SPACE = "\u00a0"  # where a line is not broken
_PERCENT = re.compile(r"^\s*([0-9.]+)\s*(?:±\s*([0-9.]+))?\s*$")


def results_points(card: Mapping[str, Any]) -> pd.DataFrame:
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
        if printed := _printed(card).get(metric):
            mean, sd = printed[0], float("nan") if printed[1] is None else printed[1]
            rows.append((metric, PAPER, mean, mean - sd, mean + sd, "± as the paper prints it"))
    names = ["metric", "model", "value", "low", "high", "interval"]
    return pd.DataFrame(rows, columns=names).astype({"value": float, "low": float, "high": float})


def results_table(card: Mapping[str, Any]) -> pd.DataFrame:
    """The same as text, one row per model and a column per metric, all as shares of 1."""
    rows = []
    for model, measured in card["results"].items():
        rows.append({"Model": model} | {title: result_cell(measured[name]) for name, title in _TITLES})
    if printed := _printed(card):
        rows.append({"Model": PAPER} | {title: _plus_minus(*printed.get(m, (None, None))) for m, title in _TITLES})
    return pd.DataFrame(rows)


def evaluation_table(card: Mapping[str, Any]) -> pd.DataFrame:
    """Results over repeated splits or sites left out, mean ± SD; no rows where the model was not evaluated so."""
    rows = [
        {"Split": _split_words(row["protocol"], row["splits"]), "Model": model_title(row["model"])}
        | {title: _plus_minus(*_spread(row.get(name))) for name, title in _TITLES}
        for row in card["evaluation"]
    ]
    return pd.DataFrame(rows, columns=["Split", "Model", *METRIC_TITLES.values()])


def evaluation_words(card: Mapping[str, Any]) -> str:
    """Say how the table of :func:`evaluation_table` was made, for the kinds of splits that it holds."""
    rows = card["evaluation"]
    spread = any(row["splits"] > 1 for row in rows)
    said = ["A single model, not an ensemble, was trained for each split."]
    said += ["Numbers are mean ± SD over splits." if spread else "There is one split, so no SD."]
    kinds = dict.fromkeys(row["protocol"] for row in rows)
    said += [PROTOCOLS[kind].sentence for kind in kinds if kind in PROTOCOLS]
    return " ".join(said)


def model_title(name: str) -> str:
    """A model of an evaluation in words: ``linear log``, or a preset's name, with what was changed after a comma."""
    if name == OWN_PRESET:
        return "BioBGT"
    _, comma, changed = name.partition(",")
    return f"BioBGT as published{comma}{changed}" if name.startswith("paper-") else baseline_titles().get(name, name)


def preset_words(name: str) -> str:
    """Whose settings a preset's are."""
    if name == OWN_PRESET:
        return "BioBGT with this project's settings"
    return "BioBGT with the paper's settings" if name.startswith("paper-") else f"BioBGT with the settings '{name}'"


def members_words(card: Mapping[str, Any]) -> str:
    """Say what members are, and whose probabilities are whose."""
    return (
        f"The model is an ensemble of {counted(len(card['temperatures']), 'member')}, each trained with another part "
        "of the subjects left out. Reported results are out of fold: each subject was predicted by the one member that "
        f"was not trained on that subject. {nested_words(card)}"
    )


def metrics_words(card: Mapping[str, Any]) -> str:
    """Say what the less familiar metrics of a table mean, for two groups or more."""
    n = len(card["groups"])
    f1 = "F1 is the harmonic mean of sensitivity and precision, the share of correct calls among all calls"
    bins = f"over {CALIBRATION_BINS} bins; of both, lower is better"
    if n == 2:
        patients = card["groups"][1]
        return (
            f"Sensitivity is the share of {patients} called {patients}, specificity that of {card['groups'][0]} not "
            f"called so; {f1} of {patients}. The Brier score is the mean square of the distance between the "
            f"probability of {patients} and the truth, 1 or 0 (0.25 for always predicting 50 %), the calibration "
            f"error the mean distance between claimed probability and observed share of {patients} {bins}."
        )
    return (
        f"Sensitivity, specificity, F1 and AUC are of each group against all others, as a mean over the {n} groups; "
        f"{f1} of a group. The Brier score is the mean over subjects of the squared distances between probability and "
        f"truth, summed over groups ({(n - 1) / n:.2f} for equal probabilities of all groups), the calibration error "
        "the mean distance between the probability of the most probable group and the share in which it was right "
        f"{bins}."
    )


def chance_level(card: Mapping[str, Any]) -> dict[str, float]:
    """What guessing gives: AUC 0.5, and accuracy by always naming the largest group."""
    sizes = card["data"]["subjects"].values()
    return {"auc": 0.5, "accuracy": max(sizes) / sum(sizes)}


def claimed_event(card: Mapping[str, Any]) -> str:
    """What a reliability curve is of: the patients, or with more groups whichever was most probable."""
    return str(card["groups"][1]) if len(card["groups"]) == 2 else MOST_PROBABLE


def paper_note(card: Mapping[str, Any]) -> str:
    """What to say of the paper's numbers beside a model's; nothing where they are not shown."""
    return PAPER_NOTE if _printed(card) else ""


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


def observed_share(
    labels: NDArray[np.int64], probabilities: NDArray[np.float64], groups: Sequence[str], claimed: float, group: str
) -> str:
    """Say what became of subjects to whom a member that they were left out of gave a like probability.

    Parameters
    ----------
    labels : ndarray of int, shape (n_subjects,)
    probabilities : ndarray, shape (n_subjects, n_groups)
        Out of fold, each of one member.
    groups : sequence of str, length n_groups
    claimed : float
        A new subject's probability of ``group``, by the mean of all members.
    group : str
        One of them.
    """
    k = list(groups).index(group)
    curve = reliability_curve((labels == k).astype(np.int64), probabilities[:, k])
    rows = curve[(curve["low"] < claimed) & (claimed <= curve["high"])]
    said = f"The model gives {group} a probability of {percent(claimed)}, from the mean log-odds of all members."
    if rows.empty:
        return (
            f"{said} No held-out subject got a similar probability, so nothing is known about how often such a "
            "probability is right."
        )
    row = rows.iloc[0]
    return (
        f"{said} Of {row['n']:.0f} held-out subjects to whom a single member gave {percent(row['low'])} to "
        f"{percent(row['high'])}, {percent(row['observed'])} were {group} (95 % interval "
        f"{percent(row['observed_low'])} to {percent(row['observed_high'])})."
    )


def calibration_words(card: Mapping[str, Any]) -> str:
    """What the card says of the probabilities: how far off they are on average, and how well groups are told apart."""
    measured = card["results"]["BioBGT"]
    error, auc = measured["ece"]["value"], measured["auc"]
    off = "an amount that is not known" if error is None else f"{100 * error:.0f} percentage points on average"
    if error is not None and measured["ece"].get("by_chance") is not None:
        off += f" ({100 * measured['ece']['by_chance']:.0f} would be expected by chance in so many subjects)"
    reach = f" (95 % interval {auc['low']:.2f} to {auc['high']:.2f})" if auc["low"] is not None else ""
    ranking = "" if auc["value"] is None else f" AUC {auc['value']:.2f}{reach}, where 0.5 is chance."
    return (
        f"A single member's probabilities and the observed shares differ by {off} in held-out subjects."
        f"{ranking} {_mean_calibration(card)}"
    )


def _mean_calibration(card: Mapping[str, Any]) -> str:
    """How far off the mean of members is, which is what a new subject gets."""
    nested = card.get("nested")
    if not nested or nested["mean"]["ece"]["value"] is None:
        return "The calibration of the mean of all members has not been measured."
    error = nested["mean"]["ece"]
    return (
        f"The mean of all members differs by {100 * error['value']:.0f} percentage points in nested folds "
        f"({100 * error['by_chance']:.0f} by chance alone)."
    )


def share_below(labels: NDArray[np.int64], values: NDArray[np.float64], groups: Sequence[str], at: float) -> str:
    """Say which share of each group's training subjects lies below a probability.

    Parameters
    ----------
    labels : ndarray of int, shape (n_subjects,)
        Positions of the true groups.
    values : ndarray, shape (n_subjects,)
        Out-of-fold probabilities of one group.
    groups : sequence of str
    at : float
        The probability of a new subject.
    """
    parts = [
        f"{percent((values[labels == k] < at).mean())} of {group}"
        for k, group in enumerate(groups)
        if (labels == k).any()
    ]
    return f"{', '.join(parts)} lie below."


def _printed(card: Mapping[str, Any]) -> dict[str, tuple[float, float | None]]:
    """The paper's means and SDs as shares of 1, by metric; none for simulated patients, with whom nothing compares."""
    if card["simulated"]:
        return {}
    found = {metric: _PERCENT.match(text) for metric, text in (card["paper"] or {}).items()}
    return {
        metric: (float(match[1]) / 100, float(match[2]) / 100 if match[2] else None)
        for metric, match in found.items()
        if match
    }


def _split_words(protocol: str, n_splits: int) -> str:
    known = PROTOCOLS.get(protocol)
    return known.title.format(n=n_splits) if known else f"{protocol} ({counted(n_splits, 'split')})"


def result_cell(measured: Mapping[str, float | None]) -> str:
    """A value, and its interval so that a narrow cell breaks the line before it and nowhere else."""
    value, low, high = (measured[key] for key in ("value", "low", "high"))
    if value is None:
        return "–"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.2f},{FIXED_SPACE}{high:.2f}]"


def _spread(measured: Mapping[str, float | None] | None) -> tuple[float | None, float | None]:
    return (measured["mean"], measured["sd"]) if measured else (None, None)


def _plus_minus(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return "–"
    return f"{mean:.3f}" + (f" ±{FIXED_SPACE}{sd:.3f}" if sd is not None else "")
