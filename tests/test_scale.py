import operator
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from distributed import LocalCluster
from slow_subjects import end_abruptly

from biobgt import InputError
from biobgt.base.parallel import map_subjects
from biobgt.base.signals import interrupts_deferred

double = partial(operator.mul, 2)


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_and_progress_is_told(workers):
    seen = []
    results = map_subjects(double, [3, 1, 2], workers=workers, progress=lambda done, total: seen.append((done, total)))
    assert results == [6, 2, 4]
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_bad_input_in_a_worker_keeps_its_sentence():
    with pytest.raises(ZeroDivisionError):
        map_subjects(partial(operator.truediv, 1), [1, 0], workers=2)


def test_a_dask_scheduler_does_the_same():
    with LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        assert map_subjects(double, [3, 1, 2], scheduler=cluster.scheduler_address) == [6, 2, 4]


def test_an_unreachable_scheduler_gets_a_sentence():
    with pytest.raises(InputError, match="was not reached"):
        map_subjects(double, [1, 2], scheduler="tcp://127.0.0.1:9")


def test_no_items():
    assert map_subjects(double, [], workers=4) == []


JOB = """
import signal
import sys
from slow_subjects import note_and_double
from biobgt.base.parallel import map_subjects
from biobgt.base.signals import end_cleanly_on_signals

if __name__ == "__main__":
    # Where tests are run under nohup or in the background of a script, all ignore these.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_cleanly_on_signals()
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
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    job = subprocess.Popen(
        [sys.executable, str(script), str(notes)],
        env={**os.environ, "PYTHONPATH": paths},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
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


@pytest.fixture
def interruptible():
    """Ctrl-C raises, also where tests are run in the background of a script, which has all ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():  # noqa: PT012  # what comes before is the test
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
