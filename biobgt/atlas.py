"""Atlases: which brain regions a column of data stands for, where they lie and what they do.

Five atlases are bundled as tables in ``assets/atlases``. Each region carries two functional labellings,
Dosenbach's six networks and the six modules of the BioBGT paper, taken from the nearest of Dosenbach's 160
seeds. A region further than :data:`LABEL_RADIUS_MM` from every seed has no label and is shown as unlabelled.

A number of regions does not identify an atlas: names do, or whoever made the data. :func:`atlas_of_names` and
:func:`recognise_atlas` are the two ways; the second asks where another published parcellation has as many regions.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.assets import asset
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.parcellations import others_of_size

Hemisphere = Literal["L", "R", "M"]
Labelling = Literal["dosenbach", "paper"]

UNKNOWN_ATLAS = "unknown"  # the user's word for an atlas that is none of the bundled ones
LABEL_RADIUS_MM = 15.0
MIDLINE_MM = 3.0
LABELLINGS: Mapping[str, str] = {
    "dosenbach": "Dosenbach's six networks",
    "paper": "the six modules of the BioBGT paper",
}
PAPER_MODULES: Mapping[str, str] = {
    "Vis": "visual cortex",
    "MC": "motion control",
    "CC": "cognition control",
    "Aud": "auditory cortex",
    "LP": "language processing",
    "EC": "executive control",
}


@dataclass(frozen=True, eq=False)
class Atlas:
    """A set of brain regions, in the order of the data's columns.

    Attributes
    ----------
    name : str
        Short name, as given on the command line.
    title : str
        Name for figures and text.
    regions : tuple of str
        One unique name a region.
    coordinates : ndarray, shape (n_regions, 3), or None
        MNI coordinates in mm; None where they are not known, and then nothing can be drawn on a brain.
    labels : mapping of str to tuple of (str or None)
        Functional labellings by name; None marks a region without a label.
    citation : str
        What to cite.
    """

    name: str
    title: str
    regions: tuple[str, ...]
    coordinates: NDArray[np.float64] | None = None
    labels: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    citation: str = ""

    def __post_init__(self) -> None:
        if len(set(self.regions)) != len(self.regions):
            repeated = next(name for name in self.regions if self.regions.count(name) > 1)
            raise InputError(f"Atlas {self.name}: the region name '{repeated}' stands twice; names must differ.")
        if self.coordinates is not None and self.coordinates.shape != (self.n_regions, 3):
            raise InputError(
                f"Atlas {self.name}: coordinates have shape {self.coordinates.shape}, expected ({self.n_regions}, 3)."
            )

    @property
    def n_regions(self) -> int:
        """Number of regions."""
        return len(self.regions)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with any region's name, its place in the order or its coordinates.

        The atlas's name, title, labels and citation do not count; coordinates count to 0.01 mm.
        """
        places = None if self.coordinates is None else (np.round(self.coordinates, 2) + 0.0).tolist()  # no -0.0
        return hashlib.sha256(json.dumps([self.regions, places]).encode()).hexdigest()[:16]

    def differs_from(self, other: "Atlas") -> str:
        """Say what is the first difference to another atlas, for the end of a sentence."""
        if self.n_regions != other.n_regions:
            return f"it has {self.n_regions} regions instead of {other.n_regions}"
        pairs = zip(self.regions, other.regions, strict=True)
        for number, (own, others) in enumerate(pairs, start=1):
            if own != others:
                same = set(self.regions) == set(other.regions)
                how = "its regions are in another order" if same else "its regions have other names"
                return f"{how}: region {number} is '{own}' instead of '{others}'"
        if self.coordinates is None or other.coordinates is None:
            return "its regions have no coordinates" if self.coordinates is None else "its regions have coordinates"
        far = np.abs(self.coordinates - other.coordinates).max(axis=1)
        number = int(far.argmax())
        places = [f"({x:g}, {y:g}, {z:g})" for x, y, z in (self.coordinates[number], other.coordinates[number])]
        return (
            f"its coordinates are others: region {number + 1}, '{self.regions[number]}', lies at {places[0]} mm "
            f"instead of {places[1]} mm"
        )

    @property
    def hemispheres(self) -> tuple[Hemisphere, ...] | None:
        """Side of each region by its x coordinate; within 3 mm of the midline it is ``M``."""
        if self.coordinates is None:
            return None
        return tuple(_side(x) for x in self.coordinates[:, 0])

    def labelling(self, name: str) -> tuple[str | None, ...]:
        """Return one functional labelling, or say which ones this atlas has."""
        if name not in self.labels:
            has = ", ".join(self.labels) or "none"
            raise InputError(f"Atlas {self.name} has no labelling '{name}'. It has: {has}.")
        return self.labels[name]

    def n_unlabelled(self, name: str) -> int:
        """Count the regions that one labelling leaves out."""
        return sum(label is None for label in self.labelling(name))

    def table(self) -> pd.DataFrame:
        """One row a region: name, coordinates, side and labels (empty where there is none)."""
        frame = pd.DataFrame({"region": self.regions}, index=pd.RangeIndex(1, self.n_regions + 1, name="number"))
        if self.coordinates is not None:
            frame[["x", "y", "z"]] = self.coordinates
            frame["hemisphere"] = self.hemispheres
        for name, labels in self.labels.items():
            frame[name] = labels
        return frame


