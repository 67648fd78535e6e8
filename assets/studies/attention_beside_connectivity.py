"""What attention shows that connectivity (FC) of the same regions does not: in blocks, with shuffled groups, as AUC.

    python assets/studies/attention_beside_connectivity.py DATA --runs FOLDER

DATA is the folder of the real cohorts; FOLDER keeps NE, modules and the models trained here, so that a run that was
stopped goes on. How many module blocks differ between groups in attention, in FC, and in attention given FC of the
same block is in ``tests.csv`` of the shipped models. Here, out of fold: how well a logistic regression on the blocks
of either predicts the group on the model's folds. Of the first folds, models are trained again with groups that were
shuffled over all subjects, and asked about the same test subjects. In the simulated progression it is known which
networks fade; that stands in the second table. It writes ``attention_beside_connectivity.csv`` and
``attention_beside_truth.csv`` beside this script, and the key ``attention_study`` of the cards. Seed 0.
"""

import json
from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import torch
import typer
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from biobgt.data.cohort import Cohort
from biobgt.data.connectivity import cohort_connectivity, fisher_z
from biobgt.data.simulate import vulnerability
from biobgt.model.attention import BlockTests, all_block_tests, map_correlation
from biobgt.model.folder import load_card, load_pretrained, model_folder
from biobgt.modules import module_blocks
from biobgt.training.cards import write_card
from biobgt.training.cohorts import Split, protocol_splits, training_cohort
from biobgt.training.folds import LabelledGraphs, group_tests, label_graphs, out_of_fold_attention, train_members

TABLE = Path(__file__).with_name("attention_beside_connectivity.csv")
TRUTH = Path(__file__).with_name("attention_beside_truth.csv")
SEED = 0
# Folds that are trained again with shuffled groups; the table and the cards say how many.
SHUFFLED_FOLDS = {"abide-cc200": 2, "adsim-aal90": 3, "cni-adhd-cc200": 0}


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the real cohorts.")],
    runs: Annotated[Path, typer.Option(help="Folder for NE, modules and what is trained.")],
    model: Annotated[list[str] | None, typer.Option(help="Measure these models alone. Default: all.")] = None,
    cards_only: Annotated[bool, typer.Option("--cards-only", help="Only put the table's rows on the cards.")] = False,
) -> None:
    """Measure the shipped models of one cohort each."""
    torch.set_num_threads(1)
    for name in model or SHUFFLED_FOLDS:
        if not cards_only:
            known = pd.DataFrame({"model": name, **row} for row in _measured(name, data, runs, SHUFFLED_FOLDS[name]))
            if TABLE.exists():
                other = pd.read_csv(TABLE)
                known = pd.concat([other[other["model"] != name], known]).sort_values("model", kind="stable")
            known.to_csv(TABLE, index=False, float_format="%.4f")
        known, folder = pd.read_csv(TABLE), model_folder(name)
        card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
        rows = known[known["model"] == name].to_dict("records")
        write_card(folder, {**card, "attention_study": [_as_card(row) for row in rows]})


def _as_card(row: dict[Hashable, Any]) -> dict[str, Any]:
    """A row of the table as a card holds it."""
    numbers = ("auc_attention", "auc_connectivity", "map_correlation", "difference_correlation")
    found: dict[str, Any] = {name: None if pd.isna(row[name]) else round(row[name], 4) for name in numbers}
    counts = {name: int(row[name]) for name in ("shuffled_folds", "shuffled_subjects")}
    return {"between": row["between"], **found, **counts}


def _measured(name: str, data: Path, runs: Path, folds: int) -> Iterator[dict[str, Any]]:
    cohort, prepared, splits, members = prepared_model(name, data, runs)
    attention, _ = out_of_fold_attention(members, prepared, splits)
    tests = _compared(cohort, prepared, attention)
    rows = np.sort(np.concatenate([split.test for split in splits[:folds]])) if folds else np.array([], dtype=np.int64)
    both: list[list[BlockTests]] = [[], []]
    same_maps = np.nan
    if folds:
        trained = shuffled_members(prepared, splits, members[0].preset, folder=runs / "shuffled" / name, folds=folds)
        shuffled = np.full_like(attention, np.nan)
        for member, split in zip(trained, splits[:folds], strict=True):
            shuffled[split.test] = out_of_fold_attention([member], prepared, [split])[0][split.test]
        some = replace(cohort, subjects=tuple(cohort.subjects[row] for row in rows))
        both = [_compared(some, prepared.select(rows), maps[rows]) for maps in (attention, shuffled)]
        same_maps = map_correlation(attention[rows].mean(axis=0), shuffled[rows].mean(axis=0))
    if name == "adsim-aal90":
        _truth(data, cohort, tests).to_csv(TRUTH, index=False, float_format="%.4f")
    for number, one in enumerate(tests):
        again = [found[number] for found in both if found]
        yield {
            "between": " - ".join(one.between),
            "auc_attention": _auc(cohort, prepared, splits, one, attention),
            "auc_connectivity": _auc(cohort, prepared, splits, one, np.stack([*map(fisher_z, prepared.matrices)])),
            "shuffled_folds": folds,
            "shuffled_subjects": len(rows),
            "map_correlation": same_maps,
            "difference_correlation": _same_differences(*again) if again else np.nan,
        }


