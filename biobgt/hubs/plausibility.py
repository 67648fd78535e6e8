"""Plausibility: whether node entanglement agrees with node efficiency and FC strength, and at which scale.

The paper's claim (section 4.5, appendices D.3-D.4) is that NE rises and falls with NEff and with FC strength. It
is tested here and not assumed: over diffusion times γ, thresholds and perturbations, for NE with and without its
sign, and against null graphs that keep every region's degree and, closely, its strength. What is left once strength
and degree are held is in :mod:`biobgt.hubs.beyond_strength`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.connectome import graph_from_connectivity, subject_connectivity
from biobgt.errors import InputError
from biobgt.graph import BrainGraph, ConnectomeSettings
from biobgt.hubs.agreement import rank_agreement
from biobgt.hubs.centrality import fc_strength
from biobgt.hubs.efficiency import node_efficiency
from biobgt.hubs.entropy import check_gammas
from biobgt.hubs.hub_options import DEFAULT_SHARE
from biobgt.hubs.measures import FC_STRENGTH, HUB_MEASURES, NEFF
from biobgt.hubs.perturbation import PERTURBATIONS, Perturbation
from biobgt.hubs.perturbed_graphs import perturbed_graphs
from biobgt.hubs.plausibility_summary import compare_with_nulls, summarise_plausibility
from biobgt.hubs.weights import full_connectivity, hub_weights
from biobgt.nulls import random_graph

FEW_GAMMAS: tuple[float, ...] = (0.1, 0.3, 0.5, 1.0, 3.0, 10.0, 30.0)
LEVELS: tuple[float, ...] = (0.0, 0.2, 0.3, 0.4)
BOTH_PERTURBATIONS: tuple[Perturbation, ...] = tuple(PERTURBATIONS)


@dataclass(frozen=True, eq=False)
class Plausibility:
    """Agreement of node entanglement with node efficiency and with FC strength.

    Attributes
    ----------
    subjects : DataFrame
        Every subject's agreement, as :func:`subject_plausibility` gives it.
    summary : DataFrame
        Over people, with bootstrap intervals: see :func:`summarise_plausibility`.
    nulls : DataFrame
        Each subject against its own null graphs: see :func:`compare_with_nulls`. Empty where none was drawn.
    """

    subjects: pd.DataFrame
    summary: pd.DataFrame
    nulls: pd.DataFrame


def plausibility(
    data: Cohort | BrainGraph,
    *,
    gammas: Sequence[float] = FEW_GAMMAS,
    levels: Sequence[float] = LEVELS,
    perturbations: Sequence[Perturbation] = BOTH_PERTURBATIONS,
    settings: ConnectomeSettings | None = None,
    connectivity: NDArray[np.float64] | None = None,
    top: float = DEFAULT_SHARE,
    n_nulls: int = 0,
    n_boot: int = 2000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Plausibility:
    """Test the paper's claim on a cohort or on one graph.

    Parameters
    ----------
    data : Cohort or BrainGraph
        A graph is taken as it is: its own threshold is the only level.
    gammas, levels, perturbations, settings, top, n_nulls, seed
        As in :func:`subject_plausibility`; ``levels`` and ``settings`` are for a cohort.
    connectivity : ndarray, shape (n, n), optional
        For a graph: the full connectivity behind it, for FC strength. Without it the graph's own weights serve.
    n_boot : int
        Bootstrap samples of people.
    progress : callable, optional
        Told (done, total) after each subject.

    Returns
    -------
    Plausibility
    """
    if isinstance(data, BrainGraph):
        frames = [_one_graph(data, connectivity, gammas, perturbations, top, n_nulls, seed)]
    else:
        frames = []
        for i, subject in enumerate(data):
            frame = subject_plausibility(
                subject_connectivity(subject, estimator=(settings or ConnectomeSettings()).estimator),
                subject=subject.id,
                gammas=gammas,
                levels=levels,
                perturbations=perturbations,
                settings=settings,
                top=top,
                n_nulls=n_nulls,
                seed=seed,
            )
            frames.append(frame)
            if progress is not None:
                progress(i + 1, len(data))
    if not frames:
        raise InputError("The cohort is empty; plausibility needs at least one subject.")
    subjects = pd.concat(frames, ignore_index=True)
    summary = summarise_plausibility(subjects, n_boot=n_boot, seed=seed)
    return Plausibility(subjects=subjects, summary=summary, nulls=compare_with_nulls(subjects))


def subject_plausibility(
    connectivity: NDArray[np.float64],
    *,
    subject: str = "",
    gammas: Sequence[float] = FEW_GAMMAS,
    levels: Sequence[float] = LEVELS,
    perturbations: Sequence[Perturbation] = BOTH_PERTURBATIONS,
    settings: ConnectomeSettings | None = None,
    top: float = DEFAULT_SHARE,
    n_nulls: int = 0,
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement of NE with NEff and FC strength in one subject: a pure function, to be run subject by subject.

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
        Threshold levels, put into ``settings`` one after another.
    perturbations : sequence of {"control", "remove"}
    settings : ConnectomeSettings, optional
        Sign rule and kind of threshold; positive connections and an absolute threshold by default.
    top : float
        Share of the regions that are compared as hubs.
    n_nulls : int
        Null graphs for each level, with the graph's degrees and closely its strengths; every one costs as much as
        the graph itself. A null graph has no full connectivity: it is compared with the graph in ``strength in the
        graph``, the mean of a graph's own weights, which both have, and not in FC strength.
    seed : int
        For the null graphs.

    Returns
    -------
    DataFrame
        One row for each level, ``null`` (0 is the subject's own graph), perturbation, ``signed`` (ΔS or |ΔS|),
        γ and reference, with ``spearman``, ``kendall``, ``overlap`` and the number of regions compared.
    """
    settings = settings or ConnectomeSettings()
    frames = []
    for level in levels:
        graph = graph_from_connectivity(connectivity, replace(settings, level=level), subject=subject)
        frames.append(_one_graph(graph, connectivity, gammas, perturbations, top, n_nulls, seed))
    return pd.concat(frames, ignore_index=True)


