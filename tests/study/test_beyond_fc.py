"""Beyond FC in studies: a region that differs in degree alone, one beyond it, and numbers of the network."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biobgt.base.beyond import BEYOND
from biobgt.inference.design import study_design
from biobgt.inference.effects import effects_of
from biobgt.inference.formula import variables_of
from biobgt.study.design import DesignOptions
from biobgt.study.tested import study_findings
from tests.study_data import study_data

FEW = DesignOptions(permutations=199)


@pytest.fixture
def data(rng):
    """Efficiency follows degree; in region 1 degree differs between groups, in region 2 efficiency does beyond it."""
    n, n_regions = 60, 6
    table = pd.DataFrame({"group": ["NC", "AD"] * (n // 2), "age": rng.uniform(50, 80, n).round(1)})
    second = (table["group"] == "AD").to_numpy()
    edges = rng.standard_normal((n, n_regions, n_regions))
    edges = (edges + edges.swapaxes(1, 2)) / 2
    degree = rng.standard_normal((n, 1, n_regions)) + 0.3 * rng.standard_normal((n, 3, n_regions))
    degree[second, :, 0] += 2
    efficiency = degree + 0.3 * rng.standard_normal((n, 3, n_regions))
    efficiency[second, :, 1] += 2
    made = study_data(table, edges, regions={"node_efficiency": efficiency, "degree": degree})
    overall = made.overall[:, None] * 100
    q = {"q": overall + rng.standard_normal((n, 3)), "mean_connectivity": np.tile(overall, 3) + 20 * second[:, None]}
    simpler = {"strength": rng.standard_normal(degree.shape), "degree": degree, "module_size": np.ones_like(degree)}
    return replace(made, network=q, simpler=simpler)


def _of(table, **chosen):
    own = table[~table["adjusted"] & table["level"].isna()]
    for column, value in chosen.items():
        own = own[own[column] == value]
    return own.reset_index(drop=True)


def test_a_region_is_tested_given_its_strength_and_degree(data):
    found = study_findings(data, FEW)
    own = _of(found.regions, measure="node_efficiency")
    assert own[BEYOND].tolist()[:2] == ["no", "yes"]
    design = study_design(variables_of(data.table), "~ group + age", test="group", persons=data.persons)
    given = [data.area(data.simpler[key]) for key in ("strength", "degree")]
    given = np.stack([*given, np.tile(data.overall[:, None], 6)], axis=-1)
    alone = effects_of(design, data.area(data.regions["node_efficiency"]), beside=given, permutations=199).table
    for column, name in (("effect", "effect_given"), ("p", "p_given"), ("q", "q_given")):
        np.testing.assert_array_equal(own[name], alone[column])
    levels = found.regions[found.regions["level"].notna()]
    assert set(levels[BEYOND]) == {""}
    assert levels["q_given"].isna().all()


def test_numbers_of_the_network_are_tested_given_overall_connectivity_and_that_given_nothing(data):
    network = _of(study_findings(data, FEW).network).set_index("measure")
    assert network.loc["mean_connectivity", "q"] < 0.05
    assert network.loc["mean_connectivity", BEYOND] == "–"
    assert np.isnan(network.loc["mean_connectivity", "q_given"])
    assert np.isfinite(network.loc["q", "q_given"])


def test_what_was_not_measured_is_not_tested(data):
    own = _of(study_findings(replace(data, simpler={}), FEW).regions, measure="node_efficiency")
    assert own[BEYOND].tolist()[:2] == ["not tested", "not tested"]
    assert own["q_given"].isna().all()
