"""The same function over many subjects: in a loop, on all cores, on a cluster."""

import json
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from cluster_workers import ENVIRONMENT, workers_of
from distributed import Client, LocalCluster
from slow_subjects import end_abruptly, note_and_double

from biobgt import InputError
from biobgt.base import parallel as cluster
from biobgt.base.parallel import _interrupts_deferred, hand_over_subjects, map_subjects

double = partial(operator.mul, 2)


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_and_progress_is_told(workers):
    seen = []
    results = map_subjects(double, [3, 1, 2], workers=workers, progress=lambda done, total: seen.append((done, total)))
    assert results == [6, 2, 4]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert map_subjects(double, [], workers=workers) == []


class Counted(Sequence[int]):
    """Notes which of its items were asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __len__(self) -> int:
        return 40

    def __getitem__(self, number):
        self.asked += 1
        return number


@pytest.mark.parametrize("workers", [1, 2])
def test_few_items_are_held_at_a_time(workers):
    items, ahead, found = Counted(), [], {}

    def take(number: int, result: int) -> None:
        found[number] = result
        ahead.append(items.asked - len(found))

    hand_over_subjects(double, items, take, workers=workers)
    assert found == {number: 2 * number for number in range(40)}
    assert max(ahead) <= 2 * workers


def test_bad_input_in_a_worker_keeps_its_sentence():
    with pytest.raises(ZeroDivisionError):
        map_subjects(partial(operator.truediv, 1), [1, 0], workers=2)


def test_an_unreachable_scheduler_gets_a_sentence():
    with pytest.raises(InputError, match="was not reached"):
        map_subjects(double, [1, 2], scheduler="tcp://127.0.0.1:9")


JOB = """
import signal
import sys
from slow_subjects import note_and_double
from biobgt.base.parallel import map_subjects
from biobgt.cli.main import _end_cleanly_on_signals

if __name__ == "__main__":
    # Where tests are run under nohup or in the background of a script, all ignore these.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _end_cleanly_on_signals()
    map_subjects(note_and_double, [(sys.argv[1], 60.0, number) for number in range(4)], workers=2)
