"""What a file's name and place say about its contents: the layouts of public releases, BIDS entities, an atlas's name.

Known layouts: ABIDE's ``*_rois_cc200.1D`` (time × region), ADHD-200's ``*_TCs.1D`` (time × region), CNI-2019's
``timeseries_cc200.csv`` beside ``phenotypic.csv`` (region × time) and BIDS' ``sub-*_timeseries.tsv`` (time × region).
BIDS names an atlas by the entities ``atlas-``, ``seg-`` and, with them or alone, ``desc-``. Of other files parts of the
name between underscores, dashes and dots may be an atlas's (``study_aal116.npz``, ``schaefer_200_7networks.csv``).
Either counts only where the table has as many regions as that atlas. Folders' names say nothing here.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from biobgt.atlas import BUNDLED, BundledAtlas
from biobgt.parcellations import OTHER_PARCELLATIONS, Parcellation
from biobgt.readers.time_axis import Orientation

_ABIDE = re.compile(r".+_\d{5,7}_rois_([a-z0-9]+)\.1d")
_ATHENA = re.compile(r".*_tcs\.1d")
_CNI = re.compile(r"timeseries_(aal|cc200|ho)\.csv")
_BIDS_SERIES = re.compile(r"sub-[a-z0-9]+_.*timeseries\.tsv")
_BIDS_ATLAS = re.compile(r"(?:^|_)((?:atlas|seg)-([a-z0-9]+))(?=[_.])")
_BIDS_DESC = re.compile(r"(?:^|_)(desc-([a-z0-9]+))(?=[_.])")
_LONGEST_NAME = 3  # parts of a file's name that together may be an atlas's: schaefer2018_200parcels_7networks


@dataclass(frozen=True)
class NamedAtlases:
    """The atlases that a file's name may mean.

    Attributes
    ----------
    bundled : tuple of str
        Short names; more than one where the name leaves the order of the regions open.
    others : tuple of str
        Known parcellations whose tables are not bundled.
    said_by : str
        Completes "told by …".
    certain : bool
        Whether a layout or a BIDS entity says so, which is put there to name the atlas.
    """

    bundled: tuple[str, ...]
    others: tuple[str, ...]
    said_by: str
    certain: bool


@dataclass(frozen=True)
class LabelTable:
    """The names of an atlas's regions, in the order of their numbers, and the file that has them."""

    file: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class FileName:
    """What a file's name and place say.

    Attributes
    ----------
    file : str
        The name, for sentences.
    layout : str
        The release whose layout it is, or nothing.
    orientation : {"time-region", "region-time"} or None
        How that layout stores series.
    entity : str or None
        The atlas that the layout names, as it is written there: it says for certain which atlas it is, or is not.
    said_by : str
        Where the entity stands, to complete "told by …".
    desc : str or None
        The BIDS entity ``desc-``, which may name an atlas, or say more of one (``atlas-Schaefer2018_desc-200Parcels``).
    labels : LabelTable or None
        The names of regions in the label table (``*_dseg.tsv``) that belongs to the file.
    bundled : str or None
        The bundled atlas whose label image series were taken from, by its key.
    """

    file: str
    layout: str = ""
    orientation: Orientation | None = None
    entity: str | None = None
    said_by: str = ""
    desc: str | None = None
    labels: LabelTable | None = None
    bundled: str | None = None

    def atlases(self, n_regions: int) -> NamedAtlases | None:
        """Return the atlases of that many regions that the name may mean; None where it means none.

        An entity that is no name of a known atlas of that size means one that is not known here.
        """
        if self.bundled is not None and BUNDLED[self.bundled].n_regions == n_regions:
            return NamedAtlases((self.bundled,), (), self.said_by, certain=True)
        known = {key: about for key, about in BUNDLED.items() if about.n_regions == n_regions}
        sized = {name: about for name, about in OTHER_PARCELLATIONS.items() if n_regions in about.sizes}
        for texts, said_by, certain in self._texts() if known or sized else ():
            bundled = tuple(key for key, about in known.items() if _is(about, texts))
            others = tuple(name for name, about in sized.items() if _is(about, texts))
            if bundled or others:
                return NamedAtlases(bundled, others, said_by, certain)
        return NamedAtlases((), (), self.said_by, certain=True) if self.entity is not None else None

    def names_size(self, n_regions: int) -> bool:
        """Whether the name gives a parcellation that is known to have so many regions."""
        named = self.atlases(n_regions)
        return named is not None and bool(named.bundled or named.others)

    def _texts(self) -> list[tuple[set[str], str, bool]]:
        """What may be an atlas's name, the most certain first; where it stands; whether it is put there for that."""
        found = []
        if self.entity is not None:
            found += [({self.entity + self.desc}, self.said_by, True)] if self.desc else []
            found.append(({self.entity}, self.said_by, True))
        if self.desc is not None:
            found.append(({self.desc}, "the BIDS entity desc", True))
        if self.entity is None:
            parts = re.split(r"[^a-z0-9]+", self.file.lower())
            runs = (
                {"".join(parts[i : i + length]) for i in range(len(parts) - length + 1)}
                for length in range(_LONGEST_NAME, 0, -1)
            )
            found += [(texts, "the atlas's name in the file name", False) for texts in runs]
        return found


def _is(about: BundledAtlas | Parcellation, texts: set[str]) -> bool:
    """Whether one of some parts of a name is how this atlas is written."""
    return any(re.fullmatch(about.written, text) for text in texts)


def read_name(path: Path) -> FileName:
    """Read what a file's name and place say."""
    name = path.name.lower()
    if match := _ABIDE.fullmatch(name):
        said = f"ABIDE's file names (rois_{match[1]})"
        return FileName(path.name, "ABIDE", "time-region", match[1], said)
    if _ATHENA.fullmatch(name):
        return FileName(path.name, "ADHD-200", "time-region")
    if (match := _CNI.fullmatch(name)) and path.with_name("phenotypic.csv").is_file():
        said = f"CNI-2019's file names (timeseries_{match[1]})"
        return FileName(path.name, "CNI-2019", "region-time", match[1], said)
    entity, desc = _BIDS_ATLAS.search(name), _BIDS_DESC.search(name)
    is_series = bool(_BIDS_SERIES.fullmatch(name))
    return FileName(
        path.name,
        "BIDS" if is_series else "",
        "time-region" if is_series else None,
        entity[2] if entity else None,
        f"the BIDS entity {path.name[slice(*entity.span(1))]}" if entity else "",
        desc[2] if desc else None,
    )
