"""The same function over many subjects: here in a loop, on all cores, or on a cluster through Dask.

On one machine plain processes do it: Dask's own workers took twice as long for the same matrices, because they give
memory back after every array. A lab reaches SLURM and the like by starting a Dask scheduler there (dask-jobqueue) and
naming its address.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import TypeVar

from threadpoolctl import threadpool_limits

from biobgt.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_subjects(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Apply a function to every item and return the results in order.

    Parameters
    ----------
    function : callable
        Importable by name, since it runs in other processes.
    items : sequence
    workers : int, optional
        Processes on this machine; None is one a core. With 1 everything runs here, in a loop.
    scheduler : str, optional
        Address of a running Dask scheduler; then ``workers`` does not matter.
    progress : callable, optional
        Told (done, total) after each item.
    """
    workers = min(workers or os.cpu_count() or 1, len(items))
    if scheduler is None and workers <= 1:
        results = []
        with threadpool_limits(1):
            for i, item in enumerate(items, start=1):
                results.append(function(item))
                if progress is not None:
                    progress(i, len(items))
        return results
    if scheduler is None:
        return _map_in_processes(function, items, workers, progress)
    return _map_with_dask(function, items, scheduler, progress)


def _map_in_processes(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> list[Result]:
    # Spawned, not forked: a fork of a process that runs threads, as the app does, may hang.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        with _ctrl_c_ignored():
            futures = [pool.submit(_single_threaded, function, item) for item in items]
        try:
            for i, future in enumerate(as_completed(futures), start=1):
                future.result()  # the first that fails ends the job
                if progress is not None:
                    progress(i, len(items))
        except KeyboardInterrupt:
            for process in active_children():
                process.terminate()  # nobody waits for subjects that were begun
            raise
        except Exception:
            pool.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in futures]


@contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Start processes that ignore Ctrl-C: it is for the job, which ends them, and each would print a traceback."""
    if threading.current_thread() is not threading.main_thread():  # the app's; only the main thread gets signals
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _map_with_dask(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    scheduler: str,
    progress: Callable[[int, int], None] | None,
) -> list[Result]:
    from distributed import Client
    from distributed import as_completed as dask_as_completed

    try:
        client = Client(scheduler, timeout=5)
    except (OSError, ValueError) as error:
        raise InputError(f"The Dask scheduler at '{scheduler}' was not reached ({type(error).__name__}).") from None
    with client:
        data = client.scatter(list(items), hash=False)  # straight to the workers, not through the scheduler
        futures = client.map(_single_threaded, [function] * len(items), data, pure=False)
        for i, _ in enumerate(dask_as_completed(futures), start=1):
            if progress is not None:
                progress(i, len(items))
        return list(client.gather(futures))


def _single_threaded(function: Callable[[Item], Result], item: Item) -> Result:
    """Compute with one thread: many threads on small matrices only get in each other's way."""
    with threadpool_limits(1):
        return function(item)
