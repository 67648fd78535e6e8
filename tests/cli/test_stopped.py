"""Real jobs that are stopped or killed: what is left of their results, their folders and their processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from biobgt.base.files import sha256
from biobgt.base.folders import MANIFEST

TESTS = Path(__file__).parents[1]
# The real command, whose subjects take a minute each.
JOB = """
import sys
from slow_subjects import note_and_double
from biobgt.cli import main, networks
from biobgt.base.parallel import map_subjects

if __name__ == "__main__":
    items = [(sys.argv.pop(1), 60.0, number) for number in range(1)] * 4
    networks.analyse_hubs = lambda *_, **__: map_subjects(note_and_double, items, workers=2)
    main()
"""


@pytest.fixture
def start(tmp_path, small):
    """Start ``biobgt hubs`` in a process of its own and wait until its processes are at work."""
    script, notes = tmp_path / "job.py", tmp_path / "notes"
    notes.mkdir()
    script.write_text(JOB)
    started = []

    def begin(out: Path) -> subprocess.Popen[str]:
        paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
        arguments = ["hubs", str(small[0]), "--atlas", str(small[1]), "--out", str(out)]
        job = subprocess.Popen(
            [sys.executable, str(script), str(notes), *arguments],
            env={**os.environ, "PYTHONPATH": paths},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(job)
        ends = time.monotonic() + 90
        while len(list(notes.iterdir())) < 2 and job.poll() is None and time.monotonic() < ends:
            time.sleep(0.05)
        assert job.poll() is None, job.stderr.read()
        return job

    yield begin
    for job in started:
        job.kill()
        job.wait()


def _jobs(folder):
    return json.loads((folder / MANIFEST).read_text("utf-8"))["jobs"]


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_sigterm_says_so_and_leaves_nothing(start, tmp_path):
    job = start(tmp_path / "out")
    job.send_signal(signal.SIGTERM)
    _, err = job.communicate(timeout=60)
    assert job.returncode == 128 + signal.SIGTERM
    assert "Stopped before the end: no results were written." in err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.py", "notes"]


def test_what_a_killed_job_left_is_cleared_by_the_next(start, done, small, tmp_path):
    job = start(tmp_path / "out")
    job.kill()
    job.wait()
    left = [path for path in tmp_path.iterdir() if path.name.startswith(".unfinished-")]
    assert len(left) == 1  # nobody can clear up after itself when it is killed
    done("hubs", small[0], "--atlas", small[1], "--out", tmp_path / "out", "--workers", 1)
    assert not left[0].exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    for name, about in _jobs(tmp_path / "out")["hubs"]["files"].items():
        assert sha256(tmp_path / "out" / name) == about["sha256"]


def test_a_second_cohort_leaves_no_tables_of_the_first(run, done, small, tmp_path):
    out = tmp_path / "out"
    how = ("--atlas", small[1], "--out", out, "--workers", 1)
    run("hubs", small[0], *how)
    run("modules", small[0], *how, "--runs", 1)
    (tmp_path / "fewer").mkdir()
    for name in ("s0.tsv", "s3.tsv", "participants.tsv"):
        (tmp_path / "fewer" / name).write_text((small[0] / name).read_text())
    done("hubs", tmp_path / "fewer", *how)
    assert {path.name for path in (out / "hubs").iterdir()} == {"s0.csv", "s3.csv"}
    assert len(list((out / "modules").iterdir())) == 6  # another job's
    jobs = _jobs(out)
    assert jobs["hubs"]["command"] == "biobgt hubs fewer --atlas twelve.csv --out out --workers 1"
    assert _names(out) == {MANIFEST, *(name for job in jobs.values() for name in job["files"])}


def test_figures_are_added_to_a_folder(done, small, tmp_path):
    asked = ("figure", "connectivity_heatmap", small[0], "--atlas", small[1], "--out", tmp_path / "figures")
    for name in ("one", "two", "one"):
        done(*asked, "--name", name)
    assert set(_jobs(tmp_path / "figures")) == {"figure one", "figure two"}
    assert {"figures/one.svg", "figures/two.svg"} <= _names(tmp_path / "figures")


def test_predictions_bring_no_manifest_into_a_users_folder(done, simulated, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    done("predict", simulated, "--model", "adsim-aal90", "--out", tmp_path / "p.csv", "--device", "cpu")
    assert _names(tmp_path) == {"notes.txt", "p.csv", "p_model.json"}


def _train(small, out, *more):
    how = ("--atlas", small[1], "--out", out, "--folds", 3, "--epochs", 2, "--device", "cpu", "--threads", 1)
    return ("train", "--cohort", "folder", "--data", small[0], *how, *more)


def test_a_training_that_is_stopped_leaves_the_old_model_and_says_what_is_kept(run, done, small, tmp_path, monkeypatch):
    """Stopped after the weights, before the card is complete: the folder is the model before, whole; resume ends it."""
    out = tmp_path / "model"
    done(*_train(small, out, "--seed", 1))
    old = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    assert {"model.safetensors", "card.json", "groups.npz", "spread.npz", "tests.csv", "README.md"} == set(old)

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("biobgt.training.checks.complete_ablation", stopped)
        ended = run(*_train(small, out, "--runs", tmp_path / "runs"))
    assert ended.code == 130
    assert "no results were written" not in ended.err
    assert (
        f"No model was written. What was finished, up to the last epoch, is kept in '{tmp_path / 'runs'}'" in ended.err
    )
    assert "--resume" in ended.err
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == old
    done(*_train(small, out, "--runs", tmp_path / "runs", "--resume"))
    assert (out / "model.safetensors").read_bytes() != old["model.safetensors"]
    assert [path.name for path in tmp_path.rglob(".*")] == []


def test_an_evaluation_that_is_stopped_says_what_is_kept(run, small, tmp_path, monkeypatch):
    def stopped(*_: object, **__: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    monkeypatch.setattr("biobgt.training.evaluation.train_model", stopped)
    how = ("--cohort", "folder", "--data", small[0], "--atlas", small[1], "--out", tmp_path, "--threads", 1)
    ended = run("evaluate", *how, "--splits", 1, "--device", "cpu")
    assert ended.code == 128 + signal.SIGTERM
    assert f"The lines of every split that was finished are kept in '{tmp_path}': run the same command" in ended.err
    assert (tmp_path / "results.csv").exists(), "the linear models of the first split"


@pytest.mark.parametrize("library", ["typer", "numpy", "biobgt.cli.networks", "biobgt.hubs"])
def test_ctrl_c_while_libraries_are_loaded_ends_with_a_sentence(library: str, small) -> None:
    code = f"""
import signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {library!r}:
            signal.raise_signal(signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
from biobgt.cli import main
main()
"""
    words = ["hubs", str(small[0]), "--atlas", str(small[1]), "--out", str(small[0].parent / "never")]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert "no results were written" in ended.stderr
    assert "Traceback" not in ended.stderr
