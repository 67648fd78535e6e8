"""How reliable are hub measures, roles, modules and attention? Two halves of every recording, in two cohorts.

    python assets/studies/reliability.py --data DIR --work FOLDER

DIR holds ``abide_cc200.npz``, ``cni2019_cc200.npz`` and their phenotypes. What is measured in each person's halves goes
to FOLDER, one file per person, so that a run that was stopped goes on where it was; it stays out of the repository.
Only what is over people is written beside this script. Graphs are the app's defaults (positive Pearson correlations of
at least 0.3, γ = 0.5, control graph; modules are the best of 10 Louvain runs, seed 0). Attention is that of the shipped
``abide-cc200``, each subject seen by the member that never met it in training. One core, about 50 minutes.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from sklearn.metrics import adjusted_mutual_info_score, cohen_kappa_score
from threadpoolctl import threadpool_limits

from assets.studies.split_half_reliability import (
    Interval,
    bootstrap_people,
    different_batches,
    split_half_reliability,
    within_and_between,
)
from biobgt.cli.main import progress_bar
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.hubs.reliability import half_subjects, hub_values, spearman_brown
from biobgt.hubs.table import measure_hubs
from biobgt.model.attention import attention_received
from biobgt.modules import find_modules, node_roles
from biobgt.modules.measures import ModuleOptions
from biobgt.readers import read_cohort
from biobgt.training.cohorts import protocol_splits, training_cohort

HERE = Path(__file__).parent
COHORTS = {"ABIDE": "abide", "CNI-2019": "cni2019"}
MODEL, FOLDS = "abide-cc200", 10
GAMMAS = (0.1, 0.5, 1.0, 3.0, 10.0, 30.0)  # in units of 1/mean(λ)
GAMMA = 0.5
SEED = 0
N_BOOT = 1000
OPTIONS = ModuleOptions(seed=SEED)


def measure_half(half: Subject, cohort: Cohort) -> dict[str, NDArray[Any]]:
    """Hub measures, module and role of every region in half a recording, shape (n_regions,) each."""
    graph = brain_graph(half, cohort.atlas)
    hubs = measure_hubs(graph, subject_connectivity(half))
    found: dict[str, NDArray[Any]] = {**hub_values(hubs, GAMMA)}
    for gamma, values in zip(GAMMAS, hubs.entanglement(GAMMAS), strict=True):
        found[f"node_entanglement γ={gamma:g}"] = np.where(hubs.has_signal, values, np.nan)
    partition = find_modules(graph, OPTIONS)
    roles = node_roles(graph, partition, hub_z=OPTIONS.hub_z)
    found["within_z"] = roles["within_z"].to_numpy(float)
    found["participation"] = roles["participation"].to_numpy(float)
    found["module"] = partition.labels
    found["role"] = roles["role"].fillna("").to_numpy(str)
    return found


def measure_people(cohort: Cohort, folder: Path) -> None:
    """Measure both halves of everybody who is missing, one file per person."""
    folder.mkdir(parents=True, exist_ok=True)
    order = np.random.default_rng(SEED).permutation(len(cohort))  # whoever is done is a random sample at any time
    left = [cohort.subjects[i] for i in order if not (folder / f"{cohort.subjects[i].id}.npz").exists()]
    with progress_bar(f"People of {cohort.name}") as progress, threadpool_limits(1):
        for i, subject in enumerate(left, start=1):
            halves = [measure_half(half, cohort) for half in half_subjects(subject)]
            _write(
                folder / f"{subject.id}.npz", {name: np.stack([half[name] for half in halves]) for name in halves[0]}
            )
            progress(i, len(left))


def measure_attention(data: Path, folder: Path) -> None:
    """Measure the attention map of both halves of everybody who is missing, by the member that never met them."""
    import torch

    from biobgt.model.folder import load_pretrained
    from biobgt.model.inputs import prepare

    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    cohort, model = training_cohort("abide", data), load_pretrained(MODEL, "cpu")
    splits = protocol_splits(cohort, "folds", n=FOLDS, seed=SEED)
    assert len(model.members) == FOLDS
    jobs = [(member, cohort.subjects[row]) for member, split in enumerate(splits) for row in split.test]
    left = [(member, subject) for member, subject in jobs if not (folder / f"{subject.id}.npz").exists()]
    with progress_bar("Attention") as progress, torch.no_grad(), threadpool_limits(1):
        for i, (member, subject) in enumerate(left, start=1):
            graphs = prepare(half_subjects(subject), model.preset)
            maps = model.members[member].explain(graphs).mean_attention().weights.numpy()
            _write(folder / f"{subject.id}.npz", {"attention": maps.astype(np.float32)})
            progress(i, len(left))


def _write(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    partial = path.with_suffix(".part.npz")  # a killed run leaves no half-written file
    np.savez_compressed(partial, **arrays)  # type: ignore[arg-type]  # the stubs take a name for its own option
    partial.replace(path)


def regional_reliability(
    first: NDArray[np.float64], second: NDArray[np.float64], batches: Sequence[int] | None = None
) -> dict[str, object]:
    """One row of the table: everything of one regional measure over people, shape (n_people, n_regions) each."""
    found = split_half_reliability(first, second, batches=batches, n_boot=N_BOOT, seed=SEED)
    whole = spearman_brown(found.icc)
    return {
        "n_people": found.n_people,
        **_named("within", found.within),
        "whole": found.whole,
        **_named("between", found.between),
        "overlap_within": found.overlap_within.mean,
        "overlap_between": found.overlap_between.mean,
        "identified": found.identified,
        **{f"icc_{name}": np.nanquantile(found.icc, q) for name, q in (("q25", 0.25), ("median", 0.5), ("q75", 0.75))},
        "icc_whole_median": np.nanmedian(whole),
    }


def map_reliability(
    first: NDArray[np.float32], second: NDArray[np.float32], batches: Sequence[int] | None = None
) -> dict[str, object]:
    """The same of whole maps, shape (n_people, n_pairs) each: Pearson correlation over pairs of regions."""
    # Maps have no gaps, and 40,000 pairs for 899 people are too many for anything but one product of matrices.
    likeness = (_standardised(first) @ _standardised(second).T).astype(np.float64)
    likeness[different_batches(len(likeness), batches)] = np.nan
    within, between = within_and_between(likeness, bootstrap_people(len(likeness), N_BOOT, SEED))
    best = np.nanargmax(likeness, axis=1) == np.arange(len(likeness))
    whole = float(spearman_brown(np.array(within.mean)))
    n = len(likeness)
    return {
        "n_people": n, **_named("within", within), "whole": whole, **_named("between", between),
        "identified": best.mean(),
    }  # fmt: skip


def _standardised(maps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of mean 0 and length 1, whose products are their correlations."""
    centred = maps - maps.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.linalg.norm(centred, axis=1, keepdims=True), dtype=np.float32)


