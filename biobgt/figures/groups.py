"""How two groups of a cohort differ: effect sizes with intervals, region by region in the brain, and their modules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FDR, passes
from biobgt.base.beyond import BEYOND, beyond_beside, beyond_methods
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.references import in_brackets
from biobgt.base.wording import (
    ANY_USUAL_COVARIATE,
    UNADJUSTED_DIFFERENCE,
    USUAL_COVARIATES,
    adjusted_for,
    capitalised,
    counted,
    not_ruled_out,
    percent,
)
from biobgt.data.atlas import named_labelling
from biobgt.data.cohort import counted_people
from biobgt.figures.brain import IN_NONE, MOST_NAMED, NODES, Brain, BrainKind, brain_option, in_brain
from biobgt.figures.connectivity import estimated_with
from biobgt.figures.drawing import Axis, Drawing, Mark, Panel, Points, Rule, table
from biobgt.figures.hubs import GROUP_COLOUR, HUB_COLOUR, hub_methods
from biobgt.figures.modules import flow_panel, in_modules, module_methods, named_modules
from biobgt.figures.register import figure
from biobgt.groups.compare import HUBS, MODULES, NETWORKS, Compared, ComparisonOptions, TwoGroups
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.modules.measures import MODULE_MEASURES, ModuleOptions, NamedModuleOptions

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.data.cohort import Cohort
    from biobgt.data.graph import ConnectivityKind
    from biobgt.groups.compare import GroupComparison
    from biobgt.modules.compare import ModuleDifference
    from biobgt.results.measured import Measured

AnyComparison = TypeVar("AnyComparison", bound=ComparisonOptions)
Effect = Literal["d", "t"]
_EFFECTS = {"d": "effect size d", "t": "statistic t of the difference"}
_MOST_DRAWN = 25  # features; more cannot be told apart
_ROW, _AROUND = 22, 138  # px
_WIDTH = 0.6  # of a strip of people, as a share of the distance from group to group
_FARTHER = 1.3  # so that a whole brain fits on half a page


@dataclass(frozen=True, eq=False)
class _Difference:
    """Two groups that were compared: in what, what was found, who is simulated, and what is not known of them."""

    measured: str
    found: "GroupComparison"
    simulated: bool
    absent: tuple[str, ...]
    kind: "ConnectivityKind"

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which features differ at a false discovery rate of 5 %, shape (n_features,)."""
        return passes(self.found.table["q"])

    def numbers(self) -> "pd.DataFrame":
        """One row per feature: the test, n of both groups, covariates, permutations and seed."""
        return self.found.rows(simulated=self.simulated)

    @property
    def words(self) -> str:
        """Who was compared in what, adjusted for what, and how many features differ; for captions."""
        first, second = self.found.between
        sizes = ", ".join(f"{n} {group}" for group, n in self.found.n_subjects.items())
        people = "simulated people" if self.simulated else "people"
        n_tested, n_differ = int(self.found.table["p"].notna().sum()), int(self.differs.sum())
        return (
            f"{capitalised(self.measured)}, {second} against {first} ({people}: {sizes}), "
            f"{adjusted_for(self.found.covariates)}, with {self.found.design.degrees} residual degrees of "
            f"freedom. Of {counted(n_tested, 'feature')}, {n_differ or 'none'} "
            f"{'differs' if n_differ == 1 else 'differ'} at a false discovery rate of {percent(FDR)} "
            f"({self.found.permutations:,} permutations, seed {self.found.seed}).{self.beyond}"
        )

    @property
    def beyond(self) -> str:
        """How many of them go beyond what is simpler; behind a space."""
        return f" {self.kind.named(self.found.beyond)}" if self.found.beyond else ""

    def beside(self, rows: "pd.DataFrame") -> list[str]:
        """What stands beside rows of the table: q, and whether those that differ go beyond what is simpler."""
        words, simpler = rows[BEYOND] if BEYOND in rows else [""] * len(rows), self.found.simpler
        return [
            self.kind.named(f"q {q:.2g}{beyond_beside(word, simpler)}")
            for q, word in zip(rows["q"], words, strict=True)
        ]

    @property
    def remarks(self) -> str:
        """What cannot be ruled out, and what else a reader must know; ends a caption."""
        said = [*self.found.notes, not_ruled_out(self.absent)]
        if set(self.absent) == set(USUAL_COVARIATES):  # the last sentence says it of each of them
            said = [sentence for sentence in said if sentence != UNADJUSTED_DIFFERENCE]
        return "".join(f" {sentence}" for sentence in said if sentence)


