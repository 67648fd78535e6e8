"""Why one group's mean attention looks sharper than another's: a few people, overall connectivity, or the group.

    python assets/studies/attention_spread.py DATA [--model cni-adhd-cc200] [--features FOLDER]

Every subject is seen by the member whose training left it out. Its contrast is the mean over heads of attention within
over between its own Louvain modules. Written beside this script, one line per group or candidate and no line of a
subject: ``attention_spread.csv``, how the contrasts of each group spread; ``attention_spread_causes.csv``, how each
candidate (mean FC, mean |FC|, density of the graph, number of modules, size of the largest module, age) goes with the
contrast over all subjects, differs between groups, and what is left of the groups' difference in contrast, and in its
logarithm, once it is adjusted for (permutation tests, seed 0). The model's folder gets ``spread.npz``, which the page
Attention shows. Nothing is trained.
"""

from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import torch
import typer
from numpy.typing import NDArray
from scipy.stats import spearmanr, trim_mean

from biobgt.data.cohort import Cohort
from biobgt.groups import compare_groups
from biobgt.model.attention import people_summary
from biobgt.model.folder import load_card, load_pretrained, model_folder
from biobgt.model.group_results import TRIMMED, load_groups
from biobgt.training.cards import measure_again
from biobgt.training.cohorts import join_training_cohorts, protocol_splits, training_cohort
from biobgt.training.folds import LabelledGraphs, check_same_attention, label_graphs, out_of_fold_attention

SPREAD = Path(__file__).with_name("attention_spread.csv")
CAUSES = Path(__file__).with_name("attention_spread_causes.csv")
PERMUTATIONS = 5000


def candidates(cohort: Cohort, data: LabelledGraphs) -> pd.DataFrame:
    """What could make a subject's attention sharp, one row per subject."""
    off = ~np.eye(data.matrices.shape[1], dtype=bool)
    connections = data.matrices[:, off].astype(np.float64)
    modules = data.graphs.modules.numpy()
    sizes = [np.bincount(own[own > 0]) for own in modules]
    return pd.DataFrame(
        {
            "mean FC": connections.mean(axis=1),
            "mean |FC|": np.abs(connections).mean(axis=1),
            "density of the graph": (data.graphs.weights.numpy()[:, off] > 0).mean(axis=1),
            "number of modules": [int((own > 0).sum()) for own in sizes],
            "size of the largest module": [int(own.max()) for own in sizes],
            "age": pd.to_numeric(cohort.table()["age"]),
        }
    )


def spread_table(
    model: str, data: LabelledGraphs, contrasts: NDArray[np.float64], fc: NDArray[np.float64]
) -> pd.DataFrame:
    """How the contrasts of each group spread."""
    rows = []
    for label, group in enumerate(data.groups):
        own = data.labels == label
        ratios = np.sort(contrasts[own])
        summary = people_summary(np.column_stack([contrasts[own], fc[own]]))
        rows.append(
            {
                "model": model,
                "group": group,
                "n": len(ratios),
                "mean": ratios.mean(),
                "median": summary.median,
                "trimmed_mean": trim_mean(ratios, TRIMMED),
                "sd": ratios.std(ddof=1),
                "lowest": ratios[0],
                "highest": ratios[-1],
                "share_of_top_tenth": summary.top_share,
                "mean_without_top_tenth": ratios[: len(ratios) - max(1, round(0.1 * len(ratios)))].mean(),
            }
        )
    return pd.DataFrame(rows)


def causes_table(model: str, data: LabelledGraphs, contrasts: NDArray[np.float64], known: pd.DataFrame) -> pd.DataFrame:
    """Each candidate beside the contrast, and what is left of the groups' difference once it is adjusted for."""
    groups = [data.groups[label] for label in data.labels]
    between = (data.groups[0], data.groups[1])
    compare = partial(
        compare_groups, groups=groups, subjects=data.persons, between=between, permutations=PERMUTATIONS, seed=0
    )
    both = np.column_stack([contrasts, np.log(contrasts)])
    rows = []
    for name in ["none", *known]:
        covariate = None if name == "none" else known[[name]]
        left = compare(both, covariates=covariate, features=["ratio", "log"]).table
        row = {"model": model, "between": " - ".join(between), "candidate": name}
        if covariate is not None:
            row["spearman_with_contrast"] = float(spearmanr(contrasts, known[name]).statistic)
            own = compare(covariate.to_numpy(dtype=float), features=[name]).table.iloc[0]
            row |= {"candidate_d": own["d"], "candidate_p": own["p"]}
        for what, found in zip(("contrast", "log_contrast"), left.to_dict("records"), strict=True):
            row |= {f"{what}_d": found["d"], f"{what}_p": found["p"]}
        rows.append(row)
    return pd.DataFrame(rows)


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the real cohorts.")],
    model: Annotated[str, typer.Option(help="A shipped model of one cohort.")] = "cni-adhd-cc200",
    features: Annotated[Path | None, typer.Option(help="Folder where NE and modules are kept.")] = None,
) -> None:
    """Find out what makes one group's mean map look sharper."""
    torch.set_num_threads(1)
    card, ensemble = load_card(model), load_pretrained(model, "cpu")
    seed = card["training"]["seed"]
    cohort = training_cohort(card["data"]["cohort"], data, atlas=card["atlas"], seed=seed)
    prepared = label_graphs(cohort, ensemble.preset, kept=features)
    splits = protocol_splits(cohort, "folds", n=len(ensemble.members), seed=seed)
    attention, contrasts = out_of_fold_attention(ensemble.members, prepared, splits)
    check_same_attention(attention, prepared, load_groups(model))
    measure_again(model_folder(model), join_training_cohorts([cohort]), prepared, attention, contrasts)
    known = candidates(cohort, prepared)
    spread = spread_table(model, prepared, contrasts, known["mean |FC|"].to_numpy())
    spread.to_csv(SPREAD, index=False, float_format="%.4f")
    causes_table(model, prepared, contrasts, known).to_csv(CAUSES, index=False, float_format="%.4f")


if __name__ == "__main__":
    typer.run(main)
