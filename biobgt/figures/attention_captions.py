"""What figures of attention show, in words: captions on the page, and text for screen readers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.figures.connectivity_words import connectivity_words, contrast_beside_words
from biobgt.figures.frame import whose
from biobgt.figures.performance_captions import NOT_A_DIAGNOSIS, ONE_MEMBER
from biobgt.model.attention_views import FDR, WITHOUT_CONNECTIVITY, BesideConnectivity, BlockTests
from biobgt.wording import COVARIATES, counted, listed, signed

_BEYOND = (
    "1 % of the pairs of regions lie beyond each end of it, and so does most of the diagonal, where a region looks at "
    "itself"
)
_BEYOND_SHARED = f"taking all their maps together, {_BEYOND}"


def attention_part(layer: int | None, head: int | None) -> str:
    """Name a layer and head, counted from 0, or their mean."""
    if layer is None and head is None:
        return "mean over layers and heads"
    if layer is None:
        return f"head {head + 1}, mean over layers" if head is not None else ""
    return f"layer {layer + 1}, " + ("mean over heads" if head is None else f"head {head + 1}")


def attention_caption(
    model: str,
    sizes: Mapping[str, int],
    *,
    part: str,
    order: str,
    limits: tuple[float, float],
    beside: Mapping[str, BesideConnectivity],
    shared: bool = False,
    simulated: bool = False,
) -> str:
    """Say in words what the groups' heatmaps show, and how much of them is mean connectivity.

    Parameters
    ----------
    model : str
    sizes : mapping of str to int
        Subjects of each group.
    part : str
        Of :func:`attention_part`.
    order : str
        How regions are ordered, after "by".
    limits : (float, float)
    beside : mapping of str to BesideConnectivity
        Each group's map beside the group's mean connectivity.
    shared : bool
        The scale is that of other models' maps, too.
    simulated : bool
        Some of the subjects are.
    """
    groups = ", ".join(f"{n:,} {group}" for group, n in sizes.items())
    return (
        f"{_of(model, simulated)}: group mean attention of {groups}, {part}. Every subject was seen by {ONE_MEMBER}. A "
        f"row is a region that looks, a column one that is looked at; 1 is even attention. Regions are ordered by "
        f"{order}. One colour scale for all groups{' of all models shown' if shared else ''}, from {limits[0]:.2f} to "
        f"{limits[1]:.2f}: {_BEYOND_SHARED if shared else _BEYOND}. {connectivity_words(beside)}"
    )


def difference_caption(
    model: str,
    between: tuple[str, str],
    tests: BlockTests | None,
    *,
    part: str,
    limit: float,
    framed: bool,
    whole: bool,
    connectivity: float,
    simulated: bool = False,
) -> str:
    """Say in words what the difference shows and what its frames mean.

    Parameters
    ----------
    tests : BlockTests or None
        None where these groups were not compared.
    framed : bool
        The regions are in the order of the modules that were tested.
    whole : bool
        The mean over layers and heads is shown, which is what was tested.
    connectivity : float
        Correlation with the difference of the groups' mean connectivity, over all pairs of regions.
    """
    first, second = between
    said = (
        f"{_of(model, simulated)}: attention of {second} minus {first}, {part}. Red is more in {second}, blue less; "
        f"the scale runs to ±{limit:.2f} times even attention, beyond which lie 1 % of the pairs of regions. Over all "
        "pairs of regions, this difference correlates with that of the groups' mean functional connectivity at "
        f"{'r = ' + signed(connectivity) if np.isfinite(connectivity) else 'no defined r'}."
    )
    if tests is None:
        return f"{said} {first} and {second} were not compared by permutation, so no block is marked."
    said += f" {comparison_sentence(tests)}"
    if not framed:
        return f"{said} Blocks are framed only where regions are ordered by the functional modules that were tested."
    frames = " Frames mark those blocks." if len(tests.marked) else ""
    of_mean = "" if whole else " The test is of the mean over layers and heads, whatever is shown."
    return f"{said}{frames}{of_mean}"


def comparison_sentence(tests: BlockTests) -> str:
    """Say how many blocks differ, adjusted for covariates and not, in whom, and what was not adjusted for."""
    n, sizes = len(tests.blocks), ", ".join(f"{n} {group}" for group, n in tests.n_subjects.items())
    without = tests.n_marked_without_connectivity
    beside = "" if without is None else f"not adjusted for overall connectivity (mean |FC|), {_number(without)}; "
    return (
        f"Permutation tests of {counted(n, 'module block')} among {sizes}, {adjusted_for(tests.covariates)}: "
        f"{_number(len(tests.marked))} of them at a false discovery rate of {FDR:.0%}; {beside}unadjusted, "
        f"{_number(tests.n_marked_unadjusted)}.{_caution(tests.covariates)}{f' {tests.note}' if tests.note else ''}"
    )


def _caution(covariates: str) -> str:
    """Say what was not adjusted for, or nothing where all was."""
    missing = [word for name, word in COVARIATES.items() if name not in _names(covariates)]
    return f" Not adjusted for {listed(missing)}, so a difference may be one of that." if missing else ""


def adjusted_for(covariates: str) -> str:
    """Say what was adjusted for, from the names of covariates with commas between them.

    >>> adjusted_for("mean_fd, age, sex"), adjusted_for("")
    ('adjusted for motion, age and sex', 'adjusted for no covariate')
    """
    names = [COVARIATES.get(name, name) for name in _names(covariates)]
    return f"adjusted for {listed(names)}" if names else "adjusted for no covariate"


def effects_caption(model: str, tests: BlockTests, *, simulated: bool = False) -> str:
    """Say in words what the effect sizes of module blocks show."""
    first, second = tests.between
    return (
        f"{_of(model, simulated)}: difference of {second} and {first} in mean attention from one functional module "
        f"(row) to another (column), in standard deviations (d; positive is more in {second}). An asterisk marks a "
        f"false discovery rate of at most {FDR:.0%}. {comparison_sentence(tests)} What is marked only where less was "
        "adjusted for may be a difference in the rest: attention is made from connectivity and differs where that is "
        "stronger overall. Where a disorder itself weakens connectivity overall, adjusting for it hides that, too."
    )


def contrast_caption(
    model: str,
    contrast: Mapping[str, NDArray[np.float32]],
    tests: Sequence[BlockTests] = (),
    *,
    start_contrast: float = 0.0,
    connectivity: Mapping[str, Mapping[str, float | None]] | None = None,
    simulated: bool = False,
) -> str:
    """Say in words how closely attention keeps to modules, and that the tests are of other modules than the figure.

    Parameters
    ----------
    model : str
    contrast : mapping of str to ndarray, shape (n_layers, n_heads)
        Of each group.
    tests : sequence of BlockTests
    start_contrast : float
        The preset's: to which ratio the sharpness of attention was set before training; 0 where it was left as drawn.
    connectivity : mapping of str to mapping, optional
        Of each group, what the card says of attention beside connectivity; None where it was not measured.
    simulated : bool
    """
    means = ", ".join(f"{group} {np.nanmean(values):.2f}" for group, values in contrast.items())
    said = (
        f"{_of(model, simulated)}: mean attention within over between each subject's own Louvain modules; a dot a "
        f"head, a diamond their mean: {means}. 1 would mean that modules make no difference."
    )
    if connectivity:
        said += f" {contrast_beside_words(connectivity)}"
    if start_contrast:
        said += (
            f" How sharp attention is was set on training subjects, without their groups, so that this ratio is about "
            f"{start_contrast:g}: its size is a choice, that it holds in held-out subjects is the result."
        )
    if tests:
        said += (
            " Groups were not tested in what the figure shows, but in another ratio, which is not drawn: attention "
            "within over between the atlas's functional modules, the same modules for every subject, mean over layers "
            "and heads."
        )
    for test in tests:
        row = test.contrast.iloc[0]
        said += (
            f" In that ratio, {test.between[1]} against {test.between[0]}: d = {signed(row['d'])} "
            f"[{signed(row['d_low'])}, {signed(row['d_high'])}], p = {row['p']:.3g}, "
            f"{adjusted_for(test.covariates)}; {_without_connectivity(row)}unadjusted "
            f"d = {signed(row['d_unadjusted'])}, p = {row['p_unadjusted']:.3g}."
            f"{_caution(test.covariates)}"
        )
    return said


def _without_connectivity(row: "pd.Series[Any]") -> str:
    """The test that leaves overall connectivity as it is, where it was made."""
    if f"d{WITHOUT_CONNECTIVITY}" not in row:
        return ""
    d, p = row[f"d{WITHOUT_CONNECTIVITY}"], row[f"p{WITHOUT_CONNECTIVITY}"]
    return f"not adjusted for overall connectivity (mean |FC|) d = {signed(d)}, p = {p:.3g}; "


def received_caption(
    model: str,
    whom: str,
    strongest: Sequence[str],
    *,
    part: str,
    where: str,
    received: NDArray[np.float64] | None = None,
    simulated: bool = False,
) -> str:
    """Say in words what attention received shows on a brain, how little it may vary, and that nothing was tested.

    Parameters
    ----------
    whom : str
        Such as "462 NC".
    strongest : sequence of str
        Names of the regions with the highest values.
    part : str
        Of :func:`attention_part`.
    where : str
        On which brain.
    received : ndarray, shape (n_regions,), optional
        What is drawn, for its range.
    simulated : bool
    """
    said = (
        f"{_of(model, simulated)}: attention that each region receives from all others in {whom}, {part}, on {where}; "
        "colour and size are multiples of even attention."
    )
    if received is not None:
        low, high = float(received.min()), float(received.max())
        said += (
            f" Colour and size are stretched over the whole range, {low:.2f} to {high:.2f}, which is "
            f"{(high - low) / float(received.mean()):.0%} of the mean."
        )
    return f"{said} No region was tested; the highest values are those of {', '.join(strongest)}."


def own_caption(
    model: str,
    subject: str,
    group: str,
    *,
    correlation: float,
    beside: Mapping[str, BesideConnectivity],
    part: str,
    simulated: bool,
    model_simulated: bool,
) -> str:
    """Say in words how a subject's attention compares with a group's mean, and both with connectivity."""
    badge = " (trained on simulated patients)" if model_simulated else ""
    return (
        f"{whose(subject, simulated)}: attention by model {model}{badge}, {part}, as the mean of all members (the "
        f"models that vote), beside the mean of {group}, each of whom was seen by one member. On one colour scale: "
        f"{_BEYOND}. Over all pairs of regions the two correlate with r = {signed(correlation)}. "
        f"{connectivity_words(beside)} {NOT_A_DIAGNOSIS}"
    )


def _of(model: str, simulated: bool) -> str:
    return f"Model {model}, with simulated patients" if simulated else f"Model {model}"


def _number(count: int) -> str:
    return "none" if count == 0 else str(count)


def _names(covariates: str) -> list[str]:
    return [name.strip() for name in covariates.split(",") if name.strip()]
