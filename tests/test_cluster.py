"""Work on a real Dask cluster of processes: a worker is killed, all are, there is none, the scheduler is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from slow_subjects import end_abruptly, note_and_double

from biobgt import InputError
from biobgt.base import parallel as cluster
from biobgt.base.parallel import map_on_cluster

WORKER = (sys.executable, "-m", "distributed.cli.dask_worker")
SCHEDULER = (sys.executable, "-m", "distributed.cli.dask_scheduler")


def environment() -> dict[str, str]:
    """In which the functions of the tests are found."""
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": paths}


@contextmanager
def workers_of(address: str, n: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Single-threaded workers in processes of their own, that nobody starts again when they end."""
    command = [*WORKER, address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
    started = [subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL) for _ in range(n)]
    try:
        with Client(address) as client:
            client.wait_for_workers(n, timeout=60)
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


@contextmanager
def scheduler_process(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler in a process of its own, that can be killed, and its address."""
    about = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(about)]
    process = subprocess.Popen([*SCHEDULER, *options], env=environment(), stderr=subprocess.DEVNULL)
    try:
        while not about.exists():
            assert process.poll() is None
            time.sleep(0.05)
        yield process, json.loads(about.read_text())["address"]
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def scheduler() -> Iterator[str]:
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None) as served:
        yield served.scheduler_address


def test_a_worker_that_is_killed_costs_no_subject(scheduler, tmp_path):
    told, seen = [], []
    items = [(str(tmp_path), 0.15, number) for number in range(20)]
    with workers_of(scheduler, 2) as processes:

        def kill_one(done: int, total: int) -> None:
            seen.append((done, total))
            if done == 5:
                processes[0].send_signal(signal.SIGKILL)

        results = map_on_cluster(note_and_double, items, scheduler, progress=kill_one, tell=told.append)
    assert results == [2 * number for number in range(20)]
    assert seen == [(done, 20) for done in range(1, 21)]
    assert len(told) == 1
    assert told[0].startswith("A worker of the cluster was lost (tcp://127.0.0.1:")
    begun = {tuple(map(int, path.name.split("-")[:2])) for path in tmp_path.iterdir()}
    assert {number for number, _ in begun} == set(range(20))
    assert {process for _, process in begun} == {process.pid for process in processes}  # the lost one had its share


def test_a_cluster_whose_workers_all_end_says_so(scheduler, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "NO_WORKERS_S", 2.0)
    told = []
    items = [(str(tmp_path), 0.1, number) for number in range(20)]
    with (
        workers_of(scheduler, 1) as processes,
        pytest.raises(InputError, match=r"has had no workers for 2 s; \d+ of 20 subjects are done. Start workers"),
    ):
        map_on_cluster(
            note_and_double,
            items,
            scheduler,
            progress=lambda done, _: processes[0].kill() if done == 2 else None,
            tell=told.append,
        )
    assert "A worker of the cluster was lost" in told[0]
    assert "has no workers: waiting 2 s for one" in told[1]


def test_a_cluster_without_workers_says_so(scheduler, monkeypatch):
    monkeypatch.setattr(cluster, "NO_WORKERS_S", 1.0)
    told = []
    with pytest.raises(InputError, match="has had no workers for 1 s; 0 of 2 subjects are done"):
        map_on_cluster(abs, [1, 2], scheduler, tell=told.append)
    assert told == [f"The Dask scheduler at '{scheduler}' has no workers: waiting 1 s for one."]


def test_a_subject_that_ends_every_worker_is_named():
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as served,
        Client(served) as client,
    ):
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
        with pytest.raises(InputError, match="Subject 1 of 1 was given to several workers"):
            map_on_cluster(end_abruptly, [0], served.scheduler_address)


def test_a_sentence_from_a_worker_arrives(scheduler):
    with workers_of(scheduler, 1), pytest.raises(TypeError, match="bad operand type"):
        map_on_cluster(abs, [1, "x"], scheduler)


def test_a_scheduler_that_is_killed_ends_the_job_with_a_sentence(tmp_path):
    items = [(str(tmp_path), 0.1, number) for number in range(20)]
    with (
        scheduler_process(tmp_path) as (process, address),
        workers_of(address, 1),
        pytest.raises(InputError, match=r"was lost \(\w+\) after 2 of 20 subjects. Start it and the job again."),
    ):
        map_on_cluster(note_and_double, items, address, progress=lambda done, _: process.kill() if done == 2 else None)
