"""What figures of two groups' modules share: which groups, their comparison, and its words."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biobgt.errors import InputError
from biobgt.figures.modules import module_words
from biobgt.groups.comparison_options import TwoGroups
from biobgt.modules.module_options import NamedModuleOptions

if TYPE_CHECKING:
    from biobgt.measured import Measured
    from biobgt.modules.difference import ModuleDifference


@dataclass(frozen=True)
class TwoGroupOptions(NamedModuleOptions, TwoGroups):
    """Which groups are compared in their modules."""


def compared_modules(measured: "Measured", options: TwoGroupOptions) -> "ModuleDifference":
    """Both groups' modules compared; the second group's have the numbers of the first's."""
    if options.first == options.second:
        raise InputError("A comparison needs two different groups: name the first and the second.")
    return measured.module_difference(options, options.groups)


def group_words(measured: "Measured", options: TwoGroupOptions, found: "ModuleDifference") -> dict[str, Any]:
    """Methods and citations of a figure of two groups' modules.

    Parameters
    ----------
    measured : Measured
    options : TwoGroupOptions
    found : ModuleDifference
        The modules of the two groups.
    """
    from biobgt.groups.design import confounding_notes
    from biobgt.modules.difference import UNADJUSTED

    first, second = options.groups
    sentence = (
        f"The modules of {first} and {second} are the consensus over each group's subjects (Lancichinetti and "
        "Fortunato 2012). The mean adjusted mutual information (AMI; Vinh et al. 2010) of two subjects is "
        f"{found.within:.3f} within a group and {found.between:.3f} between groups; that difference has a permutation "
        f"p of {found.p:.3g} ({found.n_permutations:,} shuffles, seed {found.seed}; Alexander-Bloch et al. 2012). "
        f"Several recordings of one person count as one subject. "
        + " ".join((UNADJUSTED, *confounding_notes(measured.cohort, options.groups)))
    )
    return module_words(measured, options, sentence, cited=("lancichinetti2012", "vinh2010", "alexanderbloch2012"))
