"""Atlases: the bundled ones, their register, those of users, and what connectivity says of them."""

from dataclasses import replace
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
import pytest
from nilearn.datasets import load_fsaverage
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from typer.testing import CliRunner

from biobgt import ConnectomeSettings, ReadOptions, read_cohort
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.files import asset
from biobgt.base.references import REFERENCES, Reference, cited
from biobgt.cli.main import app
from biobgt.data.atlas import (
    BUNDLED,
    LABEL_RADIUS_MM,
    LABELLINGS,
    PAPER_MODULES,
    YEO_RADIUS_MM,
    BundledAtlas,
    atlas_of_names,
    load_atlas,
    named_labelling,
    numbered_atlas,
    others_of_size,
    recognise_atlas,
)
from biobgt.data.quality import LEAST_MIRROR, atlas_check
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.bundle import _make_figure
from biobgt.readers import find_atlas, read_atlas
from biobgt.results.measured import Measured


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_atlases_have_names_coordinates_and_labels(name):
    atlas = load_atlas(name)
    assert atlas.n_regions == BUNDLED[name].n_regions
    assert len(set(atlas.regions)) == atlas.n_regions
    assert atlas.coordinates.shape == (atlas.n_regions, 3)
    assert np.nanmax(np.abs(atlas.coordinates)) < 110
    assert atlas.n_regions - atlas.placed.sum() == (56 if name.startswith("4s") else 0)
    assert set(atlas.labelling("paper")) - {None} <= set(PAPER_MODULES)
    whole_brain = {"cc200", "aal116", "aal2_120", "dosenbach160", "power264"}  # others have no cerebellum
    assert len(set(atlas.labelling("dosenbach")) - {None}) == (6 if name in whole_brain else 5)
    assert len(set(atlas.labelling("yeo7")) - {None}) == (6 if name == "dosenbach160" else 7)  # no limbic seed
    assert set(atlas.labels) <= set(LABELLINGS)
    assert all(cited in atlas.citation for cited in (REFERENCES[key].fields["doi"] for key in atlas.cites))


@pytest.mark.parametrize("key", LABELLINGS)
def test_every_labelling_is_cited_and_stands_in_a_table(key):
    named = named_labelling(key)
    assert named.startswith(f"{LABELLINGS[key]} [@")
    assert "@" not in cited(named)
    assert any(key in about.atlas.labels for about in BUNDLED.values())
    assert named_labelling("lobe") == "lobe", "a user's own"


def test_dosenbach_seeds_have_their_own_labels():
    atlas = load_atlas("dosenbach160")
    labels = dict(zip(atlas.regions, atlas.labelling("paper"), strict=True))
    assert (labels["occipital 146"], labels["dACC 27"], labels["vmPFC 1"]) == ("Vis", "EC", "CC")
    assert labels["dFC 35"] is None  # the paper writes 'dFC 3', which does not exist, and nothing is guessed
    assert atlas.n_unlabelled("paper") == 60
    assert atlas.n_unlabelled("dosenbach") == 0


def is_cerebellar(names):
    words = ("Cerebelum", "Vermis", "cerebellum", "CB", "Crus")
    return np.array([any(word in name for word in words) for name in names])


@pytest.mark.parametrize("name", ["cc200", "aal90", "aal116", "aal2_120", "harvard_oxford112", "dosenbach160"])
def test_a_region_has_the_label_of_the_nearest_seed_in_its_part_of_the_brain(name):
    """Cerebellum or cerebrum; regions far from all those seeds have none."""
    atlas, seeds = load_atlas(name), load_atlas("dosenbach160")
    below = is_cerebellar(atlas.regions)
    assert below.sum() == {"cc200": 17, "aal116": 26, "aal2_120": 26, "dosenbach160": 18}.get(name, 0)
    distances = np.linalg.norm(atlas.coordinates[:, None] - seeds.coordinates[None], axis=2)
    distances[below[:, None] != is_cerebellar(seeds.regions)] = np.inf
    near, labels = distances.argmin(axis=1), seeds.labelling("dosenbach")
    expected = [labels[j] if distances[i, j] <= LABEL_RADIUS_MM else None for i, j in enumerate(near)]
    assert list(atlas.labelling("dosenbach")) == expected
    given = set(np.array(atlas.labelling("dosenbach"))[below]) | set(np.array(atlas.labelling("yeo7"))[below])
    assert given <= {"cerebellum", None}, "no cortical network in the cerebellum"
    assert "cerebellum" not in np.array(atlas.labelling("dosenbach"))[~below]


