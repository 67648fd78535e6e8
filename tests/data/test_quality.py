import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.quality import _same_series, mean_connectivity, quality_flags, quality_table
from biobgt.readers import read_cohort

ATLAS = numbered_atlas(10)


def names(subject: Subject) -> set[str]:
    return {flag.name for flag in quality_flags(subject, ATLAS)}


@pytest.fixture
def series(rng):
    return rng.standard_normal((200, 10)) + 0.7 * rng.standard_normal((200, 1))


def test_short_series_are_flagged_and_good_ones_are_not(series):
    assert names(Subject(id="s", series=series, tr=2.0)) == set()
    assert names(Subject(id="s", series=series[:99])) == {"short"}
    assert names(Subject(id="s", series=series[:149], tr=2.0)) == {"short"}
    assert names(Subject(id="s", series=series[:151], tr=2.0)) == set()


def test_fewer_time_points_than_regions_is_a_note(rng):
    subject = Subject(id="s", series=rng.standard_normal((200, 200)) + rng.standard_normal((200, 1)))
    flags = quality_flags(subject, load_atlas("cc200"))
    assert [(flag.name, flag.level) for flag in flags] == [("fewer time points than regions", "note")]


def test_silent_and_missing_regions_are_named(series):
    series = series.copy()
    series[:, [2, 7]] = 0
    subject = Subject(id="s", series=series, missing_regions=(7,))
    flags = quality_flags(subject, ATLAS)
    assert [flag.name for flag in flags] == ["missing regions", "silent regions"]
    assert _same_series(subject) == ()
    assert "Region 8" in flags[0].sentence
    assert "Region 3" in flags[1].sentence


@pytest.mark.parametrize("change", [lambda x: x, lambda x: -3 * x + 40, lambda x: x.round(3)])
def test_copied_regions_are_named(series, change):
    copied = series.copy()
    copied[:, [4, 8]] = change(series[:, [1]])
    subject = Subject(id="s", series=copied, tr=2.0)
    assert _same_series(subject) == (1, 4, 8)
    (flag,) = quality_flags(subject, ATLAS)
    assert (flag.name, flag.level) == ("same series", "warning")
    assert flag.sentence.startswith("3 regions (Region 2, Region 5, Region 9) have the same series as another region")
    assert _same_series(Subject(id="m", connectivity=np.corrcoef(copied.T))) == (1, 4, 8)
    assert _same_series(Subject(id="w", connectivity=7 * np.abs(np.corrcoef(copied.T)))) == ()
    table = quality_table(Cohort("c", (subject, Subject(id="t", series=series)), ATLAS))
    assert table["same series"].tolist() == [3, 0]


def test_suspicious_connectivity(rng):
    common = rng.standard_normal((200, 1))
    assert names(Subject(id="s", series=rng.standard_normal((200, 10)) + 3 * common)) == {"high mean FC"}
    assert names(Subject(id="s", series=rng.standard_normal((200, 10)))) == {"no structure"}


def test_filtered_noise_has_no_structure_either(rng):
    wide = numbered_atlas(60)
    band = butter(2, (0.01, 0.1), "bandpass", fs=0.5, output="sos")
    slow = sosfiltfilt(band, rng.standard_normal((150, 60)), axis=0)
    heard = slow / slow.std() + sosfiltfilt(band, rng.standard_normal((150, 1)), axis=0) / slow.std()
    flags = [[flag.name for flag in quality_flags(Subject("s", series=one), wide)] for one in (slow, heard)]
    assert ["no structure" in one for one in flags] == [True, False]
    strength = mean_connectivity(Subject("s", series=slow))[1]
    assert strength > 1.5 * np.sqrt(2 / (np.pi * 150)), "as if it had structure, going by its length alone"


def test_mean_connectivity_leaves_silent_regions_out(series):
    silent = series.copy()
    silent[:, 0] = 0
    assert mean_connectivity(Subject(id="s", series=silent)) == pytest.approx(
        mean_connectivity(Subject(id="s", series=series[:, 1:]))
    )


def test_a_scan_under_two_ids_is_named(rng, series):
    # The same scan, brought as its matrix, from a file of three decimals.
    stored = Subject(id="again", connectivity=np.corrcoef(series.round(3).T))
    others = [Subject(id=f"s{i}", series=rng.standard_normal((200, 10)) + series[:, :1]) for i in range(3)]
    table = quality_table(Cohort("c", (Subject(id="once", series=series), *others, stored), ATLAS)).set_index("subject")
    assert table.loc["once", "warnings"].startswith("Holds the same scan as 'again'")
    assert table.loc["again", "warnings"].startswith("Holds the same scan as 'once'")
    assert not table.loc[["s0", "s1", "s2"], "warnings"].str.contains("same scan").any()


def test_equal_means_are_not_enough(series):
    shuffled = np.corrcoef(series.T)[::-1, ::-1]  # the same means, other regions
    cohort = Cohort("c", (Subject(id="a", series=series), Subject(id="b", connectivity=shuffled)), ATLAS)
    assert "same scan" not in " ".join(quality_table(cohort)["warnings"])


def test_real_cohorts_are_mostly_unsuspicious(shared_data):
    abide, cni = (read_cohort(shared_data / f"{name}.npz") for name in ("abide_cc200", "cni2019_cc200"))
    for cohort in (abide, cni):
        flagged = {flag.name for subject in cohort.subjects[::5] for flag in quality_flags(subject, cohort.atlas)}
        assert not flagged & {"high mean FC", "no structure", "same series"}
    silent = [subject.id for subject in abide if subject.silent_regions]
    assert 40 <= len(silent) < 60  # as the data's own page says
