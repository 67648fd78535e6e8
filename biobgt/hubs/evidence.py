"""Whether to believe hubs: NE beyond strength, and whether two halves of a recording agree, here and in cohorts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray, ranks
from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.base.wording import counted, percent, signed, whose
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Subject, average_by_person, people_in_order, person_of
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.data.graph import ESTIMATED, KINDS, BrainGraph, ConnectivityKind, ConnectomeSettings, Graph, random_graph
from biobgt.hubs.classical import hub_weights, node_efficiency
from biobgt.hubs.entanglement import PerturbedGraphs, perturbed_graphs
from biobgt.hubs.measures import (
    COMPARED,
    DEFAULT_GAMMA,
    DEFAULT_PERTURBATION,
    DEFAULT_SHARE,
    HUB_MEASURES,
    LITTLE_MEAN_CONNECTIVITY,
    NE,
    NEFF,
    NULL_GRAPHS,
    NULL_GRAPHS_KEEP,
    Perturbation,
    has_little_fc_strength,
    little_strength,
)
from biobgt.hubs.table import (
    AGREEMENT_MEASURES,
    REFERENCES,
    SubjectHubs,
    check_confidence,
    measure_hubs,
    rank_agreement,
    spearman,
)

# Whether to believe NE: its agreement with node efficiency beyond strength, in one subject and in cohorts.


# One subject's verdict: whether its node entanglement agrees with node efficiency beyond strength and degree.
#
# A region with many and strong connections has a high node entanglement *and* a high node efficiency, whatever the
# rest of the graph looks like. Only two things are evidence that one follows the other for another reason: a
# correlation that is left when strength and degree are held (partial Spearman correlation), and one higher than in
# null graphs in which every region keeps its degree and, closely, its strength
# (:func:`biobgt.data.graph.random_graph`). The subject's graph and its null graphs are treated alike, one null graph
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


# Reliability: whether two halves of a recording give the same hubs, here and in real cohorts.


# The two halves of a recording, each measured on its own: what a split-half reliability is made of.
#
# The halves are the first and the second half in time: every other time point would share the slow BOLD signal, and
# any measure would look reliable. A half has half the data, so that what is found is a lower bound on the whole
# recording's; :func:`spearman_brown` says what the whole would reach.


# The shortest recording of the 899 ABIDE subjects on whom reliability was measured.
LEAST_TIMEPOINTS = 78
HALVES = (0, 1)  # the first and the second in time


def why_not_split(subject: Subject, settings: ConnectomeSettings | None = None) -> str | None:
    """Say why a subject's recording cannot be split in two halves to be measured, None where it can."""
    if subject.series is None:
        return (
            f"Subject '{subject.id}' has a connectivity matrix only, which cannot be split into halves. "
            "Add its region series."
        )
    if len(subject.series) < LEAST_TIMEPOINTS:
        return (
            f"Subject '{subject.id}' has {len(subject.series)} time points; a split half needs at least "
            f"{LEAST_TIMEPOINTS}, as the shortest recording on which reliability was measured."
        )
    if settings is not None and settings.estimator == "tangent":
        return "The tangent estimator is fitted on a cohort, so that one subject's halves have no graph of their own."
    return None


def half_subjects(subject: Subject) -> tuple[Subject, Subject]:
    """Split a subject's recording into its first and its second half; of an odd number of time points the last is left.

    Regions without signal in either half are silent in both, so that both have the same regions.
    """
    if reason := why_not_split(subject):
        raise InputError(reason)
    assert subject.series is not None
    middle = len(subject.series) // 2
    parts = [replace(subject, series=part) for part in (subject.series[:middle], subject.series[middle : 2 * middle])]
    silent = sorted({*parts[0].silent_regions, *parts[1].silent_regions})
    first, second = (_silenced(part, silent) for part in parts)
    return first, second


