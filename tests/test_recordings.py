"""Sessions and runs of one person: kept apart, averaged, or one of them chosen, and said in the provenance."""

import numpy as np
import pytest

from biobgt import Cohort, InputError, Subject, load_atlas, read_cohort
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Source
from biobgt.data.connectivity import subject_connectivity
from biobgt.data.edits import apply_recording_rule, check_run, join_series
from biobgt.readers import ReadOptions, stream_subjects


def recording(name, rng, *, n=40, **about):
    source = Source(f"{name}.tsv", 10, name[-1] * 64, "tsv")
    return Subject(name, series=rng.standard_normal((n, 5)).cumsum(axis=0), source=source, **about)


@pytest.fixture
def cohort(rng):
    subjects = (
        recording("sub-01_ses-1_run-10", rng, n=30, tr=2.0, phenotypes={"age": 20, "site": "b"}),
        recording("sub-01_ses-1_run-2", rng, n=50, tr=2.0, phenotypes={"age": 21, "site": "a"}),
        recording("sub-01_ses-2_run-1", rng, n=70, tr=0.8, phenotypes={"age": 22, "site": "a"}),
        recording("sub-02_ses-2_run-1", rng, phenotypes={"age": 30, "site": None}),
    )
    return Cohort("c", subjects, numbered_atlas(5))


def test_averaged_series_have_the_mean_connectivity_weighted_by_length(cohort):
    averaged = apply_recording_rule(cohort, "averaged")
    assert averaged.ids == ("sub-01", "sub-02")
    lengths = [50, 30, 70]
    runs = [cohort[f"sub-01_{name}"].series for name in ("ses-1_run-2", "ses-1_run-10", "ses-2_run-1")]
    expected = np.average([np.corrcoef(run.T) for run in runs], axis=0, weights=lengths)
    found = subject_connectivity(averaged["sub-01"])
    np.testing.assert_allclose(found - np.diag(np.diag(found)), expected - np.eye(5), atol=1e-12)
    assert averaged["sub-01"].n_timepoints == 150
    assert averaged["sub-01"].tr is None, "the runs have different ones"
    assert averaged["sub-02"].series is cohort["sub-02_ses-2_run-1"].series
    assert averaged.notes[-1].startswith("Several recordings of 1 person (3 recordings): one row per person: series")


def test_the_provenance_names_every_recording_in_the_order_of_runs(cohort):
    said = apply_recording_rule(cohort, "averaged")["sub-01"].source
    files = [part.split(" (")[0] for part in said.options["recordings"].split(": ", 1)[1].split("; ")]
    assert files == ["sub-01_ses-1_run-2.tsv", "sub-01_ses-1_run-10.tsv", "sub-01_ses-2_run-1.tsv"]
    assert said.options["recordings"].startswith("z-scored and joined end to end: ")
    assert (said.n_bytes, len(said.sha256)) == (30, 64)
    assert said.file == "sub-01_ses-1_run-2.tsv and 2 further recordings"


def test_phenotypes_of_recordings_are_averaged_or_the_most_frequent(cohort):
    assert apply_recording_rule(cohort, "averaged")["sub-01"].phenotypes == {"age": 21.0, "site": "a"}


def test_a_region_that_one_recording_lacks_is_missing(cohort, rng):
    series = cohort["sub-01_ses-1_run-2"].series.copy()
    series[:, 3] = 7.0
    silent = Subject("sub-01_ses-1_run-2", series=series)
    changed = Cohort("c", (cohort["sub-01_ses-2_run-1"], silent), cohort.atlas)
    averaged = apply_recording_rule(changed, "averaged")["sub-01"]
    assert averaged.missing_regions == averaged.silent_regions == (3,)


