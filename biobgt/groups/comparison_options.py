"""What two groups are compared in, and adjusted for what: the options of the command, the page and its figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from biobgt.atlas import LABELLINGS
from biobgt.covariate_words import covariate_words
from biobgt.hubs.hub_options import EntanglementOptions
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.modules.module_options import PERMUTATIONS as MODULE_PERMUTATIONS
from biobgt.modules.module_options import ModuleOptions
from biobgt.options import Options, option
from biobgt.people import FEWEST_COMPARED
from biobgt.wording import capitalised

if TYPE_CHECKING:
    from biobgt.cohort import Cohort

Compared = Literal["fc-blocks", "segregation", "hubs", "modules"]
NETWORKS, SEGREGATION, HUBS, MODULES = get_args(Compared)
COMPARED_IN: Mapping[str, str] = {
    NETWORKS: "Connectivity of networks",
    SEGREGATION: "Segregation",
    HUBS: "Hubs",
    MODULES: "Modules",
}
PERMUTATIONS = 5000
USUAL, NOTHING = "usual", "none"


def comparable_groups(cohort: "Cohort") -> tuple[str, ...]:
    """The groups of a cohort that have enough people to be compared."""
    return tuple(group for group, size in cohort.group_people.items() if size >= FEWEST_COMPARED)


def usual_covariates(cohort: "Cohort") -> tuple[str, ...]:
    """Log motion, age, sex and site, as far as they are known of the cohort."""
    from biobgt.groups.covariates import covariates_of

    return tuple(map(str, covariates_of(cohort.table()).table.columns))


def offered_covariates(cohort: "Cohort") -> tuple[str, ...]:
    """All that a comparison can be adjusted for, the usual ones first."""
    from biobgt.groups.covariates import covariate_names  # brings SciPy, which the start of the app does without

    return covariate_names(cohort.table())


def covariate_title(name: str) -> str:
    """A covariate as a list of choices names it."""
    return capitalised(covariate_words(name))


@dataclass(frozen=True)
class TwoGroups(Options):
    """Which groups are compared; a request names both."""

    first: str = option("", title="First group", choices_of=comparable_groups, link="first_group")
    second: str = option(
        "",
        title="Second group",
        choices_of=comparable_groups,
        default_of=lambda cohort: (*comparable_groups(cohort), "", "")[1],
        link="second_group",
    )

    @property
    def groups(self) -> tuple[str, str]:
        """Both groups."""
        return self.first, self.second


@dataclass(frozen=True)
class ComparedOptions(Options):
    """What groups are compared in, and what the test is adjusted for."""

    of: Compared = option(
        NETWORKS,
        title="Compare",
        help="Connectivity of networks (fc-blocks): mean Fisher-z connectivity within and between functional networks. "
        "Segregation: modularity Q, number of modules and system segregation. Hubs: one hub measure in every region. "
        "Modules: whether both groups have the same modules.",
        choices=get_args(Compared),
        shown=COMPARED_IN,
        link="compared",
    )
    labelling: str = option(
        "",
        title="Functional networks",
        help="Networks within and between which connectivity is averaged. Default: the first labels of the atlas.",
        choices_of=lambda cohort: tuple(cohort.atlas.labels),
        shown=LABELLINGS,
        link="compared_networks",
    )
    measure: str = option(
        NE,
        title="Hub measure",
        help="Hub measure that is compared in every region.",
        choices=HUB_MEASURES,
        shown=lambda key: HUB_MEASURES[key].title,
        link="compared_measure",
    )
    covariates: tuple[str, ...] = option(
        (USUAL,),
        title="Adjust for",
        help="Covariates of the test: motion (log_mean_fd, the logarithm of mean FD), age, sex, site or any other "
        "column of the phenotypes, such as mean_fd itself. Default: the first four, where the phenotypes have "
        f"them. On the command line one option per covariate, or '{NOTHING}'.",
        choices_of=offered_covariates,
        default_of=usual_covariates,
        shown=covariate_title,
        link="adjusted_for",
        flag="--covariate",
    )
    without: tuple[str, ...] = option(
        (), title="Do not adjust for", help="Covariates not to adjust for, one option per covariate."
    )
    leave_out_incomplete: bool = option(
        False,
        title="Exclude subjects with missing covariates",
        help="Exclude subjects with missing covariates. Otherwise the comparison is refused.",
        link="leave_out_incomplete",
        flag="--leave-out-incomplete",
    )
    permutations: int = option(
        0,
        title="Permutations",
        help=f"Number of permutations. 0: {PERMUTATIONS}, and {MODULE_PERMUTATIONS} for modules.",
        low=0,
    )

    @property
    def named_covariates(self) -> tuple[str, ...] | None:
        """The covariates that were named; None is the usual ones that the cohort has."""
        if self.covariates == (USUAL,):
            return None
        return tuple(name for name in self.covariates if name.lower() != NOTHING)

    @property
    def n_permutations(self) -> int:
        """How often groups are permuted."""
        return self.permutations or (MODULE_PERMUTATIONS if self.of == MODULES else PERMUTATIONS)


@dataclass(frozen=True)
class ComparisonOptions(EntanglementOptions, ModuleOptions, ComparedOptions, TwoGroups):
    """All that a comparison of two groups depends on beside their subjects and graphs."""

    covariates_sha256: str = option(
        "",
        title="SHA-256 of the covariates",
        help="Of the covariates of the people compared; a figure that is made again refuses others.",
    )
