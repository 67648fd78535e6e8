"""An atlas: which brain regions the columns of data stand for, where they lie and what they do."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.references import Citation
from biobgt.wording import without_controls

Hemisphere = Literal["L", "R", "M"]
MIDLINE_MM = 3.0
FEWEST_REGIONS = 2  # of a network
CHOOSE_ITS_ATLAS = "Choose the atlas the data were extracted with."


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
        One unique name per region.
    coordinates : ndarray, shape (n_regions, 3), or None
        MNI coordinates in mm; None where they are not known, and then nothing can be drawn on a brain. A row of NaN is
        a region whose place is not known: it is left out of brains, and of nothing else.
    labels : mapping of str to tuple of (str or None)
        Functional labellings by name; None marks a region without a label.
    citation : str
        What to cite, in words.
    cites : tuple of Citation
        The same as works of the register of references; empty for a user's own atlas.
    also : mapping of str to str
        Other spellings of regions' names that files use (``7Networks_LH_Vis_1``), and the names they stand for.
    whole : Atlas or None
        The atlas of which these are some regions; None where they are all.
    """

    name: str
    title: str
    regions: tuple[str, ...]
    coordinates: NDArray[np.float64] | None = None
    labels: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    citation: str = ""
    cites: tuple[Citation, ...] = ()
    also: Mapping[str, str] = field(default_factory=dict)
    whole: "Atlas | None" = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "regions", tuple(map(without_controls, self.regions)))
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
    def placed(self) -> NDArray[np.bool_]:
        """Which regions have coordinates, shape (n_regions,)."""
        if self.coordinates is None:
            return np.zeros(self.n_regions, dtype=bool)
        return np.asarray(np.isfinite(self.coordinates).all(axis=1))

    def keep(self, order: Sequence[int]) -> "Atlas":
        """The atlas of some of its regions, counted from 0: the name stays, and the title says how many there are."""
        regions, whole = tuple(self.regions[i] for i in order), self.whole or self
        return replace(
            self,
            title=f"{whole.title}, {len(regions)} of {whole.n_regions} regions",
            whole=whole,
            regions=regions,
            coordinates=None if self.coordinates is None else self.coordinates[list(order)],
            labels={name: tuple(labels[i] for i in order) for name, labels in self.labels.items()},
            also={spelt: name for spelt, name in self.also.items() if name in set(regions)},
        )

    def own_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Write names of regions as this atlas does, where it knows another spelling of them."""
        return tuple(self.also.get(name, name) for name in names)

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
        far = np.nan_to_num(np.abs(self.coordinates - other.coordinates), nan=np.inf).max(axis=1)
        far[~self.placed & ~other.placed] = 0
        number = int(far.argmax())
        places = [f"({x:g}, {y:g}, {z:g})" for x, y, z in (self.coordinates[number], other.coordinates[number])]
        return (
            f"its coordinates are others: region {number + 1}, '{self.regions[number]}', lies at {places[0]} mm "
            f"instead of {places[1]} mm"
        )

    @property
    def hemispheres(self) -> tuple[Hemisphere | None, ...] | None:
        """Side of each region by its x coordinate; within 3 mm of the midline it is ``M``, without a place None."""
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
        """One row per region: name, coordinates, side and labels (empty where there is none)."""
        frame = pd.DataFrame({"region": self.regions}, index=pd.RangeIndex(1, self.n_regions + 1, name="number"))
        if self.coordinates is not None:
            frame[["x", "y", "z"]] = self.coordinates
            frame["hemisphere"] = self.hemispheres
        for name, labels in self.labels.items():
            frame[name] = labels
        return frame


def _side(x: float) -> Hemisphere | None:
    if np.isnan(x):
        return None
    if abs(x) < MIDLINE_MM:
        return "M"
    return "L" if x < 0 else "R"