def _one_graph(
    graph: BrainGraph,
    connectivity: NDArray[np.float64] | None,
    gammas: Sequence[float],
    perturbations: Sequence[Perturbation],
    top: float,
    n_nulls: int,
    seed: int,
) -> pd.DataFrame:
    """Agreement in one graph and in its null graphs."""
    full = full_connectivity(graph, connectivity)
    level = np.nan if graph.settings is None else graph.settings.level
    has_signal = (full - np.diag(np.diag(full))).any(axis=1)
    units = check_gammas(np.asarray(gammas, dtype=np.float64))
    rows: list[dict[str, object]] = []
    for null in range(n_nulls + 1):
        weights = hub_weights(graph) if null == 0 else random_graph(graph, seed=seed + null, keep_strengths=True)
        references = {HUB_MEASURES[NEFF].title: node_efficiency(weights)}
        if null == 0:
            references[HUB_MEASURES[FC_STRENGTH].title] = fc_strength(full)
        if n_nulls:
            references["strength in the graph"] = fc_strength(weights)
        kept = {name: values[has_signal] for name, values in references.items()}
        where = {"subject": graph.subject, "level": level, "null": null, "n_regions": int(has_signal.sum())}
        for perturbation in perturbations:
            perturbed = perturbed_graphs(weights, units, perturbation=perturbation)
            change = perturbed.entropy_change(units)[:, has_signal]
            rows += [{**where, "perturbation": perturbation, **row} for row in _comparisons(change, kept, units, top)]
    return pd.DataFrame(rows)


def _comparisons(
    change: NDArray[np.float64],
    references: Mapping[str, NDArray[np.float64]],
    gammas: NDArray[np.float64],
    top: float,
) -> Iterator[dict[str, object]]:
    """Yield one row for each sign convention, reference and γ."""
    for signed, values in ((False, np.abs(change)), (True, change)):
        for name, reference in references.items():
            agreement = rank_agreement(values, reference, top=top)
            for i, gamma in enumerate(gammas):
                measures = {measure: float(column[i]) for measure, column in agreement.items()}
                yield {"signed": signed, "gamma": float(gamma), "reference": name, **measures}
