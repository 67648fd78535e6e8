"""What a file's name and place say about its contents: the layouts of public releases, BIDS entities, an atlas's name.

Known layouts: ABIDE's ``*_rois_cc200.1D`` (time × region), ADHD-200's ``*_TCs.1D`` (time × region), CNI-2019's
``timeseries_cc200.csv`` beside ``phenotypic.csv`` (region × time) and BIDS' ``sub-*_timeseries.tsv`` (time × region).
Of other files a part of the name between underscores, dashes and dots may be an atlas's (``study_aal116.npz``); it
counts only where the table has as many regions as that atlas. Folders' names say nothing here.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from biobgt.atlas import BUNDLED
from biobgt.parcellations import OTHER_PARCELLATIONS
from biobgt.readers.time_axis import Orientation

_ABIDE = re.compile(r".+_\d{5,7}_rois_([a-z0-9]+)\.1d")
_ATHENA = re.compile(r".*_tcs\.1d")
_CNI = re.compile(r"timeseries_(aal|cc200|ho)\.csv")
_BIDS_SERIES = re.compile(r"sub-[a-z0-9]+_.*timeseries\.tsv")
_BIDS_ATLAS = re.compile(r"(?:^|_)((?:atlas|seg)-([a-z0-9]+))(?=[_.])")


@dataclass(frozen=True)
class NamedAtlas:
    """An atlas that a file's name gives: ``bundled`` is its short name, None where its table is not bundled."""

    bundled: str | None
    said_by: str  # completes "told by …"


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
    """

    file: str
    layout: str = ""
    orientation: Orientation | None = None
    entity: str | None = None
    said_by: str = ""

    def atlas(self, n_regions: int) -> NamedAtlas | None:
        """Return the atlas of that many regions that the name gives; None where it gives none, or two."""
        bundled, others = self._named(n_regions)
        said_by = self.said_by or "the atlas's name in the file name"
        if len(bundled) == 1 and not others:
            return NamedAtlas(bundled[0], said_by)
        if not bundled and (others or self.entity is not None):
            return NamedAtlas(None, said_by)
        return None

    def names_size(self, n_regions: int) -> bool:
        """Whether the name gives a parcellation that is known to have so many regions."""
        return any(self._named(n_regions))

    def _named(self, n_regions: int) -> tuple[list[str], list[str]]:
        """The bundled atlases, and the other parcellations, of that many regions that the name may mean."""
        parts = {self.entity} if self.entity is not None else set(re.split(r"[^a-z0-9]+", self.file.lower()))
        bundled = [
            name
            for name, about in BUNDLED.items()
            if about.n_regions == n_regions and any(re.fullmatch(about.written, part) for part in parts)
        ]
        others = [
            name
            for name, about in OTHER_PARCELLATIONS.items()
            if n_regions in about.sizes and any(re.fullmatch(about.written, part) for part in parts)
        ]
        return bundled, others


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
    entity = _BIDS_ATLAS.search(name)
    is_series = bool(_BIDS_SERIES.fullmatch(name))
    return FileName(
        path.name,
        "BIDS" if is_series else "",
        "time-region" if is_series else None,
        entity[2] if entity else None,
        f"the BIDS entity {path.name[slice(*entity.span(1))]}" if entity else "",
    )
