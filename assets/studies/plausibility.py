"""At which scale does node entanglement rise and fall with node efficiency and FC strength? All ABIDE subjects.

    python assets/studies/plausibility.py --data DIR --work FILE.csv

DIR holds ``abide_cc200.npz`` and ``abide_phenotypes.csv``. Every subject's rows are appended to FILE.csv as they are
done, so a run that was stopped goes on where it was; FILE.csv names subjects and stays out of the repository. Only the
summary over subjects is written beside this script. Whether they agree beyond strength and degree is another study:
``beyond_strength.py``.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from biobgt.cli.screen import progress_bar
from biobgt.cohort import Cohort
from biobgt.connectome import subject_connectivity
from biobgt.hubs import subject_plausibility, summarise_plausibility
from biobgt.readers import read_cohort

HERE = Path(__file__).parent
GAMMAS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
LEVELS = (0.0, 0.2, 0.3, 0.4)
SEED = 0


def study_subject(subject: str, connectivity: NDArray[np.float64]) -> pd.DataFrame:
    """One subject's agreement over γ, threshold and perturbation."""
    with threadpool_limits(1):  # one process per core is faster than many threads on small matrices
        return subject_plausibility(connectivity, subject=subject, gammas=GAMMAS, levels=LEVELS)


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Option(help="Rows of each subject, appended; outside the repository.")],
    processes: Annotated[int, typer.Option(help="Processes.")] = 2,
) -> None:
    """Run what is missing, then write the summaries."""
    cohort = read_cohort(data / "abide_cc200.npz", phenotypes=data / "abide_phenotypes.csv")
    _run_missing(cohort, work, processes)
    rows = pd.read_csv(work, dtype={"subject": str})
    own = rows[rows["null"] == 0]
    groups = own["subject"].map({subject.id: subject.group for subject in cohort})
    summaries = [summarise_plausibility(own, seed=SEED).assign(group="all")]
    summaries += [
        summarise_plausibility(own[groups == name], seed=SEED).assign(group=name) for name in cohort.group_sizes
    ]
    table = pd.concat(summaries).drop(columns=["null_mean", "excess", "excess_low", "excess_high"])
    table.to_csv(HERE / "abide_plausibility.csv", index=False, float_format="%.4f")


def _run_missing(cohort: Cohort, work: Path, processes: int) -> None:
    done = set(pd.read_csv(work, usecols=["subject"], dtype=str)["subject"]) if work.exists() else set()
    jobs = [job for job in _jobs(cohort) if job[0] not in done]
    with progress_bar("Subjects") as progress, ProcessPoolExecutor(processes) as pool:
        futures = [pool.submit(study_subject, *job) for job in jobs]
        for i, future in enumerate(as_completed(futures), start=1):
            future.result().to_csv(work, mode="a", header=not work.exists(), index=False, float_format="%.6f")
            progress(i, len(jobs))


def _jobs(cohort: Cohort) -> Iterator[tuple[str, NDArray[np.float64]]]:
    for subject in cohort:
        yield subject.id, subject_connectivity(subject)


if __name__ == "__main__":
    typer.run(main)