def prepared_model(name: str, data: Path, runs: Path) -> tuple[Cohort, LabelledGraphs, tuple[Split, ...], Any]:
    """A shipped model's cohort, graphs, folds and members."""
    card, ensemble = load_card(name), load_pretrained(name, "cpu")
    seed = card["training"]["seed"]
    cohort = training_cohort(card["data"]["cohort"], data, seed=seed)
    prepared = label_graphs(cohort, ensemble.preset, kept=runs / "features")
    return cohort, prepared, protocol_splits(cohort, "folds", n=len(ensemble.members), seed=seed), ensemble.members


def shuffled_members(
    prepared: LabelledGraphs, splits: tuple[Split, ...], preset: Any, *, folder: Path, folds: int
) -> Any:
    """Members of the first folds, trained as the shipped ones on groups that were shuffled over all subjects."""
    labels = np.random.default_rng(SEED).permutation(prepared.labels)
    shuffled = replace(prepared, labels=labels)
    return train_members(shuffled, splits[:folds], preset, folder=folder, seed=SEED, resume=True, progress=print)


def _compared(cohort: Cohort, prepared: LabelledGraphs, attention: NDArray[np.float32]) -> list[BlockTests]:
    """The tests of controls against every other group."""
    pairs = [(prepared.groups[0], group) for group in prepared.groups[1:]]
    return all_block_tests(group_tests(cohort, prepared, attention, pairs=pairs), cohort.group_people)


def _same_differences(one: BlockTests, other: BlockTests) -> float:
    """How effect sizes of two models correlate over blocks, not adjusted for overall connectivity."""
    column = "d_without_connectivity" if "d_without_connectivity" in one.blocks else "d"
    return float(one.blocks[column].corr(other.blocks[column]))


def _auc(
    cohort: Cohort, prepared: LabelledGraphs, splits: tuple[Split, ...], tests: BlockTests, matrices: NDArray[Any]
) -> float:
    """Of a logistic regression on the blocks of all module pairs, out of fold."""
    blocks = module_blocks(matrices, cohort.atlas.labelling(next(iter(cohort.atlas.labels)))).values
    values = blocks.reshape(len(blocks), -1)
    values = values[:, np.isfinite(values).all(axis=0)]
    patients = prepared.labels == prepared.groups.index(tests.between[1])
    chosen = patients | (prepared.labels == prepared.groups.index(tests.between[0]))
    found = np.full(len(values), np.nan)
    for split in splits:
        train = np.concatenate([split.train, split.validation])
        train, test = train[chosen[train]], split.test[chosen[split.test]]
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(values[train], patients[train])
        found[test] = model.decision_function(values[test])
    return float(roc_auc_score(patients[chosen], found[chosen]))


def _truth(data: Path, cohort: Cohort, tests: list[BlockTests]) -> pd.DataFrame:
    """How much each network fades by construction, beside what attention and FC within it say of AD."""
    controls = training_cohort("abide", data, atlas="aal90", seed=SEED).group("NC")
    fades = vulnerability(cohort_connectivity(controls).mean(axis=0), cohort.atlas)
    labels = np.array([label or "" for label in cohort.atlas.labelling(next(iter(cohort.atlas.labels)))])
    blocks = tests[-1].blocks.set_index("feature")
    rows = []
    for network in sorted(set(labels) - {""}):
        columns = ["d", "q", "d_of_fc", "q_of_fc", "d_given_fc", "q_given_fc"]
        own = blocks.reindex([f"{network} → {network}"])[columns].iloc[0].to_dict()
        rows.append({"network": network, "vulnerability": float(fades[labels == network].mean()), **own})
    given = tests[-1].blocks
    left = given[given["q_given_fc"] <= 0.05]
    return pd.DataFrame(rows).assign(left_given_fc="; ".join(left["feature"]))


if __name__ == "__main__":
    typer.run(main)