def label_reliability(
    first: NDArray[Any], second: NDArray[Any], likeness: Callable[[NDArray[Any], NDArray[Any]], float]
) -> dict[str, object]:
    """Likeness of labels between the halves of one person, and of each with the next in an order drawn at random."""
    order = np.random.default_rng(SEED).permutation(len(first))
    within = [likeness(*pair) for pair in zip(first, second, strict=True)]
    between = [likeness(first[i], second[j]) for i, j in zip(order, np.roll(order, 1), strict=True)]
    draws = np.random.default_rng(SEED).integers(len(first), size=(N_BOOT, len(first)))
    row: dict[str, object] = {"n_people": len(first)}
    for name, values in (("within", np.array(within)), ("between", np.array(between))):
        low, high = np.nanquantile(np.nanmean(values[draws], axis=1), [0.025, 0.975])
        row |= _named(name, Interval(float(np.nanmean(values)), float(low), float(high)))
    return row


def _same_modules(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    both = (one > 0) & (other > 0)  # regions that are in a module in both
    return float(adjusted_mutual_info_score(one[both], other[both]))


def _same_roles(one: NDArray[np.str_], other: NDArray[np.str_]) -> float:
    both = (one != "") & (other != "")
    return float(cohen_kappa_score(one[both], other[both]))


def _named(name: str, interval: Interval) -> dict[str, float]:
    return {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}


def read_people(cohort: Cohort, folder: Path) -> dict[str, NDArray[Any]]:
    """Everything that was measured, by name, shape (n_people, 2, n_regions)."""
    files = [folder / f"{subject.id}.npz" for subject in cohort if (folder / f"{subject.id}.npz").exists()]
    people: list[Mapping[str, NDArray[Any]]] = []
    for file in files:
        with np.load(file, allow_pickle=False) as stored:
            people.append({name: stored[name] for name in stored.files})
    return {name: np.stack([person[name] for person in people]) for name in people[0]}


def cohort_rows(title: str, cohort: Cohort, folder: Path) -> list[dict[str, object]]:
    """All rows of one cohort: regional measures, modules, roles, and the map of connectivity."""
    values = read_people(cohort, folder)
    rows = []
    values.pop("node_entanglement")  # stands among the γ
    for name, halves in values.items():
        row: dict[str, object] = {"cohort": title, "measure": name}
        if name == "module":
            row |= label_reliability(halves[:, 0], halves[:, 1], _same_modules)
        elif name == "role":
            row |= label_reliability(halves[:, 0], halves[:, 1], _same_roles)
        else:
            row |= regional_reliability(halves[:, 0], halves[:, 1])
        rows.append(row)
    done = [subject for subject in cohort if (folder / f"{subject.id}.npz").exists()]
    pairs = np.triu_indices(cohort.atlas.n_regions, 1)
    halves = np.array(
        [[subject_connectivity(half)[pairs] for half in half_subjects(subject)] for subject in done], dtype=np.float32
    )
    rows.append({"cohort": title, "measure": "connectivity map", **map_reliability(halves[:, 0], halves[:, 1])})
    return rows


def attention_rows(data: Path, folder: Path) -> list[dict[str, object]]:
    """The rows of attention: what each region receives, and the map; people are compared within their fold's member."""
    cohort = training_cohort("abide", data)
    fold = {
        cohort.subjects[row].id: number
        for number, split in enumerate(protocol_splits(cohort, "folds", n=FOLDS, seed=SEED))
        for row in split.test
    }
    members = [fold[subject.id] for subject in cohort if (folder / f"{subject.id}.npz").exists()]
    maps = read_people(cohort, folder)["attention"]
    received = np.array([[attention_received(half) for half in person] for person in maps])
    off = ~np.eye(maps.shape[-1], dtype=bool)
    flat = maps[:, :, off]
    title = {"cohort": next(iter(COHORTS))}
    return [
        {**title, "measure": "attention received", **regional_reliability(received[:, 0], received[:, 1], members)},
        {**title, "measure": "attention map", **map_reliability(flat[:, 0], flat[:, 1], members)},
    ]


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Option(help="Folder of what each person's halves gave; outside the repository.")],
    summary_only: Annotated[bool, typer.Option(help="Measure nobody; summarise what is there.")] = False,
) -> None:
    """Measure who is missing, then write the tables."""
    cohorts = {
        title: read_cohort(data / f"{file}_cc200.npz", phenotypes=data / f"{file}_phenotypes.csv")
        for title, file in COHORTS.items()
    }
    if not summary_only:
        measure_attention(data, work / "attention")
        for title, cohort in reversed(cohorts.items()):  # the smaller one first
            measure_people(cohort, work / COHORTS[title])
    rows = []
    for title, cohort in cohorts.items():
        if any((work / COHORTS[title]).glob("*.npz")):  # a run that was stopped may not have come to this cohort
            rows += cohort_rows(title, cohort, work / COHORTS[title])
    rows += attention_rows(data, work / "attention")
    pd.DataFrame(rows).to_csv(HERE / "reliability.csv", index=False, float_format="%.4f")


if __name__ == "__main__":
    typer.run(main)
