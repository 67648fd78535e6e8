"""Explore in a real browser: what is pointed at in one tile lights up in all, and γ answers without the server."""

import re
from collections.abc import Callable

import pytest
from access_faults import assert_accessible
from page_steps import wait_until_idle
from playwright.sync_api import Locator, Page, expect

from biobgt.model.folder import pretrained_names
from biobgt.model.pretrained import installed_model

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
TILES = ("explore_brain", "explore_matrix", "explore_curves", "explore_people")
SCREEN = "document.querySelector('.linked').screen"
MODELS = pretrained_names()
REGION = 40  # anywhere
HAND_MS = 90  # for which a hand holds a button down
# Where a region is drawn in a tile, in px of the window.
PLACE = f"""([tile, region]) => {{
    const {{plot, places}} = {SCREEN}.tiles.get(tile);
    const {{x, y}} = plot.getBoundingClientRect();
    const shape = places.shapesOf(region, null).at(-1);
    const [cx, cy] = shape.kind === 'circle' ? [shape.cx, shape.cy] : [shape.x1, shape.y1 + 40];
    return [x + cx, y + cy];
}}"""

COUNT_TOLD = f"""() => {{
    const {{say}} = {SCREEN};
    window.told = 0;
    {SCREEN}.say = (...all) => {{ window.told++; say(...all); }};
}}"""


def open_screen(open_app: Open, path: str = "explore?cohort=ad", **size: int) -> Page:
    page = open_app(path, **size)
    for tile in TILES:
        expect(page.locator(f"[data-tile={tile}] .main-svg").first).to_be_attached(timeout=60_000)
    page.wait_for_function(f"{SCREEN}.parts.has('facts_gamma') && {SCREEN}.parts.has('explore_people_region')")
    wait_until_idle(page)
    return page


def point_at(page: Page, tile: str, region: int = REGION) -> None:
    x, y = page.evaluate(PLACE, [tile, region])
    page.mouse.move(x - 1, y)
    page.mouse.move(x, y)


def click_at(page: Page, tile: str, region: int = REGION) -> None:
    """Click as a hand does: the button goes down as soon as the pointer is there, and stays down for a while."""
    point_at(page, tile, region)
    page.mouse.down()
    page.wait_for_timeout(HAND_MS)
    page.mouse.up()


def lit(page: Page, tile: str) -> Locator:
    return page.locator(f"[data-tile={tile}] .linked-lit")


def name_of(page: Page, region: int = REGION) -> str:
    return str(page.evaluate(f"{SCREEN}.frame.regions[{region}]"))


def test_all_fits_a_window_without_scrolling_and_everybody_can_use_it(open_app: Open) -> None:
    page = open_screen(open_app)
    page.set_viewport_size({"width": 1280, "height": 800})
    bottom = page.evaluate("document.querySelector('.linked').getBoundingClientRect().bottom")
    assert bottom <= 800
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= 800
    assert_accessible(page)
    expect(page.locator(".linked-badge")).to_have_text("Simulated")
    page.set_viewport_size({"width": 800, "height": 1000})
    tops = page.evaluate(f"{list(TILES)}.map(name => {SCREEN}.tiles.get(name).box.getBoundingClientRect().top)")
    assert tops == sorted(tops)
    expect(lit(page, "explore_brain")).to_have_count(0)
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - innerWidth")
    assert wide <= 0


@pytest.mark.parametrize("tile", ["explore_brain", "explore_matrix", "explore_curves"])
def test_a_region_lights_up_in_all_tiles_and_a_click_keeps_it(open_app: Open, tile: str) -> None:
    page = open_screen(open_app)
    point_at(page, tile)
    region = page.evaluate(f"{SCREEN}.hovered")
    assert region >= 0
    name = name_of(page, region)
    expect(page.locator(".linked-line strong")).to_have_text(name)
    for other in TILES[:3]:
        expect(lit(page, other).first).to_be_attached()
    expect(page.locator("[data-tile=explore_people] > p").first).to_contain_text("this region alone")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url(lambda url: "region=" in url)
    wait_until_idle(page)
    page.mouse.move(640, 5)
    expect(page.locator(".linked-line strong")).to_have_text(name)
    page.get_by_role("link", name="Hubs").first.click()
    expect(page.get_by_text(name).first).to_be_visible()


