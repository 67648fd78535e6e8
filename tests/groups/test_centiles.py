"""Where people stand: means over places, ages and sexes of any table, references, and who cannot be compared."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biobgt import Cohort, ConnectomeSettings, InputError, Subject, load_atlas
from biobgt.base.files import asset
from biobgt.base.references import REFERENCES
from biobgt.data.atlas import Atlas
from biobgt.groups.centiles import (
    BRAIN_NUMBERS,
    STRONGEST,
    WHOLE,
    BrainCentileOptions,
    HubCentileOptions,
    Person,
    ReferenceOptions,
    all_questions,
    all_values,
    brain_numbers,
    hub_means,
    person,
    places_in,
    places_of,
)
from biobgt.groups.standing import (
    CentileReference,
    cohort_centiles,
    make_reference,
    published_references,
    reference_of,
    standing_of,
    why_not_here,
    why_not_published,
)
from biobgt.hubs.measures import HUB_MEASURES, EntanglementOptions
from biobgt.modules.measures import ModuleOptions
from biobgt.results.measured import Measured

TEN = tuple(f"R{i}" for i in range(10))
DEGREE = HubCentileOptions(measure="degree")
MEAN = BrainCentileOptions(brain_number="mean_fc")
ALL = ConnectomeSettings(threshold="none")


def matrix(rng, n=10, mean=0.0):
    """A matrix of correlations of noise, with about this mean."""
    shared = np.sqrt(max(mean, 0.0)) * rng.standard_normal((60, 1))
    return np.corrcoef(shared + np.sqrt(1 - max(mean, 0.0)) * rng.standard_normal((60, n)), rowvar=False)


def toy_cohort(rng, n=70, atlas=None, **about):
    """Controls of 6 to 20 years, and one patient of 12."""
    atlas = atlas or Atlas("toy", "a toy", TEN)
    subjects = [
        Subject(
            f"c{i}",
            connectivity=matrix(rng, atlas.n_regions, 0.1 + 0.02 * (i % 7)),
            group="NC",
            phenotypes={"age": 6 + 14 * i / n, "sex": "FM"[i % 2], "site": f"S{i % 3}"},
        )
        for i in range(n)
    ]
    patient = {"connectivity": matrix(rng, atlas.n_regions, 0.3), "group": "ASD"}
    subjects.append(Subject("p", **patient, phenotypes={"age": 12.0, "sex": "M"}, **about))
    return Cohort("toy", tuple(subjects), atlas)


@pytest.fixture(scope="module")
def cc200():
    """One person on CC200 of whom everything is known, with the global signal removed."""
    rng = np.random.default_rng(0)
    series = rng.standard_normal((120, 200)) + 0.8 * rng.standard_normal((120, 8))[:, np.arange(200) % 8]
    series -= series.mean(axis=1, keepdims=True)
    one = Subject("one", series=series, phenotypes={"AGE_AT_SCAN": "14.5", "Gender": "Female"})
    return Cohort("own", (one,), load_atlas("cc200"))


def changed(cohort, **about):
    return Measured(replace(cohort, subjects=(replace(cohort.subjects[0], **about),))).of("one")


# Places and people.


def test_means_over_places_leave_out_what_has_no_signal():
    labels = ("A", "A", "A", "B", "B", "B", "B", None, None, None)
    atlas = Atlas("toy", "a toy", TEN, labels={"networks": labels})
    values = np.array([1.0, 2.0, np.nan, 10.0, np.nan, np.nan, np.nan, 4.0, 5.0, 8.0])
    found = places_of(values, atlas, "degree")
    assert found == {
        "degree: whole brain": 5.0,
        "degree: strongest regions": 10.0,  # a tenth of six regions, one at least
        "degree: A": 1.5,
        "degree: B": pytest.approx(np.nan, nan_ok=True),  # signal in a quarter of it
    }
    assert places_of(values, atlas, "vertex_entanglement")["vertex_entanglement: strongest regions"] == 1.0
    assert places_in(load_atlas("cc200"))[:3] == (WHOLE, STRONGEST, "Default")


@pytest.mark.parametrize(
    ("phenotypes", "expected"),
    [
        ({"age": 12, "sex": "F", "site": "NYU"}, Person(12.0, "female", "NYU")),
        ({"AGE_AT_SCAN": "12.5", "Gender": "male"}, Person(12.5, "male", "")),
        ({"age years": 7.0, "sex": "m"}, Person(7.0, "male", "")),
    ],
)
def test_age_and_sex_are_read_from_the_columns_of_releases(phenotypes, expected):
    assert person(Subject("a", connectivity=np.eye(3), phenotypes=phenotypes)) == expected


def test_codes_and_words_that_say_nothing_are_not_guessed():
    who = person(Subject("a", connectivity=np.eye(3), phenotypes={"age": "unknown", "sex": 2}))
    assert np.isnan(who.age)
    assert who.sex == ""


# The published references.


def test_published_references_hold_no_person_and_say_whom_to_cite():
    hold = {one.key: one for one in published_references()}
    assert set(hold) == {"abide", "hbn"}
    for one in hold.values():
        assert one.licence
        assert one.about
        assert all(key in REFERENCES for key in one.cites)
        atlases = [load_atlas(name) for name in one.atlases]
        assert all(
            sorted(map(tuple, atlas.coordinates)) == sorted(map(tuple, atlases[0].coordinates)) for atlas in atlases
        )
        expected = {f"{measure}: {place}" for measure in HUB_MEASURES for place in places_in(atlases[0])}
        assert set(one.curves) == expected | set(BRAIN_NUMBERS)
        assert one.made == {
            "graph": ConnectomeSettings().as_dict(),
            "entanglement": EntanglementOptions().as_dict(),
            "modules": ModuleOptions().as_dict(),
        }
        text = asset("centiles", f"{one.key}.json").read_text(encoding="utf-8")
        assert CentileReference.from_json(text).as_json() == one.as_json() == text
        assert "NDAR" not in text
        assert "_005" not in text
        longest = max(
            len(value)
            for curve in json.loads(text)["curves"].values()
            for value in curve.values()
            if isinstance(value, list)
        )
        assert longest <= 66, "parameters, not people"


def test_a_person_stands_where_the_curve_says(cc200):
    measured = Measured(cc200).of("one")
    found = standing_of(measured, DEGREE)
    assert found.person == Person(14.5, "female", "")
    assert found.value == pytest.approx(measured.graph().weights.astype(bool).sum(axis=0).mean())
    curve = reference_of(measured, DEGREE).curves["degree: whole brain"]
    assert [found.centile, found.low, found.high] == curve.centiles([found.value], [14.5], ["female"])[0].tolist()
    assert found.low < found.centile < found.high
    assert not found.why_not


def test_the_order_of_regions_does_not_matter(rng):
    """Schaefer's parcels by 7 and by 17 networks are the same ones in another order."""
    by_17, by_7 = load_atlas("schaefer200_17"), load_atlas("schaefer200")
    place = {tuple(at): i for i, at in enumerate(by_17.coordinates)}
    order = [place[tuple(at)] for at in by_7.coordinates]
    whole = matrix(rng, 200, 0.05)
    found = [
        hub_means(
            Measured(Cohort("c", (Subject("a", connectivity=values),), atlas)).of("a"), EntanglementOptions(), key
        )
        for key in ("node_efficiency", "degree")
        for values, atlas in ((whole, by_17), (whole[np.ix_(order, order)], by_7))
    ]
    for one, other in (found[:2], found[2:]):
        assert one == pytest.approx(other)


