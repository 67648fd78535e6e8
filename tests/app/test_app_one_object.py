"""A new hub measure and a new figure are one object each: on the page, in its link, the commands and the export."""

import json
from contextlib import ExitStack
from dataclasses import dataclass, replace

import bct
import numpy as np
import pandas as pd
import pytest
import streamlit as st
from new_objects import bundle_of, captions_of, methods_written, numbers_of, run
from page_contents import array, as_shown, captions, figure
from page_hands import turn_to
from tiny_models import PRESET, write_tiny_model

from biobgt.base.options import Options, option
from biobgt.base.references import REFERENCES, Reference, cited
from biobgt.data.simulate import demo_cohort
from biobgt.export import CohortRef, FigureRequest
from biobgt.figures.drawing import Bars, Drawing, Panel
from biobgt.figures.register import Figure, NoOptions, all_figures
from biobgt.hubs.measures import HUB_MEASURES, HubMeasure
from biobgt.model import folder as model_files
from biobgt.model import presets
from biobgt.model.systems import BASELINES, NETWORK_TRAINING, SYSTEMS, Baseline, NetworkSystem, _Published
from biobgt.training.tables import CardTables
from session import cohorts as loaded_cohorts
from session.view import EXPORT_LIST
from views.page_map import PAGES

PAGE1999 = Reference("page1999", "techreport", {"author": "Page, Lawrence and others", "year": "1999"})
PAGERANK = HubMeasure(
    "pagerank",
    "PageRank",
    "PR",
    "share of time",
    "#117733",
    "graph",
    lambda graph: bct.pagerank_centrality(graph.weights, 0.85).ravel(),
    "PageRank (PR) is the share of time that a random walk spends in a region [@page1999].",
)
TITLE = "the shares of the groups"
N_PER_GROUP = 10
NETWORK = "the mean of all weights"
WORK = Reference("nobody2031", "article", {"author": "Nobody, Ada", "title": "Means", "year": "2031"})


@dataclass(frozen=True)
class StrengthHistogramOptions(Options):
    bins: int = option(8, title="Bins", help="How many bars.", steps=(4, 8, 16, 32, 64), low=1, link="strength_bins")


def strength_histogram(measured, options):
    counts, edges = np.histogram(measured.graph().weights.sum(axis=0), options.bins)
    bars = Bars(name="regions", colour="#0072B2", x=edges[:-1], y=counts, width=np.diff(edges))
    return Drawing(
        title="Strengths",
        simulated=measured.subject.simulated,
        panels=[Panel(marks=[bars])],
        caption=f"Strengths in {options.bins} bins.",
        numbers=lambda: pd.DataFrame({"from": edges[:-1], "regions": counts}),
        methods=["Strength is the sum of a region's weights."],
        citations=["rubinov2010", "page1999"],
    )


@pytest.fixture
def pagerank():
    """A new measure; nothing that was measured without it is left."""
    loaded_cohorts._demo.clear()
    with REFERENCES.temporarily(PAGE1999), HUB_MEASURES.temporarily(PAGERANK):
        yield PAGERANK
    loaded_cohorts._demo.clear()


@pytest.fixture
def histogram():
    about = {"takes": StrengthHistogramOptions, "page": "hubs"}
    shown = Figure(key="strength_histogram", name="Histogram of strengths", draw=strength_histogram, **about)
    with REFERENCES.temporarily(PAGE1999), all_figures().temporarily(shown) as registered:
        yield registered


