"""A view written to an address and read back is the same view; what cannot be used is replaced with a sentence.

What pages show is in the link where it is not the default, and of demo cohorts only.
"""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import streamlit
from hypothesis import given, settings
from hypothesis import strategies as st
from page_contents import address_of, as_shown, figure
from page_hands import turn_to, visit

from biobgt import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.figures.connectivity import connectivity_heatmap
from biobgt.figures.groups import ModuleComparisonOptions
from biobgt.hubs.measures import HubOptions
from biobgt.modules.measures import NamedModuleOptions
from session.cohorts import OWN
from session.link import Link, link_of, read_link, write_address
from session.view import IN_EVERY_LINK, LoadedCohort, View, linked_options, session_choices

MODEL, NETWORK = "adsim-aal90", "five-groups-aal90"
SETTINGS = st.builds(
    ConnectomeSettings,
    estimator=st.sampled_from(["pearson", "fisher-z", "partial", "ledoit-wolf", "tangent"]),
    sign=st.sampled_from(["positive", "absolute", "signed"]),
    threshold=st.sampled_from(["absolute", "proportional"]),
    level=st.integers(1, 100).map(lambda percent: percent / 100),
    backbone=st.booleans(),
)
# What stands in every link; the others only where they are not the default. Two are of networks that cohorts share.
EVERY_LINK = {one.link for kind in IN_EVERY_LINK for one in kind.declared().values() if one.link}
OF_NETWORKS = {"readout": "cni-adhd", "disorder": "ADHD"}
NAMES = set(linked_options()) - EVERY_LINK - set(OF_NETWORKS)


@pytest.fixture(scope="module")
def asd():
    return demo_cohort("asd", n_per_group=2)


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=2)


@pytest.fixture
def session(monkeypatch):
    """A session's values, without a session."""
    values = {}
    monkeypatch.setattr(streamlit, "session_state", values)
    return values


def view_of(cohort, key="ad", model=MODEL):
    return View(LoadedCohort(key, cohort), cohort.subjects[0], ConnectomeSettings(), session_choices(), model)


def choices(view) -> st.SearchStrategy:
    """What may be chosen on the pages of a view: everything that is in every link, and some of the rest."""

    def values(one):
        offered = list(one.offered(view.cohort_behind(one)) or view.atlas.regions)  # a region is any of the atlas
        several = st.lists(st.sampled_from(offered), min_size=one.fewest, max_size=3, unique=True).map(tuple)
        return several if isinstance(one.default, tuple) else st.sampled_from(offered)

    every, rest = ({name: values(linked_options()[name]) for name in names} for names in (EVERY_LINK, NAMES))
    return st.fixed_dictionaries(every, optional=rest)


@settings(deadline=None)  # a busy machine is no wrong link
@given(data=st.data(), chosen=SETTINGS)
def test_link_read_back_is_the_same_view(cohort, data, chosen):
    usual = View(LoadedCohort("ad", cohort), cohort.subjects[3], chosen, model=MODEL)
    view = replace(usual, choices=data.draw(choices(usual)))
    address = link_of(view)
    link = read_link(address).checked(cohort)
    one_of = {name: (one, usual.cohort_behind(one)) for name, one in linked_options().items()}
    written = {
        name: value
        for name, value in view.choices.items()
        if name in EVERY_LINK or value != one_of[name][0].default_for(one_of[name][1])
    }
    assert set(address) & NAMES == set(written) - EVERY_LINK, "the rest where it is not the default"
    assert link == Link("ad", cohort.ids[3], chosen, model=MODEL, choices=written)


def test_regions_are_in_the_order_of_the_first_networks_where_a_link_says_nothing(asd):
    """And a link says nothing of it: so it was written before."""
    first = next(iter(asd.atlas.labels))
    view = View(LoadedCohort("asd", asd), asd.subjects[0], ConnectomeSettings())
    assert view.options(connectivity_heatmap.takes).order == first
    assert "region_order" not in link_of(replace(view, choices={"region_order": first}))
    (problem,) = read_link({"region_order": "our networks"}).checked(asd).problems
    assert f"'our networks' is not available here, so {first} is shown" in problem


def test_own_subjects_never_enter_the_address(asd):
    region = asd.atlas.regions[0]
    view = View(LoadedCohort(OWN, asd), asd.subjects[0], ConnectomeSettings(), {"region": region})
    assert set(link_of(view)) == {*ConnectomeSettings().as_dict(), *EVERY_LINK}
    # Nor what their own atlas calls things: the link says the same whoever is looked at.
    shown = View(LoadedCohort("asd", asd), asd.subjects[0], ConnectomeSettings())
    assert link_of(view).items() <= link_of(shown).items()
    theirs = replace(asd.atlas, labels={"our networks": asd.atlas.labels["paper"]})
    own_labels = replace(view, loaded=LoadedCohort(OWN, replace(asd, atlas=theirs)))
    assert own_labels.options(NamedModuleOptions).labelling == "our networks"
    assert "our networks" not in link_of(own_labels).values()


