"""Measure how faithful the demo cohorts are to the real ones: every measured number of ``docs/simulation.md``.

    python assets/demo/measure.py --data DIR

DIR is that of ``make.py``. All is printed as markdown, real → simulated, and nothing is written. A region without
signal counts as missing, and as connected to nothing where a classifier, a module or a split half needs a number.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.stats import pearsonr
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score

from biobgt.data.cohort import Subject, is_silent
from biobgt.data.connectivity import fisher_z, functional_connectivity, graph_from_connectivity
from biobgt.data.simulate import demo_cohort, draw_series, load_parameters
from biobgt.modules import louvain_modules
from biobgt.readers import read_cohort

SEED = 0
N_DRAWN, N_FEW = 150, 20
N_PARTITIONED, N_HALVED = 40, 60
AUC_SEEDS = (0, 1, 2)
PENALTIES = (1000, 1)  # the first one is printed first, the other in parentheses
# The real cohort of each demo: its title, its files, and how many regions of its atlas are used.
REAL = {
    "asd": ("ABIDE, CC200", "abide_cc200.npz", "abide_phenotypes.csv", 200),
    "adhd": ("CNI, CC200", "cni2019_cc200.npz", "cni2019_phenotypes.csv", 200),
    "ad": ("ABIDE, AAL-90", "abide_aal116.npz", "abide_phenotypes.csv", 90),
}


@dataclass(frozen=True, eq=False)
class Group:
    """One group's series, and its Fisher-z connections, shape (n_subjects, n_connections), NaN at silent regions."""

    series: tuple[NDArray[np.float64], ...]
    z: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of each connection, shape (n_connections,)."""
        return np.nanmean(self.z, axis=0)

    @property
    def spread(self) -> NDArray[np.float64]:
        """Standard deviation of each connection over subjects, shape (n_connections,)."""
        return np.nanstd(self.z, axis=0)

    @property
    def strengths(self) -> NDArray[np.float64]:
        """Mean |FC| of each subject, shape (n_subjects,)."""
        return np.nanmean(np.abs(np.tanh(self.z)), axis=1)

    def evenly(self, n_subjects: int) -> tuple[NDArray[np.float64], ...]:
        """Return the series at even steps through the group: the real subjects are sorted by site."""
        return tuple(self.series[i] for i in np.linspace(0, len(self.series) - 1, n_subjects).astype(int))


def correlated(series: list[NDArray[np.float64]]) -> Group:
    """Make a group of its series, each of shape (n_timepoints, n_regions)."""
    z = fisher_z(np.array([functional_connectivity(one) for one in series]))
    silent = np.array([is_silent(one) for one in series])
    z[silent] = z.swapaxes(1, 2)[silent] = np.nan
    return Group(tuple(series), z[:, *np.triu_indices(z.shape[1], 1)])


def groups_of(subjects: tuple[Subject, ...], names: tuple[str, ...], n_regions: int) -> dict[str, Group]:
    """Sort subjects into groups, keeping the first ``n_regions`` regions."""
    return {
        name: correlated([s.series[:, :n_regions] for s in subjects if s.group == name and s.series is not None])
        for name in names
    }


def mean_q(series: tuple[NDArray[np.float64], ...]) -> float:
    """Mean Louvain Q over subjects, of positive correlations of at least 0.3."""
    graphs = (graph_from_connectivity(functional_connectivity(one)) for one in series)
    return float(np.mean([louvain_modules(graph, seed=SEED, runs=1).q for graph in graphs]))


def split_half(group: Group) -> tuple[float, float]:
    """Correlate FC of the first half of a scan with that of the second, within and between subjects."""
    upper = np.triu_indices(group.series[0].shape[1], 1)
    halves = [np.array_split(series, 2) for series in group.evenly(N_HALVED)]
    r = np.corrcoef([functional_connectivity(pair[half])[upper] for half in (0, 1) for pair in halves])
    first_with_second, same = r[:N_HALVED, N_HALVED:], np.eye(N_HALVED, dtype=bool)
    return float(first_with_second[same].mean()), float(first_with_second[~same].mean())


def ridge_auc(first: Group, second: Group) -> str:
    """AUC of ridge regression, mean over 5 folds: its range over seeds, which choose N_DRAWN a group and the folds."""
    spans = []
    for penalty in PENALTIES:
        aucs = []
        for seed in AUC_SEEDS:
            rng = np.random.default_rng(seed)
            parts = [np.nan_to_num(group.z[rng.permutation(len(group.z))[:N_DRAWN]]) for group in (first, second)]
            labels = np.repeat([0, 1], [len(part) for part in parts])
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            scores = cross_val_score(RidgeClassifier(penalty), np.vstack(parts), labels, cv=folds, scoring="roc_auc")
            aucs.append(scores.mean())
        spans.append(f"{min(aucs):.2f}-{max(aucs):.2f}")
    return f"{spans[0]} ({spans[1]})"


def group_column(real: Group, drawn: Group) -> dict[str, str]:
    """Measure one group."""
    # The first subjects drawn are those of a smaller demo cohort.
    many, few = (pearsonr(real.mean, drawn.z[:n].mean(axis=0))[0] for n in (N_DRAWN, N_FEW))
    return {
        f"r of group means ({N_FEW} a group)": f"{many:.3f} ({few:.3f})",
        "mean \\|FC\\|": _arrow(real.strengths.mean(), drawn.strengths.mean(), 3),
        "its SD over subjects": _arrow(real.strengths.std(), drawn.strengths.std(), 3),
        "SD of a connection (Fisher z)": _arrow(real.spread.mean(), drawn.spread.mean(), 3),
        "r of these SDs over connections": f"{pearsonr(real.spread, drawn.spread)[0]:.2f}",
        "Louvain Q": _arrow(mean_q(real.evenly(N_PARTITIONED)), mean_q(drawn.series), 3),
    }


def cohort_column(real: dict[str, Group], drawn: dict[str, Group]) -> dict[str, str]:
    """Measure one cohort: its controls' split halves, and the difference of its groups where it has two."""
    (real_within, real_between), (within, between) = split_half(real["NC"]), split_half(drawn["NC"])
    column = {
        f"split-half r of FC within a subject ({N_HALVED} NC)": _arrow(real_within, within, 2),
        "split-half r of FC between subjects": _arrow(real_between, between, 2),
    }
    if len(real) == 2:
        (nc, patients), (drawn_nc, drawn_patients) = real.values(), drawn.values()
        difference, drawn_pairs = patients.mean - nc.mean, drawn_patients.z - drawn_nc.z
        many, few = (pearsonr(difference, drawn_pairs[:n].mean(axis=0))[0] for n in (N_DRAWN, N_FEW))
        column[f"r of the group difference with the real one, {N_DRAWN} ({N_FEW}) a group"] = f"{many:.2f} ({few:.2f})"
        aucs = f"{ridge_auc(nc, patients)} → {ridge_auc(drawn_nc, drawn_patients)}"
        column[f"AUC of ridge regression on Fisher z, penalty {PENALTIES[0]} ({PENALTIES[1]})"] = aucs
    return column


