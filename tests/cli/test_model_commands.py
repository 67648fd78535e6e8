"""What a card says was typed: enough to make the model again, and nothing of the machine."""

import pandas as pd
import pytest

from biobgt.cli.arguments import typed_command


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--data /home/me/abide --out pretrained/mine --resume", "--data DATA --out pretrained/mine"),
        ("--data=x --out=/home/me/models/mine --threads 2", "--data DATA --out mine"),
        ("--data x --out o --phenotypes /home/me/table.csv", "--data DATA --out o --phenotypes table.csv"),
        ("--data x --out o --runs=/scratch/r --seed 3", "--data DATA --out o --seed 3"),
    ],
)
def test_no_path_of_the_machine_is_on_a_card(typed: str, said: str) -> None:
    assert typed_command(["train", "--cohort", "abide", *typed.split()]) == f"biobgt train --cohort abide {said}"


def test_the_benchmark_prints_its_tables_and_why_a_row_is_empty(run, simulated, tmp_path):
    asked = ("--cohort", "folder", "--data", simulated, "--out", tmp_path, "--threads", 1, "--splits", 2)
    ended = run("benchmark", *asked, "--models", "ridge-fisher-z,gtsp,ridge-log", "--device", "cpu")
    assert ended.code == 0, ended.err
    assert "Test results" in ended.out
    assert "GTSP: GTSP prunes tokens" in ended.out
    lines = pd.read_csv(tmp_path / "results.csv")
    assert lines["model"].tolist() == ["ridge-fisher-z", "ridge-fisher-z", "ridge-log", "ridge-log"]
    assert {"accuracy", "auc", "f1", "sensitivity", "specificity", "brier", "seconds", "parameters"} <= set(lines)


def test_the_benchmark_lists_the_keys_of_its_models(run, tmp_path):
    ended = run("benchmark", "--cohort", "folder", "--data", tmp_path, "--out", tmp_path / "out", "--models", "list")
    assert ended.code == 0, ended.err
    for key in ("ridge-log", "paper-without-ne", "graphormer", "braingb-gcn"):
        assert key in ended.out
    assert not (tmp_path / "out").exists()
