"""The same function over many subjects: here in a loop, on all cores, or on a cluster through Dask.

A lab reaches SLURM and the like by starting a Dask scheduler there (dask-jobqueue) and naming its address.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

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
    return _map_with_dask(function, items, workers, scheduler, progress)


def _map_with_dask(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int,
    scheduler: str | None,
    progress: Callable[[int, int], None] | None,
) -> list[Result]:
    from distributed import as_completed

    with _client(workers, scheduler) as client:
        # Worker processes compute with one thread each: many threads on small matrices only get in each other's way.
        data = client.scatter(list(items), hash=False)  # straight to the workers, not through the scheduler
        futures = client.map(_single_threaded, [function] * len(items), data, pure=False)
        for i, _ in enumerate(as_completed(futures), start=1):
            if progress is not None:
                progress(i, len(items))
        return list(client.gather(futures))


def _single_threaded(function: Callable[[Item], Result], item: Item) -> Result:
    with threadpool_limits(1):
        return function(item)


def _client(workers: int, scheduler: str | None) -> Any:
    from distributed import Client, LocalCluster

    if scheduler is None:
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        )
        return _ClientOfOwnCluster(cluster)
    try:
        return Client(scheduler, timeout=5)
    except (OSError, ValueError) as error:
        raise InputError(f"The Dask scheduler at '{scheduler}' was not reached ({type(error).__name__}).") from None


class _ClientOfOwnCluster:
    """A client that takes its cluster down with it."""

    def __init__(self, cluster: Any) -> None:
        from distributed import Client

        self._cluster = cluster
        self._client = Client(cluster)

    def __enter__(self) -> Any:
        return self._client

    def __exit__(self, *error: object) -> None:
        self._client.close()
        self._cluster.close()
