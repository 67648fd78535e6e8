"""What a person does without thinking: waits for the page to end its work and stand still, then opens a list."""

import re

from playwright.sync_api import Locator, Page, expect

STILL_FRAMES = 5
INTO_THE_MIDDLE = f"""element => new Promise(done => {{
    element.scrollIntoView({{block: 'center'}});
    let top = null, still = 0;
    const look = () => {{
        const now = element.getBoundingClientRect().top;
        still = now === top ? still + 1 : 0;
        top = now;
        still < {STILL_FRAMES} ? requestAnimationFrame(look) : done();
    }};
    look();
}})"""


def wait_until_idle(page: Page) -> None:
    """Wait until the page's script has run; the sign of work alone comes late, and not at all for short work."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)


def move_into_the_middle(place: Locator) -> None:
    """Scroll to a place and wait until nothing moves: an open list closes at the next event of scrolling."""
    place.evaluate(INTO_THE_MIDDLE)


def choose(page: Page, label: str, option: str, *, typed: str | None = None) -> None:
    """Choose in a select box; typing narrows a list that is longer than what is drawn of it."""
    wait_until_idle(page)
    box = page.get_by_role("combobox", name=re.compile(label))
    move_into_the_middle(box)
    box.fill(typed or option)
    page.get_by_role("option", name=option, exact=True).click()