def test_measure_is_on_the_page_in_its_link_and_in_the_export(open_page, pagerank):
    page = open_page("hubs", cohort="ad")
    page.multiselect(key="measures").set_value(["node_entanglement", "pagerank"]).run()
    assert page.query_params["measures"] in ("node_entanglement,pagerank", ["node_entanglement,pagerank"])
    assert [trace["name"] for trace in figure(page, "hub_curves")["data"]][-1] == "PR"
    assert "pagerank_rank" in turn_to(page, "table").dataframe[0].value.columns
    turn_to(page, "region")
    standings = next(table.value for table in page.dataframe if "Measure" in table.value.columns)
    assert PAGERANK.heading in standings["Measure"].tolist()
    turn_to(page, "agreement").button(key="ne_pagerank_export").click().run()
    assert "PR, this subject" in [trace.get("name") for trace in figure(page, "gamma_sweep")["data"]]
    turn_to(page, "regions").toggle(key="group_behind").set_value(True).run()
    page.button(key="hub_curves_export").click().run()
    shared = open_page("hubs", cohort="ad", measures="node_entanglement,pagerank", hub_tab="agreement")
    assert not shared.warning
    compared = open_page("compare", cohort="ad", compared="hubs", compared_measure="pagerank")
    assert compared.selectbox(key="compared_measure").value == "pagerank"
    drawn = np.concatenate([array(part["x"]) for part in figure(shared, "ne_pagerank")["data"][:2]])
    with bundle_of(page.session_state[EXPORT_LIST], demo_cohort("ad")) as archive:
        assert cited(PAGERANK.definition) in archive.read("methods.md").decode()
        assert "@techreport{page1999" in archive.read("references.bib").decode()
        assert "PageRank (PR)" in captions_of(archive)
        points = numbers_of(archive, "01_hub_scatter")["pagerank"]
        np.testing.assert_allclose(np.sort(points), np.sort(drawn), rtol=1e-6)
        assert "pagerank" in numbers_of(archive, "02_hub_curves")


def test_figure_is_on_its_page_in_its_link_and_in_the_export(open_page, histogram, tmp_path, monkeypatch):
    page = open_page("hubs", cohort="ad", strength_bins="16")
    assert len(array(figure(page, "strength_histogram")["data"][0]["y"])) == 16
    page.select_slider(key="strength_bins").set_value(32).run()
    assert len(array(figure(page, "strength_histogram")["data"][0]["y"])) == 32
    assert page.query_params["strength_bins"] in ("32", ["32"])
    assert "Strengths in 32 bins." in captions(page)
    page.button(key="strength_histogram_export").click().run()
    (request,) = page.session_state[EXPORT_LIST]
    with bundle_of([request], demo_cohort("ad")) as archive:
        assert "**Figure 1. Histogram of strengths.** Strengths in 32 bins." in captions_of(archive)
        assert "Strength is the sum of a region's weights." in archive.read("methods.md").decode()
        assert "page1999" in archive.read("references.bib").decode()
        assert len(numbers_of(archive, "01_strength_histogram")) == 32
    run(monkeypatch, "figure", "strength_histogram", "demo:ad", "--set", "bins=5", "--out", tmp_path)
    assert len(pd.read_csv(tmp_path / "numbers" / "strength_histogram.csv")) == 5
    methods, references = methods_written(tmp_path, "strength_histogram")
    assert "Strength is the sum of a region's weights." in methods
    assert "@techreport{page1999" in references
    refused = open_page("hubs", cohort="ad", strength_bins="7")
    assert "strength_bins" in refused.warning[0].value.replace("\\", "")


def edges(measured, options):
    graph = measured.graph()
    bar = Bars(name="edges", colour="#0072B2", x=[0], y=[graph.n_edges])
    return Drawing(title="Edges", panels=[Panel(marks=[bar])], caption=f"There are {graph.n_edges} edges.")


def test_a_figure_is_on_the_page_that_it_names_and_on_no_other(open_page):
    with ExitStack() as registered:
        for name in PAGES:
            new = Figure(key=f"edges_on_{name}", name="Edges of the graph", draw=edges, takes=NoOptions, page=name)
            registered.enter_context(all_figures().temporarily(new))
        for name in PAGES:
            page = open_page(name, cohort="ad")
            assert figure(page, f"edges_on_{name}")["data"][0]["y"]
            assert captions(page).count("edges.") == 1


def test_home_names_the_measures_that_it_draws(open_page):
    assert "Node entanglement (NE), node efficiency (NEff) and FC strength of its regions" in captions(
        open_page("home")
    )
    page = open_page("home", measures="degree,betweenness")
    assert "Degree and betweenness" in captions(page)
    assert "node efficiency (NEff) and" not in captions(page)


class GroupShares:
    """Gives everybody the shares of the groups in training."""

    def fit(self, matrices, groups):
        self.shares = np.bincount(groups) / len(groups)

    def logits(self, matrices):
        return np.tile(np.log(self.shares), (len(matrices), 1))


@pytest.fixture
def shares():
    with BASELINES.temporarily(Baseline("shares", TITLE, lambda shrinkage: GroupShares(), family="constant")):
        yield


