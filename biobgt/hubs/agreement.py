"""How well hub measures agree over the regions of one brain, and whether node entanglement does beyond strength.

A region with many and strong connections has a high node entanglement *and* a high node efficiency, whatever the rest
of the graph looks like. Only two things are evidence that one follows the other for another reason: a correlation that
is left when strength and degree are held (partial Spearman correlation), and one higher than in null graphs in which
every region keeps its degree and, closely, its strength (:func:`biobgt.data.graph.random_graph`). The subject's graph
and its null graphs are treated alike, one null graph at a time, so that the work can show how far it is and be stopped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray, ranks
from biobgt.base.errors import InputError
from biobgt.base.wording import counted, signed, whose
from biobgt.data.cohort import average_by_person, person_of
from biobgt.data.graph import ESTIMATED, KINDS, BrainGraph, ConnectivityKind, Graph, random_graph
from biobgt.hubs.classical import hub_weights, node_efficiency
from biobgt.hubs.entanglement import PerturbedGraphs, perturbed_graphs
from biobgt.hubs.measures import (
    COMPARED,
    DEFAULT_PERTURBATION,
    DEFAULT_SHARE,
    GAMMAS,
    HUB_MEASURES,
    NE,
    NEFF,
    NULL_GRAPHS_KEEP,
    Perturbation,
)
from biobgt.hubs.table import SubjectHubs, number_of_hubs

# Ranks: many measures against one reference at a time, because a study compares hundreds of diffusion times.

AGREEMENT_MEASURES: Mapping[str, str] = {
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ-b",
    "overlap": "share of the top hubs in common",
}


def rank_agreement(values: FloatArray, reference: FloatArray, *, top: float = DEFAULT_SHARE) -> dict[str, FloatArray]:
    """Compare hub measures with a reference.

    Parameters
    ----------
    values : ndarray, shape (n_measures, n)
        High where a region is a hub.
    reference : ndarray, shape (n,)
    top : float
        Share of the regions that count as hubs for the overlap; by chance it is about ``top``.

    Returns
    -------
    dict of str to ndarray, shape (n_measures,)
        ``spearman``, ``kendall`` (τ-b) and ``overlap``; NaN where either side is constant.
    """
    values = np.atleast_2d(values)
    if len(reference) < 2:
        return {name: np.full(len(values), np.nan) for name in AGREEMENT_MEASURES}
    varies = (np.ptp(values, axis=1) > 0) & (np.ptp(reference) > 0)
    n_hubs = number_of_hubs(values.shape[1], top)
    hubs = np.argsort(-reference, kind="stable")[:n_hubs]
    of_values = np.argsort(-values, axis=1, kind="stable")[:, :n_hubs]
    # Kendall's τ-b: concordant minus discordant pairs, over the geometric mean of the numbers of untied pairs.
    first, second = np.triu_indices(len(reference), 1)
    order, orders = np.sign(reference[first] - reference[second]), np.sign(values[:, first] - values[:, second])
    untied = np.sqrt(np.count_nonzero(orders, axis=1) * np.count_nonzero(order))
    agreement = {
        "spearman": spearman(values, reference),
        "kendall": orders @ order / np.maximum(untied, 1),
        "overlap": np.isin(of_values, hubs).mean(axis=1),
    }
    return {name: np.where(varies, column, np.nan) for name, column in agreement.items()}


def spearman(values: FloatArray, reference: FloatArray) -> FloatArray:
    """Spearman's ρ of each row with the reference, shape (n_measures,); NaN where either side is constant."""
    if len(reference) < 2:
        return np.full(len(values), np.nan)
    ranked = ranks(np.vstack([values, reference]))
    ranked -= ranked.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(ranked[:-1], axis=1) * np.linalg.norm(ranked[-1])
    return np.divide(ranked[:-1] @ ranked[-1], sizes, out=np.full(len(sizes), np.nan), where=sizes > 0)


# How sure a rank correlation over the regions of one brain is.


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's ρ over regions, with its 95 % bootstrap interval; NaN where either side is constant."""

    rho: float
    low: float
    high: float
    n_regions: int


