"""Findings of studies: known answers of real data, planted effects, levels, and tables read back as they were."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import io

from biobgt.base.errors import InputError
from biobgt.data.consensus import distance_consensus
from biobgt.data.graph import KINDS
from biobgt.inference.design import study_design
from biobgt.inference.effects import effects_of
from biobgt.inference.formula import variables_of
from biobgt.study.design import DesignOptions, plan_study
from biobgt.study.findings import TABLES, has_findings, read_findings
from biobgt.study.tested import study_findings
from tests.study_data import hbn, study_data

FEW = DesignOptions(permutations=199)


def _planted(rng, n=40, n_regions=8, **about):
    """Two groups; the second is higher in a triangle, and in region 2 higher at two levels and lower at the first."""
    table = pd.DataFrame({"group": ["NC", "AD"] * (n // 2), "age": rng.uniform(50, 80, n).round(1)})
    second = (table["group"] == "AD").to_numpy()
    edges = rng.standard_normal((n, n_regions, n_regions))
    edges = (edges + edges.swapaxes(1, 2)) / 2
    for a, b in ((0, 1), (1, 2), (0, 2)):
        edges[second, a, b] += 3
        edges[second, b, a] += 3
    degree = rng.standard_normal((n, 3, n_regions))
    degree[second, :, 1] += np.array([-2.0, 3.0, 3.0])
    network = {"q": rng.standard_normal((n, 3)), "edges": np.full((n, 3), 5.0)}
    network["mean_connectivity"] = np.tile(rng.standard_normal((n, 1)), 3)
    return study_data(table, edges, regions={"degree": degree}, network=network, **about)


def test_a_planted_effect_is_found_and_everything_stands_with_and_without_overall_connectivity(rng):
    data = _planted(rng)
    found = study_findings(data, replace(FEW, edge_threshold=5.0))
    assert [design.adjusted for design in found.designs] == [False, True]
    assert [design.formula for design in found.designs] == ["~ group + age", "~ group + age + overall_connectivity"]
    for adjusted in (False, True):
        components = found.components[found.components["adjusted"] == adjusted]
        assert components.iloc[0]["n_edges"] == 3
        assert components.iloc[0]["p_family"] <= 0.02
        edges = found.edges[found.edges["adjusted"] == adjusted]
        inside = edges[edges["component"] == 1]
        assert set(zip(inside["region"], inside["other_region"], strict=True)) == {(1, 2), (1, 3), (2, 3)}
    assert any("No design was named" in note for note in found.notes)
    assert any("motion" in note and "site" in note for note in found.notes)
    assert study_findings(data, replace(FEW, overall=True)).designs[0].adjusted


def test_levels_stand_beside_the_area_and_directions_that_flip_are_seen(rng):
    data = _planted(rng)
    regions = study_findings(data, FEW).regions
    own = regions[~regions["adjusted"]]
    of_area, of_levels = own[own["level"].isna()], own.dropna(subset="level")
    assert len(of_area) == 8
    assert len(of_levels) == 24
    planted = of_area.iloc[1]
    assert planted["name"] == data.atlas.regions[1]
    assert planted["p_family"] <= 0.05
    assert planted["levels_alike"] == pytest.approx(2 / 3)
    at = of_levels[of_levels["region"] == 2].set_index("level")["estimate"]
    assert at[0.1] < -1
    assert at[0.3] > 2
    design = plan_study(data.table, data.persons, FEW).main
    alone = effects_of(design, data.regions["degree"][:, 2], permutations=199)
    np.testing.assert_array_equal(alone.table["statistic"], of_levels[of_levels["level"] == 0.3]["statistic"])
    np.testing.assert_array_equal(alone.table["p"], of_levels[of_levels["level"] == 0.3]["p"])
    assert (of_levels[of_levels["level"] == 0.3]["p_family"].to_numpy() >= alone.table["p_family"] - 1e-12).all()


def test_numbers_that_are_the_same_at_every_level_or_in_everybody_are_tested_once_or_not(rng):
    network = study_findings(_planted(rng), FEW).network
    own = network[~network["adjusted"]]
    assert own.groupby("measure")["level"].agg(["size", "count"]).to_dict("index") == {
        "mean_connectivity": {"size": 1, "count": 0},
        "q": {"size": 4, "count": 3},
    }


def test_the_area_is_that_of_trapezoids(rng):
    data, values = _planted(rng, levels=(0.05, 0.1, 0.3)), rng.standard_normal((40, 3, 5))
    np.testing.assert_allclose(data.area(values), np.trapezoid(values, data.levels, axis=1) / 0.25)
    np.testing.assert_allclose(data.area(values[:, :, 0]), data.area(values)[:, 0])
    assert replace(data, levels=(0.2,)).area(values[:, :1]).tolist() == values[:, 0].tolist()


def test_findings_are_read_back_as_they_were(rng, tmp_path):
    data = _planted(rng)
    edges = data.edges.copy()
    edges[0, :7] = np.nan  # the first region has no signal in somebody
    names = ["=1+1", "NA", "'quoted", "tab\there", *data.atlas.regions[4:]]
    data = replace(data, edges=edges, atlas=replace(data.atlas, regions=tuple(names), name="own"))
    for options in (FEW, replace(FEW, method="blocks"), replace(FEW, method="threshold-free", permutations=50)):
        labels = {"yeo7": ("A", "A", "A", "B", "B", "B", None, "B")}
        found = study_findings(replace(data, atlas=replace(data.atlas, labels=labels)), options)
        found.write(tmp_path / options.method)
        read = read_findings(tmp_path / options.method)
        for name in TABLES:
            pd.testing.assert_frame_equal(getattr(read, name), getattr(found, name), check_exact=True)
        assert read.designs == found.designs
        assert (read.options, read.notes, read.labelling) == (found.options, found.notes, found.labelling)
        for name, table in ((name, getattr(found, name)) for name in TABLES):
            floats = table.select_dtypes(float)
            assert floats.to_numpy().tobytes() == getattr(read, name)[floats.columns].to_numpy().tobytes()
    assert found.labelling == ""
    assert not found.edges["p_score"].isna().all()


def test_half_written_findings_are_refused(rng, tmp_path):
    assert not has_findings(tmp_path)
    study_findings(_planted(rng), FEW).write(tmp_path)
    assert has_findings(tmp_path)
    (tmp_path / "regions.tsv").unlink()
    with pytest.raises(InputError, match="whole findings"):
        read_findings(tmp_path)


def test_regions_without_signal_in_somebody_are_not_tested_or_that_person_is_left_out(rng):
    data = _planted(rng)
    edges = data.edges.copy()
    edges[3, :7] = np.nan
    regions = {"degree": data.regions["degree"].copy()}
    regions["degree"][3, :, 0] = np.nan
    data = replace(data, edges=edges, regions=regions)
    found = study_findings(data, FEW)
    assert any("1 region is not tested" in note and "1 recording of 40" in note for note in found.notes)
    assert found.edges["p"].isna().sum() == 2 * 7
    assert found.regions["p"].isna().sum() == 2 * 4
    without = study_findings(data, replace(FEW, gaps="people"))
    assert without.designs[0].n_people == 39
    assert without.regions["p"].notna().all()


def test_three_groups_have_one_f_with_a_threshold_as_improbable_and_then_every_pair(rng):
    data = _planted(rng)
    table = data.table.assign(group=np.resize(["NC", "MCI", "AD"], 40))
    found = study_findings(replace(data, table=table), replace(FEW, method="intensity", unequal_variances=False))
    assert [one.name for one in found.designs[0].contrasts] == ["group", "AD - NC", "MCI - NC", "MCI - AD"]
    assert [one.statistic for one in found.designs[0].contrasts] == list("Fttt")
    assert any("within each contrast" in note for note in found.notes)
    lowest = found.edges[(found.edges["contrast"] == "group") & (found.edges["component"] > 0)]["statistic"]
    assert (lowest > 6).all()  # F of 2 and 36 degrees as improbable as |t| > 3.1 is 7.1


def test_designs_that_cannot_be_tested_are_refused_before_anything_is_computed(rng):
    data = _planted(rng)
    with pytest.raises(InputError, match="no two groups"):
        study_findings(replace(data, table=data.table.drop(columns="group")), FEW)
    with pytest.raises(InputError, match="Which term"):
        study_findings(data, replace(FEW, design="~ age + site"))
    with pytest.raises(InputError, match="no variable 'iq'"):
        study_findings(data, replace(FEW, design="~ group + iq"))
    few = data.some(np.arange(9))
    found = study_findings(few, replace(FEW, design="~ group", edge_threshold=50))
    assert [design.adjusted for design in found.designs] == [False]
    assert any("without overall connectivity only" in note and "degrees" in note for note in found.notes)


def test_the_usual_design_says_what_it_takes_and_what_it_leaves_out():
    table = pd.DataFrame({"group": ["a", "b"] * 10, "age": [np.nan] * 12 + [30.0] * 8, "sex": ["f", "m", "m", "f"] * 5})
    plan = plan_study(table, [f"s{i}" for i in range(20)], DesignOptions())
    assert plan.main.formula == "~ group + sex"
    assert (
        "Not adjusted for age (known of 40%)." in plan.sentences
        or "Not adjusted for age (known of 40 %)." in plan.sentences
    )
    assert any("motion" in sentence and "site" in sentence for sentence in plan.sentences)
    by_age = plan_study(table.assign(age=np.arange(20.0)), [f"s{i}" for i in range(20)], DesignOptions(test="age:sex"))
    assert by_age.main.tested == "age:sex"


# Known answers of real data.


def test_the_example_of_the_nbs_toolbox_through_a_whole_study(shared_data):
    matrices = np.moveaxis(io.loadmat(str(shared_data / "nbs_example" / "matrices.mat"))["Mat"], 2, 0)
    data = study_data(pd.DataFrame({"group": ["patient"] * 12 + ["control"] * 15}), matrices)
    options = DesignOptions(design="~ C(group)", unequal_variances=False, direction="lower", permutations=1000)
    found = study_findings(data, options)
    (component,) = found.components[~found.components["adjusted"]].to_dict("records")
    assert (component["contrast"], component["direction"]) == ("patient - control", "lower")
    assert (component["n_edges"], component["n_regions"]) == (40, 29)
    assert component["p_family"] == pytest.approx(0.04, abs=0.015)
    other = study_findings(data, replace(options, direction="higher", permutations=5))
    assert other.components[~other.components["adjusted"]].empty


def test_eyes_closed_and_open_are_compared_within_each_person(shared_data):
    with np.load(shared_data / "beijing_eoec_aal116.npz") as stored:
        series, condition, person = (stored[name] for name in ("series", "condition", "subject"))
    chosen = np.r_[42:54, 78:90]  # the cerebellum's neighbours in vision, and the temporal poles beyond them
    edges = np.arctanh(np.array([np.clip(np.corrcoef(own[:, chosen].astype(float).T), -0.99, 0.99) for own in series]))
    names = [f"sub-{p}_ses-{c}" for p, c in zip(person, condition, strict=True)]
    table = pd.DataFrame({"subject": names, "condition": condition})
    options = DesignOptions(design="~ condition", test="condition", repeated="compared", permutations=500)
    found = study_findings(study_data(table, edges), options)
    design = found.designs[0]
    assert (design.n_people, design.n_rows, design.recordings) == (47, 94, "compared")
    edges_found = found.edges[~found.edges["adjusted"]]
    pairs = edges[(slice(None), *np.triu_indices(24, 1))]
    paired = pairs[condition == "EO"] - pairs[condition == "EC"]
    t = paired.mean(axis=0) / (paired.std(axis=0, ddof=1) / np.sqrt(47))
    np.testing.assert_allclose(edges_found["statistic"], t, rtol=1e-3)
    assert found.components[~found.components["adjusted"]].iloc[0]["p_family"] < 0.05


def test_age_explains_far_more_of_connectivity_than_anything_else(shared_data):
    data = hbn(shared_data, 300, 30)
    design = "~ age * sex + site + attention + p_factor"
    explained = {}
    for test in ("age", "sex", "attention", "p_factor", "age:sex"):
        own = study_findings(data, DesignOptions(design=design, test=test, method="edges", permutations=1))
        edges = own.edges[~own.edges["adjusted"]]
        explained[test] = (float((edges["statistic"] ** 2).mean()), int((edges["statistic"].abs() > 4).sum()))
    others = [explained[test] for test in explained if test != "age"]
    assert explained["age"][0] > 3 * max(one[0] for one in others)
    assert explained["age"][1] > 10 * max(1, *(one[1] for one in others))
    assert explained["age:sex"][0] < 2  # 1 is chance


def test_structural_connectomes_are_tested_as_what_they_are(shared_data):
    with np.load(shared_data / "structural" / "pd_glasser379.npz") as stored:
        weights = stored["weights"]
    whole = np.zeros((379, 379), dtype=np.int64)
    whole[np.triu_indices(379, 1)] = np.arange(weights.shape[1])
    some = whole[360:, 360:][np.triu_indices(19, 1)]  # subcortical regions
    table = pd.read_csv(shared_data / "structural" / "pd_phenotypes.csv")
    data = study_data(table, weights[:, some].astype(np.float64), kind="structural")
    found = study_findings(data, FEW)
    assert (found.designs[0].n_people, found.designs[0].contrasts[0].name) == (67, "PD - NC")
    assert found.designs[0].covariates == ("age", "sex")
    often = (data.edges > 0).mean(axis=0)
    assert found.edges["p"].notna().sum() == 2 * (often > 0).sum()
    half = study_findings(data, replace(FEW, edge_consensus="share", consensus_share=0.6))
    own = half.edges[~half.edges["adjusted"]]
    np.testing.assert_array_equal(own["p"].notna(), often >= 0.6)
    assert any(f"{(often >= 0.6).sum()} of 171 edges at least 60 % of people have" in note for note in half.notes)
    with pytest.raises(InputError, match="Neither lengths"):
        study_findings(data, replace(FEW, edge_consensus="distance"))
    lengths = np.random.default_rng(0).uniform(10, 80, 171)
    by_length = study_findings(replace(data, lengths=lengths), replace(FEW, edge_consensus="distance"))
    kept = distance_consensus(data.edges > 0, lengths)
    np.testing.assert_array_equal(by_length.edges[~by_length.edges["adjusted"]]["p"].notna(), kept)
    with pytest.raises(InputError, match="structural"):
        study_findings(replace(data, kind=KINDS["functional"]), replace(FEW, edge_consensus="share"))


def test_the_term_can_be_any_that_formulas_have(shared_data):
    data = hbn(shared_data, 150, 12)
    found = study_findings(data, replace(FEW, design="~ poly(age, 2) + sex", test="poly(age, 2)"))
    (contrast,) = found.designs[0].contrasts
    assert (contrast.statistic, contrast.effect) == ("F", "partial eta squared")
    design = study_design(variables_of(data.table), "~ poly(age, 2) + sex", test="poly(age, 2)", persons=data.persons)
    alone = effects_of(design, data.area(data.regions["degree"]), permutations=199)
    own = found.regions[~found.regions["adjusted"] & found.regions["level"].isna()]
    np.testing.assert_array_equal(own["effect"], alone.table["effect"])


# Harmonisation.


def _of_two_sites(rng, **about):
    data = _planted(rng, **about)
    site = np.repeat(["x", "y"], 20)
    shift = np.where(site == "y", 2.0, 0.0)
    regions = {"degree": data.regions["degree"] * np.where(site == "y", 3.0, 1.0)[:, None, None] + shift[:, None, None]}
    edges = (data.edges + 0.5 * shift[:, None]).astype(np.float32)
    return replace(data, table=data.table.assign(site=site), edges=edges, regions=regions, overall=data.overall + shift)


def test_what_sites_add_is_taken_away_if_asked_and_its_share_is_kept_before_and_after(rng):
    data = _of_two_sites(rng)
    options = replace(FEW, design="~ group + age", harmonise="combat")
    found = study_findings(data, options)
    shares = found.harmonised.groupby("measure")[["before", "after", "spread_before", "spread_after"]].mean()
    assert shares.loc["edges", "before"] > 0.3
    assert abs(shares.loc["edges", "after"]) < 0.1
    assert shares.loc["degree", "spread_before"] > 0.15
    assert abs(shares.loc["degree", "spread_after"]) < 0.1
    assert set(found.harmonised["level"].dropna()) == {0.1, 0.2, 0.3}
    by_site = found.overall_by_site.groupby("site")[["before", "after"]].mean()
    assert by_site.loc["y", "before"] - by_site.loc["x", "before"] > 1.5
    assert abs(by_site.loc["y", "after"] - by_site.loc["x", "after"]) < 0.3
    assert any("ComBat was fitted on 40 people of 2 sites, preserving group and age" in note for note in found.notes)
    assert (found.edges["component"] > 0).sum() >= 6  # the planted triangle, with overall connectivity and without
    plain = study_findings(data, replace(options, harmonise="none"))
    assert plain.harmonised.empty
    assert plain.overall_by_site.empty
    assert not np.allclose(plain.edges["statistic"], found.edges["statistic"])


def test_controls_alone_can_say_what_sites_add_and_site_stays_a_covariate_or_it_is_said(rng):
    data = _of_two_sites(rng)
    of_controls = replace(FEW, design="~ group + age", harmonise="combat", harmonise_on="NC")
    notes = study_findings(data, of_controls).notes
    assert any("fitted on 20 people of 2 sites, preserving age" in note for note in notes)
    assert any(note.startswith("group: the same in all whom ComBat was fitted on") for note in notes)
    assert any("add site to the design" in note for note in notes)
    with_site = study_findings(data, replace(of_controls, design="~ group + age + site", harmonise_on="")).notes
    assert not any("add site to the design" in note for note in with_site)
    with pytest.raises(InputError, match=r"no group 'FTD'.*AD and NC"):
        study_findings(data, replace(of_controls, harmonise_on="FTD"))


def test_harmonising_is_refused_where_site_and_group_are_one_or_site_is_tested(rng):
    data = _of_two_sites(rng)
    one = replace(data, table=data.table.assign(site=data.table["group"].map({"NC": "x", "AD": "y"})))
    with pytest.raises(InputError, match="told apart from site"):
        study_findings(one, replace(FEW, design="~ group", harmonise="combat"))
    with pytest.raises(InputError, match="site is tested"):
        study_findings(data, replace(FEW, design="~ site", test="site", harmonise="combat"))
    with pytest.raises(InputError, match="no variable 'scanner'"):
        study_findings(data, replace(FEW, harmonise="robust", harmonise_by="scanner"))
    lacking = data.table.assign(site=["x", None, *data.table["site"][2:]])
    with pytest.raises(InputError, match="site is not known of recording 'sub-0001'"):
        study_findings(replace(data, table=lacking), replace(FEW, design="~ group", harmonise="combat"))


# Maps.


def test_maps_of_measures_of_effects_and_ones_own_are_compared(shared_data, tmp_path):
    data = hbn(shared_data, 100, 60)
    degree, levels = data.regions["degree"], data.area(data.regions["degree"]).mean(axis=0)
    noise = np.random.default_rng(0).standard_normal(degree.shape)
    data = replace(data, regions={"degree": degree, "node_entanglement": degree + noise, "eigenvector": noise})
    rows = [f"{name},{value:.6f}" for name, value in zip(data.atlas.regions, -levels, strict=True)]
    (tmp_path / "mine.csv").write_text("\n".join(["region,value", *rows[:50]]))
    options = DesignOptions(
        design="~ age + sex", test="age", method="edges", permutations=200, own_map=str(tmp_path / "mine.csv")
    )
    maps = study_findings(data, options).maps
    means = maps[maps["contrast"] == ""].set_index(["map", "other_map"])
    assert means.loc[("degree", "node_entanglement"), "rho"] > 0.9
    assert means.loc[("degree", "node_entanglement"), "p"] == 1 / 201
    assert means.loc[("degree", "mine"), "rho"] == pytest.approx(-1)
    assert means.loc[("degree", "mine"), "n_regions"] == 50
    assert means.loc[("degree", "eigenvector"), "p"] > 0.05
    assert (maps["naive_p"] <= 1).all()
    assert set(maps["contrast"]) == {"", "age"}
    effects = maps[(maps["contrast"] == "age") & maps["adjusted"]]
    assert len(effects) == 2 + 3
    assert (maps["q"] >= maps["p"]).all()
    nulls = maps.set_index("other_map")["null"]
    assert set(nulls["mine"]) == {"surrogates"}  # 50 regions of one hemisphere cannot be turned
    with pytest.raises(InputError, match="no map"):
        study_findings(data, replace(options, own_map=str(tmp_path / "other.csv")))


def test_maps_without_places_are_not_compared_and_it_is_said(rng):
    data = _planted(rng)
    data = replace(data, regions={**data.regions, "other": rng.standard_normal((40, 3, 8))})
    found = study_findings(data, FEW)
    assert found.maps.empty
    assert any("3 pairs of maps not compared, such as degree and other" in note for note in found.notes)
