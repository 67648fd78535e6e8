"""What agreement beyond strength and reliability mean, in words: sentences for the page and the captions."""

from collections.abc import Collection, Mapping

import pandas as pd

from biobgt.base.wording import counted, signed
from biobgt.data.graph import ESTIMATED, KINDS, ConnectivityKind
from biobgt.figures.frame import whose
from biobgt.figures.graph_words import NULL_GRAPHS_KEEP
from biobgt.figures.hub_words import little_strength
from biobgt.hubs.evidence import COMPARISONS, AgainstNulls
from biobgt.hubs.measures import HUB_MEASURES, LITTLE_MEAN_CONNECTIVITY, NEFF, has_little_fc_strength
from biobgt.hubs.options import NULL_GRAPHS

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
