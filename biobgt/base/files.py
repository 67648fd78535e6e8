"""Files: where bundled tables lie, and results that appear whole or not at all and never run as formulas."""

import errno
import glob
import hashlib
import io
import os
import re
import stat
import time
import zipfile
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from biobgt.base.errors import InputError

with suppress(ImportError):  # Windows has none: what killed jobs left stays there
    import fcntl

if TYPE_CHECKING:
    import pandas as pd

# Where the bundled tables lie: ``assets/`` of a clone, ``biobgt/assets`` of an installed wheel.


_PACKAGE = Path(__file__).parents[1]


def asset(*parts: str) -> Path:
    """Return the path of a bundled file, for example ``asset("atlases", "cc200.csv")``."""
    installed = _PACKAGE / "assets"
    root = installed if installed.is_dir() else _PACKAGE.parent / "assets"
    return root.joinpath(*parts)


# Where results go: folders that can be made, files that appear whole or not at all, and those that are one user's.


def data_folder() -> Path:
    """What is the user's alone: in the user's data folder, as each system has it."""
    from platformdirs import user_data_path

    return user_data_path("biobgt", appauthor=False)


TIMELESS = (1980, 1, 1, 0, 0, 0)  # of entries of a zip, so that none carries the time of its writing
UNFINISHED_SUFFIX = ".part"
_JUST_BEGUN_S = 60.0


def zipped(files: Mapping[str, bytes], rights: Mapping[str, int] | None = None) -> bytes:
    """Put files in a zip; the same files give the same bytes.

    Parameters
    ----------
    files : mapping of str to bytes
        By their paths.
    rights : mapping of str to int, optional
        Who may read, write and run them, such as 0o644.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, TIMELESS)
            entry.external_attr = (rights or {}).get(path, 0) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


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
def _unfinished_file(path: Path) -> Iterator[tuple[int, Path]]:
    """An open file beside ``path`` that only its owner can read; nothing is left of it where something fails."""
    handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=UNFINISHED_SUFFIX)
    try:
        yield handle, Path(name)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a file beside ``path`` for a library to write; it becomes ``path`` once it is on the disk.

    It is locked as long as this process lives, so that the next one clears what a killed one left.
    """
    _clear_abandoned(path)
    with _unfinished_file(path) as (handle, unfinished), os.fdopen(handle) as lock:
        if not hold(lock):
            lock.close()  # Windows moves no file that is open
        yield unfinished
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask)
        sync(unfinished)
        unfinished.replace(path)


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that only its owner can read; it becomes ``path`` once it is whole, or nothing is left of it.

    Folders that are made are the owner's, too.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _unfinished_file(path) as (handle, unfinished):
        with os.fdopen(handle, "wb") as stream:
            yield stream
        unfinished.replace(path)


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


def hold(lock: IO[Any] | int, *, wait: bool = False) -> bool:
    """Lock an open file until it is closed, which the system does when the process ends.

    Parameters
    ----------
    lock : file or int
        The file, or its number.
    wait : bool
        Whether to wait while another holds it.

    Returns
    -------
    bool
        False where another holds it, or where the system or the disk has no locks.
    """
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (OSError, NameError):
        return False
    return True


def held_by_another(lock: IO[Any]) -> bool:
    """Lock an open file as :func:`hold` does; True where another process holds it, and not where there are no locks."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (OSError, NameError):
        return False
    return False


def _clear_abandoned(path: Path) -> None:
    """Delete what killed processes left of a file; one that is still empty may belong to a process that just began."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*{UNFINISHED_SUFFIX}"):
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


# Tables that spreadsheets open without running anything.
#
# A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, also in a CSV file, and a
# formula can send what stands beside it elsewhere. Ids, groups and names come from files, so text like that is written
# with an apostrophe before it, as OWASP advises (*CSV Injection*), and read back without it. Numbers stay numbers,
# negative ones too: cells that are numbers are never touched, and neither is text that is one.


_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")


def safe_text(text: str) -> str:
    """Write text so that no spreadsheet runs it; :func:`_as_meant` takes it back.

    >>> safe_text("=1+1"), safe_text("-0.5"), safe_text("sub-01")
    ("'=1+1", '-0.5', 'sub-01')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _as_meant(text: str) -> str:
    """Take back what :func:`safe_text` did.

    >>> _as_meant("'=1+1"), _as_meant("'quoted'")
    ('=1+1', "'quoted'")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def safe_table(frame: "pd.DataFrame") -> "pd.DataFrame":
    """A table whose words, in cells, header and index, no spreadsheet runs."""
    return _map_words(frame, safe_text)


def meant(frame: "pd.DataFrame") -> "pd.DataFrame":
    """A table as it was before :func:`safe_table`."""
    return _map_words(frame, _as_meant)


def write_csv(frame: "pd.DataFrame", path: Path | None = None, **how: Any) -> str:
    """Write a table as CSV that no spreadsheet runs, and return the text where no path is given.

    Further options are those of :meth:`pandas.DataFrame.to_csv`.
    """
    return safe_table(frame).to_csv(path, **how) or ""


def read_csv(source: Path | IO[str], **how: Any) -> "pd.DataFrame":
    """Read a table that :func:`write_csv` wrote; further options are those of :func:`pandas.read_csv`."""
    import pandas as pd  # when first needed: help texts are shown without it

    return meant(pd.read_csv(source, **how))


def _map_words(frame: "pd.DataFrame", change: Any) -> "pd.DataFrame":
    from pandas.api.types import is_numeric_dtype

    def word(value: Hashable) -> Hashable:
        return change(value) if isinstance(value, str) else value

    changed = frame.copy()
    for place, (_, column) in enumerate(frame.items()):
        if not is_numeric_dtype(column) and any(word(one) is not one for one in column.tolist()):
            changed.isetitem(place, column.map(word, na_action="ignore").array)
    changed.columns = frame.columns.map(word)
    changed.index = frame.index if is_numeric_dtype(frame.index) else frame.index.map(word)
    changed.index.names = frame.index.names
    return changed