def test_regions_over_the_cerebellum_by_hand():
    labels = {
        name: dict(zip(load_atlas(name).regions, load_atlas(name).labelling("dosenbach"), strict=True))
        for name in ("cc200", "aal90", "power264")
    }
    assert (labels["aal90"]["Lingual_L"], labels["aal90"]["Fusiform_L"]) == (None, "default")
    assert labels["cc200"]["Fusiform_L (189)"] == "occipital"
    assert labels["cc200"]["Cerebelum_3_R (190)"] is None  # its nearest seed is in the fusiform gyrus
    power = {name for name, label in labels["power264"].items() if label == "cerebellum"}
    assert power == {f"Power {number}" for number in (127, 183, 184, 185, 243, 244, 245, 246)}
    atlas = load_atlas("power264")
    assert {atlas.labelling("yeo7")[atlas.regions.index(name)] for name in power} == {None}


def test_cerebellar_regions_of_cc200_go_with_one_another_in_real_subjects(shared_data):
    """Every sixth subject of ABIDE; only regions 20 mm away or farther count."""
    atlas, below = load_atlas("cc200"), is_cerebellar(load_atlas("cc200").regions)
    with np.load(shared_data / "abide_cc200.npz") as stored:
        recordings = np.split(stored["series"], np.cumsum(stored["n_timepoints"])[:-1])[::6]
    whole = [one.astype(float) for one in recordings if (one.std(axis=0) > 0).all()]
    mean = np.mean([np.corrcoef(one, rowvar=False) for one in whole], axis=0)
    far = np.linalg.norm(atlas.coordinates[:, None] - atlas.coordinates[None], axis=2) > 20
    with_others = np.array([mean[i, below & far[i]].mean() for i in range(200)])
    assert with_others[below].min() > with_others[~below].max()


def test_hemispheres_follow_the_names_of_aal():
    atlas = load_atlas("aal116")
    for region, side in zip(atlas.regions, atlas.hemispheres, strict=True):
        expected = {"L": "L", "R": "R"}.get(region.rsplit("_", 1)[-1], "M")
        assert side == expected, region
    assert load_atlas("aal90").regions == atlas.regions[:90]


@pytest.mark.parametrize("name", BUNDLED)
def test_number_of_regions_recognises_an_atlas_only_where_no_other_has_it(name):
    n_regions = BUNDLED[name].n_regions
    others = others_of_size(n_regions)
    same = tuple(key for key, about in BUNDLED.items() if about.n_regions == n_regions)
    if not others and len(same) == 1:
        assert recognise_atlas(n_regions).name == name
        return
    with pytest.raises(ChoiceNeeded) as caught:
        recognise_atlas(n_regions)
    assert caught.value.option == "atlas"
    assert caught.value.choices == (*same, "unknown")
    assert all(other in caught.value.question for other in others)
    assert "no model applies" in caught.value.consequences["unknown"]


def test_shared_numbers_of_regions():
    assert "Kong" in others_of_size(200)
    assert "Eickhoff-Zilles, as in ABIDE" in others_of_size(116)
    assert "Shirer (Stanford functional regions)" in others_of_size(90)
    assert others_of_size(160) == others_of_size(264) == ()
    assert recognise_atlas(352) is None  # Gordon's with subcortex, and not bundled
    assert recognise_atlas(156).name == "4s156"


@pytest.mark.parametrize("name", BUNDLED)
def test_names_of_all_regions_recognise_an_atlas_in_any_order(name):
    regions = load_atlas(name).regions
    assert atlas_of_names(regions[::-1]).name == name.removesuffix("_hcp"), "two orders of Glasser's areas"
    assert atlas_of_names([*regions[1:], "elsewhere"]) is None


