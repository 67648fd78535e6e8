"""The hub curves of a group: hub measures of its subjects over the regions, as mean and spread.

A subject's curves are small: node entanglement on a grid of diffusion times γ, and measures that do not depend on it.
Hundreds of subjects fit into memory where their spectra would not, and any γ of the grid is read off at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.graph import BrainGraph, check_choice
from biobgt.hubs.hub_options import GAMMAS
from biobgt.hubs.measures import COMPARED, measures_over_gamma, measures_without_gamma
from biobgt.hubs.perturbation import DEFAULT_PERTURBATION, Perturbation
from biobgt.hubs.perturbed_graphs import perturbed_graphs
from biobgt.hubs.table import rank_regions
from biobgt.hubs.weights import full_connectivity
from biobgt.people import average_by_person

Values = NDArray[np.float64]
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
    over_gamma: Mapping[str, Values]
    lasting: Mapping[str, Values]

    def at(self, gamma: float) -> dict[str, Values]:
        """Every measure at a γ of the grid."""
        if gamma not in self.gammas:
            raise InputError(f"The curves were not measured at γ = {gamma:g}. Choose one of: {self.gammas}.")
        place = self.gammas.index(gamma)
        return {**{key: values[place] for key, values in self.over_gamma.items()}, **self.lasting}


@dataclass(frozen=True, eq=False)
class GroupCurves:
    """Mean and spread of a group's hub curves, region by region.

    Attributes
    ----------
    n_subjects, n_recordings : int
        People, and their recordings.
    mean, sd : mapping of str to ndarray, shape (n_regions,)
        By measure, over people; the SD of a single one is NaN.
    """

    n_subjects: int
    n_recordings: int
    mean: Mapping[str, Values]
    sd: Mapping[str, Values]


def measure_curves(
    graph: BrainGraph,
    connectivity: Values,
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
    over_gamma = measures_over_gamma(perturbed.entropy_change(gammas))
    lasting = measures_without_gamma(graph, full, measures)
    return SubjectCurves(
        tuple(gammas),
        {key: over_gamma[key] for key in measures if key in over_gamma},
        {key: np.asarray(values, dtype=np.float64) for key, values in lasting.items()},
    )


def group_curves(
    subjects: Sequence[SubjectCurves], gamma: float, *, persons: Sequence[str] | None = None, scale: CurveScale = "z"
) -> GroupCurves:
    """Take the mean and the SD over people, each recording on the scale of its own curve.

    Parameters
    ----------
    subjects : sequence of SubjectCurves
        On the same regions.
    gamma : float
        Of the grid, in units of 1/mean(λ).
    persons : sequence of str, optional
        Whose recording each is (:attr:`biobgt.cohort.Cohort.persons`): those of one person are averaged first. By
        default everybody has one.
    scale : {"z", "rank", "raw"}
        Z-scores and ranks are over the regions of each subject, as in :func:`biobgt.hubs.hub_table`.
    """
    check_choice("scale", scale, get_args(CurveScale))
    if not subjects:
        raise InputError("The group has no subjects, so it has no mean.")
    at_gamma = [subject.at(gamma) for subject in subjects]
    named = [str(i) for i in range(len(subjects))] if persons is None else persons
    mean, sd = {}, {}
    for measure in at_gamma[0]:
        values = average_by_person(np.stack([_scaled(measure, curves[measure], scale) for curves in at_gamma]), named)
        mean[measure] = values.mean(axis=0)
        sd[measure] = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan)
    return GroupCurves(len(set(named)), len(subjects), mean, sd)


def _scaled(measure: str, values: Values, scale: CurveScale) -> Values:
    """One subject's curve as the hub table has it: as it is, as ranks or as z-scores over regions."""
    if scale == "raw":
        return values
    return rank_regions(measure, values, rule="top", n_hubs=1)[f"{measure}_{scale}"].astype(np.float64)
