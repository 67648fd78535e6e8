"""Atlases: which brain regions the columns of data stand for, where they lie and what they do."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.files import asset
from biobgt.base.options import Registry
from biobgt.base.references import Citation, in_brackets, work
from biobgt.base.wording import without_controls

# What regions do: the functional labellings of the bundled atlases, and what their labels mean.
#
# Every bundled atlas has Dosenbach's, the paper's and Yeo's two labellings; the first two from the nearest of
# Dosenbach's seeds, Yeo's from the Schaefer parcel at the region's centre or the nearest one. Beyond the distances
# given here, a region has no label.


LABEL_RADIUS_MM = 15.0  # a region farther than this from every labelled seed has no label
YEO_RADIUS_MM = (
    4.0  # a region whose centre is farther than this from every cortical parcel is in none of Yeo's networks
)


@dataclass(frozen=True)
class Labelling:
    """A division of regions into functional networks, modules or cortical divisions.

    Attributes
    ----------
    key : str
        Short name, as given on the command line.
    title : str
        As it stands within a sentence: "Yeo's 7 networks".
    citation : str
        Key of the work to cite.
    in_tables : str
        Its column in the tables of bundled atlases, where that is not the key.
    later : bool
        Whether the first versions had no such labels: who a cohort's subjects are must not depend on them.
    """

    key: str
    title: str
    citation: str
    in_tables: str = ""
    later: bool = False

    @property
    def column(self) -> str:
        """Its column in the tables of bundled atlases."""
        return self.in_tables or self.key


_ALL = (
    Labelling("dosenbach", "Dosenbach's six networks", "dosenbach2010", "dosenbach_network"),
    Labelling("paper", "the six modules of the BioBGT paper", "peng2025", "paper_module"),
    Labelling("yeo7", "Yeo's 7 networks", "yeo2011", later=True),
    Labelling("yeo17", "Yeo's 17 networks", "yeo2011", later=True),
    Labelling("gordon", "Gordon's 12 networks", "gordon2016"),
    Labelling("glasser_division", "Glasser's 22 cortical divisions", "glasser2016"),
)
FUNCTIONAL_LABELLINGS: Mapping[str, Labelling] = {one.key: one for one in _ALL}
LABELLINGS: Mapping[str, str] = {key: one.title for key, one in FUNCTIONAL_LABELLINGS.items()}
LATER_LABELLINGS = frozenset(key for key, one in FUNCTIONAL_LABELLINGS.items() if one.later)
PAPER_MODULES: Mapping[str, str] = {
    "Vis": "visual cortex",
    "MC": "motion control",
    "CC": "cognition control",
    "Aud": "auditory cortex",
    "LP": "language processing",
    "EC": "executive control",
}

# Published parcellations that are not bundled: how many regions they have, and how file names write them.
#
# A number of regions names an atlas only where no other one has it. This table says which numbers are shared; it has
# no names, coordinates or labels of regions. Numbers are those of the files that are handed round, which are not
# always the number in a parcellation's name (ABIDE's ``rois_cc400`` have 392 columns).


_SIZES = tuple(range(100, 1001, 100))


@dataclass(frozen=True)
class Parcellation:
    """The numbers of regions a parcellation is handed round with, and how a part of a file's name writes it.

    ``written`` is a regular expression for one part of a name in lower case, between underscores, dashes and dots.
    """

    sizes: tuple[int, ...]
    written: str


OTHER_PARCELLATIONS: Mapping[str, Parcellation] = {
    "Kong": Parcellation(_SIZES, r"kong20\d\d\w*"),
    "Yan": Parcellation(_SIZES, r"yan\d{4}\w*"),
    "Schaefer with Tian's subcortex": Parcellation(
        tuple(cortex + subcortex for cortex in _SIZES for subcortex in (16, 32, 50, 54)), r"schaefer\w*|tian\w*"
    ),
    "Glasser with subcortex": Parcellation((379,), r"glasser\w*|mmp\w*|hcpmmp\w*"),
    "Gordon with subcortex": Parcellation((352,), r"gordon\w*"),
    "Brainnetome with cerebellum": Parcellation((273,), r"brainnetome\w*|bna?273"),
    "Desikan-Killiany with further regions": Parcellation((70, 84, 86), r"desikan\w*|aparc"),
    "Destrieux with subcortex": Parcellation((164,), r"destrieux\w*|a2009s"),
    "Lausanne": Parcellation((83, 129, 234, 463, 1015), r"lausanne\w*|cammoun\w*"),
    "Harvard-Oxford, in another selection or order": Parcellation((48, 96, 110, 111, 112), r"harvardoxford\w*"),
    "AAL2 without cerebellum": Parcellation((94,), r"aal2"),
    "AAL3": Parcellation((166, 170), r"aal3v?\d*"),
    "Eickhoff-Zilles, as in ABIDE": Parcellation((116,), r"eickhoff\w*"),
    "Talairach-Tournoux, as in ABIDE": Parcellation((97,), r"talairach\w*"),
    "Dosenbach, as in ABIDE": Parcellation((161,), r"dos(?:enbach)?16[01]"),
    "Craddock, as in ABIDE and ADHD-200": Parcellation((190, 351, 392), r"cc[24]00|craddock\w*"),
    "BASC": Parcellation((7, 12, 20, 36, 64, 122, 197, 325, 444), r"basc\w*"),
    "Shirer (Stanford functional regions)": Parcellation((90, 499), r"shirer\w*"),
    "Seitzman": Parcellation((300,), r"seitzman\w*"),
    "DiFuMo": Parcellation((64, 128, 256, 512, 1024), r"difumo\w*"),
    "MSDL": Parcellation((39,), r"msdl"),
}


def others_of_size(n_regions: int) -> tuple[str, ...]:
    """Name the parcellations, apart from the bundled ones, that have so many regions."""
    return tuple(name for name, about in OTHER_PARCELLATIONS.items() if n_regions in about.sizes)


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
    coordinates: FloatArray | None = None
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


# Atlases: the bundled ones, and how an atlas is recognised.
#
# Bundled atlases stand in the register :data:`BUNDLED`, with tables in ``assets/atlases``: a new one is a row and a
# table. One table may carry a second order of its regions (Schaefer's parcels by 7 or by 17 networks, Glasser's with
# the left or the right hemisphere first): each order is a row of its own, because columns of data stand in one or the
# other.
#
# A number of regions does not identify an atlas: names do, or whoever made the data. :func:`atlas_of_names` and
# :func:`recognise_atlas` are the two ways; the second asks where another published parcellation has as many regions.


__all__ = [
    "BUNDLED",
    "LABELLINGS",
    "LABEL_RADIUS_MM",
    "PAPER_MODULES",
    "UNKNOWN_ATLAS",
    "Atlas",
    "BundledAtlas",
    "atlas_of_names",
    "atlas_question",
    "load_atlas",
    "numbered_atlas",
    "recognise_atlas",
]

UNKNOWN_ATLAS = "unknown"  # the user's word for an atlas that is none of the bundled ones
_NO_LABELS = {"name", "also", "x", "y", "z", "nearest_seed", "seed_mm"}
_ORDER_COLUMNS = ("roi_", "name_", "also_")
_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class BundledAtlas:
    """An atlas that everybody has: a row of the register, and a table.

    Attributes
    ----------
    key : str
        Short name, as given on the command line.
    title : str
        Name for figures and text.
    written : str
        A regular expression of how a part of a file's name writes it, in lower case.
    cites : Citation or tuple of Citation
        The works to cite.
    table : Path or None
        CSV with one row per region: ``name``, ``x``, ``y``, ``z`` in MNI mm, and a column for each functional
        labelling, empty where a region has no label; ``also`` may hold other spellings of the name, between
        semicolons. None is ``assets/atlases/KEY.csv``.
    order : str
        Another order of the table's regions: column ``roi_ORDER`` says where each stands, ``name_ORDER`` and
        ``also_ORDER`` what it is called there, where that differs. Empty is the order of the table.
    followed_by : Path or None
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
    written: str
    cites: Citation | tuple[Citation, ...]
    table: Path | None = None
    _: KW_ONLY
    order: str = ""
    followed_by: Path | None = None
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
        cites = self.cites if isinstance(self.cites, tuple) else (self.cites,)
        known = {one.column: key for key, one in FUNCTIONAL_LABELLINGS.items()}  # others have their own name
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
            citation="; ".join(work(cited).in_full for cited in cites),
            cites=cites,
            also={
                other: name for name, others in zip(names, spelt, strict=True) for other in others.split(";") if other
            },
        )

    @property
    def _paths(self) -> list[Path]:
        first = self.table or asset("atlases", f"{self.key}.csv")
        return [first] if self.followed_by is None else [first, self.followed_by]

    @cached_property
    def _rows(self) -> pd.DataFrame:
        """The rows of the tables, in their order."""
        read = [pd.read_csv(path, keep_default_na=False, na_values=dict.fromkeys("xyz", "")) for path in self._paths]
        return pd.concat(read, ignore_index=True)

    def _column(self, what: str) -> str:
        own = f"{what}_{self.order}"
        return own if self.order and own in self._rows else what