def test_a_click_counts_however_soon_it_follows_and_what_python_did_not_hear_is_told_again(open_app: Open) -> None:
    page = open_screen(open_app)
    for tile in TILES[:3]:
        page.mouse.move(640, 5)
        click_at(page, tile, REGION)
        assert page.evaluate(f"[{SCREEN}.pinned.length, {SCREEN}.lit === {SCREEN}.pinned[0]]") == [1, True], tile
        page.keyboard.press("Escape")
        assert page.evaluate(f"{SCREEN}.pinned.length") == 0
    page.evaluate(f"""() => {{
        const screen = {SCREEN}, {{say}} = screen;
        screen.say = () => {{ screen.say = say; }};
        screen.pin({REGION});
        screen.choose("perturbation", 1, false);
    }}""")
    page.wait_for_url(lambda url: "region=" in url and "perturbation=remove" in url)
    page.wait_for_function(f"{SCREEN}.unheard.length === 0")


def test_gamma_answers_without_the_server_and_is_then_in_the_address(open_app: Open) -> None:
    page = open_screen(open_app)
    curve = f"JSON.stringify(Array.from({SCREEN}.tiles.get('explore_curves').plot._fullData[0].y))"
    before = page.evaluate(curve)
    page.evaluate(COUNT_TOLD)
    page.get_by_role("slider", name="γ").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"before => {curve} !== before", arg=before)
    page.wait_for_url(lambda url: "gamma=0.6" in url)
    assert page.evaluate("window.told") == 1  # once it rests, so that the address says it


SIZES = f"JSON.stringify({SCREEN}.tiles.get('explore_brain').plot._fullData.map(one => one.marker?.size))"
CURVES = f"JSON.stringify({SCREEN}.tiles.get('explore_curves').plot._fullData.map(one => one.y))"
NOTE_DRAWN = f"""() => {{
    window.drawn = [];
    for (const tile of {SCREEN}.tiles.values()) {{
        const {{draw}} = tile;
        tile.draw = async () => {{
            await draw.call(tile);
            const late = {SCREEN}.frame.together.filter(name => !{SCREEN}.isCurrent(name));
            window.drawn.push([tile.name, tile.caption.textContent, late.length]);
        }};
    }}
}}"""


def test_what_follows_the_threshold_comes_back_in_one_step_at_the_chosen_gamma(open_app: Open) -> None:
    page = open_screen(open_app)
    page.get_by_role("slider", name="γ").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: "gamma=0.6" in url)
    wait_until_idle(page)
    before = page.evaluate(f"[{SIZES}, {CURVES}]")
    page.evaluate(NOTE_DRAWN)
    page.locator(".linked-control").filter(has_text="kept").get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".linked-busy, .linked-stale").first).to_be_attached()
    expect(page.locator(".linked-busy, .linked-stale")).to_have_count(0, timeout=60_000)
    wait_until_idle(page)
    page.wait_for_function(f"{SCREEN}.parts.get('facts_gamma').version === {SCREEN}.frame.versions.facts")
    drawn = page.evaluate("window.drawn")
    assert sorted(name for name, _, _ in drawn) == ["explore_brain", "explore_curves"]
    assert all(late == 0 for _, _, late in drawn)
    assert all("γ = 0.6/" in caption for name, caption, _ in drawn if name == "explore_brain")
    after = page.evaluate(f"[{SIZES}, {CURVES}]")
    assert all(one != other for one, other in zip(before, after, strict=True))
    fresh = open_screen(open_app, page.url.rsplit("/", 1)[1])
    assert fresh.evaluate(f"[{SIZES}, {CURVES}]") == after


