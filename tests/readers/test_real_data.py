"""Real releases, as they were downloaded."""

import numpy as np
import pandas as pd
import pytest

from biobgt import ChoiceNeeded, read_cohort


def test_abide_files(shared_data):
    cohort = read_cohort(shared_data / "raw" / "abide", phenotypes=shared_data / "abide_phenotypes.csv")
    assert len(cohort) == 8
    assert cohort.atlas.name == "cc200"
    assert dict(cohort.group_sizes) == {"NC": 3, "ASD": 5}
    assert cohort.refused == ()
    subject = cohort["NYU_0050952"]
    table = pd.read_csv(shared_data / "raw" / "abide" / "NYU_0050952_rois_cc200.1D", sep="\t")
    np.testing.assert_array_equal(subject.series, table.to_numpy())
    assert subject.phenotypes["site"] == "NYU"


def test_a_cni_folder(shared_data):
    folder = shared_data / "raw" / "cni2019"
    with pytest.raises(ChoiceNeeded, match="more than one atlas"):
        read_cohort(folder)
    cohort = read_cohort(folder, atlas="cc200")
    assert dict(cohort.group_sizes) == {"NC": 2, "ADHD": 2}
    raw = np.loadtxt(folder / "sub-044" / "timeseries_cc200.csv", delimiter=",")
    np.testing.assert_array_equal(cohort["sub-044"].series, raw.T)  # region by time, as released


@pytest.mark.parametrize(
    ("name", "phenotypes", "atlas", "groups"),
    [
        ("abide_cc200", "abide", "cc200", {"NC": 462, "ASD": 437}),
        ("abide_aal116", "abide", "aal116", {"NC": 462, "ASD": 437}),
        ("cni2019_cc200", "cni2019", "cc200", {"NC": 120, "ADHD": 120}),
    ],
)
def test_cohort_archives(shared_data, name, phenotypes, atlas, groups):
    cohort = read_cohort(shared_data / f"{name}.npz", phenotypes=shared_data / f"{phenotypes}_phenotypes.csv")
    assert cohort.atlas.name == atlas
    assert dict(cohort.group_sizes) == groups
    assert cohort.unmatched_subjects == ()
    assert cohort.unmatched_rows == ()


def test_the_archive_and_the_release_agree(shared_data):
    archive = read_cohort(shared_data / "abide_cc200.npz")
    raw = read_cohort(shared_data / "raw" / "abide")
    for subject in raw:
        standardised = (subject.series - subject.series.mean(axis=0)) / subject.series.std(axis=0)
        np.testing.assert_allclose(archive[subject.id].series, standardised, atol=5e-3)
