"""Regions in the brain, drawn for paper: nodes in nilearn's glass brain, seen from several sides.

A connection between the hemispheres does not show in the views of one hemisphere, only from the front and from above.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from biobgt.base.errors import InputError
from biobgt.figures.brain import BrainDrawing
from biobgt.figures.brain_nodes import Values, check_nodes, node_groups, placed_parts
from biobgt.figures.paper.glass import BrainPanel, DisplayMode, compose_brains
from biobgt.figures.paper.paper_frame import full_title
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.surface import Surface, checked_labels

_PLAIN = PaperStyle()
_TWO_COLUMNS_MM = 120.0  # from this width on, panels stand in two columns


def draw_brain(shown: BrainDrawing, style: PaperStyle, display_mode: DisplayMode) -> Figure:
    """Draw regions in a glass brain or on a cortex; their names show on the screen only.

    Parameters
    ----------
    shown : BrainDrawing
    style : PaperStyle
    display_mode : str
        The sides from which the brain is seen, as nilearn names them.
    """
    painted: Surface | None = None if shown.brain == "nodes" else shown.brain
    panel = BrainPanel(
        parts=tuple(shown.parts),
        sizes=shown.sizes,
        values=shown.shades,
        edges=() if painted else tuple(shown.connections),
        surface=painted,
        labels=checked_labels(shown) if painted else None,
    )
    return compose_brains(
        [panel],
        shown.coordinates,
        heading=full_title(shown.title, shown.simulated, style),
        quantity=shown.quantity,
        limits=shown.limits,
        style=style,
        display_mode=display_mode,
        ranked=shown.ranked,
    )


def five_brains(
    panels: Mapping[str, Values],
    coordinates: Values,
    regions: Sequence[str],
    *,
    captions: Mapping[str, str] | None = None,
    quantity: str = "",
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Compare measures, such as DC, BC, CC, EC and NE, in a glass brain each, on one colour scale.

    Parameters
    ----------
    panels : mapping of str to ndarray, shape (n_regions,)
        By the name of the measure. They share a scale: bring z-scores or ranks where their units differ.
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm.
    regions : sequence of str, length n_regions
    captions : mapping of str to str, optional
        A few words on each measure, written after its name.
    quantity : str
        What the values are.
    title : str
    simulated : bool
        Adds the word to the title.
    style : PaperStyle
    """
    if not panels:
        raise InputError("There is no measure to draw in a brain; give at least one.")
    for values in panels.values():
        check_nodes(coordinates, regions, sizes=None, values=values, groups=None, edges=None)
    drawn = [
        BrainPanel(
            parts=tuple(placed_parts(node_groups(len(regions), None, None, values), coordinates)),
            sizes=values,
            values=values,
            name=name,
            text=(captions or {}).get(name, ""),
        )
        for name, values in panels.items()
    ]
    return compose_brains(
        drawn,
        coordinates,
        heading=full_title(title, simulated, style),
        quantity=quantity,
        limits=None,
        columns=2 if style.width_mm >= _TWO_COLUMNS_MM and len(panels) > 1 else 1,
        style=style,
        display_mode="lyrz",
    )
