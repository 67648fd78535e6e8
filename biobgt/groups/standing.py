"""Where a person stands among others of the same age and sex, in centiles.

The reference is one that comes with the project, made of real people with the default settings, or a group of the
user's own cohort, measured as the subject is. Outside of what a reference was made of (ages, atlas, settings, kind of
connectivity, global signal) there is a sentence instead of a number.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.base.kept import kept
from biobgt.base.wording import counted, listed, percent
from biobgt.data.atlas import load_atlas
from biobgt.data.cohort import Cohort, Subject, average_by_person, by_person
from biobgt.data.graph import ESTIMATED, KINDS, ConnectomeSettings, is_correlation
from biobgt.data.quality import OVERALL_CONNECTIVITY
from biobgt.groups.centiles import (
    MEAN_CONNECTIVITY,
    WHOLE,
    BrainCentileOptions,
    CentileOptions,
    HubCentileOptions,
    Person,
    centile_values,
    person,
)
from biobgt.hubs.measures import HUB_MEASURES, LITTLE_MEAN_CONNECTIVITY
from biobgt.inference.centiles import FEWEST_PEOPLE, AgeAndSex, CentileCurve, fit_centiles
from biobgt.results.measured import Measured

CENTILES = (5, 25, 50, 75, 95)
MOST_SILENT = 0.05  # of the regions may be without signal
_RANGE = (0.01, 0.99)  # of the ages of each sex, within which a reference is used
_FEWEST_OF_SEX = 10
_MOST_LOOKED_AT = 200  # recordings whose mean connectivity tells whether the global signal was removed

# References.


@dataclass(frozen=True, eq=False)
class CentileReference:
    """People among whom others stand.

    Attributes
    ----------
    key : str
    title : str
        Who they are, within a sentence.
    n_people, n_sites : int
    terms : AgeAndSex
    ages : mapping of str to (float, float)
        Of each sex, the range of ages in which the curves are used.
    curves : mapping of str to CentileCurve
    atlases : tuple of str
        The bundled atlases with these regions, in any order; none for the user's own people.
    made : mapping of str to options
        The settings of graphs, hubs and modules, as plain values; none for the user's own people.
    about : str
        What else to know of them, in sentences.
    licence : str
    cites : tuple of str
    """

    key: str
    title: str
    n_people: int
    n_sites: int
    terms: AgeAndSex
    ages: Mapping[str, tuple[float, float]]
    curves: Mapping[str, CentileCurve]
    atlases: tuple[str, ...] = ()
    made: Mapping[str, Mapping[str, Any]] | None = None
    about: str = ""
    licence: str = ""
    cites: tuple[str, ...] = ()

    @property
    def people_words(self) -> str:
        """How many they are."""
        people = "1 person" if self.n_people == 1 else f"{self.n_people:,} people"
        return f"{people}, {counted(self.n_sites, 'site')}" if self.n_sites > 1 else people

    def as_json(self) -> str:
        """As a file keeps it: a curve a line."""
        about = {name: value for name, value in vars(self).items() if name not in ("terms", "curves")}
        about |= {"knots": self.terms.knots, "sexes": self.terms.sexes}
        lines = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in about.items()]
        curves = [f"    {json.dumps(key)}: {json.dumps(one.as_plain())}" for key, one in self.curves.items()]
        return "{\n" + ",\n".join(lines) + ',\n  "curves": {\n' + ",\n".join(curves) + "\n  }\n}\n"

    @classmethod
    def from_json(cls, text: str) -> "CentileReference":
        """What :meth:`as_json` wrote."""
        given = json.loads(text)
        terms = AgeAndSex(tuple(given.pop("knots")), tuple(given.pop("sexes")))
        curves = {key: CentileCurve.from_plain(terms, one) for key, one in given.pop("curves").items()}
        ages = {sex: (low, high) for sex, (low, high) in given.pop("ages").items()}
        atlases, cites = (tuple(given.pop(name)) for name in ("atlases", "cites"))
        return cls(**given, terms=terms, curves=curves, ages=ages, atlases=atlases, cites=cites)


@cache
def published_references() -> tuple[CentileReference, ...]:
    """The references that come with the project."""
    files = sorted(asset("centiles").glob("*.json"))
    return tuple(CentileReference.from_json(file.read_text(encoding="utf-8")) for file in files)


def _people_of_use(people: Sequence[Person], title: str) -> list[bool]:
    """Who is of known age, and of a sex of which there are enough; a sentence where these are too few."""
    sizes = Counter(who.sex for who in people if who.age > 0)
    chosen = [who.age > 0 and bool(who.sex) and sizes[who.sex] >= _FEWEST_OF_SEX for who in people]
    if sum(chosen) < FEWEST_PEOPLE:
        raise InputError(
            f"Centiles need a reference of at least {FEWEST_PEOPLE} people of known age and sex, and "
            f"{_FEWEST_OF_SEX} of each sex; {title} has {sum(chosen)}."
        )
    return chosen


def make_reference(
    key: str, title: str, people: Sequence[Person], values: Mapping[str, ArrayLike], **about: Any
) -> CentileReference:
    """Fit the curves of some people.

    Parameters
    ----------
    key, title : str
    people : sequence of Person
        Whoever lacks age or sex is left out.
    values : mapping of str to array-like, shape (n_people,)
        By the keys of curves.
    **about
        Further attributes of :class:`CentileReference`.
    """
    chosen = _people_of_use(people, title)
    known = [who for who, use in zip(people, chosen, strict=True) if use]
    ages, of_sex = np.array([who.age for who in known]), [who.sex for who in known]
    sites = [who.site for who in known]
    terms = AgeAndSex.of(ages, of_sex)
    ranges = {sex: np.quantile(ages[np.array(of_sex) == sex], _RANGE) for sex in terms.sexes}
    return CentileReference(
        key,
        title,
        n_people=len(known),
        n_sites=len(set(sites)),
        terms=terms,
        ages={sex: (round(float(low), 1), round(float(high), 1)) for sex, (low, high) in ranges.items()},
        curves={
            name: fit_centiles(np.asarray(own, np.float64)[chosen], ages, of_sex, sites, terms)
            for name, own in values.items()
        },
        **about,
    )


@kept(
    "Fitting centiles…",
    most=64,
    subject=False,
    by=lambda measured, options: (
        options,
        tuple((one.id, person(one)) for one in measured.cohort if one.group == options.reference),
    ),
)
def _own_reference(measured: Measured, options: CentileOptions) -> CentileReference:
    """The reference that a group of the cohort is for one curve."""
    group = check_group(measured.cohort, options.reference)
    values = [centile_values(measured.of(name), options)[options.curve] for name in group.ids]
    return _group_reference(group, options, values)


def check_group(cohort: Cohort, name: str) -> Cohort:
    """The group of a cohort that is to be a reference; a sentence where it cannot, before anything is measured."""
    group = cohort.group(name)
    _people_of_use(_people(group), _group_title(group, name))
    return group


def _group_title(group: Cohort, name: str) -> str:
    return f"group {name} of {group.name}"


def _people(group: Cohort) -> list[Person]:
    """Its people: ages of their recordings are averaged, and the first says sex and site."""
    rows = {name: [person(one) for one in own] for name, own in by_person(group, group.persons).items()}
    return [Person(float(np.mean([one.age for one in own])), own[0].sex, own[0].site) for own in rows.values()]


def _group_reference(group: Cohort, options: CentileOptions, values: Sequence[float]) -> CentileReference:
    """The same of values that are known; those of a person's recordings are averaged."""
    own = {options.curve: average_by_person(values, group.persons)}
    return make_reference(options.reference, _group_title(group, options.reference), _people(group), own)


