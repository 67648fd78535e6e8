"""Which connectivity features separate the groups of ABIDE: ridge out of fold, for docs/model.md.

    python assets/studies/model_features.py DATA

DATA is the folder with ``abide_cc200.npz``, ``abide_aal116.npz`` and ``abide_phenotypes.csv``. Beside this script it
writes ``model_features.csv``: mean AUC and accuracy over three times ten folds (seeds 0 to 2) for every set of features
and penalty. Features need no fitting but for the tangent space, whose reference is the mean of all subjects; that sees
no labels, and the evaluation proper fits it in training.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from biobgt.data.cohort import Cohort
from biobgt.data.connectivity import cohort_connectivity, fisher_z
from biobgt.readers import read_cohort

HERE = Path(__file__).parent
SHRINKAGES = (0.1, 0.3, 0.5, 0.7, 0.9)
PENALTIES = (0.1, 0.3, 1.0, 3.0)
SEEDS = (0, 1, 2)


def main(data: Path) -> None:
    """Write the table."""
    cc200, aal = (
        read_cohort(data / f"abide_{name}.npz", atlas=name, phenotypes=data / "abide_phenotypes.csv")
        for name in ("cc200", "aal116")
    )
    patients = np.array([subject.group == "ASD" for subject in cc200])
    strata = np.array([f"{subject.phenotypes['site']} {subject.group}" for subject in cc200])
    rows = []
    for name, kernel in kernels(cc200, aal):
        for penalty in PENALTIES:
            auc, accuracy = out_of_fold(kernel, patients, strata, penalty)
            rows.append({"features": name, "penalty": penalty, "auc": auc, "accuracy": accuracy})
            print(name, penalty, f"{auc:.3f} {accuracy:.3f}", flush=True)
    pd.DataFrame(rows).to_csv(HERE / "model_features.csv", index=False, float_format="%.4f")


def kernels(cc200: Cohort, aal: Cohort) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each set of features as a kernel between subjects, scaled to a mean of 1 on its diagonal."""
    correlation = cohort_connectivity(cc200)
    shrunk = cohort_connectivity(cc200, estimator="ledoit-wolf")
    yield "Fisher z", kernel_of(fisher_z(correlation))
    yield "tangent, Ledoit-Wolf", kernel_of(logarithm(shrunk, reference=shrunk.mean(axis=0)))
    for share in SHRINKAGES:
        mixed = shrink(correlation, share)
        yield f"tangent, shrinkage {share}", kernel_of(logarithm(mixed, reference=mixed.mean(axis=0)))
        yield f"log-Euclidean, shrinkage {share}", kernel_of(logarithm(mixed))
    both = kernel_of(logarithm(shrink(correlation, 0.5))), kernel_of(logarithm(shrink(cohort_connectivity(aal), 0.5)))
    yield "log-Euclidean, AAL-116", both[1]
    yield "log-Euclidean, CC200 and AAL-116", (both[0] + both[1]) / 2


def shrink(correlation: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Mix correlations with the identity."""
    identity = np.eye(correlation.shape[1])
    return (1 - share) * (correlation * (1 - identity) + identity) + share * identity


def logarithm(matrices: NDArray[np.float64], *, reference: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Matrix logarithms, after whitening by a reference where one is given."""
    if reference is not None:
        values, vectors = np.linalg.eigh(reference)
        whitening = (vectors / np.sqrt(values)) @ vectors.T
        matrices = whitening @ matrices @ whitening
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.log(values)[:, None, :]) @ vectors.transpose(0, 2, 1))


def kernel_of(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inner products of centred features, with a mean of 1 on the diagonal."""
    features = matrices.reshape(len(matrices), -1)
    features = features - features.mean(axis=0)
    kernel = features @ features.T
    return np.asarray(kernel / np.trace(kernel) * len(kernel))


def out_of_fold(
    kernel: NDArray[np.float64], patients: NDArray[np.bool_], strata: NDArray[np.str_], penalty: float
) -> tuple[float, float]:
    """Mean AUC and accuracy of kernel ridge over the seeds."""
    measured = []
    for seed in SEEDS:
        scores = np.empty(len(patients))
        for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(strata, strata):
            targets = np.where(patients[train], 1.0, -1.0)
            matrix = kernel[np.ix_(train, train)] + penalty * np.eye(len(train))
            weights = np.linalg.solve(matrix, targets - targets.mean())
            scores[test] = kernel[np.ix_(test, train)] @ weights + targets.mean()
        measured.append((roc_auc_score(patients, scores), accuracy_score(patients, scores > 0)))
    auc, accuracy = np.mean(measured, axis=0)
    return float(auc), float(accuracy)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
