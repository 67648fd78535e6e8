"""Does node entanglement agree with node efficiency beyond strength and degree? Two cohorts, and a decisive experiment.

    python assets/studies/beyond_strength.py --data DIR --work FILE.csv

DIR holds ``abide_cc200.npz`` (global signal regressed out by its makers) and ``cni2019_cc200.npz`` (CompCor, global
signal kept) with their phenotypes. CNI-2019 is measured as released and once more after its global signal was regressed
out: whatever differs between these two is the work of that one step. Every person's rows are appended to FILE.csv as
they are done, so a run that was stopped goes on where it was; FILE.csv names subjects and stays out of the repository.
Only what is over people is written beside this script. One core, about half an hour.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from biobgt.cli.main import progress_bar
from biobgt.data.cohort import Subject
from biobgt.data.connectivity import functional_connectivity, graph_from_connectivity, subject_connectivity
from biobgt.data.graph import ConnectomeSettings, random_graph
from biobgt.data.quality import mean_connectivity
from biobgt.hubs import control_spectra, fc_strength, node_efficiency, vertex_entanglement
from biobgt.hubs.agreement import partial_spearman, rank_agreement, strength_and_degree
from biobgt.hubs.classical import hub_weights
from biobgt.readers import read_cohort

HERE = Path(__file__).parent
REGRESSED = "CNI-2019, global signal regressed"
COHORTS = {"ABIDE": "abide", "CNI-2019": "cni2019", REGRESSED: "cni2019"}
GRAPHS = {
    "at least 0": ConnectomeSettings(level=0.0),
    "at least 0.3": ConnectomeSettings(level=0.3),
    "strongest 15%": ConnectomeSettings(threshold="proportional", level=0.15),
}
GAMMAS = (0.1, 0.5, 1.0, 3.0, 10.0, 30.0)
PEOPLE = 40  # of each cohort, drawn with the seed; the same people of CNI-2019 with and without their global signal
N_NULLS = 3
N_BOOT = 2000
SEED = 0
CONDITION = ["cohort", "graphs", "measure", "gamma", "reference"]
KEYS = ["cohort", "subject"]

Values = NDArray[np.float64]


def without_global_signal(series: Values) -> Values:
    """Regress the mean over regions out of each region's series, shape (n_timepoints, n_regions)."""
    centred = series - series.mean(axis=0)
    silent = ~centred.any(axis=0)
    signal = centred[:, ~silent].mean(axis=1)
    left = centred - np.outer(signal, signal @ centred) / (signal @ signal)
    left[:, silent] = 0
    return left


def study_person(series: Values) -> pd.DataFrame:
    """Every comparison in one person's graphs, and in their null graphs."""
    connectivity = functional_connectivity(series)
    signal = np.asarray((connectivity - np.diag(np.diag(connectivity))).any(axis=1))
    full = fc_strength(connectivity)
    rows = []
    for name, settings in GRAPHS.items():
        graph = hub_weights(graph_from_connectivity(connectivity, settings))
        for null in range(N_NULLS + 1):
            weights = graph if null == 0 else random_graph(graph, seed=SEED + null)
            table = _agreement(weights, signal, full if null == 0 else None, removal=null == 0)
            rows.append(table.assign(graphs=name, null=null, edges=np.count_nonzero(graph) // 2))
    return pd.concat(rows, ignore_index=True)


def _agreement(weights: Values, signal: NDArray[np.bool_], full: Values | None, *, removal: bool) -> pd.DataFrame:
    """One row for each measure, γ and reference in one graph; FC strength is over the graph's own connections."""
    held = strength_and_degree(weights)[:, signal]
    efficiency = node_efficiency(weights)[signal]
    measures = {
        **_changes(weights, signal, removal=removal),
        ("VE", np.nan): -vertex_entanglement(weights)[signal],  # key players have the most negative
        ("NEff", np.nan): efficiency,
    }
    references = {"NEff": efficiency, "strength in the graph": held[0]}
    if full is not None:
        references["FC strength, all connections"] = full[signal]
    values = np.stack(list(measures.values()))
    frames = []
    for reference, known in references.items():
        agreement = rank_agreement(values, known)
        frame = pd.DataFrame(list(measures), columns=["measure", "gamma"]).assign(reference=reference)
        frame["spearman"], frame["overlap"] = agreement["spearman"], agreement["overlap"]
        frame["partial"] = partial_spearman(values, known, held)
        frames.append(frame[frame["measure"] != reference])
    return pd.concat(frames, ignore_index=True)


def _changes(weights: Values, signal: NDArray[np.bool_], *, removal: bool) -> dict[tuple[str, float], Values]:
    """Changes of entropy at every γ: the paper's |ΔS|, ΔS with its sign, and ΔS when a region is removed."""
    found: dict[tuple[str, float], Values] = {}
    for perturbation in ("control", "remove") if removal else ("control",):
        spectra = control_spectra(weights, perturbation=perturbation)
        change = spectra.entropy_change(GAMMAS)[:, signal]
        for gamma, values in zip(GAMMAS, change, strict=True):
            if perturbation == "control":
                found["NE", gamma] = np.abs(values)
                found["ΔS, control", gamma] = values
            else:
                found["ΔS, removal", gamma] = values
    return found


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Option(help="Rows of each person, appended; outside the repository.")],
    summary_only: Annotated[bool, typer.Option(help="Measure nobody; summarise what is there.")] = False,
) -> None:
    """Measure who is missing, then write the summaries."""
    if not summary_only:
        _run_missing(data, work)
    rows = pd.read_csv(work, dtype={"subject": str})
    summarise(rows).to_csv(HERE / "plausibility_beyond_strength.csv", index=False, float_format="%.4f")
    connectivity_range(data).to_csv(HERE / "plausibility_connectivity.csv", index=False, float_format="%.4f")