def reference_of(measured: Measured, options: CentileOptions) -> CentileReference:
    """Among whom a subject of a cohort stands; a sentence where there is nobody.

    Parameters
    ----------
    measured : Measured
    options : HubCentileOptions or BrainCentileOptions
    """
    if isinstance(options, HubCentileOptions):
        options.check_place(measured.atlas)
    if options.reference:
        return _own_reference(measured, options)
    if why := why_not_published(measured, options):
        raise InputError(why)
    return next(one for one in published_references() if measured.atlas.name in one.atlases)


# Who cannot be compared, and why.


def why_not_published(measured: Measured, options: CentileOptions) -> str:
    """Why no published reference applies to a cohort measured in this way; empty where one does.

    Parameters
    ----------
    measured : Measured
        Of the cohort, or of a subject.
    options : HubCentileOptions or BrainCentileOptions
    """
    fitting = (one for one in published_references() if measured.atlas.name in one.atlases)
    reference = next(fitting, None)
    own = f"A group of at least {FEWEST_PEOPLE} people of your own cohort can be the reference instead"
    if reference is None or measured.atlas.whole is not None:
        known = listed([load_atlas(one.atlases[0]).title for one in published_references()])
        why = f"the published people were measured on {known}, and this cohort has {measured.atlas.title}"
    elif options.curve not in reference.curves:
        why = f"the published people were not measured in '{options.curve}'"
    else:
        why = (
            _another_kind(measured)
            or _other_settings(measured.settings, options, reference)
            or _global_signal(measured)
        )
    return f"There is no centile: {why}. {own}." if why else ""


