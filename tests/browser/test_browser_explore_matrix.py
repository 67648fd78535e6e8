"""A block of the matrix on Explore, and the rows of one network, with the pointer and with keys, in a real browser."""

import pytest
from page_steps import wait_until_idle
from playwright.sync_api import Page, expect
from test_browser_explore import COUNT_TOLD, SCREEN, Open, click_at, lit, name_of, open_screen, point_at

pytestmark = pytest.mark.browser

MATRIX = f"{SCREEN}.tiles.get('explore_matrix')"
# Corners of a block, counted in rows and columns of the matrix as it is drawn, in px of the window.
CORNER = f"""([row, column]) => {{
    const {{plot}} = {MATRIX}, {{xaxis, yaxis}} = plot._fullLayout, {{x, y}} = plot.getBoundingClientRect();
    return [x + xaxis._offset + xaxis.l2p(column), y + yaxis._offset + yaxis.l2p(row)];
}}"""
# The mean over the cells of a block, by a plain loop over what plotly draws.
BY_HAND = f"""([top, bottom, left, right]) => {{
    const map = {MATRIX}.plot._fullData[0];
    let sum = 0, n = 0;
    for (let row = top; row <= bottom; row++)
        for (let column = left; column <= right; column++)
            if (row !== column) {{ sum += map.z[row][column]; n++; }}
    return (sum / n).toPrecision(3).replace('-', '−');
}}"""


def drag(page: Page, start: tuple[int, int], end: tuple[int, int]) -> None:
    x, y = page.evaluate(CORNER, list(start))
    page.mouse.move(x, y)
    page.mouse.down()
    for corner in (start, end):
        x, y = page.evaluate(CORNER, list(corner))
        page.mouse.move(x, y)
    page.mouse.up()


def test_a_dragged_block_says_its_mean_at_once_and_then_the_test_and_the_brain_draws_it(open_app: Open) -> None:
    page = open_screen(open_app)
    drag(page, (12, 30), (20, 42))
    said = page.locator(".linked-verdict")
    expect(said).to_contain_text(f"Block 9 × 13: mean r = {page.evaluate(BY_HAND, [12, 20, 30, 42])}.")
    block = page.evaluate(f"[{SCREEN}.block.rows.length, {SCREEN}.block.columns.length, {SCREEN}.pinned.length]")
    assert block == [9, 13, 0], "the end of a drag is no click"
    expect(page.locator("[data-tile=explore_matrix] rect.linked-block")).to_have_count(1)
    expect(page.locator("[data-tile=explore_brain] line.linked-block")).to_have_count(30)
    expect(said).to_contain_text("MCI − NC: d = ")
    expect(said).to_contain_text("p = ")
    page.keyboard.press("Escape")
    expect(page.locator(".linked-block")).to_have_count(0)
    expect(said).not_to_contain_text("Block")
    click_at(page, "explore_matrix")
    page.wait_for_url(lambda url: "region=" in url)


def test_shift_and_arrows_choose_a_block_and_pointing_asks_nothing(open_app: Open) -> None:
    page = open_screen(open_app)
    page.locator("[data-tile=explore_matrix] .linked-plot").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(f"Shift+{key}")
    expect(page.locator(".linked-verdict")).to_contain_text(
        f"Block 3 × 2: mean r = {page.evaluate(BY_HAND, [0, 2, 0, 1])}."
    )
    expect(page.locator(".linked-verdict")).to_contain_text("d = ")
    page.evaluate(COUNT_TOLD)
    point_at(page, "explore_curves")
    expect(lit(page, "explore_matrix").first).to_be_attached()
    expect(page.locator(".linked-verdict")).to_contain_text("Block 3 × 2")
    assert page.evaluate("window.told") == 0