def _schaefer(size: int) -> tuple[BundledAtlas, BundledAtlas]:
    """The two orders of Schaefer's parcels; XCP-D before 0.6 wrote 217 for 200 parcels by 17 networks."""
    table, cites = asset("atlases", f"schaefer{size}.csv"), ("schaefer2018", "yeo2011")
    written = rf"schaefer(?:2018)?n?{size}(?:parcels?|p)?"
    surface = f"schaefer{size}.npy" if size <= _LARGEST_SURFACE else ""
    by_7, by_17 = rf"{written}(?:x?7(?:networks|n)?)?", rf"{written}(?:x?17(?:networks|n)?)?|schaefer{size + 17}"
    return (
        BundledAtlas(
            f"schaefer{size}",
            f"Schaefer {size}, 7-network order",
            by_7,
            cites,
            table,
            surface=surface,
            image=f"schaefer{size}.nii.gz",
        ),
        BundledAtlas(
            f"schaefer{size}_17",
            f"Schaefer {size}, 17-network order",
            by_17,
            cites,
            table,
            order="17",
            networks="yeo17",
            surface=surface,
        ),
    )


def _four_s(size: int) -> BundledAtlas:
    """Schaefer's parcels and the 56 subcortical and cerebellar regions that XCP-D puts behind them."""
    return BundledAtlas(
        f"4s{size + 56}",
        f"XCP-D 4S{size + 56}",
        rf"4s{size + 56}(?:parcels)?",
        ("mehta2024", "schaefer2018", "pauli2018", "najdenovska2018", "glasser2013", "king2019"),
        asset("atlases", f"schaefer{size}.csv"),
        followed_by=asset("atlases", "behind_schaefer56.csv"),
        surface=f"schaefer{size}.npy" if size <= _LARGEST_SURFACE else "",
    )


