"""How comparisons of attention between groups are said in words."""

from collections.abc import Mapping

import numpy as np

from biobgt.base.statistics import FDR
from biobgt.base.wording import adjusted_for, counted, listed, not_adjusted_for, signed
from biobgt.model.attention import BesideConnectivity, BesideTests, BlockTests

BEYOND = (
    "1 % of the pairs of regions lie beyond each of its ends, and so does most of the diagonal, where a region "
    "attends to itself"
)

_LIKE_ATTENTION = "with rows normalised like those of attention, gives"


def map_words(order: str) -> str:
    """Say what the rows, columns and colours of a map are, and how its regions are ordered."""
    return (
        "Within a map, rows are regions that attend, columns regions that are attended to; 1 is uniform attention. "
        f"Regions are ordered by {order}."
    )


def comparison_sentence(tests: BlockTests) -> str:
    """Say how many blocks differ, adjusted for covariates and not, in whom, and what was not adjusted for."""
    sizes = ", ".join(f"{n} {group}" for group, n in tests.n_subjects.items())
    n_marked, unadjusted = len(tests.marked), tests.n_marked_unadjusted
    without = tests.n_marked_without_connectivity
    beside = (
        f"Unadjusted, {unadjusted} {_differ(unadjusted)}."
        if without is None
        else f"Without adjusting for overall connectivity (mean |FC|), {without} {_differ(without)}; unadjusted, "
        f"{unadjusted}."
    )
    found = tests.beside
    given = "" if found is None else f" {beside_sentence(tests, found)}"
    return (
        f"Permutation tests among {sizes}, {adjusted_for(tests.covariates)}: {n_marked} of "
        f"{counted(len(tests.blocks), 'module block')} {_differ(n_marked)} at a false discovery rate of "
        f"{100 * FDR:g} %. {beside}{given}{not_adjusted_for(tests.covariates)}{f' {tests.note}' if tests.note else ''}"
    )


def beside_sentence(tests: BlockTests, found: BesideTests) -> str:
    """Say what is left of differences in attention given connectivity (FC) of the same block."""
    alike = "" if np.isnan(found.correlation) else f" (effect sizes correlate at r = {signed(found.correlation)})"
    return (
        f"Given FC of the same block, attention differs in {found.given_connectivity} of {len(tests.blocks)} blocks; "
        f"FC itself in {found.of_connectivity}{alike}."
    )


def _differ(count: int) -> str:
    return "differs" if count == 1 else "differ"


def connectivity_words(beside: Mapping[str, BesideConnectivity]) -> str:
    """Say how much of attention maps is functional connectivity, and which contrast connectivity alone would give.

    Parameters
    ----------
    beside : mapping of str to BesideConnectivity
        By whose map it is, such as "NC".
    """
    said = (
        "How much of this is connectivity: over all pairs of regions, attention correlates with the functional "
        f"connectivity of the same subjects at {_each(beside, 'correlation', 'r = ')}."
    )
    if all(np.isnan(one.contrast) and np.isnan(one.connectivity_contrast) for one in beside.values()):
        return said
    return (
        f"{said} The ratio of attention within to between the modules shown is {_each(beside, 'contrast')}; positive "
        f"connectivity alone, {_LIKE_ATTENTION} {_each(beside, 'connectivity_contrast')}."
    )


def _each(beside: Mapping[str, BesideConnectivity], what: str, prefix: str = "") -> str:
    """One number per map, in the order of maps."""
    values = {whose: float(getattr(one, what)) for whose, one in beside.items()}
    words = [f"{'not defined' if np.isnan(v) else prefix + signed(v)} ({whose})" for whose, v in values.items()]
    return listed(words)


def contrast_beside_words(connectivity: Mapping[str, Mapping[str, float | None]]) -> str:
    """Say which contrast of modules the subjects' connectivity alone gives, from a card's means over subjects.

    Parameters
    ----------
    connectivity : mapping of str to mapping
        Of each group, the fields of :class:`biobgt.model.attention.BesideConnectivity`; None where not defined.
    """
    means = {group: BesideConnectivity(**_defined(one)) for group, one in connectivity.items()}
    return (
        f"Positive connectivity of the same subjects alone, {_LIKE_ATTENTION} {_each(means, 'connectivity_contrast')}; "
        f"a subject's attention correlates with its own connectivity at {_each(means, 'correlation', 'r = ')} on "
        "average."
    )


def _defined(numbers: Mapping[str, float | None]) -> dict[str, float]:
    return {name: float("nan") if value is None else value for name, value in numbers.items()}
