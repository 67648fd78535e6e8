"""What the linked screen holds: a step changes one drawing into another, and lines on regions are of the table."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from biobgt.data.atlas import BUNDLED
from biobgt.data.cohort import Subject
from biobgt.data.simulate import demo_cohort
from biobgt.figures.brain import VIEWS
from biobgt.figures.connectivity import connectivity_heatmap
from biobgt.figures.drawing import MOST_WORDS
from biobgt.figures.hubs import hub_brain, hub_curves, hub_scatter
from biobgt.figures.people import people, people_brain
from biobgt.figures.register import all_figures
from biobgt.figures.screen import linked
from biobgt.figures.screen.page import packed
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.groups.compare import HUBS, ComparisonOptions
from biobgt.groups.features import compare_measured
from biobgt.groups.people import regional_values
from biobgt.hubs.measures import FC_STRENGTH, GAMMAS, NE, HubOptions
from biobgt.modules.measures import ModuleOptions, NamedModuleOptions
from biobgt.modules.structure import segregation
from biobgt.results.measured import Measured

REGION = 7


@pytest.fixture(scope="module")
def measured():
    cohort = demo_cohort("ad", n_per_group=4)
    return Measured(cohort).of(cohort.ids[0])


def changed(contents, changes):
    """What the browser makes of a tile."""
    contents = deepcopy(contents)
    for path, value in changes:
        place = contents
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value
    return contents


@pytest.mark.parametrize(
    ("figure", "options", "name", "steps"),
    [
        (hub_brain, hub_brain.takes(), "gamma", (GAMMAS[0], 0.5, 3.0, GAMMAS[-1])),
        (hub_curves, hub_curves.takes(), "gamma", (GAMMAS[0], 0.5, 3.0)),
        (hub_scatter, hub_scatter.takes(measure="node_efficiency"), "gamma", (0.5, 3.0)),
        (people, people.takes(region="Precentral_L"), "region", ("Precentral_L", "Precentral_R", "Hippocampus_L")),
    ],
    ids=lambda one: getattr(one, "key", None),
)
def test_a_step_makes_of_a_tile_what_the_figure_draws_there(measured, figure, options, name, steps):
    tile = linked.tile_contents(figure(measured, options))
    for step, changes in zip(steps, linked.steps_of(figure, measured, options, name, steps), strict=True):
        whole = linked.tile_contents(figure(measured, replace(options, **{name: step})))
        assert changed(tile, changes) == whole
        assert bool(changes) == (getattr(options, name) != step)
        assert not any("mesh3d" in str(value)[:400] for _, value in changes), "the cortex is not sent again"


def test_the_cortex_around_nodes_is_sent_apart_from_the_tile(measured):
    tile = linked.tile_contents(hub_brain(measured, hub_brain.takes()))
    whole = packed(draw_on_screen(hub_brain(measured, hub_brain.takes())))
    parts = [i for i, trace in enumerate(tile["figure"]["data"]) if trace == {"part": linked.CORTEX}]
    assert [linked.cortex_part()["trace"]] == [whole["data"][i] for i in parts]


def test_lines_on_regions_are_of_the_hub_table_at_every_gamma(measured):
    modules = NamedModuleOptions(labelling=next(iter(measured.atlas.labels)))
    facts = linked.region_facts(measured, HubOptions(), modules)
    steps = linked.fact_steps(measured, HubOptions(), modules)
    for gamma, changes in zip(GAMMAS, steps, strict=True):
        shown = {one["name"]: one["values"] for one in changed(facts, changes)["columns"]}
        table = measured.hub_table(HubOptions(gamma=gamma), (NE,))
        ranks = [int(text.split()[0]) for text in shown["NE rank"]]
        assert ranks == table[f"{NE}_rank"].astype(int).tolist()
        assert [text.endswith("(hub)") for text in shown["NE rank"]] == table[f"{NE}_hub"].tolist()
    assert shown["module"] == [one or "none" for one in measured.module_labels(modules)]


def test_strongest_connections_are_those_of_the_graph(measured):
    weights, found = measured.graph().weights, linked.strongest_connections(measured)
    for region, (ends, widths) in enumerate(zip(found["ends"], found["widths"], strict=True)):
        best = np.sort(weights[region][weights[region] > 0])[::-1][:10]
        np.testing.assert_allclose(weights[region, np.array(ends, int)], best)
        assert widths == sorted(widths, reverse=True)


def test_people_are_one_dot_each_with_their_own_value_and_an_effect_size(measured):
    options = people.takes(region=measured.atlas.regions[REGION])
    drawn = people(measured, options)
    values = {one.id: measured.of(one.id).hub_values(options, "fc_strength")[REGION] for one in measured.cohort}
    table = drawn.numbers().set_index("subject")["fc_strength"]
    assert table.to_dict() == pytest.approx(values)
    dots = {
        name: y
        for mark in drawn.marks
        if getattr(mark, "people", ())
        for name, y in zip(mark.people, mark.y, strict=True)
    }
    assert dots == pytest.approx(values)
    first, last = ([values[one.id] for one in measured.cohort if one.group == group] for group in ("NC", "AD"))
    pooled = np.sqrt((np.var(first, ddof=1) + np.var(last, ddof=1)) / 2)
    assert f"AD − NC: d = {(np.mean(last) - np.mean(first)) / pooled:.2f}".replace("-", "−") in drawn.caption


def test_the_whole_brain_of_every_person_is_one_number(measured):
    """By hand: NE's ρ with efficiency over regions, Q of the subject's modules, segregation by the atlas's networks."""
    takes, hubs = people_brain.takes, HubOptions()
    known = measured.atlas.labels["yeo7"]
    networks = [0 if label is None else 1 + sorted(set(filter(None, known))).index(label) for label in known]
    for what, value in (
        (f"{NE}_node_efficiency", lambda one: one.hub_correlation(hubs, "node_efficiency").rho),
        ("q", lambda one: one.modules(ModuleOptions()).measures["q"]),
        (
            "system segregation",
            lambda one: segregation(one.pearson(), networks).system_segregation,
        ),
    ):
        drawn = people_brain(measured, takes(brain_measure=what, labelling="yeo7"))
        expected = {one.id: value(measured.of(one.id)) for one in measured.cohort}
        found = drawn.numbers().set_index("subject")[what.replace(" ", "_")]
        assert found.to_dict() == pytest.approx(expected, abs=1e-9), what
        assert "AD − NC: d = " in drawn.caption
        assert "this region" not in drawn.caption
        assert len(drawn.line.split()) <= MOST_WORDS


