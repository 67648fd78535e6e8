"""A small model of the planted cohort, written as `biobgt train` writes it."""

from pathlib import Path

import torch
from planted_cohort import small
from tiny_models import few_draws

from biobgt.data.cohort import Cohort
from biobgt.model.network import BioBGT, GraphBatch
from biobgt.model.presets import Preset
from biobgt.training.cards import write_model
from biobgt.training.evaluation import baselines_out_of_fold
from biobgt.training.folds import LabelledGraphs, TrainedEnsemble, describe_members, train_members

PRESET = small("best", epochs=1, pretrain_steps=2)


def draw_model(preset: Preset, graphs: GraphBatch, n_groups: int = 2, *, seed: int = 0) -> BioBGT:
    """An untrained model that knows the scale of its inputs."""
    torch.manual_seed(seed)
    model = BioBGT(preset, n_regions=graphs.features.shape[1], n_groups=n_groups)
    model.standardise(graphs)
    return model.eval()


def train_ensemble(data: LabelledGraphs, splits: tuple, preset: Preset, folder: Path, **how: object) -> TrainedEnsemble:
    members = train_members(data, splits, preset, folder=folder, **how)
    return describe_members(members, data, splits, folder=folder)


def write_planted(folder: Path, cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble, splits: tuple) -> dict:
    """Write it, with intervals from 10 resamples: no test looks at their width."""
    with few_draws():
        return write_model(
            folder,
            name="planted",
            cohort=cohort,
            data=data,
            trained=trained,
            linear=baselines_out_of_fold(data, splits),
            command="biobgt train --cohort folder",
            seed=0,
        )
