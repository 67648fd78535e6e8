"""The same function over many subjects: here in a loop, on all cores, or on a cluster (:mod:`biobgt.base.parallel`).

On one machine plain processes do it: Dask's own workers took twice as long for the same matrices, because they give
memory back after every array. A lab reaches SLURM and the like by starting a Dask scheduler there (dask-jobqueue) and
naming its address. Processes of this machine end with the job that started them, however that ends.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, ProcessPoolExecutor
from concurrent.futures import Future as _Future
from concurrent.futures import wait as wait_for_any
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, TypeVar

from threadpoolctl import threadpool_limits

from biobgt.base.errors import InputError
from biobgt.base.wording import counted

if TYPE_CHECKING:
    from distributed import Client, Future

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_subjects(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Result]:
    """Apply a function to every item and return the results in order.

    Parameters
    ----------
    function : callable
        Importable by name, since it runs in other processes.
    items : sequence
    workers : int, optional
        Processes on this machine; None is one per core. With 1 everything runs here, in a loop.
    scheduler : str, optional
        Address of a running Dask scheduler; then ``workers`` does not matter.
    progress : callable, optional
        Told (done, total) after each item.
    tell : callable, optional
        Told in a sentence what happens on a cluster, such as that a worker was lost.
    """
    results: dict[int, Result] = {}
    how: dict[str, Any] = {"workers": workers, "scheduler": scheduler, "progress": progress, "tell": tell}
    hand_over_subjects(function, items, results.__setitem__, **how)
    return [results[number] for number in range(len(items))]


def hand_over_subjects(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    take: Callable[[int, Result], None],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Apply a function to every item and hand each result over as it comes; few items are held at a time.

    Parameters
    ----------
    function, items, workers, scheduler, progress, tell
        As for :func:`map_subjects`. An item is asked for shortly before it is its turn.
    take : callable
        Gets the number of an item, counted from 0, and its result, in this process, in whatever order they come.
    """
    workers = min(workers or os.cpu_count() or 1, len(items))
    if scheduler is not None:
        _map_on_cluster(partial(_single_threaded, function), items, take, scheduler, progress=progress, tell=tell)
    elif workers > 1:
        _map_in_processes(function, items, take, workers, progress)
    else:
        for number in range(len(items)):
            take(number, _single_threaded(function, items[number]))
            if progress is not None:
                progress(number + 1, len(items))


def _map_in_processes(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    take: Callable[[int, Result], None],
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    numbers, done = iter(range(len(items))), 0
    waiting: dict[_Future[Result], int] = {}
    # Spawned, not forked: a fork of a process that runs threads, as the app does, may hang.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_end_with_parent) as pool:
        try:
            while done < len(items):
                # Ctrl-C is for the job, which ends the processes: each of them would print a traceback.
                with _interrupts_deferred(), _breaks_told():
                    for number in islice(numbers, _AHEAD * workers + 1 - len(waiting)):
                        waiting[pool.submit(_single_threaded, function, items[number])] = number
                for future in wait_for_any(waiting, return_when=FIRST_COMPLETED).done:
                    take(waiting.pop(future), future.result())  # the first that fails ends the job
                    done += 1
                    if progress is not None:
                        progress(done, len(items))
        except (KeyboardInterrupt, SystemExit):  # Ctrl-C, or the signal to end
            for process in active_children():
                process.terminate()  # nobody waits for subjects that were begun
            raise
        except BrokenProcessPool:
            raise InputError(
                "A process that computed subjects was ended from outside or could not be started, perhaps because "
                "memory ran out. Try again with fewer --workers."
            ) from None
        except BaseException:  # a session of the app that was closed ends its work by one
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def _breaks_told() -> Iterator[None]:
    """Call a pool broken also where one process ended while the next was started, on pipes that were closed by then."""
    try:
        yield
    except OSError as error:
        raise BrokenProcessPool(str(error)) from None


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Let Ctrl-C wait for a moment; processes that are started meanwhile never get it, where the system can do that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))  # also from other threads
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if masked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


def _end_with_parent() -> None:
    """End this process as soon as the one that started it has gone, killed or not: nobody waits for its results."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="ends with its parent", daemon=True).start()


def _single_threaded(function: Callable[[Item], Result], item: Item) -> Result:
    """Compute with one thread: many threads on small matrices only get in each other's way."""
    with threadpool_limits(1):
        return function(item)


# The same function over many subjects on a cluster of machines, through a Dask scheduler.
#
# A few subjects at a time are sent with their tasks, so that the scheduler can give a subject to another worker when
# one is lost: data that was scattered to workers beforehand would be lost with them. What is done is fetched at once.


