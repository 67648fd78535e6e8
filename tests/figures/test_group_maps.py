"""Two groups over all regions: their mean curves, and the difference of their connectivity, checked by hand."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_figures import drawn_by_both

from biobgt.base.errors import InputError
from biobgt.data.simulate import demo_cohort
from biobgt.figures import drawing as draw
from biobgt.figures.group_maps import connectivity_difference, group_mean_brains, group_means, group_module_brains
from biobgt.figures.screen import linked
from biobgt.groups.compare import ComparisonOptions
from biobgt.groups.connections import connection_effects
from biobgt.results.measured import Measured

BETWEEN = {"first": "NC", "second": "AD"}
PAIR = (12, 47)


@pytest.fixture(scope="module")
def measured():
    return Measured(demo_cohort("ad", n_per_group=5))


def fisher_z(measured, group, pair=PAIR):
    members = [one for one in measured.cohort if one.group == group]
    return np.array([np.arctanh(np.corrcoef(one.series[:, pair].T)[0, 1]) for one in members])


def test_every_connection_has_the_difference_of_the_groups_means_and_its_d(measured):
    found = connection_effects(measured, ComparisonOptions(**BETWEEN))
    first, second = (fisher_z(measured, group) for group in ("NC", "AD"))
    difference = second.mean() - first.mean()
    pooled = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    assert found.difference[PAIR] == pytest.approx(difference, abs=1e-5)
    assert found.d[PAIR] == pytest.approx(difference / pooled, rel=1e-3)
    np.testing.assert_array_equal(found.difference, found.difference.T)
    assert np.isnan(np.diagonal(found.d)).all()
    assert found.n_subjects == {"NC": 5, "AD": 5}


@pytest.mark.parametrize(("shown", "quantity"), [("difference", "difference of Fisher z"), ("d", "effect size d")])
def test_the_difference_of_connectivity_is_a_map_that_knows_its_regions(measured, shown, quantity):
    drawing = connectivity_difference(
        measured, connectivity_difference.takes(**BETWEEN, shown=shown, order="dosenbach")
    )
    (heatmap,) = drawing.marks
    found = connection_effects(measured, ComparisonOptions(**BETWEEN))
    expected = getattr(found, shown)
    np.testing.assert_array_equal(heatmap.z, expected[np.ix_(heatmap.ids, heatmap.ids)])
    assert heatmap.shades.quantity == quantity
    assert heatmap.shades.low == -heatmap.shades.high < 0
    for part in ("5 NC, 5 AD", "no connection is tested", "simulated people"):
        assert part in drawing.caption
    assert not any("averaged within" in sentence for sentence in drawing.methods)
    drawn_by_both(drawing)


def test_means_of_groups_are_curves_over_regions_and_those_that_differ_are_marked(measured):
    people = []
    for one in measured.cohort:
        series = np.array(one.series)
        if one.group == "AD":  # forty regions that move as one, as nobody's else
            series[:, :40] = series[:, :1] + 0.01 * series[:, :40]
        people.append(replace(one, series=series))
    cohort = Measured(replace(measured.cohort, subjects=tuple(people)))
    drawing = group_means(
        cohort, group_means.takes(**BETWEEN, measure="fc_strength", order="dosenbach", permutations=199)
    )
    curves = {mark.name: mark for mark in drawing.marks if isinstance(mark, draw.Curve)}
    assert list(curves) == ["NC", "AD"]
    from_subjects = [
        cohort.of(one.id).hub_values(ComparisonOptions(), "fc_strength") for one in cohort.cohort if one.group == "NC"
    ]
    ids = np.array(curves["NC"].ids)
    np.testing.assert_allclose(curves["NC"].y, np.mean(from_subjects, axis=0)[ids])
    differ = drawing.numbers().index[drawing.numbers()["q"] <= 0.05]
    assert set(range(40)) & set(differ)
    marked = [mark for mark in drawing.marks if isinstance(mark, draw.Points)]
    assert {int(region) for mark in marked for region in mark.ids} == set(differ)
    drawn_by_both(drawing)
    tile = linked.tile_contents(drawing)
    assert all("customdata" in trace for trace in tile["figure"]["data"])


@pytest.mark.parametrize("figure", [connectivity_difference, group_means], ids=lambda one: one.key)
def test_one_person_or_one_group_is_a_sentence(measured, figure):
    alone = Measured(replace(measured.cohort, subjects=measured.cohort.subjects[:1]))
    with pytest.raises(InputError, match="AD"):
        figure(alone, figure.takes(**BETWEEN))
    with pytest.raises(InputError, match="itself"):
        figure(measured, figure.takes(first="NC", second="NC"))


def test_means_of_groups_are_brains_on_one_scale(measured):
    drawing = group_mean_brains(
        measured, group_mean_brains.takes(**BETWEEN, measure="node_efficiency", permutations=19, side="left")
    )
    for brain, group in zip(drawing.marks, ("NC", "AD"), strict=True):
        members = [one.id for one in measured.cohort if one.group == group]
        values = [measured.of(one).hub_values(ComparisonOptions(), "node_efficiency") for one in members]
        np.testing.assert_allclose(brain.values, np.mean(values, axis=0))
        assert brain.side == "left"
    first, second = drawing.marks
    both = np.concatenate([first.values, second.values])
    assert first.limits == second.limits == first.size_limits == (both.min(), both.max())
    assert [panel.title for panel in drawing.panels] == ["NC (n = 5)", "AD (n = 5)"]


def test_modules_of_groups_are_brains_in_matched_colours(measured):
    takes = group_module_brains.takes
    drawing, found = group_module_brains(measured, takes(**BETWEEN)), measured.module_difference(takes(), ("NC", "AD"))
    for brain, modules in zip(drawing.marks, (found.first, found.second), strict=True):
        of = [brain.group_colours.get(name) for name in brain.groups]
        assert len(set(zip(of, modules.tolist(), strict=True))) == len(set(modules.tolist()))
    assert drawing.line.startswith(f"{len(found.changed)} of ")
    assert drawing.numbers()["AD"].tolist() == found.second.tolist()
