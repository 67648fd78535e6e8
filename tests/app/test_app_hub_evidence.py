"""The page of hubs says what its measures are worth: agreement beyond strength and degree, and their reliability."""

import json

import numpy as np
import pytest
from page_contents import as_shown, assert_no_error, captions

from biobgt import ConnectomeSettings
from biobgt.data.connectivity import brain_graph
from biobgt.data.simulate import demo_cohort
from biobgt.hubs import HUB_MEASURES
from biobgt.hubs.evidence import graph_agreement, null_agreement, set_against_nulls
from biobgt.hubs.options import HubAnalysisOptions
from biobgt.results.tables import analyse_hubs

SUBJECT = "sim-NC-001"


@pytest.fixture
def few_nulls(monkeypatch):
    """Three null graphs instead of 39."""
    monkeypatch.setattr("biobgt.hubs.options.NULL_SEEDS", range(3))


def words(page):
    return as_shown("\n".join(text.value for text in page.markdown))


def table(page, column):
    """The table that has this column, None where none has."""
    return next((frame.value for frame in page.dataframe if column in frame.value.columns), None)


def button(page, text):
    return next(button for button in page.button if text in button.label)


def test_partial_correlation_is_said_at_once_and_null_graphs_when_asked_for(open_page, few_nulls):
    page = open_page("hubs", cohort="ad", subject=SUBJECT)
    assert_no_error(page)
    cohort = demo_cohort("ad")
    graph = brain_graph(cohort[SUBJECT], cohort.atlas)
    own = graph_agreement(graph, (0.5,))
    partial = f"{own.at(0.5)['partial']:.2f}".replace("-", "−")
    assert f"the partial ρ given strength and degree is {partial}" in words(page)
    assert "with these held" not in words(page)
    button(page, "null graphs").click().run()
    assert_no_error(page)
    nulls = [null_agreement(graph, (0.5,), seed=number) for number in range(3)]
    expected = set_against_nulls(own, nulls, 0.5)["partial"]
    said = words(page)
    assert said.count("with these held") == 1
    assert "the partial ρ" not in said, "one verdict, not two"
    assert f"of 3 null graphs (p = {expected.p:.2g}" in said
    shown = table(page, "Comparison").set_index("Comparison").loc["NE with NEff, given strength and degree"]
    low, high = (f"{end:.2f}".replace("-", "−") for end in (expected.null_low, expected.null_high))
    assert shown["Null graphs"] == f"{low} to {high}"
    assert "seed 0" in captions(page)
    page.select_slider(key="gamma").set_value(3.0).run()  # null graphs are known at every γ
    assert_no_error(page)
    assert "γ = 3/mean(λ), perturbation control. Only the row with strength and degree held decides" in captions(page)


def test_near_zero_mean_connectivity_is_said_with_its_criterion(open_page):
    page = open_page("hubs", cohort="asd")
    (said,) = (as_shown(info.value) for info in page.info)
    assert "FC strength has little left to compare NE with" in said
    assert "below 0.056" in said
    assert captions(page).count("FC strength has little left to compare NE with") == 3  # curves, scatter, sweep


def test_study_reliability_shows_where_it_applies_and_not_elsewhere(open_page):
    page = open_page("hubs", cohort="asd")
    assert_no_error(page)
    shown = table(page, "ABIDE ICC")
    assert list(shown["Measure"]) == [measure.title for measure in HUB_MEASURES.values()]
    values = shown.set_index("Measure")["ABIDE"]
    assert values["node entanglement"] < values["node efficiency"]
    assert "Split-half reliability of a whole recording, ABIDE:" in page.dataframe[-1].proto.columns
    for parameters in ({"cohort": "ad"}, {"cohort": "asd", "level": "0.2"}):
        other = open_page("hubs", **parameters)
        assert "Reliability was not measured for graphs like these" in captions(other)
        assert table(other, "ABIDE ICC") is None
        assert "Split-half reliability" not in other.dataframe[-1].proto.columns
    at_other_gamma = open_page("hubs", cohort="asd", gamma="2")
    assert np.isnan(table(at_other_gamma, "ABIDE ICC")["ABIDE"][0])
    assert "NE was measured at γ = 0.1, 0.5, 1, 3, 10, 30 only." in captions(at_other_gamma)


def test_own_halves_are_those_of_the_command_line(open_page):
    page = open_page("hubs", cohort="ad", subject=SUBJECT)
    button(page, "two halves of this recording").click().run()
    assert_no_error(page)
    one = demo_cohort("ad").select(lambda subject: subject.id == SUBJECT)
    expected = analyse_hubs(one, ConnectomeSettings(), HubAnalysisOptions(halves=True)).halves
    shown = table(page, "This subject")
    np.testing.assert_allclose(shown["This subject"], expected["whole"])
    np.testing.assert_allclose(shown["Its hubs"], expected["overlap"])
    assert f"the reliability of this recording is {expected['whole'][0]:.2f} for NE" in words(page)


def test_the_hub_table_has_measures_before_networks_and_spells_the_papers_out(open_page):
    page = open_page("hubs", cohort="ad", subject=SUBJECT)
    columns = list(table(page, "node_entanglement").columns)
    assert columns[:2] == ["region", "node_entanglement"]
    assert columns.index("paper") > columns.index("fc_strength_hub")
    configured = json.loads(page.dataframe[-1].proto.columns)
    assert "CC: cognition control" in configured["paper"]["help"]
    assert configured["yeo7"]["help"] == "Yeo's 7 networks"
