"""Louvain modules against functional labels, and NC against ASD: the study on all ABIDE subjects.

    python assets/studies/modules.py --data DIR

DIR holds ``abide_cc200.npz`` and ``abide_phenotypes.csv``. Only summaries over subjects are written beside this script.
"""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from biobgt.atlas import LABELLINGS
from biobgt.cli.screen import progress_bar
from biobgt.cohort import Cohort
from biobgt.cohort_tables import CohortModules, analyse_modules
from biobgt.graph import ConnectomeSettings
from biobgt.groups import group_means
from biobgt.groups.cohort_features import CohortFeatures, compare_features
from biobgt.groups.covariates import complete_covariates
from biobgt.modules import compare_modules, module_agreement
from biobgt.modules.module_options import ModuleOptions
from biobgt.readers import read_cohort

HERE = Path(__file__).parent
SETTINGS = {
    "positive, at least 0.3": ConnectomeSettings(),
    "positive, strongest 15 %": ConnectomeSettings(threshold="proportional", level=0.15),
    "signed, all": ConnectomeSettings(sign="signed", threshold="none"),
}
MEASURES = ("modules", "q", "ami dosenbach", "ami paper", "ari dosenbach", "ari paper", "system segregation")
GROUPS = ("NC", "ASD")
TESTED = ("difference", "d", "d_low", "d_high", "p", "p_unadjusted")
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
        subjects.append(group_comparison(result.summary, cohort).assign(graphs=name))
        consensus.append(_consensus_agreement(result, cohort).assign(graphs=name))
    pd.concat(subjects).to_csv(HERE / "abide_modules.csv", index=False, float_format="%.4f")
    pd.concat(consensus).to_csv(HERE / "abide_modules_consensus.csv", index=False, float_format="%.4f")


def group_comparison(summary: pd.DataFrame, cohort: Cohort) -> pd.DataFrame:
    """Mean and SD in each group, and the library's comparison of the two, adjusted for covariates and not.

    Parameters
    ----------
    summary : DataFrame
        Of :class:`biobgt.cohort_tables.CohortModules`: one row per subject, in the order of the cohort.
    cohort : Cohort
        With motion, age, sex and site of everybody.
    """
    measured = CohortFeatures(summary[list(MEASURES)].to_numpy(float), MEASURES, "modules")
    held = complete_covariates(cohort.table())
    found = compare_features(cohort, measured, GROUPS, covariates=held.table, permutations=N_PERMUTATIONS, seed=SEED)
    table = found.table.set_index("feature").loc[list(MEASURES)]
    means = group_means(measured.values, [subject.group for subject in cohort], subjects=cohort.persons)
    columns: dict[str, object] = {"measure": list(MEASURES)}
    for group in GROUPS:
        columns |= {f"{group} mean": means[group].mean, f"{group} sd": means[group].sd}
    columns["n"] = sum(found.n_subjects.values())
    columns |= {name: table[name].to_numpy() for name in TESTED}
    return pd.DataFrame(columns).assign(covariates=", ".join(found.covariates))


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
