"""Louvain modules against functional labels, and NC against ASD: the study on all ABIDE subjects.

    python assets/studies/modules.py --data DIR

DIR holds ``abide_cc200.npz`` and ``abide_phenotypes.csv``. Only summaries over subjects are written beside this script.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from biobgt.analysis import CohortModules, ModuleOptions, analyse_modules
from biobgt.atlas import LABELLINGS
from biobgt.cli.screen import progress_bar
from biobgt.cohort import Cohort
from biobgt.graph import ConnectomeSettings
from biobgt.modules import compare_modules, module_agreement
from biobgt.readers import read_cohort

HERE = Path(__file__).parent
SETTINGS = {
    "positive, at least 0.3": ConnectomeSettings(),
    "positive, strongest 15 %": ConnectomeSettings(threshold="proportional", level=0.15),
    "signed, all": ConnectomeSettings(sign="signed", threshold="none"),
}
MEASURES = ("modules", "q", "ami dosenbach", "ami paper", "ari dosenbach", "ari paper", "system segregation")
N_PERMUTATIONS = 10_000
SEED = 0


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")],
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
) -> None:
    """Find every subject's modules and write the group tables."""
    cohort = read_cohort(data / "abide_cc200.npz", phenotypes=data / "abide_phenotypes.csv")
    subjects, consensus = [], []
    for name, settings in SETTINGS.items():
        with progress_bar(name) as progress:
            result = analyse_modules(cohort, settings, ModuleOptions(seed=SEED), workers=workers, progress=progress)
        subjects.append(_group_comparison(result.summary, cohort).assign(graphs=name))
        consensus.append(_consensus_agreement(result, cohort).assign(graphs=name))
    pd.concat(subjects).to_csv(HERE / "abide_modules.csv", index=False, float_format="%.4f")
    pd.concat(consensus).to_csv(HERE / "abide_modules_consensus.csv", index=False, float_format="%.4f")


def _group_comparison(summary: pd.DataFrame, cohort: Cohort) -> pd.DataFrame:
    """Mean and SD in each group, and their difference and its p with motion, age, sex and site held."""
    design = _covariates(cohort)
    is_patient = (summary["group"] == "ASD").to_numpy(float)
    rows = []
    for measure in MEASURES:
        values = summary[measure].to_numpy(float)
        known = np.isfinite(values) & np.isfinite(design).all(axis=1)
        adjusted = _difference(values[known], is_patient[known], design[known])
        rows.append(
            {
                "measure": measure,
                **{
                    f"{group} {name}": function(values[(summary["group"] == group) & np.isfinite(values)])
                    for group in ("NC", "ASD")
                    for name, function in (("mean", np.mean), ("sd", np.std))
                },
                "n": int(known.sum()),
                "difference": adjusted[0],
                "p": adjusted[1],
            }
        )
    return pd.DataFrame(rows)


def _covariates(cohort: Cohort) -> NDArray[np.float64]:
    """Motion, age, sex and one column a site, shape (n_subjects, n_covariates)."""
    table = cohort.table()
    sites = pd.get_dummies(table["site"], drop_first=True).to_numpy(float)
    sex = (table["sex"] == "M").to_numpy(float)[:, None]
    return np.hstack([table[["mean_fd", "age"]].to_numpy(float), sex, sites, np.ones((len(table), 1))])


def _difference(
    values: NDArray[np.float64], is_patient: NDArray[np.float64], design: NDArray[np.float64]
) -> tuple[float, float]:
    """ASD minus NC with covariates held, and its two-sided permutation p (Freedman & Lane 1983)."""
    rng = np.random.default_rng(SEED)
    projection = design @ np.linalg.pinv(design)
    residual = values - projection @ values
    contrast = is_patient - projection @ is_patient
    scale = contrast @ contrast
    observed = float(contrast @ residual / scale)
    permuted = np.array([contrast @ rng.permutation(residual) / scale for _ in range(N_PERMUTATIONS)])
    return observed, float((1 + np.count_nonzero(np.abs(permuted) >= abs(observed))) / (1 + N_PERMUTATIONS))


def _consensus_agreement(result: CohortModules, cohort: Cohort) -> pd.DataFrame:
    """Each group's consensus modules against the functional labels and against each other."""
    rows = []
    for group in cohort.group_sizes:
        labels = result.groups[group].to_numpy()
        for labelling in LABELLINGS:
            agreement = module_agreement(labels, cohort.atlas, labelling)
            rows.append(
                {"modules of": group, "against": labelling, "n_modules": len(set(labels) - {0}), **_as_row(agreement)}
            )
    between = compare_modules(result.groups["ASD"].to_numpy(), [label or None for label in result.groups["NC"]])
    rows.append({"modules of": "ASD", "against": "NC", **_as_row(between)})
    return pd.DataFrame(rows)


def _as_row(agreement: object) -> dict[str, float]:
    return {name: getattr(agreement, name) for name in ("ami", "ari", "vi", "n_compared", "n_unlabelled")}


if __name__ == "__main__":
    typer.run(main)
