"""Where results go: folders that can be made, and files that appear whole or not at all."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from biobgt.errors import InputError


def make_folder(folder: Path) -> None:
    """Make a folder for results, or say why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder '{folder}' cannot be made ({error.strerror}). Name another one.") from None


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file that is the old one until it is the new one: a full disk or a kill leaves no part of it."""
    with atomic_file(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a file beside ``path`` for a library to write; it becomes ``path`` once it is on the disk."""
    handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(_usual_rights(path))  # mkstemp makes it for its owner alone
        sync(unfinished)
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


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
    finally:
        os.close(handle)


def _usual_rights(path: Path) -> int:
    """The rights of the file that is replaced, or those that a new one gets."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
