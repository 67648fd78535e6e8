"""A painted cortex stands beside the interactive brain and the glass brain where the atlas has surface labels."""

import numpy as np
from page_contents import assert_no_error, captions, figure

from biobgt import load_atlas

ATLAS = load_atlas("schaefer100")
KINDS = ["Interactive 3-D", "Glass brain", "Inflated cortex", "Pial cortex"]


def named_file(subject: str, seed: int) -> tuple[str, bytes, str]:
    """A series whose columns are called as the parcels of Schaefer's atlas."""
    series = np.random.default_rng(seed).standard_normal((60, ATLAS.n_regions)).cumsum(axis=0)
    rows = [",".join(f"{value:.4f}" for value in row) for row in series]
    return f"{subject}.csv", "\n".join([",".join(ATLAS.regions), *rows]).encode(), "text/csv"


def bring(open_page):
    page = open_page("subjects")
    table = b"subject,group\n" + b"".join(f"s{i},{'NC' if i < 2 else 'ASD'}\n".encode() for i in range(4))
    page.file_uploader(key="phenotypes0").set_value(("p.csv", table, "text/csv"))
    page.file_uploader(key="files0").set_value([named_file(f"s{i}", i) for i in range(4)])
    page.run()
    assert_no_error(page)
    return page


def assert_painted(shown: dict) -> None:
    meshes = [trace for trace in shown["data"] if trace["type"] == "mesh3d"]
    assert {trace.get("scene", "scene") for trace in meshes} == {"scene", "scene2", "scene3", "scene4"}
    named = {text.split("</b>")[0].removeprefix("<b>") for trace in meshes for text in trace["text"]}
    assert set(ATLAS.regions) <= named


def test_hubs_and_modules_are_painted_on_request(open_page):
    page = bring(open_page)
    page.switch_page("views/hubs.py").run()
    choice = page.selectbox(key="brain_shown")
    assert list(choice.options) == [*KINDS, "Five measures"]
    choice.select("inflated").run()
    assert_no_error(page)
    assert_painted(figure(page, "hub_brain"))
    assert "100 regions painted on the inflated fsaverage5 cortex, seen from the side" in captions(page)
    page.switch_page("views/modules.py").run()
    choice = page.segmented_control(key="brain_kind")
    assert list(choice.options) == KINDS
    choice.set_value("pial").run()
    assert_no_error(page)
    assert_painted(figure(page, "brain"))


def test_an_atlas_without_surface_labels_is_not_offered_a_cortex(open_page):
    page = open_page("hubs", cohort="ad")
    choice = page.segmented_control(key="brain_shown")
    assert list(choice.options) == [*KINDS[:2], "Five measures"]
