"""A new bundled atlas is a row of the register and a table; everything that lists or recognises atlases finds it."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from biobgt import ConnectomeSettings, InputError, load_atlas, read_cohort
from biobgt.base.references import Reference, bibliography
from biobgt.cli.main import app
from biobgt.data.atlas import BUNDLED, BundledAtlas
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.making import make_figure
from biobgt.readers import find_atlas
from biobgt.results.measured import Measured

REGIONS = ("Left shore", "Right shore", "North hill", "South hill", "Old town", "New town", "Harbour")
ISLAND = Reference(
    "crusoe1719",
    "article",
    {
        "author": "Crusoe, Robinson and others",
        "title": "An Atlas of Seven Regions",
        "journal": "Journal of Islands",
        "volume": "1",
        "pages": "7--14",
        "year": "1719",
        "doi": "10.1000/island",
    },
)


@pytest.fixture
def island(tmp_path):
    """An atlas of seven regions with one labelling of its own, for as long as a test runs."""
    table = pd.DataFrame({"name": REGIONS, "x": np.linspace(-30, 30, 7), "y": 0.0, "z": 10.0})
    table.assign(parts=["coast", "coast", "", "", "town", "town", "coast"]).to_csv(tmp_path / "island.csv", index=False)
    row = BundledAtlas("island7", "Island 7", r"island(?:7)?", (ISLAND,), tmp_path / "island.csv")
    with BUNDLED.temporarily(row):
        yield load_atlas("island7")


@pytest.fixture
def data(tmp_path, rng):
    """A folder of two subjects whose tables name the regions in their headers, in another order."""
    folder = tmp_path / "data"
    folder.mkdir()
    for subject in ("s1", "s2"):
        table = pd.DataFrame(rng.standard_normal((40, 7)), columns=REGIONS[::-1])
        table.to_csv(folder / f"{subject}.csv", index=False)
    return folder


def test_it_is_loaded_with_its_places_labels_and_citation(island):
    assert island.regions == REGIONS
    assert island.coordinates.shape == (7, 3)
    assert island.labels == {"parts": ("coast", "coast", None, None, "town", "town", "coast")}
    assert island.citation == "Crusoe et al., Journal of Islands 1:7 (1719), doi:10.1000/island"
    assert find_atlas("ISLAND7") is island
    assert load_atlas("island7") is island, "read once"


def test_the_command_line_lists_it(island):
    shown = CliRunner().invoke(app, ["atlases"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert "island7" in shown.output
    assert "Island 7" in shown.output


def test_the_names_of_regions_tell_it(island, data):
    cohort = read_cohort(data)
    assert cohort.atlas is island
    assert cohort.notes[0] == "Atlas: Island 7, told by the region names."
    header = pd.read_csv(data / "s1.csv")
    np.testing.assert_allclose(cohort["s1"].series, header[list(REGIONS)])


def test_the_name_of_a_file_tells_it(island, tmp_path, rng):
    np.save(tmp_path / "sub-1_island7.npy", rng.standard_normal((40, 7)))
    assert read_cohort(tmp_path / "sub-1_island7.npy").atlas is island


def test_its_work_is_among_the_citations_of_a_figure(island, data):
    measured = Measured(read_cohort(data))
    request = FigureRequest("connectivity_heatmap", CohortRef("data"), "s1", ConnectomeSettings())
    made = make_figure(measured.cohort, request)
    assert ISLAND in made.citations
    assert "the 7 regions of Island 7" in made.methods[0]
    assert "An Atlas of Seven Regions" in bibliography(made.citations)


def test_nothing_is_left_of_it_afterwards(tmp_path):
    with pytest.raises(InputError, match=r"There is no bundled atlas 'island7'\. Choose one of: cc200, aal90"):
        load_atlas("island7")
