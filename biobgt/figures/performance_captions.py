"""What figures of a model's performance show, in words."""

from collections.abc import Mapping, Sequence

import pandas as pd

NOT_A_DIAGNOSIS = "Research use only, not a diagnostic device."
ONE_MEMBER = "one member (of the models that vote), from whose training the subject was left out"
_MEAN_OF_ALL = "A new subject's probability is made of the mean of all members' log-odds instead"


def roc_caption(model: str, auc: Mapping[str, float | None], n_subjects: int, *, simulated: bool = False) -> str:
    """Say in words what the ROC curves show; the AUC is the card's, a mean over groups where there are three."""
    value, low, high = (auc[key] for key in ("value", "low", "high"))
    area = "not defined" if value is None else f"{value:.2f}"
    reach = f" (95 % interval {low:.2f} to {high:.2f})" if low is not None and high is not None else ""
    return (
        f"{_of(model, simulated)}: sensitivity against 1 − specificity over all thresholds, in {n_subjects:,} "
        f"subjects, by probabilities of {ONE_MEMBER}. Area under the curve {area}{reach}; the dotted line is chance."
    )


def reliability_caption(
    model: str, error: float | None, curve: pd.DataFrame, *, event: str, simulated: bool = False
) -> str:
    """Say in words what the reliability curve shows, and of whose probabilities."""
    off = "" if error is None else f" Mean distance from the dotted line {100 * error:.1f} percentage points."
    return (
        f"{_of(model, simulated)}: of the subjects given a probability of {event}, how many it was true of, in "
        f"{len(curve)} bins of {int(curve['n'].sum()):,} subjects, with 95 % Wilson intervals.{off} Probabilities are "
        f"out of fold: each is of {ONE_MEMBER}. {_MEAN_OF_ALL}, so this curve does not quite hold for it."
    )


def results_caption(model: str, points: pd.DataFrame, *, note: str = "", simulated: bool = False) -> str:
    """Say in words how a model stands beside others; the note is on the paper's numbers, where they are shown."""
    auc = points[points["metric"] == "auc"]
    listed = "; ".join(f"{row.model} {row.value:.2f}" for row in auc.itertuples())
    return (
        f"{_of(model, simulated)}: results out of fold beside linear models on the same folds. AUC: {listed}. Bars are "
        f"95 % bootstrap intervals over subjects; dotted lines are what guessing gives.{f' {note}' if note else ''}"
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
    """Say in words where a subject lies among those left out of a member's training.

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
        Why it should not be believed; empty for no reason.
    simulated : bool
        Some of the training subjects are.
    """
    given = "" if value is None else f", given {value:.0%}"
    lies = f" The line is {subject}{given} by the mean of all members' log-odds: {where}" if subject else ""
    if subject and warning:
        lies += f" Its probability may mean nothing: {warning}."
    lies += f" {NOT_A_DIAGNOSIS}" if subject else ""
    return (
        f"{_of(model, simulated)}: probability of {group} for subjects of {', '.join(groups)}, out of fold, each by "
        f"{ONE_MEMBER}. The more the curves overlap, the less a probability tells.{lies}"
    )


def _of(model: str, simulated: bool) -> str:
    return f"Model {model}, with simulated patients" if simulated else f"Model {model}"
