"""What centiles are of: hub measures of the whole brain and of networks, modules, mean connectivity; age and sex.

Among whom a person stands, :mod:`biobgt.groups.standing` says.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.kept import kept
from biobgt.base.options import Options, option
from biobgt.base.wording import capitalised, percent
from biobgt.data.atlas import LABELLINGS, Atlas
from biobgt.data.cohort import Subject
from biobgt.data.quality import OVERALL_CONNECTIVITY
from biobgt.groups.features import regional_hubs, segregation_features
from biobgt.hubs.measures import DEFAULT_SHARE, HUB_MEASURES, NE, EntanglementOptions
from biobgt.hubs.table import number_of_hubs
from biobgt.inference.covariates import SEXES, USUAL_NAMES
from biobgt.modules.measures import MODULE_MEASURES, SEGREGATION, ModuleOptions, Q
from biobgt.readers.tables import is_known
from biobgt.results.measured import Measured

WHOLE, STRONGEST = "whole brain", "strongest regions"
STRONGEST_WORDS: Mapping[str, str] = {
    STRONGEST: f"the {percent(DEFAULT_SHARE)} of regions that are strongest by it in each person"
}
NETWORK_SEGREGATION, MEAN_CONNECTIVITY = "network segregation", "mean_fc"
# Numbers of a whole brain, and their names on axes.
BRAIN_NUMBERS: Mapping[str, str] = {
    Q: MODULE_MEASURES[Q].short,
    SEGREGATION: f"{MODULE_MEASURES[SEGREGATION].short}, own modules",
    NETWORK_SEGREGATION: f"{MODULE_MEASURES[SEGREGATION].short}, functional networks",
    MEAN_CONNECTIVITY: "Mean connectivity",
    OVERALL_CONNECTIVITY: "Mean absolute connectivity",
}
_NETWORKS = "yeo7"  # where the atlas has them
_FEWEST_REGIONS = 0.5  # of a network that need signal


def networks_of(atlas: Atlas) -> str:
    """The labelling by whose networks hub measures are averaged; empty where the atlas has none."""
    return _NETWORKS if _NETWORKS in atlas.labels else next(iter(atlas.labels), "")


def places_in(atlas: Atlas) -> tuple[str, ...]:
    """Over which regions of an atlas hub measures are averaged: all, the strongest, and each network."""
    labels = atlas.labels.get(networks_of(atlas), ())
    return (WHOLE, STRONGEST, *sorted({label for label in labels if label}))


# What is asked for.


@dataclass(frozen=True)
class ReferenceOptions(Options):
    """Among whom a person stands."""

    reference: str = option(
        "",
        title="Reference",
        help="The published people on whom this atlas was measured, or a group of your own cohort.",
        choices_of=lambda cohort: ("", *cohort.group_sizes),
        shown={"": "Published people"},
        link="centile_reference",
    )


@dataclass(frozen=True)
class HubCentileOptions(EntanglementOptions, ReferenceOptions):
    """Of which hub measure, and where, a centile is."""

    measure: str = option(
        NE,
        title="Hub measure",
        help="Its mean over the regions of a place.",
        choices=HUB_MEASURES,
        shown=lambda key: HUB_MEASURES[key].heading,
        link="centile_measure",
    )
    place: str = option(
        WHOLE,
        title="Where",
        help=f"Mean over all regions, over the {percent(DEFAULT_SHARE)} that are strongest by the measure in each "
        "person, or over a functional network.",
        choices_of=lambda cohort: places_in(cohort.atlas),
        shown=capitalised,
        link="centile_place",
    )

    @property
    def curve(self) -> str:
        """The key of its curve."""
        return f"{self.measure}: {self.place}"

    def check_place(self, atlas: Atlas) -> None:
        """Refuse a place that the atlas does not have."""
        if self.place not in (places := places_in(atlas)):
            raise InputError(f"Atlas {atlas.name} has no place '{self.place}'. Choose one of: {', '.join(places)}.")


@dataclass(frozen=True)
class BrainCentileOptions(ModuleOptions, ReferenceOptions):
    """Of which number of the whole brain a centile is."""

    brain_number: str = option(
        Q,
        title="Measure of the whole brain",
        help="A measure of its modules, or its mean connectivity.",
        choices=BRAIN_NUMBERS,
        shown=BRAIN_NUMBERS,
        link="centile_brain",
    )

    @property
    def curve(self) -> str:
        """The key of its curve."""
        return self.brain_number


CentileOptions = HubCentileOptions | BrainCentileOptions


@kept(
    "Perturbing every region…",
    most=6000,
    by=lambda measured, options, measure: (
        measure,
        options.part(EntanglementOptions) if HUB_MEASURES[measure].depends_on_gamma else None,
    ),
)
def hub_means(measured: Measured, options: EntanglementOptions, measure: str) -> dict[str, float]:
    """Means of a hub measure of one subject over all regions, the strongest, and each functional network.

    Regions without signal are left out; a network that has signal in fewer than half of its regions has no mean.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    options : EntanglementOptions
    measure : str
        Of :data:`biobgt.hubs.HUB_MEASURES`.
    """
    values = regional_hubs(measured, options, measure).values[0]
    return places_of(values, measured.atlas, measure)


def places_of(values: FloatArray, atlas: Atlas, measure: str) -> dict[str, float]:
    """Means of a hub measure over the places of an atlas, by the keys of their curves.

    Parameters
    ----------
    values : ndarray, shape (n_regions,)
        NaN in regions without signal.
    atlas : Atlas
    measure : str
    """
    known = np.sort(values[np.isfinite(values)])
    if not len(known):
        raise InputError("No region has signal.")
    n_strongest = number_of_hubs(len(known), DEFAULT_SHARE)
    strongest = known[:n_strongest] if HUB_MEASURES[measure].low_in_hubs else known[-n_strongest:]
    found = {WHOLE: known.mean(), STRONGEST: strongest.mean()}
    labels = np.array(atlas.labels.get(networks_of(atlas), [None] * len(values)), dtype=object)
    for name in places_in(atlas)[2:]:
        own = values[labels == name]
        enough = np.isfinite(own).mean() >= _FEWEST_REGIONS
        found[name] = np.nanmean(own) if enough else np.nan
    return {f"{measure}: {place}": float(value) for place, value in found.items()}


@kept("Looking for modules…", most=6000)
def brain_numbers(measured: Measured, options: ModuleOptions) -> dict[str, float]:
    """The numbers of :data:`BRAIN_NUMBERS` of one subject, NaN where one is not defined.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    options : ModuleOptions
    """
    features = segregation_features(measured, options)
    found = dict(zip(features.names, features.values[0].tolist(), strict=True))
    segregation, networks = MODULE_MEASURES[SEGREGATION].title, networks_of(measured.atlas)
    mean, absolute = measured.mean_connectivity()
    return {
        Q: found[MODULE_MEASURES[Q].title],
        SEGREGATION: found[f"{segregation}, own modules"],
        NETWORK_SEGREGATION: found.get(f"{segregation}, {LABELLINGS.get(networks, networks)}", np.nan),
        MEAN_CONNECTIVITY: mean,
        OVERALL_CONNECTIVITY: absolute,
    }


def centile_values(measured: Measured, options: CentileOptions) -> dict[str, float]:
    """The values of one subject that belong to a question, by the keys of their curves.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    options : HubCentileOptions or BrainCentileOptions
    """
    if isinstance(options, HubCentileOptions):
        return hub_means(measured, options.part(EntanglementOptions), options.measure)
    return brain_numbers(measured, options.part(ModuleOptions))


def all_values(measured: Measured, hubs: EntanglementOptions, modules: ModuleOptions) -> dict[str, float]:
    """All values of one subject that have centiles, by the keys of their curves.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    hubs : EntanglementOptions
    modules : ModuleOptions
    """
    found: dict[str, float] = {}
    for measure in HUB_MEASURES:
        found |= hub_means(measured, hubs, measure)
    return found | brain_numbers(measured, modules)


def all_questions(
    atlas: Atlas, hubs: EntanglementOptions, modules: ModuleOptions, reference: ReferenceOptions
) -> list[CentileOptions]:
    """A question for every one of :func:`all_values`.

    Parameters
    ----------
    atlas : Atlas
    hubs : EntanglementOptions
    modules : ModuleOptions
    reference : ReferenceOptions
    """
    near, found = {**hubs.as_dict(), **reference.as_dict()}, {**modules.as_dict(), **reference.as_dict()}
    return [
        *(
            HubCentileOptions(**near, measure=measure, place=place)
            for measure in HUB_MEASURES
            for place in places_in(atlas)
        ),
        *(BrainCentileOptions(**found, brain_number=number) for number in BRAIN_NUMBERS),
    ]


# People: age in years and sex, by the usual names of phenotype tables.


@dataclass(frozen=True)
class Person:
    """What is known of a person: age in years, NaN where it is not, sex (male, female or empty) and site."""

    age: float
    sex: str
    site: str = ""

    @property
    def words(self) -> str:
        """Within a caption."""
        return f"{self.sex}, {self.age:.1f} years"


def person(subject: Subject) -> Person:
    """Age, sex and site of a subject, from its phenotypes."""
    known = {str(name).strip().lower().replace(" ", "_"): value for name, value in subject.phenotypes.items()}
    age, sex, site = (
        next((str(known[name]).strip() for name in USUAL_NAMES[what] if is_known(known.get(name))), "")
        for what in ("age", "sex", "site")
    )
    try:
        years = float(age)
    except ValueError:
        years = np.nan
    return Person(years if np.isfinite(years) else np.nan, SEXES.get(sex.lower(), ""), site)
