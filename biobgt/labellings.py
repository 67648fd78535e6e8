"""What regions do: the functional labellings of the bundled atlases, and what their labels mean.

Every bundled atlas has Dosenbach's, the paper's and Yeo's two labellings; the first two from the nearest of Dosenbach's
seeds, Yeo's from the Schaefer parcel at the region's centre or the nearest one. Beyond the distances given here, a
region has no label.
"""

from collections.abc import Mapping
from dataclasses import dataclass

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
