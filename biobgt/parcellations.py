"""Published parcellations that are not bundled: how many regions they have, and how file names write them.

A number of regions names an atlas only where no other one has it. This table says which numbers are shared; it has no
names, coordinates or labels of regions. Numbers are those of the files that are handed round, which are not always the
number in a parcellation's name (ABIDE's ``rois_cc400`` have 392 columns).
"""

from collections.abc import Mapping
from dataclasses import dataclass

_HUNDREDS = tuple(range(100, 1001, 100))


@dataclass(frozen=True)
class Parcellation:
    """The numbers of regions a parcellation is handed round with, and how a part of a file's name writes it.

    ``written`` is a regular expression for one part of a name in lower case, between underscores, dashes and dots.
    """

    sizes: tuple[int, ...]
    written: str


OTHER_PARCELLATIONS: Mapping[str, Parcellation] = {
    "Kong": Parcellation(_HUNDREDS, r"kong20\d\d\w*"),
    "Yan": Parcellation(_HUNDREDS, r"yan\d{4}\w*"),
    "Schaefer with Tian's subcortex": Parcellation(
        tuple(cortex + subcortex for cortex in _HUNDREDS for subcortex in (16, 32, 50, 54)), r"schaefer\w*|tian\w*"
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
