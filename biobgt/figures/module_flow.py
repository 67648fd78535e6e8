"""Two divisions of the brain as a flow diagram (Sankey): which modules go where, and with how many regions."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.figures.frame import Trace, layout, whose
from biobgt.figures.modules import module_colours
from biobgt.wording import counted

if TYPE_CHECKING:  # it brings scikit-learn, which the start of the app does without
    from biobgt.modules import ModuleAgreement

_UNMATCHED = "#9AA5AB"
_FLOW_OPACITY = 0.45
_TOP, _BOTTOM = 84, 16  # px
_LINE = 14  # px; names of several lines need as many between small nodes
_LETTER = 6.4  # px, of the names' font
_BESIDE = 12  # px from the diagram to the names


def module_flow(
    contingency: pd.DataFrame,
    names: Mapping[int, str],
    *,
    targets: Mapping[Any, str] | None = None,
    matched: Mapping[Any, int],
    sides: tuple[str, str],
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw the regions' way from modules, on the left, to another division, on the right.

    Parameters
    ----------
    contingency : DataFrame
        Number of regions; a row a module, a column a label or a module of the other division.
    names : mapping of int to str
        What each module on the left is called.
    targets : mapping of (int or str) to str, optional
        What each column is called; by default its own name.
    matched : mapping of (int or str) to int
        The module whose colour a column takes; columns that are not there are grey.
    sides : tuple of str
        What stands on the left and on the right.
    title : str
    simulated : bool
    """
    modules, columns = list(contingency.index), list(contingency.columns)
    counts = contingency.to_numpy()
    if not counts.any():
        raise InputError("No region has a place in both divisions, so no flow between them can be drawn.")
    colours = module_colours({*modules, *matched.values()})
    left = [colours[module] for module in modules]
    right = [colours[matched[column]] if column in matched else _UNMATCHED for column in columns]
    flows = [(int(i), len(modules) + int(j), int(counts[i, j])) for i, j in zip(*counts.nonzero(), strict=True)]
    called = [names[module] for module in modules], [str((targets or {}).get(column, column)) for column in columns]
    pad = 2 + _LINE * max(_in_lines(name).count("<br>") + 1 for side in called for name in side)
    height = _TOP + _BOTTOM + (pad + 18) * max(len(modules), len(columns), 4)
    heights = _node_places(counts, height - _TOP - _BOTTOM, pad)
    nodes = {
        "label": [escape(name, quote=False) for side in called for name in side],
        "color": [*left, *right],
        "x": [0.001] * len(modules) + [0.999] * len(columns),
        "y": [*heights[0], *heights[1]],
        "pad": pad,
    }
    frame = layout(title, simulated, height=height, top=_TOP)
    frame["margin"] |= {"l": _room(called[0]), "r": _room(called[1]), "b": _BOTTOM}
    return go.Figure([_sankey(nodes, flows)], {**frame, "annotations": _side_names(called, heights, sides)})


def _sankey(nodes: Mapping[str, Any], flows: Sequence[tuple[int, int, int]]) -> Trace:
    """Nodes, and flows of so many regions from one to another, each in the colour of where it comes from."""
    return {
        "type": "sankey",
        "arrangement": "fixed",
        "node": {
            **nodes,
            "thickness": 16,
            "line": {"width": 0},
            "hovertemplate": "%{label}<br>%{value} regions<extra></extra>",
        },
        "link": {
            "source": [flow[0] for flow in flows],
            "target": [flow[1] for flow in flows],
            "value": [flow[2] for flow in flows],
            "color": [_faded(nodes["color"][flow[0]]) for flow in flows],
            "hovertemplate": "%{source.label} → %{target.label}<br>%{value} regions<extra></extra>",
        },
        "valueformat": "d",
        # plotly writes names onto the flows; they stand beside the nodes instead.
        "textfont": {"color": "rgba(0, 0, 0, 0)", "size": 1, "shadow": "none"},
    }


def _node_places(counts: NDArray[np.int64], height: float, pad: float) -> tuple[list[float], list[float]]:
    """Centre of each node from the top, as a share of the height; the right side in the order of what flows there."""
    order = np.argsort((counts * np.arange(len(counts))[:, None]).sum(axis=0) / counts.sum(axis=0), kind="stable")
    sizes = counts.sum(axis=1), counts.sum(axis=0)[order]
    scale = min((height - pad * (len(size) - 1)) / size.sum() for size in sizes)
    centres = []
    for size in sizes:
        ends = np.cumsum(size * scale + pad) - pad
        centres.append((ends - size * scale / 2 + (height - ends[-1]) / 2) / height)
    placed = np.empty(len(order))
    placed[order] = centres[1]
    return centres[0].tolist(), placed.tolist()


def _side_names(
    called: tuple[Sequence[str], Sequence[str]],
    heights: tuple[Sequence[float], Sequence[float]],
    sides: tuple[str, str],
) -> list[dict[str, object]]:
    """Names beside the nodes, and above them what each side is."""
    notes: list[dict[str, object]] = []
    for x, anchor, names, centres, side in zip((0, 1), ("right", "left"), called, heights, sides, strict=True):
        beside = {"x": x, "xref": "paper", "yref": "paper", "xanchor": anchor, "showarrow": False}
        shift = -_BESIDE if x == 0 else _BESIDE
        for name, centre in zip(names, centres, strict=True):
            notes.append(
                beside
                | {"text": _in_lines(name), "y": 1 - centre, "yanchor": "middle", "xshift": shift, "align": anchor}
            )
        title = f"<b>{escape(side, quote=False)}</b>"
        notes.append(beside | {"text": title, "y": 1, "yanchor": "bottom", "yshift": 8, "xshift": shift})
    return notes


def _room(names: Sequence[str]) -> int:
    """Width of the longest line of the names."""
    longest = max(len(line) for name in names for line in _in_lines(name).split("<br>"))
    return _BESIDE + 6 + round(_LETTER * longest)


def _in_lines(name: str) -> str:
    """A name with each of its parts on a line, so that a narrow page keeps room for the flows."""
    return escape(name, quote=False).replace(" · ", "<br>").replace(", ", ",<br>")


def flow_caption(subject: str, agreement: "ModuleAgreement", *, labelling: str, simulated: bool) -> str:
    """Say what the flow from a subject's modules to functional labels shows."""
    return (
        f"{whose(subject, simulated)}: where the {counted(agreement.n_compared, 'region')} with a module and a label "
        f"go, from Louvain modules to {labelling}. A network has the colour of the module with which it shares most "
        f"regions, one to one; grey ones have none. {counted(agreement.n_unlabelled, 'region')} without a label and "
        f"{agreement.n_unassigned} in no module are left out. AMI = {agreement.ami:.2f}."
    )


def group_flow_caption(
    groups: tuple[str, str], agreement: "ModuleAgreement", n_changed: int, *, simulated: bool
) -> str:
    """Say what the flow from one group's modules to another's shows."""
    whom = "simulated subjects" if simulated else "subjects"
    return (
        f"Consensus modules of the {whom} of {groups[0]} (left) and {groups[1]} (right), numbered and coloured alike "
        f"where they share the most regions. {n_changed} of {counted(agreement.n_compared, 'region')} are in another "
        f"module; AMI = {agreement.ami:.2f}. The groups are compared as they are, not adjusted for motion, age, sex or "
        "site."
    )


def _faded(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {_FLOW_OPACITY})"
