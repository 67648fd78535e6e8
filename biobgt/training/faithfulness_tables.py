"""What a card holds of how faithful attention is, as tables: the orders, the shares, the parts. Without torch."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

# In which order regions are removed, and what the orders are called.
ORDERS: Mapping[str, str] = {
    "attention": "attention received",
    "random": "random",
    "strength": "FC strength",
    "gradient": "gradient × input",
}
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)  # of the regions that are removed, or kept alone
TOP = 0.1  # the share that sentences are about
WITH_MEMBERS, WITH_LINEAR = "members", "linear model"
_ENDS = ("value", "low", "high")
_COMPARED = {
    "map": "maps",
    "received": "received",
    "top": "top tenth shared",
}


def removal_points(card: Mapping[str, Any]) -> pd.DataFrame:
    """How far probabilities move when regions are removed, or are all that is kept.

    Parameters
    ----------
    card : mapping

    Returns
    -------
    DataFrame
        One row per kind (``deletion``, ``insertion``), order and share: ``kind``, ``order`` in words, ``share``,
        ``regions``, and the mean ``value`` with its 95 % interval, ``low`` and ``high``. Without rows where it was not
        measured.
    """
    rows = [
        (kind, ORDERS[one["order"]], one["share"], one["regions"], *(one[kind][end] for end in _ENDS))
        for kind in ("deletion", "insertion")
        for one in (card.get("faithfulness") or {}).get("removed", ())
    ]
    columns = ["kind", "order", "share", "regions", *_ENDS]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(_ENDS, float))


def likeness_points(card: Mapping[str, Any]) -> pd.DataFrame:
    """How alike maps stay when parts of the model are put out of order, and how alike those of its members are.

    Parameters
    ----------
    card : mapping

    Returns
    -------
    DataFrame
        ``kind`` (``randomised`` or ``agreement``), ``what`` in words, and ``value``, ``low`` and ``high``. Training
        with shuffled labels, which a study measured, has no interval. Without rows where it was not measured.
    """
    found = card.get("faithfulness") or {}
    rows = [
        ("randomised", f"{one['part']} shuffled", *(one["correlation"][end] for end in _ENDS))
        for one in found.get("randomised", ())
    ]
    if found:
        rows += [("randomised", "labels shuffled", value, None, None) for value in shuffled_labels(card)]
    rows += [
        ("agreement", f"{one['with']}: {title}", *(one[what][end] for end in _ENDS))
        for one in found.get("agreement", ())
        for what, title in _COMPARED.items()
    ]
    return pd.DataFrame(rows, columns=["kind", "what", *_ENDS]).astype(dict.fromkeys(_ENDS, float))


def shuffled_labels(card: Mapping[str, Any]) -> list[float]:
    """The correlation of mean maps with those of a model trained with shuffled labels, where a study measured it."""
    studied = [one["map_correlation"] for one in card.get("attention_study", ())]
    return [float(value) for value in studied[:1] if value is not None]
