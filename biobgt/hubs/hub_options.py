"""How hubs are measured and marked: the options of every table, figure, page and command about hubs."""

from dataclasses import dataclass
from typing import Literal, get_args

from biobgt.hubs.perturbation import DEFAULT_PERTURBATION, PERTURBATIONS, Perturbation
from biobgt.options import Options, option
from biobgt.wording import percent

HubRule = Literal["top", "sd"]

# Below the scales at which NE and NEff part ways.
DEFAULT_GAMMA = 0.5
# Ten even steps per decade, rounded to readable numbers; in units of 1/mean(λ).
GAMMAS: tuple[float, ...] = (
    *(0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8),
    *(1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0),
    *(10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0),
)
DEFAULT_SHARE = 0.1
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25)
NULL_GRAPHS = 39  # with fewer a two-sided p cannot reach 0.05
NULL_SEEDS = range(NULL_GRAPHS)  # of the null graphs of one subject


@dataclass(frozen=True)
class EntanglementOptions(Options):
    """How node entanglement is measured; γ is in units of 1/mean(λ) of each graph."""

    gamma: float = option(
        DEFAULT_GAMMA,
        title="Diffusion time γ, in units of 1/mean(λ)",
        help="Diffusion time of NE; λ are the eigenvalues of the graph's Laplacian. In units of 1/mean(λ). Small γ "
        "looks at a region's surroundings, large γ at the whole brain.",
        steps=GAMMAS,
        above=0.0,
        link="gamma",
    )
    perturbation: Perturbation = option(
        DEFAULT_PERTURBATION,
        title="Perturbation",
        help="How NE perturbs a region. "
        + " ".join(f"{name.capitalize()}: {what}." for name, what in PERTURBATIONS.items()),
        choices=get_args(Perturbation),
        shown=str.capitalize,
        link="perturbation",
    )


@dataclass(frozen=True)
class HubOptions(EntanglementOptions):
    """How hubs are measured, and which regions are called hubs."""

    rule: HubRule = option(
        "top",
        title="Hub criterion",
        help="By each measure: the highest share of the regions, or those above the mean by more than one SD.",
        choices=get_args(HubRule),
        shown={"top": "Top share", "sd": "Mean + 1 SD"},
        link="hub_rule",
    )
    share: float = option(
        DEFAULT_SHARE,
        title="Share of regions",
        help="Share of the regions that are hubs, if hubs are the top share.",
        steps=SHARES,
        above=0.0,
        high=1.0,
        shown={share: percent(share) for share in SHARES},
        link="hub_share",
    )

    @property
    def hubs_are(self) -> str:
        """Which regions are hubs, in words."""
        top = f"the top {100 * self.share:g} % of regions"
        return top if self.rule == "top" else "regions above the mean + 1 SD"


@dataclass(frozen=True)
class HubAnalysisOptions(HubOptions):
    """How the hubs of a whole cohort are measured and tested.

    ``nulls`` null graphs test whether NE agrees with NEff beyond strength and degree, and ``halves`` measures both
    halves of each recording as well; either takes as long as the hubs themselves, for each null graph and each half.
    """

    seed: int = option(0, title="Seed", help="Seed of the bootstrap and of the null graphs.", low=0)
    nulls: int = option(
        0,
        title="Number of null graphs",
        help=f"Null graphs to test agreement against; {NULL_GRAPHS} for p down to 0.05. 0: none.",
        low=0,
    )
    halves: bool = option(
        False,
        title="Measure both halves",
        help="Measure both halves of each recording: are its hubs reliable?",
    )
