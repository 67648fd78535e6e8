"""What regions do: the functional labellings of the bundled atlases, and what their labels mean.

Every bundled atlas has Dosenbach's, the paper's and Yeo's two labellings; the first two from the nearest of Dosenbach's
seeds, Yeo's from the Schaefer parcel at the region's centre or the nearest one. Beyond the distances given here, a
region has no label.
"""

from collections.abc import Mapping

LABEL_RADIUS_MM = 15.0  # a region farther than this from every labelled seed has no label
YEO_RADIUS_MM = (
    4.0  # a region whose centre is farther than this from every cortical parcel is in none of Yeo's networks
)
LABELLINGS: Mapping[str, str] = {
    "dosenbach": "Dosenbach's six networks",
    "paper": "the six modules of the BioBGT paper",
    "yeo7": "Yeo's 7 networks",
    "yeo17": "Yeo's 17 networks",
    "gordon": "Gordon's 12 networks",
    "glasser_division": "Glasser's 22 cortical divisions",
}
# The first versions had no such labels: who a cohort's subjects are must not depend on them.
LATER_LABELLINGS = frozenset({"yeo7", "yeo17"})
PAPER_MODULES: Mapping[str, str] = {
    "Vis": "visual cortex",
    "MC": "motion control",
    "CC": "cognition control",
    "Aud": "auditory cortex",
    "LP": "language processing",
    "EC": "executive control",
}
