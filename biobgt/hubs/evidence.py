"""Whether to believe hubs: NE beyond strength, and whether two halves of a recording agree, here and in cohorts."""

from collections.abc import Mapping, Sequence
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
from biobgt.data.cohort import Subject, average_by_person, person_of
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
    NE,
    NEFF,
    NULL_GRAPHS_KEEP,
    Perturbation,
)
from biobgt.hubs.table import AGREEMENT_MEASURES, REFERENCES, SubjectHubs, measure_hubs, rank_agreement, spearman

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
        weights = hub_weights(random_graph(weights, seed=null, keep_strengths=True))
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
        reference = HUB_MEASURES[column].title
        known = table.loc[has_signal, column].to_numpy(float)
        partial = float(partial_spearman(entanglement, known, held)[0]) if len(known) > 1 else np.nan
        found[reference] = {"partial": partial}
        if nulls:
            found[reference] |= {"null_low": np.nan, "null_high": np.nan, "p": np.nan}
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
    if not 0 < confidence < 1:
        raise InputError(f"The confidence of an interval lies between 0 and 1, not {confidence}.")
    keys = [*CONDITION, "measure"]
    long = subjects.melt(id_vars=["subject", *CONDITION], value_vars=list(AGREEMENT_MEASURES), var_name="measure")
    means = long.groupby(["subject", *keys], dropna=False, sort=False)["value"].mean()
    recordings = means.unstack(keys)  # noqa: PD010 - pivot_table drops conditions that are NaN for everyone
    persons = [person_of(str(subject)) for subject in recordings.index]
    own = pd.DataFrame(average_by_person(recordings.to_numpy(np.float64), persons), columns=recordings.columns)
    table = pd.DataFrame({"mean": own.mean(), "sd": own.std()})
    counts = np.random.default_rng(seed).multinomial(len(own), np.full(len(own), 1 / len(own)), size=n_boot)
    table["low"], table["high"] = _interval(own.to_numpy(), counts.astype(np.float64), confidence)
    table["n_subjects"], table["n_recordings"] = own.notna().sum(), recordings.notna().sum()
    return table.reset_index()


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


def half_subjects(subject: Subject, settings: ConnectomeSettings | None = None) -> tuple[Subject, Subject]:
    """Split a subject's recording into its first and its second half; of an odd number of time points the last is left.

    Regions without signal in either half are silent in both, so that both have the same regions. ``settings`` are those
    of the graphs that are to be made of the halves.
    """
    if reason := why_not_split(subject, settings):
        raise InputError(reason)
    assert subject.series is not None
    middle = len(subject.series) // 2
    parts = [replace(subject, series=part) for part in (subject.series[:middle], subject.series[middle : 2 * middle])]
    silent = sorted({*parts[0].silent_regions, *parts[1].silent_regions})
    series = subject.series.copy()
    series[:, silent] = 0
    return replace(subject, series=series[:middle]), replace(subject, series=series[middle : 2 * middle])


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
    half = half_subjects(subject, settings)[number]
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

    def sentence(self, measure: str) -> str:
        """Say one measure's reliability, for the head of its column; nothing where none applies."""
        if self.table is None or measure not in self.table.index:
            return ""
        known = self.table.loc[[measure]].iloc[0].to_dict()
        said = [
            f"{cohort}: {signed(known[f'whole {cohort}'])} over regions, median ICC {signed(known[f'icc {cohort}'])}"
            for cohort in self.cohorts
        ]
        return f"Split-half reliability of a whole recording, {'; '.join(said)}."

    def rows(self, own: pd.DataFrame | None) -> pd.DataFrame:
        """One row per hub measure for the page: reliability in the cohorts and in this subject, as far as known.

        Parameters
        ----------
        own : DataFrame, optional
            Of :func:`biobgt.hubs.evidence.compare_halves`.
        """
        columns: dict[str, Any] = {"Measure": [about.title for about in HUB_MEASURES.values()]}
        if self.table is not None:
            known = self.table.reindex(list(HUB_MEASURES))
            for cohort in self.cohorts:
                shown = {cohort: "whole", f"{cohort} ICC": "icc", f"{cohort} hubs": "overlap"}
                columns |= {title: known[f"{name} {cohort}"].to_numpy() for title, name in shown.items()}
        if own is not None:
            found = own.set_index("measure").reindex(list(HUB_MEASURES))
            columns |= {"This subject": found["whole"].to_numpy(), "Its hubs": found["overlap"].to_numpy()}
        return pd.DataFrame(columns)

    def caption(self, *, own: bool) -> str:
        """Say what the columns of :meth:`rows` are, and on whom they were measured; ``own``: the subject has one."""
        columns = "Columns named after a cohort, and This subject" if own else "Columns named after a cohort"
        return (
            f"{columns}: reliability, how closely the ranks of regions would agree with those of another recording of "
            "the same length (Spearman's ρ between the two halves, corrected for length by Spearman and Brown's "
            "formula); 1 is perfect. ICC: how well the value of a region tells people apart, by ICC(2,1) between the "
            "halves with the same correction, median over regions; below 0.4 is usually called poor, from 0.6 good "
            f"(Cicchetti 1994). Hubs: the share of the hubs (top {percent(DEFAULT_SHARE)} of regions) of one half that "
            f"are hubs in the other; by chance {percent(DEFAULT_SHARE)}. {self.note}"
        )


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
    differences = []
    if not kind.functional:
        differences.append("the study is of functional connectivity")
    if atlas.name != STUDY_ATLAS:
        differences.append(f"the study is on {STUDY_ATLAS_TITLE}, this subject on {atlas.title}")
    if settings != _STUDY_SETTINGS:
        differences.append(f"the study has {_STUDY_SETTINGS.describe()}")
    if differences:
        return StudyReliability(None, f"Reliability was not measured for graphs like these ({', '.join(differences)}).")
    return _reliability_at(gamma, perturbation)


@lru_cache(maxsize=32)
def _reliability_at(gamma: float, perturbation: str) -> StudyReliability:
    """The study, one row per measure and a column for each number and cohort; NE at this γ, where it was measured."""
    study = _reliability_table().rename(columns={"icc_whole_median": "icc", "overlap_within": "overlap"})
    parts = {str(cohort): part.set_index("measure") for cohort, part in study.groupby("cohort", sort=False)}
    columns = [(name, cohort) for cohort in parts for name in ("whole", "icc", "overlap")]
    table = pd.DataFrame({f"{name} {cohort}": parts[cohort][name] for name, cohort in columns})
    opening = f"{NE} γ="
    at_gamma, left_out = f"{opening}{gamma:g}", ""
    rows = [measure for measure in HUB_MEASURES if measure != NE and measure in table.index]
    if perturbation != "control":
        left_out = " NE was measured with the control graph only."
    elif at_gamma in table.index:
        rows.insert(0, at_gamma)
    else:
        known = sorted((name.removeprefix(opening) for name in table.index if name.startswith(opening)), key=float)
        left_out = f" NE was measured at γ = {', '.join(known)} only."
    people = {cohort: part["n_people"].reindex(rows).max() for cohort, part in parts.items()}
    measured = " and ".join(f"{n:.0f} {cohort} subjects" for cohort, n in people.items())
    note = (
        f"Measured on the two halves of the recordings of {measured} ({STUDY_ATLAS_TITLE}, "
        f"{_STUDY_SETTINGS.describe()}).{left_out}"
    )
    return StudyReliability(table.loc[rows].rename(index={at_gamma: NE}), note, tuple(parts))


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
