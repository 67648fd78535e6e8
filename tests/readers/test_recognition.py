"""Which atlas it is, by evidence: BIDS entities and label tables, region names, the user, and only then the number."""

import numpy as np
import pandas as pd
import pytest

from biobgt import InputError, load_atlas, read_cohort
from biobgt.base.errors import ChoiceNeeded
from biobgt.readers import ReadOptions


def series(rng, names, path, *, header=True, spelt=str):
    """Write a subject of as many columns as there are names, and return its numbers by name."""
    table = pd.DataFrame(rng.standard_normal((40, len(names))), columns=list(names))
    separator = "\t" if path.suffix == ".tsv" else ","
    table.rename(columns=spelt).to_csv(path, sep=separator, index=False, header=header, float_format="%.8f")
    return table


def dseg(path, names, **columns):
    """Write a label table, its rows in a shuffled order."""
    table = pd.DataFrame({"index": range(1, len(names) + 1), "label": list(names), **columns})
    table.sample(frac=1, random_state=0).to_csv(path, sep="\t", index=False)


def question(path, **how):
    with pytest.raises(ChoiceNeeded) as caught:
        read_cohort(path, **how)
    return caught.value


SERIES = ReadOptions(kind="series", orientation="time-region")


def test_200_nameless_columns_are_never_taken_for_cc200(tmp_path, rng):
    series(rng, range(200), tmp_path / "s1.csv", header=False)
    asked = question(tmp_path, options=SERIES)
    assert asked.option == "atlas"
    assert asked.choices == ("cc200", "schaefer200", "schaefer200_17", "unknown")
    assert "The file 's1.csv' does not say which it is" in asked.question
    assert asked.question.endswith("Which one is it?")
    assert asked.consequences["cc200"].startswith("regions get its names"), "the button has the atlas's title before it"
    cohort = read_cohort(tmp_path, atlas="schaefer200", options=SERIES)
    assert (cohort.atlas.name, cohort.atlas_decided_by) == ("schaefer200", "the user")
    assert "no model applies" in asked.consequences["unknown"]


@pytest.mark.parametrize(("key", "prefix"), [("schaefer400", "7Networks_"), ("schaefer400_17", "17Networks_")])
@pytest.mark.parametrize("spelt", [True, False])
def test_names_tell_the_7_network_order_from_the_17_network_order(tmp_path, rng, key, prefix, spelt):
    atlas = load_atlas(key)
    shuffled = rng.permutation(atlas.regions)
    written = series(rng, shuffled, tmp_path / "s1.csv", spelt=lambda name: prefix + name if spelt else name)
    cohort = read_cohort(tmp_path)
    assert (cohort.atlas, cohort.atlas_decided_by) == (atlas, "the region names")
    np.testing.assert_allclose(cohort["s1"].series, written[list(atlas.regions)], atol=1e-7)
    assert "Regions in another order, put right: 1 of 1 subject." in cohort.notes


def test_hcps_glasser_files_are_put_in_order_by_their_names(tmp_path, rng):
    ours, hcp = load_atlas("glasser360"), load_atlas("glasser360_hcp")
    written = series(rng, hcp.regions, tmp_path / "s1.csv", spelt=lambda name: f"{name[-1]}_{name[:-2]}_ROI")
    assert written.columns[0] == "V1_R"
    cohort = read_cohort(tmp_path)
    assert cohort.atlas is ours
    np.testing.assert_allclose(cohort["s1"].series, written[list(ours.regions)], atol=1e-7)
    (tmp_path / "s1.csv").unlink()
    series(rng, range(360), tmp_path / "s2.csv", header=False)
    assert question(tmp_path, options=SERIES).choices == ("glasser360", "glasser360_hcp", "unknown")


def test_an_xcpd_tree_of_4s(tmp_path, rng):
    atlas = load_atlas("4s256")
    folder = tmp_path / "sub-01" / "func"
    folder.mkdir(parents=True)
    name = "sub-01_task-rest_space-MNI152NLin2009cAsym_seg-4S256Parcels_stat-mean_timeseries.tsv"
    written = series(rng, atlas.regions, folder / name)
    cohort = read_cohort(tmp_path)
    assert cohort.atlas is atlas
    assert cohort.atlas_decided_by == "the BIDS entity seg-4S256Parcels and the region names"
    np.testing.assert_allclose(cohort["sub-01"].series, written, atol=1e-7)


def test_a_bids_entity_decides_where_names_say_nothing(tmp_path, rng):
    series(rng, range(333), tmp_path / "sub-01_seg-Gordon_timeseries.tsv", header=False)
    cohort = read_cohort(tmp_path)
    assert (cohort.atlas.name, cohort.atlas_decided_by) == ("gordon333", "the BIDS entity seg-Gordon")


