"""What a user changes in a cohort: by hand, about missing regions, about several recordings of a person."""

from dataclasses import replace

import numpy as np
import pytest

from biobgt import Atlas, Cohort, InputError, Subject, load_atlas, read_cohort
from biobgt.base.errors import Refusal
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Source
from biobgt.data.connectivity import subject_connectivity
from biobgt.data.edits import (
    HandEdits,
    add_subjects,
    apply_recording_rule,
    change_atlas,
    confirm_atlas,
    keep_shared_regions,
    missing_regions,
    missing_words,
    remove_subjects,
    set_groups,
)
from biobgt.figures.connectivity import connectivity_distribution, connectivity_heatmap
from biobgt.figures.drawing import GAP_COLOUR
from biobgt.figures.hubs import HubCurvesOptions, _HubBrainOptions, hub_brain, hub_curves
from biobgt.figures.register import NoOptions
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.readers import ReadOptions
from biobgt.results.measured import Measured


@pytest.fixture
def cohort(rng) -> Cohort:
    matrix = np.array([[1, 0.1, 0.2], [0.1, 1, 0.3], [0.2, 0.3, 1]])
    subjects = (
        Subject("a", series=np.array([[1.0, 2, 0], [4, 5, 0]]), missing_regions=(2,), group="NC"),
        Subject("b", connectivity=matrix, group="ASD"),
        Subject("c", series=rng.standard_normal((4, 3))),
    )
    return Cohort("x", subjects, numbered_atlas(3, names=["L", "M", "R"]), notes=("Read.",), unmatched_subjects=("c",))


@pytest.mark.parametrize(
    ("text", "name"),
    [(" nc", "NC"), (" adhd", "ADHD"), ("first\n episode ", "first episode"), ("", None), ("  ", None), (None, None)],
)
def test_group_names_are_tidied(cohort, text, name) -> None:
    assert set_groups(cohort, {"b": text})["b"].group == name


def test_groups_are_set_and_noted(cohort) -> None:
    changed = set_groups(cohort, {"a": "nc", "b": None, "c": "first episode"})
    assert [subject.group for subject in changed] == ["NC", None, "first episode"]
    assert changed.notes == ("Read.", "Group set by hand: 2 subjects (b, c).")
    assert [subject.series is before.series for subject, before in zip(changed, cohort, strict=True)] == [True] * 3
    assert set_groups(cohort, {"a": "NC"}) is cohort
    with pytest.raises(InputError, match="no subject 'z'"):
        set_groups(cohort, {"z": "NC"})
    with pytest.raises(InputError, match="61 letters"):
        set_groups(cohort, {"a": "x" * 61})


def test_removed_subjects_are_gone_and_noted(cohort) -> None:
    left = remove_subjects(cohort, {"c", "a", "nobody"})
    assert left.ids == ("b",)
    assert left.unmatched_subjects == ()
    assert left.notes[-1] == "Removed by hand: 2 subjects (a, c)."
    assert remove_subjects(cohort, ["nobody"]) is cohort
    with pytest.raises(InputError, match="at least one subject"):
        remove_subjects(cohort, cohort.ids)


def test_other_names_are_names_of_the_same_columns(cohort) -> None:
    atlas = Atlas("mine", "Mine", ("x", "y", "z"))
    changed = change_atlas(cohort, atlas)
    assert changed.atlas is atlas
    assert changed.subjects == cohort.subjects
    assert changed.notes[-1] == "Atlas changed by hand from 3 regions, atlas not known to Mine."
    with pytest.raises(InputError, match="3 regions, and Craddock CC200 has 200"):
        change_atlas(cohort, load_atlas("cc200"))


def test_the_same_names_in_another_order_take_their_data_along(cohort) -> None:
    changed = change_atlas(cohort, Atlas("mine", "Mine", ("R", "L", "M")))
    np.testing.assert_array_equal(changed["a"].series, [[0, 1, 2], [0, 4, 5]])
    assert changed["a"].missing_regions == (0,)
    np.testing.assert_array_equal(changed["b"].connectivity, [[1, 0.2, 0.3], [0.2, 1, 0.1], [0.3, 0.1, 1]])
    assert "put in that order" in changed.notes[-1]
    back = change_atlas(changed, cohort.atlas)
    np.testing.assert_array_equal(back["c"].series, cohort["c"].series)
    assert back["a"].missing_regions == (2,)


