"""What may be chosen of hub curves: measures, scale, order and number of regions, the group behind."""

from dataclasses import dataclass
from typing import Literal, get_args

from biobgt.figures.shared_options import AS_IN_ATLAS, order_option, region_option
from biobgt.hubs.hub_options import HubOptions
from biobgt.hubs.measures import COMPARED, HUB_MEASURES
from biobgt.options import option

CurveScale = Literal["z", "rank", "raw"]
BY_NE = "by NE"
N_RANDOM = 50


@dataclass(frozen=True)
class HubCurvesOptions(HubOptions):
    """Which measures of which regions are drawn, in which order and on which scale."""

    measures: tuple[str, ...] = option(
        COMPARED,
        title="Measures",
        help="Hub measures to show; hubs are marked by the first.",
        choices=HUB_MEASURES,
        shown=lambda key: HUB_MEASURES[key].heading,
        link="measures",
    )
    scale: CurveScale = option(
        "z",
        title="Values",
        help="Z-scores and ranks share an axis; raw values have a panel each, because their units differ.",
        choices=get_args(CurveScale),
        shown={"z": "z-score", "rank": "Rank", "raw": "Raw"},
        link="curve_scale",
    )
    order: str = order_option(
        others={**AS_IN_ATLAS, BY_NE: "By NE, highest first"},
        help="By functional network, in the atlas's order, or the highest NE first.",
        starts_with_first=True,  # so that the axis names networks
        link="curve_order",
    )
    n_random: int = option(
        0,
        title="Regions",
        help="All regions, or some drawn at random.",
        steps=(0, N_RANDOM),
        low=0,
        shown={0: "All", N_RANDOM: f"{N_RANDOM} random"},
        link="curve_regions",
    )
    seed: int = option(0, title="Seed", help="The same seed draws the same regions.", low=0, link="curve_seed")
    group: bool = option(
        False,
        title="Group in the background",
        help="Mean ± SD of the subject's group in the background. Measures every subject of the group once; changing γ "
        "is then quick.",
        link="group_behind",
    )
    region: str = region_option()
