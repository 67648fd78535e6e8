"""A new atlas and a new file format are one object each: on the pages, in a link, the commands and the export."""

import json

import numpy as np
import pandas as pd
import pytest
from new_objects import bundle_of, captions_of, methods_written, numbers_of, run
from page_contents import array, assert_no_error, figure
from subjects_page import cohort_of

from biobgt import brain_graph, load_atlas
from biobgt.base.references import Reference
from biobgt.data.atlas import BUNDLED, BundledAtlas
from biobgt.export.making import make_figure
from biobgt.hubs import hub_table
from biobgt.readers import READERS, Reader, read_cohort
from biobgt.readers.measurement import Reading
from session.view import EXPORT_LIST

REGIONS = ("Left shore", "Right shore", "North hill", "South hill", "Old town", "New town", "Harbour")
CRUSOE = Reference("crusoe1719", "book", {"author": "Crusoe, Robinson", "year": "1719"})


@pytest.fixture
def series(rng):
    """Two subjects' series of seven regions that share signals, shape (2, 60, 7)."""
    shared = rng.standard_normal((2, 60, 2))[:, :, [0, 0, 0, 1, 1, 0, 1]]
    return (shared + 0.7 * rng.standard_normal((2, 60, 7))).round(6)


@pytest.fixture
def atlas(tmp_path):
    """An atlas of seven regions, for as long as a test runs."""
    table = pd.DataFrame({"name": REGIONS, "x": np.linspace(-30, 30, 7), "y": 0.0, "z": 10.0})
    table.assign(parts=["coast", "coast", "hills", "hills", "town", "town", "coast"]).to_csv(
        tmp_path / "island.csv", index=False
    )
    with BUNDLED.temporarily(BundledAtlas("island7", "Island 7", r"island7", (CRUSOE,), tmp_path / "island.csv")):
        yield load_atlas("island7")


@pytest.fixture
def reader():
    """A table of numbers below a line that names the format, for as long as a test runs."""

    def read(path, asked):
        return [Reading(np.loadtxt(path, skiprows=1), columns_are_regions=True)]

    island = Reader(
        key="island", title="an island table", suffixes=(".isl",), read=read, apart=False, begins=(b"ISLAND",)
    )
    with READERS.temporarily(island):
        yield island


@pytest.fixture
def named_files(tmp_path, series):
    """Tables whose headers name the regions."""
    folder = tmp_path / "study"
    folder.mkdir()
    for number, own in enumerate(series, start=1):
        pd.DataFrame(own, columns=REGIONS).to_csv(folder / f"s{number}.csv", index=False)
    return folder


@pytest.fixture
def island_files(tmp_path, series):
    """The same numbers in the new format."""
    folder = tmp_path / "study"
    folder.mkdir()
    for number, own in enumerate(series, start=1):
        np.savetxt(folder / f"s{number}.isl", own, fmt="%.6f", header="ISLAND 1", comments="")
    return folder


def uploaded(open_page, folder, *, atlas=None, link=None):
    """The page of subjects, opened by a link, with the files of a folder."""
    page = open_page("subjects", **(link or {}))
    if atlas is not None:
        page.selectbox(key="atlas0").set_value(atlas)
    page.file_uploader(key="files0").set_value(
        [(path.name, path.read_bytes(), "") for path in sorted(folder.iterdir())]
    )
    page.run()
    assert_no_error(page)
    return page


def exported_curves(page):
    """The Hubs page of an uploaded cohort, the table of hubs there, and the request of its curves."""
    page.switch_page("views/hubs.py").run()
    assert_no_error(page)
    page.button(key="hub_curves_export").click().run()
    (request,) = page.session_state[EXPORT_LIST]
    return page.dataframe[-1].value, request


