"""The same function over many subjects on a cluster of machines, through a Dask scheduler.

A few subjects at a time are sent with their tasks, so that the scheduler can give a subject to another worker when one
is lost: data that was scattered to workers beforehand would be lost with them. What is done is fetched at once.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, TypeVar

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
    # Subjects go with their tasks on purpose: no advice to scatter them.
    with client, client.as_current(), dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        job = _Job(client, scheduler, function, items, tell or (lambda _: None))
        try:
            return job.run(progress)
        except (OSError, CancelledError) as error:  # of the connection: tasks' own errors come as they are
            if client.status == "running":
                raise
            raise InputError(
                f"The Dask scheduler at '{scheduler}' was lost ({type(error).__name__}) after {job.done_words()}. "
                "Start it and the job again."
            ) from None


class _Job:
    """Items on their way to workers and back."""

    def __init__(
        self, client: "Client", scheduler: str, function: Callable[[Any], Any], items: Sequence[Any], tell: Tell
    ) -> None:
        self.client, self.scheduler, self.function, self.items, self.tell = client, scheduler, function, items, tell
        self.results: dict[int, Any] = {}
        self.waiting: dict[Future[Any], int] = {}
        self.sent = 0
        self.workers: dict[str, int] = {}
        self.looked, self.last_with_workers = -1.0, time.monotonic()

    def run(self, progress: Callable[[int, int], None] | None) -> list[Any]:
        """Send, fetch and watch the workers until all results are here."""
        while len(self.results) < len(self.items):
            self._look_at_workers()
            self._send()
            for future in self._finished():
                self._fetch(future)
                if progress is not None:
                    progress(len(self.results), len(self.items))
        return [self.results[number] for number in range(len(self.items))]

    def done_words(self) -> str:
        """How many subjects are done."""
        return f"{len(self.results)} of {counted(len(self.items), 'subject')}"

    def _look_at_workers(self) -> None:
        """Say which workers were lost since the last look, and give up where there have been none for long."""
        now = time.monotonic()
        if self.looked >= 0 and now - self.looked < LOOK_S:
            return
        before, first, self.looked = self.workers, self.looked < 0, now
        self.workers = dict(self.client.nthreads())  # type: ignore[no-untyped-call]
        if lost := sorted(set(before) - set(self.workers)):
            what = "A worker of the cluster was" if len(lost) == 1 else f"{len(lost)} workers of the cluster were"
            self.tell(
                f"{what} lost ({', '.join(lost)}) after {self.done_words()}. What was computed there is computed again."
            )
        if self.workers:
            self.last_with_workers = now
        elif before or first:
            self.tell(f"The Dask scheduler at '{self.scheduler}' has no workers: waiting {NO_WORKERS_S:g} s for one.")
        elif now - self.last_with_workers >= NO_WORKERS_S:
            raise InputError(
                f"The Dask scheduler at '{self.scheduler}' has had no workers for {NO_WORKERS_S:g} s; "
                f"{self.done_words()} are done. Start workers (dask worker {self.scheduler}), then the job again."
            )

    def _send(self) -> None:
        room = _AHEAD * sum(self.workers.values()) + 1
        while self.sent < len(self.items) and len(self.waiting) < room and self.workers:
            future = self.client.submit(self.function, self.items[self.sent], pure=False)
            self.waiting[future] = self.sent
            self.sent += 1

    def _finished(self) -> list["Future[Any]"]:
        """The tasks that have ended, or none after a while."""
        from distributed import wait

        if not self.waiting:
            time.sleep(min(LOOK_S, 0.2))
            return []
        try:
            ended = wait(list(self.waiting), timeout=LOOK_S, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
            return list(ended.done)
        except TimeoutError:
            return []

    def _fetch(self, future: "Future[Any]") -> None:
        """Take a result; one that was lost with its worker in the meantime is computed again and waited for."""
        from distributed import KilledWorker

        number = self.waiting[future]
        try:
            result = future.result(timeout=NO_WORKERS_S)
        except KilledWorker:
            raise InputError(
                f"Subject {number + 1} of {len(self.items)} was given to several workers, and each of them ended while "
                "it computed: perhaps their memory is too small. Give the workers more memory, or leave it out."
            ) from None
        except TimeoutError:
            if future.status == "error":  # the task's own
                raise
            return
        del self.waiting[future]
        self.results[number] = result