def compared_groups(measured: "Measured", options: ComparisonOptions) -> _Difference:
    """Two groups, compared in what the options say."""
    from biobgt.groups.features import compare_measured, plan_comparison

    if options.of == MODULES:
        raise InputError("Modules are not compared feature by feature: take the figure 'group_module_flow'.")
    planned = plan_comparison(measured.cohort, options)
    words, found = compare_measured(measured, options)
    return _Difference(words, found, planned.cohort.simulated, planned.covariates.absent, measured.kind)


def with_known_covariates(cohort: "Cohort", options: AnyComparison) -> AnyComparison:
    """The options with the covariates' values pinned: made again of other values, a figure is refused."""
    from biobgt.groups.features import plan_comparison

    return replace(options, covariates_sha256=plan_comparison(cohort, options).covariates_sha256)


@figure("group_differences", "Differences of two groups", takes=ComparisonOptions, of_subject=False, least_mm=55)
def group_differences(measured: "Measured", options: ComparisonOptions) -> Drawing:
    """Effect sizes of two groups' differences with their intervals, the clearest first."""
    difference, (first, second) = compared_groups(measured, options), options.groups
    tested = difference.found.table[difference.found.table["p"].notna()]
    by_clarity = tested.assign(_size=-tested["t"].abs()).sort_values(["p", "_size"], kind="stable")
    drawn = by_clarity.drop(columns="_size")[:_MOST_DRAWN]
    differs, names = passes(drawn["q"]), drawn["feature"].astype(str).tolist()
    marks: list[Mark] = [Rule(x=0, colour=GROUP_COLOUR, dash="dot")]
    for chosen, name, look in (
        (differs, f"q ≤ {FDR:g}", {"colour": HUB_COLOUR, "symbol": "diamond"}),
        (~differs, f"q > {FDR:g}", {"colour": GROUP_COLOUR, "hollow": True}),
    ):
        if chosen.any():
            of_regions = drawn.index[chosen] if options.of == HUBS else None
            marks.append(_effects(drawn[chosen], np.flatnonzero(chosen), name=name, ids=of_regions, **look))
    clearest = f" The {_MOST_DRAWN} features of the smallest p are drawn." if len(tested) > _MOST_DRAWN else ""
    return Drawing(
        title=f"{second} against {first}",
        simulated=difference.simulated,
        panels=[
            Panel(
                marks=marks,
                x=Axis(title="Effect size d (residual standard deviations)"),
                y=Axis(
                    names=names,
                    beside=difference.beside(drawn),
                    limits=(-0.6, len(drawn) - 0.4),
                    reversed=True,
                ),
            )
        ],
        caption=(
            f"{difference.words}{clearest} Points are effect sizes d, in residual standard deviations, with 95 % "
            f"intervals; those right of 0 are higher in {second}. Filled diamonds are below that rate; "
            f"q is the false discovery rate.{difference.remarks}"
        ),
        numbers=difference.numbers,
        legend="above",
        height=_AROUND + _ROW * max(len(drawn), 3),
        methods=difference_methods(measured, options, difference.found),
    )


def _effects(rows: "pd.DataFrame", places: NDArray[np.intp], **look: Any) -> Points:
    """Effect sizes with their intervals, in their places."""
    return Points(
        x=rows["d"].to_numpy(float),
        y=places,
        low=rows["d_low"].to_numpy(float),
        high=rows["d_high"].to_numpy(float),
        across="x",
        size=9,
        hover="%{text}",
        texts=[
            f"{row.feature}\nd = {row.d:.2f} [{row.d_low:.2f}, {row.d_high:.2f}]\np = {row.p:.3g}, q = {row.q:.3g}"
            for row in rows.itertuples()
        ],
        **look,
    )


@dataclass(frozen=True)
class _DifferenceBrainOptions(ComparisonOptions):
    """Which hub measure is compared in every region, and how its brain is drawn."""

    of: Compared = option(HUBS, title="Compare", help="Only hubs are compared region by region.", choices=(HUBS,))
    effect: Effect = option(
        "d",
        title="Colour",
        help="d is the difference in residual standard deviations and t its statistic; both are adjusted.",
        shown={"d": "Effect size d", "t": "Statistic t"},
        link="difference_effect",
    )
    only_different: bool = option(
        False,
        title="Only regions that differ",
        help=f"Leave the regions grey that do not differ at a false discovery rate of {percent(FDR)}.",
        link="only_different",
    )
    brain: BrainKind = brain_option()