def test_what_gamma_changes_in_a_figure_is_not_applied_to_another_in_its_tile(open_app: Open) -> None:
    page = open_screen(open_app, "explore?cohort=ad")
    tile = f"{SCREEN}.tiles.get('explore_brain')"
    page.get_by_role("slider", name="γ").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{tile}.applied.length > 0")
    page.locator("[data-tile=explore_brain]").get_by_label("What this tile shows").select_option("Hubs by FC strength")
    page.wait_for_function(f"{tile}.sent.full.includes('FC strength')")
    wait_until_idle(page)
    assert page.evaluate(f"{tile}.applied.length") == 0


def test_keys_move_pin_and_let_go(open_app: Open) -> None:
    page = open_screen(open_app)
    page.locator("[data-tile=explore_curves] .linked-plot").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".linked-line strong")).to_have_text(name_of(page, 2))
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "region=" in url)
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "region=" not in url)
    page.get_by_role("combobox", name="Find a region").fill(name_of(page, 11))
    page.keyboard.press("Enter")
    expect(page.locator(".linked-line strong")).to_have_text(name_of(page, 11))
    name = name_of(page, 11)
    page.get_by_role("button", name=f"Why {name}").click()
    expect(page.get_by_role("heading", name="Why this region?")).to_be_visible(timeout=60_000)
    assert "/hubs" in page.url
    expect(page.get_by_text(name).first).to_be_visible()


def test_a_dot_leads_to_its_person_and_a_tile_into_the_export(open_app: Open) -> None:
    page = open_screen(open_app)
    person, x, y = page.evaluate(f"""() => {{
        const {{plot}} = {SCREEN}.tiles.get("explore_people");
        const trace = plot._fullData.find(one => one.meta?.people?.length > 2);
        const [xa, ya] = [plot._fullLayout.xaxis, plot._fullLayout.yaxis];
        const at = plot.getBoundingClientRect();
        return [trace.meta.people[2], at.x + xa._offset + xa.d2p(trace.x[2]), at.y + ya._offset + ya.d2p(trace.y[2])];
    }}""")
    page.mouse.move(x - 1, y)
    page.mouse.move(x, y)
    expect(page.locator("[data-tile=explore_people] .hovertext")).to_be_attached()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url(lambda url: f"subject={person}" in url)
    wait_until_idle(page)
    page.locator("[data-tile=explore_matrix]").get_by_role("button", name="Add to export").click()
    expect(page.get_by_role("link", name="Export (1)")).to_be_visible()


def test_the_screen_is_about_a_subject_a_models_groups_or_two_groups_of_the_cohort(open_app: Open) -> None:
    page = open_app("explore?cohort=ad&people_measure=fc_strength")
    for mode, tiles, known in (
        ("Difference", ("explore_difference_brain", "explore_difference_curves", "explore_people"), "q"),
        ("Group", ("explore_group_maps", "explore_group_difference", "explore_group_brain"), ""),
        ("Subject", TILES, "NE rank"),
    ):
        page.get_by_role("radio", name=mode).click()
        page.wait_for_url(lambda url, mode=mode: (f"explore_mode={mode.lower()}" in url) == (mode != "Subject"))
        for tile in tiles:
            expect(page.locator(f"[data-tile={tile}] .main-svg").first).to_be_attached()
        wait_until_idle(page)
        expect(page.locator(".linked")).to_have_count(1)
        expect(page.get_by_role("radio", name=mode)).to_be_checked()
        page.get_by_role("combobox", name="Find a region").fill(name_of(page))
        page.keyboard.press("Enter")
        expect(page.locator(".linked-line")).to_contain_text(known)
        expect(page.locator(".linked-badge")).to_have_count(1)


