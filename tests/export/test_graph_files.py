"""Brain graphs for other programs, read back: by networkx, by our own readers, and by hand."""

import io
import json

import networkx
import nibabel
import numpy as np
import pandas as pd
import pytest

from biobgt import Cohort, InputError, Subject, load_atlas, read_cohort
from biobgt.data.atlas import BUNDLED, numbered_atlas
from biobgt.data.graph import BrainGraph
from biobgt.export.graph_files import GRAPH_FORMATS, node_table
from biobgt.hubs.measures import HubOptions
from biobgt.modules.measures import NamedModuleOptions
from biobgt.readers import read_atlas
from biobgt.results.measured import Measured


@pytest.fixture(params=["schaefer100_17", "4s156"])
def graph(request, rng):
    atlas = load_atlas(request.param)
    weights = np.round(np.corrcoef(rng.standard_normal((atlas.n_regions, 300))), 6)
    weights[np.abs(weights) < 0.1] = 0
    np.fill_diagonal(weights, 0)
    return BrainGraph(weights, atlas, subject="sub-01")


@pytest.mark.parametrize("key", ["csv", "bids"])
def test_tables_are_read_back_by_our_own_reader(tmp_path, graph, key):
    for ending, contents in GRAPH_FORMATS.named(key).write(graph, None).items():
        (tmp_path / f"sub-01{ending}").write_bytes(contents)
    cohort = read_cohort(tmp_path)
    assert cohort.atlas is graph.atlas
    np.testing.assert_allclose(cohort["sub-01"].connectivity, graph.weights, atol=1e-7)


def test_bids_says_what_the_matrix_is(graph):
    files = GRAPH_FORMATS.named("bids").write(graph, None)
    (name,) = [ending for ending in files if ending.endswith(".json")]
    about = json.loads(files[name])
    assert (about["Weighted"], about["Directed"], about["NonNegative"]) == (True, False, False)
    assert any("10.1093/cercor/bhx179" in reference for reference in about["References"])


def graphml(graph, nodes):
    file = io.BytesIO(GRAPH_FORMATS["graphml"].write(graph, nodes)[".graphml"])
    return networkx.read_graphml(file, node_type=int)


def test_graphml_is_read_back_by_networkx(graph):
    read = graphml(graph, None)
    np.testing.assert_allclose(networkx.to_numpy_array(read, nodelist=range(graph.n_regions)), graph.weights)
    assert tuple(read.nodes[i]["name"] for i in range(graph.n_regions)) == graph.atlas.regions
    assert read.nodes[0]["yeo7"] == graph.atlas.labels["yeo7"][0]
    assert [read.nodes[0][axis] for axis in "xyz"] == graph.atlas.coordinates[0].tolist()
    placed = [i for i in read.nodes if "x" in read.nodes[i]]
    assert placed == np.flatnonzero(graph.atlas.placed).tolist(), "no place is made up"


def test_brainnet_viewer_leaves_out_what_has_no_place(tmp_path, graph):
    files = GRAPH_FORMATS.named("brainnet").write(graph, None)
    (tmp_path / "a.node").write_bytes(files[".node"])
    kept = graph.atlas.placed
    atlas = read_atlas(tmp_path / "a.node")
    assert atlas.regions == tuple(np.array(graph.atlas.regions)[kept])
    np.testing.assert_allclose(atlas.coordinates, graph.atlas.coordinates[kept])
    edges = np.loadtxt(io.BytesIO(files[".edge"]))
    np.testing.assert_allclose(edges, graph.weights[np.ix_(kept, kept)], atol=1e-7)


def test_formats_that_do_not_fit_are_sentences(rng):
    graph = BrainGraph(np.ones((3, 3)) - np.eye(3), numbered_atlas(3), subject="s")
    for key, nodes, word in (
        ("brainnet", None, "BrainNet"),
        ("pscalar", None, "none were given"),
        ("pscalar", pd.DataFrame({"hub": [1.0, 2, 3]}), "no surface labels"),
        ("gexf", None, "graphml"),
    ):
        with pytest.raises(InputError, match=word):
            GRAPH_FORMATS.named(key).write(graph, nodes)
    assert graphml(graph, None).number_of_edges() == 3


@pytest.fixture(scope="module")
def measured():
    """One subject on Schaefer's atlas, of whom two regions are missing."""
    atlas = load_atlas("schaefer100")
    series = np.random.default_rng(0).normal(size=(150, 100)).cumsum(axis=0)
    series[:, [4, 70]] = 0
    cohort = Cohort("c", (Subject("s1", series=series),), atlas)
    return Measured(cohort).of("s1")


