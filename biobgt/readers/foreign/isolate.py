"""Foreign binary formats (MATLAB, HDF5, NIfTI, Excel) are read in a process of their own: both ends of the pipe.

The libraries underneath can crash, loop or fill the memory on damaged files, and would take a whole server with them. A
reading process has limits on memory, computing time and output, and a deadline; one that dies is one refused file.
Processes stay warm between files, a few at most, and are used by all threads. After a file that a library could not
read the process is replaced, so that nothing of it touches the next one. Windows has no limits on memory and computing
time; there, the deadline and the checks of declared sizes hold. Pools of processes (multiprocessing, pebble) unpickle
what a process sends, so that a file that took it over could run code here, and they hand it the whole environment.

A reading process runs this file as a script. A request is a line of JSON. A reply is two lengths, a JSON object, and
the bytes of an array: nothing is pickled. The process writes no files, and ends with the one that started it.
"""

import atexit
import ctypes
import json
import logging
import math
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import ChoiceNeeded, InputError, ReaderFault
from biobgt.base.limits import DamagedFile, Limits, allow_memory, current_limits, enforce_allowances, how_to_raise

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MOST_AT_ONCE = 4
KEEP_AFTER_DAMAGE = False  # the fuzzer sets it: replacing a process takes a hundred times as long as a small file
_MOST_IDLE = 2
_MOST_JSON = 2**28  # a workbook's cells; everything else takes a line
_NUMBERS = frozenset("fiu")
_LENGTHS = struct.Struct(">QQ")  # of a reply's JSON and of its array, in bytes
# What a process needs of the environment: where programs, libraries and temporary files are, and the language. The
# rest may hold a password or a token, and is kept from a process that reads files of unknown origin.
_KEPT = ("PATH", "PATHEXT", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "TZ", "LANG", "LANGUAGE", "PYTHONPATH", "PYTHONHOME")
_KEPT_FAMILIES = ("LC_", "LD_", "DYLD_", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
_LOOK_UP_S = 0.2  # how often one who waits for a slow file looks whether it is still wanted
_CAN_WAIT = sys.platform != "win32"  # for a pipe, with a deadline; elsewhere a thread keeps the time
_PR_SET_PDEATHSIG = 1
_THREAD = threading.local()
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


class _NoLongerWanted(BaseException):
    """Whoever asked for files in this thread has gone: no error of the file, so that no reader takes it for one."""


def read_until(stopped: threading.Event) -> None:
    """Let what this thread has read end, in the middle of a file too, as soon as an event is set."""
    _THREAD.stopped = stopped


def read_isolated(
    reader: str, path: Path, options: Mapping[str, Any], *, limit: str = "seconds"
) -> tuple[Mapping[str, Any], Any]:
    """Have a file read by a process of its own.

    Parameters
    ----------
    reader : str
        Module and function that reads it there, ``read(path, options, limits)``, such as
        ``biobgt.readers.foreign.tables:read_hdf5``; it is imported in that process alone.
    path : Path
    options : mapping
        What that function needs to know, as JSON can hold it.
    limit : str
        The field of :class:`~biobgt.base.limits.Limits` that says how many seconds it may take.

    Returns
    -------
    answer : mapping
        What it found, in words and numbers.
    array : ndarray or None

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
    return header["answer"], array


class _Child:
    """One reading process and the pipes to it."""

    def __init__(self) -> None:
        self.out_of_time = False
        self._deadline = 0.0
        self._process = _POOL.start_process()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._replies: IO[bytes] = self._process.stdout
        if _CAN_WAIT:
            os.set_blocking(self._replies.fileno(), False)

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
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
        n_json, n_bytes = _LENGTHS.unpack(self._exactly(_LENGTHS.size))
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
        """Receive as many bytes, for as long as there is time and somebody wants them."""
        stopped: threading.Event | None = getattr(_THREAD, "stopped", None)
        while target.nbytes:
            n_read = self._replies.readinto(target)  # type: ignore[attr-defined]
            if n_read == 0:
                raise EOFError
            if n_read is not None:
                target = target[n_read:]
                continue
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
    command = [sys.executable, "-P", __file__, str(os.getpid())]
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
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._spawner: ThreadPoolExecutor | None = None

    def start_process(self) -> "subprocess.Popen[bytes]":
        """Start a process in a thread that stays: Linux ends a process with the thread that started it."""
        with self._lock:
            if self._spawner is None:
                self._spawner = ThreadPoolExecutor(1, thread_name_prefix="biobgt-readers")
        return self._spawner.submit(_start).result()

    def take(self) -> tuple[_Child, bool]:
        """Return a process and whether it is a new one."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        if idle is not None and idle.alive:
            return idle, False
        if idle is not None:
            idle.stop()
        return _Child(), True

    def give_back(self, child: _Child, *, trusted: bool) -> None:
        """Keep a process for the next file, or end it."""
        with self._lock:
            keep = trusted and not child.out_of_time and len(self._idle) < _MOST_IDLE
            if keep:
                self._idle.append(child)
        if not keep:
            child.stop()

    def close(self) -> None:
        """End the idle processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.stop()


_POOL = _Pool()


def _forget_after_fork() -> None:
    """A forked process has neither our thread nor a right to our pipes."""
    global _POOL
    _POOL = _Pool()


def _read_for_others() -> None:
    """Read one file after another, in this process, until nobody asks any more."""
    # The two pipes are ours alone: a library that prints must not write into a reply.
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    if sys.platform == "linux":  # be killed with the parent, also in the middle of a file; elsewhere, end after it
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(sys.argv[1]):
            sys.exit()  # it went before we asked
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks decides what an interrupt means
    warnings.simplefilter("ignore")
    while line := requests.readline():
        header, array = _serve(json.loads(line))
        text = json.dumps(header).encode()
        content = memoryview(b"") if array is None else array.data
        replies.write(_LENGTHS.pack(len(text), content.nbytes))
        replies.write(text)
        replies.write(content)
        replies.flush()
        del header, array, text, content


def _serve(request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Have one file read; what that raises becomes a reply too."""
    limits = Limits(**request["limits"])
    try:
        module, name = request["reader"].split(":")
        read = getattr(import_module(module), name)  # before memory is counted: a library is no part of a file
        enforce_allowances(request["seconds"])
        allow_memory(0, limits)
        answer, array = read(Path(request["path"]), request["options"], limits)
        if array is None:
            return {"answer": answer}, None
        array = array if array.flags.c_contiguous else array.copy(order="C")
        return {"answer": answer, "dtype": array.dtype.str, "shape": list(array.shape)}, array.reshape(-1).view("u1")
    except ChoiceNeeded as error:
        return {"question": error.question, "option": error.option, "choices": list(error.choices)}, None
    except InputError as error:
        return {"refused": str(error), "damaged": isinstance(error, DamagedFile)}, None
    except MemoryError:
        raised = how_to_raise("reader_bytes", 4 * limits.reader_bytes)
        said = "Reading it takes more memory than what it declares to hold; it may be damaged. If it is whole,"
        return {"refused": f"{said} {raised}.", "damaged": True}, None
    except Exception as error:
        return {"fault": type(error).__name__, "traceback": traceback.format_exc()}, None


atexit.register(lambda: _POOL.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
if __name__ == "__main__":
    _read_for_others()
