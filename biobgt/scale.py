"""The same function over many subjects: here in a loop, on all cores, or on a cluster (:mod:`biobgt.cluster`).

On one machine plain processes do it: Dask's own workers took twice as long for the same matrices, because they give
memory back after every array. A lab reaches SLURM and the like by starting a Dask scheduler there (dask-jobqueue) and
naming its address. Processes of this machine end with the job that started them, however that ends.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from typing import TypeVar

from threadpoolctl import threadpool_limits

from biobgt.errors import InputError
from biobgt.signals import interrupts_deferred

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
    from biobgt.cluster import map_on_cluster

    return map_on_cluster(partial(_single_threaded, function), items, scheduler, progress=progress, tell=tell)


def _map_in_processes(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> list[Result]:
    # Spawned, not forked: a fork of a process that runs threads, as the app does, may hang.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_end_with_parent) as pool:
        try:
            # Ctrl-C is for the job, which ends the processes: each of them would print a traceback.
            with interrupts_deferred():
                futures = [pool.submit(_single_threaded, function, item) for item in items]
            for i, future in enumerate(as_completed(futures), start=1):
                future.result()  # the first that fails ends the job
                if progress is not None:
                    progress(i, len(items))
        except (KeyboardInterrupt, SystemExit):  # Ctrl-C, or the signal to end
            for process in active_children():
                process.terminate()  # nobody waits for subjects that were begun
            raise
        except BrokenProcessPool:
            raise InputError(
                "A process that computed subjects was ended from outside, perhaps because memory ran out. Try again "
                "with fewer --workers."
            ) from None
        except BaseException:  # a session of the app that was closed ends its work by one
            pool.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in futures]


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