@pytest.mark.parametrize(
    ("name", "value", "used"),
    [
        ("cohort", "own", "Demo NC / ASD (simulated)"),
        ("cohort", "../etc", "Demo NC / ASD (simulated)"),
        ("subject", "nobody", "sim-NC-001"),
        ("model", "../secret", "the one that fits the cohort"),
        ("estimator", "magic", "pearson"),
        ("sign", "", "positive"),
        ("threshold", "maybe", "absolute"),
        ("level", "nan", "0.3"),
        ("level", "-1", "0.3"),
        ("level", "1e9", "0.3"),
        ("level", "much", "0.3"),
        ("backbone", "perhaps", "false"),
        ("gamma", "0.51", "0.5"),
        ("gamma", "nan", "0.5"),
        ("perturbation", "explode", "control"),
        ("hub_rule", "", "top"),
        ("region", "Atlantis", "none"),
        ("curve_seed", "-3", "0"),
        ("curve_seed", "123456", "0"),
        ("curve_scale", "log", "z"),
        ("group_behind", "yes", "false"),
        ("matrix_shown", "ghost", "connectivity"),
        ("resolution", "0", "1"),
        ("consensus", "yes", "false"),
        ("signed", "", "true"),
        ("runs", "11", "10"),
        ("seed", "-1", "0"),
        ("labelling", "x", "dosenbach"),
        ("brain_edges", "5", "0"),
        ("brain_kind", "ghost", "3d"),
        ("first_group", "AD", "NC"),
        ("second_group", "AD", "ASD"),
        ("compared", "charm", "fc-blocks"),
        ("compared_measure", "charm", "node_entanglement"),
        ("attention_layer", "99", "0"),
        ("attention_order", "<b>", "dosenbach"),
        ("probability_of", "", "ASD"),
    ],
)
def test_bad_value_is_replaced_and_named(asd, name, value, used) -> None:
    link = read_link({name: value}).checked(asd)
    assert (link.cohort, link.subject, link.settings) == ("asd", asd.ids[0], ConnectomeSettings())
    assert link.problems == (f"The link's {name} '{value}' is not available here, so {used} is shown instead.",)
    view = View(LoadedCohort("asd", asd), asd.subjects[0], link.settings, link.choices)
    for kind in (HubOptions, NamedModuleOptions):
        assert view.options(kind) == kind()
    assert view.options(ModuleComparisonOptions).groups == ("NC", "ASD")
    assert view.choices.get("region", "") == ""


def test_of_several_names_those_that_can_be_used_are(cohort) -> None:
    link = read_link({"cohort": "ad", "adjusted_for": "age,simulated severity"}).checked(cohort)
    assert link.choices["adjusted_for"] == ("simulated severity",)
    assert "'age,simulated severity' is not available here, so simulated severity is" in link.problems[0]


@pytest.mark.parametrize("key", ["ad", OWN])
def test_what_another_cohort_or_model_had_is_not_in_the_link_nor_anything_of_own_subjects(cohort, session, key):
    session |= {"first_group": "ASD", "region_order": "our networks", "received_group": "ASD"}
    if key == OWN:
        session |= {"first_group": "MCI", "region_order": "atlas", "received_group": "MCI", "curve_seed": 12}
        assert set(link_of(view_of(cohort))) & NAMES == set(session)
    assert not set(link_of(view_of(cohort, key))) & NAMES


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
    first = open_page("attention", cohort="ad", model=NETWORK, attention_tab="brain")
    first.selectbox(key="received_group").select("ADHD").run()
    assert address_of(first)["received_group"] == "ADHD"
    second = open_page("attention", cohort="ad", model=NETWORK, received_group="ADHD", attention_tab="brain")
    assert not second.warning
    assert figure(second, "received") == figure(first, "received")


def test_choices_of_a_network_are_in_its_links(cohort):
    link = read_link({"cohort": "ad", "model": NETWORK, **OF_NETWORKS}).checked(cohort)
    assert {name: link.choices[name] for name in OF_NETWORKS} == OF_NETWORKS
    assert link.problems == ()
    bad = read_link({"cohort": "ad", "model": NETWORK, **dict.fromkeys(OF_NETWORKS, "<")}).checked(cohort)
    assert len(bad.problems) == 2


