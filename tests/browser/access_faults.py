"""Whether everybody can use a page: what axe-core finds on it once all of it is there."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect


def assert_accessible(page: Page) -> None:
    """No serious fault of access; the page was opened before, so that no test loads it for this alone."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    assert_no_faults(page)


def assert_no_faults(page: Page) -> None:
    """The same of any page that stands still."""
    found = Axe().run(page).response["violations"]
    serious = [
        (fault["id"], place["target"], place["failureSummary"])
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for place in fault["nodes"]
    ]
    assert not serious, serious
