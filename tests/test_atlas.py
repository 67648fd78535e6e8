from dataclasses import replace

import numpy as np
import pytest

from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.references import work
from biobgt.data.atlas import (
    BUNDLED,
    LABEL_RADIUS_MM,
    LABELLINGS,
    PAPER_MODULES,
    atlas_of_names,
    load_atlas,
    named_labelling,
    numbered_atlas,
    others_of_size,
    recognise_atlas,
)
from biobgt.readers import find_atlas, read_atlas


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
    assert all(cited in atlas.citation for cited in (work(key).fields["doi"] for key in atlas.cites))


@pytest.mark.parametrize("key", LABELLINGS)
def test_every_labelling_is_cited_and_stands_in_a_table(key):
    named, (cited,) = named_labelling(key)
    assert named == f"{LABELLINGS[key]} ({work(cited).short})"
    assert any(key in about.atlas.labels for about in BUNDLED.values())


def test_labels_of_a_users_own_atlas_have_no_work():
    assert named_labelling("lobe") == ("lobe", ())


def test_dosenbach_seeds_have_their_own_labels():
    atlas = load_atlas("dosenbach160")
    labels = dict(zip(atlas.regions, atlas.labelling("paper"), strict=True))
    assert labels["occipital 146"] == "Vis"
    assert labels["dACC 27"] == "EC"
    assert labels["vmPFC 1"] == "CC"
    assert labels["dFC 35"] is None  # the paper writes 'dFC 3', which does not exist, and nothing is guessed
    assert atlas.n_unlabelled("paper") == 60
    assert atlas.n_unlabelled("dosenbach") == 0


def is_cerebellar(names):
    return np.array(
        [any(word in name for word in ("Cerebelum", "Vermis", "cerebellum", "CB", "Crus")) for name in names]
    )


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


def test_aal90_is_the_first_90_of_aal116():
    assert load_atlas("aal90").regions == load_atlas("aal116").regions[:90]


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
    assert atlas_of_names(regions[::-1]).name == name.removesuffix("_hcp"), (
        "two orders of Glasser's areas, one name each"
    )
    assert atlas_of_names([*regions[1:], "elsewhere"]) is None


def test_own_table_with_labels(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("Label,X,Y,Z,network\nInsula,-30,10,2,salience\nInsula,30,10,2,salience\nCuneus,1,-80,20,\n")
    atlas = read_atlas(path)
    assert atlas.regions == ("Insula (1)", "Insula (2)", "Cuneus")
    assert atlas.hemispheres == ("L", "R", "M")
    assert atlas.labelling("network") == ("salience", "salience", None)
    np.testing.assert_array_equal(atlas.coordinates[0], [-30, 10, 2])


def test_own_tsv_and_node_file(tmp_path):
    (tmp_path / "a.tsv").write_text("x\ty\tz\tlabel\n-1.5\t2\t3\tA\n4\t5\t6\tB\n")
    assert find_atlas(tmp_path / "a.tsv").regions == ("A", "B")
    (tmp_path / "b.node").write_text("# BrainNet Viewer\n-30 10 2 1 4 Insula.L\n30 10 2 2 4 -\n")
    atlas = find_atlas(str(tmp_path / "b.node"))
    assert atlas.regions == ("Insula.L", "Region 2")
    assert atlas.coordinates.tolist() == [[-30, 10, 2], [30, 10, 2]]


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


def test_trailing_separators_and_decimal_commas_shift_nothing(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,z,label\n1,2,3,101,\n4,5,6,102,\n")
    assert read_atlas(tmp_path / "a.csv").coordinates.tolist() == [[1, 2, 3], [4, 5, 6]]
    (tmp_path / "b.csv").write_text("x;y;z;label\n1,5;2;3;A\n4;5;6;B\n")
    assert read_atlas(tmp_path / "b.csv").coordinates.tolist() == [[1.5, 2, 3], [4, 5, 6]]


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


def test_no_two_bundled_atlases_have_one_fingerprint():
    assert len({load_atlas(name).fingerprint for name in BUNDLED}) == len(BUNDLED)