def test_atlas_is_on_the_hubs_page_in_its_link_and_in_the_export(open_page, atlas, named_files):
    page = uploaded(open_page, named_files)
    assert cohort_of(page).atlas is atlas
    shown, request = exported_curves(page)
    cohort = cohort_of(page)
    own = hub_table(brain_graph(cohort["s1"], atlas))
    assert sorted(shown["region"]) == sorted(REGIONS)
    np.testing.assert_allclose(
        shown.set_index("region").loc[list(REGIONS), "node_entanglement"], own["node_entanglement"], rtol=1e-6
    )
    assert set(figure(page, "hub_curves")["data"][0]["x"]) == set(REGIONS)
    assert page.selectbox(key="curve_order").value == "parts", "the labels of the atlas order its regions"
    with bundle_of([request], cohort) as archive:
        assert make_figure(cohort, request).caption in captions_of(archive)
        assert sorted(numbers_of(archive, "01_hub_curves")["region"]) == sorted(REGIONS)
        assert "the 7 regions of Island 7" in archive.read("methods.md").decode()
        assert "@book{crusoe1719" in archive.read("references.bib").decode()
        provenance = json.loads(archive.read("provenance.json"))
    assert provenance["cohorts"][0]["atlas"] == {"name": "island7", "title": "Island 7", "regions": 7}
    page.select_slider(key="gamma").set_value(2.5).run()
    assert page.query_params["gamma"] in ("2.5", ["2.5"])
    link = {name: value if isinstance(value, str) else value[0] for name, value in page.query_params.items()}
    assert not {"cohort", "subject", "region"} & set(link), "the link does not name a user's own subjects"
    shared = uploaded(open_page, named_files, link=link)
    shared.switch_page("views/hubs.py").run()
    assert_no_error(shared)
    assert not shared.warning
    assert shared.select_slider(key="gamma").value == 2.5
    assert shared.dataframe[-1].value.equals(page.dataframe[-1].value)


def test_atlas_is_in_the_tables_and_figures_of_the_command_line(atlas, named_files, tmp_path, monkeypatch):
    run(monkeypatch, "hubs", named_files, "--out", tmp_path / "hubs", "--workers", 1)
    table = pd.read_csv(tmp_path / "hubs" / "hubs" / "s1.csv")
    assert tuple(table["region"]) == REGIONS
    assert table["parts"].tolist() == list(atlas.labels["parts"])
    own = hub_table(brain_graph(read_cohort(named_files)["s1"], atlas))
    np.testing.assert_allclose(table["node_entanglement"], own["node_entanglement"], rtol=1e-6)
    run(monkeypatch, "figure", "hub_curves", named_files, "--out", tmp_path / "figure", "--set", "order=parts")
    assert set(pd.read_csv(tmp_path / "figure" / "numbers" / "hub_curves.csv")["region"]) == set(REGIONS)
    methods, references = methods_written(tmp_path / "figure", "hub_curves")
    assert "the 7 regions of Island 7" in methods
    assert "@book{crusoe1719" in references


def test_a_file_of_a_new_reader_is_uploaded_and_exported(open_page, reader, island_files, series):
    page = uploaded(open_page, island_files, atlas="unknown")
    cohort = cohort_of(page)
    np.testing.assert_array_equal(cohort["s2"].series, series[1])
    heatmap = figure(page, "connectivity")["data"][0]
    np.testing.assert_allclose(array(heatmap["z"]), np.corrcoef(series[0].T), atol=1e-6)
    shown, request = exported_curves(page)
    assert len(shown) == 7
    with bundle_of([request], cohort) as archive:
        (described,) = json.loads(archive.read("provenance.json"))["cohorts"]
    assert [(one["file"], one["reader"]) for one in described["sources"]] == [("s1.isl", "isl"), ("s2.isl", "isl")]


def test_commands_take_a_file_of_a_new_reader(reader, island_files, tmp_path, monkeypatch):
    run(monkeypatch, "hubs", island_files, "--atlas", "unknown", "--out", tmp_path / "hubs", "--workers", 1)
    assert len(pd.read_csv(tmp_path / "hubs" / "hubs" / "s2.csv")) == 7
    assert pd.read_csv(tmp_path / "hubs" / "sources.csv")["reader"].tolist() == ["isl", "isl"]
    asked = ("connectivity_heatmap", island_files, "--atlas", "unknown", "--subject", "s2")
    run(monkeypatch, "figure", *asked, "--out", tmp_path / "figure")
    assert (tmp_path / "figure" / "numbers" / "connectivity_heatmap.csv").exists()
