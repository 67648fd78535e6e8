"""A cohort's kind of connectivity: told by values, asked where these do not tell, kept, and followed by every word."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest

from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort, Subject, join_cohorts
from biobgt.data.connectivity import brain_graph, graph_from_connectivity
from biobgt.data.edits import add_subjects, set_given_kind
from biobgt.data.graph import KINDS, ConnectomeSettings, told_kind
from biobgt.data.quality import quality_table
from biobgt.export.methods import _acquisition_sentences, _people_sentences
from biobgt.export.request import CohortRef, cohort_sha256
from biobgt.figures.connectivity import connectivity_shades
from biobgt.figures.hubs import _strength_remark
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.register import all_figures
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.model.inputs import correlations
from biobgt.model.pretrained import other_connectivity
from biobgt.readers import ReadOptions, read_cohort
from biobgt.readers.project import open_project, save_project
from biobgt.results.autosave import Copies
from biobgt.results.measured import Measured
from biobgt.results.tables import analyse_hubs, analyse_modules

N = 12
FUNCTIONAL_WORDS = re.compile(r"functional|fMRI|Pearson|correlation matri|\bFC\b|global.signal|\br\b|estimated", re.I)
HUB_FIGURES = {"hub_curves": {}, "hub_scatter": {"measure": "fc_strength"}, "gamma_sweep": {}}


def symmetric(weights: np.ndarray) -> np.ndarray:
    upper = np.triu(weights, 1)
    return upper + upper.T


def streamlines(seed: int = 0) -> np.ndarray:
    """Counts from 0 to 8e3, many of them 0, as tractography gives them."""
    rng = np.random.default_rng(seed)
    counts = np.floor(np.exp(rng.normal(3, 2, (N, N)))) * (rng.random((N, N)) < 0.7)
    counts[0, 1] = 8200
    return symmetric(counts)


def signals(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    signs = np.resize([1, -1], N)
    return rng.standard_normal((60, N)) + signs * rng.standard_normal((60, 1))


def correlated(seed: int = 0) -> np.ndarray:
    """Correlations of both signs, about zero on average."""
    return np.corrcoef(signals(seed).T)


MATRICES = {"structural": streamlines, "tiny": lambda seed: streamlines(seed) / 8200 * 1e-2, "functional": correlated}


def cohort_of(kind: str, n: int = 2, **about) -> Cohort:
    made = [Subject(f"s{i}", connectivity=MATRICES[kind](i)) for i in range(n)]
    return Cohort("study", tuple(made), numbered_atlas(N), **about)


def series_cohort() -> Cohort:
    return Cohort("series", (Subject("t0", series=signals()),), numbered_atlas(N))


@pytest.fixture
def folder(tmp_path):
    """Write matrices of a kind as CSV, and name the folder."""

    def write(kind: str):
        for i in range(2):
            np.savetxt(tmp_path / f"sub-0{i}.csv", MATRICES[kind](i), delimiter=",", fmt="%.9g")
        return tmp_path

    return write


OPEN = symmetric(np.random.default_rng(0).uniform(0.2, 0.9, (N, N)))  # neither sign, diagonal nor decades


@pytest.mark.parametrize(
    ("matrix", "kind"),
    [
        (correlated(), "functional"),
        (np.abs(correlated()), "functional"),  # its diagonal says so
        (correlated() - np.eye(N), "functional"),  # its signs say so
        (np.arctanh(0.99 * correlated()) * (1 - np.eye(N)), "functional"),
        (streamlines(), "structural"),
        (streamlines() / 1e6, "structural"),
        (symmetric(np.full((N, N), 0.01) + np.arange(N) / 1e4), "structural"),  # no decades, but tiny
        (OPEN, None),
        (10 * OPEN, None),
        (symmetric(np.ones((N, N))), None),
        (symmetric(np.ones((N, N))) + np.eye(N), None),
        (np.eye(N), None),
    ],
)
def test_values_tell_the_kind_or_do_not(matrix, kind) -> None:
    assert told_kind(matrix) == kind


def test_structural_connectomes_of_people_are_told(shared_data) -> None:
    path = shared_data / "structural" / "pd_glasser379.npz"
    if not path.exists():
        pytest.skip("the structural connectomes are not on this machine (../shared/data/structural)")
    weights = np.load(path)["weights"]
    for row in weights:
        matrix = np.zeros((379, 379))
        matrix[np.triu_indices(379, 1)] = row
        assert told_kind(matrix + matrix.T) == "structural"


def test_a_cohort_knows_its_kind_whatever_is_selected_of_it() -> None:
    assert cohort_of("structural").kind.key == cohort_of("tiny").kind.key == "structural"
    assert series_cohort().kind.key == "estimated"
    said = cohort_of("tiny", given="other")
    assert said.select(lambda subject: subject.id == "s0").kind.key == "other"
    odd = Cohort("odd", (Subject("a", connectivity=OPEN),), numbered_atlas(N))
    assert odd.kind.key == "other", "nothing is claimed that values do not tell"


def test_a_cohort_has_one_kind() -> None:
    other = replace(cohort_of("functional"), subjects=(Subject("f", connectivity=correlated(9)),))
    with pytest.raises(InputError, match="one kind"):
        add_subjects(cohort_of("tiny"), other)
    for two in ([cohort_of("tiny"), other], [cohort_of("structural"), series_cohort()]):
        with pytest.raises(InputError, match="one kind"):
            join_cohorts(two, name="x")
    both = join_cohorts([other, series_cohort()], name="x")
    assert (both.kind_of(both["t0"]).key, both.kind_of(both["f"]).key) == ("estimated", "functional")


@pytest.mark.parametrize("kind", ["structural", "tiny", "functional"])
def test_reading_tells_the_kind_and_writes_it_down(folder, kind) -> None:
    cohort = read_cohort(folder(kind), atlas="unknown")
    told = "functional" if kind == "functional" else "structural"
    assert cohort.given == told
    assert any(told in note and "values" in note for note in cohort.notes)
    assert cohort["sub-00"].source.options["connectivity"] == told
    said = read_cohort(folder(kind), atlas="unknown", options=ReadOptions(connectivity="other"))
    assert said.given == "other"
    assert said["sub-00"].source.options["connectivity decided by"] == "the user"


def test_reading_asks_where_values_do_not_tell(tmp_path) -> None:
    np.savetxt(tmp_path / "a.csv", OPEN, delimiter=",")
    with pytest.raises(ChoiceNeeded) as asked:
        read_cohort(tmp_path, atlas="unknown")
    assert asked.value.option == "connectivity"
    assert asked.value.choices == ("functional", "structural", "other")
    for choice in asked.value.choices:
        assert read_cohort(tmp_path, atlas="unknown", options=ReadOptions(connectivity=choice)).given == choice
    np.savetxt(tmp_path / "b.csv", correlated(), delimiter=",")
    np.savetxt(tmp_path / "c.csv", streamlines(), delimiter=",")
    with pytest.raises(ChoiceNeeded, match="others structural"):
        read_cohort(tmp_path, atlas="unknown")


def test_projects_and_copies_keep_the_kind(tmp_path) -> None:
    cohort = set_given_kind(cohort_of("functional"), "other")
    file = io.BytesIO()
    save_project(cohort, ConnectomeSettings(), {}, file)
    assert open_project(file).cohort.given == "other"
    Copies(tmp_path).save("0" * 16, cohort, ConnectomeSettings(), {})
    assert Copies(tmp_path).open("0" * 16)[0].cohort.given == "other"
    assert cohort_sha256(cohort) != cohort_sha256(cohort_of("functional"))


def test_structural_graphs_keep_every_connection_unless_another_threshold_is_chosen() -> None:
    cohort = cohort_of("tiny")
    assert Measured(cohort).of("s0").settings.threshold == "none"
    graph = brain_graph(cohort["s0"], cohort.atlas)
    np.testing.assert_array_equal(graph.weights, MATRICES["tiny"](0))
    chosen = ConnectomeSettings.usual(cohort.kind, threshold="proportional", level=0.1)
    assert Measured(cohort).of("s0", chosen).graph().n_edges == round(0.1 * N * (N - 1) / 2)
    assert ConnectomeSettings.usual(KINDS["functional"]) == ConnectomeSettings()


def test_a_graph_that_loses_all_edges_is_an_error() -> None:
    cohort = cohort_of("tiny")
    with pytest.raises(InputError, match=r"largest weight is 0\.01,"):
        graph_from_connectivity(MATRICES["tiny"](0), ConnectomeSettings(), subject="s0")
    for analyse in (analyse_hubs, analyse_modules):
        with pytest.raises(InputError, match="no connection left"):
            analyse(cohort, ConnectomeSettings(), workers=1)
    with pytest.raises(InputError, match="sign rule"):
        graph_from_connectivity(-np.abs(correlated()), ConnectomeSettings(threshold="none"))
    assert graph_from_connectivity(np.eye(N)).n_edges == 0, "nothing was lost where there was nothing"


def sayings(cohort: Cohort) -> dict[str, str]:
    """All that figures of the first subject, and the methods, say."""
    measured = Measured(cohort).of("s0")
    said = {}
    for name in ("connectivity_heatmap", "connectivity_distribution", "module_heatmap", *HUB_FIGURES):
        figure = all_figures()[name](measured, all_figures()[name].takes(**HUB_FIGURES.get(name, {})))
        drawn = draw_on_screen(figure)
        words = [str(drawn["layout"].get(axis, {}).get("title")) for axis in ("xaxis", "yaxis")]
        words += [str(drawn["layout"].get("coloraxis")), *(str(trace.get("name")) for trace in drawn["data"])]
        said[name] = " ".join([figure.title, figure.caption, *figure.methods, *words])
    ref = CohortRef("study")
    people = [*_people_sentences(ref, cohort), *_acquisition_sentences(cohort)]
    said["methods"] = " ".join(str(getattr(one, "what", one)) for one in people)
    said["settings"] = measured.settings.describe(cohort.kind)
    said["quality"] = " ".join([*quality_table(cohort).columns, *quality_table(cohort)["warnings"]])
    return said


@pytest.mark.parametrize("kind", ["structural", "tiny"])
def test_nothing_said_of_structural_connectivity_is_about_function(kind) -> None:
    for place, words in sayings(cohort_of(kind)).items():
        assert not FUNCTIONAL_WORDS.search(words), (place, words)
    assert "structural connectivity matrices" in sayings(cohort_of(kind))["methods"]


def test_a_given_functional_matrix_was_not_estimated_here() -> None:
    said = sayings(cohort_of("functional"))
    assert not any("estimated as" in words or "resting-state fMRI" in words for words in said.values())
    assert "'text': 'r'" in said["connectivity_heatmap"], "correlations are called r"
    assert "functional connectivity as given" in said["connectivity_heatmap"]
    estimated = sayings(replace(series_cohort(), subjects=(replace(series_cohort()["t0"], id="s0"),)))
    assert "estimated as Pearson correlation with nilearn" in estimated["connectivity_heatmap"]
    assert "resting-state fMRI" in estimated["methods"]


def test_near_zero_means_are_remarked_on_only_in_functional_connectivity() -> None:
    measured = Measured(cohort_of("tiny")).of("s0")
    assert measured.mean_connectivity()[0] < 0.05
    assert _strength_remark(measured) == ""
    assert "global-signal" in _strength_remark(Measured(cohort_of("functional")).of("s0"))


def test_colours_follow_the_values() -> None:
    def scale(matrix: np.ndarray, *quantity: str) -> tuple[float, float, bool, str]:
        found = connectivity_shades(matrix, *quantity)
        return found.low, found.high, found.log, found.colours

    assert scale(streamlines(), "weight") == (1.0, 8200.0, True, "Viridis")
    assert scale(OPEN, "weight") == (0.0, OPEN.max(), False, "Viridis")
    assert scale(correlated()) == scale(np.abs(correlated())) == (-1.0, 1.0, False, "RdBu_r"), "as in every subject"
    figure = all_figures()["connectivity_heatmap"]
    shown = figure(Measured(cohort_of("structural")).of("s0"), figure.takes())
    drawn = draw_on_screen(shown)
    trace, bar = drawn["data"][0], drawn["layout"]["coloraxis"]["colorbar"]
    matrix = streamlines()
    np.testing.assert_allclose(trace["z"][matrix > 0], np.log10(matrix[matrix > 0]), rtol=1e-5)
    np.testing.assert_array_equal(trace["customdata"], matrix)
    assert "%{customdata" in trace["hovertemplate"], "the pointer tells the weight, not its logarithm"
    assert bar["ticktext"] == ["1", "10", "100", "1000"]
    norm = draw_on_paper(shown, PaperStyle(dpi=100)).axes[0].images[0].norm
    assert (norm.vmin, norm.vmax) == (1, 8200)


def test_bins_of_weights_over_decades_part_what_is_kept_from_what_is_not() -> None:
    figure = all_figures()["connectivity_distribution"]
    measured = Measured(cohort_of("structural")).of("s0", ConnectomeSettings(level=40))
    shown = figure(measured, figure.takes())
    kept, dropped = (bars.y for bars in shown.marks)
    values = streamlines()[np.triu_indices(N, 1)]
    assert (kept.sum(), dropped.sum()) == ((values >= 40).sum(), ((values > 0) & (values < 40)).sum())
    assert not ((kept > 0) & (dropped > 0)).any()
    assert f"{(values == 0).sum()} of them have no connection" in shown.caption
    assert draw_on_screen(shown)["layout"]["xaxis"]["ticktext"] == ["1", "10", "100", "1000"]
    assert draw_on_paper(shown, PaperStyle(dpi=100)).axes[0].get_xscale() == "log"


def test_measures_for_correlations_are_left_out_or_refused() -> None:
    cohort = cohort_of("tiny")
    summary = analyse_modules(cohort, workers=1).summary
    assert "system segregation" not in summary or summary["system segregation"].isna().all()
    with pytest.raises(InputError, match="structural"):
        Measured(cohort).of("s0", ConnectomeSettings(estimator="fisher-z")).connectivity()
    agreement = analyse_hubs(cohort, workers=1).agreement
    assert set(agreement["reference"]) == {"node efficiency", "strength"}


def test_models_refuse_what_is_not_functional() -> None:
    assert "structural" in other_connectivity("m", cohort_of("tiny"))
    assert "functional" in other_connectivity("m", cohort_of("functional", given="other"))
    assert other_connectivity("m", cohort_of("functional")) == other_connectivity("m", series_cohort()) == ""
    with pytest.raises(InputError, match="structural"):
        correlations(cohort_of("tiny")["s0"])  # all within ±1, and no eigenvalue below zero


def test_one_scan_twice_is_told_in_weights_of_any_size() -> None:
    cohort = cohort_of("tiny")
    assert not quality_table(cohort)["warnings"].str.contains("same scan").any()
    twice = replace(cohort, subjects=(*cohort, Subject("again", connectivity=MATRICES["tiny"](0))))
    assert quality_table(twice)["warnings"].str.contains("same scan").tolist() == [True, False, True]
