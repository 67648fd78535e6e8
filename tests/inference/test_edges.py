"""Edges: the NBS toolbox's own example, bctpy's NBS, components and supports found by an obvious loop."""

from typing import get_args

import bct
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import io, stats

from biobgt.base.errors import InputError
from biobgt.data.atlas import load_atlas
from biobgt.inference.design import study_design
from biobgt.inference.edges import EdgeMethod, EdgeOptions, component_sizes, edge_effects, threshold_free
from biobgt.inference.formula import variables_of


def _design(groups, formula="~ group", test="group", **how):
    table = groups if isinstance(groups, pd.DataFrame) else pd.DataFrame({"group": groups})
    return study_design(table, formula, test=test, persons=[f"s{i}" for i in range(len(table))], **how)


def _matrices(rng, n_people, n_regions):
    matrices = rng.standard_normal((n_people, n_regions, n_regions))
    return matrices + matrices.swapaxes(1, 2)


def _planted(rng, n=30, n_regions=12):
    """Two groups of which the second is higher in a triangle of edges, and lower in one."""
    matrices = _matrices(rng, n, n_regions)
    for a, b, effect in ((0, 1, 4), (1, 2, 4), (0, 2, 4), (7, 8, -5)):
        matrices[n // 2 :, [a, b], [b, a]] += effect
    return ["a"] * (n // 2) + ["b"] * (n - n // 2), matrices


def test_the_example_of_the_nbs_toolbox_has_its_known_answer(shared_data):
    matrices = np.moveaxis(io.loadmat(str(shared_data / "nbs_example" / "matrices.mat"))["Mat"], 2, 0)
    design = _design(["patient"] * 12 + ["control"] * 15, unequal_variances=False)
    found = edge_effects(design, matrices, EdgeOptions(direction="lower"))
    (component,) = found.networks.to_dict("records")
    assert (component["direction"], component["n_edges"], component["n_regions"]) == ("lower", 40, 29)
    assert component["p_family"] == pytest.approx(0.04, abs=0.01)
    assert (found.table["component"] == 1).sum() == 40
    assert found.table.loc[found.table["component"] == 1, "statistic"].max() < -3.1
    assert edge_effects(design, matrices, EdgeOptions(direction="higher", permutations=10)).networks.empty


def test_components_and_p_are_those_of_bctpy(rng):
    groups, matrices = _planted(rng)
    stacked = np.moveaxis(matrices, 0, 2)
    options = EdgeOptions(edge_threshold=2.5, direction="higher", permutations=2000)
    found = edge_effects(_design(groups, unequal_variances=False), matrices, options)
    p, components, null = bct.nbs_bct(stacked[..., 15:], stacked[..., :15], 2.5, k=500, tail="right", seed=0)
    ours = np.zeros((12, 12), int)
    ours[found.table["region"] - 1, found.table["other_region"] - 1] = found.table["component"]
    np.testing.assert_array_equal(ours > 0, np.triu(components) > 0)
    sizes = {int(n): value for n, value in zip(found.networks["n_edges"], found.networks["p_family"], strict=True)}
    for number, value in enumerate(p, start=1):
        assert sizes[int((np.triu(components) == number).sum())] == pytest.approx(value, abs=0.07)
    assert len(null) == 500


def _slow_sizes(statistics, first, second, n_regions, threshold, intensity):
    found = np.zeros(len(statistics))
    graph = nx.Graph()
    graph.add_nodes_from(range(n_regions))
    above = [i for i in range(len(statistics)) if statistics[i] > threshold]
    graph.add_edges_from((first[i], second[i]) for i in above)
    for nodes in nx.connected_components(graph):
        own = [i for i in above if first[i] in nodes]
        found[own] = sum(statistics[i] - threshold for i in own) if intensity else len(own)
    return found


@pytest.mark.parametrize("intensity", [False, True])
def test_sizes_of_components_are_those_of_a_loop(rng, intensity):
    first, second = np.triu_indices(9, 1)
    statistics = rng.standard_normal((36, 20))
    statistics[:, 3] = -1
    found = component_sizes(statistics, first=first, second=second, n_regions=9, threshold=1.0, intensity=intensity)
    for column in range(20):
        slow = _slow_sizes(statistics[:, column], first, second, 9, 1.0, intensity)
        np.testing.assert_allclose(found[:, column], slow)


def test_support_of_all_thresholds_is_that_of_a_loop(rng):
    first, second = np.triu_indices(8, 1)
    statistics = 1.5 * rng.standard_normal((28, 6))
    statistics[:, 2] = -0.5
    found = threshold_free(statistics, first=first, second=second, n_regions=8, powers=(0.5, 2.0), step=0.25)
    for column in range(6):
        slow = np.zeros(28)
        for level in range(1, 100):
            height = 0.25 * level
            above = statistics[:, column] >= height
            sizes = _slow_sizes(np.where(above, 1.0, 0.0), first, second, 8, 0.5, False)
            slow += np.where(above, sizes**0.5 * height**2 * 0.25, 0)
        np.testing.assert_allclose(found[:, column], slow)


def test_planted_components_are_found_apart_by_their_direction(rng):
    groups, matrices = _planted(rng)
    found = edge_effects(_design(groups), matrices, EdgeOptions(edge_threshold=3.5, permutations=400))
    first = found.networks.iloc[0]
    assert (first["direction"], first["n_edges"], first["n_regions"]) == ("higher", 3, 3)
    assert first["p_family"] < 0.02
    own = found.table[found.table["component"] == 1]
    assert list(zip(own["region"], own["other_region"], strict=True)) == [(1, 2), (1, 3), (2, 3)]
    assert "lower" in set(found.networks["direction"])


@pytest.mark.parametrize("direction", ["both", "higher", "lower"])
def test_support_without_a_threshold_finds_what_was_planted(rng, direction):
    groups, matrices = _planted(rng)
    options = EdgeOptions(method="threshold-free", direction=direction, permutations=300)
    table = edge_effects(_design(groups), matrices, options).table
    planted = {"higher": [(1, 2), (1, 3), (2, 3)], "lower": [(8, 9)]}
    planted["both"] = planted["higher"] + planted["lower"]
    chosen = [pair in planted[direction] for pair in zip(table["region"], table["other_region"], strict=True)]
    assert table.loc[chosen, "p_score"].max() < 0.05
    assert table.loc[~np.array(chosen), "p_score"].median() > 0.5


def test_edges_have_the_t_of_a_test_of_each(rng):
    groups, matrices = _planted(rng)
    found = edge_effects(_design(groups), matrices, EdgeOptions(method="edges", permutations=2000))
    edges = matrices[:, *np.triu_indices(12, 1)]
    expected = stats.ttest_ind(edges[15:], edges[:15], equal_var=False)
    np.testing.assert_allclose(found.table["statistic"], expected.statistic)
    np.testing.assert_allclose(found.table["p"], expected.pvalue, atol=0.04)
    np.testing.assert_allclose(found.table["q"], stats.false_discovery_control(found.table["p"]))
    assert (found.table["p_family"] >= found.table["p"]).all()
    one_sided = edge_effects(
        _design(groups), matrices, EdgeOptions(method="edges", direction="lower", permutations=2000)
    )
    np.testing.assert_allclose(one_sided.table["statistic"], expected.statistic)
    np.testing.assert_allclose(
        one_sided.table["p"],
        stats.ttest_ind(edges[15:], edges[:15], equal_var=False, alternative="less").pvalue,
        atol=0.04,
    )


def test_blocks_are_means_of_the_statistics_of_their_edges(rng):
    groups, matrices = _planted(rng)
    labels = ["x"] * 3 + ["y"] * 6 + [None] * 3
    found = edge_effects(_design(groups), matrices, EdgeOptions(method="blocks", permutations=300), labels=labels)
    named = dict(
        zip(zip(found.networks["network"], found.networks["other_network"], strict=True), range(3), strict=True)
    )
    assert list(named) == [("x", "x"), ("x", "y"), ("y", "y")]
    assert found.networks["n_edges"].tolist() == [3, 18, 15]
    within = found.table[(found.table["region"] <= 3) & (found.table["other_region"] <= 3)]
    assert found.networks["mean_statistic"][0] == pytest.approx(within["statistic"].mean())
    assert found.networks["p_family"][0] < 0.02 < found.networks["p_family"][1]
    with pytest.raises(InputError, match="network"):
        edge_effects(_design(groups), matrices, EdgeOptions(method="blocks"))


@pytest.mark.parametrize("direction", ["both", "lower"])
def test_tails_of_edges_let_small_p_be_smaller(rng, direction):
    groups, matrices = _planted(rng)
    how = {"method": "edges", "direction": direction, "permutations": 999}
    counts, fitted = (edge_effects(_design(groups), matrices, EdgeOptions(**how, tail=tail)) for tail in (False, True))
    lowest = counts.table["statistic"].idxmin()
    assert counts.table["p"][lowest] == pytest.approx(1 / 1000)
    assert fitted.table["p"][lowest] < 1 / 1000
    assert fitted.table["q"][lowest] < counts.table["q"][lowest]
    np.testing.assert_array_equal(counts.table["p_family"], fitted.table["p_family"])
    large = counts.table["p"] > 0.05
    np.testing.assert_array_equal(counts.table["p"][large], fitted.table["p"][large])


def test_too_few_permutations_for_a_rate_are_said(rng):
    groups, matrices = _planted(rng)
    few, enough = (edge_effects(_design(groups), matrices, EdgeOptions(permutations=n, seed=1)) for n in (99, 1999))
    assert any("99 permutations are few for the false discovery rate: of 66 tests, 14" in note for note in few.notes)
    assert not any("false discovery rate" in note for note in enough.notes)


def test_three_groups_are_tested_by_f_and_in_pairs(rng):
    matrices = _matrices(rng, 45, 8)
    matrices[30:, [0, 1], [1, 0]] += 5
    design = _design(np.repeat(["NC", "MCI", "AD"], 15))
    whole = edge_effects(design, matrices, EdgeOptions(edge_threshold=9, permutations=200))
    assert (whole.statistic, whole.effect_kind) == ("F", "partial eta squared")
    assert whole.networks["n_edges"][0] == 1
    assert whole.networks["p_family"][0] < 0.05
    pair = edge_effects(design, matrices, EdgeOptions(permutations=200), contrast="AD - NC")
    assert pair.table["statistic"].idxmax() == 0
    with pytest.raises(InputError, match="direction"):
        edge_effects(design, matrices, EdgeOptions(direction="higher"))
    with pytest.raises(InputError, match="contrast"):
        edge_effects(design, matrices, contrast="AD - FTD")


def test_edges_that_are_missing_or_the_same_in_all_are_left_out(rng):
    groups, matrices = _planted(rng)
    matrices[4, 0, 1] = matrices[4, 1, 0] = np.nan
    matrices[:, 5, 6] = matrices[:, 6, 5] = 0
    found = edge_effects(_design(groups), matrices, EdgeOptions(permutations=9))
    assert found.table["statistic"].isna().sum() == 2
    assert "2 edges not tested: missing for somebody, or the same in all." in found.notes
    with pytest.raises(InputError, match="shape"):
        edge_effects(_design(groups), matrices[:, :, :5])


def test_triangles_are_those_of_matrices(rng):
    groups, matrices = _planted(rng)
    options = EdgeOptions(permutations=20)
    whole = edge_effects(_design(groups), matrices, options)
    triangles = edge_effects(_design(groups), matrices[:, *np.triu_indices(12, 1)], options)
    pd.testing.assert_frame_equal(whole.table, triangles.table)
    pd.testing.assert_frame_equal(whole.networks, triangles.networks)


def test_networks_of_null_data_are_found_as_often_as_is_allowed(rng):
    """Family-wise 5 % of NBS and TFNBS, over data sets without any effect and groups that vary unequally."""
    groups, found = ["a"] * 24 + ["b"] * 12, {"extent": 0, "threshold-free": 0}
    spread = np.where(np.array(groups) == "b", 2.0, 1.0)[:, None]
    for number in range(60):
        values = rng.standard_normal((36, 45)) * spread
        for method in found:
            options = EdgeOptions(method=method, edge_threshold=2.5, permutations=39, seed=number)
            one = edge_effects(_design(groups), values, options)
            p = one.networks["p_family"] if method == "extent" else one.table["p_score"]
            found[method] += bool((p <= 0.05).any())
    low, high = stats.binom.interval(0.999, 60, 0.05)
    assert all(low <= n <= high for n in found.values())


def test_age_of_young_people_goes_with_a_large_network(shared_data):
    table = pd.read_csv(shared_data / "hbn_phenotypes.csv")
    with np.load(shared_data / "hbn_schaefer200.npz") as stored:
        pairs = np.zeros((200, 200), bool)
        pairs[:40, :40] = True
        chosen = pairs[np.triu_indices(200, 1)]
        values = np.arctanh(np.clip(stored["fc"][:300, chosen].astype(float), -0.999, 0.999))
    design = _design(table.iloc[:300].reset_index(drop=True), "~ age + sex + site", "age")
    found = edge_effects(design, values, EdgeOptions(permutations=199))
    assert found.networks["p_family"][0] == pytest.approx(1 / 200)
    assert found.effect_kind == "partial r"


@pytest.mark.parametrize("method", get_args(EdgeMethod))
def test_no_p_is_ever_0(rng, method):
    groups, matrices = _planted(rng)
    matrices[15:] += 9 * (matrices[15:] > 3)
    options = EdgeOptions(method=method, permutations=49)
    found = edge_effects(_design(groups), matrices, options, labels=list("aaabbbcccddd"))
    for table in (found.table, found.networks):
        for name in ("p", "p_family", "p_score", "q"):
            if name in table:
                known = table[name].dropna()
                assert known.min() >= (1 / 50 if name != "q" else 1e-9)
                assert known.max() <= 1


def test_open_eyes_lower_connections_of_the_visual_cortex(shared_data):
    """The paired design of 47 people, eyes closed and open, on the 90 regions of the cerebrum."""
    with np.load(shared_data / "beijing_eoec_aal116.npz") as stored:
        series, eyes, persons = stored["series"][:, :, :90].astype(float), stored["condition"], stored["subject"]
    z = np.array([np.arctanh(np.clip(np.corrcoef(one.T), -0.999, 0.999)) for one in series])
    design = study_design(
        pd.DataFrame({"eyes": eyes}), "~ eyes", test="eyes", persons=list(map(str, persons)), recordings="compared"
    )
    found = edge_effects(design, z, EdgeOptions(permutations=60))
    assert found.contrast.name == "EO - EC"
    largest = found.networks.iloc[0]
    assert largest["direction"] == "lower"
    assert largest["p_family"] == pytest.approx(1 / 61)
    own = found.table[found.table["component"] == 1]
    closed, opened = (z[eyes == name][np.argsort(persons[eyes == name])] for name in ("EC", "EO"))
    pair = tuple(own.iloc[0][["region", "other_region"]].astype(int) - 1)
    t = stats.ttest_rel(opened[:, *pair], closed[:, *pair]).statistic
    assert own.iloc[0]["statistic"] == pytest.approx(t)
    edges_of = np.bincount(np.concatenate([own["region"], own["other_region"]]), minlength=91)[1:]
    visual = np.array(
        ["Calcarine" in one or "Cuneus" in one or "Lingual" in one for one in load_atlas("aal90").regions]
    )
    assert edges_of[visual].mean() > 1.5 * edges_of[~visual].mean()


def test_age_of_young_people_changes_far_more_edges_than_anything_else(shared_data):
    table = variables_of(pd.read_csv(shared_data / "hbn_phenotypes.csv"))
    first, second = np.triu_indices(200, 1)
    with np.load(shared_data / "hbn_schaefer200.npz") as stored:
        z = np.arctanh(np.clip(stored["fc"][:, (first % 5 == 0) & (second % 5 == 0)].astype(float), -0.999, 0.999))
    shares = {}
    for formula, test in (
        ("~ age + sex + site", "age"),
        ("~ age + sex + site", "sex"),
        ("~ age * sex + site", "age:sex"),
        ("~ attention + age + sex + site", "attention"),
    ):
        found = edge_effects(_design(table, formula, test), z, EdgeOptions(method="edges", permutations=99))
        shares[test] = (found.table["p_family"] <= 0.05).mean()
    assert shares["age"] > 0.2
    assert max(shares["sex"], shares["age:sex"], shares["attention"]) < 0.05
