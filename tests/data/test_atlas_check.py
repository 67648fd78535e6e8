"""A check of the atlas: mirrored regions are strongly connected, unless the columns are other regions."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biobgt import ReadOptions, load_atlas, read_cohort
from biobgt.base.files import asset
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.quality import LEAST_MIRROR, atlas_check

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


def test_too_few_places_say_nothing(rng):
    assert atlas_check(np.eye(3), Cohort("c", (Subject("s", connectivity=np.eye(3)),), _places(3)).atlas) is None


def _places(n):
    from biobgt import Atlas

    return Atlas(name="few", title="Few", regions=tuple(f"r{i}" for i in range(n)), coordinates=np.ones((n, 3)))


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
