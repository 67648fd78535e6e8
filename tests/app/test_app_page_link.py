"""What pages show is in the link, too: only what is not the default, of demo cohorts only, and bad values are named."""

import pytest
import streamlit
from hypothesis import given, settings
from hypothesis import strategies as st
from link import Link, link_of, read_link
from loaded import HubChoices, LoadedCohort, ModuleChoices, View
from page_choices import PAGE_CHOICES, models_in_order
from page_contents import as_shown, assert_no_error, figure
from state import OWN

from biobgt import ConnectomeSettings
from biobgt.simulate import demo_cohort

# Of the AD demo, and of the model that fits it: everything another value than the default.
CHOSEN = {
    "matrix_shown": "Brain graph",
    "region_order": "atlas",
    "curve_scale": "rank",
    "curve_order": "by NE",
    "curve_regions": "random",
    "curve_seed": 12,
    "group_behind": True,
    "brain_shown": "five",
    "brain_kind": "Glass brain",
    "brain_edges": 120,
    "group_brain_kind": "Glass brain",
    "first_group": "MCI",
    "second_group": "AD",
    "models_shown": ["cni-adhd-cc200", "adsim-aal90"],
    "attention_order": "louvain",
    "attention_layer": 1,
    "attention_head": 2,
    "attention_first_group": "AD",
    "attention_second_group": "NC",
    "received_group": "MCI",
    "received_brain": "Glass brain",
    "own_attention": True,
    "probability_of": "NC",
}


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=2)


@pytest.fixture
def session(monkeypatch):
    """A session's values, without a session."""
    values = {}
    monkeypatch.setattr(streamlit, "session_state", values)
    return values


def view_of(cohort, key="ad"):
    return View(LoadedCohort(key, cohort), cohort.subjects[0], ConnectomeSettings(), HubChoices(), ModuleChoices())


def test_every_choice_is_tested():
    assert set(CHOSEN) == set(PAGE_CHOICES)


@settings(deadline=None, max_examples=25)
@given(names=st.sets(st.sampled_from(list(CHOSEN))))
def test_link_read_back_shows_the_same_pages(cohort, names):
    chosen = {name: CHOSEN[name] for name in names}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamlit, "session_state", dict(chosen))
        address = link_of(view_of(cohort))
        link = read_link(address).checked(cohort)
    assert set(address) & set(PAGE_CHOICES) == names
    assert (dict(link.pages), link.problems) == (chosen, ())


def test_defaults_leave_no_trace(cohort, session):
    session |= {
        "region_order": next(iter(cohort.atlas.labels)),
        "curve_seed": 0,
        "first_group": "NC",
        "second_group": "MCI",
        "models_shown": models_in_order("adsim-aal90"),
        "attention_layer": 0,
        "probability_of": "AD",
        "received_group": "NC",
    }
    assert not set(link_of(view_of(cohort))) & set(PAGE_CHOICES)


def test_what_another_cohort_had_is_not_in_the_link(cohort, session):
    session |= {"first_group": "ASD", "region_order": "our networks"}
    assert not set(link_of(view_of(cohort))) & set(PAGE_CHOICES)


def test_nothing_of_own_subjects_is_in_the_link(cohort, session):
    session |= CHOSEN
    assert not set(link_of(view_of(cohort, OWN))) & set(PAGE_CHOICES)


@pytest.mark.parametrize(
    ("name", "value", "used"),
    [
        ("curve_seed", "-3", "0"),
        ("curve_seed", "123456", "0"),
        ("curve_scale", "log", "z"),
        ("first_group", "ASD", "NC"),
        ("attention_layer", "99", "0"),
        ("attention_order", "<b>", "dosenbach"),
        ("brain_edges", "5", "0"),
        ("group_behind", "yes", "false"),
        ("models_shown", "gpt,adsim-aal90", "adsim-aal90"),
        ("models_shown", "adsim-aal90,adsim-aal90", "adsim-aal90"),
        ("probability_of", "", "AD"),
    ],
)
def test_bad_value_is_replaced_and_named(cohort, name, value, used):
    (problem,) = read_link({"cohort": "ad", name: value}).checked(cohort).problems
    assert problem == f"The link's {name} '{value}' does not exist here, so {used} is shown instead."


def test_no_address_can_crash(cohort):
    link = read_link(dict.fromkeys(PAGE_CHOICES, "\u2028'<")).checked(cohort)
    assert len(link.problems) == len(PAGE_CHOICES)
    assert isinstance(link, Link)


def test_shared_link_opens_the_same_figure_and_grows_no_longer_than_it_must(open_page):
    first = open_page("subjects")
    assert not set(first.query_params) & set(PAGE_CHOICES)
    first.selectbox(key="region_order").select("atlas")
    first.segmented_control(key="matrix_shown").select("Brain graph").run()
    address = {name: value[0] if isinstance(value, list) else value for name, value in first.query_params.items()}
    assert {name: address[name] for name in set(address) & set(PAGE_CHOICES)} == {
        "region_order": "atlas",
        "matrix_shown": "Brain graph",
    }
    second = open_page("subjects", **address)
    assert_no_error(second)
    assert not second.warning
    assert figure(second, "connectivity") == figure(first, "connectivity")
    second.selectbox(key="region_order").select("dosenbach").run()
    assert "region_order" not in second.query_params


def test_link_opens_the_same_maps_of_attention(open_page):
    first = open_page("attention", cohort="ad", models_shown="adsim-aal90")
    plain = figure(first, "received")
    first.selectbox(key="attention_layer").select(1)
    first.selectbox(key="attention_second_group").select("AD")
    first.segmented_control(key="received_group").select("MCI").run()
    address = {name: value[0] if isinstance(value, list) else value for name, value in first.query_params.items()}
    second = open_page("attention", **address)
    assert_no_error(second)
    assert not second.warning
    for key in ("attention_adsim-aal90", "attention_difference", "received"):
        assert figure(second, key) == figure(first, key)
    assert figure(second, "received") != plain
    assert not [one for one in second.get("plotly_chart") if one.proto.id.endswith("attention_abide-cc200")]


def test_bad_choice_in_the_address_is_said(open_page):
    page = open_page("home", brain_kind="ghost")
    (warning,) = page.warning
    assert "brain_kind 'ghost'" in as_shown(warning.value)
