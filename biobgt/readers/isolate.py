"""Foreign binary formats (MATLAB, HDF5, NIfTI, Excel) are read in a process of their own."""

import atexit
import json
import logging
import math
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import ChoiceNeeded, InputError, ReaderFault
from biobgt.base.limits import Limits, current_limits, how_to_raise
from biobgt.readers import reading_process
from biobgt.readers.reading_process import LENGTHS

# The last line of defence around a reader: whatever it raises, the user gets a sentence about one file.


_log = logging.getLogger(__name__)


@contextmanager
def one_refused_file(what: str) -> Iterator[None]:
    """Turn everything that is raised inside into an :class:`~biobgt.base.errors.InputError` about ``what``.

    An error that no reader foresaw is logged with its traceback, for whoever mends the reader, and becomes a
    :class:`~biobgt.base.errors.ReaderFault`.
    """
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{what} could not be opened ({error.strerror or type(error).__name__}).") from None
    except Exception as error:
        _log.exception("A reader failed unexpectedly")
        raise ReaderFault(type(error).__name__) from error


# Foreign binary formats (MATLAB, HDF5, NIfTI, Excel) are read in a process of their own.
#
# The libraries underneath can crash, loop or fill the memory on damaged files, and would take a whole server with
# them. A reading process has limits on memory, computing time and output, and a deadline; one that dies is one refused
# file. Processes stay warm between files, a few at most, and are used by all threads. After a file that a library
# could not read the process is replaced, so that nothing of it touches the next one. Windows has no limits on memory
# and computing time; there, the deadline and the checks of declared sizes hold. Pools of processes (multiprocessing,
# pebble) unpickle what a process sends, so that a file that took it over could run code here, and they hand it the
# whole environment.


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MOST_AT_ONCE = 4
KEEP_AFTER_DAMAGE = False  # the fuzzer sets it: replacing a process takes a hundred times as long as a small file
_MOST_IDLE = 2
_MOST_JSON = 2**28  # a workbook's cells; everything else takes a line
_NUMBERS = frozenset("fiu")
# What a process needs of the environment: where programs, libraries and temporary files are, and the language. The
# rest may hold a password or a token, and is kept from a process that reads files of unknown origin.
_KEPT = ("PATH", "PATHEXT", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "TZ", "LANG", "LANGUAGE", "PYTHONPATH", "PYTHONHOME")
_KEPT_FAMILIES = ("LC_", "LD_", "DYLD_", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
_LOOK_UP_S = 0.2  # how often one who waits for a slow file looks whether it is still wanted
_CAN_WAIT = sys.platform != "win32"  # for a pipe, with a deadline; elsewhere a thread keeps the time
_THREAD = threading.local()


class _NoLongerWanted(BaseException):
    """Whoever asked for files in this thread has gone: no error of the file, so that no reader takes it for one."""


def read_until(stopped: threading.Event) -> None:
    """Let what this thread has read end, in the middle of a file too, as soon as an event is set."""
    _THREAD.stopped = stopped


@dataclass(frozen=True, eq=False)
class Reply:
    """What a reading process found: words and numbers, and an array where there is one."""

    answer: Mapping[str, Any]
    array: NDArray[Any] | None


def read_isolated(reader: str, path: Path, options: Mapping[str, Any], *, limit: str = "seconds") -> Reply:
    """Have a file read by a process of its own.

    Parameters
    ----------
    reader : str
        Module and function that reads it there, ``read(path, options, limits)``, such as
        ``biobgt.readers.foreign_tables:read_hdf5``; it is imported in that process alone.
    path : Path
    options : mapping
        What that function needs to know, as JSON can hold it.
    limit : str
        The field of :class:`~biobgt.base.limits.Limits` that says how many seconds it may take.

    Raises
    ------
    InputError
        For a file that is refused, that crashes the process, or that takes too long.
    """
    limits = current_limits()
    seconds: int = getattr(limits, limit)
    request = {"reader": reader, "path": str(path), "options": options, "limits": limits.raised(), "seconds": seconds}
    with _POOL.places:
        child, fresh = _POOL.take()
        outcome = child.ask(request, seconds, limits)
        if outcome is None and not fresh and not child.out_of_time:
            child = _Child()  # the file before may have left it ill: this one gets a process that read nothing yet
            outcome = child.ask(request, seconds, limits)
        if outcome is None and child.out_of_time:
            raise InputError(
                f"Reading it took longer than {seconds} seconds, so it was stopped; it may be damaged. If it is whole, "
                f"{how_to_raise(limit, 4 * seconds)}."
            )
        if outcome is None:
            raise InputError(
                "The file is damaged: the library that reads this format crashed on it. Save it again, or in another "
                "format (.csv, .npy)."
            )
        header, array = outcome
        _POOL.give_back(child, trusted=KEEP_AFTER_DAMAGE or not header.get("damaged"))
    if "question" in header:
        raise ChoiceNeeded(header["question"], option=header["option"], choices=header["choices"])
    if "refused" in header:
        raise InputError(header["refused"])
    if "fault" in header:
        _log.error("A reading process failed unexpectedly:\n%s", header["traceback"])
        raise ReaderFault(header["fault"])
    return Reply(header["answer"], array)


class _Child:
    """One reading process and the pipes to it."""

    def __init__(self) -> None:
        self.out_of_time = False
        self._deadline = 0.0
        self._process = _spawner().submit(_start).result()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._replies: IO[bytes] = self._process.stdout
        if _CAN_WAIT:
            os.set_blocking(self._replies.fileno(), False)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(
        self, request: Mapping[str, Any], seconds: int, limits: Limits
    ) -> tuple[Mapping[str, Any], NDArray[Any] | None] | None:
        """Send a request and wait for the reply; None where the process died of it."""
        self._deadline = time.monotonic() + seconds
        watch = None
        if not _CAN_WAIT:
            watch = threading.Timer(seconds, self._stop_late)
            watch.daemon = True
            watch.start()
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
            return self._receive(limits)
        except (OSError, EOFError, ValueError, KeyError, TypeError):  # no reply, or none that makes sense
            self.stop()
            return None
        except BaseException:  # an interrupt: the reply that is on its way must not meet the next request
            self.stop()
            raise
        finally:
            if watch is not None:
                watch.cancel()

    def stop(self) -> None:
        """End the process at once, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._replies):
            try:
                pipe.close()
            except OSError:  # what was still to be sent, to a process that is gone
                continue

    def _stop_late(self) -> None:
        self.out_of_time = True
        self._process.kill()

    def _receive(self, limits: Limits) -> tuple[Mapping[str, Any], NDArray[Any] | None]:
        """Read a reply whose every length is checked: it comes from a process that may be damaged."""
        n_json, n_bytes = LENGTHS.unpack(self._exactly(LENGTHS.size))
        if n_json > _MOST_JSON:
            raise ValueError("more words than any file has")
        header = json.loads(self._exactly(n_json))
        if not isinstance(header, dict):
            raise ValueError("no reply")
        if "dtype" not in header:
            return header, None
        dtype, shape = np.dtype(header["dtype"]), [int(n) for n in header["shape"]]
        limits.check_array(shape, "The array")
        if dtype.kind not in _NUMBERS or min(shape, default=0) < 0 or n_bytes != dtype.itemsize * math.prod(shape):
            raise ValueError("no array of numbers")
        array = np.empty(shape, dtype)
        self._fill(array.reshape(-1).view(np.uint8).data)
        return header, array

    def _exactly(self, n_bytes: int) -> bytearray:
        content = bytearray(n_bytes)
        self._fill(memoryview(content))
        return content

    def _fill(self, target: memoryview) -> None:
        while target.nbytes:
            n_read = self._replies.readinto(target)  # type: ignore[attr-defined]
            if n_read is None:  # nothing has come yet
                self._await()
            elif n_read == 0:
                raise EOFError
            else:
                target = target[n_read:]

    def _await(self) -> None:
        """Wait until there is something to receive, for as long as there is time and somebody wants it."""
        stopped: threading.Event | None = getattr(_THREAD, "stopped", None)
        while not select.select([self._replies], [], [], _LOOK_UP_S)[0]:
            if time.monotonic() > self._deadline:
                self._stop_late()
                raise EOFError
            if stopped is not None and stopped.is_set():
                raise _NoLongerWanted


def _start() -> "subprocess.Popen[bytes]":
    # One thread: the arrays are small, and each further one takes address space. HDF5 loads no plug-ins from the disk.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    kept = {name: os.environ[name] for name in os.environ if name in _KEPT or name.startswith(_KEPT_FAMILIES)}
    environment = {**kept, **threads, "HDF5_PLUGIN_PRELOAD": "::"}
    command = [sys.executable, "-P", reading_process.__file__, str(os.getpid())]
    process = subprocess.Popen(
        command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    if process.stdout is not None and hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # where the system allows no larger pipe, a subject comes in more pieces
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 2**20)
    return process


class _Pool:
    """The idle processes, and how many may read at once."""

    def __init__(self) -> None:
        self.places = threading.BoundedSemaphore(MOST_AT_ONCE)
        self.spawner: ThreadPoolExecutor | None = None
        self.lock = threading.Lock()
        self._idle: list[_Child] = []

    def take(self) -> tuple[_Child, bool]:
        """Return a process and whether it is a new one."""
        with self.lock:
            idle = self._idle.pop() if self._idle else None
        if idle is not None and idle.alive:
            return idle, False
        if idle is not None:
            idle.stop()
        return _Child(), True

    def give_back(self, child: _Child, *, trusted: bool) -> None:
        """Keep a process for the next file, or end it."""
        with self.lock:
            keep = trusted and not child.out_of_time and len(self._idle) < _MOST_IDLE
            if keep:
                self._idle.append(child)
        if not keep:
            child.stop()

    def close(self) -> None:
        """End the idle processes."""
        with self.lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.stop()


_POOL = _Pool()


def _spawner() -> ThreadPoolExecutor:
    """Return the thread that starts processes: Linux ends a process with the thread that started it, so it stays."""
    with _POOL.lock:
        if _POOL.spawner is None:
            _POOL.spawner = ThreadPoolExecutor(1, thread_name_prefix="biobgt-readers")
        return _POOL.spawner


def _forget_after_fork() -> None:
    """A forked process has neither our thread nor a right to our pipes."""
    global _POOL
    _POOL = _Pool()


atexit.register(lambda: _POOL.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