_LARGEST_SURFACE = 400  # parcels; of more there are no surface labels
_HUNDREDS = range(100, 1001, 100)
_GLASSER, _GLASSER_WRITTEN = asset("atlases", "glasser360.csv"), r"glasser(?:360|2016)?|(?:hcp)?mmp(?:1|10)?(?:360)?"
_DESIKAN = r"desikan(?:killiany)?{}|aparc|dk{}"

BUNDLED: Registry[BundledAtlas] = Registry(
    "bundled atlas",
    BundledAtlas("cc200", "Craddock CC200", r"cc200|craddock200", "craddock2012"),
    BundledAtlas("aal90", "AAL-90 (cerebrum)", r"aal(?:90)?", "tzourio2002"),
    BundledAtlas("aal116", "AAL-116", r"aal(?:116)?", "tzourio2002"),
    BundledAtlas("aal2_120", "AAL2", r"aal2(?:120)?", "rolls2015"),
    BundledAtlas("dosenbach160", "Dosenbach 160", r"dos(?:enbach)?160", "dosenbach2010"),
    BundledAtlas("power264", "Power 264", r"power264", "power2011"),
    *(atlas for size in _HUNDREDS for atlas in _schaefer(size)),
    *(_four_s(size) for size in _HUNDREDS),
    BundledAtlas(
        "glasser360",
        "Glasser 360 (HCP-MMP1.0), left hemisphere first",
        _GLASSER_WRITTEN,
        "glasser2016",
        surface="glasser360.npy",
    ),
    BundledAtlas(
        "glasser360_hcp",
        "Glasser 360 (HCP-MMP1.0), right hemisphere first",
        _GLASSER_WRITTEN,
        "glasser2016",
        _GLASSER,
        order="hcp",
        surface="glasser360.npy",
    ),
    BundledAtlas("gordon333", "Gordon 333", r"gordon(?:333)?(?:2014|2016)?", "gordon2016"),
    BundledAtlas("brainnetome246", "Brainnetome 246", r"brainnetome(?:246)?|bna?(?:246)?", "fan2016"),
    BundledAtlas(
        "desikan68",
        "Desikan-Killiany 68 (cortex)",
        _DESIKAN.format("(?:68)?", "68"),
        "desikan2006",
        surface="desikan68.npy",
    ),
    BundledAtlas(
        "desikan82",
        "Desikan-Killiany 82 (with subcortex)",
        _DESIKAN.format("(?:82)?", "82"),
        "desikan2006",
        surface="desikan82.npy",
    ),
    BundledAtlas("destrieux148", "Destrieux 148", r"destrieux(?:148|2009|2010)?|a2009s", "destrieux2010"),
    BundledAtlas(
        "harvard_oxford112", "Harvard-Oxford 112 (brainGraph's order)", r"harvardoxford112|hoa112", "makris2006"
    ),
)


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


def named_labelling(labelling: str) -> tuple[str, tuple[Citation, ...]]:
    """What functional labels are called in a text, with their work, and that work; a user's own labels have none."""
    if labelling not in FUNCTIONAL_LABELLINGS:
        return labelling, ()
    known = FUNCTIONAL_LABELLINGS[labelling]
    return f"{known.title}{in_brackets((known.citation,))}", (known.citation,)
