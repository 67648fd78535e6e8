"""Whether probabilities can be made steady under noise without losing AUC: ridge on validation subjects.

    python assets/studies/model_noise.py DATA

DATA is the folder with the ABIDE and CNI-2019 files. Each candidate is fitted on the training subjects of every fold of
the shipped models (seed 0) and asked about the fold's validation subjects, as they are and with white noise on their
z-scored series. No test subject is looked at. Beside this script it writes ``model_noise.csv``, one line per cohort,
candidate and noise level: AUC (mean over folds), mean probability of the last group, share of subjects called a
patient, share of all calls that went from controls to patients and back against the same subjects without noise, and
share of probabilities above 0.9. Lines that are there already are not computed again.

The rule, written before any result: on ABIDE, of the candidates whose AUC without noise is within 0.005 of the best,
the one with the least drift, which is the largest change of the mean probability of ASD over SD 0.25 to 2 against none;
of candidates within 0.01 of that drift, the one that stands first in the list. The choice must not cost the simulated
progression more than 0.005 of AUC against the features as they are. CNI-2019 is at chance and decides nothing. That
directions can be removed came up in a first look at the same validation subjects, after the rule was written.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.data.cohort import Cohort
from biobgt.data.corruptions import NOISE_LEVELS, add_noise
from biobgt.model.inputs import correlations
from biobgt.model.systems import margins_to_logits
from biobgt.training.cohorts import Split, protocol_splits, training_cohort
from biobgt.training.metrics import calibrated, classification_metrics
from biobgt.training.start import _best_penalty, left_out

HERE = Path(__file__).parent
SHRINKAGES = {"abide": 0.7, "adsim": 0.1, "cni-adhd": 0.7}
AUGMENTED = (0.5, 1.0, 2.0)  # noise added in training
# White noise of SD 1, 2 and 4 leaves these shares of every correlation: it is further shrinkage, on average.
FADED = (1 / 2, 1 / 5, 1 / 17)
MOST = 0.95  # the largest share of a correlation matrix beside the identity


@dataclass(frozen=True, eq=False)
class Spectra:
    """Eigenvalues (n_subjects, n) and eigenvectors (n_subjects, n, n) of subjects' correlations."""

    values: NDArray[np.float32]
    vectors: NDArray[np.float32]

    def __getitem__(self, rows: NDArray[np.int64]) -> "Spectra":
        return Spectra(self.values[rows], self.vectors[rows])

    @property
    def strength(self) -> NDArray[np.float32]:
        """Root mean square of the correlations, shape (n_subjects,)."""
        n = self.values.shape[1]
        return np.asarray(np.sqrt((np.square(self.values).sum(axis=1) - n) / (n * (n - 1))))

    def logarithms(self, kept: float | NDArray[np.float32]) -> NDArray[np.float32]:
        """Matrix logarithms with this share of the correlations beside the identity, shape (n_subjects, n_pairs)."""
        share = np.broadcast_to(np.asarray(kept, dtype=np.float32), len(self.values))[:, None]
        logs = np.log(share * self.values.clip(min=0) + 1 - share)
        n = self.values.shape[1]
        rows, columns = np.triu_indices(n)
        scale = np.where(rows == columns, 1, np.sqrt(2)).astype(np.float32)
        whole = np.matmul(self.vectors * logs[:, None, :], self.vectors.transpose(0, 2, 1))
        return np.asarray(whole[:, rows, columns] * scale)


@dataclass(frozen=True)
class Candidate:
    """What is done to a subject's logarithm before ridge.

    Attributes
    ----------
    name : str
    scaled : {"no", "norm", "shrinkage"}
        Divided by its own norm, or with a share of the identity of its own, so that all subjects have the mean
        strength of the training subjects.
    removed : {"nothing", "mean", "noise"}
        The component along the training subjects' mean, or along what that mean is with three further shrinkages, too.
    augmented : bool
        Training subjects also with noise, under the same label.
    """

    name: str
    scaled: Literal["no", "norm", "shrinkage"] = "no"
    removed: Literal["nothing", "mean", "noise"] = "nothing"
    augmented: bool = False


CANDIDATES = (
    Candidate("as they are"),
    Candidate("unit norm", scaled="norm"),
    Candidate("shrunk to a common strength", scaled="shrinkage"),
    Candidate("mean removed", removed="mean"),
    Candidate("mean removed, unit norm", removed="mean", scaled="norm"),
    Candidate("noise directions removed", removed="noise"),
    Candidate("noise directions removed, unit norm", removed="noise", scaled="norm"),
    Candidate("noise directions removed, shrunk to a common strength", removed="noise", scaled="shrinkage"),
    Candidate("noise in training", augmented=True),
    Candidate("noise in training, mean removed", augmented=True, removed="mean"),
)