"""


def _processes(folder: Path) -> set[int]:
    return {int(path.name.split("-")[1]) for path in folder.iterdir() if not path.name.endswith(".part")}


def _alive(process: int) -> bool:
    """Whether a process is there; one that has ended and is not fetched by its parent does not count."""
    with suppress(FileNotFoundError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _until(what: Callable[[], bool]) -> bool:
    ends = time.monotonic() + 60
    while not what() and time.monotonic() < ends:
        time.sleep(0.05)
    return what()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_processes_end_with_the_job_that_started_them(tmp_path, number):
    script, notes = tmp_path / "job.py", tmp_path / "notes"
    notes.mkdir()
    script.write_text(JOB)
    job = subprocess.Popen(
        [sys.executable, str(script), str(notes)], env=ENVIRONMENT, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        assert _until(lambda: len(_processes(notes)) == 2)
        workers = _processes(notes)
        assert all(map(_alive, workers))
        job.send_signal(number)
        assert job.wait(timeout=60) in (-number, 128 + number, 1)
        assert _until(lambda: not any(map(_alive, workers)))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_processes_start_ends_the_job_once_they_have(monkeypatch):
    submit, started = ProcessPoolExecutor.submit, []

    def interrupted(pool, *what):
        os.kill(os.getpid(), signal.SIGINT)
        started.append(submit(pool, *what))
        return started[-1]

    monkeypatch.setattr(ProcessPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        map_subjects(double, [3, 1, 2], workers=2)
    assert len(started) == 3


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("other_thread", [False, True])
def test_a_deferred_interrupt_comes_later_and_not_to_processes_started_meanwhile(other_thread):
    """The system may hand a signal to any thread that does not block it."""
    waiting, asked = threading.Event(), threading.Event()

    def wait() -> None:
        waiting.set()
        asked.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=wait)
    if other_thread:
        thread.start()
        waiting.wait()
    reached = False
    with pytest.raises(KeyboardInterrupt), _interrupts_deferred():  # noqa: PT012  # what comes before is the test
        if other_thread:
            asked.set()
            thread.join()
        else:
            os.kill(os.getpid(), signal.SIGINT)
        child = subprocess.Popen([sys.executable, "-c", "import os; os.kill(os.getpid(), 2); print('on')"], stdout=-1)
        reached = True
    assert reached
    assert child.communicate()[0] == b"on\n"


def test_a_process_that_ends_by_itself_is_a_sentence():
    with pytest.raises(InputError, match=r"was ended from outside.*fewer --workers"):
        map_subjects(end_abruptly, [0, 1, 2], workers=2)


def test_a_process_that_ends_while_the_next_is_started_is_the_same_sentence(monkeypatch):
    def start_on_closed_pipes(pool, *arguments):
        raise OSError("handle is closed")

    monkeypatch.setattr(ProcessPoolExecutor, "submit", start_on_closed_pipes)
    with pytest.raises(InputError, match="fewer --workers"):
        map_subjects(end_abruptly, [0, 1, 2], workers=2)


SCHEDULER = (sys.executable, "-m", "distributed.cli.dask_scheduler")


@contextmanager
def scheduler_process(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler in a process of its own, that can be killed, and its address."""
    about = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(about)]
    process = subprocess.Popen([*SCHEDULER, *options], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
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


def test_a_scheduler_gives_the_same_results_and_the_errors_of_its_workers(scheduler):
    with workers_of(scheduler, 1):
        assert map_subjects(double, [3, 1, 2], scheduler=scheduler) == [6, 2, 4]
        with pytest.raises(TypeError, match="bad operand type"):
            map_subjects(abs, [1, "x"], scheduler=scheduler)


def test_a_worker_that_is_killed_costs_no_subject(scheduler, tmp_path):
    told, seen = [], []
    items = [(str(tmp_path), 0.15, number) for number in range(20)]
    with workers_of(scheduler, 2) as processes:

        def kill_one(done: int, total: int) -> None:
            seen.append((done, total))
            if done == 5:
                processes[0].send_signal(signal.SIGKILL)

        results = map_subjects(note_and_double, items, scheduler=scheduler, progress=kill_one, tell=told.append)
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
        map_subjects(
            note_and_double,
            items,
            scheduler=scheduler,
            progress=lambda done, _: processes[0].kill() if done == 2 else None,
            tell=told.append,
        )
    assert "A worker of the cluster was lost" in told[0]
    assert "has no workers: waiting 2 s for one" in told[1]


def test_a_cluster_without_workers_says_so(scheduler, monkeypatch):
    monkeypatch.setattr(cluster, "NO_WORKERS_S", 1.0)
    told = []
    with pytest.raises(InputError, match="has had no workers for 1 s; 0 of 2 subjects are done"):
        map_subjects(abs, [1, 2], scheduler=scheduler, tell=told.append)
    assert told == [f"The Dask scheduler at '{scheduler}' has no workers: waiting 1 s for one."]


def test_a_subject_that_ends_every_worker_is_named():
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as served,
        Client(served) as client,
    ):
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
        with pytest.raises(InputError, match="Subject 1 of 1 was given to several workers"):
            map_subjects(end_abruptly, [0], scheduler=served.scheduler_address)


def test_a_scheduler_that_is_killed_ends_the_job_with_a_sentence(tmp_path):
    items = [(str(tmp_path), 0.1, number) for number in range(20)]
    with (
        scheduler_process(tmp_path) as (process, address),
        workers_of(address, 1),
        pytest.raises(InputError, match=r"was lost \(\w+\) after 2 of 20 subjects. Start it and the job again."),
    ):
        map_subjects(
            note_and_double,
            items,
            scheduler=address,
            progress=lambda done, _: process.kill() if done == 2 else None,
        )
