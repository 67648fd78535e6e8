"""The hub table: every hub measure of every region, ranked and marked; and a group's curves.

One row per region, ready for the app's tables and for export. The table says in its ``attrs`` how it was made.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray, ranks
from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import average_by_person
from biobgt.data.graph import BrainGraph, check_choice
from biobgt.hubs.classical import full_connectivity
from biobgt.hubs.entanglement import PerturbedGraphs, perturbed_graphs
from biobgt.hubs.measures import (
    COMPARED,
    DEFAULT_GAMMA,
    DEFAULT_PERTURBATION,
    DEFAULT_SHARE,
    GAMMAS,
    HUB_MEASURES,
    HubOptions,
    HubRule,
    Perturbation,
    RegionValues,
)
from biobgt.hubs.resolvents import STEPS_ABOVE, time_windows

# Diffusion times that are measured together, or a measure that does not depend on them.
_HubStep = tuple[float, ...] | str


class MeasuresWithoutGamma(Mapping[str, RegionValues]):
    """The measures of one graph that do not depend on γ, shape (n_regions,) each; computed when first asked for.

    Parameters
    ----------
    graph : BrainGraph
    connectivity : ndarray, shape (n_regions, n_regions)
        The full matrix behind the graph.
    """

    def __init__(self, graph: BrainGraph, connectivity: FloatArray) -> None:
        self._given = {"graph": graph, "connectivity": connectivity}
        self.known: dict[str, RegionValues] = {}  # those that were computed already

    def __getitem__(self, key: str) -> RegionValues:
        if key not in self.known:
            measure = HUB_MEASURES[key]
            self.known[key] = measure.compute(self._given[measure.needs])
        return self.known[key]

    def __contains__(self, key: object) -> bool:
        return any(key == one for one in self)

    def __iter__(self) -> Iterator[str]:
        return (key for key, measure in HUB_MEASURES.items() if measure.needs in self._given)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _measures_over_gamma(entropy_change: FloatArray) -> dict[str, FloatArray]:
    """Every measure that depends on γ, shape (n_gammas, n_regions), from the change of entropy in bits."""
    return {
        key: np.asarray(measure.compute(entropy_change), dtype=np.float64)
        for key, measure in HUB_MEASURES.items()
        if measure.depends_on_gamma
    }


@dataclass(frozen=True, eq=False)
class SubjectHubs:
    """Everything about one subject's hubs that does not depend on γ.

    Attributes
    ----------
    regions : DataFrame
        One row per region: name, coordinates, side and labels as far as known.
    spectra : Spectra or Resolvents
    measures : mapping of str to ndarray, shape (n_regions,)
        Every measure of :data:`biobgt.hubs.HUB_MEASURES` that does not depend on γ; may be computed when asked for.
    has_signal : ndarray of bool, shape (n_regions,)
        Regions with any connectivity; correlations over regions leave the others out.
    """

    regions: pd.DataFrame
    spectra: PerturbedGraphs
    measures: Mapping[str, RegionValues]
    has_signal: NDArray[np.bool_]

    def entanglement(self, gammas: float | Sequence[float]) -> FloatArray:
        """Node entanglement in bits, shape (n_gammas, n_regions), with γ in units of 1/mean(λ)."""
        return np.abs(self.spectra.entropy_change(gammas))

    def values(self, gamma: float, measures: Collection[str] | None = None) -> dict[str, RegionValues]:
        """Every measure at one γ, in units of 1/mean(λ), in the order of the register; shape (n_regions,) each.

        Parameters
        ----------
        gamma : float
        measures : collection of str, optional
            Only these; by default all.
        """
        asked = [key for key in HUB_MEASURES if measures is None or key in measures]
        known = {key: self.measures[key] for key in asked if key in self.measures}
        if any(HUB_MEASURES[key].depends_on_gamma for key in asked):
            over_gamma = _measures_over_gamma(self.spectra.entropy_change(gamma))
            known |= {key: values[0] for key, values in over_gamma.items()}
        return {key: known[key] for key in asked if key in known}

    def steps(self, gammas: Sequence[float]) -> list[_HubStep]:
        """All that there is to measure, step by step: diffusion times γ that go together, then measures.

        Parameters
        ----------
        gammas : sequence of float
            That will be asked for, in units of 1/mean(λ).
        """
        times = np.array(gammas, dtype=np.float64)
        return [*(tuple(times[chosen].tolist()) for chosen, _ in time_windows(times)), *self.measures]

    def has(self, step: _HubStep) -> bool:
        """Whether a step was taken."""
        if not isinstance(step, str):
            return self.spectra.knows(step)
        return not isinstance(self.measures, MeasuresWithoutGamma) or step in self.measures.known

    def measure(self, step: _HubStep) -> None:
        """Take a step; what was measured is remembered."""
        if isinstance(step, str):
            _ = self.measures[step]
        else:
            self.spectra.entropy_change(step)

    def table(self, options: HubOptions | None = None, measures: Collection[str] | None = None) -> pd.DataFrame:
        """The table of :func:`hub_table`.

        Parameters
        ----------
        options : HubOptions, optional
        measures : collection of str, optional
            Only these have columns; by default all.
        """
        options = options or HubOptions()
        n_hubs = number_of_hubs(len(self.regions), options.share)
        columns: dict[str, Any] = {str(name): column for name, column in self.regions.items()}
        for key, values in self.values(options.gamma, measures).items():
            columns |= _rank_regions(key, values, rule=options.rule, n_hubs=n_hubs)
        return pd.DataFrame(columns, index=self.regions.index)


def measure_hubs(
    graph: BrainGraph,
    connectivity: FloatArray | None,
    *,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
    gammas: Sequence[float] | None = None,
) -> SubjectHubs:
    """Measure one subject's hubs, for any γ; beyond :data:`biobgt.hubs.resolvents.STEPS_ABOVE` regions one γ at a time.

    Parameters
    ----------
    graph : BrainGraph
        Of nonnegative weights.
    connectivity : ndarray, shape (n_regions, n_regions), or None
        The full matrix behind the graph, for FC strength as the paper has it; None takes what the graph knows of it,
        or else its own weights.
    perturbation : {"control", "remove"}
    gammas : sequence of float, optional
        The diffusion times that will be asked for, where they are known and few; any other can be asked for too.
    """
    full = full_connectivity(graph, connectivity)
    likely = gammas or (GAMMAS if graph.n_regions <= STEPS_ABOVE else DEFAULT_GAMMA)
    spectra = perturbed_graphs(graph, likely, perturbation=perturbation)
    has_signal = np.asarray((full - np.diag(np.diag(full))).any(axis=1))
    return SubjectHubs(graph.atlas.table(), spectra, MeasuresWithoutGamma(graph, full), has_signal)


def hub_table(
    graph: BrainGraph,
    atlas: Atlas | None = None,
    *,
    connectivity: FloatArray | None = None,
    gamma: float = DEFAULT_GAMMA,
    absolute_gamma: float | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
    rule: HubRule = HubOptions.rule,
    share: float = DEFAULT_SHARE,
) -> pd.DataFrame:
    """Measure, rank and mark the hubs of one graph.

    Parameters
    ----------
    graph : BrainGraph
        Of nonnegative weights.
    atlas : Atlas, optional
        Names, coordinates and labels to show; the graph's own by default.
    connectivity : ndarray, shape (n, n), optional
        The full matrix behind the graph, for FC strength as the paper has it; by default the one that the graph was
        made of. For a graph that was brought as it is, FC strength is the mean of its own weights, and
        ``attrs["fc_strength"]`` says so.
    gamma : float
        Diffusion time of node entanglement, in units of 1/mean(λ).
    absolute_gamma : float, optional
        The same as an absolute number, in place of ``gamma``.
    perturbation : {"control", "remove"}
        See :func:`biobgt.hubs.node_entanglement`.
    rule : {"top", "sd"}
        Hubs are the top ``share`` of the regions, or those above the mean by more than one SD.
    share : float

    Returns
    -------
    DataFrame
        One row per region: ``region``, coordinates, side and labels as far as known; then, for each measure of
        :data:`biobgt.hubs.HUB_MEASURES`, its value, ``_rank`` (1 is the strongest hub), ``_z`` (higher is more
        hub-like, also for vertex entanglement, whose sign is turned) and ``_hub``. Under ``top`` regions that tie
        across the cut are not hubs, so that the order of the regions decides nothing.

    Examples
    --------
    A star of five regions has one hub, its centre.

    >>> from biobgt.data.connectivity import graph_from_connectivity
    >>> connectivity = np.eye(5)
    >>> connectivity[0, 1:] = connectivity[1:, 0] = 0.5
    >>> table = hub_table(graph_from_connectivity(connectivity), share=0.2)
    >>> table["node_efficiency_hub"].tolist()
    [True, False, False, False, False]
    """
    atlas = atlas or graph.atlas
    if atlas.n_regions != graph.n_regions:
        raise InputError(f"The graph has {graph.n_regions} regions and atlas {atlas.name} has {atlas.n_regions}.")
    HubOptions(gamma, perturbation, rule, share)  # says what is wrong with them before anything takes long
    hubs = measure_hubs(graph, connectivity, perturbation=perturbation)
    unit = hubs.spectra.gamma_unit
    options = HubOptions(gamma if absolute_gamma is None else absolute_gamma / unit, perturbation, rule, share)
    table = replace(hubs, regions=atlas.table()).table(options)
    full = connectivity is not None or graph.connectivity is not None
    table.attrs = {
        "subject": graph.subject,
        "gamma": options.gamma,
        "absolute_gamma": float(options.gamma * unit),
        "perturbation": perturbation,
        "rule": options.hubs_are,
        "fc_strength": "full connectivity" if full else "weights of the graph",
        "simulated": graph.simulated,
    }
    return table


def _rank_regions(key: str, values: RegionValues, *, rule: HubRule, n_hubs: int) -> dict[str, NDArray[Any]]:
    """Value, rank, z-score and verdict of one measure in every region: its four columns of the hub table.

    Parameters
    ----------
    key : str
        Of the measure.
    values : ndarray, shape (n_regions,)
    rule : {"top", "sd"}
    n_hubs : int
        Of the rule ``top``.
    """
    importance = np.asarray(-values if HUB_MEASURES[key].low_in_hubs else values, dtype=np.float64)
    spread = importance.std(ddof=1) if len(importance) > 1 else 0.0
    # Rounding alone spreads equal values a little; what is below it is no difference.
    varies = bool(spread > 1e-12 * np.abs(importance).max(initial=0))
    z = (importance - importance.mean()) / spread if varies else importance * 0
    hub = (ranks(-importance, ties="max") <= n_hubs) & varies if rule == "top" else z > 1
    from_top = ranks(-importance, ties="min").astype(int)
    return {key: values, f"{key}_rank": from_top, f"{key}_z": z, f"{key}_hub": hub}


def number_of_hubs(n_regions: int, top: float) -> int:
    """Number of regions in the top share: rounded, and at least one."""
    if not 0 < top <= 1:
        raise InputError(f"Hubs are a share above 0 and up to 1 of the regions, not {top}.")
    return max(1, round(top * n_regions))


# The hub curves of a group: hub measures of its subjects over the regions, as mean and spread.
#
# A subject's curves are small: node entanglement on a grid of diffusion times γ, and measures that do not depend on
# it. Hundreds of subjects fit into memory where their spectra would not, and any γ of the grid is read off at once.

CurveScale = Literal["z", "rank", "raw"]


@dataclass(frozen=True, eq=False)
class SubjectCurves:
    """One subject's hub curves.

    Attributes
    ----------
    gammas : tuple of float
        In units of 1/mean(λ) of the subject's graph.
    over_gamma : mapping of str to ndarray, shape (n_gammas, n_regions)
        The measures that depend on γ, node entanglement among them.
    lasting : mapping of str to ndarray, shape (n_regions,)
        Those that do not.
    """

    gammas: tuple[float, ...]
    over_gamma: Mapping[str, FloatArray]
    lasting: Mapping[str, FloatArray]

    def at(self, gamma: float) -> dict[str, FloatArray]:
        """Every measure at a γ of the grid."""
        if gamma not in self.gammas:
            raise InputError(f"The curves were not measured at γ = {gamma:g}. Choose one of: {self.gammas}.")
        place = self.gammas.index(gamma)
        return {**{key: values[place] for key, values in self.over_gamma.items()}, **self.lasting}


def measure_curves(
    graph: BrainGraph,
    connectivity: FloatArray,
    gammas: Sequence[float] = GAMMAS,
    *,
    measures: Sequence[str] = COMPARED,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
) -> SubjectCurves:
    """Measure one subject's hub curves.

    Parameters
    ----------
    graph : BrainGraph
        Of nonnegative weights.
    connectivity : ndarray, shape (n_regions, n_regions)
        The full matrix behind the graph, for FC strength as the paper has it.
    gammas : sequence of float
        In units of 1/mean(λ).
    measures : sequence of str
        Of :data:`biobgt.hubs.HUB_MEASURES`.
    perturbation : {"control", "remove"}
    """
    full = full_connectivity(graph, connectivity)
    perturbed = perturbed_graphs(graph, gammas, perturbation=perturbation)
    over_gamma = _measures_over_gamma(perturbed.entropy_change(gammas))
    lasting = MeasuresWithoutGamma(graph, full)
    return SubjectCurves(
        tuple(gammas),
        {key: over_gamma[key] for key in measures if key in over_gamma},
        {key: np.asarray(lasting[key], dtype=np.float64) for key in lasting if key in measures},
    )


def group_curves(
    subjects: Sequence[SubjectCurves], gamma: float, *, persons: Sequence[str], scale: CurveScale
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Take the mean and the SD over people, by measure, each recording on the scale of its own curve.

    Parameters
    ----------
    subjects : sequence of SubjectCurves
        On the same regions.
    gamma : float
        Of the grid, in units of 1/mean(λ).
    persons : sequence of str
        Whose recording each is (:attr:`biobgt.data.cohort.Cohort.persons`): those of one person are averaged first.
    scale : {"z", "rank", "raw"}
        Z-scores and ranks are over the regions of each subject, as in :func:`biobgt.hubs.hub_table`.

    Returns
    -------
    mean, sd : dict of str to ndarray, shape (n_regions,)
        The SD of a single person is NaN.
    """
    check_choice("scale", scale, get_args(CurveScale))
    if not subjects:
        raise InputError("The group has no subjects, so it has no mean.")
    at_gamma = [subject.at(gamma) for subject in subjects]
    mean, sd = {}, {}
    for measure in at_gamma[0]:
        curves = [one[measure] for one in at_gamma]
        if scale != "raw":
            columns = [_rank_regions(measure, curve, rule="top", n_hubs=1) for curve in curves]
            curves = [one[f"{measure}_{scale}"].astype(np.float64) for one in columns]
        values = average_by_person(np.stack(curves), persons)
        mean[measure] = values.mean(axis=0)
        sd[measure] = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan)
    return mean, sd
