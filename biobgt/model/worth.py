"""What a model's numbers are worth to a new subject, told from its card; light, because every page asks."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

CHANCE = 0.5  # the AUC of guessing
LITTLE = 0.65  # an AUC below it is little, though it may be more than chance
FEWEST_A_GROUP = 20  # below it an interval over subjects says next to nothing: at an AUC of 1 it has no width at all


class Worth(Enum):
    """What a model's numbers are worth to a new subject."""

    SIMULATED = "its patients are simulated"
    TOO_FEW = "too few subjects to tell"
    CHANCE = "at or near chance"
    LITTLE = "little above chance"
    BETTER = "better than chance"


def model_worth(results: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], *, simulated: bool) -> Worth:
    """Return what a model is worth, from its out-of-fold AUC.

    Parameters
    ----------
    results : mapping
        Metrics with their intervals, by model.
    sizes : mapping of str to int
        Subjects per group.
    simulated : bool
        Whether the patients are simulated.
    """
    if simulated:
        return Worth.SIMULATED
    if min(sizes.values()) < FEWEST_A_GROUP:
        return Worth.TOO_FEW
    auc = results["BioBGT"]["auc"]
    if auc["value"] is None or auc["low"] is None or auc["low"] <= CHANCE:
        return Worth.CHANCE
    return Worth.LITTLE if auc["value"] < LITTLE else Worth.BETTER


def is_doubtful(card: Mapping[str, Any]) -> bool:
    """Whether a card's numbers call for a warning; not those of a network, whose readouts have cards of their own."""
    if "results" not in card:
        return False
    worth = model_worth(card["results"], card["data"]["subjects"], simulated=card["simulated"])
    return worth is not Worth.BETTER
