"""A model's card and the benchmark as tables: results beside baselines and the paper's, cost; without torch."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.statistics import FDR, discovery_rates
from biobgt.base.wording import counted, listed, percent, signed
from biobgt.data.cohort import Cohort, kind_of_group
from biobgt.model.benchmark.linear import baseline_titles
from biobgt.model.benchmark.systems import SYSTEMS, System, benchmark_systems
from biobgt.model.presets import OWN_PRESET, REFERENCE
from biobgt.training.metrics import (
    CALIBRATION_BINS,
    METRICS,
    Interval,
    bootstrap_intervals,
    classification_metrics,
    is_possible,
    paired_difference,
    reliability_curve,
    roc_points,
    tested_to_trained,
)
from biobgt.training.options import PROTOCOLS

# What a card says of worse recordings, motion and the mean of members, as tables and sentences; without torch.


NOT_MEASURED = "How the model answers to noise has not been measured."
NO_CORRUPTION = "What short, spiky or otherwise corrupted scans do to predictions has not been measured."
_NOISE_WORDS = {0: "as recorded", None: "noise alone"}


def noise_level(sd: float | None) -> str:
    """A level of noise in words."""
    if sd is None:
        return "noise alone"
    return "none" if sd == 0 else f"SD {sd:g}"


def noise_points(card: Mapping[str, Any]) -> pd.DataFrame:
    """The noise response: one row per level and group.

    Returns
    -------
    DataFrame
        ``noise`` in words, ``group``, mean ``probability``, share ``called`` so and share ``warned``; without rows
        where it was not measured.
    """
    rows = [
        (noise_level(one["sd"]), group, one["probability"][group], one["called"][group], one["warned"])
        for one in card.get("noise") or ()
        for group in card["groups"]
    ]
    table = pd.DataFrame(rows, columns=["noise", "group", "probability", "called", "warned"])
    return table.astype({"probability": float, "called": float})


def recordings_table(card: Mapping[str, Any], *, probabilities: bool = True) -> pd.DataFrame:
    """What worse recordings do to predictions, as text: one row per level of noise and kind of corruption.

    Parameters
    ----------
    card : mapping
    probabilities : bool
        Whether mean probabilities are among them.
    """
    first, *others = card["groups"]
    rows = []
    for name, one in _recordings(card):
        flips = one.get("flips")  # not on cards made before it was counted
        row = {"Recording": name, "Subjects": str(one["n"])}
        if probabilities:
            row |= {f"Mean probability of {group}": _share(one["probability"][group]) for group in others}
        row |= {f"Changed from {first}": percent(one["to_patient"]), f"Changed to {first}": percent(one["to_control"])}
        row["Changed, with a warning"] = "–" if flips is None else f"{one['flips_warned']} of {flips}"
        row |= {"With a warning": percent(one["warned"]), "Not predicted": str(one["refused"])}
        rows.append(row)
    return pd.DataFrame(rows)


def corruption_words(card: Mapping[str, Any]) -> str:
    """Say which way corrupted scans lean, and how many changed and unchanged predictions carry a warning."""
    answers = card.get("corruption")
    if not answers:
        return NO_CORRUPTION
    first, quiet = card["groups"][0], card["noise"][0]
    flips, warned = (sum(one[key] for one in answers) for key in ("flips", "flips_warned"))
    away, back = (
        sum(round(one[key] * (one["n"] - one["refused"])) for one in answers) for key in ("to_patient", "to_control")
    )
    n = max(one["n"] for one in answers)
    return (
        f"Other corruptions ({len(answers)} kinds, up to {counted(n, 'held-out subject')} each): "
        f"{flips} predictions change, {away} from {first} to another group and {back} to {first}; {warned} of "
        f"the {flips} carry a warning. So do {percent(quiet['warned'])} of the scans as recorded (false alarms)."
    )


def _recordings(card: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Every kind of recording by its name in words, the unchanged one first."""
    noisy = [
        (_NOISE_WORDS.get(one["sd"], f"white noise, {noise_level(one['sd'])}"), one) for one in card.get("noise") or ()
    ]
    return noisy + [(one["kind"], one) for one in card.get("corruption") or ()]


