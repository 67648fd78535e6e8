"""Which atlas a file is on, which axis is time, and what a table holds."""

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
from reading import as_text, question, refused, zipped

from biobgt import read_cohort
from biobgt.base.errors import ChoiceNeeded
from biobgt.base.files import asset
from biobgt.data.atlas import BUNDLED, load_atlas, others_of_size
from biobgt.readers import ReadOptions
from biobgt.readers.measurement import FileName, Reading, _autocorrelations, _suggested, interpret


def correlation(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.corrcoef(rng.standard_normal((n, 3 * n)))


@pytest.mark.parametrize(("diagonal", "read"), [(1, 1), (np.inf, 0)], ids=["correlations", "Fisher z"])
def test_a_symmetric_table_is_connectivity(rng, diagonal, read):
    matrix = correlation(10, rng)
    np.fill_diagonal(matrix, diagonal)
    measured = interpret(Reading(matrix))
    assert measured.kind == "connectivity"
    np.testing.assert_allclose(measured.values, np.where(np.eye(10, dtype=bool), read, matrix))


def test_a_square_table_that_is_not_symmetric_is_a_question_and_the_answer_settles_it(rng):
    square = rng.standard_normal((200, 200))
    with pytest.raises(ChoiceNeeded) as caught:
        interpret(Reading(square))
    assert (caught.value.option, caught.value.choices) == ("kind", ("series", "connectivity"))
    with pytest.raises(ChoiceNeeded, match="orientation"):
        interpret(Reading(square, content="series"))
    measured = interpret(Reading(square, content="series", orientation="region-time"))
    np.testing.assert_array_equal(measured.values, square.T)
    refused("not symmetric", interpret, Reading(square, content="connectivity"))


def test_a_damaged_correlation_matrix_is_refused_not_read_as_series(rng):
    matrix = correlation(20, rng)
    matrix[3, 7] = 0.99
    refused(r"not symmetric: 0.99 from region 4 to 8|and 0.99 back", interpret, Reading(matrix))


def test_values_without_any_sign_of_time_suggest_nothing_and_the_chosen_atlas_decides(rng):
    values = rng.standard_normal((116, 200))
    with pytest.raises(ChoiceNeeded, match="too close to suggest"):
        interpret(Reading(values))
    np.testing.assert_array_equal(interpret(Reading(values), n_regions=116).values, values.T)
    np.testing.assert_array_equal(interpret(Reading(values), n_regions=200).values, values)


def test_the_chosen_atlas_does_not_settle_what_the_values_speak_against(bold):
    """200 time points of 100 regions, said to be on an atlas of 200."""
    values = bold(200, 100)
    with pytest.raises(ChoiceNeeded, match="suggests that the rows are time points"):
        interpret(Reading(values), n_regions=200)
    refused("It has 100 regions", interpret, Reading(values, orientation="time-region"), n_regions=200)
    measured = interpret(Reading(values, orientation="region-time"), n_regions=200)
    assert (measured.values.shape, measured.orientation_by) == ((100, 200), "the user")


def test_names_over_columns_or_before_rows_say_that_these_are_regions(rng):
    values, names = rng.standard_normal((200, 112)), tuple(f"r{i}" for i in range(112))
    np.testing.assert_array_equal(interpret(Reading(values, region_names=names)).values, values)
    np.testing.assert_array_equal(interpret(Reading(values.T, row_names=names)).values, values)


@pytest.mark.parametrize(
    ("shape", "said", "counts"),
    [
        ((150, 200), {}, {150, 200}),
        ((150, 200), {"file_name": FileName.of(Path("study_cc200.npy"))}, {200}),
        ((116, 200), {}, {116, 200}),
        ((112, 150), {"orientation": "region-time"}, {112}),
        ((7, 7), {}, {7}),
    ],
)
def test_region_counts_before_the_atlas_is_known(rng, shape, said, counts):
    assert Reading(rng.standard_normal(shape), **said).region_counts == counts


def test_regions_missing_throughout_are_zero_and_named(rng):
    values = rng.standard_normal((50, 90))
    values[:, [4, 8]] = np.nan
    measured = interpret(Reading(values), n_regions=90)
    assert measured.missing_regions == (4, 8)
    assert (measured.values[:, [4, 8]] == 0).all()
    matrix = correlation(6, rng)
    matrix[2], matrix[:, 2] = np.nan, np.nan
    measured = interpret(Reading(matrix))
    assert measured.missing_regions == (2,)
    assert (measured.values[2] == 0).all()


def with_value(value: float) -> np.ndarray:
    values = np.random.default_rng(0).standard_normal((50, 90))
    values[11, 3] = value
    return values


@pytest.mark.parametrize(
    ("values", "said", "sentence"),
    [
        (with_value(np.nan), {}, "time point 12, region 4 is nan"),
        (with_value(np.inf), {}, "time point 12, region 4 is inf"),
        (np.ones((50, 90)), {}, "constant in every region"),
        (with_value(0)[:1], {}, "1 time point;"),
        (with_value(0)[:, :1], {}, "1 region;"),
        (np.eye(5), {}, "no connection"),
        (with_value(0), {"content": "connectivity"}, "50 rows and 90 columns"),
        (np.where(np.eye(5)[::-1] * (1 - np.eye(5)), np.nan, 0.5), {}, "not finite between regions 1 and 5"),
    ],
)
def test_unusable_values_get_a_sentence(values, said, sentence):
    refused(sentence, interpret, Reading(values, orientation="time-region", **said))


@pytest.mark.parametrize("n_regions", [90, 116])
def test_the_wrong_atlas_gets_a_sentence(rng, n_regions):
    for values in (rng.standard_normal((150, 200)), correlation(20, rng)):
        refused(f"chosen atlas has {n_regions} regions", interpret, Reading(values), n_regions=n_regions)


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


SERIES = ReadOptions(kind="series", orientation="time-region")


@pytest.mark.parametrize(
    ("size", "atlases"),
    [(200, ("cc200", "schaefer200", "schaefer200_17")), (360, ("glasser360", "glasser360_hcp"))],
)
def test_nameless_columns_are_never_taken_for_one_of_several_atlases(tmp_path, rng, size, atlases):
    series(rng, range(size), tmp_path / "s1.csv", header=False)
    asked = question(tmp_path, options=SERIES)
    assert (asked.option, asked.choices) == ("atlas", (*atlases, "unknown"))
    assert "The file 's1.csv' does not say which it is" in asked.question
    assert asked.question.endswith("Which one is it?")
    assert asked.consequences[atlases[0]].startswith("regions get its names"), "the button has the atlas's title before"
    assert "no model applies" in asked.consequences["unknown"]
    cohort = read_cohort(tmp_path, atlas=atlases[1], options=SERIES)
    assert (cohort.atlas.name, cohort.atlas_decided_by) == (atlases[1], "the user")


@pytest.mark.parametrize(
    ("key", "spelt"),
    [
        ("schaefer400", str),
        ("schaefer400", "7Networks_{}".format),
        ("schaefer400_17", str),
        ("schaefer400_17", "17Networks_{}".format),
        ("glasser360", lambda name: f"{name[-1]}_{name[:-2]}_ROI"),  # as the Human Connectome Project does
    ],
)
def test_names_tell_the_order_however_they_are_spelt(tmp_path, rng, key, spelt):
    atlas = load_atlas(key)
    written = series(rng, rng.permutation(atlas.regions), tmp_path / "s1.csv", spelt=spelt)
    cohort = read_cohort(tmp_path)
    assert (cohort.atlas, cohort.atlas_decided_by) == (atlas, "the region names")
    np.testing.assert_allclose(cohort["s1"].series, written[list(atlas.regions)], atol=1e-7)
    assert "Regions in another order, put right: 1 of 1 subject." in cohort.notes


XCPD = "sub-01_task-rest_space-MNI152NLin2009cAsym_seg-4S256Parcels_stat-mean_timeseries.tsv"


@pytest.mark.parametrize(
    ("name", "regions", "atlas", "by"),
    [
        (XCPD, "4s256", "4s256", "the BIDS entity seg-4S256Parcels and the region names"),
        ("sub-01_seg-Gordon_timeseries.tsv", range(333), "gordon333", "the BIDS entity seg-Gordon"),
        ("sub-01_seg-ours_timeseries.tsv", "schaefer200", "schaefer200", "the region names"),
        ("sub-01_seg-ours_timeseries.tsv", range(200), "unknown200", "the BIDS entity seg-ours"),
        ("sub-01.csv", range(156), "4s156", "the number of regions alone"),
    ],
)
def test_an_entity_decides_then_the_names_then_a_number_that_one_atlas_has(tmp_path, rng, name, regions, atlas, by):
    folder = tmp_path / "sub-01" / "func"
    folder.mkdir(parents=True)
    names = load_atlas(regions).regions if isinstance(regions, str) else regions
    written = series(rng, names, folder / name, header=isinstance(regions, str))
    cohort = read_cohort(tmp_path, options=SERIES)
    assert (cohort.atlas.name, cohort.atlas_decided_by) == (atlas, by)
    np.testing.assert_allclose(cohort["sub-01"].series, written, atol=1e-7)


def test_an_entity_that_leaves_the_order_open_or_contradicts_the_names_is_a_question(tmp_path, rng):
    path = tmp_path / "sub-01_atlas-Schaefer200_timeseries.tsv"
    series(rng, range(200), path, header=False)
    assert question(tmp_path).choices == ("schaefer200", "schaefer200_17", "unknown"), "CC200 is out"
    series(rng, load_atlas("schaefer200_17").regions, path)
    cohort = read_cohort(tmp_path)
    assert cohort.atlas.name == "schaefer200_17"
    assert cohort.atlas_decided_by == "the BIDS entity atlas-Schaefer200 and the region names"
    path.unlink()
    series(rng, load_atlas("schaefer200").regions, tmp_path / "sub-01_atlas-CC200_timeseries.tsv")
    asked = question(tmp_path)
    assert "Craddock CC200 (by the BIDS entity atlas-CC200)" in asked.question
    assert "Schaefer 200, 7-network order (by the region names)" in asked.question
    cohort = read_cohort(tmp_path, atlas="schaefer200")
    assert cohort.atlas_decided_by == "the user, against the BIDS entity atlas-CC200"


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


def test_spheres_need_the_places_of_all_regions(tmp_path):
    (tmp_path / "sub-01_bold.nii").write_bytes(b"\0" * 400)
    refused("56 regions of XCP-D 4S156 have no known coordinates", read_cohort, tmp_path, atlas="4s156")


ATLASES = ("cc200", "aal90", "aal116", "dosenbach160", "power264", "schaefer100_17", "4s156")
SIZES = sorted(BUNDLED[atlas].n_regions for atlas in ATLASES)


def atlases_of(size):
    """The bundled atlases that have so many regions."""
    return tuple(key for key, about in BUNDLED.items() if about.n_regions == size)


def is_shared(size):
    """Whether more than one parcellation has so many regions."""
    return bool(others_of_size(size)) or len(atlases_of(size)) > 1


FORMATS = ("s.npy", "s.1D", "s.csv", "s.mat", "s.h5", "s.zip", "folder")


def write(folder: Path, name: str, values: np.ndarray) -> Path:
    """Write a table without names in the format of the name; return what the user names."""
    path = folder / name
    match path.suffix:
        case ".npy":
            np.save(path, values)
        case ".mat":
            scipy.io.savemat(path, {"data": values})
        case ".h5":
            with h5py.File(path, "w") as file:
                file["data"] = values
        case ".zip":
            path.write_bytes(zipped({"study/s.csv": as_text(values)}))
        case "":
            path.mkdir()
            np.save(path / "s.npy", values)
        case _:
            path.write_text(as_text(values, "," if path.suffix == ".csv" else "\t"))
    return path


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("region_time", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_as_many_time_points_as_an_atlas_has_regions(tmp_path, bold, name, size, region_time):
    """The size is the number of time points, and the regions are of an atlas that is not bundled."""
    series = bold(size, 70)
    path = write(tmp_path, name, series.T if region_time else series)
    asked = question(path)
    assert asked.option == "orientation"
    truth, other = ("region-time", "time-region")[:: 1 if region_time else -1]
    said = {truth: f"{size} time points of 70 regions", other: f"70 time points of {size} regions"}
    assert asked.consequences == said
    assert f"suggests that the {'columns' if region_time else 'rows'} are time points" in asked.question
    cohort = read_cohort(path, options=ReadOptions(orientation=truth))
    np.testing.assert_allclose(cohort.subjects[0].series, series, atol=1e-5)
    assert cohort.atlas.name == "unknown70"
    assert cohort.subjects[0].source.options["orientation decided by"] == "the user"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("region_time", [False, True])
@pytest.mark.parametrize("atlas", ATLASES)
def test_as_many_regions_as_an_atlas(tmp_path, bold, name, atlas, region_time):
    """The size is the number of regions: of that atlas, or of another one of the same size."""
    size = BUNDLED[atlas].n_regions
    series = bold(75, size)
    path = write(tmp_path, name, series.T if region_time else series)
    assert question(path).option == "orientation"
    options = ReadOptions(orientation="region-time" if region_time else "time-region")
    if is_shared(size):
        asked = question(path, options=options)
        assert (asked.option, asked.choices) == ("atlas", (*atlases_of(size), "unknown"))
        other = read_cohort(path, options=options, atlas="unknown")
        assert (other.atlas.name, other.atlas.coordinates) == (f"unknown{size}", None)
        assert other.atlas_decided_by == "the user"
    else:
        cohort = read_cohort(path, options=options)
        assert (cohort.atlas.name, cohort.atlas_decided_by) == (atlas, "the number of regions alone")
        assert "nothing in the files confirms it" in cohort.notes[0]
    cohort = read_cohort(path, atlas=atlas)
    np.testing.assert_allclose(cohort.subjects[0].series, series, atol=1e-5)
    assert cohort.notes[0] == f"Atlas: {BUNDLED[atlas].title}, as you said."


@pytest.mark.parametrize("first", SIZES)
@pytest.mark.parametrize("second", SIZES)
def test_two_bundled_sizes(tmp_path, bold, first, second):
    path = write(tmp_path, "s.npy", bold(first, second))
    if first != second:
        assert question(path).option == "orientation"
        return
    atlas, shared = atlases_of(first)[0], is_shared(first)
    assert question(path).option == ("atlas" if shared else "kind")
    assert question(path, atlas=atlas).option == "kind"
    assert question(path, atlas=atlas, options=ReadOptions(kind="series")).option == "orientation"
    write(tmp_path, "s.npy", np.corrcoef(bold(400, first).T))
    if shared:
        assert question(path).option == "atlas"
    else:
        assert "by the number of regions alone" in read_cohort(path).notes[0]
    assert read_cohort(path, atlas=atlas).subjects[0].kind == "connectivity"


@pytest.mark.parametrize("atlas", ATLASES)
def test_names_of_an_atlas_need_no_question(tmp_path, bold, atlas):
    """As the project's own demo files have them; also in another order, and down the rows."""
    regions = load_atlas(atlas).regions
    frame = pd.DataFrame(bold(70, len(regions)), columns=regions)
    frame[list(regions[::-1])].to_csv(tmp_path / "s.csv", index=False)
    frame.T.to_csv(tmp_path / "t.csv", header=False)
    cohort = read_cohort(tmp_path)
    assert (cohort.atlas.name, cohort.atlas_decided_by) == (atlas, "the region names")
    for subject in cohort:
        np.testing.assert_allclose(subject.series, frame)
    assert cohort.notes[0] == f"Atlas: {BUNDLED[atlas].title}, told by the region names."


def test_an_answer_for_nameless_files_turns_no_named_ones(tmp_path, bold):
    regions = load_atlas("aal90").regions
    frame = pd.DataFrame(bold(70, 90), columns=regions)
    frame.to_csv(tmp_path / "named.csv", index=False)
    write(tmp_path, "nameless_aal90.npy", bold(90, 90).T)  # not symmetric, and as many time points as regions
    options = ReadOptions(kind="series", orientation="region-time")
    cohort = read_cohort(tmp_path, options=options)
    assert cohort["named"].source.options["orientation"] == "time-region"
    assert cohort["nameless_aal90"].source.options["orientation"] == "region-time"


NUMBERING = [f"#{i}" for i in range(1, 201)]


@pytest.mark.parametrize(
    ("name", "chosen", "told", "by"),
    [
        ("NYU_0050952_rois_cc200.1D", "unknown", "CC200", "ABIDE's file names (rois_cc200)"),
        ("NYU_0050952_rois_ho.1D", "cc200", "another atlas", "ABIDE's file names (rois_ho)"),
        ("sub-1_task-rest_atlas-Schaefer200_timeseries.tsv", "cc200", "Schaefer 200", "entity atlas-Schaefer200"),
        ("sub-1_schaefer200.csv", "cc200", "17-network order", "the atlas's name in the file name"),
        ("sub-1_schaefer200.csv", "unknown", "Schaefer 200, 7-network order", "the atlas's name in the file name"),
        ("sub-1_kong2022_200.csv", "cc200", "another atlas", "the atlas's name in the file name"),
    ],
)
def test_a_file_that_contradicts_the_user_is_told_of(tmp_path, bold, name, chosen, told, by):
    """The user's word counts, and stands in the provenance together with what was against it."""
    separator = "," if name.endswith("csv") else "\t"
    (tmp_path / name).write_text(f"{separator.join(NUMBERING)}\n{as_text(bold(90, 200), separator)}")
    cohort = read_cohort(tmp_path, atlas=chosen)
    assert cohort.atlas.name == ("unknown200" if chosen == "unknown" else chosen)
    assert f"as you said. {'Regions go' if chosen == 'unknown' else 'But 1 of 1 recording'}" in cohort.notes[0]
    assert told in cohort.notes[0].partition("But 1 of 1 recording")[2]
    assert "What you said is used" in cohort.notes[0]
    assert cohort.atlas_decided_by.startswith("the user, against ")
    assert by in cohort.atlas_decided_by


def test_region_names_that_contradict_the_user_are_told_of(tmp_path, bold):
    regions = load_atlas("aal90").regions
    pd.DataFrame(bold(70, 90), columns=regions).to_csv(tmp_path / "s.csv", index=False)
    assert "AAL-90 (cerebrum) (told by the region names)" in read_cohort(tmp_path, atlas="unknown").notes[0]
    assert read_cohort(tmp_path, atlas="aal90").notes[0] == "Atlas: AAL-90 (cerebrum), as you said."
    own = load_atlas("aal90")
    moved = replace(own, name="mine", title="Mine", coordinates=own.coordinates + 1)
    assert read_cohort(tmp_path, atlas=moved).notes[0] == "Atlas: Mine, as you said.", "the same regions, elsewhere"


def test_some_names_of_an_atlas_do_not_settle_it(tmp_path, bold):
    regions = list(load_atlas("aal116").regions)
    frame = pd.DataFrame(bold(70, 116), columns=[*regions[1:], "elsewhere"])
    frame.to_csv(tmp_path / "s.csv", index=False)
    assert question(tmp_path).option == "atlas"
    refused(r"region 1 is named 'Precentral_R', which is region 2 of AAL-116", read_cohort, tmp_path, atlas="aal116")
    frame.columns = [*regions[:-1], "elsewhere"]
    frame.to_csv(tmp_path / "s.csv", index=False)
    assert read_cohort(tmp_path, atlas="aal116").atlas.name == "aal116"


def test_a_numbering_header_tells_the_axis_and_not_the_atlas(tmp_path, bold):
    """ABIDE's header under a name that is not ABIDE's: 200 may be Schaefer's."""
    path = tmp_path / "rois.1D"
    path.write_text("\t".join(NUMBERING) + "\n" + as_text(bold(90, 200), "\t"))
    assert question(tmp_path).option == "atlas"
    path.rename(tmp_path / "NYU_0050952_rois_cc200.1D")
    cohort = read_cohort(tmp_path)
    assert (cohort.atlas.name, cohort.atlas_decided_by) == ("cc200", "ABIDE's file names (rois_cc200)")


def test_one_file_that_does_not_say_leaves_the_cohort_open(tmp_path, rng):
    for name in ("a_cc200.npy", "b.npy"):
        np.save(tmp_path / name, correlation(200, rng))
    asked = question(tmp_path)
    assert asked.option == "atlas"
    assert "The file 'b.npy' does not say" in asked.question


def test_a_stray_table_does_not_decide_for_the_rest(tmp_path, bold):
    for i in range(3):
        write(tmp_path, f"s{i}.npy", bold(200, 102))
    (tmp_path / "scores.csv").write_text("reading,writing\n" + "\n".join(f"{i}.5,{i * i}.25" for i in range(9)))
    assert question(tmp_path).option == "orientation"
    cohort = read_cohort(tmp_path, options=ReadOptions(orientation="time-region"))
    assert cohort.ids == ("s0", "s1", "s2")
    assert cohort.atlas.n_regions == 102


@pytest.mark.parametrize(
    ("name", "n_regions", "bundled"),
    [
        ("NYU_0050952_rois_cc200.1D", 200, "cc200"),
        ("NYU_0050952_rois_aal.1D", 116, "aal116"),
        ("NYU_0050952_rois_ez.1D", 116, ""),
        ("NYU_0050952_rois_dosenbach160.1D", 161, ""),
        ("sub-01_task-rest_atlas-CC200_timeseries.tsv", 200, "cc200"),
        ("sub-01_task-rest_seg-4S256Parcels_stat-mean_timeseries.tsv", 256, "4s256"),
        ("sub-01_seg-Gordon_relmat.tsv", 333, "gordon333"),
        ("sub-01_seg-Gordon_relmat.tsv", 90, ""),
        ("sub-01_atlas-Schaefer2018_desc-200Parcels7Networks_timeseries.tsv", 200, "schaefer200"),
        ("sub-01_atlas-Schaefer2018_desc-200Parcels17Networks_timeseries.tsv", 200, "schaefer200_17"),
        ("sub-01_atlas-Schaefer2018_desc-200Parcels_timeseries.tsv", 200, "schaefer200 schaefer200_17"),
        ("sub-01_atlas-Schaefer217_timeseries.tsv", 200, "schaefer200_17"),
        ("sub-01_desc-schaefer400x17_relmat.tsv", 400, "schaefer400_17"),
        ("sub-01_seg-Glasser_timeseries.tsv", 360, "glasser360 glasser360_hcp"),
        ("Schaefer2018_400Parcels_7Networks_order.csv", 400, "schaefer400"),
        ("s1_schaefer_100_17networks.txt", 100, "schaefer100_17"),
        ("desikan.csv", 82, "desikan82"),
        ("abide_cc200.npz", 200, "cc200"),
        ("abide_aal116.npz", 116, "aal116"),
        ("lab.AAL.npy", 90, "aal90"),
        ("schaefer200.npy", 200, "schaefer200 schaefer200_17"),
        ("sfnwmrda0010001_session_1_rest_1_cc200_TCs.1D", 190, ""),
        ("sub-01.csv", 200, None),
        ("cc2001.npy", 200, None),
        ("abide_cc200.npz", 116, None),
        ("sub-01_desc-denoised_bold.csv", 200, None),
    ],
)
def test_atlases_that_file_names_give(name, n_regions, bundled):
    named = FileName.of(Path(name)).atlases(n_regions)
    assert (named and " ".join(named.bundled)) == bundled


def test_layout_of_cni_needs_its_phenotypes_beside_it(tmp_path, bold):
    write(tmp_path, "timeseries_ho.csv", bold(150, 112).T)
    assert question(tmp_path).option == "orientation"
    (tmp_path / "phenotypic.csv").write_text("Subj,DX\nsub-044,ADHD\n")
    cohort = read_cohort(tmp_path)
    assert cohort.atlas.n_regions == 112
    assert cohort.subjects[0].source.options["orientation decided by"] == "the layout of CNI-2019"


def test_evidence_checked_by_hand_is_not_misled_by_levels_of_regions(bold):
    """Rows are time: 0, 1, 0, -1, 0 has a lag-1 product sum of 0; a ramp -2…2 has 4 of 10."""
    ramp = np.arange(-2.0, 3.0)
    assert _autocorrelations(np.outer(ramp, [1.0, -2.0, 1.0])) == pytest.approx((4 / 10, -4 / 6))
    assert _suggested((0.5, 0.45)) is None
    values = bold(150, 116) + 500 * np.linspace(1, 3, 116)
    assert _suggested(_autocorrelations(values)) == "time-region"
    values[:, 3] = np.nan
    assert _suggested(_autocorrelations(values.T)) == "region-time"


def test_question_quotes_the_study(tmp_path, bold):
    table = pd.read_csv(asset("studies", "time_axis.csv"))
    used = table[(table["series are"] == "as released") & (table["values"] == "centred twice")]
    right, n_series = used["larger along time"].sum(), used["series"].sum()
    asked = question(write(tmp_path, "s.npy", bold(200, 100))).question
    assert f"in {right:,} of {n_series:,} real series" in asked


def test_real_series_without_their_names(shared_data, tmp_path):
    """The file of the report: a real scan of 200 time points is not turned, and 200 regions are not taken for CC200."""
    with np.load(shared_data / "abide_aal116.npz") as archive:
        series, lengths = archive["series"], archive["n_timepoints"]
    ends = np.cumsum(lengths)
    i = int(np.flatnonzero(lengths >= 200)[0])
    scan = series[ends[i] - lengths[i] :][:200].astype(float)
    asked = question(write(tmp_path, "scan.npy", scan))
    assert asked.option == "orientation"
    assert "suggests that the rows are time points" in asked.question