def test_a_click_on_a_network_shows_its_rows_alone_until_it_is_clicked_again(open_app: Open) -> None:
    page = open_screen(open_app)
    rows = f"{MATRIX}.plot._fullLayout.yaxis._rl.map(place => Math.round(place + 0.01))"
    whole = page.evaluate(rows)
    name = page.locator("[data-tile=explore_matrix] .ytick text").first
    network = name.text_content() or ""
    chooser = page.get_by_role("combobox", name="Rows shown")
    for shown, text in ((True, network), (False, "All rows")):
        box = name.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_function(f"([whole, shown]) => (String({rows}) !== String(whole)) === shown", arg=[whole, shown])
        expect(chooser.locator("option:checked")).to_have_text(text)
    chooser.select_option(network)
    page.wait_for_function(f"whole => String({rows}) !== String(whole)", arg=whole)
    low, high = sorted(page.evaluate(rows))
    start, end = next(block[1:] for block in page.evaluate(f"{MATRIX}.places.squares[0].blocks") if block[0] == network)
    assert (low, high) == (start, end)
    page.locator("[data-tile=explore_matrix] .linked-plot").focus()
    page.keyboard.press("Escape")
    page.wait_for_function(f"whole => String({rows}) === String(whole)", arg=whole)


def test_the_connectogram_lights_up_with_a_region_and_its_chords(open_app: Open) -> None:
    page = open_screen(open_app, "explore?cohort=ad&explore_matrix=connectogram")
    pair = page.evaluate(f"{MATRIX}.plot._fullData.find(one => one.meta?.chords).meta.chords[0]")
    point_at(page, "explore_matrix", pair[0])
    expect(page.locator(".linked-line strong")).to_have_text(name_of(page, pair[0]))
    expect(lit(page, "explore_matrix").and_(page.locator("polyline")).first).to_be_attached()
    expect(lit(page, "explore_brain").first).to_be_attached()


def test_a_block_dragged_in_one_map_of_groups_is_told_of_all_of_them(open_app: Open) -> None:
    page = open_app("explore?cohort=ad&explore_mode=group&model=five-groups-aal90")
    page.wait_for_function("document.querySelector('.linked')?.screen?.parts.has('explore_group_brain_region')")
    for tile in ("explore_group_maps", "explore_group_difference"):
        expect(page.locator(f"[data-tile={tile}] .main-svg").first).to_be_attached()
    wait_until_idle(page)
    tile = f"{SCREEN}.tiles.get('explore_group_maps')"
    corners, by_hand = page.evaluate(
        f"""() => {{
        const {{plot, places}} = {tile}, {{x, y}} = plot.getBoundingClientRect(), map = places.squares[2];
        const [[, top, bottom], [, left, right]] = map.blocks;
        const along = name => plot._fullLayout[`${{name[0]}}axis${{name.slice(1)}}`];
        const [xa, ya] = [map.trace.xaxis, map.trace.yaxis].map(along);
        const at = (row, column) => [x + xa._offset + xa.l2p(column), y + ya._offset + ya.l2p(row)];
        let sum = 0, n = 0;
        for (let i = top; i < bottom; i++) for (let j = left; j < right; j++) {{ sum += map.trace.z[i][j]; n++; }}
        return [[at(top, left), at(bottom - 1, right - 1)], (sum / n).toPrecision(2)];
    }}"""
    )
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in (corners[0], corners[1]):
        page.mouse.move(*corner)
    page.mouse.up()
    said = page.locator(".linked-verdict")
    expect(said).to_contain_text("Block sensorimotor × default")
    expect(said).to_contain_text(f"ASD {by_hand}, ")
    for name in ("explore_group_maps", "explore_group_difference"):
        expect(page.locator(f"[data-tile={name}] rect.linked-block")).to_have_count(5)
    expect(said).to_contain_text("Tested among all blocks: ")
    expect(said).to_contain_text("ASD − NC (ABIDE) d = ")
    page.keyboard.press("Escape")
    expect(page.locator(".linked-block")).to_have_count(0)
    page.locator("[data-tile=explore_group_maps]").get_by_label("Rows shown").select_option("occipital")
    shown = f"() => ['', 2, 3, 4, 5].map(n => {tile}.plot._fullLayout[`yaxis${{n}}`]._rl.map(Math.round).join())"
    page.wait_for_function(f"new Set(({shown})()).size === 1 && !({shown})()[0].includes('90')")
