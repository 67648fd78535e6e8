"""What the figures of one subject's hubs show, in words: captions, and the text for screen readers."""

from collections.abc import Mapping

from biobgt.figures.frame import whose
from biobgt.figures.hub_curves import CurveScale
from biobgt.figures.hubs import SHORT_NAMES
from biobgt.people import counted_people
from biobgt.wording import signed

RULE_TITLES: Mapping[str, str] = {"top": "Top 10%", "sd": "Mean + 1 SD"}
_RULES: Mapping[str, str] = {"top": "the top 10% of regions", "sd": "regions above the mean + 1 SD"}
_SCALES: Mapping[str, str] = {
    "z": "as z-scores over regions",
    "rank": "as ranks, 1 the strongest hub",
    "raw": "in their own units, a panel each",
}
_PERTURBATIONS: Mapping[str, str] = {
    "control": "a region's neighbourhood becomes a clique of the same total weight",
    "remove": "a region loses its connections",
}


def curves_caption(
    subject: str,
    n_regions: int,
    n_hubs: int,
    *,
    scale: CurveScale,
    gamma: float,
    perturbation: str,
    rule: str,
    drawn: tuple[int, int] | None = None,
    group: tuple[str, int, int] | None = None,
    remark: str = "",
    simulated: bool = False,
) -> str:
    """Say in words what the curves over regions show.

    Parameters
    ----------
    subject : str
    n_regions, n_hubs : int
        Of the subject, drawn or not.
    scale : {"z", "rank", "raw"}
    gamma : float
        In units of 1/mean(λ).
    perturbation, rule : str
    drawn : (int, int), optional
        How many regions were drawn at random, and with which seed.
    group : (str, int, int), optional
        Name of the group whose mean lies behind, and the number of its people and of their recordings.
    remark : str
        On this subject's FC strength; ends the caption.
    simulated : bool
    """
    which = (
        f"{n_regions} regions" if drawn is None else f"{drawn[0]} of {n_regions} regions, drawn with seed {drawn[1]}"
    )
    over_all = "" if drawn is None or scale == "raw" else f" (of all {n_regions})"
    behind = "" if group is None else _behind(*group)
    return (
        f"{whose(subject, simulated)}: node entanglement (NE), node efficiency (NEff) and FC strength of {which}, "
        f"{_SCALES[scale]}{over_all}. NE is |ΔS| at γ = {gamma:g}/mean(λ) when {_PERTURBATIONS[perturbation]}; FC "
        f"strength is the mean Pearson correlation, or connectivity as brought, with all other regions. "
        f"Diamonds mark hubs by NE, {n_hubs} in all: {_RULES[rule]}.{behind}{_after(remark)}"
    )


def _behind(group: str, n_people: int, n_recordings: int) -> str:
    averaged = ", averaged for each person first" if n_recordings > n_people else ""
    return (
        f" Behind each curve, dashed line and band are the mean ± 1 SD of the {counted_people(n_people, n_recordings)} "
        f"of {group}{averaged}, this one among them, each on its own scale and γ."
    )


def correlation_text(rho: float, low: float, high: float) -> str:
    """Write a correlation with its interval, for a figure's subtitle."""
    if rho != rho:  # NaN
        return "ρ is not defined"
    return f"ρ = {signed(rho)}, 95% interval {signed(low)} to {signed(high)}"


def scatter_caption(
    subject: str,
    measure: str,
    n_regions: int,
    *,
    rho: float,
    low: float,
    high: float,
    gamma: float,
    remark: str = "",
    simulated: bool = False,
) -> str:
    """Say in words what the scatter of node entanglement against another measure shows; a remark ends it."""
    name = SHORT_NAMES[measure]
    opening = f"{whose(subject, simulated)}: NE at γ = {gamma:g}/mean(λ) against {name}, a point a region. "
    if rho != rho:
        return f"{opening}Spearman's ρ is not defined, because NE or {name} is the same in all regions with signal."
    return (
        f"{opening}Spearman's ρ = {signed(rho)}, 95% bootstrap interval {signed(low)} to "
        f"{signed(high)}, over the {n_regions} regions with signal of this subject: it says nothing about other "
        f"subjects, and neighbouring regions are not independent.{_after(remark)}"
    )


def sweep_caption(
    subject: str,
    *,
    gamma: float,
    rhos: Mapping[str, float],
    perturbation: str,
    study: str,
    remark: str = "",
    simulated: bool = False,
) -> str:
    """Say in words what the γ-sweep shows.

    Parameters
    ----------
    subject : str
    gamma : float
        The chosen one, in units of 1/mean(λ).
    rhos : mapping of str to float
        Spearman's ρ at that γ, by the measures of :data:`biobgt.figures.SHORT_NAMES`.
    perturbation : str
    study : str
        Which study is shown behind, or that none is.
    remark : str
        On this subject's FC strength; ends the caption.
    simulated : bool
    """
    found = " and ".join(f"{signed(rho)} with {SHORT_NAMES[measure]}" for measure, rho in rhos.items())
    return (
        f"{whose(subject, simulated)}: Spearman's ρ of NE ({perturbation}, |ΔS|) with NEff and with FC strength over "
        f"regions, at diffusion times γ in units of 1/mean(λ). At the chosen γ = {gamma:g}, marked by the dotted line, "
        f"ρ is {found}. {study}{_after(remark)}"
    )


def centralities_caption(
    subject: str, measures: Mapping[str, str], *, gamma: float, perturbation: str, simulated: bool = False
) -> str:
    """Say in words what the comparison of hub measures on the brain shows; ``measures`` says what each name means."""
    names = ", ".join(f"{name} ({meaning})" for name, meaning in measures.items())
    return (
        f"{whose(subject, simulated)}: {names}, as z-scores over regions in nilearn's glass brain. Larger and redder "
        f"is higher, on one colour scale for all. NE is |ΔS| at γ = {gamma:g}/mean(λ), perturbation {perturbation}."
    )


def table_caption(
    subject: str,
    n_hubs: Mapping[str, int],
    *,
    gamma: float,
    perturbation: str,
    rule: str,
    simulated: bool = False,
) -> str:
    """Say in words what the hub table shows; ``n_hubs`` counts the hubs by each measure that stands in it."""
    counts = ", ".join(f"{count} by {measure}" for measure, count in n_hubs.items()) or "none is shown"
    return (
        f"{whose(subject, simulated)}: hubs are {_RULES[rule]}, by each measure on its own: {counts}. Rank 1 is the "
        f"strongest hub. NE is |ΔS| in bits at γ = {gamma:g}/mean(λ), perturbation {perturbation}. A click on a column "
        "sorts by it."
    )


def _after(remark: str) -> str:
    return f" {remark}" if remark else ""
