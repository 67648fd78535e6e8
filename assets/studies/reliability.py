"""How reliable are hub measures, roles, modules and attention? Two halves of every recording, in two cohorts.

    python assets/studies/reliability.py --data DIR --work FOLDER

DIR holds ``abide_cc200.npz``, ``cni2019_cc200.npz`` and their phenotypes. What is measured in each person's halves goes
to FOLDER, one file per person, so that a run that was stopped goes on where it was; it stays out of the repository.
Only what is over people is written beside this script. Graphs are the app's defaults (positive Pearson correlations of
at least 0.3, γ = 0.5, control graph; modules are the best of 10 Louvain runs, seed 0). Attention is that of the shipped
``abide-cc200``, each subject seen by the member that never met it in training. One core, about 50 minutes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from biobgt.analysis import ModuleOptions, find_modules
from biobgt.cli.screen import progress_bar
from biobgt.cohort import Cohort, Subject
from biobgt.connectome import brain_graph, subject_connectivity
from biobgt.hubs.split_half import half_subjects, hub_values
from biobgt.hubs.sweep import measure_hubs
from biobgt.modules import node_roles
from biobgt.readers import read_cohort

HERE = Path(__file__).parent
COHORTS = {"ABIDE": "abide", "CNI-2019": "cni2019"}
MODEL = "abide-cc200"
GAMMAS = (0.1, 0.5, 1.0, 3.0, 10.0, 30.0)  # in units of 1/mean(λ)
GAMMA = 0.5
SEED = 0
OPTIONS = ModuleOptions(seed=SEED)


def measure_half(half: Subject, cohort: Cohort) -> dict[str, NDArray[Any]]:
    """Hub measures, module and role of every region in half a recording, shape (n_regions,) each."""
    graph = brain_graph(half, cohort.atlas)
    hubs = measure_hubs(graph, subject_connectivity(half))
    found: dict[str, NDArray[Any]] = dict(hub_values(hubs, GAMMA))
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
            _write(folder / f"{subject.id}.npz", {name: np.stack([half[name] for half in halves]) for name in halves[0]})
            progress(i, len(left))


def measure_attention(data: Path, folder: Path) -> None:
    """Measure the attention map of both halves of everybody who is missing, by the member that never met them."""
    import torch

    from biobgt.model.inputs import prepare
    from biobgt.model.pretrained import load_pretrained
    from biobgt.training.cohorts import protocol_splits, training_cohort

    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    cohort, model = training_cohort("abide", data), load_pretrained(MODEL, "cpu")
    splits = protocol_splits(cohort, "folds", n=len(model.members), seed=SEED)
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
    np.savez_compressed(partial, **arrays)
    partial.replace(path)


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Option(help="Folder of what each person's halves gave; outside the repository.")],
) -> None:
    """Measure who is missing, then write the tables."""
    cohorts = {
        title: read_cohort(data / f"{file}_cc200.npz", phenotypes=data / f"{file}_phenotypes.csv")
        for title, file in COHORTS.items()
    }
    for title, cohort in cohorts.items():
        measure_people(cohort, work / COHORTS[title])
    measure_attention(data, work / "attention")


if __name__ == "__main__":
    typer.run(main)
