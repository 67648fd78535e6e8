"""GAT, SAT with positions, BioBGT and linear models on the papers of Cora and Citeseer: the paper's last table.

    python assets/studies/citation_graphs.py DATA WORK

DATA holds ``cora.npz`` and ``citeseer.npz`` with Planetoid's public split. Every setting is run with seeds 0 and 1, the
one with the best mean validation accuracy with seeds 0 to 9. A run is a line of ``citation_graphs.csv`` beside this
script, written as it ends; run again, the script goes on. NE, modules and positions are kept in the folder WORK.
``benchmark_tables.py`` writes the table of docs/benchmark.md.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated

import pandas as pd
import torch
import typer

from assets.studies.citation_tables import CITATION_METRICS, NETWORKS, SEEDS, SEEDS_TO_CHOOSE, chosen_settings
from assets.studies.citation_training import Build, CitationNetwork, NodeTraining, fit_nodes, read_citations
from assets.studies.node_networks import NodeBioBGT, NodeGAT, NodeLinear, NodeSAT

FILE = Path(__file__).with_name("citation_graphs.csv")
GAINS = {"as published": 0.0, "kernel": 1.5}
DROPOUTS, RATES, DECAYS = (0.5, 0.8, 0.9), (0.0005, 0.001, 0.002, 0.005, 0.01), (5e-4, 5e-5, 5e-6)
WHICH = ["data", "system", "settings", "most_epochs", "seed"]  # what tells runs apart
COLUMNS = [*WHICH, "validation_accuracy", "epoch", *CITATION_METRICS, "parameters", "seconds"]
HOPS = {"words": 0, "sgc": 2}


def _grid() -> dict[tuple[str, str], tuple[Build, NodeTraining]]:
    """By system and name of the settings: how it is built and trained."""
    found: dict[tuple[str, str], tuple[Build, NodeTraining]] = {
        ("gat", "as published"): (partial(NodeGAT, dropout=0.6), NodeTraining(epochs=1000, patience=100))
    }
    for (system, hops), decay in product(HOPS.items(), DECAYS):
        training = NodeTraining(learning_rate=0.2, weight_decay=decay, epochs=100, patience=100)
        found[system, f"weight decay {decay:g}"] = (partial(NodeLinear, hops=hops), training)
    for (kind, gain), dropout, rate in product(GAINS.items(), DROPOUTS, RATES):
        name = f"{kind}, dropout {dropout}, rate {rate}"
        training = NodeTraining(learning_rate=rate, epochs=500, patience=25)
        taught = replace(training, pretraining=60, added=0.1)
        found["sat-pe", name] = (partial(NodeSAT, width=64, layers=1, dropout=dropout, gain=gain), training)
        found["biobgt", name] = (partial(NodeBioBGT, width=64, layers=1, dropout=dropout, gain=gain), taught)
    return found


SETTINGS: Mapping[tuple[str, str], tuple[Build, NodeTraining]] = _grid()


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the citation networks.")],
    work: Annotated[Path, typer.Argument(help="Folder for NE, modules and positions, outside the project.")],
) -> None:
    """Run what is missing."""
    torch.set_num_threads(1)
    networks = {name: read_citations(data / f"{name}.npz", kept=work) for name in NETWORKS}
    for seed in range(SEEDS_TO_CHOOSE):
        for name in NETWORKS:
            for system, settings in SETTINGS:
                run(networks[name], name, system, settings, seed)
    chosen = chosen_settings(pd.read_csv(FILE))[["data", "system", "settings"]].drop_duplicates()
    for seed in range(SEEDS_TO_CHOOSE, SEEDS):
        for name, system, settings in chosen.itertuples(index=False):
            run(networks[name], name, system, settings, seed)


def run(network: CitationNetwork, data: str, system: str, settings: str, seed: int) -> None:
    """Do one run, unless its line is there."""
    build, training = SETTINGS[system, settings]
    which = dict(zip(WHICH, (data, system, settings, training.epochs, seed), strict=True))
    done = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=COLUMNS)
    if (done[WHICH] == pd.Series(which)).all(axis=1).any():
        return
    start = time.process_time()
    found = fit_nodes(network, build, training, seed=seed)
    line = pd.DataFrame([{**which, **found, "seconds": time.process_time() - start}], columns=COLUMNS)
    line.to_csv(FILE, mode="a", header=not FILE.exists(), index=False, float_format="%.4f", lineterminator="\n")


if __name__ == "__main__":
    typer.run(main)