# Who cannot be compared, and why.


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"phenotypes": {}}, "age and sex of 'one' are not known. Bring a phenotype table"),
        ({"phenotypes": {"age": 14, "sex": 1}}, "the sex of 'one' is not known"),
        ({"phenotypes": {"age": 70, "sex": "F"}}, "'one' is 70.0 years old"),
        ({"phenotypes": {"age": 3, "sex": "M"}}, "'one' is 3.0 years old"),
    ],
)
def test_people_of_whom_nothing_can_be_said(cc200, about, why):
    measured = changed(cc200, **about)
    found = standing_of(measured, DEGREE)
    assert why in found.why_not
    assert np.isnan(found.centile)
    assert np.isfinite(found.value)


def test_regions_without_signal_are_few_or_there_is_no_centile(cc200):
    for n_silent, refused in ((10, False), (11, True)):
        series = cc200.subjects[0].series.copy()
        series[:, :n_silent] = 0
        measured = changed(cc200, series=series)
        why = why_not_here(reference_of(measured, DEGREE), measured.subject)
        assert ("11 of 200 regions" in why) == refused


@pytest.mark.parametrize(
    ("options", "settings", "why"),
    [
        (DEGREE, {"level": 0.2}, "connections of at least 0.3"),
        (DEGREE, {"sign": "absolute"}, "negative connections set to zero"),
        (replace(DEGREE, measure="node_entanglement", gamma=1.0), {}, "Diffusion time γ, in units of 1/mean(λ) 0.5"),
        (BrainCentileOptions(resolution=1.2), {}, "Resolution 1"),
        (BrainCentileOptions(consensus=True), {}, "Partition Best run"),
        (replace(DEGREE, gamma=1.0), {}, ""),
        (replace(MEAN, resolution=1.2), {"level": 0.2}, ""),
        (BrainCentileOptions(seed=3), {}, ""),
    ],
)
def test_other_settings_are_named_where_the_measure_depends_on_them(cc200, options, settings, why):
    measured = Measured(cc200, settings=ConnectomeSettings(**settings)).of("one")
    said = why_not_published(measured, options)
    assert (why in said) if why else not said
    if why:
        assert said.endswith("A group of at least 50 people of your own cohort can be the reference instead.")
        with pytest.raises(InputError, match="no centile"):
            reference_of(measured, options)


