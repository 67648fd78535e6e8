"""A view written to an address and read back is the same view; what cannot be used is replaced with a sentence."""

from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from link import Link, link_of, read_link
from loaded import HubChoices, LoadedCohort, ModuleChoices, View
from page_contents import as_shown, assert_no_error, figure
from state import GAMMAS, OWN

from biobgt import ConnectomeSettings, load_atlas
from biobgt.simulate import demo_cohort

SETTINGS = st.builds(
    ConnectomeSettings,
    estimator=st.sampled_from(["pearson", "fisher-z", "partial", "ledoit-wolf", "tangent"]),
    sign=st.sampled_from(["positive", "absolute", "signed"]),
    threshold=st.sampled_from(["absolute", "proportional"]),
    level=st.integers(1, 100).map(lambda percent: percent / 100),
    backbone=st.booleans(),
)
HUBS = st.builds(
    HubChoices,
    gamma=st.sampled_from(GAMMAS),
    perturbation=st.sampled_from(["control", "remove"]),
    rule=st.sampled_from(["top", "sd"]),
    region=st.sampled_from(["", *load_atlas("cc200").regions[:3]]),
)


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("asd", n_per_group=2)


@settings(deadline=None)  # a busy machine is no wrong link
@given(chosen=SETTINGS, hubs=HUBS)
def test_link_read_back_is_the_same_view(cohort, chosen, hubs) -> None:
    view = View(LoadedCohort("asd", cohort), cohort.subjects[3], chosen, hubs, ModuleChoices())
    assert read_link(link_of(view)) == Link("asd", cohort.ids[3], chosen, hubs)


def test_link_that_does_not_speak_of_hubs_means_the_defaults() -> None:
    link = read_link({"cohort": "ad", "level": "0.4"})
    assert link.hubs == HubChoices(gamma=0.5, perturbation="control", rule="top")
    assert link.problems == ()


def test_own_subjects_never_enter_the_address(cohort) -> None:
    region = cohort.atlas.regions[0]
    view = View(
        LoadedCohort(OWN, cohort), cohort.subjects[0], ConnectomeSettings(), HubChoices(region=region), ModuleChoices()
    )
    hubs, modules = {"gamma", "perturbation", "hub_rule"}, {field.name for field in fields(ModuleChoices)}
    assert set(link_of(view)) == {*ConnectomeSettings().as_dict(), *hubs, *modules}
    # Nor what their own atlas calls things: the link says the same whoever is looked at.
    shown = View(LoadedCohort("asd", cohort), cohort.subjects[0], ConnectomeSettings(), HubChoices(), ModuleChoices())
    assert link_of(view).items() <= link_of(shown).items()
    own_labels = replace(view, modules=ModuleChoices(labelling="our networks"))
    assert "our networks" not in link_of(own_labels).values()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cohort", "own"),
        ("cohort", "../etc"),
        ("subject", "nobody"),
        ("estimator", "magic"),
        ("sign", ""),
        ("threshold", "maybe"),
        ("level", "nan"),
        ("level", "-1"),
        ("level", "1e9"),
        ("level", "much"),
        ("backbone", "perhaps"),
        ("gamma", "0.51"),
        ("gamma", "nan"),
        ("perturbation", "explode"),
        ("hub_rule", ""),
        ("region", "Atlantis"),
    ],
)
def test_bad_value_is_replaced_and_named(cohort, name, value) -> None:
    link = read_link({name: value}).checked(cohort)
    assert (link.cohort, link.subject) == ("asd", cohort.ids[0])
    assert (link.settings, link.hubs) == (ConnectomeSettings(), HubChoices())
    (problem,) = link.problems
    assert name in problem
    assert f"'{value}'" in problem


NAMES = ["cohort", "level", "sign", "threshold", "backbone", "gamma", "perturbation", "hub_rule"]


@settings(deadline=None)
@given(parameters=st.dictionaries(st.sampled_from(NAMES), st.text()))
def test_no_address_can_crash(parameters) -> None:
    read_link(parameters)


def test_shared_link_opens_the_same_view(open_page) -> None:
    first = open_page()
    first.selectbox(key="cohort").select("ad").run()
    first.selectbox(key="subject").select("sim-MCI-005")
    first.segmented_control(key="threshold").select("proportional").run()
    first.slider(key="proportional_level").set_value(0.2).run()
    address = {name: value[0] if isinstance(value, list) else value for name, value in first.query_params.items()}
    second = open_page(**address)
    assert_no_error(second)
    assert not second.warning
    for key in ("connectivity", "distribution"):
        assert figure(second, key) == figure(first, key)


def test_bad_link_opens_the_demo_and_says_so_until_the_view_changes(open_page) -> None:
    page = open_page(cohort="<b>x</b>", level="77")
    assert_no_error(page)
    (warning,) = page.warning
    assert "<b>" not in warning.value
    assert "'<b>x</b>'" in as_shown(warning.value)
    assert "'77'" in as_shown(warning.value)
    assert page.selectbox(key="cohort").value == "asd"
    page.selectbox(key="subject").select("sim-NC-002").run()
    assert not page.warning