def test_an_entity_that_leaves_the_order_open_is_a_question_between_the_two(tmp_path, rng):
    path = tmp_path / "sub-01_atlas-Schaefer200_timeseries.tsv"
    series(rng, range(200), path, header=False)
    assert question(tmp_path).choices == ("schaefer200", "schaefer200_17", "unknown"), "CC200 is out"
    series(rng, load_atlas("schaefer200_17").regions, path)
    cohort = read_cohort(tmp_path)
    assert cohort.atlas.name == "schaefer200_17"
    assert cohort.atlas_decided_by == "the BIDS entity atlas-Schaefer200 and the region names"


def test_an_entity_and_names_that_contradict_one_another_are_a_question(tmp_path, rng):
    path = tmp_path / "sub-01_atlas-CC200_timeseries.tsv"
    series(rng, load_atlas("schaefer200").regions, path)
    asked = question(tmp_path)
    assert "Craddock CC200 (by the BIDS entity atlas-CC200)" in asked.question
    assert "Schaefer 200, 7-network order (by the region names)" in asked.question
    cohort = read_cohort(tmp_path, atlas="schaefer200")
    assert cohort.atlas_decided_by == "the user, against the BIDS entity atlas-CC200"


def test_an_entity_that_is_not_known_leaves_it_to_the_names(tmp_path, rng):
    path = tmp_path / "sub-01_seg-ours_timeseries.tsv"
    series(rng, load_atlas("schaefer200").regions, path)
    assert read_cohort(tmp_path).atlas.name == "schaefer200"
    series(rng, range(200), path, header=False)
    assert read_cohort(tmp_path).atlas.name == "unknown200"


def test_a_label_table_beside_the_file_names_its_columns(tmp_path, rng):
    atlas = load_atlas("schaefer100_17")
    shuffled = list(rng.permutation(atlas.regions))
    written = series(rng, shuffled, tmp_path / "s1.csv", header=False)
    dseg(tmp_path / "atlas_dseg.tsv", shuffled)
    cohort = read_cohort(tmp_path)
    assert (cohort.atlas, cohort.atlas_decided_by) == (atlas, "the region names in the label table 'atlas_dseg.tsv'")
    np.testing.assert_allclose(cohort["s1"].series, written[list(atlas.regions)], atol=1e-7)
    both = read_cohort([tmp_path / "s1.csv", tmp_path / "atlas_dseg.tsv"])
    assert both.atlas is atlas
    assert "Read as names of regions: atlas_dseg.tsv." in both.notes


def test_the_label_table_of_a_whole_tree_belongs_to_files_of_its_atlas(tmp_path, rng):
    atlas = load_atlas("schaefer100")
    for folder in ("sub-01", "atlases/atlas-mine", "atlases/atlas-other"):
        (tmp_path / folder).mkdir(parents=True)
    dseg(tmp_path / "atlases/atlas-mine/atlas-mine_dseg.tsv", atlas.regions)
    dseg(tmp_path / "atlases/atlas-other/atlas-other_dseg.tsv", [f"other {i}" for i in range(100)])
    series(rng, range(100), tmp_path / "sub-01" / "sub-01_seg-mine_timeseries.tsv", header=False)
    cohort = read_cohort(tmp_path)
    assert cohort.atlas is atlas
    assert cohort.atlas_decided_by == "the region names in the label table 'atlas-mine_dseg.tsv'"


def test_a_label_table_of_another_size_or_that_cannot_be_read_says_nothing(tmp_path, rng):
    series(rng, range(100), tmp_path / "s1.csv", header=False)
    dseg(tmp_path / "a_dseg.tsv", [f"region {i}" for i in range(99)])
    assert question(tmp_path, options=SERIES).option == "atlas"
    (tmp_path / "a_dseg.tsv").write_text("index\n")
    assert question(tmp_path, options=SERIES).option == "atlas"


def test_the_number_decides_only_where_one_atlas_has_it(tmp_path, rng):
    series(rng, range(156), tmp_path / "s1.csv", header=False)
    cohort = read_cohort(tmp_path, options=SERIES)
    assert (cohort.atlas.name, cohort.atlas_decided_by) == ("4s156", "the number of regions alone")


def test_spheres_need_the_places_of_all_regions(tmp_path):
    (tmp_path / "sub-01_bold.nii").write_bytes(b"\0" * 400)
    with pytest.raises(InputError, match="56 regions of XCP-D 4S156 have no known coordinates"):
        read_cohort(tmp_path, atlas="4s156")
