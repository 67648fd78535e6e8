"""The same function over many subjects on a cluster of machines, through a Dask scheduler.

A few subjects at a time are sent with their tasks, so that the scheduler can give a subject to another worker when one
is lost: data that was scattered to workers beforehand would be lost with them. What is done is fetched at once.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, TypeVar

from biobgt.errors import InputError
from biobgt.wording import counted

if TYPE_CHECKING:  # Dask takes a second to import, and work on one machine does not need it
    from distributed import Client, Future

Item = TypeVar("Item")
Result = TypeVar("Result")
Tell = Callable[[str], None]

CONNECT_S = 5.0
NO_WORKERS_S = 60.0  # how long a cluster may be without workers
LOOK_S = 1.0  # how often the workers are counted
_AHEAD = 2  # subjects that wait at the scheduler for each thread of a worker


def map_on_cluster(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    scheduler: str,
    *,
    progress: Callable[[int, int], None] | None = None,
    tell: Tell | None = None,
) -> list[Result]:
    """Apply a function to every item on the workers of a scheduler, and return the results in order.

    Parameters
    ----------
    function : callable
        Importable by name on the workers.
    items : sequence
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
        client = Client(scheduler, timeout=CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InputError(f"The Dask scheduler at '{scheduler}' was not reached ({type(error).__name__}).") from None
    results: dict[int, Result] = {}
    workers = _Workers(client, scheduler, tell or (lambda _: None))
    # Subjects go with their tasks on purpose: no advice to scatter them.
    with client, client.as_current(), dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        waiting: dict[Future[Result], int] = {}
        try:
            while len(results) < len(items):
                threads = workers.threads(f"{len(results)} of {counted(len(items), 'subject')}")
                sent, room = len(results) + len(waiting), _AHEAD * threads + 1 if threads else 0
                for number in range(sent, min(len(items), len(results) + room)):
                    waiting[client.submit(function, items[number], pure=False)] = number
                for future, result in _finished(waiting, len(items)):
                    results[waiting.pop(future)] = result
                    if progress is not None:
                        progress(len(results), len(items))
        except (OSError, CancelledError) as error:  # of the connection: tasks' own errors come as they are
            if client.status == "running":
                raise
            raise InputError(
                f"The Dask scheduler at '{scheduler}' was lost ({type(error).__name__}) after {len(results)} of "
                f"{counted(len(items), 'subject')}. Start it and the job again."
            ) from None
    return [results[number] for number in range(len(items))]


def _finished(waiting: "Mapping[Future[Result], int]", total: int) -> "Iterator[tuple[Future[Result], Result]]":
    """The tasks that have ended with their results, or none after a while."""
    from distributed import KilledWorker, wait

    if not waiting:
        time.sleep(min(LOOK_S, 0.2))
        return
    try:
        ended = wait(list(waiting), timeout=LOOK_S, return_when="FIRST_COMPLETED").done  # type: ignore[no-untyped-call]
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
        self.known = dict(self.client.nthreads())  # type: ignore[no-untyped-call]
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
