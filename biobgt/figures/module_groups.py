"""What figures of two groups' modules share: which groups, their comparison, and its words.

The page *Compare* shows :func:`difference_numbers` and :func:`difference_caption` above its figures; exported figures
have the same in the methods of :func:`group_words`.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biobgt.base.errors import InputError
from biobgt.base.wording import counted
from biobgt.data.cohort import counted_people
from biobgt.figures.modules import module_words
from biobgt.groups.compare import TwoGroups
from biobgt.modules.measures import NamedModuleOptions

if TYPE_CHECKING:
    from biobgt.modules.compare import ModuleDifference
    from biobgt.results.measured import Measured


@dataclass(frozen=True)
class ModuleComparisonOptions(NamedModuleOptions, TwoGroups):
    """Which groups are compared in their modules."""


def compared_modules(measured: "Measured", options: ModuleComparisonOptions) -> "ModuleDifference":
    """Both groups' modules compared; the second group's have the numbers of the first's."""
    if options.first == options.second:
        raise InputError("A comparison needs two different groups: name the first and the second.")
    return measured.module_difference(options, options.groups)


def changed_modules(measured: "Measured", options: ModuleComparisonOptions) -> "ModuleDifference":
    """The same, with how many regions change module between shuffled groups."""
    found = compared_modules(measured, options)
    return replace(found, shuffled=measured.all_shuffled_changes(options, options.groups))


def changed_words(found: "ModuleDifference") -> str:
    """How many regions change module, and how many do between shuffled groups."""
    said = f"{len(found.changed)} of {counted(found.agreement.n_compared, 'region')} change module"
    if not found.shuffled:
        return said
    n = len(found.shuffled)
    least = f", the smallest that {n} permutations can give" if found.p_changed <= 1 / (1 + n) else ""
    return (
        f"{said}, and {_chance_range(found)} in {n} permutations of the groups, seed {found.seed} "
        f"(p = {found.p_changed:.2g}{least})"
    )


def _chance_range(found: "ModuleDifference") -> str:
    return f"{min(found.shuffled)} to {max(found.shuffled)}"


def group_words(measured: "Measured", options: ModuleComparisonOptions, found: "ModuleDifference") -> dict[str, Any]:
    """Methods and citations of a figure of two groups' modules.

    Parameters
    ----------
    measured : Measured
    options : ModuleComparisonOptions
    found : ModuleDifference
        The modules of the two groups.
    """
    first, second = options.groups
    sentence = (
        f"The modules of {first} and {second} are the consensus over each group's subjects (Lancichinetti and "
        "Fortunato 2012). The mean adjusted mutual information (AMI; Vinh et al. 2010) of two subjects is "
        f"{found.within:.3f} within a group and {found.between:.3f} between groups; the permutation p of that "
        f"difference is {_p_words(found)} ({_permutations(found)}; Alexander-Bloch et al. 2012). Several recordings of "
        f"one person count as one subject. {_changed_sentence(found)}{_not_ruled_out(measured, options)}"
    )
    return module_words(measured, options, sentence, cited=("lancichinetti2012", "vinh2010", "alexanderbloch2012"))


def difference_numbers(found: "ModuleDifference") -> dict[str, str]:
    """How far two groups' modules agree, and the p of their difference, as text by what each number is."""
    agreement = found.agreement
    return {
        "AMI": f"{agreement.ami:.2f}",
        "ARI": f"{agreement.ari:.2f}",
        "VI (bits)": f"{agreement.vi:.2f}",
        "Regions that change": f"{len(found.changed)} of {agreement.n_compared}",
        **({"By chance": _chance_range(found)} if found.shuffled else {}),
        "Permutation p": _p_words(found),
    }


def difference_caption(measured: "Measured", options: ModuleComparisonOptions, found: "ModuleDifference") -> str:
    """What was compared and tested, in whom, and what may explain a difference.

    Parameters
    ----------
    measured : Measured
    options : ModuleComparisonOptions
    found : ModuleDifference
        The modules of the two groups.
    """
    first, second = options.groups
    whom = "Simulated subjects: consensus modules" if measured.cohort.simulated else "Consensus modules"
    n_people, n_recordings = sum(found.n_subjects), sum(len(measured.cohort.group(name)) for name in options.groups)
    several = (
        f" There are {counted_people(n_people, n_recordings)}; permutations keep a person's recordings together."
        if n_people < n_recordings
        else ""
    )
    return (
        f"{whom} of {first} and of {second}. The test asks whether subjects are more alike within their group (mean "
        f"AMI {found.within:.3f}) than between groups ({found.between:.3f}), against {_permutations(found)}. "
        f"{_changed_sentence(found)}{_not_ruled_out(measured, options)}{several}"
    )


def _changed_sentence(found: "ModuleDifference") -> str:
    """How many regions change by chance; nothing where groups were not shuffled for it."""
    if not found.shuffled:
        return ""
    return f"{changed_words(found)}; modules of both groups are found anew in every permutation. "


def _p_words(found: "ModuleDifference") -> str:
    return "not defined" if found.p != found.p else f"{found.p:.3g}"


def _permutations(found: "ModuleDifference") -> str:
    return f"{found.n_permutations:,} permutations of the groups, seed {found.seed}"


def _not_ruled_out(measured: "Measured", options: ModuleComparisonOptions) -> str:
    from biobgt.groups.design import confounding_notes
    from biobgt.modules.compare import UNADJUSTED

    return " ".join((UNADJUSTED, *confounding_notes(measured.cohort, options.groups)))
