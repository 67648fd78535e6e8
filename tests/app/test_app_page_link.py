"""What pages show is in the link, too: only what is not the default, of demo cohorts only, and bad values are named."""

import pytest
import streamlit
from hypothesis import given, settings
from hypothesis import strategies as st
from page_contents import as_shown, assert_no_error, figure

from biobgt import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from session.cohorts import OWN
from session.link import Link, link_of, read_link
from session.view import IN_EVERY_LINK, LoadedCohort, View, linked_options, session_choices

MODEL, NETWORK = "adsim-aal90", "five-groups-aal90"
# Of the AD demo, and of the model of its groups: everything another value than the default.
CHOSEN = {
    "matrix_shown": "graph",
    "region_order": "atlas",
    "measures": ["node_entanglement", "degree"],
    "curve_scale": "rank",
    "curve_order": "by NE",
    "curve_regions": 50,
    "curve_seed": 12,
    "group_behind": True,
    "region": "Precuneus_L",
    "brain_shown": "five",
    "brain_kind": "glass",
    "brain_edges": 120,
    "group_brain_kind": "glass",
    "first_group": "MCI",
    "second_group": "AD",
    "compared": "hubs",
    "compared_networks": "paper",
    "compared_measure": "degree",
    "adjusted_for": ["simulated severity"],
    "leave_out_incomplete": True,
    "difference_brain": "glass",
    "difference_effect": "t",
    "only_different": True,
    "attention_order": "louvain",
    "attention_average": "median",
    "difference_unit": "errors",
    "attention_layer": 1,
    "attention_head": 2,
    "attention_first_group": "AD",
    "attention_second_group": "NC",
    "received_group": "MCI",
    "received_brain": "glass",
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


# What stands in a link only where it is not the default; two choices are of networks that cohorts share.
OF_NETWORKS = {"readout": "cni-adhd", "disorder": "ADHD"}
NAMES = (
    set(linked_options()) - {one.link for kind in IN_EVERY_LINK for one in kind.declared().values()} - set(OF_NETWORKS)
)


def view_of(cohort, key="ad", model=MODEL):
    return View(LoadedCohort(key, cohort), cohort.subjects[0], ConnectomeSettings(), session_choices(), model)


def test_every_choice_is_tested():
    assert set(CHOSEN) == NAMES


@settings(deadline=None, max_examples=25)
@given(names=st.sets(st.sampled_from(list(CHOSEN))))
def test_link_read_back_shows_the_same_pages(cohort, names):
    chosen = {name: CHOSEN[name] for name in names}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamlit, "session_state", dict(chosen))
        address = link_of(view_of(cohort))
        link = read_link(address).checked(cohort)
    assert set(address) & NAMES == names
    read = {name: value for name, value in link.choices.items() if name in NAMES}
    assert {name: list(value) if isinstance(value, tuple) else value for name, value in read.items()} == chosen
    assert link.problems == ()


def test_defaults_leave_no_trace(cohort, session):
    session |= {
        "region_order": next(iter(cohort.atlas.labels)),
        "curve_seed": 0,
        "first_group": "NC",
        "second_group": "MCI",
        "attention_order": "dosenbach",
        "attention_layer": 0,
        "attention_first_group": "NC",
        "attention_second_group": "MCI",
        "probability_of": "AD",
        "received_group": "NC",
    }
    assert not set(link_of(view_of(cohort))) & NAMES


def test_what_another_cohort_or_model_had_is_not_in_the_link(cohort, session):
    session |= {"first_group": "ASD", "region_order": "our networks", "received_group": "ASD"}
    assert not set(link_of(view_of(cohort))) & NAMES


def test_nothing_of_own_subjects_is_in_the_link(cohort, session):
    session |= CHOSEN
    assert not set(link_of(view_of(cohort, OWN))) & NAMES