def _another_kind(measured: Measured) -> str:
    subjects = measured.cohort if measured.one is None else (measured.one,)
    given = (one.connectivity for one in subjects if one.connectivity is not None)
    if measured.kind.functional and all(map(is_correlation, given)):
        return ""
    return "the published people's connectivity is correlation, and these matrices hold something else"


def _other_settings(settings: ConnectomeSettings, options: CentileOptions, reference: CentileReference) -> str:
    """What was chosen otherwise than in the reference, as far as the measure depends on it."""
    made = reference.made or {}
    of_graph = ConnectomeSettings(**made["graph"])
    plain = {MEAN_CONNECTIVITY, OVERALL_CONNECTIVITY}
    if options.curve in plain:
        return ""
    if settings != of_graph:
        kind = KINDS[ESTIMATED]
        return f"the published people's graphs are {of_graph.describe(kind)}; these are {settings.describe(kind)}"
    depends: dict[str, Any] = {}
    if isinstance(options, BrainCentileOptions):
        depends = {
            name: value for name, value in made["modules"].items() if name in ("resolution", "runs", "consensus")
        }
    elif HUB_MEASURES[options.measure].depends_on_gamma:
        depends = dict(made["entanglement"])
    said = {name: one.title for name, one in options.declared().items()}
    others = [name for name, value in depends.items() if getattr(options, name) != value]
    texts = [f"{said[name]} {options.declared()[name].text(depends[name])}" for name in others]
    return f"the published people were measured with {listed(texts)}" if texts else ""


def _global_signal(measured: Measured) -> str:
    """Say that the global signal seems not to be removed, where mean connectivity says so."""
    median = _median_connectivity(measured)
    if median < LITTLE_MEAN_CONNECTIVITY:
        return ""
    return (
        f"the published people's series have the global signal removed, and the mean connectivity here, {median:.2f} "
        f"in the median, is above {LITTLE_MEAN_CONNECTIVITY:g}, as without that"
    )