def _rank_correlation(values: FloatArray, reference: FloatArray) -> RankCorrelation:
    """Spearman's ρ over regions, shape (n_regions,) each, with a percentile bootstrap interval.

    Regions are drawn with replacement; a sample in which either side is constant is left out. Regions are not
    independent, neighbours share signal: the interval describes one brain and says nothing about other subjects.
    """
    n_regions = len(values)
    unknown = RankCorrelation(np.nan, np.nan, np.nan, n_regions)
    if n_regions < 2:
        return unknown
    rho = _counted_spearman(values, reference, np.ones((1, n_regions), dtype=np.int64))[0]
    sampled = _counted_spearman(values, reference, _draws(n_regions))
    sampled = sampled[np.isfinite(sampled)]
    if np.isnan(rho) or not len(sampled):
        return unknown
    low, high = np.quantile(sampled, [(1 - 0.95) / 2, (1 + 0.95) / 2])
    return RankCorrelation(float(rho), float(low), float(high), n_regions)


@lru_cache(maxsize=2)
def _draws(n_regions: int) -> NDArray[np.int64]:
    """How often each region is in each sample, shape (1000, n_regions): the same for every pair of measures."""
    draws = np.random.default_rng(0).multinomial(n_regions, np.full(n_regions, 1 / n_regions), size=1000)
    draws.setflags(write=False)
    return draws


def _counted_spearman(values: FloatArray, reference: FloatArray, counts: NDArray[np.int64]) -> FloatArray:
    """Spearman's ρ in samples that hold region i ``counts[:, i]`` times, shape (n_samples,).

    A value's rank in a sample is the number of lower ones plus half of those that are equal; no sample is sorted.
    """
    first, second = _counted_ranks(values, counts), _counted_ranks(reference, counts)
    weights = counts / counts.sum(axis=1, keepdims=True)
    first -= np.einsum("ij,ij->i", weights, first)[:, None]
    second -= np.einsum("ij,ij->i", weights, second)[:, None]
    shared = np.einsum("ij,ij,ij->i", weights, first, second)
    spread = np.einsum("ij,ij,ij->i", weights, first, first) * np.einsum("ij,ij,ij->i", weights, second, second)
    # Two ranks differ by a half at least: less is rounding around a constant.
    varies = spread > 1e-9
    return np.divide(shared, np.sqrt(spread), out=np.full(len(counts), np.nan), where=varies)


def _counted_ranks(values: FloatArray, counts: NDArray[np.int64]) -> FloatArray:
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))
    equal = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks = equal.cumsum(axis=1) - equal / 2
    place = np.searchsorted(values[order][starts], values)
    return ranks[:, place]


# One subject's node entanglement beside its other hub measures, over the diffusion time γ and at one of them.

# What node entanglement is compared with, unless others are asked for.
REFERENCES = COMPARED[1:]


def subject_sweep(
    hubs: SubjectHubs, gammas: Sequence[float] = GAMMAS, *, measures: Sequence[str] = REFERENCES
) -> pd.DataFrame:
    """Correlate node entanglement with other measures over γ.

    Parameters
    ----------
    hubs : SubjectHubs
    gammas : sequence of float
        In units of 1/mean(λ).
    measures : sequence of str
        Of :data:`biobgt.hubs.HUB_MEASURES` that do not depend on γ.

    Returns
    -------
    DataFrame
        One row for each measure and γ: ``reference``, ``gamma``, ``spearman`` (NaN where either is constant).
    """
    values = hubs.entanglement(gammas)[:, hubs.has_signal]
    frames = []
    for key in measures:
        known = np.asarray(hubs.measures[key], dtype=np.float64)[hubs.has_signal]
        found = {"gamma": np.asarray(gammas, float), "spearman": spearman(values, known)}
        frames.append(pd.DataFrame({"reference": HUB_MEASURES[key].title, **found}))
    return pd.concat(frames, ignore_index=True)


def hub_correlation(hubs: SubjectHubs, gamma: float, measure: str) -> RankCorrelation:
    """Correlate node entanglement at one γ with another measure, over the regions with signal.

    Parameters
    ----------
    hubs : SubjectHubs
    gamma : float
        In units of 1/mean(λ).
    measure : str
        A key of :data:`biobgt.hubs.HUB_MEASURES`.
    """
    values = hubs.values(gamma, (NE, measure))
    one, other = (np.asarray(values[key], dtype=np.float64)[hubs.has_signal] for key in (NE, measure))
    return _rank_correlation(one, other)


# Beyond strength and degree, in one graph or its null graphs.

COMPARISONS: Mapping[str, str] = {
    "efficiency": "NE with NEff",
    "partial": "NE with NEff, given strength and degree",
    "strength": "NE with FC strength over the graph's connections",
}
# What is left of ranks after regression, as a share of their own spread; less is rounding.
_NOTHING_LEFT = 1e-6


