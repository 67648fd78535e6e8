"""Along how many axes regions should be weighed, and in how many steps: validation subjects decide, for docs/model.md.

    python assets/studies/model_regions.py DATA

DATA is the folder with the ABIDE files. In every fold of the shipped model (seed 0) weights are learnt on its training
subjects, ridge on the weighed connections is fitted to them, and its validation subjects are predicted. The fold's own
test subjects take no part, but many validate another fold. Beside this script it writes ``model_regions.csv``: AUC and
squared error of the validation subjects for every fold, number of axes and step; step 0 is ridge without weights.
"""

import sys
from itertools import islice
from pathlib import Path

import pandas as pd
import torch
from sklearn.metrics import roc_auc_score

from biobgt.model.inputs import correlations, log_connectivity
from biobgt.model.presets import preset_named
from biobgt.training.cohorts import protocol_splits, training_cohort
from biobgt.training.start import _best_penalty, _network_axes, left_out, region_weights

HERE = Path(__file__).parent
AXES = (4, 7, 12)
STEPS = 8


def main(data: Path) -> None:
    """Write the table, and print its means over folds."""
    cohort = training_cohort("abide", data)
    shrinkage = preset_named("best").shrinkage
    profiles = torch.stack([torch.from_numpy(correlations(one)).float().fill_diagonal_(0) for one in cohort])
    values = torch.stack(
        [torch.from_numpy(log_connectivity(correlations(one), shrinkage=shrinkage)).float() for one in cohort]
    )
    patients = torch.tensor([subject.group == "ASD" for subject in cohort])
    targets = 2.0 * patients[:, None].double() - 1
    rows = []
    for split in protocol_splits(cohort, "folds"):
        train, validation = torch.tensor(split.train), torch.tensor(split.validation)
        for n_axes in AXES:
            axes = _network_axes(profiles[train].mean(dim=0), n_axes)
            learnt = islice(region_weights(values[train], axes, targets[train]), STEPS)
            for step, weights in enumerate([torch.ones(len(axes)), *learnt]):
                weighed = (values * torch.outer(weights, weights)).flatten(1)
                said = predicted(weighed[train], targets[train], weighed[validation])
                auc = roc_auc_score(patients[validation], said)
                error = float((said - targets[validation, 0]).square().mean())
                rows.append({"fold": split.name, "axes": n_axes, "step": step, "auc": auc, "error": error})
            print(split.name, n_axes, [f"{row['auc']:.3f}" for row in rows[-STEPS - 1 :]], flush=True)
        pd.DataFrame(rows).to_csv(HERE / "model_regions.csv", index=False, float_format="%.5f")
    print(pd.DataFrame(rows).groupby(["axes", "step"])[["auc", "error"]].mean().round(4).to_string())


def predicted(features: torch.Tensor, targets: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Ridge fitted to training subjects, at its best penalty, on others."""
    centre, offset = features.mean(dim=0), targets.mean(dim=0)
    features, others = features - centre, others - centre
    kernel = (features @ features.T).double()
    dual, _ = left_out(kernel, targets - offset, _best_penalty(kernel, targets - offset))
    return ((others @ features.T).double() @ dual + offset)[:, 0]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
