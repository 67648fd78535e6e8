"""Every command takes a cohort by the same names: a path, a demo, a project or a fetched cohort."""

import pytest

from biobgt.data.simulate import demo_cohort

DRAWN = {
    "info": (),
    "connectome": ("--out", "out"),
    "hubs": ("--workers", 1, "--out", "out"),
    "modules": ("--workers", 1, "--out", "out"),
    "compare": ("--groups", "NC", "ASD", "--of", "fc-blocks", "--permutations", 20, "--workers", 1, "--out", "out"),
    "predict": ("--model", "abide-cc200", "--out", "out.csv"),
    "attention": ("--model", "abide-cc200", "--out", "out"),
}


@pytest.mark.parametrize("command", DRAWN)
def test_every_command_draws_a_demo(run, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("biobgt.readers.fetch.demo_cohort", lambda name: demo_cohort(name, n_per_group=2))
    ended = run(command, "demo:asd", *DRAWN[command])
    assert ended.code == 0, ended.err
    assert "SIMULATED" in ended.out


def test_a_demo_that_is_not_there_is_named(run, tmp_path):
    assert "other" in run("hubs", "demo:other", "--out", tmp_path / "out").err


def test_a_demo_is_not_read_in_another_way(run, tmp_path):
    ended = run("hubs", "demo:asd", "--atlas", "aal90", "--out", tmp_path / "out")
    assert ended.code != 0
    assert "drawn" in ended.err


def test_help_says_so(run):
    assert "demo:asd" in run("hubs", "--help").out
