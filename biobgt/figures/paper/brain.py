"""Regions in the brain, in the paper: nodes in nilearn's glass brain, seen from several sides.

The twin of :func:`biobgt.figures.brain_3d`: same regions, groups and colours. A connection between the hemispheres
does not show in the views of one hemisphere, only from the front and from above.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from biobgt.errors import InputError
from biobgt.figures.brain_nodes import Edges, Values, check_nodes, node_groups
from biobgt.figures.paper.frame import full_title
from biobgt.figures.paper.glass import BrainPanel, DisplayMode, compose_brains
from biobgt.figures.paper.style import PaperStyle

_PLAIN = PaperStyle()
_TWO_COLUMNS_MM = 120.0  # from this width on, panels stand in two columns


def glass_brain(
    coordinates: Values,
    regions: Sequence[str],
    *,
    sizes: Values | None = None,
    values: Values | None = None,
    groups: Sequence[str | None] | None = None,
    group_colours: Mapping[str, str] | None = None,
    edges: Edges | None = None,
    quantity: str = "",
    limits: tuple[float, float] | None = None,
    ranked: bool = False,
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
    display_mode: DisplayMode = "lyrz",
) -> Figure:
    """Draw regions in a glass brain.

    Parameters
    ----------
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm.
    regions : sequence of str, length n_regions
        Named on the screen only.
    sizes : ndarray, shape (n_regions,), optional
        A node's area grows evenly from the smallest size to the largest; NaN is drawn smallest.
    values : ndarray, shape (n_regions,), optional
        Colours of the nodes, unless groups are given; NaN is grey.
    groups : sequence of (str or None), length n_regions, optional
        A colour and a legend entry each; None is grey, "no module".
    group_colours : mapping of str to str, optional
        Colours of groups, as ``#rrggbb``, and their order; other groups take the palette in natural order.
    edges : sequence of (int, int, float), optional
        Two regions, counted from 0, and a weight: the stronger the thicker, dashed where negative.
    quantity : str
        What the values are.
    limits : (float, float), optional
        Ends of the colour scale; where not given, those of the values.
    ranked : bool
        The values are ranks: 1 is the strongest, strikes the eye first and lies on top.
    title : str
    simulated : bool
        Adds the word to the title.
    style : PaperStyle
    display_mode : {"lyrz", "ortho"}
        Left, front, right and top; or side, front and top.
    """
    check_nodes(coordinates, regions, sizes=sizes, values=values, groups=groups, edges=edges)
    panel = BrainPanel(
        parts=tuple(node_groups(len(regions), groups, group_colours, values)),
        sizes=sizes,
        values=values if groups is None else None,
        edges=tuple(edges or ()),
    )
    return compose_brains(
        [panel],
        coordinates,
        heading=full_title(title, simulated),
        quantity=quantity,
        limits=limits,
        style=style,
        display_mode=display_mode,
        ranked=ranked,
    )


def five_brains(
    panels: Mapping[str, Values],
    coordinates: Values,
    regions: Sequence[str],
    *,
    captions: Mapping[str, str] | None = None,
    quantity: str = "",
    limits: tuple[float, float] | None = None,
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
    display_mode: DisplayMode = "lyrz",
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
    limits : (float, float), optional
        Ends of the colour scale; where not given, those of all values.
    title : str
    simulated : bool
        Adds the word to the title.
    style : PaperStyle
    display_mode : {"lyrz", "ortho"}
    """
    if not panels:
        raise InputError("There is no measure to draw in a brain; give at least one.")
    for values in panels.values():
        check_nodes(coordinates, regions, sizes=None, values=values, groups=None, edges=None)
    drawn = [
        BrainPanel(
            parts=tuple(node_groups(len(regions), None, None, values)),
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
        heading=full_title(title, simulated),
        quantity=quantity,
        limits=limits,
        columns=2 if style.width_mm >= _TWO_COLUMNS_MM and len(panels) > 1 else 1,
        style=style,
        display_mode=display_mode,
    )