def print_unshrunk(name: str, real: dict[str, Group]) -> None:
    """Print the AUC of groups drawn around the observed means, and around means drawn together by one factor."""
    first, second = real.values()
    middle, difference = (first.mean + second.mean) / 2, second.mean - first.mean
    chance = float(sum((group.spread**2).sum() / len(group.z) for group in real.values()))
    factor = max(0.0, 1 - chance / float(difference @ difference))
    for kept in (1.0, factor):
        means = middle + np.outer([-kept / 2, kept / 2], difference)
        parameters, rng = replace(load_parameters(name), mean_z=means), np.random.default_rng(SEED)
        drawn = [correlated([draw_series(parameters, group, rng) for _ in range(N_DRAWN)]) for group in real]
        print(f"{name}, {kept:.2f} of the observed difference kept: AUC {ridge_auc(*drawn)}")


def print_progression(drawn: dict[str, Group]) -> None:
    """Print what the invented progression does to drawn controls."""
    for name, group in drawn.items():
        print(f"{name}: mean |FC| {group.strengths.mean():.3f}, Q {mean_q(group.series):.3f}")
    for first, second in (("NC", "MCI"), ("NC", "AD"), ("MCI", "AD")):
        strengths = np.concatenate([drawn[second].strengths, drawn[first].strengths])
        alone = roc_auc_score(np.repeat([0, 1], N_DRAWN), strengths)  # weaker counts as later
        print(f"{first} against {second}: AUC {ridge_auc(drawn[first], drawn[second])}, of mean |FC| alone {alone:.2f}")


def print_table(columns: dict[str, dict[str, str]]) -> None:
    """Print columns as a markdown table; a column may lack the last rows."""
    print("\n| | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
    for row in max(columns.values(), key=len):
        print(f"| {row} | " + " | ".join(column.get(row, "") for column in columns.values()) + " |")


def _arrow(real: float, simulated: float, digits: int) -> str:
    return f"{real:.{digits}f} → {simulated:.{digits}f}"


def main(data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")]) -> None:
    """Measure all demo cohorts and print."""
    groups: dict[str, dict[str, str]] = {}
    cohorts: dict[str, dict[str, str]] = {}
    for name, (title, file, phenotypes, n_regions) in REAL.items():
        subjects = read_cohort(data / file, phenotypes=data / phenotypes).subjects
        real = groups_of(subjects, load_parameters(name).groups, n_regions)
        demo = demo_cohort(name, n_per_group=N_DRAWN, seed=SEED)
        drawn = groups_of(demo.subjects, tuple(demo.group_sizes), n_regions)
        groups |= {f"{group}, {title}": group_column(real[group], drawn[group]) for group in real}
        cohorts[title] = cohort_column(real, drawn)
        if name == "adhd":
            print_unshrunk(name, real)
        if len(drawn) > len(real):
            print_progression(drawn)
    print_table(groups)
    print_table(cohorts)


if __name__ == "__main__":
    typer.run(main)