@dataclass(frozen=True, eq=False)
class GraphAgreement:
    """Agreement of node entanglement in one graph, over diffusion times.

    Attributes
    ----------
    gammas : tuple of float
        In units of 1/mean(λ).
    rhos : mapping of str to ndarray, shape (n_gammas,)
        By the names of :data:`COMPARISONS`; NaN where nothing varies.
    """

    gammas: tuple[float, ...]
    rhos: Mapping[str, FloatArray]

    def at(self, gamma: float) -> dict[str, float]:
        """Every comparison at one γ of the grid."""
        if gamma not in self.gammas:
            raise InputError(f"Agreement was not measured at γ = {gamma:g}; it was at {len(self.gammas)} others.")
        place = self.gammas.index(gamma)
        return {name: float(values[place]) for name, values in self.rhos.items()}


@dataclass(frozen=True)
class AgainstNulls:
    """One correlation beside that of null graphs.

    Attributes
    ----------
    rho : float
    null_low, null_high, null_mean : float
        Lowest, highest and mean ρ over the null graphs.
    p : float
        Two-sided: twice the share of graphs, the own one counted in, that lie at least as far on the same side.
    n_nulls : int
    """

    rho: float
    null_low: float
    null_high: float
    null_mean: float
    p: float
    n_nulls: int


def strength_and_degree(graph: Graph) -> FloatArray:
    """Strength (sum of weights) and degree of every region of a graph: what agreement is measured beyond.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n, n)
        Of nonnegative weights.

    Returns
    -------
    ndarray, shape (2, n)
    """
    weights = hub_weights(graph)
    return np.stack([weights.sum(axis=1), np.count_nonzero(weights, axis=1).astype(np.float64)])


def partial_spearman(values: FloatArray, reference: FloatArray, given: FloatArray) -> FloatArray:
    """Spearman's ρ of measures with a reference, others held: the correlation of what is left of their ranks.

    Parameters
    ----------
    values : ndarray, shape (n_measures, n) or (n,)
    reference : ndarray, shape (n,)
    given : ndarray, shape (n_held, n)
        Their ranks, and a constant, are regressed out of the ranks of both sides.

    Returns
    -------
    ndarray, shape (n_measures,)
        NaN where the held ones leave nothing of either side, as where the reference is one of them.
    """
    values = np.atleast_2d(values)
    if len(reference) < 2:
        return np.full(len(values), np.nan)
    ranked = ranks(np.vstack([values, reference, given]))
    ranked -= ranked.mean(axis=1, keepdims=True)
    sides, held = ranked[: -len(given)], ranked[-len(given) :]
    fitted = np.linalg.lstsq(held.T, sides.T, rcond=None)[0]
    left = sides - (held.T @ fitted).T
    size = np.linalg.norm(left, axis=1)
    something = size > _NOTHING_LEFT * np.maximum(np.linalg.norm(sides, axis=1), np.finfo(float).tiny)
    scale = size[:-1] * size[-1]
    defined = something[:-1] & something[-1]
    return np.divide(left[:-1] @ left[-1], scale, out=np.full(len(scale), np.nan), where=defined)


def graph_agreement(
    graph: Graph,
    gammas: Sequence[float],
    *,
    has_signal: NDArray[np.bool_] | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
    spectra: PerturbedGraphs | None = None,
    null: int | None = None,
) -> GraphAgreement:
    """Measure how node entanglement agrees in one graph, or in a null graph of it.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n, n)
        Of nonnegative weights.
    gammas : sequence of float
        In units of 1/mean(λ).
    has_signal : ndarray of bool, shape (n,), optional
        Regions to compare; all by default.
    perturbation : {"control", "remove"}
    spectra : Spectra or Resolvents, optional
        Of this graph, where they are known.
    null : int, optional
        The seed of a null graph that keeps every region's degree and, closely, its strength, to measure in its place.
    """
    weights = hub_weights(graph)
    if null is not None:
        weights = hub_weights(random_graph(weights, seed=null))
    signal = np.ones(len(weights), dtype=bool) if has_signal is None else has_signal
    spectra = spectra or perturbed_graphs(weights, gammas, perturbation=perturbation)
    entanglement = np.abs(spectra.entropy_change(gammas))[:, signal]
    held = strength_and_degree(weights)[:, signal]
    efficiency = node_efficiency(weights)[signal]
    rhos = {
        "efficiency": spearman(entanglement, efficiency),
        "partial": partial_spearman(entanglement, efficiency, held),
        "strength": spearman(entanglement, held[0]),
    }
    return GraphAgreement(tuple(gammas), rhos)


