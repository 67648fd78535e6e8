"""Atlases: which brain regions the columns of data stand for, where they lie and what they do."""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.files import asset
from biobgt.base.options import Registry
from biobgt.base.references import REFERENCES, in_brackets
from biobgt.base.wording import without_controls

# What regions do: the functional labellings of the bundled atlases (``assets/atlases.toml``), by their keys.
#
# Every bundled atlas has Dosenbach's, the paper's and Yeo's two labellings; the first two from the nearest of
# Dosenbach's seeds, Yeo's from the Schaefer parcel at the region's centre or the nearest one. Beyond the distances
# given here, a region has no label.


LABEL_RADIUS_MM = 15.0  # a region farther than this from every labelled seed has no label
YEO_RADIUS_MM = 4.0  # a region whose centre is farther than this from every cortical parcel is in no network of Yeo's
_DATA = tomllib.loads(asset("atlases.toml").read_text(encoding="utf-8"))
LABELLINGS: Mapping[str, str] = {key: one["title"] for key, one in _DATA["labellings"].items()}
LATER_LABELLINGS = frozenset(key for key, one in _DATA["labellings"].items() if "later" in one)
PAPER_MODULES: Mapping[str, str] = _DATA["paper_modules"]


def named_labelling(labelling: str) -> str:
    """What functional labels are called in a text, with their citation; a user's own labels have none."""
    if labelling not in LABELLINGS:
        return labelling
    return f"{LABELLINGS[labelling]}{in_brackets(_DATA['labellings'][labelling]['cites'])}"


