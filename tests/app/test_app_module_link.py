"""How modules are found is in the link, survives a change of page, and bad values are named."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_contents import as_shown, assert_no_error

from biobgt import ConnectomeSettings
from biobgt.base.options import LARGEST_SEED
from biobgt.data.simulate import demo_cohort
from biobgt.figures.module_brains import EDGE_NUMBERS
from biobgt.figures.modules import ModuleComparisonOptions
from biobgt.hubs.options import HubOptions
from biobgt.modules.measures import RESOLUTIONS, RUN_NUMBERS, NamedModuleOptions
from session.cohorts import OWN
from session.link import Link, link_of, read_link
from session.view import LoadedCohort, View

CHOICES = st.fixed_dictionaries(
    {
        "resolution": st.sampled_from(RESOLUTIONS),
        "consensus": st.booleans(),
        "signed": st.booleans(),
        "runs": st.sampled_from(RUN_NUMBERS),
        "seed": st.integers(0, LARGEST_SEED),
        "labelling": st.sampled_from(["dosenbach", "paper"]),
    },
    optional={
        "brain_edges": st.sampled_from(EDGE_NUMBERS[1:]),
        "brain_kind": st.just("glass"),
        "group_brain_kind": st.just("glass"),
        "first_group": st.sampled_from(["MCI", "AD"]),
        "second_group": st.sampled_from(["NC", "AD"]),
    },
)
HUBS = {one.link: one.default for one in HubOptions.declared().values()}
ADDRESS = {
    "cohort": "ad",
    "resolution": "1.5",
    "consensus": "true",
    "signed": "false",
    "runs": "5",
    "seed": "12",
    "labelling": "paper",
}


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=2)


def view_of(cohort, choices, key="ad"):
    return View(LoadedCohort(key, cohort), cohort.subjects[0], ConnectomeSettings(), choices)


@settings(deadline=None)  # a busy machine is no wrong link
@given(choices=CHOICES)
def test_link_read_back_is_the_same(cohort, choices):
    link = read_link(link_of(view_of(cohort, choices))).checked(cohort)
    assert link == Link("ad", cohort.ids[0], ConnectomeSettings(), choices={**HUBS, **choices})


@pytest.mark.parametrize(
    ("name", "value", "used"),
    [
        ("resolution", "0", "1"),
        ("consensus", "yes", "false"),
        ("signed", "", "true"),
        ("runs", "11", "10"),
        ("seed", "-1", "0"),
        ("labelling", "x", "dosenbach"),
        ("brain_edges", "5", "0"),
        ("brain_kind", "ghost", "3d"),
        ("first_group", "ASD", "NC"),
        ("second_group", "ASD", "MCI"),
    ],
)
def test_bad_value_is_replaced_and_named(cohort, name, value, used):
    link = read_link({"cohort": "ad", name: value}).checked(cohort)
    assert link.problems == (f"The link's {name} '{value}' is not available here, so {used} is shown instead.",)
    assert view_of(cohort, link.choices).options(NamedModuleOptions) == NamedModuleOptions()
    assert view_of(cohort, link.choices).options(ModuleComparisonOptions).groups == ("NC", "MCI")


def test_only_what_differs_and_exists_stands_in_the_link(cohort):
    usual = link_of(view_of(cohort, {}))
    kept = {"brain_edges": 0, "brain_kind": "3d", "first_group": "NC", "second_group": "MCI"}
    assert link_of(view_of(cohort, kept)) == usual
    assert link_of(view_of(cohort, {"first_group": "ASD"})) == usual, "of another cohort"
    chosen = {"first_group": "AD", "second_group": "NC"}
    assert link_of(view_of(cohort, chosen)) == usual | chosen
    assert not set(chosen) & set(link_of(view_of(cohort, chosen, OWN))), "groups of a user's own subjects are theirs"


def values(page):
    return {
        "resolution": page.select_slider(key="resolution").value,
        "consensus": page.segmented_control(key="consensus").value,
        "signed": page.toggle(key="signed").value,
        "runs": page.select_slider(key="runs").value,
        "seed": page.number_input(key="seed").value,
        "labelling": page.selectbox(key="labelling").value,
    }


EXPECTED = {"resolution": 1.5, "consensus": True, "signed": False, "runs": 5, "seed": 12, "labelling": "paper"}


def test_link_opens_the_choices_and_they_survive_other_pages(open_page):
    # The link is to the first page: the choices wait for the page of modules.
    page = open_page("home", **ADDRESS)
    page.switch_page("views/subjects/page.py").run()
    page.switch_page("views/modules.py").run()
    assert_no_error(page)
    assert values(page) == EXPECTED
    page.select_slider(key="resolution").set_value(0.8).run()
    page.switch_page("views/home.py").run()
    address = {name: text[0] if isinstance(text, list) else text for name, text in page.query_params.items()}
    assert address == address | ADDRESS | {"resolution": "0.8"}
    page.switch_page("views/modules.py").run()
    assert values(page) == EXPECTED | {"resolution": 0.8}


def test_bad_choice_in_the_address_is_said(open_page):
    page = open_page("modules", cohort="ad", runs="7")
    (warning,) = page.warning
    assert "runs '7'" in as_shown(warning.value)
    assert page.select_slider(key="runs").value == 10
