"""Every person of a cohort in one number: a hub measure of a region, or a measure of the whole brain; not tested."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.kept import kept
from biobgt.base.options import option
from biobgt.data.atlas import LABELLINGS
from biobgt.data.cohort import FEWEST_COMPARED, Cohort, person_of
from biobgt.groups.features import regional_hubs, segregation_features
from biobgt.hubs.agreement import spearman
from biobgt.hubs.measures import COMPARED, HUB_MEASURES, NE, EntanglementOptions
from biobgt.inference.permutation import group_effect
from biobgt.modules.measures import MODULE_MEASURES, N_MODULES, SEGREGATION, ModuleOptions, NamedModuleOptions, Q
from biobgt.results.measured import Measured

Effects = dict[tuple[str, str], pd.DataFrame]
_AGREEMENTS = {f"{NE}_{key}": key for key in COMPARED if key != NE}
BRAIN_MEASURES: Mapping[str, str] = {
    **{name: f"NE with {HUB_MEASURES[key].short}, ρ over regions" for name, key in _AGREEMENTS.items()},
    **{key: MODULE_MEASURES[key].short for key in (Q, SEGREGATION, N_MODULES)},
}


@dataclass(frozen=True)
class BrainMeasureOptions(EntanglementOptions, NamedModuleOptions):
    """Which number is taken of a whole brain."""

    brain_measure: str = option(
        next(iter(BRAIN_MEASURES)),
        title="Measure of whole brains",
        help="How far node entanglement agrees with another hub measure over the regions, or a measure of modules.",
        choices=BRAIN_MEASURES,
        shown=BRAIN_MEASURES,
        link="brain_measure",
    )

    @property
    def agrees_with(self) -> str:
        """The hub measure that node entanglement is compared with; empty for a measure of modules."""
        return _AGREEMENTS.get(self.brain_measure, "")


def brain_measure_title(measured: Measured, options: BrainMeasureOptions) -> str:
    """What is measured, in full: with γ, or with the networks that it is about.

    Parameters
    ----------
    measured : Measured
    options : BrainMeasureOptions
    """
    if options.agrees_with:
        return f"{measured.kind.named(BRAIN_MEASURES[options.brain_measure])} at γ = {options.gamma:g}/mean(λ)"
    title = MODULE_MEASURES[options.brain_measure].title
    if options.brain_measure != SEGREGATION:
        return title
    known = options.labelling in measured.atlas.labels
    return f"{title}, {LABELLINGS.get(options.labelling, options.labelling) if known else 'own modules'}"


@kept(
    most=6000,
    by=lambda measured, options: (
        options.brain_measure,
        options.part(EntanglementOptions if options.agrees_with else NamedModuleOptions),
    ),
)
def brain_value(measured: Measured, options: BrainMeasureOptions) -> float:
    """A number of one subject's whole brain; NaN where it has none.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    options : BrainMeasureOptions
    """
    if options.agrees_with:
        near = options.part(EntanglementOptions)
        both = [regional_hubs(measured, near, key).values for key in (NE, options.agrees_with)]
        own, other = (values[np.isfinite(values)] for values in both)  # regions without signal are gaps of both
        return float(spearman(own[None], other)[0])
    found = segregation_features(measured, options.part(ModuleOptions))
    return float(found.values[0, found.names.index(brain_measure_title(measured, options))])


def regional_values(measured: Measured, options: EntanglementOptions, measure: str) -> FloatArray:
    """One hub measure in every region of every subject; NaN where there is no signal.

    Parameters
    ----------
    measured : Measured
    options : EntanglementOptions
    measure : str
        Of :data:`biobgt.hubs.HUB_MEASURES`.

    Returns
    -------
    ndarray, shape (n_subjects, n_regions)
    """
    return np.concatenate([regional_hubs(measured.of(name), options, measure).values for name in measured.cohort.ids])


@kept(
    most=16,
    subject=False,
    by=lambda measured, options, measure: ((options, measure, tuple((one.id, one.group) for one in measured.cohort))),
)
def regional_effects(measured: Measured, options: EntanglementOptions, measure: str) -> Effects:
    """:func:`effects_against_first` of one hub measure in every region.

    Parameters
    ----------
    measured : Measured
    options : EntanglementOptions
    measure : str
    """
    return effects_against_first(measured.cohort, regional_values(measured, options, measure))


def effects_against_first(cohort: Cohort, values: FloatArray) -> Effects:
    """How each further group differs from the first, controls where there are any; nothing is tested.

    Parameters
    ----------
    cohort : Cohort
    values : ndarray, shape (n_subjects, n_features)

    Returns
    -------
    dict of (str, str) to DataFrame, n_features rows
        By the first group and the other, the ``d`` of :func:`biobgt.inference.permutation.group_effect` with its
        interval; recordings of one person are averaged first. Groups of fewer people than can be compared are left out.
    """
    owners = [person_of(one.id) for one in cohort]
    groups = pd.Series([one.group for one in cohort]).groupby(owners, sort=False).first()
    means = pd.DataFrame(values).groupby(owners, sort=False).mean()
    sizes = groups.value_counts()
    known = [name for name in cohort.group_sizes if sizes.get(name, 0) >= FEWEST_COMPARED]
    found = {}
    for other in known[1:]:
        chosen = groups.isin([known[0], other]).to_numpy()
        patients = (groups[chosen] == other).to_numpy()
        ones = np.ones((int(chosen.sum()), 1))
        found[known[0], other] = group_effect(means[chosen].to_numpy(), patients, ones, permutations=0, seed=0)
    return found
