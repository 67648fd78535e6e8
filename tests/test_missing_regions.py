"""Regions that subjects lack are named, counted and drawn as gaps; cohorts work on shared ones, or refuse."""

from dataclasses import replace

import numpy as np
import pytest

from biobgt import Cohort, InputError, Subject, load_atlas, read_cohort
from biobgt.data.edits import add_subjects, edit_again, hand_edits, keep_shared_regions, missing_regions, missing_words
from biobgt.figures.connectivity import HeatmapOptions, connectivity_distribution, connectivity_heatmap
from biobgt.figures.gaps import GAP_COLOUR
from biobgt.figures.hub_brains import HubBrainOptions, hub_brain
from biobgt.figures.hubs import HubCurvesOptions, hub_curves
from biobgt.figures.register import NoOptions
from biobgt.figures.screen import draw_on_screen
from biobgt.readers import ReadOptions
from biobgt.results.measured import Measured

ATLAS = load_atlas("schaefer100")
ABSENT = (3, 10, 55, 70, 99)


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
    kept = [i for i in range(100) if i not in ABSENT]
    np.testing.assert_allclose(subject.series[:, kept], series()[:, kept], atol=1e-6)
    named = ", ".join(ATLAS.regions[i] for i in ABSENT)
    assert subject.source.options["absent regions"] == named
    assert any("5 regions of 100 are missing in 1 of 1 subject (absent" in note for note in five_absent.notes)
    assert any(named in note for note in five_absent.notes)


def test_they_are_gaps_in_the_figures(five_absent):
    measured = Measured(five_absent).of("s1")
    heatmap = connectivity_heatmap(measured, HeatmapOptions())
    matrix = heatmap.marks[0].z
    assert np.flatnonzero(np.isnan(matrix).all(axis=0)).tolist() == list(ABSENT)
    assert np.isnan(matrix).sum() == 100**2 - 95**2
    assert "5 regions without data are gaps." in heatmap.caption
    assert draw_on_screen(heatmap)["layout"]["plot_bgcolor"] == GAP_COLOUR, "white is zero"
    assert len(connectivity_distribution(measured, NoOptions()).numbers()) == 95 * 94 / 2
    curves = hub_curves(measured, HubCurvesOptions(measures=("node_entanglement",), order="atlas"))
    assert np.flatnonzero(np.isnan(curves.marks[0].y)).tolist() == list(ABSENT)
    brain = hub_brain(measured, HubBrainOptions(brain="inflated"))
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
    kept = [i for i in range(100) if i not in ABSENT]
    path = write(tmp_path / "s1.csv", matrix[kept], absent=ABSENT)
    (subject,) = read_cohort(path)
    assert subject.missing_regions == ABSENT
    np.testing.assert_allclose(subject.connectivity[np.ix_(kept, kept)], matrix[np.ix_(kept, kept)], atol=1e-6)


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
    found = missing_regions(differing)
    assert found.of_subject == {"s1": (2,), "s2": (2, 7)}
    assert found.anywhere == (2, 7)
    assert found.everywhere == ()
    first, second = ATLAS.regions[2], ATLAS.regions[7]
    assert missing_words(differing, found) == (
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
    assert missing_regions(shared).anywhere == ()
    brain = hub_brain(Measured(shared).of("s0"), HubBrainOptions(brain="pial"))
    assert "98 regions painted on the pial" in brain.caption
    assert keep_shared_regions(shared) is shared


def test_further_subjects_come_to_the_shared_regions(differing):
    shared = keep_shared_regions(differing)
    further = Cohort("d", (Subject("s9", series=series(9)),), ATLAS)
    both = add_subjects(shared, further)
    assert both["s9"].n_regions == 98
    again = edit_again(differing, hand_edits(differing, shared))
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
