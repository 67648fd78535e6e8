"""From where a brain on the screen is seen first, and the names of regions, placed so that none lies on another.

Plotly writes names wherever their regions are. Seen from the side, hubs of both hemispheres lie close together, so each
name is moved away from its region, with a line between the two, until it is free as the brain is first seen.
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from biobgt.figures.brain_nodes import Values

# From the left, the front and above: most of a hemisphere and the depth of the brain are seen at once.
_CAMERA: Mapping[str, Mapping[str, float]] = {
    "eye": {"x": -1.13, "y": 0.68, "z": 0.5},
    "center": {"x": 0, "y": 0, "z": -0.06},
}
_FIELD = np.tan(np.pi / 8)  # half of plotly's field of view, 45 degrees
_NAME_COLOUR, _BEHIND_NAME = "white", "#C24E00"  # a contrast of 4.8 to 1, on light and on dark pages
_LETTER, _LINE = 6.6, 16.0  # px: width of a letter and height of a line, of names of 12 px
_HALF_WIDTH = 228.0  # px: what a narrow page shows on either side of the middle
_RADII = (12.0, 20.0, 30.0, 42.0, 56.0, 72.0, 90.0, 110.0, 132.0)  # px, from a region to its name
_DIRECTIONS = 16
_NODE = np.array([9.0, 9.0])  # px, half the size of a hub; no name covers one that is named


def scene(distance: float, names: Sequence[Mapping[str, object]] = ()) -> dict[str, object]:
    """Plotly's scene: no axes, and from where the brain is seen first, so many times the usual distance away."""
    hidden = {"visible": False, "showspikes": False}
    eye = {axis: distance * place for axis, place in _CAMERA["eye"].items()}
    frame: dict[str, object] = {"xaxis": hidden, "yaxis": hidden, "zaxis": hidden, "annotations": list(names)}
    camera = {**_CAMERA, "eye": eye}
    return frame | {"aspectmode": "data", "camera": camera, "bgcolor": "rgba(0, 0, 0, 0)", "dragmode": "orbit"}


def region_names(
    coordinates: Values, regions: Sequence[str], named: Sequence[int], *, around: NDArray[np.floating], height: float
) -> list[dict[str, object]]:
    """The names of some regions as plotly writes them, each with a line to its region.

    Parameters
    ----------
    coordinates : ndarray, shape (n_regions, 3)
        In MNI mm.
    regions : sequence of str, length n_regions
    named : sequence of int
        Counted from 0; the first has the first choice of its place. Regions without coordinates are left out.
    around : ndarray, shape (n_points, 3)
        All that is drawn; its extent decides how large a millimetre is on the screen.
    height : float
        Of the drawing, in pixels.
    """
    named = [region for region in named if np.isfinite(coordinates[region]).all()]
    points = _on_screen(coordinates[named], around, height)
    offsets = name_offsets(points, [len(regions[region]) for region in named])
    return [
        {
            **dict(zip("xyz", map(float, coordinates[region]), strict=True)),
            "text": escape(regions[region], quote=False),
            "ax": across,
            "ay": down,
            "xanchor": "center",
            "yanchor": "middle",
            "font": {"size": 12, "color": _NAME_COLOUR},
            "arrowhead": 0,
            "arrowwidth": 1,
            "arrowcolor": _BEHIND_NAME,
            "bgcolor": _BEHIND_NAME,
            "borderpad": 0,
        }
        for region, (across, down) in zip(named, offsets, strict=True)
    ]


def name_offsets(points: Values, letters: Sequence[int]) -> list[tuple[float, float]]:
    """How far each name is moved from its point, in pixels to the right and down, so that it lies on no other.

    Of all free places the nearest is taken, at one distance the one that leads most away from the middle. Names that
    find none, because there are too many, take the place with the least overlap.

    Parameters
    ----------
    points : ndarray, shape (n_names, 2)
        Pixels to the right of and below the middle.
    letters : sequence of int, length n_names
        Of each name.
    """
    angles = np.linspace(0, 2 * np.pi, _DIRECTIONS, endpoint=False)
    directions = np.tile(np.stack([np.cos(angles), np.sin(angles)], axis=1), (len(_RADII), 1))
    radii = np.repeat(_RADII, _DIRECTIONS)
    sizes = np.stack([_LETTER * np.asarray(letters, float) / 2, np.full(len(letters), _LINE / 2)], axis=1)
    taken = [(point, _NODE) for point in points]
    offsets = []
    for point, size in zip(points, sizes, strict=True):
        moves = directions * (radii[:, None] + size)
        overlap = sum(_overlap(point + moves, size, other, its) for other, its in taken)
        beyond = np.maximum(np.abs(point[0] + moves[:, 0]) + size[0] - _HALF_WIDTH, 0)
        best = np.lexsort((-moves @ point, radii, overlap + _LINE * beyond))[0]
        taken.append((point + moves[best], size))
        across, down = moves[best].round(1)
        offsets.append((float(across), float(down)))
    return offsets


def _overlap(centres: Values, size: Values, other: Values, its: Values) -> Values:
    """The area that boxes around these centres, of this half size, share with another box."""
    shared = np.maximum(size + its - np.abs(centres - other), 0)
    product: Values = shared[:, 0] * shared[:, 1]
    return product


def _on_screen(places: Values, around: NDArray[np.floating], height: float) -> Values:
    """Where places are first seen: pixels to the right of and below the middle."""
    low, high = np.nanmin(around, axis=0), np.nanmax(around, axis=0)
    size = np.prod(high - low) ** (1 / 3)  # plotly's unit of a scene that keeps proportions
    eye, centre = (np.array([_CAMERA[name][axis] for axis in "xyz"]) for name in ("eye", "center"))
    ahead = (centre - eye) / np.linalg.norm(centre - eye)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    seen = (places - (low + high) / 2) / size - eye
    depth = seen @ ahead
    pixels = height / 2 / _FIELD / depth
    found: Values = np.stack([seen @ right * pixels, -(seen @ up) * pixels], axis=1)
    return found
