"""A finding measured by a process of its own: it is started, comes to its end, and what it found is the plan's."""

import time
from pathlib import Path

from biobgt.data.graph import ConnectomeSettings
from biobgt.specifications.background import BackgroundSurvival
from biobgt.specifications.folder import finished_survival
from biobgt.specifications.options import SurvivalOptions
from biobgt.specifications.plan import plan_survival
from tests.planted_cohort import planted_cohort

LONGEST_S = 300


def test_it_comes_to_its_end_and_other_ways_share_its_folder(tmp_path: Path) -> None:
    settings = ConnectomeSettings(estimator="pearson", threshold="proportional", level=0.2, backbone=True)
    options = SurvivalOptions(
        finding="hub", region="R6", gamma=2.0, off=("recording", "estimator", "threshold"), most=20
    )
    plan = plan_survival(planted_cohort(3), settings, options, subject="ASD-1")
    run = BackgroundSurvival(plan, tmp_path)
    assert run.look().state == "none"
    run.start()
    assert run.home.stat().st_mode & 0o077 == 0, "nobody else may look into it"
    end = time.monotonic() + LONGEST_S
    while run.look().state == "running":
        assert time.monotonic() < end, run.look()
        time.sleep(0.05)
    assert run.look().state == "finished", run.look()
    found = finished_survival(plan, run.out)
    assert found is not None, "the command measured the ways of the plan"
    assert found.options == options
    assert found.whom == "subject ASD-1"
    fewer = plan_survival(planted_cohort(3), settings, SurvivalOptions(**{**vars(options), "most": 5}), subject="ASD-1")
    assert BackgroundSurvival(fewer, tmp_path).home == run.home
    other = plan_survival(planted_cohort(3), settings, options, subject="NC-1")
    assert BackgroundSurvival(other, tmp_path).home != run.home
    run.forget()
    assert not run.home.exists()
