"""Cards of models, cohorts of known groups and the benchmark as tables, beside the paper's numbers. Without torch."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FDR, discovery_rates
from biobgt.base.wording import counted, listed, percent, signed
from biobgt.data.cohort import Cohort, kind_of_group
from biobgt.model.presets import OWN_PRESET, REFERENCE
from biobgt.model.systems import baseline_titles, benchmark_systems
from biobgt.training.cohorts import PROTOCOLS, tested_to_trained
from biobgt.training.metrics import (
    METRICS,
    bootstrap_intervals,
    classification_metrics,
    is_possible,
    paired_difference,
    roc_points,
)

EMPTY = "–"
FIXED_SPACE = "\u00a0"  # where a line is not broken
PAPER = "Paper (BioBGT, its own cohort)"
MOST_PROBABLE = "the most probable group"
_METRIC_TITLES: Mapping[str, str] = {
    "accuracy": "Accuracy",
    "auc": "AUC",
    "f1": "F1",
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "brier": "Brier score",
    "ece": "Calibration error",
}
_ENDS = ("value", "low", "high")
_PERCENT = re.compile(r"^\s*([0-9.]+)\s*(?:±\s*([0-9.]+))?\s*$")


@dataclass(frozen=True)
class CardTables:
    """A model's card as tables: results beside baselines and the paper's, other splits, worse recordings.

    Attributes
    ----------
    card : mapping
    """

    card: Mapping[str, Any]

    @property
    def chance_level(self) -> dict[str, float]:
        """What guessing gives: AUC 0.5, and accuracy by always naming the largest group."""
        sizes = self.card["data"]["subjects"].values()
        return {"auc": 0.5, "accuracy": max(sizes) / sum(sizes)}

    @property
    def claimed_event(self) -> str:
        """What a reliability curve is of: the patients, or with more groups whichever was most probable."""
        return str(self.card["groups"][1]) if len(self.card["groups"]) == 2 else MOST_PROBABLE

    @property
    def paper(self) -> dict[str, tuple[float, float | None]]:
        """The paper's means and SDs as shares of 1, by metric; none for simulated patients: nothing compares."""
        if self.card["simulated"]:
            return {}
        found = {metric: _PERCENT.match(text) for metric, text in (self.card["paper"] or {}).items()}
        return {
            metric: (float(match[1]) / 100, float(match[2]) / 100 if match[2] else None)
            for metric, match in found.items()
            if match
        }

    def results_points(self) -> pd.DataFrame:
        """AUC and accuracy with their intervals, of the model, the baselines and the paper.

        Returns
        -------
        DataFrame
            ``metric``, ``model``, ``value``, ``low`` and ``high``, as shares of 1. The paper's interval is the ± it
            prints, the others' a 95 % bootstrap over subjects; ``interval`` says which.
        """
        rows = []
        for metric in ("auc", "accuracy"):
            for model, measured in self.card["results"].items():
                rows.append((metric, model, *(measured[metric][end] for end in _ENDS), "95 % interval"))
            if metric in self.paper:
                mean, sd = self.paper[metric]
                sd = float("nan") if sd is None else sd
                rows.append((metric, PAPER, mean, mean - sd, mean + sd, "± as the paper prints it"))
        names = ["metric", "model", *_ENDS, "interval"]
        return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(_ENDS, float))

    def results(self) -> pd.DataFrame:
        """The same as text, one row per model and a column per metric, all as shares of 1."""
        rows = [
            {"Model": model} | {title: _result_cell(measured[name]) for name, title in _METRIC_TITLES.items()}
            for model, measured in self.card["results"].items()
        ]
        if paper := self.paper:
            cells = {title: _plus_minus(*paper.get(name, (None, None))) for name, title in _METRIC_TITLES.items()}
            rows.append({"Model": PAPER} | cells)
        return pd.DataFrame(rows)

    def evaluation(self) -> pd.DataFrame:
        """Results over repeated splits or sites left out, mean ± SD; no rows where the model was not evaluated so."""
        rows = []
        for row in self.card["evaluation"]:
            known, n, model = PROTOCOLS.get(row["protocol"]), row["splits"], row["model"]
            split = known.title.format(n=n) if known else f"{row['protocol']} ({counted(n, 'split')})"
            if model == OWN_PRESET:
                model = "BioBGT"
            elif model.startswith("paper-"):  # what was changed of the preset stands after a comma
                _, comma, changed = model.partition(",")
                model = f"BioBGT as published{comma}{changed}"
            measured = {title: row.get(name) or {} for name, title in _METRIC_TITLES.items()}
            cells = {title: _plus_minus(found.get("mean"), found.get("sd")) for title, found in measured.items()}
            rows.append({"Split": split, "Model": baseline_titles().get(model, model)} | cells)
        return pd.DataFrame(rows, columns=["Split", "Model", *_METRIC_TITLES.values()])

    def noise_points(self) -> pd.DataFrame:
        """The noise response: one row per level and group.

        Returns
        -------
        DataFrame
            ``noise`` in words, ``group``, mean ``probability``, share ``called`` so and share ``warned``; without rows
            where it was not measured.
        """
        rows = [
            (_noise_level(one["sd"]), group, one["probability"][group], one["called"][group], one["warned"])
            for one in self.card.get("noise") or ()
            for group in self.card["groups"]
        ]
        table = pd.DataFrame(rows, columns=["noise", "group", "probability", "called", "warned"])
        return table.astype({"probability": float, "called": float})

    def recordings(self, *, probabilities: bool = True) -> pd.DataFrame:
        """What worse recordings do to predictions, as text: one row per level of noise and kind of corruption.

        Parameters
        ----------
        probabilities : bool
            Whether mean probabilities are among them.
        """
        first, *others = self.card["groups"]
        known = {0: "as recorded", None: "noise alone"}
        noise, corruption = (self.card.get(name) or () for name in ("noise", "corruption"))
        named = [(known.get(one["sd"], f"white noise, {_noise_level(one['sd'])}"), one) for one in noise]
        rows = []
        for name, one in [*named, *((one["kind"], one) for one in corruption)]:
            row = {"Recording": name, "Subjects": str(one["n"])}
            if probabilities:
                row |= {f"Mean probability of {group}": shown_share(one["probability"][group]) for group in others}
            row |= {
                f"Changed from {first}": percent(one["to_patient"]),
                f"Changed to {first}": percent(one["to_control"]),
                "Changed, with a warning": f"{one['flips_warned']} of {one['flips']}",
                "With a warning": percent(one["warned"]),
                "Not predicted": str(one["refused"]),
            }
            rows.append(row)
        return pd.DataFrame(rows)