def set_against_nulls(own: GraphAgreement, nulls: Sequence[GraphAgreement], gamma: float) -> dict[str, AgainstNulls]:
    """Set a subject's agreement at one γ beside that of its null graphs, by the names of :data:`COMPARISONS`.

    Null graphs in which a correlation is not defined are left out of it.

    Parameters
    ----------
    own : GraphAgreement
        Of the subject's graph.
    nulls : sequence of GraphAgreement
        Of its null graphs, at the same γ.
    gamma : float
        One of ``own.gammas``.
    """
    at_gamma = [null.at(gamma) for null in nulls]
    return {name: _against(rho, [null[name] for null in at_gamma]) for name, rho in own.at(gamma).items()}


def agreement_beyond_strength(
    graph: BrainGraph,
    table: pd.DataFrame,
    *,
    has_signal: NDArray[np.bool_],
    gamma: float,
    nulls: Sequence[GraphAgreement],
) -> Mapping[str, Mapping[str, float]]:
    """Give the columns that stand beside Spearman's ρ for each reference of one subject.

    Parameters
    ----------
    graph : BrainGraph
    table : DataFrame
        Its :func:`biobgt.hubs.hub_table`, at the same γ and perturbation.
    has_signal : ndarray of bool, shape (n_regions,)
    gamma : float
        In units of 1/mean(λ).
    nulls : sequence of GraphAgreement
        Of null graphs that keep degrees and closely strengths, at this γ; empty where none were drawn.

    Returns
    -------
    mapping of str to mapping of str to float
        By the names of references: ``partial`` (given strength and degree), and, where null graphs were drawn,
        ``null_low``, ``null_high`` and ``p`` of that partial correlation. No null graph has an FC strength, which is
        of the full connectivity.
    """
    held = strength_and_degree(graph)[:, has_signal]
    entanglement = table.loc[has_signal, NE].to_numpy(float)
    found: dict[str, dict[str, float]] = {}
    for column in REFERENCES:
        known = table.loc[has_signal, column].to_numpy(float)
        partial = float(partial_spearman(entanglement, known, held)[0])
        without = dict.fromkeys(("null_low", "null_high", "p") if nulls else (), np.nan)
        found[HUB_MEASURES[column].title] = {"partial": partial, **without}
    if nulls:
        efficiency = HUB_MEASURES[NEFF].title
        beside = _against(found[efficiency]["partial"], [null.at(gamma)["partial"] for null in nulls])
        found[efficiency] |= {"null_low": beside.null_low, "null_high": beside.null_high, "p": beside.p}
    return found


def _against(rho: float, of_nulls: Sequence[float]) -> AgainstNulls:
    nulls = np.array([value for value in of_nulls if not np.isnan(value)])
    if np.isnan(rho) or not len(nulls):
        return AgainstNulls(rho, np.nan, np.nan, np.nan, np.nan, len(nulls))
    as_high, as_low = (nulls >= rho - 1e-12).sum(), (nulls <= rho + 1e-12).sum()
    p = min(1.0, 2 * (1 + min(as_high, as_low)) / (1 + len(nulls)))
    return AgainstNulls(rho, float(nulls.min()), float(nulls.max()), float(nulls.mean()), float(p), len(nulls))


# From every subject's agreement to a cohort's: means over people and bootstrap intervals.


CONDITION = ["level", "perturbation", "signed", "gamma", "reference"]


