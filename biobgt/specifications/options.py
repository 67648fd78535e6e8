"""What is asked of a finding: which one, of what, at which settings it was seen, and which choices are let vary."""

from dataclasses import dataclass, fields
from typing import Literal, get_args

from biobgt.base.options import option
from biobgt.data.atlas import LABELLINGS
from biobgt.groups.compare import USUAL, TwoGroups
from biobgt.hubs.measures import HUB_MEASURES, NE, NEFF, HubOptions
from biobgt.inference.covariates import offered_covariates
from biobgt.modules.measures import ModuleOptions

FindingKey = Literal[
    "agreement",
    "agreement-of-cohort",
    "hub",
    "modules",
    "edge",
    "block",
    "hub-measure",
    "segregation",
    "modularity",
    "mean-connectivity",
    "attention",
]
ChoiceKey = Literal[
    "estimator",
    "sign",
    "threshold",
    "global-signal",
    "recording",
    "gamma",
    "perturbation",
    "criterion",
    "resolution",
    "labelling",
    "seed",
    "motion",
    "overall",
]
MotionCoding = Literal["none", "linear", "log", "excluded"]
NO_MOTION, LINEAR, LOGARITHM, EXCLUDED = get_args(MotionCoding)
PERMUTATIONS = 1000
MOST = 200


@dataclass(frozen=True)
class FindingOptions(HubOptions, ModuleOptions, TwoGroups):
    """A finding, and the settings at which it was seen; those of hubs and modules are a part of them."""

    finding: FindingKey = option(
        "agreement",
        title="Finding",
        help="agreement: NE agrees with another hub measure in one subject; agreement-of-cohort: over people. hub: a "
        "region is a hub. modules: modules match functional networks. Of two groups, or with a score: edge, block, "
        "hub-measure, segregation, modularity, mean-connectivity and attention.",
    )
    region: str = option("", title="Region", help="Name of the region; for an edge, of its first end.")
    other_region: str = option("", title="Other region", help="Name of the second end of an edge.")
    measure: str = option(
        NE,
        title="Hub measure",
        help="Hub measure that groups differ in, or by which the region is a hub.",
        choices=HUB_MEASURES,
        shown=lambda key: HUB_MEASURES[key].title,
    )
    beside: str = option(
        NEFF,
        title="Agrees with",
        help="Hub measure that NE agrees with.",
        choices=HUB_MEASURES,
        shown=lambda key: HUB_MEASURES[key].title,
    )
    labelling: str = option(
        "",
        title="Functional networks",
        help="Labels of regions. Default: the first of the atlas.",
        choices_of=lambda cohort: tuple(cohort.atlas.labels),
        shown=LABELLINGS,
    )
    networks: tuple[str, ...] = option(
        (),
        title="Block",
        help="Both networks of a block; one network alone is within it. In attention the first looks at the second.",
    )
    model: str = option(
        "", title="Model", help="Whose attention: name of a shipped model, or the folder of your own.", flag="--model"
    )
    score: str = option("", title="Score", help="Column of numbers that is tested instead of a difference of groups.")
    motion: MotionCoding = option(
        LOGARITHM,
        title="Motion",
        help="How the test takes motion: not at all, as mean FD (linear), as its logarithm, or by leaving out people "
        "whose mean FD is above 0.2 mm (excluded). Without a mean FD in the phenotypes: none.",
    )
    overall: bool = option(
        False, title="Adjust for overall connectivity", help="Adjust the test for overall connectivity, mean |FC|."
    )
    covariates: tuple[str, ...] = option(
        (USUAL,),
        title="Adjust for",
        help="Covariates beside motion, one option each, or 'none'. Default: age, sex and site, as far as the "
        "phenotypes have them.",
        choices_of=offered_covariates,
        flag="--covariate",
    )
    permutations: int = option(PERMUTATIONS, title="Permutations", help="Permutations of people.", low=99, high=10_000)


@dataclass(frozen=True)
class SurvivalOptions(FindingOptions):
    """A finding, and the ways in which it is measured again."""

    off: tuple[str, ...] = option(
        (),
        title="Choices that stay as they are",
        help="A choice that is not varied; repeat the option for several.",
        choices=get_args(ChoiceKey),
    )
    most: int = option(
        MOST,
        title="Most specifications",
        help="Of more specifications so many are drawn with the seed; the settings at which the finding was seen are "
        "always among them.",
        low=2,
        high=2000,
    )

    @property
    def asked(self) -> FindingOptions:
        """The finding alone."""
        return FindingOptions(**{one.name: getattr(self, one.name) for one in fields(FindingOptions)})