TWO_PLACES = [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("name", "text", "regions", "coordinates"),
    [
        ("a.tsv", "x\ty\tz\tlabel\n1\t2\t3\tA\n4\t5\t6\tB\n", ("A", "B"), TWO_PLACES),
        ("a.node", "# BrainNet Viewer\n1 2 3 1 4 A.L\n4 5 6 2 4 -\n", ("A.L", "Region 2"), TWO_PLACES),
        # Trailing separators and decimal commas shift nothing.
        ("a.csv", "x,y,z,label\n1,2,3,101,\n4,5,6,102,\n", ("101", "102"), TWO_PLACES),
        ("a.csv", "x;y;z;label\n1,5;2;3;A\n4;5;6;B\n", ("A", "B"), [[1.5, 2, 3], [4, 5, 6]]),
    ],
)
def test_own_tables(tmp_path, name, text, regions, coordinates):
    (tmp_path / name).write_text(text)
    atlas = find_atlas(str(tmp_path / name))
    assert atlas.regions == regions
    assert atlas.coordinates.tolist() == coordinates


def test_own_table_with_labels(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("Label,X,Y,Z,network\nInsula,-30,10,2,salience\nInsula,30,10,2,salience\nCuneus,1,-80,20,\n")
    atlas = read_atlas(path)
    assert atlas.regions == ("Insula (1)", "Insula (2)", "Cuneus")
    assert atlas.hemispheres == ("L", "R", "M")
    assert atlas.labelling("network") == ("salience", "salience", None)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", "x,y,label\n1,2,A\n", "no column z"),
        ("a.csv", "x,y,z,label\n1,2,abc,A\n1,2,3,B\n", "row 1 has a coordinate that is not a number"),
        ("a.csv", "x,y,z,label\n1,2,900,A\n1,2,3,B\n", "MNI coordinates"),
        ("a.csv", "x,y,z,label\n1,2,3,A\n", "at least 2"),
        ("a.csv", "", "empty"),
        ("a.csv", "x,y,z,label\n1,2,3,A,B,C\n1,2,3,A,B,C,D\n", "row 2 has 6 cells"),
        ("a.node", "# only a comment\n", "a .node file has x, y, z"),
        ("a.node", "1 2\n3 4\n", "2 columns"),
    ],
)
def test_bad_atlas_tables_get_a_sentence(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_atlas(tmp_path / name)


def test_unknown_names_get_a_sentence():
    with pytest.raises(InputError, match="Bundled: cc200"):
        find_atlas("cc201")
    with pytest.raises(InputError, match="no labelling 'yeo'"):
        load_atlas("cc200").labelling("yeo")
    with pytest.raises(InputError, match="There is no atlas file"):
        read_atlas("nowhere.csv")


def test_numbered_atlas_has_no_coordinates():
    atlas = numbered_atlas(3)
    assert atlas.regions == ("Region 1", "Region 2", "Region 3")
    assert atlas.coordinates is None
    assert atlas.hemispheres is None
    assert "x" not in atlas.table()


def test_a_fingerprint_is_of_names_order_and_coordinates_alone():
    atlas = load_atlas("aal90")
    same = replace(atlas, name="mine", title="Mine", labels={}, citation="", coordinates=atlas.coordinates + 1e-4)
    assert same.fingerprint == atlas.fingerprint
    zero = replace(atlas, coordinates=np.zeros((90, 3)))
    assert replace(zero, coordinates=np.full((90, 3), -0.0)).fingerprint == zero.fingerprint
    moved, order = atlas.coordinates.copy(), np.roll(np.arange(90), 1)
    moved[4, 1] += 0.1
    others = [
        replace(atlas, regions=("X", *atlas.regions[1:])),
        replace(atlas, regions=tuple(atlas.regions[i] for i in order), coordinates=atlas.coordinates[order]),
        replace(atlas, coordinates=moved),
        replace(atlas, coordinates=None),
        load_atlas("aal116"),
    ]
    assert len({atlas.fingerprint, *(other.fingerprint for other in others)}) == 6
    said = [other.differs_from(atlas) for other in others]
    assert said[0] == "its regions have other names: region 1 is 'X' instead of 'Precentral_L'"
    assert said[1] == "its regions are in another order: region 1 is 'Temporal_Inf_R' instead of 'Precentral_L'"
    assert "region 5, 'Frontal_Sup_Orb_L', lies at" in said[2]
    assert said[3] == "its regions have no coordinates"
    assert said[4] == "it has 116 regions instead of 90"
    assert len({load_atlas(name).fingerprint for name in BUNDLED}) == len(BUNDLED)


REGIONS = ("Left shore", "Right shore", "North hill", "South hill", "Old town", "New town", "Harbour")
WHERE = {"journal": "Journal of Islands", "volume": "1", "pages": "7--14", "year": "1719", "doi": "10.1000/island"}
WHAT = {"author": "Crusoe, Robinson and others", "title": "An Atlas of Seven Regions"}
ISLAND = Reference("crusoe1719", "article", WHAT | WHERE)


@pytest.fixture
def island(tmp_path):
    """An atlas of seven regions with one labelling of its own, for as long as a test runs."""
    table = pd.DataFrame({"name": REGIONS, "x": np.linspace(-30, 30, 7), "y": 0.0, "z": 10.0})
    table.assign(parts=["coast", "coast", "", "", "town", "town", "coast"]).to_csv(tmp_path / "island.csv", index=False)
    row = BundledAtlas("island7", "Island 7", r"island(?:7)?", ("crusoe1719",), tmp_path / "island.csv")
    with REFERENCES.temporarily(ISLAND), BUNDLED.temporarily(row):
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
    shown = CliRunner().invoke(app, ["atlases"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert "island7" in shown.output
    assert "Island 7" in shown.output


def test_the_names_of_regions_and_of_a_file_tell_it(island, data, tmp_path, rng):
    cohort = read_cohort(data)
    assert cohort.atlas is island
    assert cohort.notes[0] == "Atlas: Island 7, told by the region names."
    header = pd.read_csv(data / "s1.csv")
    np.testing.assert_allclose(cohort["s1"].series, header[list(REGIONS)])
    np.save(tmp_path / "sub-1_island7.npy", rng.standard_normal((40, 7)))
    assert read_cohort(tmp_path / "sub-1_island7.npy").atlas is island


def test_its_work_is_among_the_citations_of_a_figure(island, data):
    measured = Measured(read_cohort(data))
    request = FigureRequest("connectivity_heatmap", CohortRef("data"), "s1", ConnectomeSettings())
    made = _make_figure(measured.cohort, request)
    assert "the 7 regions of Island 7 [@crusoe1719]" in made.methods[0]


SCHAEFER = range(100, 1001, 100)
WITH_SURFACE = [key for key, about in BUNDLED.items() if about.surface]
WITH_IMAGE = [key for key, about in BUNDLED.items() if about.image]


@pytest.mark.parametrize("size", SCHAEFER)
def test_the_two_orders_of_schaefer_are_the_same_parcels(size):
    seven, seventeen = load_atlas(f"schaefer{size}"), load_atlas(f"schaefer{size}_17")
    places = {tuple(place): i for i, place in enumerate(seven.coordinates)}
    order = [places[tuple(place)] for place in seventeen.coordinates]
    if len(set(order)) == size:  # two parcels may share a rounded centre
        assert [seven.labels["yeo17"][i] for i in order] == list(seventeen.labels["yeo17"])
    # Networks run one after another, in each hemisphere, in the order they name and only there.
    runs, other = (sum(map(str.__ne__, a.labels["yeo17"], a.labels["yeo17"][1:])) for a in (seventeen, seven))
    assert runs < 2 * 17 < other
    assert all(region.startswith("LH_") for region in seventeen.regions[: size // 2])
    # Regions are drawn and named by the networks of the order, unless others are chosen.
    assert [next(iter(atlas.labels)) for atlas in (seven, seventeen)] == ["yeo7", "yeo17"]


@pytest.mark.parametrize(
    "key", ["schaefer200", "schaefer200_17", "glasser360", "desikan68", "desikan82", "destrieux148"]
)
def test_other_spellings_of_names_are_the_same_atlas(key):
    atlas = load_atlas(key)
    spelt = {name: other for other, name in atlas.also.items()}
    assert set(spelt) == set(atlas.regions)
    found = atlas_of_names([spelt[name] for name in atlas.regions])
    assert found is atlas
    assert found.own_names(spelt[name] for name in atlas.regions) == atlas.regions


def test_spellings_by_hand():
    assert load_atlas("glasser360").own_names(["R_V1_ROI", "Left_p9-46v", "L_H_ROI"]) == ("V1_R", "p9-46v_L", "H_L")
    assert load_atlas("schaefer400_17").own_names(["17Networks_LH_VisCent_ExStr_1"]) == ("LH_VisCent_ExStr_1",)
    assert load_atlas("desikan82").own_names(["Left-Thalamus-Proper", "ctx-rh-insula"]) == ("lTHAL", "rINS")


def test_hcp_puts_the_right_hemisphere_first():
    ours, hcp = load_atlas("glasser360"), load_atlas("glasser360_hcp")
    assert hcp.regions == ours.regions[180:] + ours.regions[:180]
    assert set(hcp.hemispheres[:180]) <= {"R", "M"}
    np.testing.assert_array_equal(hcp.coordinates[:180], ours.coordinates[180:])


def test_4s_is_schaefer_and_56_regions_without_places():
    atlas, cortex = load_atlas("4s456"), load_atlas("schaefer400")
    assert atlas.regions[:400] == cortex.regions
    assert atlas.regions[400:402] == ("LH-Pu", "LH-Ca")
    assert atlas.regions[-1] == "Cerebellar_Region10"
    assert atlas.labels["yeo7"][:400] == cortex.labels["yeo7"]
    assert set(atlas.labels["yeo7"][400:]) == {None}
    assert atlas.hemispheres[400:] == (None,) * 56
    assert atlas.table().loc[401, "x"] is np.nan or np.isnan(atlas.table().loc[401, "x"])


def test_networks_by_position_stop_at_the_stated_distance():
    image = nibabel.load(asset("atlases", "images", "schaefer1000.nii.gz"))
    voxels = np.argwhere(np.asarray(image.dataobj) > 0)
    cortex = nibabel.affines.apply_affine(image.affine, voxels)
    atlas = load_atlas("cc200")
    near, _ = cKDTree(cortex).query(atlas.coordinates)
    below = np.array([name.startswith(("Cerebelum", "Vermis", "Hippocampus")) for name in atlas.regions])
    assert [label is not None for label in atlas.labels["yeo7"]] == ((near <= YEO_RADIUS_MM) & ~below).tolist()


def test_networks_by_position_are_those_that_authors_gave():
    """Schaefer's own labels, and Brainnetome's, against the parcel at a region's centre."""
    fine, coarse = load_atlas("schaefer1000"), load_atlas("schaefer100")
    nearest = cdist(coarse.coordinates, fine.coordinates).argmin(axis=1)
    same = [coarse.labels["yeo7"][i] == fine.labels["yeo7"][j] for i, j in enumerate(nearest)]
    assert np.mean(same) > 0.8
    other = load_atlas("harvard_oxford112")
    nuclei = [i for i, name in enumerate(other.regions) if name.startswith(("Thal", "Put", "Hip", "Amy"))]
    assert {other.labels["yeo7"][i] for i in nuclei} == {None}, "nuclei are in no cortical network"


def test_17_networks_are_parts_of_the_7():
    """Brainnetome's source names the 17 networks in a shuffled order; here a visual region is in a visual network."""
    atlas = load_atlas("brainnetome246")
    pairs = pd.DataFrame({"seven": atlas.labels["yeo7"], "seventeen": atlas.labels["yeo17"]}).dropna()
    visual = pairs[pairs["seven"] == "Visual"]["seventeen"].str.startswith("Visual")
    assert visual.mean() > 0.6


@pytest.mark.parametrize("key", WITH_SURFACE)
def test_surface_labels_lie_where_the_table_says(key):
    """The mean vertex of a region on the pial surface is nearer to its own centre than to nearly any other's."""
    mesh = load_fsaverage("fsaverage5")["pial"].parts
    vertices = np.vstack([mesh["left"].coordinates, mesh["right"].coordinates])
    atlas, labels = load_atlas(key), BUNDLED[key].surface_labels
    assert labels.shape == (20484,)
    numbers = np.unique(labels[labels > 0])
    assert numbers.max() <= atlas.n_regions
    centres = np.array([vertices[labels == number].mean(axis=0) for number in numbers])
    own = np.linalg.norm(centres - atlas.coordinates[numbers - 1], axis=1)
    assert np.median(own) < 10
    same_side = np.sign(centres[:, 0]) == np.sign(atlas.coordinates[numbers - 1, 0])
    assert same_side.all(), "no region is painted on the other hemisphere"
    cortical = np.flatnonzero(atlas.placed)[: numbers.max()]
    nearest = cdist(centres, atlas.coordinates[cortical]).argmin(axis=1)
    assert (cortical[nearest] == numbers - 1).mean() > 0.8


@pytest.mark.parametrize("key", ["schaefer400", "glasser360", "desikan68"])
def test_every_cortical_region_is_on_the_surface_and_the_medial_wall_is_not(key):
    labels, n = BUNDLED[key].surface_labels, load_atlas(key).n_regions
    assert set(np.unique(labels)) == set(range(n + 1))
    left, right = labels[:10242], labels[10242:]
    assert left.max() == n // 2
    assert right[right > 0].min() == n // 2 + 1
    assert (right == 0).sum() > 800


@pytest.mark.parametrize("key", WITH_IMAGE)
def test_label_images_count_the_regions_of_the_table(key):
    atlas, image = load_atlas(key), nibabel.load(BUNDLED[key].label_image)
    labels = np.asarray(image.dataobj).astype(int)
    assert labels.max() == atlas.n_regions == len(np.unique(labels)) - 1
    voxels = np.round(nibabel.affines.apply_affine(np.linalg.inv(image.affine), atlas.coordinates)).astype(int)
    np.testing.assert_array_equal(labels[tuple(voxels.T)], np.arange(1, atlas.n_regions + 1))


REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "raw" / "abide"


def bilateral(rng, atlas, n_timepoints=200):
    """Series in which regions that are near, or near in the mirror, share signals."""
    places = np.abs(atlas.coordinates * [1, 0, 0]) + atlas.coordinates * [0, 1, 1]
    near = np.exp(-((places[:, None] - places[None]) ** 2).sum(axis=2) / (2 * 20.0**2))
    return rng.standard_normal((n_timepoints, atlas.n_regions)) @ np.linalg.cholesky(near + 0.1 * np.eye(len(near))).T


def test_by_hand(rng):
    """Twenty-four regions in mirrored pairs; each is connected to its partner alone."""
    atlas = load_atlas("aal90")
    pairs = np.arange(90) ^ 1  # AAL lists left and right one after the other
    matrix = np.eye(90)
    matrix[np.arange(90), pairs] = 0.9
    assert atlas_check(matrix, atlas).mirror == pytest.approx(1, abs=0.05)
    assert atlas_check(np.eye(90) + 0.1 * rng.random((90, 90)), atlas).mirror == pytest.approx(0.5, abs=0.15)
    assert atlas_check(np.eye(3), replace(numbered_atlas(3), coordinates=np.ones((3, 3)))) is None, "too few places"


@pytest.mark.parametrize(("said", "warned"), [("cc200", True), ("schaefer200", False), ("unknown", False)])
def test_the_wrong_word_for_a_nameless_file_is_doubted(tmp_path, rng, said, warned):
    """A Schaefer-200 file without a header that somebody calls CC200."""
    series = bilateral(rng, load_atlas("schaefer200"))
    np.savetxt(tmp_path / "s1.csv", series, delimiter=",")
    options = ReadOptions(kind="series", orientation="time-region")
    notes = read_cohort(tmp_path, atlas=said, options=options).notes
    assert any(note.startswith("Check the atlas: if these were the regions of") for note in notes) == warned


def test_names_need_no_check(tmp_path, rng):
    atlas = load_atlas("schaefer100")
    pd.DataFrame(rng.standard_normal((40, 100)), columns=atlas.regions).to_csv(tmp_path / "s.csv", index=False)
    assert not any("Check the atlas" in note for note in read_cohort(tmp_path).notes)


@pytest.mark.skipif(not REAL.is_dir(), reason="the real ABIDE files are not here")
def test_real_subjects_on_the_right_atlas_and_on_another():
    right = read_cohort(REAL, atlas="cc200")
    assert not any("Check the atlas" in note for note in right.notes)
    wrong = read_cohort(REAL, atlas="schaefer200")
    assert any("Check the atlas" in note for note in wrong.notes) or "against" in wrong.atlas_decided_by


def test_the_study_separates_the_right_atlas_from_shuffled_columns():
    study = pd.read_csv(asset("studies", "atlas_check.csv")).set_index(["data", "subjects", "taken for", "of"])
    right = study.xs("the right atlas", level="taken for")
    wrong = study.xs("regions shuffled", level="taken for")
    assert (right["mirror 5 %"] > LEAST_MIRROR).all()
    assert (wrong["mirror highest"] < LEAST_MIRROR).all()
    assert (wrong["warned"] == 1).all()
    assert (right["warned"] < 0.01).all()
