"""A planted cohort, drawn once, its graphs, and a model trained on them for one epoch."""

from dataclasses import replace
from pathlib import Path

import pytest
from planted_cohort import planted_cohort, small
from planted_model import PRESET, train_ensemble, write_planted

from biobgt.data.cohort import Cohort
from biobgt.training.cohorts import JoinedCohorts, Split, cross_validation, join_training_cohorts
from biobgt.training.folds import LabelledGraphs, TrainedEnsemble, label_graphs


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    return planted_cohort(20)


@pytest.fixture(scope="session")
def data(cohort: Cohort) -> LabelledGraphs:
    return label_graphs(cohort, small("best"))


@pytest.fixture(scope="session")
def splits(data: LabelledGraphs) -> tuple[Split, ...]:
    return cross_validation([data.groups[label] for label in data.labels], folds=3)


@pytest.fixture(scope="session")
def trained(
    data: LabelledGraphs, splits: tuple[Split, ...], tmp_path_factory: pytest.TempPathFactory
) -> TrainedEnsemble:
    return train_ensemble(data, splits, PRESET, folder=tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def folder(
    cohort: Cohort,
    data: LabelledGraphs,
    trained: TrainedEnsemble,
    splits: tuple[Split, ...],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    path = tmp_path_factory.mktemp("model")
    write_planted(path, cohort, data, trained, splits)
    return path


@pytest.fixture(scope="session")
def both() -> JoinedCohorts:
    """Two planted cohorts; the second is simulated from the first's people."""
    first = replace(planted_cohort(8), name="abide")
    second = planted_cohort(8, groups=3, seed=1)
    subjects = tuple(replace(one, simulated=one.group != "NC") for one in second)
    return join_training_cohorts([first, replace(second, name="adsim", subjects=subjects)])