Tell = Callable[[str], None]

CONNECT_S = 5.0
NO_WORKERS_S = 60.0  # how long a cluster may be without workers
LOOK_S = 1.0  # how often the workers are counted
_AHEAD = 2  # subjects that wait for each process of this machine, or for each thread of a cluster's workers


def _map_on_cluster(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    take: Callable[[int, Result], None],
    scheduler: str,
    *,
    progress: Callable[[int, int], None] | None = None,
    tell: Tell | None = None,
) -> None:
    """Apply a function to every item on the workers of a scheduler, and hand the results over as they come.

    Parameters
    ----------
    function : callable
        Importable by name on the workers.
    items : sequence
    take : callable
        Gets the number of each item, counted from 0, and its result.
    scheduler : str
        Address of a running Dask scheduler.
    progress : callable, optional
        Told (done, total) after each item.
    tell : callable, optional
        Told in a sentence that a worker was lost, or that there is none yet.
    """
    import dask
    from distributed import Client

    try:
        client = Client(scheduler, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"The Dask scheduler at '{scheduler}' was not reached ({type(error).__name__}).") from None
    done = 0
    workers = _Workers(client, scheduler, tell or (lambda _: None))
    # Subjects go with their tasks on purpose: no advice to scatter them.
    with client, client.as_current(), dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        waiting: dict[Future[Result], int] = {}
        try:
            while done < len(items):
                threads = workers.threads(f"{done} of {counted(len(items), 'subject')}")
                sent, room = done + len(waiting), _AHEAD * threads + 1 if threads else 0
                for number in range(sent, min(len(items), done + room)):
                    waiting[client.submit(function, items[number], pure=False)] = number
                for future, result in _finished(waiting, len(items)):
                    take(waiting.pop(future), result)
                    done += 1
                    if progress is not None:
                        progress(done, len(items))
        except (OSError, CancelledError) as error:  # of the connection: tasks' own errors come as they are
            if client.status == "running":
                raise
            raise InputError(
                f"The Dask scheduler at '{scheduler}' was lost ({type(error).__name__}) after {done} of "
                f"{counted(len(items), 'subject')}. Start it and the job again."
            ) from None


def _finished(waiting: "Mapping[Future[Result], int]", total: int) -> "Iterator[tuple[Future[Result], Result]]":
    """The tasks that have ended with their results, or none after a while."""
    from distributed import KilledWorker, wait

    if not waiting:
        time.sleep(min(LOOK_S, 0.2))
        return
    try:
        ended = wait(list(waiting), timeout=LOOK_S, return_when="FIRST_COMPLETED").done
    except TimeoutError:
        return
    for future in ended:
        try:
            result = future.result(timeout=NO_WORKERS_S)
        except KilledWorker:
            raise InputError(
                f"Subject {waiting[future] + 1} of {total} was given to several workers, and each of them ended while "
                "it computed: perhaps their memory is too small. Give the workers more memory, or leave it out."
            ) from None
        except TimeoutError:
            if future.status == "error":  # the task's own
                raise
            continue  # lost with its worker in the meantime: it is computed again and waited for
        yield future, result


class _Workers:
    """The workers of a scheduler, looked at now and then."""

    def __init__(self, client: "Client", scheduler: str, tell: Tell) -> None:
        self.client, self.scheduler, self.tell = client, scheduler, tell
        self.known: dict[str, int] = {}
        self.looked, self.last_with_workers = -1.0, time.monotonic()

    def threads(self, done: str) -> int:
        """How many threads they have; says who was lost, and gives up where there has been nobody for long."""
        now = time.monotonic()
        if self.looked >= 0 and now - self.looked < LOOK_S:
            return sum(self.known.values())
        before, first, self.looked = self.known, self.looked < 0, now
        self.known = dict(self.client.nthreads())
        if lost := sorted(set(before) - set(self.known)):
            what = "A worker of the cluster was" if len(lost) == 1 else f"{len(lost)} workers of the cluster were"
            self.tell(f"{what} lost ({', '.join(lost)}) after {done}. What was computed there is computed again.")
        if self.known:
            self.last_with_workers = now
        elif before or first:
            self.tell(f"The Dask scheduler at '{self.scheduler}' has no workers: waiting {NO_WORKERS_S:g} s for one.")
        elif now - self.last_with_workers >= NO_WORKERS_S:
            raise InputError(
                f"The Dask scheduler at '{self.scheduler}' has had no workers for {NO_WORKERS_S:g} s; "
                f"{done} are done. Start workers (dask worker {self.scheduler}), then the job again."
            )
        return sum(self.known.values())
