"""The design of a study: how it is asked for, and what is usual where nothing is asked."""

from dataclasses import dataclass

from biobgt.base.options import option
from biobgt.inference.design import AVERAGED, Recordings
from biobgt.inference.edges import EdgeOptions


@dataclass(frozen=True)
class DesignOptions(EdgeOptions):
    """What a study tests, in whom, adjusted for what; edges, permutations and seed as for a single test of edges."""

    design: str = option(
        "",
        title="Design",
        help="Formula over the phenotypes, such as '~ group + age + sex'. Default: what is tested, and of motion, age, "
        "sex and site those that are known.",
    )
    test: str = option(
        "",
        title="Test",
        help="The term of the formula that is tested: a variable, an interaction such as group:age, or 1 for the mean. "
        "Default: group, or the formula's only term.",
    )
    repeated: Recordings = option(
        AVERAGED,
        title="Several recordings of a person",
        help="Averaged, or compared within each person, such as eyes open and closed.",
        shown=str.capitalize,
    )
    within: str = option(
        "", title="Permute within", help="A variable within whose values people are permuted, such as site."
    )
    unequal_variances: bool = option(
        True,
        title="Variances may differ",
        help="Each tested group, and for numbers each person, has its own variance, and signs of residuals are turned. "
        "Otherwise all have one variance, and residuals are permuted.",
        flag="--unequal-variances/--equal-variances",
    )
    overall: bool = option(
        False,
        title="Adjust for overall connectivity",
        help="Make overall connectivity a covariate of the main result. Results with and without it are always both "
        "given.",
        flag="--adjust-overall/--no-adjust-overall",
    )
