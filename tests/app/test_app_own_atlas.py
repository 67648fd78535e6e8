"""The atlas of a user's own cohort is chosen or uploaded on the page of subjects."""

import numpy as np
from page_contents import array, as_shown, assert_no_error, figure
from subjects_page import cohort_of, press

from biobgt import functional_connectivity, load_atlas
from biobgt.data.atlas import BUNDLED, BundledAtlas


def choose_atlas(page, name: str) -> None:
    next(box for box in page.selectbox if box.label.startswith("The 6 regions are")).set_value(name).run()


def atlas_table(names: list[str]) -> tuple[str, bytes, str]:
    rows = [f"{10 * i},{i},{-i},{name},net{i % 2}" for i, name in enumerate(names)]
    return "lab.csv", "\n".join(["x,y,z,label,network", *rows]).encode(), "text/csv"


def test_own_atlas_is_uploaded_later_and_its_order_is_followed(own, series) -> None:
    names = [f"area{region}" for region in (5, 0, 1, 2, 3, 4)]
    choose_atlas(own, "own table")
    press(own, "Change the atlas")
    assert "Add the atlas table first" in own.info[0].value
    uploader = next(item for item in own.file_uploader if item.key.startswith("own_atlas_table"))
    uploader.set_value(atlas_table(names))
    press(own, "Change the atlas")
    assert_no_error(own)
    assert cohort_of(own).atlas.title == "lab"
    assert cohort_of(own).atlas.labelling("network")[:2] == ("net0", "net1")
    assert own.selectbox(key="region_order").value == "network"
    own.selectbox(key="region_order").select("atlas").run()
    heatmap = figure(own, "connectivity")["data"][0]
    assert list(heatmap["y"]) == names
    order = [5, 0, 1, 2, 3, 4]
    np.testing.assert_allclose(array(heatmap["z"]), functional_connectivity(series[0][:, order]), atol=1e-6)
    choose_atlas(own, "numbered")
    press(own, "Change the atlas")
    assert cohort_of(own).atlas.regions[0] == "Region 1"


def test_atlas_of_another_size_is_a_sentence(own) -> None:
    choose_atlas(own, "own table")
    next(item for item in own.file_uploader if item.key.startswith("own_atlas_table")).set_value(
        atlas_table([f"r{i}" for i in range(5)])
    )
    press(own, "Change the atlas")
    assert as_shown(own.error[0].value).startswith("The subjects have 6 regions, and lab has 5.")
    assert cohort_of(own).atlas.name == "unknown6"


def test_bundled_atlas_of_the_same_size_is_offered(open_page, rng) -> None:
    page = open_page("subjects")
    names = ",".join(f"place{i}" for i in range(200))
    rows = [",".join(f"{value:.4f}" for value in row) for row in rng.standard_normal((30, 200))]
    page.file_uploader(key="files0").set_value([("one.csv", "\n".join([names, *rows]).encode(), "text/csv")])
    page.run()
    assert cohort_of(page).atlas.name == "unknown200"
    box = next(box for box in page.selectbox if box.label.startswith("The 200 regions are"))
    assert list(box.options)[1:] == [
        "Craddock CC200",
        "Schaefer 200, 7-network order",
        "Schaefer 200, 17-network order",
        "My own atlas table",
        "Another atlas, or not known: regions are numbered",
    ]
    box.set_value("cc200").run()
    press(page, "Change the atlas")
    assert cohort_of(page).atlas is load_atlas("cc200")


def test_the_register_of_atlases_is_what_the_page_offers(open_page, tmp_path):
    """A new bundled atlas is among the choices, and it is a choice by its title."""
    (tmp_path / "island.csv").write_text("name,x,y,z\nshore,-30,0,0\nhill,0,0,40\nharbour,30,0,0\n")
    row = BundledAtlas("island3", "Island 3", "island3", ("power2011",), tmp_path / "island.csv")
    with BUNDLED.temporarily(row):
        page = open_page("subjects")
        assert_no_error(page)
        (choice,) = [box for box in page.selectbox if box.label == "Atlas"]
        assert "Island 3, 3 regions" in choice.options


def test_an_atlas_that_connectivity_speaks_against_is_a_warning(open_page, rng) -> None:
    """Noise has no mirrored regions: whatever the user calls it, the page warns."""
    page = open_page("subjects")
    rows = [",".join(f"{value:.4f}" for value in row) for row in rng.standard_normal((30, 200))]
    page.selectbox(key="atlas0").set_value("cc200")
    page.file_uploader(key="files0").set_value([("one.csv", "\n".join(rows).encode(), "text/csv")])
    page.run()
    assert any(as_shown(warning.value).startswith("Check the atlas:") for warning in page.warning)


def test_networks_are_those_of_the_atlas_unless_others_were_chosen(open_page, rng) -> None:
    """The demo starts with Dosenbach's networks; subjects on Schaefer's parcels start with Yeo's."""
    page = open_page("modules")
    assert page.selectbox(key="labelling").value == "dosenbach"
    page.switch_page("views/hubs.py").run()
    page.selectbox(key="curve_order").select("by NE").run()
    page.switch_page("views/subjects/page.py").run()
    rows = [",".join(f"{value:.4f}" for value in row) for row in rng.standard_normal((30, 100))]
    table = "\n".join([",".join(load_atlas("schaefer100").regions), *rows]).encode()
    page.file_uploader(key="files0").set_value([("one.csv", table, "text/csv")])
    page.run()
    assert cohort_of(page).atlas.name == "schaefer100"
    assert page.selectbox(key="region_order").value == "yeo7"
    page.switch_page("views/modules.py").run()
    assert page.selectbox(key="labelling").value == "yeo7"
    page.switch_page("views/hubs.py").run()
    assert page.selectbox(key="curve_order").value == "by NE"
    assert_no_error(page)