def measure_half(
    subject: Subject,
    atlas: Atlas,
    settings: ConnectomeSettings | None,
    number: int,
    *,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
) -> SubjectHubs:
    """Measure the hubs of the first half (0) or the second (1) of a recording, for any γ.

    Parameters
    ----------
    subject : Subject
        With series of at least :data:`LEAST_TIMEPOINTS` time points.
    atlas : Atlas
    settings : ConnectomeSettings or None
        Of the graph, as for the whole recording.
    number : {0, 1}
        Which half.
    perturbation : {"control", "remove"}
    """
    if reason := why_not_split(subject, settings):
        raise InputError(reason)
    half = half_subjects(subject)[number]
    return measure_hubs(brain_graph(half, atlas, settings), subject_connectivity(half), perturbation=perturbation)


def hub_values(hubs: SubjectHubs, gamma: float) -> Mapping[str, FloatArray]:
    """Every hub measure at one γ (in units of 1/mean(λ)), shape (n_regions,): high in a hub, NaN without signal."""
    return {
        key: np.where(hubs.has_signal, -values if HUB_MEASURES[key].low_in_hubs else values, np.nan)
        for key, values in hubs.values(gamma).items()
    }


def compare_halves(
    first: SubjectHubs, second: SubjectHubs, gamma: float, *, measures: Sequence[str], top: float = DEFAULT_SHARE
) -> pd.DataFrame:
    """Compare every hub measure between the halves of one recording.

    Parameters
    ----------
    first, second : SubjectHubs
        Of :func:`measure_half`.
    gamma : float
        In units of 1/mean(λ).
    measures : sequence of str
        Of :data:`biobgt.hubs.HUB_MEASURES`, one row each.
    top : float
        Share of the regions that count as hubs.

    Returns
    -------
    DataFrame
        ``measure``; ``halves``, Spearman's ρ over regions between the halves; ``whole``, the reliability of the whole
        recording that follows (Spearman-Brown); ``overlap``, the share of the hubs of one half that are hubs in the
        other.
    """
    one, other = hub_values(first, gamma), hub_values(second, gamma)
    rows = []
    for name in measures:
        known = np.isfinite(one[name]) & np.isfinite(other[name])
        found = rank_agreement(one[name][None, known], other[name][known], top=top)
        rho = float(found["spearman"][0])
        whole = float(spearman_brown(np.array(rho)))
        rows.append({"measure": name, "halves": rho, "whole": whole, "overlap": float(found["overlap"][0])})
    return pd.DataFrame(rows)


def _silenced(subject: Subject, regions: Sequence[int]) -> Subject:
    if not regions or subject.series is None:
        return subject
    series = subject.series.copy()
    series[:, list(regions)] = 0
    return replace(subject, series=series)


def spearman_brown(halves: FloatArray) -> FloatArray:
    """Reliability of the whole from the correlation of its halves, 2r/(1 + r); NaN where r is −1 or not known."""
    halves = np.asarray(halves, dtype=np.float64)
    whole: FloatArray = np.divide(2 * halves, 1 + halves, out=np.full(halves.shape, np.nan), where=halves > -1)
    return whole


# How reliable hub measures are in real cohorts, to be shown beside a user's own subject where that applies.
#
# The study (``assets/studies/reliability.py``) measured both halves of every recording on one atlas and one kind of
# graph. For any other it says nothing, and nothing is shown.


STUDY_ATLAS, STUDY_ATLAS_TITLE = "cc200", "CC200"
ABIDE, CNI_2019 = "ABIDE", "CNI-2019"  # the cohorts of the study
_STUDY_SETTINGS = ConnectomeSettings()