def _run_missing(data: Path, work: Path) -> None:
    done = set(_done(work))
    jobs = [job for job in _jobs(data) if job[:2] not in done]
    with progress_bar("People") as progress, threadpool_limits(1):
        for i, (cohort, subject, series) in enumerate(jobs, start=1):
            table = study_person(series).assign(cohort=cohort, subject=subject)
            # One write per person, header included: a run that is killed leaves whole people behind.
            text = table.to_csv(index=False, float_format="%.5f", header=not work.exists())
            with work.open("a", encoding="utf-8") as file:
                file.write(text)
            progress(i, len(jobs))


def _done(work: Path) -> Iterator[tuple[str, str]]:
    if work.exists():
        known = pd.read_csv(work, usecols=KEYS, dtype=str).drop_duplicates()
        yield from zip(known["cohort"], known["subject"], strict=True)


def _jobs(data: Path) -> Iterator[tuple[str, str, Values]]:
    """The people of each cohort, drawn with the seed."""
    for cohort, people in _everybody(data).items():
        for place in np.random.default_rng(SEED).permutation(len(people))[:PEOPLE]:
            series = people[place].series
            assert series is not None
            yield cohort, people[place].id, series


def _everybody(data: Path) -> dict[str, list[Subject]]:
    """All subjects of each cohort, with their global signal regressed out where the cohort says so."""
    everybody = {}
    for cohort, file in COHORTS.items():
        people = list(read_cohort(data / f"{file}_cc200.npz", phenotypes=data / f"{file}_phenotypes.csv"))
        if cohort == REGRESSED:
            people = [
                replace(one, series=without_global_signal(one.series)) for one in people if one.series is not None
            ]
        everybody[cohort] = people
    return everybody


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over people with bootstrap intervals over people, own graphs beside null graphs.

    ``partial`` is given strength and degree; ``*_excess`` is the own graph's minus the mean of its null graphs.
    """
    own = rows[rows["null"] == 0]
    nulls = rows[rows["null"] > 0].groupby([*KEYS, *CONDITION[1:]], dropna=False)[["spearman", "partial"]].mean()
    beside = own.join(nulls.add_suffix("_null"), on=[*KEYS, *CONDITION[1:]])
    table = []
    for condition, people in beside.groupby(CONDITION, dropna=False, sort=False):
        row: dict[str, object] = dict(zip(CONDITION, condition, strict=True))
        row |= {"n_people": len(people), "n_nulls": N_NULLS, "overlap": people["overlap"].mean()}
        for kind in ("spearman", "partial"):
            row |= _interval(people[kind], kind) | _interval(people[f"{kind}_null"], f"{kind}_null")
            row |= _interval(people[kind] - people[f"{kind}_null"], f"{kind}_excess")
        table.append(row)
    return pd.DataFrame(table)


def _interval(values: pd.Series, name: str) -> dict[str, float]:
    """Mean, SD over people and 95 % bootstrap interval of the mean."""
    known = values.dropna().to_numpy(float)
    if len(known) < 2:
        return dict.fromkeys((name, f"{name}_sd", f"{name}_low", f"{name}_high"), np.nan)
    draws = np.random.default_rng(SEED).integers(len(known), size=(N_BOOT, len(known)))
    low, high = np.quantile(known[draws].mean(axis=1), [0.025, 0.975])
    return {name: known.mean(), f"{name}_sd": known.std(ddof=1), f"{name}_low": low, f"{name}_high": high}


def connectivity_range(data: Path) -> pd.DataFrame:
    """Where the mean correlation of everybody lies in each cohort, and FC strength over the regions of each person."""
    table = []
    for cohort, subjects in _everybody(data).items():
        values: dict[str, list[float]] = {"mean correlation": [], "lowest FC strength": [], "highest FC strength": []}
        for subject in subjects:
            values["mean correlation"].append(mean_connectivity(subject)[0])
            strength = np.delete(fc_strength(subject_connectivity(subject)), subject.silent_regions)
            values["lowest FC strength"].append(strength.min())
            values["highest FC strength"].append(strength.max())
        for name, known in values.items():
            low, middle, high = np.quantile(known, [0.025, 0.5, 0.975])
            row = {"cohort": cohort, "value": name, "n_people": len(known), "median": middle, "low": low, "high": high}
            table.append({**row, "lowest": min(known), "highest": max(known)})
    return pd.DataFrame(table)


if __name__ == "__main__":
    typer.run(main)
