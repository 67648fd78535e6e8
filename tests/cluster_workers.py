"""Workers of a Dask cluster in processes of their own, which tests kill."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import Client

# In which the functions of the tests are found.
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
}
WORKER = (sys.executable, "-m", "distributed.cli.dask_worker")


@contextmanager
def workers_of(address: str, n: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Single-threaded workers in processes of their own, that nobody starts again when they end."""
    command = [*WORKER, address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
    started = [subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL) for _ in range(n)]
    try:
        with Client(address) as client:
            client.wait_for_workers(n, timeout=60)
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()