def test_matrices_are_averaged_as_fisher_z(rng):
    matrices = [np.corrcoef(rng.standard_normal((4, 30))) for _ in range(2)]
    subjects = [Subject(f"s_run-{i}", connectivity=matrix) for i, matrix in enumerate(matrices)]
    cohort = Cohort("c", tuple(subjects), numbered_atlas(4))
    found = apply_recording_rule(cohort, "averaged")["s"].connectivity
    assert found[0, 1] == pytest.approx(np.tanh((np.arctanh(matrices[0][0, 1]) + np.arctanh(matrices[1][0, 1])) / 2))
    np.testing.assert_allclose(np.diag(found), 1)
    counts = [Subject(f"s_run-{i}", connectivity=10 * matrix) for i, matrix in enumerate(matrices)]
    found = apply_recording_rule(Cohort("c", tuple(counts), numbered_atlas(4)), "averaged")["s"].connectivity
    np.testing.assert_allclose(found, 5 * (matrices[0] + matrices[1]), atol=1e-12)


def test_the_earliest_and_a_chosen_run(cohort):
    assert apply_recording_rule(cohort, "earliest").ids == ("sub-01_ses-1_run-2", "sub-02_ses-2_run-1")
    chosen = apply_recording_rule(cohort, run="ses-2")
    assert chosen.ids == ("sub-01_ses-2_run-1", "sub-02_ses-2_run-1")
    first = apply_recording_rule(cohort, run="ses-1_run-2")
    assert first.ids == ("sub-01_ses-1_run-2",)
    assert [(item.file, item.reason) for item in first.refused] == [
        ("sub-02", "There is no recording ses-1_run-2 of this person.")
    ]
    both = apply_recording_rule(cohort, "averaged", run="ses-1")
    assert (both.ids, both["sub-01"].n_timepoints) == (("sub-01",), 80)


def test_apart_is_the_cohort_itself(cohort):
    assert apply_recording_rule(cohort) is cohort


def test_somebody_in_two_groups_is_refused_and_the_others_are_averaged(cohort):
    groups = {"sub-01_ses-1_run-2": "NC", "sub-01_ses-1_run-10": "NC", "sub-01_ses-2_run-1": "MCI"}
    averaged = apply_recording_rule(cohort.with_groups(groups), "averaged")
    assert averaged.ids == ("sub-02",)
    assert "NC (ses-1_run-2), NC (ses-1_run-10), MCI (ses-2_run-1)" in averaged.refused[0].reason


def test_runs_that_are_there_joined_already_do_not_count_twice(cohort, rng):
    joined = recording("sub-01_ses-1", rng, n=80)
    averaged = apply_recording_rule(Cohort("c", (*cohort.subjects, joined), cohort.atlas), "averaged")
    assert averaged["sub-01"].n_timepoints == 150
    assert "Left out, because its runs are there: sub-01_ses-1." in averaged.notes


@pytest.mark.parametrize("word", ["2", "task-rest", "run-", "run-1;ses-1"])
def test_a_word_that_is_no_run_is_a_sentence(word):
    with pytest.raises(InputError, match="is no session or run"):
        check_run(word)


def test_a_run_that_nobody_has_is_a_sentence(cohort):
    with pytest.raises(InputError, match=r"Nobody has a recording run-7\. There are: ses-1_run-10, ses-1_run-2, ses-2"):
        apply_recording_rule(cohort, run="run-7")


def test_silent_regions_stay_silent_when_joined():
    joined = join_series([np.array([[1.0, 5.0], [2, 5], [6, 5]])] * 2)
    np.testing.assert_array_equal(joined[:, 1], 0)
    np.testing.assert_allclose(joined[:, 0].std(), 1)


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
    cohort = read_cohort(xcpd, options=ReadOptions(**options))
    assert cohort.ids == ids
    assert [subject.n_timepoints for subject in cohort] == lengths
    assert cohort.atlas.name == "4s156"
    assert [subject.group for subject in cohort] == ["NC"] * (len(ids) - 1) + ["ASD"]


def test_a_stream_keeps_recordings_apart(xcpd):
    assert len([*stream_subjects(xcpd, atlas="4s156")]) == 4
    with pytest.raises(InputError, match="kept apart"):
        next(stream_subjects(xcpd, atlas="4s156", options=ReadOptions(recordings="averaged")))