@figure(
    "group_difference_brain", "Differences of two groups, in the brain", takes=_DifferenceBrainOptions, of_subject=False
)
def group_difference_brain(measured: "Measured", options: _DifferenceBrainOptions) -> Drawing:
    """Where in the brain two groups differ in a hub measure."""
    difference, (first, second) = compared_groups(measured, options.part(ComparisonOptions)), options.groups
    tests, differs = difference.found.table, difference.differs
    effects = tests[options.effect].to_numpy(float)
    reach = float(np.nanmax(np.abs(effects))) if np.isfinite(effects).any() else 1.0
    values = np.where(differs, effects, np.nan) if options.only_different else effects
    clearest = [int(region) for region in tests.sort_values("p", kind="stable").index if differs[region]][:MOST_NAMED]
    found = zip(tests["p"], tests["q"], strict=True)
    brain = Brain.of(
        measured.atlas,
        options.brain,
        sizes=np.abs(values),
        values=values,
        quantity=_EFFECTS[options.effect],
        limits=(-reach, reach),
        texts=["not tested" if np.isnan(p) else f"p = {p:.2g}, q = {q:.2g}" for p, q in found],
        named=clearest,
    )

    def caption(where: str) -> str:
        size = ", and the size its absolute value" if options.brain == NODES else ""
        grey = "; regions that do not differ at that rate are grey" if options.only_different else ""
        names = ", ".join(brain.regions[region] for region in clearest)
        strongest = f" Those that differ most clearly: {names}." if names else ""
        return (
            f"{difference.words} {brain.regions_in(where)}; the colour is the {_EFFECTS[options.effect]}, red where "
            f"higher in {second}, blue where lower{size}{grey}.{strongest}{brain.left_out}{difference.remarks}"
        )

    return in_brain(
        brain,
        caption,
        title=f"{HUB_MEASURES[options.measure].in_words_of(measured.kind).short}, {second} against {first}",
        simulated=difference.simulated,
        numbers=difference.numbers,
        methods=difference_methods(measured, options, difference.found),
    )


def difference_methods(measured: "Measured", options: ComparisonOptions, found: "GroupComparison") -> tuple[str, ...]:
    """Methods: how the features were measured and tested.

    Parameters
    ----------
    measured : Measured
    options : ComparisonOptions
    found : GroupComparison
    """
    first, second = found.between
    sizes = " and ".join(f"{n} {group}" for group, n in found.n_subjects.items())
    test = (
        f"{second} and {first} ({sizes}) were compared with a linear model and a two-sided permutation test "
        f"[@freedman1983; {found.permutations:,} permutations, seed {found.seed}] of Welch's t, in which each group "
        f"has its own variance, {adjusted_for(found.covariates)}. The false discovery rate was controlled over all "
        "features [@benjamini1995]. Effect sizes d are adjusted differences in residual standard "
        "deviations. Several recordings of one person were averaged first."
    )
    return (*_measure_methods(measured, options), test, *given_methods(measured, found.simpler))


def given_methods(measured: "Measured", simpler: Sequence[str]) -> tuple[str, ...]:
    """Methods: how differences were tested given what is simpler; none where nothing is.

    Parameters
    ----------
    measured : Measured
    simpler : sequence of str
        Of :data:`biobgt.base.beyond.SIMPLER`.
    """
    return (measured.kind.named(beyond_methods(simpler)),) if simpler else ()


def _measure_methods(measured: "Measured", options: ComparisonOptions) -> tuple[str, ...]:
    """How the features were measured."""
    if options.of == HUBS:
        return hub_methods(measured, options, (options.measure,))
    if options.of == NETWORKS:
        named = named_labelling(options.labelling or next(iter(measured.atlas.labels)))
        return (connectivity_sentence(measured, f" and averaged within and between {named}"),)
    compared = [measure for measure in MODULE_MEASURES.values() if measure.compared]
    definitions = " ".join(dict.fromkeys(measure.definition for measure in compared))
    return module_methods(measured, options.part(ModuleOptions), definitions)


def connectivity_sentence(measured: "Measured", then: str = "") -> str:
    """How the connectivity was made in which groups are compared, and what was done with it then."""
    atlas, cites = measured.atlas, estimated_with(measured)
    how = f"estimated as Pearson's correlation with nilearn{in_brackets(cites)}" if cites else "given"
    transformed = (", Fisher-transformed" if then else " and Fisher-transformed") if measured.kind.functional else ""
    return (
        f"{measured.kind.title} between the {atlas.n_regions} regions of {atlas.title}{in_brackets(atlas.cites)} "
        f"was {how}{transformed}{then}."
    )


# Their modules. The page *Compare* shows the numbers and the caption of their difference above its figures; exported
# figures have the same in their methods.


