"""How much of an attention map is functional connectivity, in words, for captions on the page and of exports."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from biobgt.model.attention_views import BesideConnectivity
from biobgt.wording import listed, signed


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
        f"{said} Within over between the modules shown, attention is {_each(beside, 'contrast')}; positive "
        "connectivity alone, with rows normalised as those of attention are, gives "
        f"{_each(beside, 'connectivity_contrast')}."
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
        Of each group, the fields of :class:`biobgt.model.attention_views.BesideConnectivity`; None where not defined.
    """
    means = {group: BesideConnectivity(**_defined(one)) for group, one in connectivity.items()}
    return (
        "Positive connectivity of the same subjects alone, with rows normalised as those of attention are, gives "
        f"{_each(means, 'connectivity_contrast')}; a subject's attention correlates with its own connectivity at "
        f"{_each(means, 'correlation', 'r = ')} on average."
    )


def contrast_of_card(card: Mapping[str, Any]) -> dict[str, Any]:
    """What a model's card says for :func:`contrast_caption`."""
    return {
        "start_contrast": card["preset"].get("start_contrast", 0.0),
        "connectivity": (card.get("parts") or {}).get("connectivity"),
    }


def _defined(numbers: Mapping[str, float | None]) -> dict[str, float]:
    return {name: float("nan") if value is None else value for name, value in numbers.items()}
