"""What figures of a model's performance show, in words."""

from collections.abc import Mapping, Sequence

import pandas as pd

NOT_A_DIAGNOSIS = "Research use only, not a diagnostic device."


def roc_caption(model: str, auc: Mapping[str, float | None], n_subjects: int, *, simulated: bool = False) -> str:
    """Say in words what the ROC curves show; the AUC is the card's, a mean over groups where there are three."""
    value, low, high = (auc[key] for key in ("value", "low", "high"))
    area = "not defined" if value is None else f"{value:.2f}"
    reach = f" (95 % interval {low:.2f} to {high:.2f})" if low is not None and high is not None else ""
    return (
        f"{_of(model, simulated)}: sensitivity against 1 − specificity over all thresholds, in {n_subjects:,} "
        f"subjects, each seen by a member that had not met it. Area under the curve {area}{reach}; the dotted line is "
        "chance."
    )


def reliability_caption(
    model: str, error: float | None, curve: pd.DataFrame, *, event: str, simulated: bool = False
) -> str:
    """Say in words what the reliability curve shows."""
    off = "" if error is None else f" Mean distance from the dotted line {100 * error:.1f} percentage points."
    return (
        f"{_of(model, simulated)}: of the subjects whom the model gave a probability of {event}, how many it was true "
        f"of, in {len(curve)} bins of {int(curve['n'].sum()):,} subjects it had not met, with 95 % Wilson "
        f"intervals.{off}"
    )


def results_caption(model: str, points: pd.DataFrame, *, note: str = "", simulated: bool = False) -> str:
    """Say in words how a model stands beside others."""
    auc = points[points["metric"] == "auc"]
    listed = "; ".join(f"{row.model} {row.value:.2f}" for row in auc.itertuples())
    return (
        f"{_of(model, simulated)}: results out of fold beside linear models on the same folds and the paper's own. "
        f"AUC: {listed}. Bars are 95 % bootstrap intervals over subjects, the paper's ± 1 SD over runs; dotted lines "
        f"are what guessing gives.{f' {note}' if note else ''}"
    )


def probabilities_caption(
    model: str,
    groups: Sequence[str],
    *,
    group: str,
    subject: str = "",
    value: float | None = None,
    where: str = "",
    warning: str = "",
    simulated: bool = False,
) -> str:
    """Say in words where a subject lies among those the model was trained on.

    Parameters
    ----------
    groups : sequence of str
    group : str
        Whose probability it is.
    subject : str
        As the sentence names it, such as "subject 0051234".
    value : float, optional
        Its probability.
    where : str
        Of :func:`biobgt.training.card_views.share_below`.
    warning : str
        In which ways it is unlike the training subjects; empty for none.
    simulated : bool
        Some of the training subjects are.
    """
    given = "" if value is None else f", given {value:.0%}"
    lies = f" The line is {subject}{given}: {where}" if subject else ""
    if subject and warning:
        lies += f" It is unlike the training data ({warning}), so its probability may mean nothing."
    lies += f" {NOT_A_DIAGNOSIS}" if subject else ""
    return (
        f"{_of(model, simulated)}: probability of {group} given to training subjects by members that had not met them, "
        f"for {', '.join(groups)}. The more the curves overlap, the less a probability tells.{lies}"
    )


def _of(model: str, simulated: bool) -> str:
    return f"Model {model}, with simulated patients" if simulated else f"Model {model}"