def test_the_model_is_chosen_above_the_tiles_which_says_whether_it_fits(open_app: Open) -> None:
    page = open_app("explore?cohort=ad&explore_mode=group")
    model = page.locator(".linked-top").get_by_role("combobox", name="Model")
    expect(model.locator("option")).to_have_text([re.compile("fits best"), *[re.compile(name) for name in MODELS]])
    model.select_option(index=1)  # of another atlas: its own regions are shown
    page.wait_for_url(lambda url: "model=abide-cc200" in url)
    page.wait_for_function(f"{SCREEN}.frame.regions.length === 200")
    expect(page.locator("[data-tile=explore_group_maps]")).to_contain_text("ASD")


def test_details_of_a_tile_open_on_its_tab(open_app: Open) -> None:
    page = open_screen(open_app, "explore?cohort=ad&explore_curves=roles")
    page.get_by_role("button", name="Details on the page Modules").click()
    page.wait_for_url(lambda url: "/modules" in url and "module_tab=roles" in url)
    page = open_app("explore?cohort=ad&explore_mode=difference")
    tile = page.locator("[data-tile=explore_difference_brain]")
    expect(tile.locator(".main-svg").first).to_be_attached()
    wait_until_idle(page)
    tile.get_by_role("button", name="Details on the page Compare").click()
    page.wait_for_url(
        lambda url: "/compare" in url and "compared=hubs" in url and "compared_measure=fc_strength" in url
    )


def test_a_cell_is_told_of_every_group_without_the_server(open_app: Open) -> None:
    page = open_app("explore?cohort=ad&explore_mode=group&model=five-groups-aal90")
    page.wait_for_function("document.querySelector('.linked')?.screen?.parts.has('explore_group_brain_region')")
    for tile in ("explore_group_maps", "explore_group_difference"):
        expect(page.locator(f"[data-tile={tile}] .main-svg").first).to_be_attached()
    wait_until_idle(page)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= page.viewport_size["height"]
    page.evaluate(COUNT_TOLD)
    size = page.evaluate(f"{SCREEN}.tiles.get('explore_group_maps').plot.clientHeight")
    x, y = page.evaluate(f"""() => {{
        const {{plot, places}} = {SCREEN}.tiles.get('explore_group_difference');
        const {{xaxis: x, yaxis: y}} = places.maps[1].trace;
        const [xa, ya] = [x, y].map(name => plot._fullLayout[name[0] + 'axis' + name.slice(1)]);
        const at = plot.getBoundingClientRect();
        return [at.x + xa._offset + xa.c2p(30), at.y + ya._offset + ya.c2p(50)];
    }}""")
    page.mouse.move(x - 1, y)
    page.mouse.move(x, y)
    row, column = page.evaluate(f"[{SCREEN}.hovered, {SCREEN}.column]")
    line = page.locator(".linked-line")
    expect(line.locator("strong")).to_have_text(f"{name_of(page, row)} → {name_of(page, column)}")
    model = installed_model("five-groups-aal90")
    maps = {
        group: model.groups.attention[group].mean(axis=(0, 1)) * model.atlas.n_regions for group in model.group_names
    }
    difference = float(maps["ADHD"][row, column] - maps["NC (CNI-2019)"][row, column])
    fc = float(model.groups.connectivity["ASD"][row, column])
    expect(line).to_contain_text(f"ASD {maps['ASD'][row, column]:.2f} (FC {fc:.2f})".replace("-", "−"))
    expect(line).to_contain_text(f"ADHD − NC (CNI-2019) {difference:+.2f}".replace("-0", "−0"))
    expect(line.locator("span")).to_have_count(10)
    for tile in ("explore_group_maps", "explore_group_difference"):
        expect(lit(page, tile)).to_have_count(10)  # a cross in each of five maps
    expect(page.locator("[data-tile=explore_group_brain] > p").first).to_contain_text(name_of(page, row))
    assert page.evaluate("window.told") == 0
    assert page.evaluate(f"{SCREEN}.tiles.get('explore_group_maps').plot.clientHeight") == size
    assert_accessible(page)


