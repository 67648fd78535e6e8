"""The bundled atlases: orders told apart by names, networks by position, surfaces and images that fit the tables."""

import nibabel
import numpy as np
import pandas as pd
import pytest
from nilearn.datasets import load_fsaverage
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from biobgt.base.files import asset
from biobgt.data.atlas import BUNDLED, YEO_RADIUS_MM, atlas_of_names, load_atlas

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
    runs = [labels[i] != labels[i - 1] for labels in [seventeen.labels["yeo17"]] for i in range(1, size)]
    other = [labels[i] != labels[i - 1] for labels in [seven.labels["yeo17"]] for i in range(1, size)]
    assert sum(runs) < 2 * 17 < sum(other)
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
    below = [name for name in load_atlas("harvard_oxford112").regions if name.startswith(("Thal", "Put", "Hip", "Amy"))]
    labels = dict(
        zip(load_atlas("harvard_oxford112").regions, load_atlas("harvard_oxford112").labels["yeo7"], strict=True)
    )
    assert {labels[name] for name in below} == {None}, "nuclei are in no cortical network"


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
    labels = BUNDLED[key].surface_labels
    assert set(np.unique(labels)) == set(range(load_atlas(key).n_regions + 1))
    left, right = labels[:10242], labels[10242:]
    n = load_atlas(key).n_regions
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
