"""Where results go: folders that can be made, files that appear whole or not at all, and those that are one user's."""

import errno
import glob
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO

from biobgt.errors import InputError
from biobgt.workplaces import hold

TIMELESS = (1980, 1, 1, 0, 0, 0)  # of entries of a zip, so that none carries the time of its writing
_PART = ".part"
_JUST_BEGUN_S = 60.0


def make_folder(folder: Path) -> None:
    """Make a folder for results, or say why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder '{folder}' cannot be made ({error.strerror}). Name another one.") from None


def file_names(subjects: Iterable[str]) -> dict[str, str]:
    """Make a file name of each subject's id; ids that come out alike are told apart by a number."""
    names: dict[str, str] = {}
    for subject in subjects:
        safe = "".join(character if character.isalnum() or character in "-_." else "_" for character in subject)
        safe = safe if safe.strip("._") else f"subject_{safe}"
        name, number = safe, 1
        while name.lower() in {other.lower() for other in names.values()}:
            number += 1
            name = f"{safe}_{number}"
        names[subject] = name
    return names


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file that is the old one until it is the new one: a full disk or a kill leaves no part of it."""
    with atomic_file(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a file beside ``path`` for a library to write; it becomes ``path`` once it is on the disk.

    It is locked as long as this process lives, so that the next one clears what a killed one left.
    """
    _clear_abandoned(path)
    handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_PART)
    unfinished = Path(name)
    lock = os.fdopen(handle)
    if not hold(lock):
        lock.close()  # Windows moves no file that is open
    try:
        yield unfinished
        unfinished.chmod(_usual_rights(path))  # mkstemp makes it for its owner alone
        sync(unfinished)
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    finally:
        lock.close()


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all; folders that are made are the owner's, too."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, unfinished = mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_PART)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(unfinished).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(unfinished).unlink()
        raise


def read_private(path: Path, most: int) -> bytes:
    """Read what :func:`write_private` wrote; OSError for what others own or can read, links, pipes and larger files."""
    with open_regular(path) as stream:
        about = os.fstat(stream.fileno())
        if not is_own(about, 0o077) or about.st_size > most:
            raise PermissionError(errno.EPERM, "not a file of this user's alone", str(path))
        return stream.read(most)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file to be read; OSError for a link, and for a pipe, which would else be waited for."""
    safely = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, os.O_RDONLY | safely)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise PermissionError(errno.EPERM, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def is_own(about: os.stat_result, denied: int = 0o022) -> bool:
    """Whether a file or folder is this user's and others have none of some rights, to write unless told otherwise."""
    return not hasattr(os, "getuid") or (about.st_uid == os.getuid() and not about.st_mode & denied)


def _clear_abandoned(path: Path) -> None:
    """Delete what killed processes left of a file; one that is still empty may belong to a process that just began."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*{_PART}"):
        with suppress(OSError), part.open("r+") as lock:
            about = part.stat()
            if hold(lock) and (about.st_size or time.time() - about.st_mtime > _JUST_BEGUN_S):
                part.unlink()


def sha256(file: Path) -> str:
    """Hash of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk; a full one may say so only now."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        if path.is_dir():  # Windows opens no folders
            return
        raise
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():  # some network disks sync no folders
            raise
    finally:
        os.close(handle)


def _usual_rights(path: Path) -> int:
    """The rights of the file that is replaced, or those that a new one gets."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
