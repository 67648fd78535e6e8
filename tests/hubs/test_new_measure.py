"""A hub measure that is registered is found in every table, figure, text and command, with no change elsewhere."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from typer.testing import CliRunner

from biobgt import ConnectomeSettings, InputError, hubs
from biobgt.base.references import REFERENCES, Reference
from biobgt.cli.main import app
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.bundle import _make_figure, make_files
from biobgt.export.methods import _methods_of
from biobgt.figures import gamma_sweep, hub_brain, hub_curves, hub_scatter
from biobgt.figures.hubs import HubCurvesOptions, _GammaSweepOptions, _HubBrainOptions
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.figures.why_region import story_sentences
from biobgt.groups.compare import ComparisonOptions
from biobgt.groups.features import subject_features
from biobgt.hubs.measures import HUB_MEASURES, HubAnalysisOptions, HubMeasure
from biobgt.hubs.region import explain_region
from biobgt.readers.project import save_project
from biobgt.results.measured import Measured
from biobgt.results.tables import analyse_hubs

BRIN = Reference(
    "brin1998",
    "article",
    {"author": "Brin, Sergey and Page, Lawrence", "title": "The anatomy of a search engine", "year": "1998"},
)
DEFINITION = "PageRank is the share of time that a random walker spends in a region [@brin1998]."
STYLE = PaperStyle(dpi=72)


def pagerank(graph):
    ranks = nx.pagerank(nx.from_numpy_array(graph.weights))
    return np.array([ranks[i] for i in range(graph.n_regions)])


PAGERANK = HubMeasure(
    "pagerank", "PageRank", "PageRank", "share of time", "#117733", "graph", pagerank, DEFINITION, symbol="star"
)


@pytest.fixture(scope="module", autouse=True)
def registered():
    with REFERENCES.temporarily(BRIN), HUB_MEASURES.temporarily(PAGERANK):
        yield
    assert "pagerank" not in HUB_MEASURES


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=2)


@pytest.fixture(scope="module")
def graph(cohort):
    return brain_graph(cohort.subjects[0], cohort.atlas)


@pytest.fixture(scope="module")
def expected(graph):
    return pagerank(graph)


@pytest.fixture(scope="module")
def measured(cohort):
    return Measured(cohort).of(cohort.ids[0])


@pytest.fixture(scope="module")
def analysed(cohort):
    return analyse_hubs(cohort, options=HubAnalysisOptions(halves=True), workers=1)


def check_columns(table, expected):
    np.testing.assert_allclose(table["pagerank"], expected, rtol=1e-6)
    assert table["pagerank_rank"].to_numpy()[expected.argmax()] == 1
    np.testing.assert_allclose(table["pagerank_z"], (expected - expected.mean()) / expected.std(ddof=1), rtol=1e-4)
    assert set(np.flatnonzero(table["pagerank_hub"])) == set(np.argsort(-expected)[:9])


def test_tables_have_its_columns(cohort, graph, expected):
    check_columns(hubs.hub_table(graph), expected)
    check_columns(hubs.measure_hubs(graph, subject_connectivity(cohort.subjects[0])).table(), expected)


def test_the_analysis_of_a_cohort_has_it(cohort, analysed, expected):
    check_columns(analysed.tables[cohort.ids[0]], expected)
    values = np.stack([table["pagerank"] for table in analysed.tables.values()])
    own = [subject.group == "NC" for subject in cohort]
    means = analysed.groups.query("group == 'NC'")
    np.testing.assert_allclose(means["pagerank_mean"], values[own].mean(axis=0))
    np.testing.assert_allclose(means["pagerank_sd"], values[own].std(axis=0, ddof=1))
    assert means["pagerank_hub_share"].mean() == pytest.approx(0.1)
    assert set(analysed.halves.query("measure == 'pagerank'")["subject"]) == set(cohort.ids)


def test_groups_can_be_compared_in_it(measured, expected):
    features = subject_features(measured, ComparisonOptions(first="NC", second="AD", of="hubs", measure="pagerank"))
    assert features.measured == "PageRank of each region"
    np.testing.assert_allclose(features.values[0], expected)
    with pytest.raises(InputError, match="no hub measure 'charm'"):
        ComparisonOptions(first="NC", second="AD", of="hubs", measure="charm")


def run(*arguments):
    finished = CliRunner().invoke(app, [*map(str, arguments), "--workers", "1"])
    assert finished.exit_code == 0, finished.output
    return finished.output


def test_the_command_line_writes_it_and_compares_groups_in_it(cohort, expected, tmp_path):
    project = tmp_path / "demo.biobgt"
    save_project(cohort, ConnectomeSettings(), {}, project)
    run("hubs", project, "--out", tmp_path / "own")
    check_columns(pd.read_csv(tmp_path / "own" / "hubs" / f"{cohort.ids[0]}.csv"), expected)
    assert {"pagerank_mean", "pagerank_sd", "pagerank_hub_share"} <= set(
        pd.read_csv(tmp_path / "own" / "hub_groups.csv")
    )
    how = ("--of", "hubs", "--measure", "pagerank", "--groups", "NC", "AD", "--permutations", 100)
    assert "PageRank of each region" in run("compare", project, *how, "--out", tmp_path / "compared")


def both_pens(figure):
    assert DEFINITION in figure.methods
    assert "PageRank" in figure.caption
    return go.Figure(draw_on_screen(figure)), draw_on_paper(figure, STYLE)


def test_curves_draw_it(measured, expected):
    options = HubCurvesOptions(measures=("pagerank", "node_entanglement"), scale="raw", group=True)
    figure = hub_curves(measured, options)
    screen, drawn = both_pens(figure)
    numbers = figure.numbers()
    np.testing.assert_allclose(numbers["pagerank"], expected)
    assert numbers["hub by PageRank"].sum() == 9
    assert {"pagerank group mean", "pagerank group SD"} <= set(numbers)
    (curve,) = (trace for trace in screen.data if trace.name == "PageRank")
    np.testing.assert_allclose(curve.y, expected)
    assert curve.line.color == PAGERANK.colour
    assert [axes.get_ylabel() for axes in drawn.axes] == ["PageRank", "NE (bits)"]
    assert "hubs by PageRank, 9 in all" in figure.caption
    assert figure.methods.index(DEFINITION) < len(figure.methods) - 2, "in the order in which they are drawn"


def test_scatter_sets_ne_against_it(measured, expected):
    figure = hub_scatter(measured, hub_scatter.takes(measure="pagerank"))
    screen, drawn = both_pens(figure)
    numbers = figure.numbers()
    np.testing.assert_allclose(numbers["pagerank"], expected)
    assert screen.layout.xaxis.title.text == drawn.axes[0].get_xlabel() == "PageRank"
    rho = pd.Series(expected).corr(numbers["node_entanglement"], method="spearman")
    assert figure.subtitle.replace("−", "-").startswith(f"ρ = {rho:.2f}")


def test_agreement_over_gamma_has_it(measured):
    figure = gamma_sweep(measured, _GammaSweepOptions(measures=("node_efficiency", "pagerank"), gammas=(0.1, 0.5)))
    screen, _ = both_pens(figure)
    own = figure.numbers().query("reference == 'PageRank'")
    assert list(own["gamma"]) == [0.1, 0.5]
    (curve,) = (trace for trace in screen.data if trace.name == "PageRank, this subject")
    assert curve.marker.symbol == "star"
    assert f"{own['spearman'].iloc[1]:.2f} with PageRank" in figure.caption.replace("−", "-")


def test_the_brain_shows_it(measured, expected):
    figure = hub_brain(measured, _HubBrainOptions(measure="pagerank"))
    both_pens(figure)
    numbers = figure.numbers()
    np.testing.assert_allclose(numbers["pagerank"], expected)
    assert numbers["pagerank_rank"].iloc[expected.argmax()] == 1
    assert "hubs by PageRank (the top 10 % of regions)" in figure.caption
    assert not any("Node entanglement" in sentence for sentence in figure.methods)


def test_the_story_of_a_region_tells_its_standing(cohort, graph, expected):
    found = hubs.measure_hubs(graph, subject_connectivity(cohort.subjects[0]))
    story = explain_region(graph, found, int(expected.argmax()))
    standing = story.standings["pagerank"]
    assert (standing.rank, standing.hub) == (1, True)
    assert standing.value == pytest.approx(expected.max())
    assert "1 by PageRank" in story_sentences(story)[-1]


def test_figures_by_request_take_it_and_cite_its_work(cohort):
    ref = CohortRef("ad", demo=True, n_per_group=2)
    request = FigureRequest("hub_brain", ref, cohort.ids[0], options={"measure": "pagerank"})
    assert "pagerank" in _make_figure(cohort, request, STYLE).numbers
    files = make_files(cohort, request, style=STYLE, formats=["svg"])
    methods = _methods_of([files], {ref: cohort}, {"biobgt": "1", "python": "3"})
    assert methods.works["brin1998"] is BRIN
    assert any("Brin, Sergey and Page, Lawrence" in one.bibtex() for one in methods.works.values())
    with pytest.raises(InputError, match=r"no hub measure 'charm'.*pagerank"):
        _make_figure(cohort, replace(request, options={"measure": "charm"}))