# An atlas: which brain regions the columns of data stand for, where they lie and what they do.


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
    cites : tuple of str
        The same as works of the register of references; empty for a user's own atlas.
    also : mapping of str to str
        Other spellings of regions' names that files use (``7Networks_LH_Vis_1``), and the names they stand for.
    whole : Atlas or None
        The atlas of which these are some regions; None where they are all.
    """

    name: str
    title: str
    regions: tuple[str, ...]
    coordinates: FloatArray | None = None
    labels: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    citation: str = ""
    cites: tuple[str, ...] = ()
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

    def same_regions(self, other: "Atlas") -> bool:
        """Tell whether another atlas is the same one, perhaps read twice."""
        return self is other or (self.name == other.name and self.regions == other.regions)

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
        x = self.coordinates[:, 0]
        return tuple(None if np.isnan(at) else "M" if abs(at) < MIDLINE_MM else "L" if at < 0 else "R" for at in x)

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


# The bundled atlases, and how an atlas is recognised.
#
# A bundled atlas is a table of ``assets/atlases.toml`` and a CSV in ``assets/atlases``. One CSV may carry a second
# order of its regions (Schaefer's parcels by 7 or by 17 networks, Glasser's with the left or the right hemisphere
# first): each order is an atlas of its own, because columns of data stand in one or the other.
#
# A number of regions does not identify an atlas: names do, or whoever made the data. :func:`atlas_of_names` and
# :func:`recognise_atlas` are the two ways; the second asks where another published parcellation has as many regions.


UNKNOWN_ATLAS = "unknown"  # the user's word for an atlas that is none of the bundled ones
_NO_LABELS = {"name", "also", "x", "y", "z", "nearest_seed", "seed_mm"}
_ORDER_COLUMNS = ("roi_", "name_", "also_")
_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class BundledAtlas:
    """An atlas that everybody has.

    Attributes
    ----------
    key : str
        Short name, as given on the command line.
    title : str
        Name for figures and text.
    pattern : str
        A regular expression of how a part of a file's name writes it, in lower case.
    cites : tuple of str
        The works to cite.
    table : Path or None
        CSV with one row per region: ``name``, ``x``, ``y``, ``z`` in MNI mm, and a column for each functional
        labelling, empty where a region has no label; ``also`` may hold other spellings of the name, between
        semicolons. None is ``assets/atlases/KEY.csv``.
    order : str
        Another order of the table's regions: column ``roi_ORDER`` says where each stands, ``name_ORDER`` and
        ``also_ORDER`` what it is called there, where that differs. Empty is the order of the table.
    behind : Path or None
        A further table, whose regions stand behind those of the first.
    networks : str
        The labelling that regions are drawn and named by unless others are chosen. Empty is the first of the table.
    surface : str
        The file in ``assets/atlases/surface`` that says to which region of the table a vertex of fsaverage5 belongs;
        empty where there is none.
    image : str
        The label image in ``assets/atlases/images``, in MNI space at 2 mm, whose numbers count the regions of this
        atlas; empty where there is none.
    """

    key: str
    title: str
    pattern: str
    cites: tuple[str, ...]
    table: Path | None = None
    _: KW_ONLY
    order: str = ""
    behind: Path | None = None
    networks: str = ""
    surface: str = ""
    image: str = ""

    @cached_property
    def n_regions(self) -> int:
        """Number of regions; the tables are not read for it."""
        return sum(path.read_bytes().count(b"\n") - 1 for path in self._paths)

    @property
    def label_image(self) -> Path | None:
        """The label image whose numbers count the regions, from 1; None where none is bundled."""
        return asset("atlases", "images", self.image) if self.image else None

    @cached_property
    def surface_labels(self) -> NDArray[np.int16] | None:
        """Of every vertex of fsaverage5 the number of its region in this atlas, counted from 1; 0 is none.

        Shape (20484,), the left hemisphere's vertices first. None where no surface labels are bundled.
        """
        if not self.surface:
            return None
        labels = np.load(asset("atlases", "surface", self.surface), allow_pickle=False)
        if self.order:
            labels = np.concatenate([[0], self._rows[f"roi_{self.order}"].to_numpy(np.int16)])[labels]
        return _frozen(labels.astype(np.int16))

    @cached_property
    def atlas(self) -> Atlas:
        """The atlas, read once."""
        table = self._rows
        if self.order:
            table = table.sort_values(f"roi_{self.order}", ignore_index=True)
        names = tuple(table[self._column("name")])
        spelt = table[self._column("also")] if "also" in table else [""] * len(names)
        known = {one["column"]: key for key, one in _DATA["labellings"].items() if "column" in one}
        columns = [one for one in map(str, table) if one not in _NO_LABELS and not one.startswith(_ORDER_COLUMNS)]
        return Atlas(
            name=self.key,
            title=self.title,
            regions=names,
            coordinates=_frozen(table[["x", "y", "z"]].to_numpy(float)),
            labels={
                known.get(column, column): tuple(label or None for label in table[column])
                for column in sorted(columns, key=lambda one: one != self.networks)
            },
            citation="; ".join(REFERENCES[cited].in_full for cited in self.cites),
            cites=self.cites,
            also={
                other: name for name, others in zip(names, spelt, strict=True) for other in others.split(";") if other
            },
        )

    @property
    def _paths(self) -> list[Path]:
        return [path for path in (self.table or asset("atlases", f"{self.key}.csv"), self.behind) if path is not None]

    @cached_property
    def _rows(self) -> pd.DataFrame:
        """The rows of the tables, in their order."""
        read = [pd.read_csv(path, keep_default_na=False, na_values=dict.fromkeys("xyz", "")) for path in self._paths]
        return pd.concat(read, ignore_index=True)

    def _column(self, what: str) -> str:
        own = f"{what}_{self.order}"
        return own if self.order and own in self._rows else what


def _bundled_atlases() -> Iterator[BundledAtlas]:
    for key, about in _DATA["atlases"].items():
        files = {name: asset("atlases", about[name]) for name in ("table", "behind") if name in about}
        yield BundledAtlas(key, **{**about, **files, "cites": tuple(about["cites"])})


BUNDLED: Registry[BundledAtlas] = Registry("bundled atlas", *_bundled_atlases())


# Published parcellations that are not bundled: their numbers of regions, and how file names write them.
OTHER_PARCELLATIONS: Mapping[str, Mapping[str, Any]] = _DATA["other_parcellations"]


def others_of_size(n_regions: int) -> tuple[str, ...]:
    """Name the parcellations, apart from the bundled ones, that have so many regions."""
    return tuple(name for name, about in OTHER_PARCELLATIONS.items() if n_regions in about["sizes"])


def load_atlas(name: str) -> Atlas:
    """Load a bundled atlas by its short name (``cc200``, ``schaefer400``, ...).

    Examples
    --------
    >>> atlas = load_atlas("aal90")
    >>> atlas.n_regions, atlas.regions[0]
    (90, 'Precentral_L')
    """
    return BUNDLED.named(name).atlas


def numbered_atlas(n_regions: int, *, names: Iterable[str] | None = None) -> Atlas:
    """Stand in for an atlas that is not known: regions by name or number, no coordinates, no labels."""
    regions = tuple(names) if names is not None else tuple(f"Region {i}" for i in range(1, n_regions + 1))
    return Atlas(name=f"unknown{n_regions}", title=f"{n_regions} regions, atlas not known", regions=regions)


def atlas_of_names(names: Iterable[str]) -> Atlas | None:
    """Return the bundled atlas whose regions these are, in whatever order; None where they are no atlas's.

    Of two orders of regions with the same names (Glasser's) it is the first; names put the columns in it.
    """
    own = tuple(names)
    same_size = (load_atlas(name) for name, about in BUNDLED.items() if about.n_regions == len(own))
    return next((atlas for atlas in same_size if set(atlas.regions) == set(atlas.own_names(own))), None)


def recognise_atlas(n_regions: int) -> Atlas | None:
    """Name the bundled atlas from the number of regions alone, which says enough only where one parcellation has it.

    None where no bundled atlas has that many; ChoiceNeeded where two of them fit, or one and another parcellation.
    """
    fitting = [load_atlas(name) for name, about in BUNDLED.items() if about.n_regions == n_regions]
    others = others_of_size(n_regions)
    if len(fitting) > 1 or (fitting and others):
        titles = "; ".join([atlas.title for atlas in fitting] + list(others))
        raise atlas_question(f"{n_regions} regions fit more than one atlas: {titles}.", fitting)
    return fitting[0] if fitting else None


def atlas_question(question: str, fitting: Iterable[Atlas]) -> ChoiceNeeded:
    """Ask which of some atlases it is, or none of them, and say what follows from each answer."""
    known = {
        atlas.name: "regions get its names, their places in the brain and functional labels, and models of this atlas "
        "can be applied"
        for atlas in fitting
    }
    other = "regions go by number, nothing is drawn on a brain, and no model applies"
    return ChoiceNeeded(question, option="atlas", choices={**known, UNKNOWN_ATLAS: other})


def _frozen(array: NDArray[_Number]) -> NDArray[_Number]:
    array.setflags(write=False)
    return array
