"""How modules are found is in the link, survives a change of page, and bad values are named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from link import Link, link_of, read_link
from loaded import LoadedCohort, ModuleChoices, View
from page_contents import as_shown, assert_no_error
from state import LARGEST_SEED, RESOLUTIONS, RUN_NUMBERS

from biobgt import ConnectomeSettings
from biobgt.simulate import demo_cohort

CHOICES = st.builds(
    ModuleChoices,
    resolution=st.sampled_from(RESOLUTIONS),
    consensus=st.booleans(),
    signed=st.booleans(),
    runs=st.sampled_from(RUN_NUMBERS),
    seed=st.integers(0, LARGEST_SEED),
    labelling=st.sampled_from(["dosenbach", "paper"]),
)
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
    return demo_cohort("ad", n_per_group=1)


@given(choices=CHOICES)
def test_link_read_back_is_the_same(cohort, choices):
    view = View(LoadedCohort("ad", cohort), cohort.subjects[0], ConnectomeSettings(), modules=choices)
    assert read_link(link_of(view)) == Link("ad", cohort.ids[0], ConnectomeSettings(), modules=choices)


@pytest.mark.parametrize(
    ("name", "value"),
    [("resolution", "0"), ("consensus", "yes"), ("signed", ""), ("runs", "11"), ("seed", "-1"), ("labelling", "x")],
)
def test_bad_value_is_replaced_and_named(name, value):
    link = read_link({name: value})
    assert link.modules == ModuleChoices()
    (problem,) = link.problems
    assert f"{name} '{value}'" in problem


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
    page.switch_page("views/subjects.py").run()
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
