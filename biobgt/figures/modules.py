"""Modules on the screen: the cartography of regions, and captions in words."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.figures.frame import layout, whose
from biobgt.wording import counted

if TYPE_CHECKING:  # it brings scikit-learn, which the start of the app does without
    from biobgt.modules import Partition

# Okabe and Ito's colours, safe for the colour-blind; modules past the eighth start over with another symbol.
MODULE_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
_SYMBOLS = ("circle", "diamond", "square", "cross")


def role_map(
    participation: NDArray[np.float64],
    within_z: NDArray[np.float64],
    modules: Sequence[int],
    regions: Sequence[str],
    *,
    hub_z: float,
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
    """
    labels = np.asarray(modules)
    names = np.array([escape(name, quote=False) for name in regions], dtype=object)
    figure = go.Figure()
    for i, module in enumerate(sorted(set(labels.tolist()) - {0})):
        members = labels == module
        figure.add_scatter(
            x=participation[members],
            y=within_z[members],
            text=names[members],
            mode="markers",
            name=f"Module {module}",
            marker={
                "color": MODULE_COLOURS[i % len(MODULE_COLOURS)],
                "symbol": _SYMBOLS[(i // len(MODULE_COLOURS)) % len(_SYMBOLS)],
                "size": 8,
            },
            hovertemplate="%{text}<br>participation %{x:.2f}, z %{y:.2f}",
        )
    figure.add_hline(y=hub_z, line={"dash": "dot", "color": "#7A868C"}, annotation_text="hubs above")
    figure.update_xaxes(title="Participation", range=[-0.03, 1])
    figure.update_yaxes(title="Within-module z")
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0}
    figure.update_layout(legend=legend, **layout(title, simulated, height=480, top=96))
    return figure


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
