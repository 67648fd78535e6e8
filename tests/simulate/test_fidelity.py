"""Simulated groups against the real ones they were estimated on, within the bounds of docs/simulation.md."""

from dataclasses import dataclass
from pathlib import Path

import bct
import numpy as np
import pandas as pd
import pytest

from biobgt.data.connectivity import functional_connectivity
from biobgt.data.simulate import demo_cohort

N_PER_GROUP = 60
N_PARTITIONED = 40
FILES = {
    "asd": ("abide_cc200.npz", "abide_phenotypes.csv", 200),
    "adhd": ("cni2019_cc200.npz", "cni2019_phenotypes.csv", 200),
    "ad": ("abide_aal116.npz", "abide_phenotypes.csv", 90),
}
# The bounds that docs/simulation.md states.
SMALLEST_R = 0.95
STRENGTH_BOUND = 0.10
SPREAD_BOUND = 0.12
MODULARITY_BOUND = 0.05


@dataclass
class GroupSummary:
    mean_z: np.ndarray
    strength: float
    spread: float
    modularity: float


def summarise(correlations: np.ndarray) -> GroupSummary:
    """Take a group's correlations, shape (n_subjects, n_regions, n_regions), NaN where a region is silent."""
    upper = np.triu_indices(correlations.shape[1], 1)
    edges = correlations[:, upper[0], upper[1]]
    z = np.arctanh(np.clip(edges, -0.999, 0.999))
    chosen = np.linspace(0, len(correlations) - 1, N_PARTITIONED).astype(int)
    return GroupSummary(
        mean_z=np.nanmean(z, axis=0),
        strength=float(np.nanmean(np.abs(edges))),
        spread=float(np.nanmean(np.nanstd(z, axis=0))),
        modularity=float(np.mean([louvain_q(correlations[i]) for i in chosen])),
    )


def louvain_q(correlation: np.ndarray) -> float:
    weights = np.where(np.nan_to_num(correlation) >= 0.3, correlation, 0)
    np.fill_diagonal(weights, 0)
    return bct.community_louvain(weights, seed=0)[1]


def real_correlations(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all subjects' correlations as float32, and their groups."""
    series_file, phenotype_file, n_regions = FILES[name]
    with np.load(folder / series_file, allow_pickle=False) as stored:
        series, lengths = stored["series"][:, :n_regions], stored["n_timepoints"]
    parts = np.split(series, np.cumsum(lengths)[:-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        stack = np.array([np.corrcoef(part.astype(np.float32).T, dtype=np.float32) for part in parts])
    return stack, pd.read_csv(folder / phenotype_file)["group"].to_numpy()


@pytest.fixture(scope="module", params=FILES)
def real_and_simulated(request, shared_data) -> dict[str, tuple[GroupSummary, GroupSummary]]:
    stack, labels = real_correlations(shared_data, request.param)
    cohort = demo_cohort(request.param, n_per_group=N_PER_GROUP)
    # There are no real MCI and AD subjects to compare with.
    groups = [group for group in cohort.group_sizes if group in labels]
    return {
        group: (
            summarise(stack[labels == group]),
            summarise(np.array([functional_connectivity(subject.series) for subject in cohort.group(group)])),
        )
        for group in groups
    }


def test_group_means_strength_spread_and_modularity_are_reproduced(real_and_simulated):
    assert "NC" in real_and_simulated
    for group, (real, simulated) in real_and_simulated.items():
        assert np.corrcoef(real.mean_z, simulated.mean_z)[0, 1] > SMALLEST_R, group
        assert simulated.strength == pytest.approx(real.strength, rel=STRENGTH_BOUND), group
        assert simulated.spread == pytest.approx(real.spread, rel=SPREAD_BOUND), group
        assert simulated.modularity == pytest.approx(real.modularity, abs=MODULARITY_BOUND), group


@pytest.mark.parametrize("real_and_simulated", ["asd", "adhd"], indirect=True)
def test_the_groups_differ_in_the_real_direction(real_and_simulated):
    (real_nc, nc), (real_patients, patients) = real_and_simulated.values()
    real_difference = real_patients.mean_z - real_nc.mean_z
    assert np.corrcoef(real_difference, patients.mean_z - nc.mean_z)[0, 1] > 0.2


def test_a_default_cohort_already_has_the_real_means(shared_data):
    stack, labels = real_correlations(shared_data, "adhd")
    upper = np.triu_indices(200, 1)
    cohort = demo_cohort("adhd")
    for group in ("NC", "ADHD"):
        real = np.arctanh(np.clip(stack[labels == group][:, *upper], -0.999, 0.999)).mean(axis=0)
        drawn = np.mean([np.arctanh(np.corrcoef(s.series.T)[upper]) for s in cohort.group(group)], axis=0)
        assert np.corrcoef(real, drawn)[0, 1] > SMALLEST_R
