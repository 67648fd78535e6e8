"""A study as a process of its own: it is started, seen, stopped and resumed, and what it cannot do is said."""

import time
from dataclasses import replace
from pathlib import Path

from biobgt.data.graph import ConnectomeSettings
from biobgt.study.background import BackgroundStudy
from biobgt.study.design import DesignOptions
from biobgt.study.options import RecordingOptions
from tests.planted_cohort import planted_cohort

LONGEST_S = 300
SETTINGS = ConnectomeSettings()
FEW = [RecordingOptions(levels=(0.2, 0.4), measures=("degree",)), DesignOptions(permutations=20)]


def until(study: BackgroundStudy, is_so) -> None:
    """Wait for a state, not for a time."""
    end = time.monotonic() + LONGEST_S
    while not is_so(study.look()):
        assert time.monotonic() < end, study.look()
        time.sleep(0.05)


def test_it_goes_on_alone_can_be_stopped_and_ends_with_a_report(tmp_path: Path) -> None:
    study = BackgroundStudy("abc123", tmp_path)
    assert study.look().state == "none"
    study.start(planted_cohort(8), SETTINGS, FEW)
    assert study.home.stat().st_mode & 0o077 == 0, "nobody else may look into it"
    until(study, lambda one: one.progress.get("total") == 16 or one.state != "running")
    again = BackgroundStudy("abc123", tmp_path)  # as another session sees it
    assert again.look().state == "running"
    again.stop()
    assert study.look().state == "stopped"
    study.start(planted_cohort(8), SETTINGS, FEW)
    until(study, lambda one: one.state != "running")
    assert study.look().state == "finished", study.look()
    assert "ASD − NC" in study.report.read_text(encoding="utf-8")
    study.forget()
    assert study.look().state == "none"
    assert not study.home.exists()


def test_what_it_cannot_do_is_what_it_said_last(tmp_path: Path) -> None:
    study = BackgroundStudy("abc123", tmp_path)
    refused = replace(FEW[1], design="~ shoe_size", test="shoe_size")
    study.start(planted_cohort(8), SETTINGS, [FEW[0], refused])
    until(study, lambda one: one.state != "running")
    found = study.look()
    assert found.state == "failed"
    assert "no variable 'shoe_size'" in found.said