def test_a_person_stands_among_the_people_of_the_first_group(measured):
    cohort, options = measured.cohort, people.takes(region=measured.atlas.regions[REGION])
    values = {one.id: measured.of(one.id).hub_values(options, "fc_strength")[REGION] for one in cohort}
    controls = [one.id for one in cohort if one.group == "NC"]
    for one, other in ((controls[0], "other "), (next(one.id for one in cohort if one.group == "AD"), "")):
        n_below = sum(values[name] < values[one] for name in controls if name != one)
        n = len(controls) - bool(other)
        assert f"the ring is {one}, above {n_below} of {n} {other}NC." in people(measured.of(one), options).caption


def test_controls_come_first_whoever_is_first_in_the_files(measured):
    turned = replace(measured.cohort, subjects=measured.cohort.subjects[::-1])
    options = people.takes(region=turned.atlas.regions[REGION])
    shown = people(Measured(turned).of(measured.subject.id), options)
    assert shown.line == people(measured, options).line
    assert next(iter(shown.panels[0].x.names)) == "NC"


def test_a_scale_in_powers_of_ten_says_so(measured):
    """Weights of structural connectomes span decades; the number of a power is not the weight."""
    weights = np.exp(np.random.default_rng(0).normal(size=(90, 90)) * 3 - 9)
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    person = Subject(id="s1", connectivity=weights)
    cohort = replace(measured.cohort, subjects=(person,), given="structural")
    contents = linked.tile_contents(connectivity_heatmap(Measured(cohort).of("s1"), connectivity_heatmap.takes()))
    bar = contents["figure"]["layout"]["coloraxis"]["colorbar"]
    assert "1e-6" in bar["ticktext"]
    assert len(bar["tickvals"]) == len(bar["ticktext"])