def shown_share(value: float | None) -> str:
    """A share as text."""
    return EMPTY if value is None else f"{value:.2f}"


def _noise_level(sd: float | None) -> str:
    return "noise alone" if sd is None else "none" if sd == 0 else f"SD {sd:g}"


def _result_cell(measured: Mapping[str, float | None]) -> str:
    """A value, and its interval so that a narrow cell breaks the line before it and nowhere else."""
    value, low, high = (measured[key] for key in _ENDS)
    if value is None:
        return EMPTY
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.2f},{FIXED_SPACE}{high:.2f}]"


def _plus_minus(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return EMPTY
    return f"{mean:.3f}" + (f" ±{FIXED_SPACE}{sd:.3f}" if sd is not None else "")


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


# How well a trained model does in a cohort whose groups are known, beside what its card says of it.
#
# The card's numbers are of subjects left out of training; these are of other people, scanned and preprocessed
# elsewhere, and usually of few. Who has no group that the model knows, or no prediction, is left out and counted.


THIS_COHORT, THE_CARD = "This cohort", "The model's card"
_DRAWS = 500  # of the bootstrap
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

    @classmethod
    def of(
        cls, cohort: Cohort, groups: Sequence[str], predictions: Sequence[Mapping[str, Any] | None]
    ) -> "CohortResults":
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
        return cls(
            tuple(groups),
            np.array([label for label, _, _ in rows], dtype=np.int64),
            np.array([shares for _, shares, _ in rows], dtype=np.float64).reshape(len(rows), len(groups)),
            tuple(person for _, _, person in rows),
            len(cohort) - len(rows),
        )

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

    def table(self, card: Mapping[str, Any]) -> pd.DataFrame:
        """One row per metric: this cohort's value with its 95 % bootstrap interval over people, and the card's."""
        measure = partial(classification_metrics, groups=self.groups)
        found = bootstrap_intervals(measure, self.labels, self.probabilities, subjects=self.people, draws=_DRAWS)
        of_model, rows = next(iter(card["results"].values())), []
        for name, title in _METRIC_TITLES.items():
            # As on cards: nothing where it is not defined, and no interval of what rises by chance.
            own = {key: None if np.isnan(getattr(found[name], key)) else getattr(found[name], key) for key in _ENDS}
            own |= {"low": None, "high": None} if name == "ece" else {}
            rows.append({"Metric": title, THIS_COHORT: _result_cell(own), THE_CARD: _result_cell(of_model[name])})
        return pd.DataFrame(rows)


# What the benchmark found: over splits, against one system, beside the paper's numbers, and its cost. The Models page
# and docs/benchmark.md show the same rows.


PAPERS = ("accuracy", "auc", "f1", "sensitivity", "specificity")  # metrics of the paper's tables
FEWEST_SPLITS = 3  # splits of which an interval says anything
NOT_RUN, _NOT_BUILT = "not run", "not built"
OTHER_SUBJECTS = (
    "The paper used another selection of 1,009 ABIDE subjects, preprocessed differently: compare the ranking, not the "
    "numbers."
)
PAPER_MARK = "[paper]"  # how the paper's numbers stand behind ours
EPOCH_SUBJECTS, EPOCH_REGIONS = 719, 200  # in training in a split of ABIDE
COST_WORDS = (
    "Parameters are weights, coefficients, or nodes of trees. A run is the training on one split, an epoch "
    f"{EPOCH_SUBJECTS} subjects with {EPOCH_REGIONS} regions, scaled up from single training steps, both in "
    "processor seconds on one thread. The paper trained on a GPU (NVIDIA A6000) and gives the time of BioBGT only."
)


@dataclass(frozen=True, eq=False)
class BenchmarkTables:
    """Lines of the benchmark as tables and sentences.

    Attributes
    ----------
    results : DataFrame
        Lines of one protocol.
    """

    results: pd.DataFrame

    def over_splits(self) -> pd.DataFrame:
        """One row per system: the mean of every metric over splits, the AUC's interval, and what a run costs.

        Returns
        -------
        DataFrame
            ``model``, ``splits``, the metrics, ``auc_low`` and ``auc_high`` (95 %, counting in that the training sets
            of splits overlap, and ending at 0 and 1, beyond which there is no AUC), ``seconds`` of processor time and
            ``parameters``.
        """
        rows = []
        for model, lines in self.results.groupby("model", sort=False):
            found = self._paired(lines["auc"], np.zeros(len(lines)))
            means = {name: lines[name].mean() for name in (*METRICS, "seconds", "parameters")}
            low, high = np.clip([found["corrected_low"], found["corrected_high"]], 0, 1).tolist()
            rows.append({"model": model, "splits": len(lines), **means, "auc_low": low, "auc_high": high})
        return pd.DataFrame(rows)

    def compared(self, *, reference: str = REFERENCE) -> pd.DataFrame:
        """AUC of every system minus that of one of them, on the splits that both have: the corrected resampled t-test.

        Parameters
        ----------
        reference : str
            Key of the system that all others are compared with.

        Returns
        -------
        DataFrame
            ``model``, ``splits``, the mean ``difference`` with its interval, ``low`` and ``high``, ``t``, ``p``, and
            ``q``, the false discovery rate over all systems compared (Benjamini & Hochberg). Without systems that have
            fewer than two splits in common with the reference.
        """
        by_model = self.results.pivot_table(index="split", columns="model", values="auc", sort=False)
        rows = []
        for model in [name for name in by_model.columns if name != reference and reference in by_model]:
            found = self._paired(by_model[model], by_model[reference])
            if found["n"] > 1:
                numbers = (found[name] for name in ("mean", "corrected_low", "corrected_high", "t", "p"))
                rows.append((model, int(found["n"]), *numbers))
        table = pd.DataFrame(rows, columns=["model", "splits", "difference", "low", "high", "t", "p"])
        return table.assign(q=discovery_rates(table["p"]))

    def _paired(self, first: "pd.Series[float]", second: object) -> dict[str, float]:
        ratio = tested_to_trained(str(self.results["protocol"].iloc[0]), self.results["split"].nunique())
        return paired_difference(first.to_numpy(float), np.asarray(second, dtype=float), test_train_ratio=ratio)

    @cached_property
    def beside_paper(self) -> pd.DataFrame:
        """Every row of the benchmark, run or not, beside the paper's numbers.

        Returns
        -------
        DataFrame
            ``model`` and ``title`` of all rows in the order of the register; the columns of :meth:`over_splits`, with
            intervals from three splits on; ``difference``, ``low``, ``high`` and ``q`` of :meth:`compared` likewise;
            ``state``, empty or why a row has no numbers; ``paper_accuracy``, ``paper_auc``, ``paper_f1``,
            ``paper_sensitivity`` and ``paper_specificity``.
        """
        systems = benchmark_systems()
        found, against = (
            table.set_index("model").reindex(list(systems)) for table in (self.over_splits(), self.compared())
        )
        compared = ["difference", "low", "high", "q"]
        found.loc[found["splits"].fillna(0) < FEWEST_SPLITS, ["auc_low", "auc_high"]] = np.nan
        against.loc[against["splits"].fillna(0) < FEWEST_SPLITS, compared] = np.nan
        rows, run = list(systems.values()), set(self.results["model"])
        return found.assign(
            title=[row.title for row in rows],
            splits=found["splits"].fillna(0).astype(int),
            state=["" if key in run else _NOT_BUILT if row.reason else NOT_RUN for key, row in systems.items()],
            **{f"paper_{name}": np.array([getattr(row.paper, name) for row in rows], dtype=float) for name in PAPERS},
            **{name: against[name] for name in compared},
        ).reset_index()

    def shown(self) -> pd.DataFrame:
        """The rows of :attr:`beside_paper` as texts, for a page; what they cost is in :meth:`costs`."""
        titles = {"accuracy": "accuracy", "F1": "f1", "sens.": "sensitivity", "spec.": "specificity"}
        rows = []
        for row in self.beside_paper.to_dict("records"):
            done = not row["state"]
            interval = "" if math.isnan(row["auc_low"]) else f"({row['auc_low']:.3f}–{row['auc_high']:.3f})"
            difference = EMPTY
            if not math.isnan(row["difference"]):
                rate = EMPTY if math.isnan(row["q"]) else f"{row['q']:.3f}"
                difference = f"{row['difference']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f}; {rate})"
            rows.append(
                {
                    "system": row["title"],
                    "splits": str(row["splits"]) if done else row["state"],
                    f"AUC (95 %) {PAPER_MARK}": _beside(row, "auc", interval),
                    **{f"{title} {PAPER_MARK}": _beside(row, name) for title, name in titles.items()},
                    "Brier": f"{row['brier']:.3f}" if done else EMPTY,
                    f"AUC minus {REFERENCE} (q)": difference.replace("-", "−"),
                }
            )
        return pd.DataFrame(rows)

    def words(self) -> str:
        """What was run of the benchmark, how often, and what was not."""
        rows = self.beside_paper
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

    def verdict(self) -> str:
        """Which systems are clearly better or worse than the linear model that all are compared with."""
        systems, rows = benchmark_systems(), self.compared().to_dict("records")
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
        n_worse, rate = len(clear) - len(better), percent(FDR)
        return (
            f"{first} The highest AUC relative to it is that of {title}: a difference of {difference} "
            f"(95 % {low} to {high}). {n_worse} of {len(rows)} are clearly worse (false discovery rate of {rate})."
        )

    def costs(self, epochs: pd.DataFrame) -> pd.DataFrame:
        """One row of texts per system that was run, or whose parameters the paper counts.

        Parameters
        ----------
        epochs : DataFrame
            ``model`` and ``seconds`` of processor time of an epoch, of networks.
        """
        runs, epoch = self.over_splits().set_index("model"), epochs.set_index("model")["seconds"]
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
        columns = [
            "system",
            "parameters",
            "paper: parameters",
            "CPU s per run",
            "CPU s per epoch",
            "paper: s per epoch",
        ]
        texts = [(title, *(EMPTY if one is None else f"{one:,.0f}" for one in numbers)) for title, *numbers in rows]
        return pd.DataFrame(texts, columns=columns)


def _beside(row: Mapping[Any, Any], name: str, interval: str = "") -> str:
    """Our number, its interval, and the paper's in brackets."""
    paper = row[f"paper_{name}"]
    ours = "" if row["state"] else f"{row[name]:.3f}"
    return " ".join(filter(None, (ours, interval, "" if math.isnan(paper) else f"[{paper:.4f}]"))) or EMPTY


def impossible_words() -> str:
    """Which of the paper's rows have an accuracy outside of sensitivity and specificity; nothing where none has."""
    found = []
    for row in benchmark_systems().values():
        numbers = row.paper.accuracy, row.paper.sensitivity, row.paper.specificity
        known = [number for number in numbers if number is not None]
        # Means over splits can leave the range by a little, where the share of patients differs from split to split.
        if len(known) == len(numbers) and not is_possible(*known, room=0.01):
            found.append(row.title)
    return (
        f"The paper's numbers for {listed(found)} contradict each other: with two groups, accuracy lies between "
        "sensitivity and specificity."
        if found
        else ""
    )