def summarise_plausibility(subjects: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Average agreement over people, with 95 % bootstrap intervals; recordings of one person are averaged first.

    Parameters
    ----------
    subjects : DataFrame
        One row for each subject, condition and reference, with the measures of agreement.
    seed : int
        Of the bootstrap samples of people.

    Returns
    -------
    DataFrame
        One row for each condition and measure: ``mean``, ``sd``, ``low``, ``high``, ``n_subjects`` (people for whom
        the measure is defined) and ``n_recordings`` of theirs. Intervals are NaN for a single person.
    """
    keys = [*CONDITION, "measure"]
    long = subjects.melt(id_vars=["subject", *CONDITION], value_vars=list(AGREEMENT_MEASURES), var_name="measure")
    means = long.groupby(["subject", *keys], dropna=False, sort=False)["value"].mean()
    recordings = means.unstack(keys)  # noqa: PD010 - pivot_table drops conditions that are NaN for everyone
    persons = [person_of(str(subject)) for subject in recordings.index]
    own = pd.DataFrame(average_by_person(recordings.to_numpy(np.float64), persons), columns=recordings.columns)
    table = pd.DataFrame({"mean": own.mean(), "sd": own.std()})
    draws = np.random.default_rng(seed).multinomial(len(own), np.full(len(own), 1 / len(own)), size=2000)
    defined = own.notna().to_numpy()
    totals, counts = draws.astype(np.float64) @ np.where(defined, own, 0), draws.astype(np.float64) @ defined
    drawn = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    enough, edges = defined.sum(axis=0) > 1, np.full((2, len(table)), np.nan)
    edges[:, enough] = np.nanquantile(drawn[:, enough], [(1 - 0.95) / 2, 1 - (1 - 0.95) / 2], axis=0)
    table["low"], table["high"] = edges
    table["n_subjects"], table["n_recordings"] = own.notna().sum(), recordings.notna().sum()
    return table.reset_index()


# What agreement beyond strength means, in words for the page and the command.

SIGNIFICANT = 0.05
_NO_VARIANCE = "Agreement beyond strength and degree is not defined in this graph: they leave no variance."


def given_sentence(own: Mapping[str, float]) -> str:
    """Say what strength and degree leave of the agreement, before any null graph is drawn."""
    if own["partial"] != own["partial"]:
        return _NO_VARIANCE
    return (
        f"Spearman's ρ of NE with NEff is {signed(own['efficiency'])}; the partial ρ given strength and degree is "
        f"{signed(own['partial'])}."
    )


def verdict_sentence(found: Mapping[str, AgainstNulls]) -> str:
    """Say in one sentence whether NE agrees with NEff beyond strength and degree; these held, it decides alone."""
    partial, agreement = found["partial"], f"NE with NEff (ρ = {signed(found['efficiency'].rho)})"
    if partial.p != partial.p:  # NaN
        return _NO_VARIANCE
    side = "above" if partial.rho > partial.null_high else "below" if partial.rho < partial.null_low else "within"
    least = partial.p <= 2 / (1 + partial.n_nulls)  # no null graph lies as far out
    smallest = f", the smallest that {counted(partial.n_nulls, 'null graph')} can give" if least else ""
    held = (
        f"with these held, ρ is {signed(partial.rho)}, {side} the {signed(partial.null_low)} to "
        f"{signed(partial.null_high)} of {counted(partial.n_nulls, 'null graph')} (p = {partial.p:.2g}{smallest})"
    )
    if partial.p > SIGNIFICANT:
        return f"No agreement of {agreement} beyond strength and degree is shown: {held}."
    if partial.rho > max(0, partial.null_mean):
        return f"The agreement of {agreement} goes beyond strength and degree: {held}."
    return f"Strength and degree account for the agreement of {agreement}: {held}."


def verdict_caption(
    subject: str, found: Mapping[str, AgainstNulls], *, gamma: float, perturbation: str, seed: int, simulated: bool
) -> str:
    """Say what the verdict rests on.

    Parameters
    ----------
    subject : str
    found : mapping of str to AgainstNulls
        By the measures that node entanglement is compared with.
    gamma : float
        In units of 1/mean(λ).
    perturbation : {"control", "remove"}
    seed : int
        Of the null graphs.
    simulated : bool
        Whether the subject is.
    """
    n_nulls = found["efficiency"].n_nulls
    return (
        f"{whose(subject, simulated)}: Spearman's ρ over the regions with signal at γ = {gamma:g}/mean(λ), "
        f"perturbation {perturbation}. Only the row with strength and degree held decides: without, NE and NEff agree "
        f"because both follow strength. {counted(n_nulls, 'null graph')} (seed {seed}) {NULL_GRAPHS_KEEP}, "
        "and are otherwise drawn at random. p is two-sided. Partial correlations are those of ranks "
        "after regression on the ranks of strength and degree in the graph."
    )


def comparison_rows(
    found: Mapping[str, AgainstNulls], kind: ConnectivityKind = KINDS[ESTIMATED]
) -> list[dict[str, str]]:
    """One row per comparison for the page's table: what, in words of the kind, ρ, range of the null graphs, p."""
    rows = []
    for name, title in COMPARISONS.items():
        one = found[name]
        row = {"Comparison": kind.named(title), "Spearman's ρ": signed(one.rho)}
        beside = {"Null graphs": f"{signed(one.null_low)} to {signed(one.null_high)}", "p": f"{one.p:.2g}"}
        rows.append(row | (dict.fromkeys(beside, "not defined") if np.isnan(one.p) else beside))
    return rows
