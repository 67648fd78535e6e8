"""How far correlations should be shrunk before their logarithm: leave-one-out on training subjects, for docs/model.md.

    python assets/studies/model_shrinkage.py DATA

DATA is the folder with the ABIDE and CNI-2019 files. Beside this script it writes ``model_shrinkage.csv``: for every
cohort, fold of the shipped models (seed 0) and shrinkage, the leave-one-out error of ridge on the fold's training
subjects. A fold's own test and validation subjects take no part in its choice, but they do in other folds': what most
folds agree on was chosen on the same cohort that the results are of.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from biobgt.data.connectivity import cohort_connectivity
from biobgt.model.inputs import log_connectivity
from biobgt.training.cohorts import protocol_splits, training_cohort
from biobgt.training.start import _best_penalty, left_out

HERE = Path(__file__).parent
COHORTS = ("abide", "cni-adhd", "adsim")
SHRINKAGES = (0.1, 0.3, 0.5, 0.7, 0.9)


def main(data: Path) -> None:
    """Write the table, and print how many folds chose which shrinkage."""
    rows = []
    for name in COHORTS:
        cohort = training_cohort(name, data)
        groups = tuple(cohort.group_sizes)
        labels = torch.tensor([groups.index(str(subject.group)) for subject in cohort])
        targets = 2 * torch.nn.functional.one_hot(labels).double() - 1
        correlations = cohort_connectivity(cohort)
        for matrix in correlations:
            np.fill_diagonal(matrix, 1)
        for shrinkage in SHRINKAGES:
            logarithms = [log_connectivity(matrix, shrinkage=shrinkage).ravel() for matrix in correlations]
            features = torch.tensor(np.stack(logarithms))
            for split in protocol_splits(cohort, "folds"):
                error = left_out_error(features[split.train], targets[split.train])
                rows.append({"cohort": name, "fold": split.name, "shrinkage": shrinkage, "error": error})
    table = pd.DataFrame(rows)
    table.to_csv(HERE / "model_shrinkage.csv", index=False, float_format="%.5f")
    chosen = table.loc[table.groupby(["cohort", "fold"])["error"].idxmin()]
    print(chosen.groupby(["cohort", "shrinkage"]).size().rename("folds").reset_index().to_string(index=False))


def left_out_error(features: torch.Tensor, targets: torch.Tensor) -> float:
    """Mean squared leave-one-out error of ridge at its best penalty."""
    features, targets = features - features.mean(dim=0), targets - targets.mean(dim=0)
    kernel = features @ features.T
    _, residual = left_out(kernel, targets, _best_penalty(kernel, targets))
    return float(residual.square().mean())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
