"""What a person does and sees without thinking: waits until the page stands still, opens a list, sees what is cut."""

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


def turn_to(page: Page, tab: str) -> None:
    """Choose a tab of the page, by its title."""
    wait_until_idle(page)
    page.locator(".st-key-controls").get_by_role("radio", name=tab, exact=True).click()
    wait_until_idle(page)


def full_caption(page: Page, key: str) -> str:
    """The whole caption of a figure, behind its *i*."""
    wait_until_idle(page)
    page.locator(f".st-key-tools_{key}").get_by_role("button", name="Full caption").click()
    said = page.get_by_test_id("stPopoverBody").filter(visible=True)
    expect(said).not_to_be_empty()
    text = said.inner_text()
    page.keyboard.press("Escape")
    expect(said).to_have_count(0)
    return text


def wait_for_figures(page: Page, *keys: str) -> None:
    """Wait until figures are drawn and the page has ended its work."""
    for key in keys:
        expect(page.locator(f".st-key-{key} .js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    wait_until_idle(page)


def badges(place: Locator) -> Locator:
    return place.locator(".stMarkdownBadge").filter(has_text="Simulated", visible=True)


def assert_fits(page: Page) -> None:
    """Nothing is wider than the page, and no text of a figure reaches out of it."""
    assert page.evaluate("(m => m.scrollWidth - m.clientWidth)(document.querySelector('[data-testid=stMain]'))") == 0
    clipped = page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot => {
            const box = plot.getBoundingClientRect();
            return [...plot.querySelectorAll('.main-svg text')].filter(text => {
                const inner = text.getBoundingClientRect();
                return inner.width > 0 && (inner.left < box.left - 1 || inner.right > box.right + 1
                    || inner.top < box.top - 1 || inner.bottom > box.bottom + 1);
            }).map(text => text.textContent);
        })"""
    )
    assert clipped == []