def noise_words(card: Mapping[str, Any]) -> str:
    """Say what happens to probabilities and calls when noise as strong as the signal is added."""
    answers = card.get("noise")
    if not answers:
        return NOT_MEASURED
    last = card["groups"][-1]
    quiet, equal = answers[0], _at(answers, 1.0)
    said = (
        f"White noise on z-scored series of {counted(quiet['n'], 'subject')}, each subject predicted by the ensemble "
        f"member not trained on it. Without noise the mean probability of {last} is "
        f"{_share(quiet['probability'][last])}"
    )
    if equal is not None:
        said += (
            f", with noise as strong as the signal (SD 1) {_share(equal['probability'][last])}: "
            f"{percent(equal['to_patient'])} of subjects change from {card['groups'][0]} to another group, "
            f"{percent(equal['to_control'])} change to {card['groups'][0]}"
        )
    pure = _at(answers, None)
    if pure is not None and pure["probability"][last] is not None:
        said += (
            f". Noise alone gets {_share(pure['probability'][last])}, and {percent(pure['warned'])} of such subjects "
            "carry a warning or are not predicted"
        )
    return f"{said}."


def range_words(card: Mapping[str, Any]) -> str:
    """Where the training subjects lie: whoever lies elsewhere is warned of."""
    ranges = card["familiarity"]
    shown = (
        ("mean_correlation", "mean correlation {} to {}", "{:.2f}"),
        ("strength", "mean |FC| {} to {}", "{:.2f}"),
        ("timepoints", "{} to {} time points (95 % of them)", "{:.0f}"),
        ("effective_timepoints", "worth {} to {} independent ones", "{:.0f}"),
    )
    known = [(words, form, ranges[name]) for name, words, form in shown if ranges.get(name)]
    # + 0.0: no minus zero
    return ", ".join(words.format(*(form.format(round(end, 2) + 0.0) for end in ends)) for words, form, ends in known)


def motion_words(card: Mapping[str, Any]) -> str:
    """Say what motion alone gives."""
    motion = card.get("motion")
    return "What motion alone gives has not been measured." if not motion else str(motion["words"])


def nested_words(card: Mapping[str, Any]) -> str:
    """Say what new subjects get, and what that is worth."""
    said = f"New subjects get the mean log-odds of the {counted(len(card['temperatures']), 'ensemble member')}."
    nested = card.get("nested")
    if not nested:
        return f"{said} The accuracy of this mean has not been measured."
    auc, accuracy, single = nested["mean"]["auc"], nested["mean"]["accuracy"], nested["single"]
    which = "all" if nested["outer_folds"] == nested["folds"] else f"{nested['outer_folds']} of"
    return (
        f"{said} Nested folds ({which} {nested['folds']}, {nested['n']} subjects, an ensemble trained without each of "
        f"them): AUC {_interval(auc)}, accuracy {_interval(accuracy)}, Brier score "
        f"{nested['mean']['brier']['value']:.3f}, calibration error {nested['mean']['ece']['value']:.3f} "
        f"({nested['mean']['ece']['by_chance']:.3f} by chance); a single member on the same subjects: AUC "
        f"{single['auc']['value']:.2f}, accuracy {single['accuracy']['value']:.2f}."
    )


def _at(answers: Sequence[Mapping[str, Any]], sd: float | None) -> Mapping[str, Any] | None:
    return next((one for one in answers if one["sd"] == sd), None)


def _interval(measured: Mapping[str, float | None]) -> str:
    value, low, high = (measured[key] for key in ("value", "low", "high"))
    if value is None:
        return "not defined"
    return f"{value:.2f}" if low is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _share(value: float | None, *, in_percent: bool = False) -> str:
    if value is None:
        return "–"
    return percent(value) if in_percent else f"{value:.2f}"


# A model's card as tables and sentences: results beside baselines and the paper's, and how sure a probability is.
#
# Arrays and cards in, tables and words out; nothing here needs torch.


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
        | {title: _plus_minus(*_metric_spread(row.get(name))) for name, title in _TITLES}
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


def _metric_spread(measured: Mapping[str, float | None] | None) -> tuple[float | None, float | None]:
    return (measured["mean"], measured["sd"]) if measured else (None, None)