def test_choices_are_those_of_the_model_that_is_looked_at(cohort):
    link = read_link({"cohort": "ad", "model": "abide-cc200", "received_group": "ASD"}).checked(cohort)
    assert (link.choices["received_group"], link.problems) == ("ASD", ())
    (problem,) = read_link({"cohort": "ad", "model": MODEL, "received_group": "ASD"}).checked(cohort).problems
    assert problem == "The link's received_group 'ASD' is not available here, so NC is shown instead."


def test_attention_without_a_chosen_model_is_that_of_the_model_that_fits(cohort, session):
    """As the sidebar says; a network's groups are those of a link that names the network."""
    session |= {"received_group": "MCI", "probability_of": "NC"}
    address = link_of(view_of(cohort, model=""))
    assert {name: address[name] for name in set(address) & NAMES} == session
    link = read_link(address).checked(cohort)
    assert ({name: link.choices[name] for name in session}, link.problems) == (session, ())
    (problem,) = read_link({"cohort": "ad", "received_group": "ADHD"}).checked(cohort).problems
    assert problem == "The link's received_group 'ADHD' is not available here, so NC is shown instead."


def test_group_of_the_network_that_is_chosen_on_the_page_is_in_its_link(open_page):
    first = open_page("attention", cohort="ad", model=NETWORK)
    first.selectbox(key="received_group").select("ADHD").run()
    assert first.query_params["received_group"] in ("ADHD", ["ADHD"])
    second = open_page("attention", cohort="ad", model=NETWORK, received_group="ADHD")
    assert not second.warning
    assert figure(second, "received") == figure(first, "received")


def test_choices_of_a_network_are_in_its_links(cohort):
    link = read_link({"cohort": "ad", "model": NETWORK, **OF_NETWORKS}).checked(cohort)
    assert {name: link.choices[name] for name in OF_NETWORKS} == OF_NETWORKS
    assert link.problems == ()
    bad = read_link({"cohort": "ad", "model": NETWORK, **dict.fromkeys(OF_NETWORKS, "<")}).checked(cohort)
    assert len(bad.problems) == 2


@pytest.mark.parametrize(
    ("name", "value", "used"),
    [
        ("first_group", "ASD", "NC"),
        ("compared", "charm", "fc-blocks"),
        ("compared_measure", "charm", "node_entanglement"),
        ("adjusted_for", "age,simulated severity", "simulated severity"),
        ("attention_layer", "99", "0"),
        ("attention_order", "<b>", "dosenbach"),
        ("brain_edges", "5", "0"),
        ("probability_of", "", "AD"),
    ],
)
def test_bad_value_is_replaced_and_named(cohort, name, value, used):
    (problem,) = read_link({"cohort": "ad", name: value}).checked(cohort).problems
    assert problem == f"The link's {name} '{value}' is not available here, so {used} is shown instead."


@pytest.mark.parametrize("value", ["\u2028'<", "a\nb", '"a', "x" * 200_000])
def test_no_address_can_crash(cohort, value):
    link = read_link(dict.fromkeys(NAMES, value)).checked(cohort)
    assert len(link.problems) == len(NAMES)
    assert isinstance(link, Link)


def test_shared_link_opens_the_same_figure_and_grows_no_longer_than_it_must(open_page):
    first = open_page("subjects")
    assert not set(first.query_params) & NAMES
    first.selectbox(key="region_order").select("atlas")
    first.segmented_control(key="matrix_shown").select("graph").run()
    address = {name: value[0] if isinstance(value, list) else value for name, value in first.query_params.items()}
    assert {name: address[name] for name in set(address) & NAMES} == {
        "region_order": "atlas",
        "matrix_shown": "graph",
    }
    second = open_page("subjects", **address)
    assert_no_error(second)
    assert not second.warning
    assert figure(second, "connectivity") == figure(first, "connectivity")
    second.selectbox(key="region_order").select("dosenbach").run()
    assert "region_order" not in second.query_params


def test_link_opens_the_same_maps_of_attention(open_page):
    first = open_page("attention", cohort="ad", model="adsim-aal90")
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