@pytest.fixture(scope="module")
def nodes(measured):
    return node_table(measured, HubOptions(), NamedModuleOptions())


def test_what_is_known_of_regions_is_their_modules_and_hubs(measured, nodes):
    labels = measured.modules(NamedModuleOptions()).partition.labels
    assert nodes["module"].tolist() == labels.tolist()
    assert nodes.index.tolist() == list(measured.atlas.regions)
    table = measured.hub_table(HubOptions())
    kept = [i for i in range(100) if i not in (4, 70)]
    np.testing.assert_allclose(nodes["node_entanglement"].iloc[kept], table["node_entanglement"].iloc[kept])
    assert nodes["node_entanglement"].isna().sum() == 2


def test_modules_and_hubs_stand_in_every_format(tmp_path, measured, nodes):
    graph = measured.graph()
    files = GRAPH_FORMATS.named("csv").write(graph, nodes)
    read = pd.read_csv(io.BytesIO(files["_nodes.csv"]), index_col="region")
    np.testing.assert_allclose(read["fc_strength"], nodes["fc_strength"], rtol=1e-6)
    bids = GRAPH_FORMATS.named("bids").write(graph, nodes)
    (name,) = [ending for ending in bids if ending.endswith("_nodes.tsv")]
    assert name == "_seg-schaefer100_nodes.tsv"
    assert pd.read_csv(io.BytesIO(bids[name]), sep="\t")["module"].tolist() == nodes["module"].tolist()
    drawn = graphml(graph, nodes)
    assert [drawn.nodes[i]["module"] for i in range(100)] == nodes["module"].tolist()
    assert "node_entanglement" not in drawn.nodes[4], "what is missing is no number"
    assert drawn.nodes[5]["node_entanglement"] == pytest.approx(nodes["node_entanglement"].iloc[5])
    viewer = GRAPH_FORMATS.named("brainnet").write(graph, nodes)[".node"].decode().splitlines()
    assert [int(line.split("\t")[3]) for line in viewer] == nodes["module"].tolist()


def test_parcel_scalars_are_read_back_by_nibabel(tmp_path, measured, nodes):
    path = tmp_path / "s1.pscalar.nii"
    path.write_bytes(GRAPH_FORMATS.named("pscalar").write(measured.graph(), nodes)[".pscalar.nii"])
    image = nibabel.load(path)
    scalars, parcels = image.header.get_axis(0), image.header.get_axis(1)
    assert scalars.name.tolist() == ["module", "node_entanglement", "node_efficiency", "fc_strength"]
    assert parcels.name.tolist() == list(measured.atlas.regions)
    np.testing.assert_allclose(image.get_fdata()[1], nodes["node_entanglement"], rtol=1e-5)
    assert image.nifti_header.get_intent()[0] == "ConnParcelScalr"
    labels = BUNDLED["schaefer100"].surface_labels
    left, right = "CIFTI_STRUCTURE_CORTEX_LEFT", "CIFTI_STRUCTURE_CORTEX_RIGHT"
    np.testing.assert_array_equal(parcels.vertices[0][left], np.flatnonzero(labels[:10242] == 1))
    np.testing.assert_array_equal(parcels.vertices[99][right], np.flatnonzero(labels[10242:] == 100))
    assert parcels.nvertices == {left: 10242, right: 10242}


def test_parcel_scalars_leave_out_what_is_not_on_the_cortex(tmp_path):
    atlas = load_atlas("desikan82")
    graph = BrainGraph(np.ones((82, 82)) - np.eye(82), atlas, subject="s")
    nodes = pd.DataFrame({"hub": np.arange(82.0)}, index=atlas.regions)
    path = tmp_path / "s.pscalar.nii"
    path.write_bytes(GRAPH_FORMATS.named("pscalar").write(graph, nodes)[".pscalar.nii"])
    image = nibabel.load(path)
    names = image.header.get_axis(1).name.tolist()
    assert len(names) == 68
    assert image.get_fdata()[0].tolist() == [atlas.regions.index(name) for name in names]


def test_formats_are_offered_where_they_fit():
    offered = {key for key, about in GRAPH_FORMATS.items() if about.fits(numbered_atlas(5))}
    assert offered == {"csv", "bids", "graphml"}
    assert GRAPH_FORMATS["pscalar"].fits(load_atlas("glasser360"))
    assert not GRAPH_FORMATS["pscalar"].fits(load_atlas("cc200"))
