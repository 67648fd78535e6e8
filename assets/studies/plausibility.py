"""At which scale does node entanglement rise and fall with node efficiency and FC strength? All ABIDE subjects.

    python assets/studies/plausibility.py --data DIR --work FILE.csv

DIR holds ``abide_cc200.npz`` and ``abide_phenotypes.csv``. Every subject's rows are appended to FILE.csv as they are
done, so a run that was stopped goes on where it was; FILE.csv names subjects and stays out of the repository. Only the
summary over subjects is written beside this script. Whether they agree beyond strength and degree is another study:
``beyond_strength.py``.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from biobgt.cli.main import progress_bar
from biobgt.data.cohort import Cohort
from biobgt.data.connectivity import graph_from_connectivity, subject_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs import fc_strength, node_efficiency, rank_agreement, summarise_plausibility
from biobgt.hubs.classical import hub_weights
from biobgt.hubs.entanglement import check_gammas, perturbed_graphs
from biobgt.hubs.measures import FC_STRENGTH, HUB_MEASURES, NEFF, PERTURBATIONS, Perturbation
from biobgt.readers import read_cohort

HERE = Path(__file__).parent
GAMMAS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
LEVELS = (0.0, 0.2, 0.3, 0.4)
SEED = 0


def subject_plausibility(
    connectivity: NDArray[np.float64],
    *,
    subject: str = "",
    gammas: Sequence[float] = GAMMAS,
    levels: Sequence[float] = LEVELS,
    perturbations: Sequence[Perturbation] = tuple(PERTURBATIONS),
) -> pd.DataFrame:
    """Agreement of NE with NEff and FC strength in one subject.

    Parameters
    ----------
    connectivity : ndarray, shape (n, n)
        The full matrix, signs included. Regions without any connection in it (no signal) are left out of the
        comparison: with 0 for every measure they would only feign agreement.
    subject : str
        Goes into the first column.
    gammas : sequence of float
        Diffusion times in units of 1/mean(λ).
    levels : sequence of float
        Absolute thresholds of positive connections.
    perturbations : sequence of {"control", "remove"}

    Returns
    -------
    DataFrame
        One row for each level, perturbation, ``signed`` (ΔS or |ΔS|), γ and reference, with ``spearman``, ``kendall``,
        ``overlap`` and the number of regions compared.
    """
    has_signal = (connectivity - np.diag(np.diag(connectivity))).any(axis=1)
    units = check_gammas(np.asarray(gammas, dtype=np.float64))
    rows: list[dict[str, object]] = []
    for level in levels:
        weights = hub_weights(graph_from_connectivity(connectivity, ConnectomeSettings(level=level), subject=subject))
        references = {
            HUB_MEASURES[NEFF].title: node_efficiency(weights)[has_signal],
            HUB_MEASURES[FC_STRENGTH].title: fc_strength(connectivity)[has_signal],
        }
        where = {"subject": subject, "level": level, "n_regions": int(has_signal.sum())}
        for perturbation in perturbations:
            change = perturbed_graphs(weights, units, perturbation=perturbation).entropy_change(units)[:, has_signal]
            rows += [{**where, "perturbation": perturbation, **row} for row in _comparisons(change, references, units)]
    return pd.DataFrame(rows)


def _comparisons(
    change: NDArray[np.float64],
    references: Mapping[str, NDArray[np.float64]],
    gammas: NDArray[np.float64],
) -> Iterator[dict[str, object]]:
    """Yield one row for each sign convention, reference and γ."""
    for signed, values in ((False, np.abs(change)), (True, change)):
        for name, reference in references.items():
            agreement = rank_agreement(values, reference)
            for i, gamma in enumerate(gammas):
                measures = {measure: float(column[i]) for measure, column in agreement.items()}
                yield {"signed": signed, "gamma": float(gamma), "reference": name, **measures}


def study_subject(subject: str, connectivity: NDArray[np.float64]) -> pd.DataFrame:
    """One subject's agreement over γ, threshold and perturbation."""
    with threadpool_limits(1):  # one process per core is faster than many threads on small matrices
        return subject_plausibility(connectivity, subject=subject)


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Option(help="Rows of each subject, appended; outside the repository.")],
    processes: Annotated[int, typer.Option(help="Processes.")] = 2,
) -> None:
    """Run what is missing, then write the summaries."""
    cohort = read_cohort(data / "abide_cc200.npz", phenotypes=data / "abide_phenotypes.csv")
    _run_missing(cohort, work, processes)
    rows = pd.read_csv(work, dtype={"subject": str})
    groups = rows["subject"].map({subject.id: subject.group for subject in cohort})
    summaries = [summarise_plausibility(rows, seed=SEED).assign(group="all")]
    summaries += [
        summarise_plausibility(rows[groups == name], seed=SEED).assign(group=name) for name in cohort.group_sizes
    ]
    table = pd.concat(summaries)
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
