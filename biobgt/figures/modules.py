"""Modules on the screen: connectivity sorted by module, the cartography of regions, and captions in words.

A module has one colour in all figures, that of its number, so that groups whose modules are numbered alike compare.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.figures.connectome import heatmap_parts
from biobgt.figures.frame import (
    RegionOrder,
    block_brackets,
    horizontal_line,
    layout,
    note_at_right,
    order_regions,
    whose,
)
from biobgt.wording import counted

if TYPE_CHECKING:  # it brings scikit-learn, which the start of the app does without
    from biobgt.modules import Partition

# Okabe and Ito's colours, safe for the colour-blind, with Tol's wine for their black, which a dark page would swallow;
# modules past the eighth start over with another symbol.
MODULE_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#882255")
_SYMBOLS = ("circle", "diamond", "square", "cross")
_NO_MODULE = "#9AA5AB"
_MOST_TWO_LINED = 8  # brackets; the names of more have one line
_LABEL_SHARE = {1: 1 / 19, 2: 1 / 9}  # of the matrix's height on a narrow page, for a name of so many lines


def module_colours(modules: Iterable[int]) -> dict[int, str]:
    """Colour of each module, by its number from 1; grey for 0, in no module."""
    return {module: MODULE_COLOURS[(module - 1) % len(MODULE_COLOURS)] if module else _NO_MODULE for module in modules}


def module_heatmap(
    matrix: NDArray[np.float64],
    regions: Sequence[str],
    modules: Sequence[int],
    names: Mapping[int, str],
    *,
    limit: float = 1.0,
    title: str = "",
    quantity: str = "r",
    simulated: bool = False,
) -> go.Figure:
    """Draw connectivity sorted by module, with a named bracket in the module's colour beside its rows.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    modules : sequence of int, length n_regions
        0 is a region in no module; these come last.
    names : mapping of int to str
        What each module is called.
    limit, title, quantity, simulated
        As for :func:`biobgt.figures.connectivity_heatmap`.
    """
    numbers = {names[number]: number for number in sorted(set(modules) - {0})}
    order = order_regions(len(matrix), [names[module] if module else None for module in modules], first=list(numbers))
    heatmap, square = heatmap_parts(matrix, regions, order, limit=limit, quantity=quantity)
    colours = module_colours(range(max(modules, default=0) + 1))
    block_colours = [colours[numbers.get(name, 0)] for name, _, _ in order.blocks]
    square["shapes"] += block_brackets(order, block_colours)
    lines = 2 if len(order.blocks) <= _MOST_TWO_LINED else 1
    square["yaxis"] |= {
        "tickvals": [heatmap["y"][row] for row in label_rows(order, _LABEL_SHARE[lines])],
        "ticktext": [
            f'<span style="color:{colour}">■</span> {_bracket_name(name if name in numbers else "no module", lines)}'
            for (name, _, _), colour in zip(order.blocks, block_colours, strict=True)
        ],
        "ticklabelstandoff": 14,
        "tickfont": {"size": 11},
        "ticks": "",
    }
    return go.Figure([heatmap], {**layout(title, simulated, height=520), **square})


def _bracket_name(name: str, lines: int) -> str:
    """A name in two lines, or without the word that all share in one."""
    return escape(name, quote=False).replace(" · ", "<br>") if lines == 2 else escape(name.removeprefix("Module "))


def label_rows(order: RegionOrder, share: float) -> list[int]:
    """The row at which each bracket's name stands: its middle, moved where small modules would write over another."""
    n = len(order.order)
    step = max(1, round(n * share))
    rows = [(start + end - 1) // 2 for _, start, end in order.blocks]
    for i in range(1, len(rows)):
        rows[i] = max(rows[i], rows[i - 1] + step)
    last = n - 1
    for i in reversed(range(len(rows))):
        rows[i] = min(rows[i], last)
        last = rows[i] - step
    return [max(0, row) for row in rows]


def role_map(
    participation: NDArray[np.float64],
    within_z: NDArray[np.float64],
    modules: Sequence[int],
    regions: Sequence[str],
    *,
    hub_z: float,
    names: Mapping[int, str] | None = None,
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw the regions by participation and within-module z (Guimerà & Amaral 2005), coloured by module.

    Parameters
    ----------
    participation, within_z : ndarray, shape (n_regions,)
        NaN for a region in no module, which is not drawn.
    modules : sequence of int, length n_regions
    regions : sequence of str, length n_regions
    hub_z : float
        Where the line between hubs and others lies.
    names : mapping of int to str, optional
        What each module is called.
    """
    labels = np.asarray(modules)
    hover = np.array([escape(name, quote=False) for name in regions], dtype=object)
    present = sorted(set(labels.tolist()) - {0})
    symbols = {module: _SYMBOLS[((module - 1) // len(MODULE_COLOURS)) % len(_SYMBOLS)] for module in present}
    traces = [
        {
            "type": "scatter",
            "x": participation[labels == module],
            "y": within_z[labels == module],
            "text": hover[labels == module],
            "mode": "markers",
            "name": escape((names or {}).get(module, f"Module {module}"), quote=False),
            "marker": {"color": colour, "symbol": symbols[module], "size": 8},
            "hovertemplate": "%{text}<br>participation %{x:.2f}, z %{y:.2f}",
        }
        for module, colour in module_colours(present).items()
    ]
    frame = {
        **layout(title, simulated, height=520),
        "xaxis": {"title": {"text": "Participation"}, "range": [-0.03, 1]},
        "yaxis": {"title": {"text": "Within-module z"}},
        "shapes": [horizontal_line(hub_z, {"dash": "dot", "color": "#7A868C"})],
        "annotations": [note_at_right(hub_z, "hubs above")],
        "legend": {"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0},
    }
    return go.Figure(traces, frame)


def module_caption(subject: str, partition: "Partition", *, limit: float, simulated: bool) -> str:
    """Say what a connectivity heatmap that is sorted by module shows."""
    sizes = ", ".join(str(size) for size in partition.sizes.values()) or "none"
    unassigned = counted(len(partition.unassigned), "region")
    alone = f" {unassigned} without any connection in none of them." if partition.unassigned else ""
    return (
        f"{whose(subject, simulated)}: connectivity sorted by {counted(partition.n_modules, 'Louvain module')} at "
        f"resolution {partition.resolution:g}, of {sizes} regions, Q = {partition.q:.2f}.{alone} Red is positive, blue "
        f"negative, white zero; the scale runs to ±{limit:g}."
    )


def role_caption(subject: str, n_hubs: int, *, hub_z: float, simulated: bool) -> str:
    """Say what the map of roles shows."""
    return (
        f"{whose(subject, simulated)}: every region by participation (how evenly its connections spread over the "
        f"modules) and within-module z (how strongly it is connected in its own), after Guimerà and Amaral (2005). "
        f"{counted(n_hubs, 'region')} with a z of at least {hub_z:g} count as hubs; in a graph of this size few do."
    )
