"""Whether to believe NE: its agreement with node efficiency beyond strength, in one subject and in cohorts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.statistics import ranks
from biobgt.base.wording import counted, signed, whose
from biobgt.data.cohort import average_by_person, people_in_order, person_of
from biobgt.data.graph import ESTIMATED, KINDS, BrainGraph, ConnectivityKind, Graph
from biobgt.data.nulls import random_graph
from biobgt.hubs.agreement import AGREEMENT_MEASURES, check_confidence, spearman
from biobgt.hubs.classical import hub_weights, node_efficiency
from biobgt.hubs.entanglement import PerturbedGraphs, perturbed_graphs
from biobgt.hubs.measures import (
    HUB_MEASURES,
    LITTLE_MEAN_CONNECTIVITY,
    NE,
    NEFF,
    has_little_fc_strength,
    little_strength,
)
from biobgt.hubs.options import DEFAULT_PERTURBATION, NULL_GRAPHS, NULL_GRAPHS_KEEP, Perturbation
from biobgt.hubs.table import REFERENCES

# One subject's verdict: whether its node entanglement agrees with node efficiency beyond strength and degree.
#
# A region with many and strong connections has a high node entanglement *and* a high node efficiency, whatever the
# rest of the graph looks like. Only two things are evidence that one follows the other for another reason: a
# correlation that is left when strength and degree are held (partial Spearman correlation), and one higher than in
# null graphs in which every region keeps its degree and, closely, its strength
# (:func:`biobgt.data.nulls.random_graph`). The subject's graph and its null graphs are treated alike, one null graph
# at a time, so that the work can show how far it is and be stopped.


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
    ranked = ranks(np.vstack([np.atleast_2d(values), reference, given]))
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
) -> GraphAgreement:
    """Measure how node entanglement agrees in one graph, own or null.

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
    """
    weights = hub_weights(graph)
    signal = np.ones(len(weights), dtype=bool) if has_signal is None else has_signal
    spectra = spectra or perturbed_graphs(weights, gammas, perturbation=perturbation)
    entanglement = np.abs(spectra.entropy_change(gammas))[:, signal]
    held = strength_and_degree(weights)[:, signal]
    efficiency = node_efficiency(weights)[signal]
    if signal.sum() < 2:
        nothing = np.full(len(entanglement), np.nan)
        return GraphAgreement(tuple(gammas), dict.fromkeys(COMPARISONS, nothing))
    rhos = {
        "efficiency": spearman(entanglement, efficiency),
        "partial": partial_spearman(entanglement, efficiency, held),
        "strength": spearman(entanglement, held[0]),
    }
    return GraphAgreement(tuple(gammas), rhos)


def null_agreement(
    graph: Graph,
    gammas: Sequence[float],
    *,
    seed: int,
    has_signal: NDArray[np.bool_] | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
) -> GraphAgreement:
    """Measure the same in one null graph that keeps every region's degree and, closely, its strength.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
        The subject's own graph, whose degrees and strengths are kept.
    gammas : sequence of float
        In units of 1/mean(λ).
    seed : int
        Each seed gives another null graph.
    has_signal : ndarray of bool, shape (n_regions,), optional
        Regions to compare; all by default.
    perturbation : {"control", "remove"}
    """
    null = random_graph(hub_weights(graph), seed=seed, keep_strengths=True)
    return graph_agreement(null, gammas, has_signal=has_signal, perturbation=perturbation)


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
    found = {}
    for name, rho in own.at(gamma).items():
        known = np.array([null[name] for null in at_gamma if not np.isnan(null[name])])
        found[name] = _against(rho, known)
    return found


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
        reference = HUB_MEASURES[column].title
        known = table.loc[has_signal, column].to_numpy(float)
        partial = float(partial_spearman(entanglement, known, held)[0]) if len(known) > 1 else np.nan
        found[reference] = {"partial": partial}
        if nulls:
            found[reference] |= {"null_low": np.nan, "null_high": np.nan, "p": np.nan}
    if nulls:
        efficiency = HUB_MEASURES[NEFF].title
        own = GraphAgreement((gamma,), {"partial": np.array([found[efficiency]["partial"]])})
        beside = set_against_nulls(own, nulls, gamma)["partial"]
        found[efficiency] |= {"null_low": beside.null_low, "null_high": beside.null_high, "p": beside.p}
    return found


def _against(rho: float, nulls: FloatArray) -> AgainstNulls:
    if np.isnan(rho) or not len(nulls):
        return AgainstNulls(rho, np.nan, np.nan, np.nan, np.nan, len(nulls))
    as_high, as_low = (nulls >= rho - 1e-12).sum(), (nulls <= rho + 1e-12).sum()
    p = min(1.0, 2 * (1 + min(as_high, as_low)) / (1 + len(nulls)))
    return AgainstNulls(rho, float(nulls.min()), float(nulls.max()), float(nulls.mean()), float(p), len(nulls))


# From every subject's agreement to a cohort's: means over people and bootstrap intervals.


CONDITION = ["level", "perturbation", "signed", "gamma", "reference"]


def summarise_plausibility(
    subjects: pd.DataFrame, *, n_boot: int = 2000, seed: int = 0, confidence: float = 0.95
) -> pd.DataFrame:
    """Average agreement over people, with bootstrap intervals; recordings of one person are averaged first.

    Parameters
    ----------
    subjects : DataFrame
        One row for each subject, condition and reference, with the measures of agreement.
    n_boot : int
        Bootstrap samples of subjects.
    seed : int
    confidence : float
        Coverage of the intervals.

    Returns
    -------
    DataFrame
        One row for each condition and measure: ``mean``, ``sd``, ``low``, ``high``, ``n_subjects`` (people for whom
        the measure is defined) and ``n_recordings`` of theirs. Intervals are NaN for a single person.
    """
    check_confidence(confidence)
    recordings = _by_subject(subjects)
    own = _by_person(recordings)
    table = pd.DataFrame({"mean": own.mean(), "sd": own.std()})
    draws = _bootstrap_counts(len(own), n_boot, seed)
    table["low"], table["high"] = _interval(own.to_numpy(), draws, confidence)
    table["n_subjects"], table["n_recordings"] = own.notna().sum(), recordings.notna().sum()
    return table.reset_index()


def _by_subject(subjects: pd.DataFrame) -> pd.DataFrame:
    """Subjects in rows, conditions and measures in columns."""
    keys = [*CONDITION, "measure"]
    long = subjects.melt(id_vars=["subject", *CONDITION], value_vars=list(AGREEMENT_MEASURES), var_name="measure")
    means = long.groupby(["subject", *keys], dropna=False, sort=False)["value"].mean()
    return means.unstack(keys)  # noqa: PD010 - pivot_table drops conditions that are NaN for everyone


def _by_person(values: pd.DataFrame) -> pd.DataFrame:
    """People in rows, in the order of their first recordings."""
    persons = [person_of(str(subject)) for subject in values.index]
    return pd.DataFrame(
        average_by_person(values.to_numpy(np.float64), persons),
        index=list(people_in_order(persons)[0]),
        columns=values.columns,
    )


def _bootstrap_counts(n_subjects: int, n_boot: int, seed: int) -> FloatArray:
    """How often each subject stands in each bootstrap sample, shape (n_boot, n_subjects)."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(n_subjects, np.full(n_subjects, 1 / n_subjects), size=n_boot).astype(np.float64)


