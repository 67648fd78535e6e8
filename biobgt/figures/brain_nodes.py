"""What a figure of regions in the brain draws, whether on the screen or for the paper: groups, diameters, colours.

Both kinds of figure ask here, so that a module has the same colour and symbol in each.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import DIVERGING, MODULE_COLOURS, PALE_GREY, SEQUENTIAL
from biobgt.base.errors import InputError
from biobgt.base.wording import counted

Values = NDArray[np.float64]
Edges = Sequence[tuple[int, int, float]]

NO_GROUP = "no module"
NO_VALUE = "no value"
SYMBOLS = ("circle", "diamond", "square", "cross")
# Of the first rank and of the last: about as far from a white page as from a black one, so that what the eye finds
# first on both is the one with colour; blue-grey and orange are safe for the colour-blind.
FIRST_COLOUR, LAST_COLOUR = "#E4570A", "#8C9BA8"


@dataclass(frozen=True)
class NodeGroup:
    """Regions that are drawn alike.

    Attributes
    ----------
    name : str
        What the legend says.
    members : tuple of int
        Regions, counted from 0.
    colour : str
        As ``#rrggbb``.
    symbol : str
        One of :data:`SYMBOLS`.
    """

    name: str
    members: tuple[int, ...]
    colour: str
    symbol: str


def check_nodes(
    coordinates: Values,
    regions: Sequence[str],
    *,
    sizes: Values | None,
    values: Values | None,
    groups: Sequence[str | None] | None,
    edges: Edges | None,
) -> None:
    """Refuse what does not fit together, with a sentence.

    Parameters
    ----------
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm.
    regions : sequence of str, length n_regions
    sizes, values : ndarray, shape (n_regions,), or None
    groups : sequence of (str or None), length n_regions, or None
    edges : sequence of (int, int, float), or None
        Two regions, counted from 0, and a weight.
    """
    n = len(regions)
    if coordinates.shape != (n, 3):
        raise InputError(
            f"The coordinates have shape {coordinates.shape}, but {n} regions were named; give one row of three MNI "
            "coordinates (x, y, z in mm) for each region."
        )
    unknown = np.isnan(coordinates).all(axis=1)  # no place: left out of the brain
    if not np.isfinite(coordinates[~unknown]).all() or unknown.all():
        bad = int(np.flatnonzero(~np.isfinite(coordinates).all(axis=1))[0])
        raise InputError(f"Region '{regions[bad]}' has no finite MNI coordinates; leave it out or complete the atlas.")
    for what, given in (("sizes", sizes), ("values", values), ("groups", groups)):
        if given is not None and len(given) != n:
            raise InputError(f"There are {len(given)} {what} for {n} regions; give one for each region, in order.")
    for i, j, _ in edges or ():
        if not (0 <= i < n and 0 <= j < n):
            raise InputError(f"A connection runs from region {i} to {j}, but regions are counted from 0 to {n - 1}.")


def node_groups(
    n_regions: int,
    groups: Sequence[str | None] | None,
    group_colours: Mapping[str, str] | None = None,
    values: Values | None = None,
) -> list[NodeGroup]:
    """Gather the regions that are drawn alike; without groups, those with a value and those without.

    A colour that comes again, past the eighth group, comes with another symbol.

    Parameters
    ----------
    n_regions : int
    groups : sequence of (str or None), length n_regions, or None
        None is a region without a group.
    group_colours : mapping of str to str, or None
        As ``#rrggbb``; they also give the order.
    values : ndarray, shape (n_regions,), or None
        NaN is a region without a value.
    """
    if groups is None:
        known = np.ones(n_regions, dtype=bool) if values is None else np.isfinite(values)
        parts = [("regions", known, MODULE_COLOURS[0]), (NO_VALUE, ~known, PALE_GREY)]
        return [
            NodeGroup(name, tuple(np.flatnonzero(chosen).tolist()), colour, SYMBOLS[0])
            for name, chosen, colour in parts
            if chosen.any()
        ]
    given = group_colours or {}
    present = set(groups) - {None}
    names = [name for name in given if name in present]
    names += sorted(cast(set[str], present - set(given)), key=natural_key)
    found: list[NodeGroup] = []
    for i, name in enumerate(names):
        members = tuple(k for k, group in enumerate(groups) if group == name)
        colour = given.get(name, MODULE_COLOURS[i % len(MODULE_COLOURS)])
        n_alike = sum(group.colour == colour for group in found)
        found.append(NodeGroup(name, members, colour, SYMBOLS[n_alike % len(SYMBOLS)]))
    alone = tuple(k for k, group in enumerate(groups) if group is None)
    return [*found, NodeGroup(NO_GROUP, alone, PALE_GREY, SYMBOLS[0])] if alone else found


def placed_regions(coordinates: Values) -> NDArray[np.bool_]:
    """Which regions have a place, shape (n_regions,)."""
    return np.asarray(np.isfinite(coordinates).all(axis=1))


def placed_parts(parts: Sequence[NodeGroup], coordinates: Values) -> list[NodeGroup]:
    """Leave out the regions whose place is not known, and groups that have no other."""
    placed = placed_regions(coordinates)
    kept = (replace(part, members=tuple(region for region in part.members if placed[region])) for part in parts)
    return [part for part in kept if part.members]


def placed_edges(edges: Edges, coordinates: Values) -> Edges:
    """Leave out the connections of regions whose place is not known."""
    placed = placed_regions(coordinates)
    return [(i, j, weight) for i, j, weight in edges if placed[i] and placed[j]]


def n_placed(coordinates: Values) -> int:
    """Number of regions whose place is known."""
    return int(placed_regions(coordinates).sum())


def left_out_words(coordinates: Values) -> str:
    """A sentence on the regions that are not drawn, with a space before it; empty where all are."""
    n = len(coordinates) - n_placed(coordinates)
    if not n:
        return ""
    verb = "is" if n == 1 else "are"
    return f" {counted(n, 'region')} without known coordinates {verb} left out of the drawing."


def natural_key(name: str) -> list[tuple[bool, int, str]]:
    """Sort key that puts ``Module 2`` before ``Module 10``."""
    parts = re.split(r"(\d+)", name)
    return [(True, int(part), "") if part.isdecimal() else (False, 0, part) for part in parts]


def node_diameters(n_regions: int, sizes: Values | None, smallest: float, largest: float, *, plain: float) -> Values:
    """Diameters, shape (n_regions,), whose squares grow evenly with the sizes.

    Parameters
    ----------
    n_regions : int
    sizes : ndarray, shape (n_regions,), or None
        NaN is drawn smallest.
    smallest, largest : float
        Diameters of the smallest and the largest size.
    plain : float
        Diameter of all where there are no sizes.
    """
    if sizes is None:
        return np.full(n_regions, plain)
    known = sizes[np.isfinite(sizes)]
    if not len(known) or known.min() == known.max():
        return np.full(n_regions, plain)
    share = np.where(np.isfinite(sizes), (sizes - known.min()) / (known.max() - known.min()), 0)
    return np.sqrt(smallest**2 + share * (largest**2 - smallest**2))


def rank_ticks(n_ranks: int) -> list[int]:
    """Ranks to name on a colour bar: the first, and up to five round ones."""
    step = next(size * 10**power for power in range(9) for size in (1, 2, 5) if n_ranks <= 5 * size * 10**power)
    return sorted({1, *range(step, n_ranks + 1, step)})


def colour_scale(values: Values, limits: tuple[float, float] | None = None) -> tuple[str, float, float]:
    """Choose a scale and its ends: one that is white at zero where values lie on both sides of it."""
    known = values[np.isfinite(values)]
    low, high = limits or ((float(known.min()), float(known.max())) if len(known) else (0.0, 1.0))
    if low < 0 < high:
        reach = max(-low, high)
        return DIVERGING, -reach, reach
    return (SEQUENTIAL, low, high) if low < high else (SEQUENTIAL, low - 0.5, high + 0.5)