def test_a_cohort_of_one_and_people_without_groups_are_shown_without_a_difference(measured):
    alone = replace(measured.cohort, subjects=(replace(measured.subject, group=None),))
    drawn = people(Measured(alone).of(alone.ids[0]), people.takes(region=alone.atlas.regions[0]))
    assert len(drawn.numbers()) == 1
    assert "d =" not in drawn.caption


def test_recordings_of_one_person_count_once_in_the_effect_size(measured):
    cohort = measured.cohort
    first = cohort.subjects[0]
    again = replace(cohort, subjects=(*cohort.subjects, replace(first, id=f"{first.id}_ses-2")))
    once, twice = (
        people(Measured(one).of(first.id), people.takes(region=cohort.atlas.regions[0])) for one in (cohort, again)
    )
    assert once.line == twice.line
    assert len(twice.numbers()) == len(once.numbers()) + 1


@pytest.mark.parametrize(
    "key", ["hub_brain", "hub_curves", "connectivity_heatmap", "module_brain", "module_heatmap", "role_map"]
)
def test_a_line_has_few_words_and_its_brackets_are_whole(measured, key):
    figure = all_figures()[key]
    line = figure(measured, figure.takes()).line
    assert 3 <= len(line.split()) <= MOST_WORDS
    assert line.count("(") == line.count(")")
    assert measured.subject.id not in line


def test_lines_on_two_groups_are_of_their_comparison():
    cohort = demo_cohort("ad", n_per_group=5)
    first, second = tuple(cohort.group_sizes)[:2]
    options = ComparisonOptions(first=first, second=second, of=HUBS, measure=FC_STRENGTH, permutations=99)
    measured = Measured(cohort)
    facts = {one["name"]: one["values"] for one in linked.difference_facts(measured, options)["columns"]}
    values = regional_values(measured, options, FC_STRENGTH)
    of_second = [one.group == second for one in cohort]
    assert facts[second][REGION].replace("−", "-") == f"{values[of_second, REGION].mean():.3g}"
    found = compare_measured(measured, options)[1].table
    assert (float(facts["d"][REGION].replace("−", "-")), float(facts["q"][REGION])) == pytest.approx(
        (found["d"][REGION], found["q"][REGION]), abs=0.01, rel=0.05
    )


def test_every_triangle_of_a_painted_cortex_knows_its_region_and_is_sent_without_words():
    cohort, atlas = demo_cohort("ad", n_per_group=1), BUNDLED["schaefer100"].atlas
    series = np.random.default_rng(0).standard_normal((60, 100))
    people = (Subject(id="s1", series=series),)
    measured = Measured(replace(cohort, subjects=people, atlas=atlas)).of("s1")
    drawing = hub_brain(measured, hub_brain.takes(measure="degree", brain="inflated"))
    ranks, views = drawing.marks[0].values, [hemisphere for hemisphere, _ in VIEWS]
    traces = [trace for trace in linked._tile(drawing)["figure"]["data"] if trace["type"] == "mesh3d"]
    assert {trace["scene"] for trace in traces} == {"scene", "scene2", "scene3", "scene4"}
    for trace in traces:
        regions = np.asarray(trace["customdata"])
        assert "text" not in trace
        assert len(regions) == len(trace["i"])
        if trace["name"] == "regions":
            np.testing.assert_array_equal(np.asarray(trace["regional"])[regions], ranks[regions].astype(np.float32))
            view = 0 if trace["scene"] == "scene" else int(trace["scene"][5:]) - 1
            sides = {atlas.regions[region][:2] for region in set(regions.tolist())}
            assert sides == {"LH" if views[view] == "left" else "RH"}
        else:
            assert set(regions.tolist()) == {-1}
    assert drawing.line.endswith("the colour is the rank.")
    options = hub_brain.takes(brain="inflated")
    tile = linked.tile_contents(hub_brain(measured, options))
    gammas = (GAMMAS[0], 3.0)
    for gamma, changes in zip(gammas, linked.steps_of(hub_brain, measured, options, "gamma", gammas), strict=True):
        assert changed(tile, changes) == linked.tile_contents(hub_brain(measured, replace(options, gamma=gamma)))
        assert {path[-1] for path, _ in changes} == {"regional", "caption", "full"}, "the cortex is not sent again"
