"""Louvain modules against functional labels, and NC against ASD: the study on all ABIDE subjects.

    python assets/studies/modules.py --data DIR --work FOLDER

DIR holds ``abide_cc200.npz`` and ``abide_phenotypes.csv``. At resolution 1 all subjects are measured and the groups
compared; at ``OTHER_RESOLUTIONS``, ``PER_GROUP`` subjects of each group, drawn once. What is done is a file in
FOLDER; run again, the rest follows. Only summaries over subjects are written beside this script.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from biobgt.cli.main import progress_bar
from biobgt.data.cohort import Cohort, average_by_person
from biobgt.data.graph import ConnectomeSettings
from biobgt.groups.features import CohortFeatures, compare_features
from biobgt.inference.covariates import complete_covariates
from biobgt.modules import compare_modules, module_agreement
from biobgt.modules.measures import ModuleOptions
from biobgt.readers import read_cohort
from biobgt.results.tables import analyse_modules

HERE = Path(__file__).parent
SETTINGS = {
    "positive, at least 0.3": ConnectomeSettings(),
    "positive, strongest 15 %": ConnectomeSettings(threshold="proportional", level=0.15),
    "signed, all": ConnectomeSettings(sign="signed", threshold="none"),
}
LABELS = ("dosenbach", "paper", "yeo7", "yeo17")
AGREEMENTS = [f"{measure} {labels}" for measure in ("ami", "ari") for labels in LABELS]
MEASURES = ("modules", "q", *AGREEMENTS, "system segregation")
GROUPS = ("NC", "ASD")
OTHER_RESOLUTIONS = (0.5, 0.6, 0.8, 1.2, 1.4, 1.6, 1.8, 2.0)
PER_GROUP = 30
TESTED = ("difference", "d", "d_low", "d_high", "p", "p_unadjusted")
N_PERMUTATIONS = 10_000
SEED = 0


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Option(help="Folder for what is done, outside the project.")],
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
) -> None:
    """Find every subject's modules and write the group tables."""
    cohort = read_cohort(data / "abide_cc200.npz", phenotypes=data / "abide_phenotypes.csv")
    some = drawn_subjects(cohort)
    work.mkdir(parents=True, exist_ok=True)
    measured, consensus = [], []
    for name, settings in SETTINGS.items():
        summary, groups = _found(cohort, name, settings, 1.0, work, workers)
        measured.append(group_comparison(summary, cohort).assign(graphs=name, resolution=1.0))
        consensus.append(_consensus_agreement(groups, cohort).assign(graphs=name))
    for name, settings in SETTINGS.items():
        for resolution in OTHER_RESOLUTIONS:
            summary, _ = _found(some, name, settings, resolution, work, workers)
            measured.append(group_spread(summary, some).assign(graphs=name, resolution=resolution))
    pd.concat(measured).to_csv(HERE / "abide_modules.csv", index=False, float_format="%.4f")
    pd.concat(consensus).to_csv(HERE / "abide_modules_consensus.csv", index=False, float_format="%.4f")


def drawn_subjects(cohort: Cohort) -> Cohort:
    """``PER_GROUP`` subjects of each group, drawn with the study's seed."""
    drawn = np.random.default_rng(SEED).permutation(len(cohort))
    groups = [cohort.subjects[i].group for i in drawn]
    chosen = [i for group in GROUPS for i in drawn[[one == group for one in groups]][:PER_GROUP]]
    return replace(cohort, subjects=tuple(cohort.subjects[i] for i in sorted(chosen)))


def _found(
    cohort: Cohort, name: str, settings: ConnectomeSettings, resolution: float, work: Path, workers: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every subject's measures, and the groups' modules; taken from the folder where they are done."""
    files = [work / f"{name.replace(' ', '_')}_{resolution}_{of}.csv" for of in ("subjects", "groups")]
    if not files[1].exists():
        options = ModuleOptions(seed=SEED, resolution=resolution)
        with progress_bar(f"{name}, resolution {resolution}") as progress:
            result = analyse_modules(cohort, settings, options, workers=workers, progress=progress)
        result.summary.to_csv(files[0], index=False)
        result.groups.to_csv(files[1], index=False)
    return pd.read_csv(files[0]), pd.read_csv(files[1])


def group_spread(summary: pd.DataFrame, cohort: Cohort) -> pd.DataFrame:
    """Mean and SD of every measure in each group.

    Parameters
    ----------
    summary : DataFrame
        Of :func:`biobgt.results.tables.analyse_modules`: one row per subject, in the order of the cohort.
    cohort : Cohort
    """
    values, persons = summary[list(MEASURES)].to_numpy(float), np.array(cohort.persons)
    columns: dict[str, object] = {"measure": list(MEASURES)}
    for group in GROUPS:
        rows = [subject.group == group for subject in cohort]
        each = average_by_person(values[rows], persons[rows].tolist())
        mean, sd = each.mean(axis=0), each.std(axis=0, ddof=1)
        columns |= {f"{group} mean": mean, f"{group} sd": sd, f"n {group}": len(each)}
    return pd.DataFrame(columns)


def group_comparison(summary: pd.DataFrame, cohort: Cohort) -> pd.DataFrame:
    """The spread in each group, and the library's comparison of the two, adjusted for covariates and not.

    Parameters
    ----------
    summary : DataFrame
        As for :func:`group_spread`.
    cohort : Cohort
        With motion, age, sex and site of everybody.
    """
    measured = CohortFeatures(summary[list(MEASURES)].to_numpy(float), MEASURES, "modules")
    held = complete_covariates(cohort.table())
    found = compare_features(cohort, measured, GROUPS, covariates=held.table, permutations=N_PERMUTATIONS, seed=SEED)
    tested = found.table.set_index("feature").loc[list(MEASURES), list(TESTED)].reset_index(drop=True)
    return group_spread(summary, cohort).join(tested).assign(covariates=", ".join(found.covariates))


def _consensus_agreement(groups: pd.DataFrame, cohort: Cohort) -> pd.DataFrame:
    """Each group's consensus modules against the functional labels and against each other."""
    rows = []
    for group in cohort.group_sizes:
        labels = groups[group].to_numpy()
        for labelling in LABELS:
            agreement = module_agreement(labels, cohort.atlas, labelling)
            rows.append(
                {"modules of": group, "against": labelling, "n_modules": len(set(labels) - {0}), **_as_row(agreement)}
            )
    between = compare_modules(groups["ASD"].to_numpy(), [label or None for label in groups["NC"]])
    rows.append({"modules of": "ASD", "against": "NC", **_as_row(between)})
    return pd.DataFrame(rows)


def _as_row(agreement: object) -> dict[str, float]:
    return {name: getattr(agreement, name) for name in ("ami", "ari", "vi", "n_compared", "n_unlabelled")}


if __name__ == "__main__":
    typer.run(main)
