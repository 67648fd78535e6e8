"""Regions painted on the cortex, drawn for paper: both hemispheres from the side and from the middle, in a row."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D
from numpy.typing import NDArray

from biobgt.figures.brain_nodes import NO_VALUE
from biobgt.figures.paper.saving import MM_PER_INCH
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.surface import BARE, VIEWS, hemisphere_labels, hemisphere_mesh, triangle_regions

if TYPE_CHECKING:
    from biobgt.figures.paper.glass import Box, BrainPanel

_ORDER = (0, 2, 3, 1)  # of the views: left from the side and the middle, right from the middle and the side
_SOLID = {"rasterized": True, "antialiaseds": False}  # smoothed seams of triangles would show what is behind them
_CLOSER = 1.2  # matplotlib leaves wide borders around what it draws in 3-D


def draw_surface(
    figure: Figure, box: "Box", panel: "BrainPanel", shades: ScalarMappable | None, style: PaperStyle
) -> None:
    """Draw the four views of one painted cortex; they are pixels in a figure whose text stays text.

    Parameters
    ----------
    figure : Figure
    box : Box
        Where, in mm.
    panel : BrainPanel
        With a surface and labels.
    shades : ScalarMappable or None
        Of continuous colours.
    style : PaperStyle
    """
    assert panel.surface is not None
    assert panel.labels is not None
    width, height = style.width_mm, float(figure.get_figheight()) * MM_PER_INCH
    colours = _region_colours(panel, shades, style)
    for place, view in enumerate(_ORDER):
        hemisphere, side = VIEWS[view]
        side_mm = box.width / len(_ORDER)  # square, for matplotlib draws within one, and higher than the brain
        bottom = box.bottom + (box.height - side_mm) / 2
        where = ((box.left + place * side_mm) / width, bottom / height, side_mm / width, side_mm / height)
        axes: Any = figure.add_axes(where, projection=Axes3D.name)
        vertices, triangles = hemisphere_mesh(panel.surface, hemisphere)
        regions = triangle_regions(hemisphere_labels(panel.labels, hemisphere), triangles)
        front = _faces_the_eye(vertices, triangles, hemisphere, side)
        corners, painted = vertices[triangles[front]], colours[regions[front]]
        axes.add_collection3d(
            Poly3DCollection(corners, facecolors=painted, edgecolors=painted, linewidths=0.3, **_SOLID)
        )
        _look(axes, vertices, hemisphere, side)
        axes.text2D(0.5, 0.05, f"{hemisphere} {side}", fontsize=style.tick_size, ha="center", transform=axes.transAxes)


def _region_colours(panel: "BrainPanel", shades: ScalarMappable | None, style: PaperStyle) -> NDArray[np.float64]:
    """RGBA of each label, shape (n_regions + 1, 4); the bare cortex first."""
    assert panel.labels is not None
    n = max(int(panel.labels.max()), *(max(part.members) + 1 for part in panel.parts))
    colours = np.tile(to_rgba(BARE), (n + 1, 1))
    for part in panel.parts:
        members = np.array(part.members, dtype=int)
        if shades is not None and panel.values is not None and part.name != NO_VALUE:
            colours[members + 1] = shades.to_rgba(panel.values[members])
        elif part.name != NO_VALUE:
            colours[members + 1] = to_rgba(style.colour(part.colour))
    return colours


def _from_left(hemisphere: str, side: str) -> bool:
    return (hemisphere == "left") == (side == "lateral")


def _faces_the_eye(
    vertices: NDArray[np.float32], triangles: NDArray[np.uint16], hemisphere: str, side: str
) -> NDArray[np.bool_]:
    """Which triangles are turned to the eye; the others are behind them. Shape (n_triangles,)."""
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    outward: NDArray[np.float32] = np.cross(b - a, c - a)[:, 0]
    return outward < 0 if _from_left(hemisphere, side) else outward > 0


def _look(axes: Any, vertices: NDArray[np.float32], hemisphere: str, side: str) -> None:
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=_CLOSER)
    axes.set_proj_type("ortho")
    axes.view_init(elev=0, azim=180 if _from_left(hemisphere, side) else 0)
    axes.set_axis_off()
    axes.patch.set_alpha(0)