@kept(most=4, subject=False, graph=False, by=lambda measured: measured.cohort.ids)
def _median_connectivity(measured: Measured) -> float:
    """Of the cohort, or of so many of its recordings, evenly through it."""
    names = measured.cohort.ids[:: -(-len(measured.cohort) // _MOST_LOOKED_AT)]
    return float(np.median([measured.of(name).mean_connectivity()[0] for name in names]))


def _why_unknown(subject: Subject, who: Person) -> str:
    """What is missing of a person, and what to bring; empty where nothing is."""
    lacking = [name for name, known in (("age", who.age > 0), ("sex", bool(who.sex))) if not known]
    if not lacking:
        return ""
    return (
        f"the {listed(lacking)} of '{subject.id}' {'is' if len(lacking) == 1 else 'are'} not known. Bring a phenotype "
        "table with the columns age, in years, and sex, as female or male"
    )


def why_not_here(reference: CentileReference, subject: Subject) -> str:
    """Why a subject cannot be compared with a reference; empty where it can.

    Parameters
    ----------
    reference : CentileReference
    subject : Subject
    """
    who = person(subject)
    if why := _why_unknown(subject, who):
        return f"There is no centile: {why}."
    if who.sex not in reference.ages:
        return f"There is no centile: {reference.title} has too few people who are {who.sex}."
    low, high = reference.ages[who.sex]
    if not low <= who.age <= high:
        return (
            f"There is no centile: '{subject.id}' is {who.age:.1f} years old, and the curves of {reference.title} for "
            f"{who.sex} people go from {low:g} to {high:g} years."
        )
    n_silent = len(subject.silent_regions)
    if reference.made is not None and n_silent > MOST_SILENT * subject.n_regions:
        return (
            f"There is no centile: {n_silent} of {counted(subject.n_regions, 'region')} of '{subject.id}' have no "
            f"signal, more than the {percent(MOST_SILENT)} that the reference's people may lack."
        )
    return ""


# Where people stand.


@dataclass(frozen=True)
class Standing:
    """Where a subject stands.

    Attributes
    ----------
    person : Person
    value : float
        What was measured.
    centile, low, high, z : float
        The centile with its 95 % interval, and the normal score; NaN where there is none.
    why_not : str
        Why there is none; empty where there is one.
    """

    person: Person
    value: float
    centile: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    z: float = float("nan")
    why_not: str = ""


def centile_words(centile: float) -> str:
    """A centile for a sentence: a whole number, and near both ends with a digit more.

    >>> centile_words(62.4), centile_words(0.31)
    ('62', '0.3')
    """
    return f"{centile:.0f}" if 1 <= centile <= 99 else f"{centile:.1f}"


def standing_of(measured: Measured, options: CentileOptions) -> Standing:
    """Where the subject stands among the people of its reference.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    options : HubCentileOptions or BrainCentileOptions
    """
    value = centile_values(measured, options)[options.curve]
    return _standing(reference_of(measured, options), measured.subject, options.curve, value)


def _standing(reference: CentileReference, subject: Subject, key: str, value: float) -> Standing:
    who, why = person(subject), why_not_here(reference, subject)
    why = why or ("" if np.isfinite(value) else "There is no centile: the measure is not defined in this subject.")
    if why:
        return Standing(who, value, why_not=why)
    curve, asked = reference.curves[key], ([value], [who.age], [who.sex])
    centile, low, high = curve.centiles(*asked)[0].tolist()
    return Standing(who, value, centile, low, high, float(curve.scores(*asked)[0][0]))


def cohort_centiles(
    measured: Measured, questions: Iterable[CentileOptions], values: Mapping[str, Mapping[str, float]]
) -> pd.DataFrame:
    """Centiles of every subject of a cohort, one row per subject and question.

    Parameters
    ----------
    measured : Measured
    questions : iterable of HubCentileOptions or BrainCentileOptions
    values : mapping of str to mapping of str to float
        The :func:`biobgt.groups.centiles.centile_values` of every subject.

    Returns
    -------
    DataFrame
        ``why_not`` says why there is no centile where there is none.
    """
    rows = []
    for options in questions:
        measure, _, place = options.curve.partition(": ")
        asked = {"measure": measure, "place": place or WHOLE}
        try:
            reference, why = _reference_in(measured.of(None), options, values), ""
        except InputError as error:
            reference, why = None, str(error)
        for subject in measured.cohort:
            value = values[subject.id][options.curve]
            if reference is None:
                found = Standing(person(subject), value, why_not=why)
            else:
                found = _standing(reference, subject, options.curve, value)
            who = {"subject": subject.id, "group": subject.group, "age": found.person.age, "sex": found.person.sex}
            among = {"reference": "" if reference is None else reference.key}
            rows.append({**who, **among, **asked, **_numbers_of(found)})
    return pd.DataFrame(rows)


def _reference_in(
    measured: Measured, options: CentileOptions, values: Mapping[str, Mapping[str, float]]
) -> CentileReference:
    """The reference of a question, from values that are known."""
    if not options.reference:
        return reference_of(measured, options)
    group = measured.cohort.group(options.reference)
    return _group_reference(group, options, [values[name][options.curve] for name in group.ids])


def _numbers_of(found: Standing) -> dict[str, Any]:
    numbers = {"value": found.value, "centile": found.centile, "centile_low": found.low, "centile_high": found.high}
    return {**numbers, "z": found.z, "why_not": found.why_not}
