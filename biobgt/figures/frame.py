"""What figures share: the order of regions and its blocks, titles that say when a subject is simulated, margins."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

UNLABELLED = "unlabelled"
_BLOCK_LINE = {"color": "rgba(60, 60, 60, 0.55)", "width": 1}


@dataclass(frozen=True)
class RegionOrder:
    """The order in which regions are drawn.

    Attributes
    ----------
    order : tuple of int
        Regions, counted from 0, from the first drawn to the last.
    blocks : tuple of (str, int, int)
        Name, first and one past the last position of each run of regions with the same label; empty in the
        atlas's own order.
    """

    order: tuple[int, ...]
    blocks: tuple[tuple[str, int, int], ...] = ()


def order_regions(
    n_regions: int, labels: Sequence[str | None] | None = None, *, first: Sequence[str] = ()
) -> RegionOrder:
    """Put regions of the same label together, in the order in which labels first appear; unlabelled ones last.

    Parameters
    ----------
    n_regions : int
    labels : sequence of (str or None), length n_regions, optional
        None keeps the atlas's order.
    first : sequence of str
        Labels that come before the others, in this order.
    """
    if labels is None:
        return RegionOrder(tuple(range(n_regions)))
    names = [label for label in dict.fromkeys([*first, *labels]) if label is not None and label in labels]
    members = {name: [i for i, label in enumerate(labels) if label == name] for name in names}
    if None in labels:
        members[UNLABELLED] = [i for i, label in enumerate(labels) if label is None]
    ends = np.cumsum([len(regions) for regions in members.values()]).tolist()
    blocks = tuple((name, end - len(members[name]), end) for name, end in zip(members, ends, strict=True))
    return RegionOrder(tuple(region for regions in members.values() for region in regions), blocks)


def whose(subject: str, simulated: bool) -> str:
    """Name a subject in a caption, and say when it is simulated."""
    return f"Simulated subject {subject}" if simulated else f"Subject {subject}"


def layout(title: str, simulated: bool, *, height: int, top: int = 48) -> dict[str, object]:
    """Title, height and margins; a simulated subject's title says so."""
    text = escape(title, quote=False) + (" · simulated" if simulated else "")
    return {
        "title": {
            "text": text,
            "font": {"size": 15},
            "x": 0,
            "xanchor": "left",
            "y": 0.98,
            "yanchor": "top",
            "yref": "container",
        },
        "height": height,
        "margin": {"l": 8, "r": 12, "t": top, "b": 8},
    }


def block_ticks(order: RegionOrder, names: Sequence[str]) -> dict[str, object]:
    """One tick a block, named; hundreds of region names would not be readable and show on hover instead."""
    if not order.blocks:
        return {"showticklabels": False, "ticks": "", "title": {"text": f"{len(names)} regions in atlas order"}}
    middles = [names[(start + end - 1) // 2] for _, start, end in order.blocks]
    return {"tickvals": middles, "ticktext": [escape(name, quote=False) for name, _, _ in order.blocks]}


def block_lines(order: RegionOrder, *, both_ways: bool) -> list[dict[str, object]]:
    """Lines between blocks, across the whole plot where only rows are regions."""
    span = {"x0": -0.5, "x1": len(order.order) - 0.5} if both_ways else {"xref": "paper", "x0": 0, "x1": 1}
    ends = [end - 0.5 for _, _, end in order.blocks[:-1]]
    lines = [{"type": "line", **span, "y0": end, "y1": end, "line": _BLOCK_LINE} for end in ends]
    if both_ways:
        down = {"y0": -0.5, "y1": len(order.order) - 0.5}
        lines += [{"type": "line", **down, "x0": end, "x1": end, "line": _BLOCK_LINE} for end in ends]
    return lines
