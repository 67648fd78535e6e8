"""Figures of a study whose findings are known: both pens draw them, and their words and numbers are the findings'."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drawn_figures import STYLE, drawn_by_both, on_screen

from biobgt.base.errors import InputError
from biobgt.base.references import REFERENCES, cited
from biobgt.data.simulate import demo_cohort
from biobgt.figures.brain import Brain
from biobgt.figures.drawing import MOST_WORDS, Chords, Heatmap, Points
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.register import all_figures
from biobgt.figures.studies.edges import study_blocks, study_connectogram, study_edge_brain
from biobgt.figures.studies.effects import study_network, study_region_curve, study_region_levels, study_regions
from biobgt.inference.edges import EdgeOptions
from biobgt.results.measured import Measured
from biobgt.study.finished import FinishedStudy
from tests.made_study import (
    ATLAS,
    CONTRAST,
    FOUND_EDGES,
    FOUND_REGIONS,
    LEVELS,
    NETWORK,
    made_data,
    made_findings,
    made_study,
)

OF_STUDIES = sorted(key for key, figure in all_figures().items() if figure.of_study)


@pytest.fixture(scope="module")
def study() -> FinishedStudy:
    return made_study()


@pytest.mark.parametrize("key", OF_STUDIES)
def test_both_pens_draw_it_with_words_numbers_and_known_works(study, key):
    figure = all_figures()[key]
    drawing = figure(study, figure.takes())
    if any(isinstance(mark, Brain) for mark in drawing.marks):
        on_screen(drawing), draw_on_paper(drawing, STYLE)
    else:
        drawn_by_both(drawing)
    assert len(drawing.numbers())
    assert drawing.simulated
    assert re.search(r"24 (simulated people|subjects)", drawing.caption) or key == "study_maps"
    assert 3 <= len(drawing.line.split()) <= MOST_WORDS, drawing.line
    assert all(sentence.endswith(".") for sentence in drawing.methods)
    assert "@" not in cited(" ".join(drawing.methods)), "every key is that of a work"
    assert set(drawing.citations) <= set(REFERENCES)


@pytest.mark.parametrize("key", OF_STUDIES)
def test_both_pens_draw_it_where_nothing_is_found(key):
    found = made_findings()
    nothing: dict[str, float] = {"p": 0.8, "p_family": 1.0, "q": 0.9}
    own = {name: getattr(found, name).assign(**nothing) for name in ("edges", "regions", "network")}
    own |= {"edges": own["edges"].assign(component=0.0), "components": found.components.assign(p_family=0.9)}
    study = FinishedStudy(made_data(), replace(found, **own), name="nothing")
    figure = all_figures()[key]
    drawing = figure(study, figure.takes())
    on_screen(drawing), draw_on_paper(drawing, STYLE)


@pytest.mark.parametrize("key", OF_STUDIES)
def test_of_a_cohort_it_is_refused_with_advice(key):
    figure = all_figures()[key]
    with pytest.raises(InputError, match="study:FOLDER"):
        figure(Measured(demo_cohort("ad", n_per_group=1)), figure.takes())


def _ring(drawing):
    return next(mark for mark in drawing.marks if isinstance(mark, Chords))


def test_the_ring_has_the_edges_of_the_component_in_the_order_of_their_strength(study):
    drawing = study_connectogram(study, study_connectogram.takes())
    ring = _ring(drawing)
    names = {frozenset((ring.names[a], ring.names[b])) for a, b in ring.pairs}
    assert names == {frozenset(ATLAS.regions[i - 1] for i in pair) for pair in FOUND_EDGES}
    assert sorted(ring.weights) == sorted(FOUND_EDGES.values())
    assert {sign: name for sign, (name, _) in ring.signs.items()} == {1: "higher in ASD", -1: "lower in ASD"}
    assert "3 edges among 4 regions" in drawing.caption
    assert "|t| above 3.1" in drawing.caption
    assert drawing.numbers()["found"].sum() == 3
    few = study_connectogram(study, study_connectogram.takes(most=2))
    assert sorted(_ring(few).weights) == [4.5, 5.0]
    assert "Drawn are the 2 strongest" in few.caption


def test_where_nothing_is_found_the_ring_is_empty_and_says_so(study):
    nothing = replace(made_findings(), components=made_findings().components.assign(p_family=0.4))
    of = FinishedStudy(made_data(), nothing, name="Made study")
    drawing = study_connectogram(of, study_connectogram.takes())
    assert not len(_ring(drawing).pairs)
    assert "no edge is found" in drawing.caption
    drawn_by_both(drawing)
    strongest = study_connectogram(of, study_connectogram.takes(drawn="strongest", most=5))
    assert len(_ring(strongest).pairs) == 5
    assert "found or not" in strongest.caption


@pytest.mark.parametrize(
    ("method", "columns", "n"),
    [
        ("edges", {}, 3),  # q is small where |effect| is above .5
        ("threshold-free", {"score": 1.0, "p_score": 0.04}, 4005),
        ("blocks", {}, None),
    ],
)
def test_what_is_found_follows_the_correction(method, columns, n):
    findings = made_findings()
    findings = replace(
        findings,
        edges=findings.edges.assign(**columns),
        options=replace(findings.options, method=method),
        blocks=pd.DataFrame(
            {"network": ["default"], "other_network": ["default"], "q": [0.01], "adjusted": [False]}
        ).assign(contrast=CONTRAST, n_edges=1),
    )
    of = FinishedStudy(made_data(), findings, name="Made study")
    labels = ATLAS.labelling(of.labelling)
    default = sum(label == "default" for label in labels)
    drawing = study_connectogram(of, study_connectogram.takes())
    assert drawing.numbers()["found"].sum() == (default * (default - 1) // 2 if n is None else n)


def test_a_region_in_the_brain_is_as_large_as_it_has_edges(study):
    drawing = study_edge_brain(study, study_edge_brain.takes())
    (brain,) = (mark for mark in drawing.marks if isinstance(mark, Brain))
    assert brain.sizes[:3].tolist() == [3, 1, 1]
    assert np.nansum(brain.values) == 6
    named = {trace.name: trace.line.color for trace in on_screen(drawing).data if "line" in trace and trace.legendgroup}
    assert named["higher in ASD"] != named["lower in ASD"]


def test_blocks_sum_up_all_edges_and_count_those_that_are_found(study):
    drawing = study_blocks(study, study_blocks.takes())
    numbers = drawing.numbers()
    labels = ATLAS.labelling(study.labelling)
    own = [pair for pair in FOUND_EDGES if all(labels[i - 1] for i in pair)]
    assert numbers["n_found"].sum() == len(own)
    assert numbers["n_edges"].sum() == sum(bool(label) for label in labels) * (sum(map(bool, labels)) - 1) // 2
    (heat,) = (mark for mark in drawing.marks if isinstance(mark, Heatmap))
    np.testing.assert_array_equal(heat.z, heat.z.T)


def test_regions_are_sorted_with_their_intervals_and_those_found_are_filled(study):
    drawing = study_regions(study, study_regions.takes())
    (panel,) = drawing.panels
    found = next(mark for mark in panel.marks if isinstance(mark, Points) and not mark.hollow)
    assert [panel.y.names[place] for place in found.y] == [ATLAS.regions[i - 1] for i in FOUND_REGIONS]
    np.testing.assert_allclose(found.x, [np.mean(own) for own in FOUND_REGIONS.values()])
    np.testing.assert_allclose(found.low, found.x - 0.4)
    assert "2 of 89 regions" in drawing.caption
    assert "3 densities from 0.1 to 0.3" in drawing.caption
    halved = study_regions(study, study_regions.takes(overall="adjusted"))
    assert "overall connectivity" in halved.caption
    with pytest.raises(InputError, match="no measure 'degree'"):
        study_regions(study, study_regions.takes(measure="degree"))
    with pytest.raises(InputError, match="no contrast 'NC - ASD'"):
        study_regions(study, study_regions.takes(contrast="NC - ASD"))


def test_effects_that_turn_round_between_levels_are_seen_and_said(study):
    drawing = study_region_levels(study, study_region_levels.takes())
    (heat,) = (mark for mark in drawing.marks if isinstance(mark, Heatmap))
    turning = list(heat.ids).index(6)
    np.testing.assert_allclose(heat.z[turning], [*FOUND_REGIONS[7], np.mean(FOUND_REGIONS[7])])
    assert "effects of 1 region found by the area change sign" in drawing.caption
    curve = study_region_curve(study, study_region_curve.takes(region=ATLAS.regions[6]))
    line = next(mark for mark in curve.marks if mark.name == "each level")
    np.testing.assert_allclose(line.y, FOUND_REGIONS[7])
    np.testing.assert_allclose(line.x, LEVELS)


def test_network_numbers_stand_with_overall_connectivity_and_without(study):
    drawing = study_network(study, study_network.takes())
    first, second = drawing.panels
    assert (first.title, second.title) == ("Not adjusted", "Adjusted")
    effects = {
        panel.title: np.concatenate([mark.x for mark in panel.marks if isinstance(mark, Points)])
        for panel in drawing.panels
    }
    np.testing.assert_allclose(sorted(effects["Not adjusted"]), sorted(NETWORK.values()))
    np.testing.assert_allclose(sorted(effects["Adjusted"]), sorted(one / 2 for one in NETWORK.values()))


def test_edges_of_one_side_name_the_threshold_with_its_sign():
    findings = made_findings()
    lower = replace(findings, options=replace(findings.options, direction="lower"))
    drawing = study_connectogram(FinishedStudy(made_data(), lower, name="x"), study_connectogram.takes())
    assert "-t above 3.1" in drawing.caption
    assert EdgeOptions().edge_threshold == 3.1


def test_captions_say_what_goes_beyond_what_is_simpler(study):
    regions = study_regions(study, study_regions.takes())
    assert (
        "Beyond FC: none of 2; given the region's strength and its degree, they are no longer found" in regions.caption
    )
    beside = dict(zip(regions.panels[0].y.names, regions.panels[0].y.beside, strict=True))
    assert beside[ATLAS.regions[3]].endswith("beyond FC: no")
    assert beside[ATLAS.regions[0]] == "q 0.6"
    assert any("further covariates of the feature" in sentence for sentence in regions.methods)
    network = study_network(study, study_network.takes())
    assert "Beyond FC: 1 of 2; given overall connectivity" in network.caption
    assert network.numbers().set_index(["measure", "adjusted", "level"])["beyond_fc"]["q"].iloc[0] == "yes"
