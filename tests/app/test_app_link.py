"""A view written to an address and read back is the same view; what cannot be used is replaced with a sentence."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_contents import as_shown, assert_no_error, figure

from biobgt import ConnectomeSettings, load_atlas
from biobgt.data.simulate import demo_cohort
from biobgt.figures.connectivity import HeatmapOptions
from biobgt.hubs.options import GAMMAS, SHARES, HubOptions
from biobgt.modules.measures import NamedModuleOptions
from session import view as choices
from session.cohorts import OWN
from session.link import Link, link_of, read_link
from session.view import LoadedCohort, View

SETTINGS = st.builds(
    ConnectomeSettings,
    estimator=st.sampled_from(["pearson", "fisher-z", "partial", "ledoit-wolf", "tangent"]),
    sign=st.sampled_from(["positive", "absolute", "signed"]),
    threshold=st.sampled_from(["absolute", "proportional"]),
    level=st.integers(1, 100).map(lambda percent: percent / 100),
    backbone=st.booleans(),
)
CHOICES = st.fixed_dictionaries(
    {
        "gamma": st.sampled_from(GAMMAS),
        "perturbation": st.sampled_from(["control", "remove"]),
        "hub_rule": st.sampled_from(["top", "sd"]),
        "hub_share": st.sampled_from(SHARES),
    },
    optional={
        "region": st.sampled_from(load_atlas("cc200").regions[:3]),
        "measures": st.sampled_from([("degree",), ("node_entanglement", "closeness")]),
        "curve_scale": st.sampled_from(["rank", "raw"]),
        "curve_order": st.sampled_from(["by NE", "paper"]),
        "curve_regions": st.just(50),
        "curve_seed": st.integers(1, 9999),
        "group_behind": st.just(True),
        "brain_shown": st.sampled_from(["glass", "five"]),
        "matrix_shown": st.just("graph"),
        "region_order": st.sampled_from(["paper", "atlas"]),
    },
)
# What stands in every link, in the order of its options.
EVERY_LINK = {one.link: one.default for kind in choices.IN_EVERY_LINK for one in kind.declared().values() if one.link}


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("asd", n_per_group=2)


@settings(deadline=None)  # a busy machine is no wrong link
@given(chosen=SETTINGS, said=CHOICES)
def test_link_read_back_is_the_same_view(cohort, chosen, said) -> None:
    view = View(LoadedCohort("asd", cohort), cohort.subjects[3], chosen, said)
    expected = Link("asd", cohort.ids[3], chosen, choices={**EVERY_LINK, **said})
    assert read_link(link_of(view)).checked(cohort) == expected


def test_link_that_does_not_speak_of_hubs_means_the_defaults(cohort) -> None:
    link = read_link({"level": "0.4"}).checked(cohort)
    view = View(LoadedCohort("asd", cohort), cohort.subjects[0], link.settings, link.choices)
    assert view.options(HubOptions) == HubOptions()
    assert link.problems == ()


def test_regions_are_in_the_order_of_the_first_networks_where_a_link_says_nothing(cohort) -> None:
    """And a link says nothing of it: so it was written before."""
    first = next(iter(cohort.atlas.labels))
    view = View(LoadedCohort("asd", cohort), cohort.subjects[0], ConnectomeSettings())
    assert view.options(HeatmapOptions).order == first
    assert "region_order" not in link_of(replace(view, choices={"region_order": first}))
    (problem,) = read_link({"region_order": "our networks"}).checked(cohort).problems
    assert problem == f"The link's region_order 'our networks' is not available here, so {first} is shown instead."


def test_own_subjects_never_enter_the_address(cohort) -> None:
    region = cohort.atlas.regions[0]
    view = View(LoadedCohort(OWN, cohort), cohort.subjects[0], ConnectomeSettings(), {"region": region})
    assert set(link_of(view)) == {*ConnectomeSettings().as_dict(), *EVERY_LINK}
    # Nor what their own atlas calls things: the link says the same whoever is looked at.
    shown = View(LoadedCohort("asd", cohort), cohort.subjects[0], ConnectomeSettings())
    assert link_of(view).items() <= link_of(shown).items()
    theirs = replace(cohort.atlas, labels={"our networks": cohort.atlas.labels["paper"]})
    own_labels = replace(view, loaded=LoadedCohort(OWN, replace(cohort, atlas=theirs)))
    assert own_labels.options(NamedModuleOptions).labelling == "our networks"
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
        ("curve_seed", "-3"),
        ("curve_seed", "123456"),
        ("curve_scale", "log"),
        ("group_behind", "yes"),
        ("matrix_shown", "ghost"),
    ],
)
def test_bad_value_is_replaced_and_named(cohort, name, value) -> None:
    link = read_link({name: value}).checked(cohort)
    assert (link.cohort, link.subject) == ("asd", cohort.ids[0])
    view = View(LoadedCohort("asd", cohort), cohort.subjects[0], link.settings, link.choices)
    assert (link.settings, view.options(HubOptions)) == (ConnectomeSettings(), HubOptions())
    assert view.choices.get("region", "") == ""
    (problem,) = link.problems
    assert name in problem
    assert f"'{value}'" in problem


NAMES = [
    "cohort",
    "level",
    "sign",
    "threshold",
    "backbone",
    "gamma",
    "perturbation",
    "hub_rule",
    "measures",
    "curve_seed",
]


@settings(deadline=None)
@given(parameters=st.dictionaries(st.sampled_from(NAMES), st.text()))
def test_no_address_can_crash(cohort, parameters) -> None:
    read_link(parameters).checked(cohort)


def test_shared_link_opens_the_same_view(open_page) -> None:
    first = open_page("subjects")
    first.selectbox(key="cohort").select("ad").run()
    first.selectbox(key="subject").select("sim-MCI-005")
    first.segmented_control(key="threshold").select("proportional").run()
    first.slider(key="proportional_level").set_value(0.2).run()
    address = {name: value[0] if isinstance(value, list) else value for name, value in first.query_params.items()}
    second = open_page("subjects", **address)
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