# The region whose node in the first brain is farthest from any other.
MOST_ALONE = f"""pinned => {{
    const {{places}} = {SCREEN}.tiles.get('explore_group_brain');
    const at = [...places.points.keys()].map(region => [region, places.shapesOf(region, null)[0]]);
    const apart = ([, a]) => Math.min(...at.map(([, b]) => Math.hypot(b.cx - a.cx, b.cy - a.cy) || Infinity));
    return at.filter(([region]) => region !== pinned).sort((one, other) => apart(other) - apart(one))[0][0];
}}"""


def test_a_pinned_region_stays_in_the_brain_of_every_group_while_others_are_pointed_at(open_app: Open) -> None:
    page = open_app("explore?cohort=ad&explore_mode=group&model=five-groups-aal90")
    page.wait_for_function("document.querySelector('.linked')?.screen?.parts.has('explore_group_brain_region')")
    expect(page.locator("[data-tile=explore_group_brain] .main-svg").first).to_be_attached()
    wait_until_idle(page)
    brain = page.locator("[data-tile=explore_group_brain]")
    point_at(page, "explore_group_brain", REGION)
    expect(page.locator(".linked-line strong")).to_have_text(f"{name_of(page, 0)} → {name_of(page)}")
    expect(lit(page, "explore_group_brain")).to_have_count(5)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url(lambda url: "region=" in url)
    expect(brain.locator("> p").first).to_contain_text(f"Where {name_of(page)} looks")
    wait_until_idle(page)
    page.evaluate(COUNT_TOLD)
    other = page.evaluate(MOST_ALONE, REGION)
    point_at(page, "explore_group_brain", other)
    expect(page.locator(".linked-line strong")).to_have_text(f"{name_of(page)} → {name_of(page, other)}")
    model = installed_model("five-groups-aal90")
    value = float(model.groups.attention["ASD"].mean(axis=(0, 1))[REGION, other]) * model.atlas.n_regions
    expect(page.locator(".linked-line")).to_contain_text(f"ASD {value:.2f} (FC ")
    expect(brain.locator("> p").first).to_contain_text(f"Where {name_of(page)} looks")
    brain.get_by_label("What this tile shows").select_option("The region, minus own controls")
    page.wait_for_url(lambda url: "explore_group_brain=differences" in url)
    expect(brain.locator("> p").first).to_contain_text(f"Where {name_of(page)} looks more or less")
    assert page.evaluate("window.told") == 1
    assert_accessible(page)


def test_regions_are_collected_by_drawing_around_them(open_app: Open) -> None:
    page = open_screen(open_app, "explore?cohort=ad&explore_curves=node_efficiency")
    tile = f"{SCREEN}.tiles.get('explore_curves')"
    left, top, right, bottom = page.evaluate(
        f"""() => {{
        const {{plot}} = {tile}, {{x, y}} = plot.getBoundingClientRect(), {{xaxis, yaxis}} = plot._fullLayout;
        const [across, down] = [x + xaxis._offset, y + yaxis._offset];
        return [across + 2, down + 2, across + xaxis._length / 2, down + yaxis._length - 2];
    }}"""
    )
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(*corner)
    page.mouse.up()
    page.wait_for_function(f"{SCREEN}.pinned.length > 1")
    inside = page.evaluate(
        f"""right => [...{tile}.places.points].filter(([region]) => {{
        const [circle] = {tile}.places.shapesOf(region, null);
        return circle.cx + {tile}.plot.getBoundingClientRect().x < right;
    }}).map(([region]) => region)""",
        right,
    )
    assert sorted(page.evaluate(f"{SCREEN}.pinned")) == sorted(inside)
    assert 1 < len(inside) < 90
    expect(
        page.locator("[data-tile=explore_brain] circle.linked-pinned, [data-tile=explore_brain] circle.linked-lit")
    ).to_have_count(len(inside))
    assert page.evaluate(f"{tile}.plot._fullData.every(one => !one.selectedpoints)")
