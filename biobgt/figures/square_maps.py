"""Square maps of regions on the screen: their axes, the lines between blocks of regions, and the blocks' names."""

from collections.abc import Sequence
from typing import Any

from biobgt.base.colours import MODULE_COLOURS, PALE_GREY
from biobgt.figures.frame import Axes, axis_suffix, block_brackets, block_lines, block_ticks, side_by_side_axes
from biobgt.figures.modules import label_rows
from biobgt.figures.region_order import UNLABELLED, RegionOrder

PANEL_GAP = 0.03
_UNNAMED_COLOUR = PALE_GREY
_NAME_SHARE = {1: 1 / 19, 2: 1 / 10}  # of a panel's height on a narrow page, for a name


def block_colours(order: RegionOrder) -> list[str]:
    """A colour for each block of regions; grey for those without a label."""
    named = [name for name, _, _ in order.blocks if name != UNLABELLED]
    colours = {name: MODULE_COLOURS[i % len(MODULE_COLOURS)] for i, name in enumerate(named)}
    return [colours.get(name, _UNNAMED_COLOUR) for name, _, _ in order.blocks]


def square_axes(
    order: RegionOrder, names: Sequence[str], *, panels: int = 1, rows: Sequence[int] = (), row_gap: float = 0.0
) -> Axes:
    """Axes of square panels side by side, with the names of blocks beside the first of each row.

    Parameters
    ----------
    order : RegionOrder
    names : sequence of str
        Of the regions, in that order.
    panels : int
    rows : sequence of int
        How many panels stand in each row; all in one by default.
    row_gap : float
        Share of the height between two rows.
    """
    rows = rows or (panels,)
    axes = side_by_side_axes(panels, gap=PANEL_GAP)
    axis = {"type": "category", "showgrid": False, "zeroline": False, "constrain": "domain"}
    first = [sum(rows[:row]) for row in range(len(rows))]
    for panel, (row, column) in enumerate((row, column) for row, n in enumerate(rows) for column in range(n)):
        suffix = axis_suffix(panel)
        ticks = _names_apart(order, names, max(rows)) if panel in first else {"tickvals": []}
        if len(rows) > 1:
            _place(axes, suffix, row, column, n_rows=len(rows), n_columns=max(rows), gap=row_gap)
        anchor = {"scaleanchor": f"x{suffix}", "scaleratio": 1, "constraintoward": "top"}
        axes[f"xaxis{suffix}"] |= {**axis, "tickvals": []}
        axes[f"yaxis{suffix}"] |= {**axis, **ticks, **anchor, "autorange": "reversed"}
    return axes


def _place(axes: Axes, suffix: str, row: int, column: int, *, n_rows: int, n_columns: int, gap: float) -> None:
    """Put a panel into its row and column."""
    width = (1 - PANEL_GAP * (n_columns - 1)) / n_columns
    height = (1 - gap * (n_rows - 1)) / n_rows
    left, top = column * (width + PANEL_GAP), 1 - row * (height + gap)
    axes[f"xaxis{suffix}"]["domain"] = [left, left + width]
    axes[f"yaxis{suffix}"]["domain"] = [max(top - height, 0.0), top]


def block_shapes(order: RegionOrder, panel: int) -> list[dict[str, Any]]:
    """Lines between the blocks of a panel, and coloured brackets beside it."""
    x, y = f"x{axis_suffix(panel)}", f"y{axis_suffix(panel)}"
    lines = [{**line, "xref": x, "yref": y} for line in block_lines(order, both_ways=True)]
    brackets = block_brackets(order, block_colours(order))
    return lines + [{**bracket, "xref": f"{x} domain", "yref": y} for bracket in brackets]


def _names_apart(order: RegionOrder, names: Sequence[str], panels: int) -> dict[str, Any]:
    """One name per block in the bracket's colour, moved apart where panels side by side leave little height."""
    ticks: dict[str, Any] = dict(block_ticks(order, names))
    if not order.blocks:
        return ticks
    rows = label_rows(order, min(_NAME_SHARE.get(panels, 1 / 7), 1 / len(order.blocks)))
    coloured = zip(ticks["ticktext"], block_colours(order), strict=True)
    return {
        "tickvals": [names[row] for row in rows],
        "ticktext": [f'{name} <span style="color:{colour}">■</span>' for name, colour in coloured],
        "ticks": "",
        "ticklabelstandoff": 8,
        "tickfont": {"size": 11 if panels < 3 else 10},
    }
