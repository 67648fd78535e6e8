"""The tour: five pages with a sentence each, to be followed, left and come back to."""

import pytest
from page_contents import as_shown, assert_no_error

from biobgt.data.simulate import demo_cohort
from session.cohorts import OWN
from session.view import TOUR, LoadedCohort
from views.page_map import PAGES
from views.shared.sidebar import STOPS


def said(page) -> str:
    return " ".join(as_shown(text.value) for text in page.main.markdown)


def keys(page) -> set[str]:
    return {button.key for button in page.main.button if button.key and button.key.startswith("tour_")}


@pytest.fixture
def toured(open_page):
    """A cheap page, at a step of the tour."""

    def toured(step: int, name: str = "export"):
        page = open_page(name)
        page.session_state[TOUR] = step
        return page.run()

    return toured


def test_every_stop_is_a_page_with_a_sentence() -> None:
    assert len(set(STOPS)) == 5
    for stop in STOPS:
        assert PAGES[stop].shows.endswith(".")
        assert ". " not in PAGES[stop].shows


def test_no_tour_without_asking(open_page) -> None:
    assert keys(open_page("export")) == set()


def test_looking_around_goes_to_the_first_stop_with_a_demo(open_page) -> None:
    page = open_page("export")
    page.session_state["own_cohort"] = LoadedCohort(OWN, demo_cohort("ad", n_per_group=2))
    page.session_state["next_cohort"] = OWN
    page.switch_page("views/home.py").run()
    assert page.session_state["cohort"] == OWN
    page.button(key="look_around").click().run()
    assert_no_error(page)
    assert page.title[0].value == "Subjects"
    assert page.session_state["cohort"] != OWN
    assert f"1 of 5 · Subjects {PAGES['subjects'].shows}" in said(page).replace("**", "")
    assert keys(page) == {"tour_next", "tour_skip"}


def test_next_goes_to_the_next_page(toured) -> None:
    page = toured(0, "subjects")
    page.button(key="tour_next").click().run()
    assert_no_error(page)
    assert page.title[0].value == "Hubs"
    assert PAGES["hubs"].shows in said(page)


def test_skip_ends_it(toured) -> None:
    page = toured(4)
    page.button(key="tour_skip").click().run()
    assert TOUR not in page.session_state
    assert keys(page) == set()
    assert page.title[0].value == "Export"


def test_last_stop_leads_to_ones_own_subjects(toured) -> None:
    page = toured(4)
    page.button(key="tour_end").click().run()
    assert TOUR not in page.session_state
    assert page.title[0].value == "Subjects"


def test_elsewhere_it_leads_back(toured) -> None:
    page = toured(0)
    assert keys(page) == {"tour_back", "tour_skip"}
    page.button(key="tour_back").click().run()
    assert page.title[0].value == "Subjects"
    assert keys(page) == {"tour_next", "tour_skip"}