@settings(deadline=None)
@given(
    parameters=st.dictionaries(
        st.sampled_from(["cohort", *ConnectomeSettings.declared(), *EVERY_LINK, "measures", "curve_seed"]), st.text()
    )
)
def test_no_address_can_crash(asd, parameters):
    read_link(parameters).checked(asd)


@pytest.mark.parametrize("value", ["\u2028'<", "a\nb", '"a', "x" * 200_000])
def test_no_long_or_strange_value_can_crash(cohort, value):
    link = read_link(dict.fromkeys(NAMES, value)).checked(cohort)
    assert len(link.problems) == len(NAMES)
    assert isinstance(link, Link)


def test_shared_link_opens_the_same_view_and_grows_no_longer_than_it_must(open_page):
    first = open_page("subjects")
    assert not set(first.query_params) & NAMES
    first.selectbox(key="cohort").select("ad").run()
    first.selectbox(key="subject").select("sim-MCI-005")
    first.segmented_control(key="threshold").select("proportional").run()
    first.slider(key="proportional_level").set_value(0.2)
    first.selectbox(key="region_order").select("atlas")
    first.segmented_control(key="matrix_shown").select("graph").run()
    address = address_of(first)
    assert {name: address[name] for name in set(address) & NAMES} == {"region_order": "atlas", "matrix_shown": "graph"}
    second = open_page("subjects", **address)
    assert not second.warning
    for key in ("connectivity", "distribution"):
        assert figure(second, key) == figure(first, key)
    second.selectbox(key="region_order").select("dosenbach").run()
    assert "region_order" not in second.query_params


def test_link_opens_the_same_maps_of_attention(open_page):
    first = open_page("attention", cohort="ad", model="adsim-aal90", attention_tab="brain")
    plain = figure(first, "received")
    first.selectbox(key="attention_layer").select(1)
    first.segmented_control(key="received_group").select("MCI").run()
    turn_to(first, "difference").selectbox(key="attention_second_group").select("AD").run()
    second = open_page("attention", **address_of(first))
    assert not second.warning
    shown = {"difference": "attention_difference", "groups": "attention_adsim-aal90", "brain": "received"}
    for tab, key in shown.items():
        assert figure(turn_to(second, tab), key) == figure(turn_to(first, tab), key)
    assert figure(second, "received") != plain
    assert not [one for one in second.get("plotly_chart") if one.proto.id.endswith("attention_abide-cc200")]


def test_bad_link_opens_the_demo_and_says_so_until_the_view_changes(open_page):
    page = open_page("modules", cohort="<b>x</b>", level="77", brain_kind="ghost", runs="7")
    (warning,) = page.warning
    assert "<b>" not in warning.value
    for said in ("'<b>x</b>'", "'77'", "brain_kind 'ghost'", "runs '7'"):
        assert said in as_shown(warning.value)
    assert page.selectbox(key="cohort").value == "asd"
    assert page.select_slider(key="runs").value == 10
    page.selectbox(key="subject").select("sim-NC-002").run()
    assert not page.warning


def modules_of(page):
    return {
        "resolution": page.select_slider(key="resolution").value,
        "consensus": page.segmented_control(key="consensus").value,
        "signed": page.toggle(key="signed").value,
        "runs": page.select_slider(key="runs").value,
        "seed": page.number_input(key="seed").value,
        "labelling": page.selectbox(key="labelling").value,
    }


def test_choices_of_a_link_survive_other_pages(open_page):
    # The link is to the first page: the choices wait for the page of modules.
    chosen = {"resolution": 1.5, "consensus": True, "signed": False, "runs": 5, "seed": 12, "labelling": "paper"}
    said = {name: str(value).lower() for name, value in chosen.items()}
    page = open_page("home", cohort="ad", **said)
    visit(page, "subjects", "modules")
    assert modules_of(page) == chosen
    page.select_slider(key="resolution").set_value(0.8).run()
    visit(page, "home")
    assert address_of(page).items() >= (said | {"resolution": "0.8"}).items()
    visit(page, "modules")
    assert modules_of(page) == chosen | {"resolution": 0.8}


def test_the_address_is_said_even_where_the_browser_claims_to_show_it(monkeypatch):
    # It may have told of its address before it was told of the one that the run before has made.
    said = []

    class Claimed(dict):
        def update(self, link):
            said.append(link)

    claimed = Claimed(gamma="1", region="Angular_L", embed="true")
    monkeypatch.setattr("session.link.st", SimpleNamespace(query_params=claimed))
    write_address({"gamma": "1"})
    assert said == [{"gamma": "1"}]
    assert claimed == {"gamma": "1", "embed": "true"}