def test_baseline_is_evaluated_by_the_command_and_shown_on_the_page(open_page, shares, tmp_path, monkeypatch):
    folder, out = tmp_path / "pretrained", tmp_path / "out"
    write_tiny_model(folder / "mine", "ad", "folder", simulated=True, n_per_group=N_PER_GROUP, baseline=TITLE)
    run(monkeypatch, "demo", "ad", "--out", tmp_path / "study", "--n-per-group", N_PER_GROUP)
    monkeypatch.setitem(presets.PRESETS, "best", PRESET)
    asked = ("--cohort", "folder", "--data", tmp_path / "study", "--model", folder / "mine", "--out", out)
    run(monkeypatch, "evaluate", *asked, "--splits", 1, "--threads", 1, "--device", "cpu")
    lines = pd.read_csv(out / "results.csv").query("model == 'constant shares'")
    assert lines["split"].tolist() == ["split 1"]
    assert lines["auc"].tolist() == [0.5]
    card = json.loads((folder / "mine" / "card.json").read_text(encoding="utf-8"))
    assert "constant shares" in [row["model"] for row in card["evaluation"]]
    assert TITLE in CardTables(card).evaluation()["Model"].tolist()
    monkeypatch.setattr(model_files, "pretrained_folder", lambda: folder)
    page = open_page("models", cohort="ad")
    evaluated = next(table.value for table in page.dataframe if "Model" in table.value.columns)
    assert TITLE in evaluated["Model"].tolist()
    assert TITLE in [name for table in page.table for name in table.value.index]
    assert TITLE in json.dumps(figure(page, "results"))


def mean_weight(n_regions: int, n_groups: int):
    """A network that looks at the mean weight of a graph and at nothing else; torch is imported when it is built."""
    from torch import nn

    from biobgt.model.peers import GraphNetwork

    class MeanWeight(GraphNetwork):
        def __init__(self):
            super().__init__()
            self.readout = nn.Linear(1, n_groups)

        def forward(self, batch):
            return self.readout(batch.weights.mean(dim=(1, 2))[:, None])

    return MeanWeight()


@pytest.fixture
def network():
    training = replace(NETWORK_TRAINING, epochs=2, warmup_epochs=0)
    with (
        REFERENCES.temporarily(WORK),
        SYSTEMS.temporarily(
            NetworkSystem(
                "mean-weight",
                NETWORK,
                "graph networks",
                (WORK.key,),
                paper=_Published(auc=0.555),
                build=mean_weight,
                training=training,
            )
        ),
    ):
        st.cache_resource.clear()  # a system is there when the app starts: what other tests drew is not of it
        yield
    st.cache_resource.clear()


def test_network_is_run_by_the_benchmark_and_stands_in_its_table_figure_and_references(
    open_page, shares, network, tmp_path, monkeypatch, capsys
):
    run(monkeypatch, "demo", "ad", "--out", tmp_path / "study", "--n-per-group", N_PER_GROUP)
    asked = ("--cohort", "folder", "--data", tmp_path / "study", "--out", tmp_path / "out", "--threads", 1)
    monkeypatch.setitem(presets.PRESETS, "paper-abide", PRESET)
    run(monkeypatch, "benchmark", *asked, "--splits", 2, "--models", "shares,mean-weight", "--reference", "shares")
    lines = pd.read_csv(tmp_path / "out" / "results.csv")
    assert lines["model"].tolist() == ["shares", "shares", "mean-weight", "mean-weight"]
    assert lines["parameters"].tolist()[2:] == [6, 6]  # a weight and an intercept for each of three groups
    capsys.readouterr()
    run(monkeypatch, "benchmark", *asked, "--models", "list")
    assert NETWORK in capsys.readouterr().out
    page = open_page("models", model_tab="paper")
    titles = [as_shown(name) for table in page.table for name in table.value.index]
    assert {TITLE, NETWORK} <= set(titles)
    assert NETWORK in json.dumps(figure(page, "benchmark"))
    ref = CohortRef("abide-cc200", model=True)
    archive = bundle_of([FigureRequest("benchmark_results", ref)], ref.draw())
    shown = numbers_of(archive, "01_benchmark_results").set_index("title")
    assert shown.loc[NETWORK, ["state", "paper_auc"]].tolist() == ["not run", 0.555]
    assert "nobody2031" in archive.read("references.bib").decode()