@pytest.mark.parametrize("decided_by", ["the user", "the region names"])
def test_two_orders_of_one_atlas_move_data_only_where_names_told_the_regions(rng, decided_by) -> None:
    """Who takes nameless columns for the wrong order of Glasser's areas, and says so, gets other names for them."""
    source = Source("s.csv", 1, "0", "csv", {"atlas decided by": decided_by})
    subject = Subject("a", series=rng.standard_normal((5, 360)), source=source)
    cohort = Cohort("x", (subject,), load_atlas("glasser360"))
    changed = change_atlas(cohort, load_atlas("glasser360_hcp"))
    moved = decided_by == "the region names"
    expected = np.roll(subject.series, 180, axis=1) if moved else subject.series
    np.testing.assert_array_equal(changed["a"].series, expected)
    back = change_atlas(changed, load_atlas("glasser360"))
    np.testing.assert_array_equal(back["a"].series, subject.series)


def test_a_confirmed_atlas_is_sure() -> None:
    source = Source("s.csv", 1, "0", "csv", {"atlas decided by": "the number of regions alone"})
    cohort = Cohort("x", (Subject("a", connectivity=np.eye(3), source=source),), numbered_atlas(3))
    assert not cohort.atlas_is_sure
    confirmed = confirm_atlas(cohort)
    assert confirmed.atlas_is_sure
    assert confirmed.atlas_decided_by == "the user"
    assert confirmed.notes == ("Atlas: 3 regions, atlas not known, confirmed by you.",)


def read(names: str, *, sha256: str = "1", atlas: Atlas | None = None, **of_all: object) -> Cohort:
    """A cohort as a reader makes it: a letter per subject, each from a file of its own."""
    subjects = tuple(
        Subject(
            name,
            series=np.full((3, 3), float(ord(name))),
            source=Source(f"{name}.csv", 9, f"{name}{sha256}", "csv"),
            **of_all,
        )
        for name in names
    )
    return Cohort("read", subjects, atlas or numbered_atlas(3, names=["L", "M", "R"]), notes=("Read.",))


def test_edits_are_told_from_what_was_read_and_made_again() -> None:
    as_read = read("abcd", group="NC")
    now = remove_subjects(set_groups(as_read, {"a": "AD", "b": None}), ["c"])
    edits = HandEdits.between(as_read, now)
    assert edits.groups == {"a": "AD", "b": None}
    assert edits.removed == {"c": "c1"}
    assert edits.atlas is None
    again = edits.make_again(read("abcde", group="ASD"))
    assert {subject.id: subject.group for subject in again} == {"a": "AD", "b": None, "d": "ASD", "e": "ASD"}
    assert again.notes[-1] == "Removed by hand: 1 subject (c)."
    assert HandEdits.between(as_read, as_read).make_again(as_read) is as_read


def test_other_file_of_a_removed_subject_s_name_was_not_removed() -> None:
    edits = HandEdits.between(read("ab"), remove_subjects(read("ab"), ["a"]))
    assert edits.make_again(read("ab", sha256="2")).ids == ("a", "b")
    assert edits.make_again(read("a")).ids == ("a",)  # nobody would be left


def test_atlas_set_by_hand_is_set_again_unless_another_was_read() -> None:
    mine, other = Atlas("mine", "Mine", ("x", "y", "z")), Atlas("other", "Other", ("u", "v", "w"))
    edits = HandEdits.between(read("a"), change_atlas(read("a"), mine))
    assert edits.make_again(read("ab")).atlas is mine
    assert edits.make_again(read("ab", atlas=other)).atlas is other


def test_further_subjects_are_added_and_nobody_is_lost() -> None:
    first = set_groups(read("ab"), {"a": "AD"})
    further = replace(read("bc", group="NC", phenotypes={"age": 7}), refused=(Refusal("x.csv", "Empty."),))
    both = add_subjects(first, further)
    assert {subject.id: subject.group for subject in both} == {"a": "AD", "b": "NC", "c": "NC"}
    assert both["b"].series is first["b"].series
    assert (both["a"].phenotypes, both["b"].phenotypes) == ({}, {"age": 7})
    assert both.notes == ("Read.", "Group set by hand: 1 subject (a).", "Added: 1 subject (c).")
    assert both.refused == (Refusal("x.csv", "Empty."),)


def test_other_file_of_a_loaded_subject_s_name_is_refused() -> None:
    both = add_subjects(read("ab"), read("bc", sha256="2"))
    assert both.ids == ("a", "b", "c")
    assert [refusal.file for refusal in both.refused] == ["b.csv"]
    assert "loaded already, from another file" in both.refused[0].reason