def _plus_minus(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return "–"
    return f"{mean:.3f}" + (f" ±{FIXED_SPACE}{sd:.3f}" if sd is not None else "")


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
        of_model = next(iter(card["results"].values()))
        rows = [
            {"Metric": title, THIS_COHORT: result_cell(_plain(found[name], with_interval=name != "ece"))}
            | {THE_CARD: result_cell(of_model[name])}
            for name, title in METRIC_TITLES.items()
        ]
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


def _plain(found: Interval, *, with_interval: bool) -> dict[str, float | None]:
    """A result as cards have it; what is not defined is None, and so is an interval of what only rises by chance."""
    value, low, high = (None if number != number else number for number in (found.value, found.low, found.high))
    return {"value": value, "low": low if with_interval else None, "high": high if with_interval else None}


# What the benchmark found, as tables: over splits, against one system, and beside the paper's numbers.
#
# Without torch. The Models page and docs/benchmark.md show the same rows.


COSTS = ("seconds", "parameters")
PAPERS = ("accuracy", "auc", "f1", "sensitivity", "specificity")  # metrics of the paper's tables
FEWEST_SPLITS = 3  # splits of which an interval says anything
NOT_RUN, NOT_BUILT = "not run", "not built"
OTHER_SUBJECTS = (
    "The paper used another selection of 1,009 ABIDE subjects, preprocessed differently: compare the ranking, not the "
    "numbers."
)
PAPER_MARK = "[paper]"  # how the paper's numbers stand behind ours
EMPTY = "–"
# Means over splits can leave the range by a little, where the share of patients differs from split to split.
_ROOM = 0.01


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
    rows = list(systems.values())
    return found.assign(
        title=[row.title for row in rows],
        splits=found["splits"].fillna(0).astype(int),
        state=[_state(row, key in set(results["model"])) for key, row in systems.items()],
        **{f"paper_{name}": np.array([getattr(row.paper, name) for row in rows], dtype=float) for name in PAPERS},
        **{name: against[name] for name in ("difference", "low", "high", "q")},
    ).reset_index()


def _state(row: System, run: bool) -> str:
    return "" if run else NOT_BUILT if row.reason else NOT_RUN


def shown_table(results: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`beside_paper` as texts, for a page; what they cost is in :func:`.cost_views.shown_costs`."""
    return pd.DataFrame([_system_texts(row) for row in _records(beside_paper(results))])


def _system_texts(row: dict[str, Any]) -> dict[str, str]:
    done = not row["state"]
    interval = "" if math.isnan(row["auc_low"]) else f"({row['auc_low']:.3f}–{row['auc_high']:.3f})"
    titles = {"accuracy": "accuracy", "F1": "f1", "sens.": "sensitivity", "spec.": "specificity"}
    return {
        "system": row["title"],
        "splits": str(row["splits"]) if done else row["state"],
        f"AUC (95 %) {PAPER_MARK}": _beside(row, "auc", interval),
        **{f"{title} {PAPER_MARK}": _beside(row, name) for title, name in titles.items()},
        "Brier": f"{row['brier']:.3f}" if done else EMPTY,
        f"AUC minus {REFERENCE} (q)": _difference(row),
    }


def _beside(row: dict[str, Any], name: str, interval: str = "") -> str:
    """Our number, its interval, and the paper's in brackets."""
    paper = row[f"paper_{name}"]
    ours = "" if row["state"] else f"{row[name]:.3f}"
    return " ".join(filter(None, (ours, interval, "" if math.isnan(paper) else f"[{paper:.4f}]"))) or EMPTY


def _difference(row: dict[str, Any]) -> str:
    if math.isnan(row["difference"]):
        return EMPTY
    rate = EMPTY if math.isnan(row["q"]) else f"{row['q']:.3f}"
    return f"{row['difference']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f}; {rate})".replace("-", "−")


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def benchmark_words(results: pd.DataFrame) -> str:
    """What was run of the benchmark, how often, and what was not."""
    rows = beside_paper(results)
    states = rows["state"].value_counts()
    done = rows[rows["state"] == ""]
    fewest, most = int(done["splits"].min()), int(done["splits"].max())
    splits = f"{most} random splits" if fewest == most else f"{fewest} to {most} random splits"
    missing = [f"{states[state]} {said}" for state, said in _MISSING.items() if state in states]
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
    found = [
        title
        for title, paper in papers
        if paper.accuracy is not None
        and paper.sensitivity is not None
        and paper.specificity is not None
        and not is_possible(paper.accuracy, paper.sensitivity, paper.specificity, room=_ROOM)
    ]
    return (
        f"The paper's numbers for {listed(found)} contradict each other: with two groups, accuracy lies between "
        "sensitivity and specificity."
        if found
        else ""
    )


_MISSING = {NOT_RUN: "not yet", NOT_BUILT: "could not be built from what is published about them"}


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
        means = {name: lines[name].mean() for name in (*METRICS, *COSTS)}
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


# What every system of the benchmark costs, as a table beside the paper's numbers. Without torch.


COSTS_NAME = "Parameters and time"
EPOCH_SUBJECTS, EPOCH_REGIONS = 719, 200  # in training in a split of ABIDE


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
    return pd.DataFrame([[title, *map(_number, numbers)] for title, *numbers in rows], columns=columns)


def _number(value: float | None) -> str:
    return EMPTY if value is None else f"{value:,.0f}"


def cost_words() -> str:
    """What was timed, and what the paper's numbers are of."""
    return (
        "Parameters are weights, coefficients, or nodes of trees. A run is the training on one split, an epoch "
        f"{EPOCH_SUBJECTS} subjects with {EPOCH_REGIONS} regions, scaled up from single training steps, both in "
        "processor seconds on one thread. The paper trained on a GPU (NVIDIA A6000) and gives the time of BioBGT only."
    )


# What networks found on the paper's citation networks, as a table beside its numbers. Without torch.


CITATIONS_NAME = "Citation networks: the paper's last table"
SEEDS, SEEDS_TO_CHOOSE = 10, 2  # of the settings chosen, and of all
CITATION_METRICS = ("f1", "accuracy", "auc")
NETWORKS = {"citeseer": "Citeseer", "cora": "Cora"}
TITLES = {
    "words": "linear model of a paper's words",
    "sgc": "linear model of words averaged over citations (SGC)",
    **{key: SYSTEMS[key].title for key in ("gat", "sat-pe")},
    "biobgt": "BioBGT",
}
# F1, accuracy and AUC in percent, as in the paper's last table.
CITATION_PAPER: Mapping[tuple[str, str], tuple[float, float, float]] = {
    ("citeseer", "gat"): (45.45, 70.01, 81.06),
    ("citeseer", "sat-pe"): (64.04, 68.80, 87.69),
    ("citeseer", "biobgt"): (64.80, 69.02, 88.04),
    ("cora", "gat"): (81.02, 81.74, 97.38),
    ("cora", "sat-pe"): (81.62, 82.84, 94.63),
    ("cora", "biobgt"): (82.03, 83.14, 94.58),
}


def chosen_settings(results: pd.DataFrame) -> pd.DataFrame:
    """Lines of the settings that did best on validation, by the mean over the seeds that all settings have.

    Parameters
    ----------
    results : DataFrame
        ``data``, ``system``, ``settings``, ``seed``, ``validation_accuracy`` and test results, a line per run.
    """
    parts = []
    for _, lines in results.groupby(["data", "system"], sort=False):
        by_seed = lines.pivot_table(index="seed", columns="settings", values="validation_accuracy", sort=False)
        best = by_seed.dropna().mean().idxmax()
        parts.append(lines[lines["settings"] == best])
    return pd.concat(parts, ignore_index=True)


def shown_citations(results: pd.DataFrame) -> pd.DataFrame:
    """One row of texts per network and system: mean ± SD over seeds in percent, beside the paper's.

    Parameters
    ----------
    results : DataFrame
        Lines of all runs, of which those of :func:`chosen_settings` are shown.
    """
    chosen = chosen_settings(results).groupby(["data", "system"])
    runs = {
        (data, system): chosen.get_group((data, system))
        for data in NETWORKS
        for system in TITLES
        if (data, system) in chosen.groups
    }
    return pd.DataFrame([_citation_texts(data, system, lines) for (data, system), lines in runs.items()])


def _citation_texts(data: str, system: str, lines: pd.DataFrame) -> dict[str, str]:
    paper = CITATION_PAPER.get((data, system))
    return {
        "network": NETWORKS[data],
        "system": TITLES[system],
        "settings": str(lines["settings"].iloc[0]),
        "seeds": str(len(lines)),
        **{
            title: _citation_spread(lines[name])
            for title, name in zip(("F1", "accuracy", "AUC"), CITATION_METRICS, strict=True)
        },
        "parameters": f"{lines['parameters'].iloc[0]:,}",
        "paper: F1 / acc. / AUC": EMPTY if paper is None else " / ".join(f"{value:.1f}" for value in paper),
    }


def _citation_spread(values: "pd.Series[float]") -> str:
    spread = f" ± {100 * values.std():.1f}" if len(values) > 1 else ""
    return f"{100 * values.mean():.1f}{spread}"


def citation_words(results: pd.DataFrame) -> str:
    """What was classified, how settings were chosen, and which system did best.

    Parameters
    ----------
    results : DataFrame
        Lines of all runs.
    """
    means = chosen_settings(results).groupby(["data", "system"])["accuracy"].mean()
    best = [
        f"{percent(means[data].max(), 1)} on {title} ({TITLES[str(means[data].idxmax())]}; BioBGT has "
        f"{percent(means[data, 'biobgt'], 1)})"
        for data, title in NETWORKS.items()
    ]
    return (
        "Papers of two citation networks, classified by topic on Planetoid's public split: 20 training papers per "
        "class, 500 for validation, 1,000 for testing. In percent; F1 and AUC are means over classes, ± is the SD over "
        f"seeds. Settings were chosen by validation accuracy on {SEEDS_TO_CHOOSE} seeds. The highest mean accuracy is "
        f"{listed(best)}. The paper does not say how its model was built for these networks. "
        "docs/benchmark.md says how it was done here."
    )