def _interval(values: FloatArray, draws: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Percentile interval of the mean over subjects, for each column; NaN with fewer than two subjects."""
    defined = np.isfinite(values)
    totals, counts = draws @ np.where(defined, values, 0), draws @ defined
    means = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    enough = defined.sum(axis=0) > 1
    edges = np.full((2, values.shape[1]), np.nan)
    tail = (1 - confidence) / 2
    edges[:, enough] = np.nanquantile(means[:, enough], [tail, 1 - tail], axis=0)
    return edges[0], edges[1]


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
    held = (
        f"with these held, ρ is {signed(partial.rho)}, {side} the {signed(partial.null_low)} to "
        f"{signed(partial.null_high)} of {counted(partial.n_nulls, 'null graph')} ({_p_words(partial)})"
    )
    if partial.p > SIGNIFICANT:
        return f"No agreement of {agreement} beyond strength and degree is shown: {held}."
    if partial.rho > max(0, partial.null_mean):
        return f"The agreement of {agreement} goes beyond strength and degree: {held}."
    return f"Strength and degree account for the agreement of {agreement}: {held}."


def _p_words(found: AgainstNulls) -> str:
    """The p; where no null graph lies as far out, that it could not be smaller."""
    if found.p > 2 / (1 + found.n_nulls):
        return f"p = {found.p:.2g}"
    return f"p = {found.p:.2g}, the smallest that {counted(found.n_nulls, 'null graph')} can give"


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
        spread = f"{signed(one.null_low)} to {signed(one.null_high)}"
        known = one.p == one.p
        rows.append(
            {
                "Comparison": kind.named(title),
                "Spearman's ρ": signed(one.rho),
                "Null graphs": spread if known else "not defined",
                "p": f"{one.p:.2g}" if known else "not defined",
            }
        )
    return rows


def agreement_sentence(agreement: pd.DataFrame, *, n_nulls: int) -> str:
    """Say over the subjects of a cohort how NE agrees with NEff beyond strength and degree.

    Parameters
    ----------
    agreement : DataFrame
        Of :func:`biobgt.results.tables.analyse_hubs`.
    n_nulls : int
        Null graphs of each subject.
    """
    rows = agreement[agreement["reference"] == HUB_MEASURES[NEFF].title]
    if not rows["partial"].notna().any():
        return "Agreement beyond strength and degree is not defined in these graphs."
    said = (
        f"NE with NEff: Spearman's ρ is {signed(rows['spearman'].mean())} on average, and given strength and "
        f"degree {signed(rows['partial'].mean())}; only the second is evidence that they agree"
    )
    if not n_nulls:
        return f"{said}. It was not compared with null graphs; --nulls {NULL_GRAPHS} does so."
    if 2 / (1 + n_nulls) > SIGNIFICANT:
        return (
            f"{said}. With {n_nulls} null graphs p cannot go below {2 / (1 + n_nulls):.2g}; --nulls {NULL_GRAPHS} can."
        )
    known = rows[rows["p"].notna()]
    marked = known[known["p"] <= SIGNIFICANT]
    above = int((marked["partial"] > marked["null_high"]).sum())
    return (
        f"{said}. Beyond their null graphs (p ≤ {SIGNIFICANT:g}, two-sided) it is higher in {above} and lower in "
        f"{len(marked) - above} of {counted(len(known), 'subject')}."
    )


def little_strength_of(means: Collection[float]) -> list[str]:
    """Say of how many subjects, by their mean functional connectivity, FC strength has little to compare with."""
    little = sum(map(has_little_fc_strength, means))
    if not little:
        return []
    return [
        little_strength(
            f"the mean connectivity of {little} of {counted(len(means), 'subject')} is below "
            f"{LITTLE_MEAN_CONNECTIVITY:g}"
        )
    ]