@dataclass(frozen=True)
class ModuleComparisonOptions(NamedModuleOptions, TwoGroups):
    """Which groups are compared in their modules."""


def compared_modules(measured: "Measured", options: ModuleComparisonOptions) -> "ModuleDifference":
    """Both groups' modules compared; the second group's have the numbers of the first's.

    Parameters
    ----------
    measured : Measured
    options : ModuleComparisonOptions
    """
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


def group_module_methods(
    measured: "Measured", options: ModuleComparisonOptions, found: "ModuleDifference"
) -> tuple[str, ...]:
    """Methods of a figure of two groups' modules.

    Parameters
    ----------
    measured : Measured
    options : ModuleComparisonOptions
    found : ModuleDifference
        The modules of the two groups.
    """
    first, second = options.groups
    sentence = (
        f"The modules of {first} and {second} are the consensus over each group's subjects [@lancichinetti2012]. "
        "The mean adjusted mutual information [AMI; @vinh2010] of two subjects is "
        f"{found.within:.3f} within a group and {found.between:.3f} between groups; the permutation p of that "
        f"difference is {_p_words(found)} [{_permutations(found)}; @alexanderbloch2012]. Several recordings of "
        f"one person count as one subject. {_changed_sentence(found)}{_not_ruled_out(measured, options)}"
    )
    return module_methods(measured, options, sentence)


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
    from biobgt.inference.covariates import confounding_notes
    from biobgt.modules.compare import UNADJUSTED

    return " ".join((UNADJUSTED, *confounding_notes(measured.cohort, options.groups)))


@figure("group_module_flow", "Modules of two groups", takes=ModuleComparisonOptions, of_subject=False, least_mm=70)
def group_module_flow(measured: "Measured", options: ModuleComparisonOptions) -> Drawing:
    """Where the regions of one group's modules go among another group's."""
    found, (first, second) = changed_modules(measured, options), options.groups
    names = [named_modules(measured.atlas, options.labelling, side) for side in (found.first, found.second)]
    matched = {module: module for module in names[1]}
    whom = "simulated subjects" if measured.cohort.simulated else "subjects"
    return Drawing(
        title=f"Modules of {first} and {second}",
        simulated=measured.cohort.simulated,
        panels=[flow_panel(found.agreement, (names[0], names[1]), matched, options.groups)],
        caption=(
            f"Consensus modules of the {whom} of {first} (left) and {second} (right), numbered and coloured alike "
            f"where they share the most regions. {changed_words(found)}; AMI = {found.agreement.ami:.2f}. "
            f"The comparison is not adjusted for {ANY_USUAL_COVARIATE}."
        ),
        numbers=table({"region": measured.atlas.regions, first: found.first, second: found.second}),
        legend="above",
        methods=group_module_methods(measured, options, found),
    )


@dataclass(frozen=True)
class _GroupBrainOptions(ModuleComparisonOptions):
    """Which of two groups is drawn; by default the first."""

    group: str = option("", title="Group shown")
    brain: BrainKind = brain_option()

    @property
    def shown(self) -> str:
        """The group that is drawn."""
        if self.group and self.group not in self.groups:
            raise InputError(f"'{self.group}' is not one of the compared groups: name {self.first} or {self.second}.")
        return self.group or self.first


@figure("group_module_brain", "A group's modules in the brain", takes=_GroupBrainOptions, of_subject=False)
def group_module_brain(measured: "Measured", options: _GroupBrainOptions) -> Drawing:
    """The modules that the subjects of one of two groups agree on, in the brain."""
    # Groups take long to compare, and all in vain where there is no brain. Two of them stand side by side.
    brain = Brain.of(measured.atlas, options.brain, distance=_FARTHER)
    found, shown, (first, second) = compared_modules(measured, options), options.shown, options.groups
    modules = found.first if shown == first else found.second
    brain, numbers = in_modules(brain, measured.atlas, options.labelling, modules)
    simulated = measured.cohort.simulated
    whom = counted(found.n_subjects[options.groups.index(shown)], "simulated subject" if simulated else "subject")

    def caption(where: str) -> str:
        return (
            f"{shown}: {counted(len(brain.group_colours), 'module')} that its {whom} agree on, as "
            f"{brain.regions_in(where)}{IN_NONE if 0 in modules else ''}.{brain.left_out} Modules are numbered and "
            f"coloured as those of {second if shown == first else first} with which they share the most regions."
        )

    return in_brain(
        brain,
        caption,
        title=f"Modules of {shown}",
        simulated=simulated,
        numbers=numbers,
        methods=group_module_methods(measured, options, found),
    )
