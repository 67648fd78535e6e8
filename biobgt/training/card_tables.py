"""A model's card as tables: results beside baselines and the paper's, worse recordings, and a cohort of known groups.

Cards and arrays in, tables out. Without torch.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.wording import counted, percent
from biobgt.data.cohort import Cohort, kind_of_group
from biobgt.model.benchmark.linear import baseline_titles
from biobgt.model.presets import OWN_PRESET
from biobgt.training.metrics import bootstrap_intervals, classification_metrics, roc_points
from biobgt.training.options import PROTOCOLS

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