@dataclass(frozen=True)
class _Bundled:
    """What is known of a bundled atlas without its table; ``written`` is how a part of a file's name writes it."""

    title: str
    n_regions: int
    written: str
    citation: str


_AAL = "Tzourio-Mazoyer et al., NeuroImage 15:273 (2002), doi:10.1006/nimg.2001.0978"
BUNDLED: Mapping[str, _Bundled] = {
    "cc200": _Bundled(
        "Craddock CC200",
        200,
        r"cc200|craddock200",
        "Craddock et al., Human Brain Mapping 33:1914 (2012), doi:10.1002/hbm.21333",
    ),
    "aal90": _Bundled("AAL-90 (cerebrum)", 90, r"aal(?:90)?", _AAL),
    "aal116": _Bundled("AAL-116", 116, r"aal(?:116)?", _AAL),
    "dosenbach160": _Bundled(
        "Dosenbach 160",
        160,
        r"dos(?:enbach)?160",
        "Dosenbach et al., Science 329:1358 (2010), doi:10.1126/science.1194144",
    ),
    "power264": _Bundled(
        "Power 264", 264, r"power264", "Power et al., Neuron 72:665 (2011), doi:10.1016/j.neuron.2011.09.006"
    ),
}


@cache
def load_atlas(name: str) -> Atlas:
    """Load a bundled atlas by its short name (``cc200``, ``aal90``, ...)."""
    if name not in BUNDLED:
        raise InputError(f"There is no bundled atlas '{name}'. Bundled: {', '.join(BUNDLED)}.")
    about = BUNDLED[name]
    table = pd.read_csv(asset("atlases", f"{name}.csv"), keep_default_na=False, na_values={"x": [""]})
    return Atlas(
        name=name,
        title=about.title,
        regions=tuple(table["name"]),
        coordinates=_frozen(table[["x", "y", "z"]].to_numpy(float)),
        labels={
            "dosenbach": tuple(label or None for label in table["dosenbach_network"]),
            "paper": tuple(label or None for label in table["paper_module"]),
        },
        citation=about.citation,
    )


def numbered_atlas(n_regions: int, *, names: Iterable[str] | None = None) -> Atlas:
    """Stand in for an atlas that is not known: regions by name or number, no coordinates, no labels."""
    regions = tuple(names) if names is not None else tuple(f"Region {i}" for i in range(1, n_regions + 1))
    return Atlas(name=f"unknown{n_regions}", title=f"{n_regions} regions, atlas not known", regions=regions)


def atlas_of_names(names: Iterable[str]) -> Atlas | None:
    """Return the bundled atlas whose regions these are, in whatever order; None where they are no atlas's."""
    own = tuple(names)
    same_size = (load_atlas(name) for name, about in BUNDLED.items() if about.n_regions == len(own))
    return next((atlas for atlas in same_size if set(atlas.regions) == set(own)), None)


def recognise_atlas(n_regions: int, *, own: Iterable[Atlas] = ()) -> Atlas | None:
    """Name the atlas from the number of regions alone, which says enough only where one parcellation has it.

    Parameters
    ----------
    n_regions : int
    own : iterable of Atlas
        The user's atlases, considered beside the bundled ones.

    Returns
    -------
    Atlas or None
        None when neither a bundled atlas nor one of the user's has that many regions.

    Raises
    ------
    ChoiceNeeded
        When two of them fit, or one of them and a published parcellation that is not bundled.
    """
    fitting = [atlas for atlas in own if atlas.n_regions == n_regions]
    fitting += [load_atlas(name) for name, about in BUNDLED.items() if about.n_regions == n_regions]
    others = others_of_size(n_regions)
    if len(fitting) > 1 or (fitting and others):
        titles = ", ".join([atlas.title for atlas in fitting] + list(others))
        raise atlas_question(f"{n_regions} regions fit more than one atlas: {titles}.", fitting)
    return fitting[0] if fitting else None


def atlas_question(question: str, fitting: Iterable[Atlas]) -> ChoiceNeeded:
    """Ask which of some atlases it is, or none of them, and say what follows from each answer."""
    known = {
        atlas.name: f"{atlas.title}: regions get its names, their places in the brain and functional labels, and "
        "models of this atlas can be applied"
        for atlas in fitting
    }
    other = "another atlas, or not known: regions go by number, nothing is drawn on a brain, and no model applies"
    return ChoiceNeeded(question, option="atlas", choices={**known, UNKNOWN_ATLAS: other})


def _side(x: float) -> Hemisphere:
    if abs(x) < MIDLINE_MM:
        return "M"
    return "L" if x < 0 else "R"


def _frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array