def test_unmatched_names_are_those_of_all() -> None:
    first = replace(read("ab"), unmatched_subjects=("b",), unmatched_rows=("c", "z"))
    further = replace(read("c"), unmatched_subjects=("c",), unmatched_rows=("a", "y"))
    both = add_subjects(first, further)
    assert both.unmatched_subjects == ("b", "c")
    assert both.unmatched_rows == ("z", "y")


def test_regions_in_another_order_are_put_right_and_other_regions_are_a_sentence() -> None:
    turned = numbered_atlas(3, names=["R", "L", "M"])
    further = replace(read("c", atlas=turned), subjects=(Subject("c", series=np.array([[3.0, 1, 2], [6, 4, 5]])),))
    both = add_subjects(read("a"), further)
    np.testing.assert_array_equal(both["c"].series, [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(InputError, match="One cohort has one atlas"):
        add_subjects(read("a"), read("c", atlas=Atlas("mine", "Mine", ("x", "y", "z"))))


ATLAS = load_atlas("schaefer100")
ABSENT = (3, 10, 55, 70, 99)
PRESENT = [i for i in range(100) if i not in ABSENT]


def series(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(120, 100)).cumsum(axis=0)


def write(path, values, *, absent=(), names=ATLAS.regions, order=None):
    kept = [i for i in (order if order is not None else range(len(names))) if i not in absent]
    header = ",".join(names[i] for i in kept)
    np.savetxt(path, values[:, kept], delimiter=",", header=header, comments="", fmt="%.6f")
    return path


@pytest.fixture(scope="module")
def five_absent(tmp_path_factory) -> Cohort:
    """A subject whose file leaves five parcels out, and has the others in some order."""
    path = tmp_path_factory.mktemp("absent") / "s1.csv"
    order = np.random.default_rng(1).permutation(100)
    return read_cohort(write(path, series(), absent=ABSENT, order=order))


def test_five_absent_parcels_leave_the_others_at_their_places(five_absent):
    (subject,) = five_absent
    assert five_absent.atlas is ATLAS
    assert five_absent.atlas_decided_by == "the region names"
    assert subject.missing_regions == subject.silent_regions == ABSENT
    np.testing.assert_allclose(subject.series[:, PRESENT], series()[:, PRESENT], atol=1e-6)
    named = ", ".join(ATLAS.regions[i] for i in ABSENT)
    assert subject.source.options["absent regions"] == named
    assert any("5 regions of 100 are missing in 1 of 1 subject (absent" in note for note in five_absent.notes)
    assert any(named in note for note in five_absent.notes)


def test_they_are_gaps_in_the_figures(five_absent):
    measured = Measured(five_absent).of("s1")
    heatmap = connectivity_heatmap(measured, connectivity_heatmap.takes())
    matrix = heatmap.marks[0].z
    assert np.flatnonzero(np.isnan(matrix).all(axis=0)).tolist() == list(ABSENT)
    assert np.isnan(matrix).sum() == 100**2 - 95**2
    assert "5 regions without data are gaps." in heatmap.caption
    assert draw_on_screen(heatmap)["layout"]["plot_bgcolor"] == GAP_COLOUR, "white is zero"
    assert len(connectivity_distribution(measured, NoOptions()).numbers()) == 95 * 94 / 2
    curves = hub_curves(measured, HubCurvesOptions(measures=("node_entanglement",), order="atlas"))
    assert np.flatnonzero(np.isnan(curves.marks[0].y)).tolist() == list(ABSENT)
    brain = hub_brain(measured, _HubBrainOptions(brain="inflated"))
    assert brain.numbers()["node_entanglement_rank"].isna().sum() == 5
    painted = [trace for trace in draw_on_screen(brain)["data"] if trace["name"] == "regions"]
    named = " ".join(text for trace in painted for text in trace["text"])
    assert ATLAS.regions[3] not in named.replace("<b>", " ").replace("</b>", " ").split()
    assert ATLAS.regions[4] in named
    assert "are gaps" in brain.caption


def test_cut_names_in_the_17_network_order_and_of_an_atlas_that_the_user_names(tmp_path):
    other = load_atlas("schaefer100_17")
    path = write(tmp_path / "s1.csv", series(), absent=ABSENT, names=other.regions)
    assert read_cohort(path).atlas is other
    few = write(tmp_path / "s2.csv", series(), absent=range(40, 100))
    assert read_cohort(few, atlas="schaefer100")["s2"].missing_regions == tuple(range(40, 100))
    unknown = read_cohort(path, atlas="unknown")
    assert unknown.atlas.n_regions == 95


def test_a_matrix_lacks_rows_and_columns(tmp_path):
    matrix = np.corrcoef(series().T)
    (subject,) = read_cohort(write(tmp_path / "s1.csv", matrix[PRESENT], absent=ABSENT))
    assert subject.missing_regions == ABSENT
    there = np.ix_(PRESENT, PRESENT)
    np.testing.assert_allclose(subject.connectivity[there], matrix[there], atol=1e-6)


@pytest.fixture
def differing() -> Cohort:
    """Three subjects: one whole, one without region 2, one whose regions 2 and 7 are silent."""
    some = [series(i) for i in range(3)]
    some[1][:, 2] = 0
    some[2][:, [2, 7]] = 4
    missing = ((), (2,), ())
    subjects = tuple(Subject(f"s{i}", series=x, missing_regions=missing[i]) for i, x in enumerate(some))
    return Cohort("c", subjects, ATLAS)


def test_subjects_who_lack_different_regions_are_told(differing):
    assert missing_regions(differing) == {"s1": (2,), "s2": (2, 7)}
    first, second = ATLAS.regions[2], ATLAS.regions[7]
    assert missing_words(differing) == (
        "2 regions of 100 are missing in 2 of 3 subjects, and not the same ones in each (absent, NaN or without "
        f"signal): {first} (in 2 of 3), {second} (in 1 of 3)."
    )


def test_shared_regions_keep_names_networks_and_places(differing):
    shared = keep_shared_regions(differing)
    kept = [i for i in range(100) if i not in (2, 7)]
    assert shared.atlas.n_regions == 98
    assert shared.atlas.title == f"{ATLAS.title}, 98 of 100 regions"
    assert shared.atlas.regions == tuple(ATLAS.regions[i] for i in kept)
    assert shared.atlas.labels["yeo7"] == tuple(ATLAS.labels["yeo7"][i] for i in kept)
    np.testing.assert_array_equal(shared.atlas.coordinates, ATLAS.coordinates[kept])
    np.testing.assert_array_equal(shared["s2"].series, differing["s2"].series[:, kept])
    assert missing_regions(shared) == {}
    brain = hub_brain(Measured(shared).of("s0"), _HubBrainOptions(brain="pial"))
    assert "98 regions painted on the pial" in brain.caption
    assert keep_shared_regions(shared) is shared


def test_further_subjects_come_to_the_shared_regions(differing):
    shared = keep_shared_regions(differing)
    further = Cohort("d", (Subject("s9", series=series(9)),), ATLAS)
    both = add_subjects(shared, further)
    assert both["s9"].n_regions == 98
    again = HandEdits.between(differing, shared).make_again(differing)
    assert again.atlas.regions == shared.atlas.regions


@pytest.mark.parametrize("rule", ["gaps", "shared", "refuse"])
def test_the_reader_does_what_the_user_chose(tmp_path, rule):
    write(tmp_path / "s1.csv", series(1))
    write(tmp_path / "s2.csv", series(2), absent=(5, 6))
    cohort = read_cohort(tmp_path, options=ReadOptions(missing=rule))
    assert cohort.ids == (("s1",) if rule == "refuse" else ("s1", "s2"))
    assert cohort.atlas.n_regions == (98 if rule == "shared" else 100)
    assert any("2 regions of 100 are missing in 1 of 2 subjects" in note for note in cohort.notes)
    if rule == "refuse":
        assert "It lacks 2 regions" in cohort.refused[0].reason


def test_refusing_everybody_and_sharing_nothing_are_sentences(tmp_path, differing):
    write(tmp_path / "s2.csv", series(2), absent=(5, 6))
    with pytest.raises(InputError, match="Every subject lacks a region"):
        read_cohort(tmp_path, options=ReadOptions(missing="refuse"))
    halves = [np.where(np.arange(100) < 50, series(), 0), np.where(np.arange(100) >= 50, series(), 0)]
    apart = replace(differing, subjects=tuple(Subject(f"s{i}", series=x) for i, x in enumerate(halves)))
    with pytest.raises(InputError, match="share 0 regions"):
        keep_shared_regions(apart)


def recording(name, rng, *, n=40, **about):
    source = Source(f"{name}.tsv", 10, name[-1] * 64, "tsv")
    return Subject(name, series=rng.standard_normal((n, 5)).cumsum(axis=0), source=source, **about)


@pytest.fixture
def recorded(rng):
    subjects = (
        recording("sub-01_ses-1_run-10", rng, n=30, tr=2.0, phenotypes={"age": 20, "site": "b"}),
        recording("sub-01_ses-1_run-2", rng, n=50, tr=2.0, phenotypes={"age": 21, "site": "a"}),
        recording("sub-01_ses-2_run-1", rng, n=70, tr=0.8, phenotypes={"age": 22, "site": "a"}),
        recording("sub-02_ses-2_run-1", rng, phenotypes={"age": 30, "site": None}),
    )
    return Cohort("c", subjects, numbered_atlas(5))


def test_averaged_series_have_the_mean_connectivity_weighted_by_length(recorded):
    averaged = apply_recording_rule(recorded, "averaged")
    assert averaged.ids == ("sub-01", "sub-02")
    lengths = [50, 30, 70]
    runs = [recorded[f"sub-01_{name}"].series for name in ("ses-1_run-2", "ses-1_run-10", "ses-2_run-1")]
    expected = np.average([np.corrcoef(run.T) for run in runs], axis=0, weights=lengths)
    found = subject_connectivity(averaged["sub-01"])
    np.testing.assert_allclose(found - np.diag(np.diag(found)), expected - np.eye(5), atol=1e-12)
    assert averaged["sub-01"].n_timepoints == 150
    assert averaged["sub-01"].tr is None, "the runs have different ones"
    assert averaged["sub-01"].phenotypes == {"age": 21.0, "site": "a"}, "the mean, or the most frequent"
    assert averaged["sub-02"].series is recorded["sub-02_ses-2_run-1"].series
    assert averaged.notes[-1].startswith("Several recordings of 1 person (3 recordings): one row per person: series")


def test_the_provenance_names_every_recording_in_the_order_of_runs(recorded):
    said = apply_recording_rule(recorded, "averaged")["sub-01"].source
    files = [part.split(" (")[0] for part in said.options["recordings"].split(": ", 1)[1].split("; ")]
    assert files == ["sub-01_ses-1_run-2.tsv", "sub-01_ses-1_run-10.tsv", "sub-01_ses-2_run-1.tsv"]
    assert said.options["recordings"].startswith("z-scored and joined end to end: ")
    assert (said.n_bytes, len(said.sha256)) == (30, 64)
    assert said.file == "sub-01_ses-1_run-2.tsv and 2 further recordings"


def test_a_region_that_one_recording_lacks_is_missing(recorded, rng):
    series = recorded["sub-01_ses-1_run-2"].series.copy()
    series[:, 3] = 7.0
    silent = Subject("sub-01_ses-1_run-2", series=series)
    changed = Cohort("c", (recorded["sub-01_ses-2_run-1"], silent), recorded.atlas)
    averaged = apply_recording_rule(changed, "averaged")["sub-01"]
    assert averaged.missing_regions == averaged.silent_regions == (3,)
    np.testing.assert_allclose(averaged.series.std(axis=0), [1, 1, 1, 0, 1])


def test_matrices_are_averaged_as_fisher_z(rng):
    matrices = [np.corrcoef(rng.standard_normal((4, 30))) for _ in range(2)]
    subjects = [Subject(f"s_run-{i}", connectivity=matrix) for i, matrix in enumerate(matrices)]
    recorded = Cohort("c", tuple(subjects), numbered_atlas(4))
    found = apply_recording_rule(recorded, "averaged")["s"].connectivity
    assert found[0, 1] == pytest.approx(np.tanh((np.arctanh(matrices[0][0, 1]) + np.arctanh(matrices[1][0, 1])) / 2))
    np.testing.assert_allclose(np.diag(found), 1)
    counts = [Subject(f"s_run-{i}", connectivity=10 * matrix) for i, matrix in enumerate(matrices)]
    found = apply_recording_rule(Cohort("c", tuple(counts), numbered_atlas(4)), "averaged")["s"].connectivity
    np.testing.assert_allclose(found, 5 * (matrices[0] + matrices[1]), atol=1e-12)


def test_the_earliest_and_a_chosen_run(recorded):
    assert apply_recording_rule(recorded) is recorded, "apart"
    assert apply_recording_rule(recorded, "earliest").ids == ("sub-01_ses-1_run-2", "sub-02_ses-2_run-1")
    chosen = apply_recording_rule(recorded, run="ses-2")
    assert chosen.ids == ("sub-01_ses-2_run-1", "sub-02_ses-2_run-1")
    first = apply_recording_rule(recorded, run="ses-1_run-2")
    assert first.ids == ("sub-01_ses-1_run-2",)
    assert [(item.file, item.reason) for item in first.refused] == [
        ("sub-02", "There is no recording ses-1_run-2 of this person.")
    ]
    both = apply_recording_rule(recorded, "averaged", run="ses-1")
    assert (both.ids, both["sub-01"].n_timepoints) == (("sub-01",), 80)


def test_somebody_in_two_groups_is_refused_and_the_others_are_averaged(recorded):
    groups = {"sub-01_ses-1_run-2": "NC", "sub-01_ses-1_run-10": "NC", "sub-01_ses-2_run-1": "MCI"}
    averaged = apply_recording_rule(recorded.with_groups(groups), "averaged")
    assert averaged.ids == ("sub-02",)
    assert "NC (ses-1_run-2), NC (ses-1_run-10), MCI (ses-2_run-1)" in averaged.refused[0].reason


def test_runs_that_are_there_joined_already_do_not_count_twice(recorded, rng):
    joined = recording("sub-01_ses-1", rng, n=80)
    averaged = apply_recording_rule(Cohort("c", (*recorded.subjects, joined), recorded.atlas), "averaged")
    assert averaged["sub-01"].n_timepoints == 150
    assert "Left out, because its runs are there: sub-01_ses-1." in averaged.notes


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        *((word, "is no session or run") for word in ("2", "task-rest", "run-", "run-1;ses-1")),
        ("run-7", r"Nobody has a recording run-7\. There are: ses-1_run-10, ses-1_run-2, ses-2"),
    ],
)
def test_a_word_that_is_no_run_or_nobodys_is_a_sentence(recorded, run, sentence):
    with pytest.raises(InputError, match=sentence):
        apply_recording_rule(recorded, run=run)


