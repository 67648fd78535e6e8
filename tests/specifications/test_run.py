"""Runs: every finding comes to an end, a folder is taken up where it was left, and planted answers are found."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biobgt.base.errors import InputError
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.groups.compare import ComparisonOptions
from biobgt.groups.features import compare_measured
from biobgt.hubs.measures import NEFF, EntanglementOptions
from biobgt.model.pretrained import installed_model
from biobgt.modules.partition import module_blocks
from biobgt.results.measured import Measured
from biobgt.specifications import run as jobs
from biobgt.specifications.findings import FINDINGS
from biobgt.specifications.folder import LINES, finished_survival, survive
from biobgt.specifications.options import SurvivalOptions
from biobgt.specifications.plan import plan_survival
from biobgt.specifications.run import specification_curve
from tests.planted_cohort import planted_cohort

GROUPS = {"first": "NC", "second": "ASD", "permutations": 199, "runs": 2, "covariates": ("none",)}
ABOUT = {
    "agreement": {"most": 12},
    "agreement-of-cohort": {"most": 3},
    "hub": {"region": "R6", "most": 12},
    "modules": {"most": 8, "runs": 2},
    "edge": {"region": "R1", "other_region": "R2", **GROUPS},
    "block": {"networks": ("M1", "M2"), **GROUPS},
    "hub-measure": {"region": "R1", "measure": "degree", "most": 8, **GROUPS},
    "segregation": GROUPS,
    "modularity": {"most": 6, **GROUPS},
    "mean-connectivity": GROUPS,
}
SETTINGS = ConnectomeSettings(threshold="proportional", level=0.2)


@pytest.mark.parametrize("finding", ABOUT)
def test_every_finding_comes_to_a_verdict(finding: str) -> None:
    cohort = planted_cohort(7)
    options = SurvivalOptions(finding=finding, **ABOUT[finding])
    found = specification_curve(Measured(cohort, subject=cohort.ids[1], settings=SETTINGS), options)
    assert len(found.known) == len(found.table) > 2
    assert found.sentence.endswith(".")
    assert f"of {len(found.table)} ways" in found.sentence
    assert set(found.explained()) == set(found.titles)
    assert (found.joint is not None) == (FINDINGS[finding].whom == "difference")
    assert found.n_possible >= len(found.table)


def test_attention_is_that_of_the_model() -> None:
    assert {*ABOUT, "attention"} == set(FINDINGS)
    cohort = demo_cohort("ad", n_per_group=2)
    networks = ("default", "occipital")
    about = {"finding": "attention", "model": "adsim-aal90", "networks": networks, "second": "AD", "first": "NC"}
    options = SurvivalOptions(**about, covariates=("none",), off=("global-signal", "recording", "overall"), most=2)
    measured = Measured(cohort)
    found = specification_curve(measured, options)
    model = replace(installed_model("adsim-aal90"), device="cpu")
    values = {}
    for group in ("NC", "AD"):
        maps = [measured.of(one).attention_map(model).astype(float) for one in cohort.group(group).ids]
        blocks = module_blocks(maps, cohort.atlas.labelling("dosenbach"))
        values[group] = blocks.values[(slice(None), *map(blocks.modules.index, networks))]
    higher = values["AD"].mean() > values["NC"].mean()
    assert found.words.startswith("Attention of adsim-aal90 between default and occipital")
    assert (found.table["estimate"].iloc[0] > 0) == higher
    with pytest.raises(InputError, match="--model"):
        plan_survival(cohort, measured.settings, replace(options, model=""))


def test_the_reference_is_what_pages_say() -> None:
    cohort = planted_cohort(8)
    measured = Measured(cohort, subject=cohort.ids[2], settings=SETTINGS)
    options = SurvivalOptions(finding="agreement", most=5, gamma=2.0)
    first = specification_curve(measured, options).table.iloc[0]
    known = measured.hub_correlation(EntanglementOptions(2.0), NEFF)
    assert (first["estimate"], first["low"], first["high"]) == pytest.approx((known.rho, known.low, known.high))
    asked = ComparisonOptions(
        of="segregation", permutations=199, runs=2, first="NC", second="ASD", covariates=("none",)
    )
    compared = compare_measured(measured.of(None), asked)[1].table.set_index("feature")
    row = compared.loc[next(name for name in compared.index if name.startswith("system segregation, modules"))]
    first = specification_curve(measured, SurvivalOptions(finding="segregation", **GROUPS)).table.iloc[0]
    assert (first["estimate"], first["low"], first["high"]) == pytest.approx((row["d"], row["d_low"], row["d_high"]))


def test_a_planted_difference_survives_and_none_does_not() -> None:
    options = SurvivalOptions(finding="block", networks=("M1",), **GROUPS)
    found = specification_curve(Measured(planted_cohort(10)), options)
    assert found.n_holding == len(found.table) == 24
    assert found.sentence.startswith("Connectivity within M1 is lower in ASD than in NC: holds in 24 of 24 ways.")
    assert found.joint.median_p == found.joint.share_p == 1 / 200
    nothing = specification_curve(Measured(planted_cohort(10, difference=0.0)), options)
    assert nothing.joint.median_p > 0.05
    assert nothing.n_holding < 12


def plan(**options):
    return plan_survival(planted_cohort(4), SETTINGS, SurvivalOptions(finding="segregation", **{**GROUPS, **options}))


def test_a_folder_is_taken_up_where_it_was_left(tmp_path, monkeypatch) -> None:
    one = plan(off=("recording",))
    whole = survive(one, tmp_path / "whole")
    done, measure = 0, jobs._measure

    def stopped(job, **how):
        nonlocal done
        done += 1
        if done == 6:
            raise KeyboardInterrupt
        return measure(job, **how)

    monkeypatch.setattr(jobs, "_measure", stopped)
    with pytest.raises(KeyboardInterrupt):
        survive(one, tmp_path / "ended")
    assert finished_survival(one, tmp_path / "ended") is None
    path = tmp_path / "ended" / LINES
    path.write_bytes(path.read_bytes()[:-9])  # cut off within a line
    found = survive(one, tmp_path / "ended")
    assert done == 6 + one.n_graphs - 4, "five were measured, and the last line was cut off"
    pd.testing.assert_frame_equal(found.table, whole.table)
    pd.testing.assert_frame_equal(finished_survival(one, tmp_path / "ended").table, whole.table)
    assert found.sentence == whole.sentence
    more = survive(plan(), tmp_path / "ended")
    assert done == 6 + plan().n_graphs - 4, "other choices measure what is not there yet"
    assert len(more.table) == 3 * len(found.table)


def test_other_numbers_are_measured_anew(tmp_path) -> None:
    one = plan()
    survive(one, tmp_path)
    cohort = planted_cohort(4)
    first = replace(cohort.subjects[0], series=cohort.subjects[0].series[::-1] ** 3)
    changed = replace(cohort, subjects=(first, *cohort.subjects[1:]))
    other = plan_survival(changed, SETTINGS, one.options)
    assert finished_survival(other, tmp_path) is None
    found = survive(other, tmp_path)
    assert not np.allclose(found.table["estimate"], finished_survival(one, tmp_path).table["estimate"])
    rows = [json.loads(line) for line in (tmp_path / LINES).read_text().splitlines() if line]
    assert len({row["mark"] for row in rows if row["subject"] == first.id}) == 2


def test_processes_give_the_same(tmp_path) -> None:
    one = plan(off=("recording", "estimator"))
    alone, many = survive(one, tmp_path / "one"), survive(one, tmp_path / "two", workers=2)
    pd.testing.assert_frame_equal(alone.table, many.table)


def test_a_folder_of_other_things_is_refused(tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("\\end")
    with pytest.raises(InputError, match=r"thesis\.tex"):
        survive(plan(), tmp_path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"finding": "hub"}, "--region"),
        ({"finding": "hub", "region": "R99"}, "no region 'R99'"),
        ({"finding": "edge", "region": "R1", "other_region": "R1", **GROUPS}, "two ends"),
        ({"finding": "block", **GROUPS}, "--networks"),
        ({"finding": "block", "networks": ("M9",), **GROUPS}, "no network 'M9'"),
        ({"finding": "segregation", "first": "NC", "second": "AD"}, "AD"),
        ({"finding": "agreement", "beside": "node_entanglement"}, "itself"),
        ({"finding": "segregation", "labelling": "yeo", **GROUPS}, "yeo"),
        ({"finding": "segregation", **GROUPS, "covariates": ("site",)}, "residual degrees"),
        ({"finding": "segregation", "score": "site"}, "words"),
    ],
)
def test_what_is_not_there_is_said_before_anything_is_measured(options, said) -> None:
    with pytest.raises(InputError, match=said):
        plan_survival(planted_cohort(3), SETTINGS, SurvivalOptions(**options))


def test_graphs_that_cannot_be_made_are_no_estimates() -> None:
    cohort = planted_cohort(3)
    weak = replace(cohort.subjects[0], series=np.random.default_rng(0).normal(size=(2000, 16)))
    options = SurvivalOptions(finding="agreement", off=("recording", "global-signal", "gamma", "perturbation"), most=50)
    found = specification_curve(
        Measured(replace(cohort, subjects=(weak,)), subject=weak.id, settings=SETTINGS), options
    )
    lost = found.table[found.table["estimate"].isna()]
    weights = lost[lost["threshold"].str.startswith("at least")]
    assert set(weights["threshold"]) == {"at least 0.2", "at least 0.3", "at least 0.4"}
    assert weights["why"].str.contains("connection").all()
    assert (lost["why"] != "").all()
    assert "gave no estimate" in found.sentence