@dataclass(frozen=True, eq=False)
class StudyReliability:
    """The reliability of hub measures in the cohorts of the study that fits a subject's graph, or why none does.

    Attributes
    ----------
    table : DataFrame or None
        One row per measure of :data:`biobgt.hubs.HUB_MEASURES`, ``measure`` its index, and for each cohort the columns
        ``whole`` (reliability of a whole recording's profile over regions), ``icc`` (median over regions of the ICC
        over people, of a whole recording) and ``overlap`` (share of hubs that come back in the other half), named
        ``<column> <cohort>``.
    note : str
        On whom and how it was measured, or why nothing is shown; for the caption.
    cohorts : tuple of str
        Of the columns.
    """

    table: pd.DataFrame | None
    note: str
    cohorts: tuple[str, ...] = ()


@cache
def _reliability_table() -> pd.DataFrame:
    """The study's table: one row per cohort and measure; see ``docs/plausibility.md`` for its columns."""
    return pd.read_csv(asset("studies", "reliability.csv"))


@cache
def study_people() -> Mapping[str, int]:
    """How many people of each real cohort were measured, by its name."""
    people = _reliability_table().groupby("cohort", sort=False)["n_people"].max()
    return {str(cohort): int(n) for cohort, n in people.items()}


def study_reliability(
    settings: ConnectomeSettings,
    atlas: Atlas,
    *,
    gamma: float = DEFAULT_GAMMA,
    perturbation: str = DEFAULT_PERTURBATION,
    kind: ConnectivityKind = KINDS[ESTIMATED],
) -> StudyReliability:
    """Find how reliable hub measures are on graphs that were made as these are.

    Parameters
    ----------
    settings : ConnectomeSettings
    atlas : Atlas
    gamma : float
        Of node entanglement, in units of 1/mean(λ).
    perturbation : {"control", "remove"}
        Of node entanglement.
    kind : ConnectivityKind
        What connectivity is.
    """
    if differences := _differences(settings, atlas, kind):
        return StudyReliability(None, f"Reliability was not measured for graphs like these ({', '.join(differences)}).")
    return _reliability_at(gamma, perturbation)


@lru_cache(maxsize=32)
def _reliability_at(gamma: float, perturbation: str) -> StudyReliability:
    cohorts, study = tuple(_reliability_table()["cohort"].unique()), _by_measure()
    rows, left_out = _rows_at(study, gamma, perturbation)
    people = {cohort: rows[f"n_people {cohort}"].max() for cohort in cohorts}
    measured = " and ".join(f"{people[cohort]:.0f} {cohort} subjects" for cohort in cohorts)
    note = (
        f"Measured on the two halves of the recordings of {measured} ({STUDY_ATLAS_TITLE}, "
        f"{_STUDY_SETTINGS.describe()}).{left_out}"
    )
    return StudyReliability(rows.drop(columns=[f"n_people {cohort}" for cohort in cohorts]), note, cohorts)


def _differences(settings: ConnectomeSettings, atlas: Atlas, kind: ConnectivityKind) -> list[str]:
    found = []
    if not kind.functional:
        found.append("the study is of functional connectivity")
    if atlas.name != STUDY_ATLAS:
        found.append(f"the study is on {STUDY_ATLAS_TITLE}, this subject on {atlas.title}")
    if settings != _STUDY_SETTINGS:
        found.append(f"the study has {_STUDY_SETTINGS.describe()}")
    return found


@cache
def _by_measure() -> pd.DataFrame:
    """The study with one row per measure, of NE one per γ, and a column for each number and cohort."""
    study = _reliability_table().rename(columns={"icc_whole_median": "icc", "overlap_within": "overlap"})
    columns: dict[str, pd.Series[float]] = {}
    for cohort in study["cohort"].unique():
        part = study[study["cohort"] == cohort].set_index("measure")
        columns |= {f"{name} {cohort}": part[name] for name in ("whole", "icc", "overlap", "n_people")}
    return pd.DataFrame(columns)


