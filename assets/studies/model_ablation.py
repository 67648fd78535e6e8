"""What each part of the ``best`` preset gives on ABIDE: the preset with one thing changed, on the first folds.

    python assets/studies/model_ablation.py DATA [--folds 3] [--features FOLDER]

Beside this script it writes ``model_ablation.csv``, a line per variant and fold as it comes: test AUC, and the ratio of
attention within to between each test subject's own Louvain modules. Run again, it goes on with what is missing.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import torch
import typer
from numpy.typing import NDArray

from biobgt.model.network import BioBGT
from biobgt.model.presets import PRESETS, Preset
from biobgt.modules import module_contrast
from biobgt.training import classification_metrics
from biobgt.training.checks import _shuffle_entanglement
from biobgt.training.cohorts import protocol_splits, training_cohort
from biobgt.training.folds import LabelledGraphs, label_graphs
from biobgt.training.trainer import predict_logits, train_model

RESULTS = Path(__file__).with_name("model_ablation.csv")
BEST = PRESETS["best"]
_FROM_CHANCE = replace(BEST, ridge_start=False, learning_rate=6e-5, epochs=7, patience=7, warmup_epochs=1)
_AS_DRAWN = replace(BEST, start_contrast=0.0)  # what a part does to attention shows before W_Q is scaled
VARIANTS: dict[str, Preset] = {
    "best": BEST,
    "best, mean of three seeds": BEST,
    "start only, no further training": replace(BEST, epochs=0),
    "all regions count alike": replace(BEST, region_axes=0),
    "no NE: one vector for all regions": replace(BEST, entanglement_bins=1),
    "NE shuffled over regions": BEST,
    "no attention, no further training: ridge on weighed connections": replace(BEST, start_attended=0.0, epochs=0),
    "readout from chance instead of ridge, 7 epochs": _FROM_CHANCE,
    "W_Q as drawn": _AS_DRAWN,
    "W_Q as drawn, separate W_K": replace(_AS_DRAWN, tied=False),
    "W_Q as drawn, no contrastive loss": replace(_AS_DRAWN, contrast_weight=0.0, pretrain_steps=0),
    "W_Q as drawn, embeddings not bounded": replace(_AS_DRAWN, bounded=False),
}
SEEDS = {"best, mean of three seeds": 3}
SHUFFLED = {"NE shuffled over regions"}  # in training and test subjects, each by a lot of its own


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the real cohorts.")],
    folds: Annotated[int, typer.Option(help="How many of the ten folds.")] = 3,
    features: Annotated[Path | None, typer.Option(help="Folder where NE and modules are kept.")] = None,
) -> None:
    """Train every variant on the first folds."""
    torch.set_num_threads(1)
    cohort = training_cohort("abide", data)
    given = label_graphs(cohort, BEST, kept=features)
    shuffled = replace(given, graphs=_shuffle_entanglement(given.graphs, seed=0))
    done = set() if not RESULTS.exists() else set(pd.read_csv(RESULTS)[["variant", "fold"]].itertuples(index=False))
    known = {(variant, fold) for variant, fold in done}
    for number, split in enumerate(protocol_splits(cohort, "folds", n=10, seed=0)[:folds]):
        for variant, preset in VARIANTS.items():
            if (variant, split.name) in known:
                continue
            prepared = shuffled if variant in SHUFFLED else given
            parts = prepared.part(split.train), prepared.part(split.validation)
            seeds = [number + 1000 * i for i in range(SEEDS.get(variant, 1))]
            models = [train_model(*parts, preset, n_groups=2, seed=seed) for seed in seeds]
            line = {"variant": variant, "fold": split.name, **_measured(models, prepared, split.test)}
            pd.DataFrame([line]).to_csv(
                RESULTS, mode="a", header=not RESULTS.exists(), index=False, float_format="%.4f"
            )


def _measured(models: list[BioBGT], data: LabelledGraphs, rows: NDArray[np.int64]) -> dict[str, float]:
    """Test AUC and accuracy of the mean of all models' logits, and the contrast of the mean of their attention."""
    graphs, labels = data.part(rows)
    logits = torch.stack([predict_logits(model, graphs) for model in models]).double().mean(dim=0)
    contrasts: list[float] = []
    with torch.no_grad():
        for i in range(0, len(rows), 16):
            part = graphs[slice(i, i + 16)]
            attention = torch.stack([model.explain(part).mean_attention().weights for model in models]).mean(dim=0)
            contrasts.extend(module_contrast(attention.numpy(), part.modules.numpy()))
    metrics = classification_metrics(labels.numpy(), logits.softmax(dim=1).numpy(), data.groups)
    return {"auc": metrics["auc"], "accuracy": metrics["accuracy"], "within_over_between": float(np.nanmean(contrasts))}


if __name__ == "__main__":
    typer.run(main)
