"""GAT, SAT with positions and BioBGT on the papers of Cora and Citeseer: the paper's last table.

    python assets/studies/citation_graphs.py DATA WORK [--table]

DATA holds ``cora.npz`` and ``citeseer.npz`` with Planetoid's public split. Every setting is run with seeds 0 and 1, the
one with the best mean validation accuracy with seeds 0 to 9. A run is a line of ``citation_graphs.csv`` beside this
script, written as it ends; run again, the script goes on. NE, modules and positions are kept in the folder WORK.
``--table`` prints the lines of docs/benchmark.md.
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

from biobgt.model.baselines.node_networks import NodeBioBGT, NodeGAT, NodeSAT
from biobgt.training.citation_graphs import (
    Build,
    CitationNetwork,
    NodeTraining,
    chosen_settings,
    fit_nodes,
    read_citations,
)

FILE = Path(__file__).with_name("citation_graphs.csv")
DATA = ("citeseer", "cora")
SEEDS, SEEDS_TO_CHOOSE = 10, 2
GAINS = {"as published": 0.0, "kernel": 1.5}
DROPOUTS, RATES = (0.5, 0.8), (0.005, 0.01)


def _grid() -> dict[tuple[str, str], tuple[Build, NodeTraining]]:
    """By system and name of the settings: how it is built and trained. GAT's are its authors' own."""
    found: dict[tuple[str, str], tuple[Build, NodeTraining]] = {
        ("gat", "as published"): (partial(NodeGAT, dropout=0.6), NodeTraining(epochs=200, patience=100))
    }
    for (kind, gain), dropout, rate in product(GAINS.items(), DROPOUTS, RATES):
        name = f"{kind}, dropout {dropout}, rate {rate}"
        training = NodeTraining(learning_rate=rate, epochs=80, patience=25)
        taught = replace(training, pretraining=60, added=0.1)
        found["sat-pe", name] = (partial(NodeSAT, width=64, layers=1, dropout=dropout, gain=gain), training)
        found["biobgt", name] = (partial(NodeBioBGT, width=64, layers=1, dropout=dropout, gain=gain), taught)
    return found


SETTINGS: Mapping[tuple[str, str], tuple[Build, NodeTraining]] = _grid()
TITLES = {"gat": "GAT", "sat-pe": "SAT with positional encoding", "biobgt": "BioBGT"}
# The paper's F1, accuracy and AUC in percent.
PAPER = {
    ("citeseer", "gat"): "45.5 / 70.0 / 81.1",
    ("citeseer", "sat-pe"): "64.0 / 68.8 / 87.7",
    ("citeseer", "biobgt"): "64.8 / 69.0 / 88.0",
    ("cora", "gat"): "81.0 / 81.7 / 97.4",
    ("cora", "sat-pe"): "81.6 / 82.8 / 94.6",
    ("cora", "biobgt"): "82.0 / 83.1 / 94.6",
}


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the citation networks.")],
    work: Annotated[Path, typer.Argument(help="Folder for NE, modules and positions, outside the project.")],
    table: Annotated[bool, typer.Option(help="Print the table of what is done, and run nothing.")] = False,
) -> None:
    """Run what is missing."""
    if table:
        print(table_lines(chosen_settings(pd.read_csv(FILE))))
        return
    torch.set_num_threads(1)
    networks = {name: read_citations(data / f"{name}.npz", kept=work) for name in DATA}
    for seed in range(SEEDS_TO_CHOOSE):
        for name in DATA:
            for system, settings in SETTINGS:
                run(networks[name], name, system, settings, seed)
    chosen = chosen_settings(pd.read_csv(FILE))[["data", "system", "settings"]].drop_duplicates()
    for seed in range(SEEDS_TO_CHOOSE, SEEDS):
        for name, system, settings in chosen.itertuples(index=False):
            run(networks[name], name, system, settings, seed)


def run(network: CitationNetwork, data: str, system: str, settings: str, seed: int) -> None:
    """Do one run, unless its line is there."""
    where = {"data": data, "system": system, "settings": settings, "seed": seed}
    done = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=list(where))
    if (done[list(where)] == pd.Series(where)).all(axis=1).any():
        return
    build, training = SETTINGS[system, settings]
    start = time.process_time()
    found = fit_nodes(network, build, training, seed=seed)
    line = pd.DataFrame([{**where, **found, "seconds": time.process_time() - start}])
    line.to_csv(FILE, mode="a", header=not FILE.exists(), index=False, float_format="%.4f", lineterminator="\n")


def table_lines(results: pd.DataFrame) -> str:
    """One line of Markdown per network: mean and SD over seeds in percent, beside the paper's."""
    lines = [
        "| | | settings | seeds | F1 | accuracy | AUC | paper: F1 / acc. / AUC |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (data, system, settings), runs in results.groupby(["data", "system", "settings"], sort=False):
        cells = [_spread(runs[name]) for name in ("f1", "accuracy", "auc")]
        start = f"| {str(data).capitalize()} | {TITLES[str(system)]} | {settings} | {len(runs)} "
        lines.append(f"{start}| {' | '.join(cells)} | {PAPER[str(data), str(system)]} |")
    return "\n".join(lines)


def _spread(values: "pd.Series[float]") -> str:
    spread = f" ± {100 * values.std():.1f}" if len(values) > 1 else ""
    return f"{100 * values.mean():.1f}{spread}"


if __name__ == "__main__":
    typer.run(main)
