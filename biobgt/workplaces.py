"""Hidden folders in which a job writes until its results are whole, locked as long as its process lives.

What a killed job left is told from what another job still writes by its lock, which the system frees when a process
ends.
"""

import errno
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any

from biobgt.errors import InputError

with suppress(ImportError):  # Windows has none: what killed jobs left stays there
    import fcntl

UNFINISHED, FINISHED = ".unfinished-", ".finished-"
RESULTS, REPLACED, _LOCK = "results", "replaced", "lock"
_ABANDONED_S = 86_400  # age at which one that does not say whose it is was left by a killed job


@contextmanager
def workplace(out: Path, target: Path, place: Path) -> Iterator[Path]:
    """A hidden folder on the same disk as the results will be, locked as long as this process lives.

    Parameters
    ----------
    out, target : Path
        Where the results will be: as the user names it, and in full.
    place : Path
        Where the hidden folder is made: beside the target, or in it.
    """
    try:
        work, lock = _new_workplace(place)
    except OSError as error:
        raise InputError(f"The folder '{out}' cannot be written to ({error.strerror}). Name another one.") from None
    with lock:
        hold(lock)  # before it says whose it is: others look at that first
        lock.write(_address(work, target))
        lock.flush()
        (work / RESULTS).mkdir()
        try:
            yield work
        finally:
            clear(work)  # once declared finished it has another name; what is left then, the next job moves in


def _new_workplace(place: Path) -> tuple[Path, IO[str]]:
    """Make one, again where another job has cleared it away because nothing was in it yet."""
    for _ in range(10):
        work = Path(mkdtemp(dir=place, prefix=UNFINISHED))
        with suppress(FileNotFoundError):
            return work, (work / _LOCK).open("w", encoding="utf-8")
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))


def workplaces_in(place: Path) -> list[Path]:
    """Find the workplaces of this user in a folder; what others put there, or a link, is not ours to complete."""
    try:
        found = [path for path in place.iterdir() if path.name.startswith((UNFINISHED, FINISHED))]
        return [path for path in found if path.is_dir() and not path.is_symlink() and _own(path)]
    except OSError:
        return []


def _own(path: Path) -> bool:
    return not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()


def abandoned(work: Path, target: Path) -> IO[str] | None:
    """The lock of what a dead process left for this folder, held by us; None where it is alive or another's."""
    try:
        lock = (work / _LOCK).open("r+", encoding="utf-8")
    except FileNotFoundError:
        with suppress(OSError):
            work.rmdir()  # where nothing is in it
        return None
    except OSError:
        return None
    said = lock.read()
    if said == _address(work, target) and hold(lock) and work.exists():
        return lock
    lock.close()
    with suppress(OSError):
        if not said and time.time() - work.stat().st_mtime > _ABANDONED_S:  # killed before it said whose it is
            shutil.rmtree(work)
    return None


def _address(work: Path, target: Path) -> str:
    """Which folder the results in a workplace are for; a whole tree may be moved without harm."""
    return os.curdir if work.parent == target else target.name


def clear(work: Path) -> None:
    """Delete a workplace, its lock last: a job that is killed now leaves what the next one knows how to clear."""
    for part in (work / RESULTS, work / REPLACED):
        shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(work, ignore_errors=True)


def hold(lock: IO[Any]) -> bool:
    """Lock a file until it is closed, which the system does when the process ends; False where another holds it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (OSError, NameError):
        return False
    return True


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Let jobs that end together put their results in place one after another."""
    handle = None
    with suppress(OSError, NameError):  # a system or disk without locks, or a folder that may not be listed
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)
