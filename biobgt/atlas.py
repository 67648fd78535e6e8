"""Atlases: the bundled ones, and how an atlas is recognised.

Bundled atlases stand in the register :data:`BUNDLED`, with tables in ``assets/atlases``: a new one is a row and a
table. One table may carry a second order of its regions (Schaefer's parcels by 7 or by 17 networks, Glasser's with the
left or the right hemisphere first): each order is a row of its own, because columns of data stand in one or the other.

A number of regions does not identify an atlas: names do, or whoever made the data. :func:`atlas_of_names` and
:func:`recognise_atlas` are the two ways; the second asks where another published parcellation has as many regions.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.assets import asset
from biobgt.atlas_regions import Atlas
from biobgt.errors import ChoiceNeeded
from biobgt.labellings import FUNCTIONAL_LABELLINGS, LABEL_RADIUS_MM, LABELLINGS, PAPER_MODULES
from biobgt.parcellations import others_of_size
from biobgt.references import Citation, in_brackets, work
from biobgt.registry import Registry

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
