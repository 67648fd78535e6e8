"""Every lab's brains, brought as a new user would: right names and networks in a figure, or a question.

In every file two regions have the same signal. Where these meet in the heatmap tells whether names are in their places.
"""

import json
import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
from nibabel import cifti2, gifti
from page_steps import turn_to
from playwright.sync_api import Page, expect
from test_browser_frame import heatmap, title, upload, wait_until_drawn

from biobgt.data.atlas import BUNDLED, Atlas, load_atlas
from biobgt.figures.regions import regions_in_order

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
YEO = "yeo7"
PAIR = (7, -3)  # the columns with the same signal
SHOWN = """() => {
    const plot = document.querySelector('.st-key-connectivity .js-plotly-plot'), {x, z} = plot._fullData[0];
    let best = [-2, 0, 0];
    for (let i = 0; i < x.length; i++) for (let j = 0; j < i; j++) if (z[i][j] > best[0]) best = [z[i][j], i, j];
    return {names: [...x], pair: [x[best[1]], x[best[2]]], blocks: [...plot._fullLayout.yaxis.ticktext]};
}"""
SCREEN = "document.querySelector('.linked')?.screen"


def series(n_regions: int, *, n: int = 40, seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal((n, n_regions))
    values[:, PAIR[1]] = values[:, PAIR[0]]
    return values


def table(path: Path, names: Sequence[str] | None, values: np.ndarray, separator: str = ",") -> Path:
    header = separator.join(names) if names else ""
    np.savetxt(path, values, fmt="%.4f", delimiter=separator, header=header, comments="")
    return path


def spelt(atlas: Atlas, pattern: str) -> list[str]:
    """The regions in the atlas's order, as files of other programs spell them."""
    names = {own: other for other, own in atlas.also.items() if re.match(pattern, other)}
    return [names[own] for own in atlas.regions]


def open_subjects(open_app: Open) -> Page:
    page = open_app(f"subjects?region_order={YEO}")
    wait_until_drawn(page)
    return page


def assert_shown(page: Page, subject: str, atlas: Atlas, pair: tuple[str, str]) -> None:
    """The subject is read on the atlas, in the order of its networks, and the pair meets under its names."""
    expect(page.get_by_text(re.compile(rf"Read \d+ subjects? on {re.escape(atlas.title)}:"))).to_be_visible()
    expect(title(page)).to_contain_text(subject)
    wait_until_drawn(page)
    order = regions_in_order(atlas, YEO)
    names = [atlas.regions[i] for i in order.order]
    page.wait_for_function(
        f"names => JSON.stringify(({SHOWN})().names) === names", arg=json.dumps(names, separators=(",", ":"))
    )
    expect(page.get_by_test_id("stException")).to_have_count(0)
    shown: dict[str, Any] = page.evaluate(SHOWN)
    assert set(shown["blocks"]) <= {name for name, _, _ in order.blocks}
    assert len(shown["blocks"]) > 2
    assert set(shown["pair"]) == set(pair)


def pair_of(names: Sequence[str]) -> tuple[str, str]:
    return names[PAIR[0]], names[PAIR[1]]


def test_schaefer_200_without_header_is_asked(open_app: Open, tmp_path: Path) -> None:
    """By its count alone it might be CC200, and rows and columns might be either."""
    page, atlas = open_subjects(open_app), load_atlas("schaefer200")
    upload(page, table(tmp_path / "s1.csv", None, series(200)))
    axes = page.locator(".st-key-question_orientation")
    axes.get_by_role("button", name="rows are time points").click()
    which = page.locator(".st-key-question_atlas")
    expect(which.get_by_text("200 regions fit more than one atlas")).to_be_visible()
    for title_ in (BUNDLED["cc200"].title, BUNDLED["schaefer200_17"].title):
        expect(which.get_by_role("button", name=title_)).to_be_visible()
    which.get_by_role("button", name=f"{atlas.title}:").first.click()
    assert_shown(page, "s1", atlas, pair_of(atlas.regions))


@pytest.mark.parametrize(
    ("key", "pattern"), [("schaefer400", "7Networks_"), ("schaefer400_17", "17Networks_")], ids=["7", "17"]
)
def test_schaefer_400_of_either_order_is_told_by_its_names(
    open_app: Open, tmp_path: Path, key: str, pattern: str
) -> None:
    page, atlas = open_subjects(open_app), load_atlas(key)
    upload(page, table(tmp_path / "s1.csv", spelt(atlas, pattern), series(400)))
    assert_shown(page, "s1", atlas, pair_of(atlas.regions))


def test_glasser_in_hcps_order_is_put_in_order(open_app: Open, tmp_path: Path) -> None:
    page, hcp = open_subjects(open_app), load_atlas("glasser360_hcp")
    names = [f"{name[-1]}_{name[:-2]}_ROI" for name in hcp.regions]
    upload(page, table(tmp_path / "100307.csv", names, series(360)))
    assert_shown(page, "100307", load_atlas("glasser360"), pair_of(hcp.regions))
    expect(page.get_by_text("Regions in another order, put right: 1 of 1 subject.")).to_be_visible()


def test_xcpd_tree_of_4s256_in_a_zip_with_two_runs(open_app: Open, tmp_path: Path) -> None:
    page, atlas = open_subjects(open_app), load_atlas("4s256")
    archive = tmp_path / "xcp_d.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as tree:
        tree.writestr("xcp_d/dataset_description.json", '{"Name": "XCP-D"}')
        for run in (1, 2):
            stem = f"sub-01_task-rest_run-{run}_space-MNI152NLin2009cAsym"
            path = table(tmp_path / "series.tsv", atlas.regions, series(256, seed=run), "\t")
            tree.write(path, f"xcp_d/sub-01/func/{stem}_seg-4S256Parcels_stat-mean_timeseries.tsv")
            tree.writestr(f"xcp_d/sub-01/func/{stem}_motion.tsv", "framewise_displacement\n0.1\n")
    upload(page, archive)
    assert_shown(page, "sub-01_run-1", atlas, pair_of(atlas.regions))
    expect(page.get_by_text("There are 2 recordings of 1 person.")).to_be_visible()
    page.get_by_role("button", name="Average each person's recordings").click()
    expect(page.get_by_text("Several recordings of 1 person (2 recordings): one row per person")).to_be_visible()
    assert_shown(page, "sub-01", atlas, pair_of(atlas.regions))


def test_connectivity_of_parcels(open_app: Open, tmp_path: Path) -> None:
    page, atlas, left = open_subjects(open_app), load_atlas("4s156"), "CIFTI_STRUCTURE_CORTEX_LEFT"
    vertices = [{left: np.arange(10 * i, 10 * i + 10)} for i in range(156)]
    axis = cifti2.ParcelsAxis(list(atlas.regions), [np.zeros((0, 3), int)] * 156, vertices, nvertices={left: 32492})
    matrix = np.corrcoef(series(156).T).astype(np.float32)
    path = tmp_path / "sub-01_task-rest_space-fsLR_seg-4S156Parcels_stat-pearsoncorrelation_boldmap.pconn.nii"
    nibabel.save(cifti2.Cifti2Image(matrix, header=(axis, axis)), path)
    upload(page, path)
    assert_shown(page, "sub-01", atlas, pair_of(atlas.regions))
    expect(page.get_by_text("read from a connectivity matrix")).to_be_visible()


def test_vertices_of_both_hemispheres_with_their_labels(open_app: Open, tmp_path: Path) -> None:
    """Two vertices per parcel; labels are dropped with the series."""
    page, atlas = open_subjects(open_app), load_atlas("schaefer100")
    values, files = series(100), []
    for side, regions in (("L", range(50)), ("R", range(50, 100))):
        names = gifti.GiftiLabelTable()
        for key, region in enumerate(regions, start=1):
            label = gifti.GiftiLabel(key=key, red=1.0, green=0.0, blue=0.0, alpha=1.0)
            label.label = f"7Networks_{atlas.regions[region]}"
            names.labels.append(label)
        keys = np.repeat(np.arange(1, 51, dtype=np.int32), 2)
        numbers = gifti.GiftiDataArray(keys, intent="NIFTI_INTENT_LABEL")
        files.append(tmp_path / f"hemi-{side}_dseg.label.gii")
        nibabel.save(gifti.GiftiImage(darrays=[numbers], labeltable=names), files[-1])
        rows = np.repeat(values[:, list(regions)], 2, axis=1).astype(np.float32)
        points = [gifti.GiftiDataArray(row, intent="NIFTI_INTENT_TIME_SERIES") for row in rows]
        files.append(tmp_path / f"sub-01_task-rest_hemi-{side}_space-fsLR_bold.func.gii")
        nibabel.save(gifti.GiftiImage(darrays=points), files[-1])
    upload(page, *files)
    assert_shown(page, "sub-01", atlas, pair_of(atlas.regions))


def test_five_missing_parcels_are_named_and_drawn_as_gaps(open_app: Open, tmp_path: Path) -> None:
    page, atlas, absent = open_subjects(open_app), load_atlas("schaefer100"), (3, 10, 55, 70, 90)
    kept = [i for i in range(100) if i not in absent]
    upload(page, table(tmp_path / "s1.csv", [atlas.regions[i] for i in kept], series(100)[:, kept]))
    assert_shown(page, "s1", atlas, pair_of(atlas.regions))
    warning = page.get_by_text("5 regions of 100 are missing in 1 of 1 subject")
    expect(warning).to_be_visible()
    for i in absent:
        expect(warning).to_contain_text(atlas.regions[i])
    rows = "document.querySelector('.st-key-connectivity .js-plotly-plot')._fullData[0]"
    empty = page.evaluate(f"(({{x, z}}) => x.filter((_, i) => [...z[i]].every(Number.isNaN)))({rows})")
    assert set(empty) == {atlas.regions[i] for i in absent}


def test_a_thousand_regions_to_the_first_figures_of_hubs(open_app: Open, tmp_path: Path) -> None:
    page, atlas = open_subjects(open_app), load_atlas("schaefer1000")
    upload(page, table(tmp_path / "s1.csv", atlas.regions, series(1000)))
    assert_shown(page, "s1", atlas, pair_of(atlas.regions))
    page.get_by_role("link", name="See their hubs").click()
    expect(page.get_by_role("heading", name="Hubs", exact=True)).to_be_visible()
    expect(heatmap(page)).to_have_count(0)
    for key in ("hub_brain", "hub_curves"):
        expect(page.locator(f".st-key-{key} .js-plotly-plot .main-svg").first).to_be_visible()
    turn_to(page, "Agreement")
    stop = page.get_by_role("button", name="Stop", exact=True)  # the rest is measured behind the first figures
    expect(page.locator(".st-key-ne_fc_strength .js-plotly-plot .main-svg").first).to_be_visible()
    stop.click()
    expect(page.get_by_role("button", name=re.compile("Measure NE at the other diffusion times"))).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_on_explore_a_region_painted_on_the_cortex_lights_up_and_is_kept(open_app: Open, tmp_path: Path) -> None:
    page, atlas, region = open_subjects(open_app), load_atlas("schaefer100"), 12
    upload(page, table(tmp_path / "s1.csv", atlas.regions, series(100)))
    assert_shown(page, "s1", atlas, pair_of(atlas.regions))
    page.get_by_role("link", name="Explore").first.click()
    tile = f"{SCREEN}?.tiles.get('explore_brain')"
    page.wait_for_function(f"{tile}?.places?.nodes?.size === 100")
    page.get_by_role("combobox", name="Brain drawn as").select_option(label="Inflated cortex")
    page.wait_for_function(f"{tile}.places?.views?.size === 100")
    x, y = page.evaluate(
        f"""region => {{
        const {{plot, places}} = {tile}, {{x, y}} = plot.getBoundingClientRect(), here = places.on(region);
        return [x + here[0], y + here[1]];
    }}""",
        region,
    )
    line = page.locator(".linked-line strong")
    for near in (-3, -2, -1, 0):  # plotly looks under the pointer when it moves
        page.mouse.move(x + near, y)
    expect(line).to_have_text(atlas.regions[region])
    expect(page.locator("[data-tile=explore_matrix] .linked-lit").first).to_be_attached()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function(f"String({SCREEN}.pinned) === '{region}'")
    # The region with the most connections that can be seen: both ends face the eye in the same view.
    n_seen = page.evaluate(
        f"""() => {{
        const {{views}} = {tile}.places, {{ends}} = {SCREEN}.part('connections');
        const shows = (region, scene) => views.get(region)?.some(view => view.scene === scene);
        const seen = (one, other) => views.get(one).filter(({{scene}}) => shows(other, scene));
        const counts = ends.map((others, region) => others.reduce((n, other) => n + seen(region, other).length, 0));
        const most = Math.max(...counts);
        {SCREEN}.collect([counts.indexOf(most)]);
        return most;
    }}"""
    )
    page.mouse.move(640, 5)
    assert n_seen > 0
    expect(page.locator("[data-tile=explore_brain] line.linked-lit")).to_have_count(n_seen)
    page.wait_for_function(f"{SCREEN}.parts.has('explore_brain_gamma')")
    colours = f"String({tile}.plot._fullData.find(one => one.name === 'regions').intensity)"
    before = page.evaluate(colours)
    page.get_by_role("slider", name="γ").focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(f"before => {colours} !== before", arg=before)
    expect(page.locator(".linked-stale, .linked-busy")).to_have_count(0)