class Features:
    """A candidate's features of one fold, fitted on its training subjects, shape (n_subjects, n_pairs)."""

    def __init__(self, candidate: Candidate, training: Spectra, shrinkage: float) -> None:
        self.candidate, self.kept = candidate, 1 - shrinkage
        self.usual = float(training.strength.mean())
        own = self._scaled(training, 1.0)
        means = [own.mean(axis=0)]
        if candidate.removed == "noise":
            means += [self._scaled(training, faded).mean(axis=0) for faded in FADED]
        self.directions = np.linalg.qr(np.stack(means).T)[0] if candidate.removed != "nothing" else None

    def of(self, subjects: Spectra) -> NDArray[np.float32]:
        """The features of subjects."""
        found = self._scaled(subjects, 1.0)
        return found if self.directions is None else found - (found @ self.directions) @ self.directions.T

    def _scaled(self, subjects: Spectra, faded: float) -> NDArray[np.float32]:
        if self.candidate.scaled == "shrinkage":
            return subjects.logarithms(np.minimum(self.kept * faded * self.usual / subjects.strength, MOST))
        logs = subjects.logarithms(self.kept * faded)
        return logs / np.linalg.norm(logs, axis=1, keepdims=True) if self.candidate.scaled == "norm" else logs


def main(data: Path) -> None:
    """Write the table."""
    file = HERE / "model_noise.csv"
    done = set() if not file.exists() else set(pd.read_csv(file)[["cohort", "candidate"]].itertuples(index=False))
    for name, shrinkage in SHRINKAGES.items():
        left = [one for one in CANDIDATES if (name, one.name) not in done]
        if not left:
            continue
        cohort = training_cohort(name, data)
        spectra = {sd: spectra_of(cohort, sd) for sd in NOISE_LEVELS}
        splits = protocol_splits(cohort, "folds")
        groups = tuple(cohort.group_sizes)
        labels = np.array([groups.index(str(subject.group)) for subject in cohort])
        for candidate in left:
            said = [ask(candidate, spectra, split, labels, shrinkage) for split in splits]
            table = describe(said, [labels[split.validation] for split in splits], groups)
            table = table.assign(cohort=name, candidate=candidate.name)[["cohort", "candidate", *table.columns]]
            print(table.to_string(index=False, float_format="%.3f"), flush=True)
            table.to_csv(file, mode="a", header=not file.exists(), index=False, float_format="%.4f")


def spectra_of(cohort: Cohort, sd: float) -> Spectra:
    """Of every subject's correlations, with noise."""
    found = [np.linalg.eigh(correlations(add_noise(subject, sd, seed=0))) for subject in cohort]
    values, vectors = zip(*found, strict=True)
    return Spectra(np.stack(values).astype(np.float32), np.stack(vectors).astype(np.float32))


def ask(
    candidate: Candidate, spectra: Mapping[float, Spectra], split: Split, labels: NDArray[np.int64], shrinkage: float
) -> dict[float, NDArray[np.float64]]:
    """Fit on a split's training subjects; probabilities of its validation subjects at every level of noise."""
    features = Features(candidate, spectra[0.0][split.train], shrinkage)
    training = torch.from_numpy(features.of(spectra[0.0][split.train]))
    centre, own = training.mean(dim=0), labels[split.train]
    targets = 2 * torch.nn.functional.one_hot(torch.tensor(own), int(labels.max()) + 1).double() - 1
    middle = targets.mean(dim=0)
    kernel = ((training - centre) @ (training - centre).T).double()
    penalty = _best_penalty(kernel, targets - middle)
    dual, residual = left_out(kernel, targets - middle, penalty)
    if candidate.augmented:  # the scale of logits stays that of the subjects without noise, the penalty that of a copy
        noisy = [torch.from_numpy(features.of(spectra[sd][split.train])) for sd in AUGMENTED]
        training, targets = torch.cat([training, *noisy]), targets.repeat(1 + len(AUGMENTED), 1)
        centre = training.mean(dim=0)
        kernel = ((training - centre) @ (training - centre).T).double()
        dual, _ = left_out(kernel, targets - middle, penalty * (1 + len(AUGMENTED)))
        targets = targets[: len(own)]
    weights = (training - centre).T @ dual.float()
    matrix, offset = margins_to_logits((targets - residual).numpy(), own)
    answers = {}
    for sd, subjects in spectra.items():
        given = torch.from_numpy(features.of(subjects[split.validation])) - centre
        margins = (given @ weights).double() + middle
        answers[sd] = calibrated(margins.numpy() @ matrix.T + offset, 1.0)
    return answers


def describe(
    said: list[dict[float, NDArray[np.float64]]], truth: list[NDArray[np.int64]], groups: tuple[str, ...]
) -> pd.DataFrame:
    """One line per level of noise."""
    quiet = np.concatenate([fold[0.0] for fold in said]).argmax(axis=1) > 0
    rows = []
    for sd in NOISE_LEVELS:
        aucs = [classification_metrics(own, fold[sd], groups)["auc"] for fold, own in zip(said, truth, strict=True)]
        together = np.concatenate([fold[sd] for fold in said])
        called = together.argmax(axis=1) > 0
        rows.append(
            {
                "noise": sd,
                "auc": np.mean(aucs),
                "p_last_group": together[:, -1].mean(),
                "called_patient": called.mean(),
                "to_patient": (called & ~quiet).mean(),
                "to_control": (~called & quiet).mean(),
                "above_0.9": (together[:, -1] > 0.9).mean(),
            }
        )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
