"""What every system of the benchmark costs, as a table beside the paper's numbers. Without torch."""

import pandas as pd

from biobgt.model.baselines.systems import benchmark_systems
from biobgt.training.benchmark_views import EMPTY, benchmark_table

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