@pytest.fixture
def xcpd(tmp_path, rng):
    """An XCP-D tree: two people, sessions, runs, and tables that are no series."""
    regions = load_atlas("4s156").regions
    for person, session, run in [("01", 1, 1), ("01", 1, 2), ("01", 2, 1), ("02", 1, 1)]:
        folder = tmp_path / f"sub-{person}" / f"ses-{session}" / "func"
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"sub-{person}_ses-{session}_task-rest_run-{run}_space-MNI152NLin2009cAsym"
        rows = ["\t".join(regions), *("\t".join(f"{v:.4f}" for v in row) for row in rng.standard_normal((20, 156)))]
        (folder / f"{stem}_seg-4S156Parcels_stat-mean_timeseries.tsv").write_text("\n".join(rows))
        (folder / f"{stem}_desc-abcd_motion.tsv").write_text("framewise_displacement\n0.1\n")
        matrix = "\n".join(["\t".join(["Node", *regions]), *("\t".join([name, *["0.1"] * 156]) for name in regions)])
        (folder / f"{stem}_seg-4S156Parcels_stat-pearsoncorrelation_relmat.tsv").write_text(matrix)
    (tmp_path / "participants.tsv").write_text("participant_id\tgroup\tage\nsub-01\tNC\t30\nsub-02\tASD\t40\n")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "ids", "lengths"),
    [
        ({}, ("sub-01_ses-1_run-1", "sub-01_ses-1_run-2", "sub-01_ses-2_run-1", "sub-02_ses-1_run-1"), [20] * 4),
        ({"recordings": "averaged"}, ("sub-01", "sub-02"), [60, 20]),
        ({"recordings": "averaged", "run": "ses-1"}, ("sub-01", "sub-02"), [40, 20]),
        ({"run": "run-1", "recordings": "earliest"}, ("sub-01_ses-1_run-1", "sub-02_ses-1_run-1"), [20, 20]),
    ],
)
def test_an_xcpd_tree_with_sessions_and_runs(xcpd, options, ids, lengths):
    recorded = read_cohort(xcpd, options=ReadOptions(**options))
    assert recorded.ids == ids
    assert [subject.n_timepoints for subject in recorded] == lengths
    assert recorded.atlas.name == "4s156"
    assert [subject.group for subject in recorded] == ["NC"] * (len(ids) - 1) + ["ASD"]
