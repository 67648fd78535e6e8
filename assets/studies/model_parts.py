"""What node entanglement and attention do to the predictions of the shipped models, out of fold.

    python assets/studies/model_parts.py DATA [--features FOLDER]

The member whose training left a subject out is asked about it: as it is, with its NE shuffled over its regions, and
with attention set to zero. Also how attention correlates with the subject's connectivity, and the contrast of modules
that connectivity alone would give. Results go on the models' cards and, beside this script, to ``model_parts.csv`` and
``model_parts_connectivity.csv``. Nothing is trained.
"""

from pathlib import Path
from typing import Annotated

import pandas as pd
import torch
import typer

from biobgt.model.folder import load_card, model_folder, pretrained_names
from biobgt.model.presets import Preset
from biobgt.training.checks import complete_ablation
from biobgt.training.cohorts import protocol_splits, training_cohort
from biobgt.training.folds import label_graphs

EFFECTS = Path(__file__).with_name("model_parts.csv")
CONNECTIVITY = Path(__file__).with_name("model_parts_connectivity.csv")


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the real cohorts.")],
    features: Annotated[Path | None, typer.Option(help="Folder where NE and modules are kept.")] = None,
) -> None:
    """Measure the parts of every shipped model."""
    torch.set_num_threads(1)
    effects, connectivity = [], []
    for name in pretrained_names():
        card = load_card(name)
        if "readouts" in card:  # a network of several cohorts: training measures the parts of its readouts
            continue
        cohort = training_cohort(card["data"]["cohort"], data, seed=card["training"]["seed"])
        prepared = label_graphs(cohort, Preset.from_dict(card["preset"]), kept=features)
        splits = protocol_splits(cohort, "folds", n=len(card["temperatures"]), seed=card["training"]["seed"])
        parts = complete_ablation(model_folder(name), prepared, splits)["parts"]
        at_start = {"members": len(splits), "members_at_start": parts["members_at_start"]}
        effects += [{"model": name, "part": part, **found, **at_start} for part, found in parts["without"].items()]
        connectivity += [{"model": name, "group": group, **found} for group, found in parts["connectivity"].items()]
    pd.DataFrame(effects).to_csv(EFFECTS, index=False, float_format="%.6g")
    pd.DataFrame(connectivity).to_csv(CONNECTIVITY, index=False, float_format="%.4f")


if __name__ == "__main__":
    typer.run(main)