def test_another_atlas_kind_or_preprocessing_is_named(cc200, rng):
    toy = Measured(toy_cohort(rng)).of("p")
    assert "measured on Craddock CC200 and Schaefer 200" in why_not_published(toy, DEGREE)
    part = replace(cc200, atlas=cc200.atlas.keep(range(199)), subjects=())
    assert "199 of 200 regions" in why_not_published(Measured(part), DEGREE)
    weights = np.triu(rng.uniform(2, 90, (200, 200)), 1)
    tracts = Cohort("c", (Subject("one", connectivity=weights + weights.T),), cc200.atlas, given="structural")
    assert "hold something else" in why_not_published(Measured(tracts).of("one"), MEAN)
    noisy = changed(cc200, series=cc200.subjects[0].series + 2 * rng.standard_normal((120, 1)))
    assert "global signal removed" in why_not_published(noisy, DEGREE)


# A group of one's own as the reference.


def test_a_group_of_ones_own_is_a_reference_at_any_settings(rng):
    measured = Measured(toy_cohort(rng), settings=ALL).of("p")
    options = replace(MEAN, reference="NC")
    reference = reference_of(measured, options)
    assert (reference.n_people, reference.n_sites) == (70, 3)
    values = [brain_numbers(measured.of(f"c{i}"), ModuleOptions())["mean_fc"] for i in range(70)]
    found = standing_of(measured, options)
    share = 100 * np.mean(np.array(values) < found.value)
    assert abs(found.centile - share) < 15, "age and sex say little here"
    assert why_not_published(measured, MEAN)