def _rows_at(study: pd.DataFrame, gamma: float, perturbation: str) -> tuple[pd.DataFrame, str]:
    """The rows of hub measures with NE at this γ, and what is said where NE was not measured there."""
    at_gamma = f"{NE} γ={gamma:g}"
    others = [measure for measure in HUB_MEASURES if measure != NE and measure in study.index]
    if perturbation != "control":
        return study.loc[others], " NE was measured with the control graph only."
    if at_gamma not in study.index:
        opening = f"{NE} γ="
        known = sorted((name.removeprefix(opening) for name in study.index if name.startswith(opening)), key=float)
        return study.loc[others], f" NE was measured at γ = {', '.join(known)} only."
    return study.loc[[at_gamma, *others]].rename(index={at_gamma: NE}), ""


# What reliability means, in words for the page and its table.


def measure_reliability(measure: str, study: StudyReliability) -> str:
    """Say one measure's reliability in the study, for the head of its column; nothing where none applies."""
    if study.table is None or measure not in study.table.index:
        return ""
    known = study.table.loc[[measure]].iloc[0].to_dict()
    said = [
        f"{cohort}: {signed(known[f'whole {cohort}'])} over regions, median ICC {signed(known[f'icc {cohort}'])}"
        for cohort in study.cohorts
    ]
    return f"Split-half reliability of a whole recording, {'; '.join(said)}."


def reliability_rows(study: StudyReliability, own: pd.DataFrame | None) -> pd.DataFrame:
    """One row per hub measure for the page: reliability in the study's cohorts and in this subject, as far as known.

    Parameters
    ----------
    study : StudyReliability
    own : DataFrame, optional
        Of :func:`biobgt.hubs.evidence.compare_halves`.
    """
    columns: dict[str, Any] = {"Measure": [about.title for about in HUB_MEASURES.values()]}
    if study.table is not None:
        known = study.table.reindex(list(HUB_MEASURES))
        for cohort in study.cohorts:
            shown = {cohort: "whole", f"{cohort} ICC": "icc", f"{cohort} hubs": "overlap"}
            columns |= {title: known[f"{name} {cohort}"].to_numpy() for title, name in shown.items()}
    if own is not None:
        found = own.set_index("measure").reindex(list(HUB_MEASURES))
        columns |= {"This subject": found["whole"].to_numpy(), "Its hubs": found["overlap"].to_numpy()}
    return pd.DataFrame(columns)


def reliability_caption(study: StudyReliability, *, own: bool) -> str:
    """Say what the columns of the table are, and on whom they were measured; ``own`` is the column of the subject."""
    columns = "Columns named after a cohort, and This subject" if own else "Columns named after a cohort"
    meaning = (
        f"{columns}: reliability, how closely the ranks of regions would agree "
        "with those of another recording of the same length "
        "(Spearman's ρ between the two halves, corrected for length by Spearman and Brown's formula); 1 is perfect. "
        "ICC: how well the value of a region tells people apart, by ICC(2,1) between the halves with the same "
        "correction, median over regions; below 0.4 is usually called poor, from 0.6 good (Cicchetti 1994). Hubs: the "
        f"share of the hubs (top {percent(DEFAULT_SHARE)} of regions) of one half that are hubs in the other; by "
        f"chance {percent(DEFAULT_SHARE)}."
    )
    return f"{meaning} {study.note}"


def own_reliability_sentence(subject: str, own: pd.DataFrame, *, simulated: bool) -> str:
    """Say what the halves of one subject's recording mean for its hubs.

    Parameters
    ----------
    subject : str
    own : DataFrame
        One row per measure: how far its values agree between the two halves.
    simulated : bool
        Whether the subject is.
    """
    found = own.set_index("measure")[["whole", "overlap"]].to_dict("index")
    said = ", ".join(f"{signed(found[measure]['whole'])} for {HUB_MEASURES[measure].short}" for measure in COMPARED)
    share = found[NE]["overlap"]
    again = "" if share != share else f" Of the hubs by NE in one half of it, {percent(share)} are hubs in the other."
    return (
        f"{whose(subject, simulated)}: the reliability of this recording is {said}.{again} What is not found again in "
        "the other half of the same recording is noise or a passing state, not a property of this person's brain."
    )