def test_recordings_of_a_person_count_once(rng):
    cohort = toy_cohort(rng)
    again = [replace(one, id=f"{one.id}_ses-2", connectivity=matrix(rng)) for one in cohort.subjects[:70]]
    both = replace(cohort, subjects=(*cohort.subjects, *again))
    assert reference_of(Measured(both, settings=ALL).of("p"), replace(MEAN, reference="NC")).n_people == 70


def test_a_small_group_or_one_of_unknown_age_is_refused(rng):
    few = Measured(toy_cohort(rng, n=49)).of("p")
    with pytest.raises(InputError, match=r"at least 50 people of known age and sex.* has 49"):
        reference_of(few, replace(MEAN, reference="NC"))
    cohort = toy_cohort(rng)
    unknown = replace(cohort, subjects=tuple(replace(one, phenotypes={"age": 9}) for one in cohort))
    with pytest.raises(InputError, match="has 0"):
        reference_of(Measured(unknown).of("p"), replace(MEAN, reference="NC"))
    with pytest.raises(InputError, match="no group 'XX'"):
        reference_of(few, replace(MEAN, reference="XX"))
    with pytest.raises(InputError, match="no place 'Default'"):
        reference_of(few, replace(DEGREE, place="Default", reference="NC"))


def test_a_sex_with_few_people_is_not_in_the_reference(rng):
    people = [Person(10 + i / 10, "male") for i in range(60)] + [Person(12, "female")] * 9
    reference = make_reference("own", "the group", people, {"q": rng.normal(0, 1, 69)})
    assert (reference.n_people, set(reference.ages)) == (60, {"male"})
    woman = Subject("a", connectivity=np.eye(3), phenotypes={"age": 12, "sex": "F"})
    assert "too few people who are female" in why_not_here(reference, woman)


# The table of a cohort.


def test_the_table_says_of_everybody_what_the_figure_says(rng):
    cohort = toy_cohort(rng)
    measured, hubs, modules = Measured(cohort, settings=ALL), EntanglementOptions(), ModuleOptions(runs=1)
    questions = all_questions(cohort.atlas, hubs, modules, ReferenceOptions("NC"))
    assert len(questions) == 2 * len(HUB_MEASURES) + len(BRAIN_NUMBERS)
    values = {name: all_values(measured.of(name), hubs, modules) for name in cohort.ids}
    asked = [one for one in questions if one.curve in ("degree: whole brain", "mean_fc", "network segregation")]
    table = cohort_centiles(measured, asked, values)
    assert len(table) == 3 * len(cohort)
    last = table[table["subject"] == "p"].set_index("measure")
    for one in asked[:1]:
        found = standing_of(measured.of("p"), one)
        row = last.loc["degree"]
        assert (row["place"], row["reference"], row["sex"]) == (WHOLE, "NC", "male")
        np.testing.assert_allclose([row["centile"], row["z"]], [found.centile, found.z])
    assert last.loc["network segregation", "why_not"], "the atlas has no networks"


# Real people.


def test_real_people_stand_evenly_among_the_published(shared_data):
    """Degree of 40 young people of HBN, as the app measures it from their matrices."""
    table = pd.read_csv(shared_data / "hbn_phenotypes.csv")
    with np.load(shared_data / "hbn_schaefer200.npz", allow_pickle=False) as file:
        triangles = file["fc"]
    subjects = []
    for i in range(0, 1200, 30):
        whole = np.eye(200)
        whole[np.triu_indices(200, 1)] = triangles[i]
        row = table.iloc[i]
        about = {"age": row["age"], "sex": row["sex"]}
        subjects.append(
            Subject(
                row["subject"],
                connectivity=whole + whole.T - np.eye(200),
                phenotypes=about,
            )
        )
    measured = Measured(Cohort("HBN", tuple(subjects), load_atlas("schaefer200_17")))
    found = [standing_of(measured.of(one.id), DEGREE) for one in subjects]
    z = np.array([one.z for one in found if not one.why_not])
    assert len(z) >= 35
    assert abs(z.mean()) < 0.5
    assert 0.7 < z.std() < 1.3
