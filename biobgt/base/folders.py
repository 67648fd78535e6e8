"""Folders of results that are the old ones or the new ones, whole, whenever a job ends: done, refused, full or killed.

A job writes in a hidden folder beside its own, or in it where it must; the hidden one is locked as long as the process
lives. At the end

- a folder in which everything is the project's own makes room for the new one, with the results of other jobs in it
  carried over; a job killed between the two renames leaves no folder, and the next one brings the old one back;
- a folder that also holds a user's files, or cannot be exchanged (the working directory, a mounted disk), stays: the
  new files are declared finished in a single step and then moved in. A job killed during the moves is completed by
  the next one into that folder.

``biobgt_manifest.json`` says which job wrote which files, from which command, with sizes and hashes. Only files that it
names, and that are as they were written, are ever deleted: tables of subjects that a new run of the same job no longer
has.
"""

import errno
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import IO, Any

from biobgt.base.errors import InputError
from biobgt.base.files import hold, is_own, make_folder, sha256, sync, write_atomically

MANIFEST = "biobgt_manifest.json"
_FORMAT = 1
UNFINISHED, _FINISHED = ".unfinished-", ".finished-"
_RESULTS, _REPLACED, _LOCK = "results", "replaced", "lock"
_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_ABANDONED_S = 86_400  # age at which a hidden folder that does not say whose it is was left by a killed job

# By job: ``command``, ``version`` and ``files``, with ``bytes`` and ``sha256`` by name.
Jobs = Mapping[str, Mapping[str, Any]]


@contextmanager
def result_folder(out: Path, *, job: str, about: Mapping[str, str], manifest: bool = True) -> Iterator[Path]:
    """Yield a folder to write in; it becomes, or its files go to, ``out`` when the job is done.

    Parameters
    ----------
    out : Path
    job : str
        What is done. Results of the same job are replaced by these, those of other jobs in the folder stay.
    about : mapping of str to str
        For the manifest, beside the files: the command, the version.
    manifest : bool
        Whether to write one, in a folder that has none yet.
    """
    target = Path(os.path.realpath(out))
    made = [folder for folder in (target, *target.parents) if not folder.exists()]
    make_folder(target if target.exists() else target.parent)
    try:
        _complete_earlier(target)
        place = target.parent if not target.exists() or _exchangeable(target) else target
        with _staging_folder(out, target, place) as work:
            yield work / _RESULTS
            with _signals_ignored(), _one_at_a_time(target.parent):
                _finish(work, target, job, about, manifest=manifest or (target / MANIFEST).exists())
    except BaseException:  # Ctrl-C too
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise


def _finish(work: Path, target: Path, job: str, about: Mapping[str, str], *, manifest: bool) -> None:
    """Put the results in their place."""
    results = work / _RESULTS
    for path in sorted(results.rglob("*")) if target.exists() else ():
        there = target / path.relative_to(results)
        if there.exists() and there.is_dir() != path.is_dir():
            raise InputError(f"'{there}' is in the way of the results. Name another folder, or move it.")
    if manifest:
        _write_manifest(results, _read_manifest(target), job, about)
    for path in (*results.rglob("*"), results):  # after a power cut, a name without its contents is no result
        sync(path)
    _put_in_place(work, target)
    sync(target.parent)


def _put_in_place(work: Path, target: Path) -> None:
    if not target.exists():
        (work / _RESULTS).rename(target)
    elif not (_exchangeable(target) and _exchange(work, target)):
        finished = work.with_name(work.name.replace(UNFINISHED, _FINISHED, 1))
        work.rename(finished)
        _move_in(finished, target)
        _clear(finished)


# What the folder holds, by its manifest.


def _files_of(jobs: Jobs) -> dict[str, Mapping[str, Any]]:
    """All files by their name in the folder."""
    return {name: about for job in jobs.values() for name, about in job["files"].items()}


def _read_manifest(folder: Path) -> Jobs:
    """Read which jobs wrote what; a manifest that is missing, damaged or names files elsewhere is taken for none."""
    try:
        document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        jobs: Jobs = document["jobs"]
        names = [PurePosixPath(os.fsdecode(os.fsencode(name))) for name in _files_of(jobs)]  # no file has another name
        written = all(isinstance(about["sha256"], str) and about["bytes"] >= 0 for about in _files_of(jobs).values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    inside = all(not name.is_absolute() and name.parts and ".." not in name.parts for name in names)
    return jobs if document.get("format") == _FORMAT and inside and written else {}


def _write_manifest(results: Path, before: Jobs, job: str, about: Mapping[str, str]) -> None:
    """Write a manifest beside the files that a job wrote; they are no longer those of other jobs."""
    files = {
        path.relative_to(results).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256(path)}
        for path in sorted(results.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
    jobs = {}
    for name, other in before.items():
        kept = {file: written for file, written in other["files"].items() if file not in files}
        if name != job and kept:
            jobs[name] = {**other, "files": kept}
    document = {"format": _FORMAT, "jobs": jobs | {job: {**about, "files": files}}}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    # A name that is no UTF-8 has lone surrogates, which JSON writes as \\udcff and reads as the same again.
    write_atomically(results / MANIFEST, text.encode("utf-8", "backslashreplace"))


def _superseded(target: Path, results: Path) -> list[Path]:
    """Files of the folder's manifest that the new one does not have, that are no links and as they were written."""
    if not (results / MANIFEST).exists():
        return []
    found, after = [], _files_of(_read_manifest(results))
    for name, written in _files_of(_read_manifest(target)).items():
        path = target / name
        real = name not in after and path.is_file() and path.resolve() == target.resolve() / name
        if real and path.stat().st_size == written["bytes"] and sha256(path) == written["sha256"]:
            found.append(path)
    return found


# The two ways in which results come to their place.


def _exchangeable(target: Path) -> bool:
    """Whether a folder can be replaced as a whole: all in it is the project's own, and nobody stands in it."""
    working = Path(os.path.realpath(os.curdir))
    if os.path.ismount(target) or working.is_relative_to(target) or not os.access(target.parent, os.W_OK | os.X_OK):
        return False
    own = {MANIFEST, *_files_of(_read_manifest(target))}
    folders = {parent.as_posix() for name in own for parent in Path(name).parents}
    for path in target.rglob("*"):
        name = path.relative_to(target).as_posix()
        if path.is_symlink() or name not in (folders if path.is_dir() else own):
            return False
    return True


def _exchange(work: Path, target: Path) -> bool:
    """Put the new folder in the old one's place by two renames; False where this disk or this user cannot."""
    results, replaced = work / _RESULTS, work / _REPLACED
    _carry_over(target, results)
    shutil.copystat(target, results)  # its rights, and its group's
    os.utime(results)
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(results, -1, target.stat().st_gid)
    try:
        target.rename(replaced)
        try:
            results.rename(target)
        except OSError:
            replaced.rename(target)
            raise
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, errno.EBUSY, errno.EXDEV, errno.EINVAL):
            return False
        raise
    return True


def _carry_over(target: Path, results: Path) -> None:
    """Bring the files of other jobs along; they are the same files under a second name, where the disk can do that."""
    gone = set(_superseded(target, results))
    for path in sorted(target.rglob("*")):
        there = results / path.relative_to(target)
        if path.is_dir() or there.exists() or path in gone or path.name == MANIFEST:
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, there)
        except OSError:
            shutil.copy2(path, there)


def _move_in(finished: Path, target: Path) -> None:
    """Move finished files in, delete those they supersede, and put the manifest in last; it can be done twice."""
    results = finished / _RESULTS
    if not results.is_dir():
        return
    superseded = _superseded(target, results)
    for path in sorted(results.rglob("*")):
        there = target / path.relative_to(results)
        if path.is_dir():
            there.mkdir(parents=True, exist_ok=True)
        elif path.name != MANIFEST:
            path.replace(there)
    for path in superseded:
        path.unlink(missing_ok=True)
        with suppress(OSError):
            path.parent.rmdir()  # where it was the last of its folder
    if (results / MANIFEST).exists():
        (results / MANIFEST).replace(target / MANIFEST)


# Hidden folders in which jobs write. What a killed job left is told from what another job still writes by its lock,
# which the system frees when a process ends.


@contextmanager
def _staging_folder(out: Path, target: Path, place: Path) -> Iterator[Path]:
    """A hidden folder beside the target or in it, locked as long as this process lives."""
    try:
        work, lock = _new_staging_folder(place)
    except OSError as error:
        raise InputError(f"The folder '{out}' cannot be written to ({error.strerror}). Name another one.") from None
    with lock:
        hold(lock)  # before it says whose it is: others look at that first
        lock.write(_address(work, target))
        lock.flush()
        (work / _RESULTS).mkdir()
        try:
            yield work
        finally:
            _clear(work)  # once declared finished it has another name; what is left then, the next job moves in


def _new_staging_folder(place: Path) -> tuple[Path, IO[str]]:
    """Make one, again where another job has cleared it away because nothing was in it yet."""
    for _ in range(10):
        work = Path(mkdtemp(dir=place, prefix=UNFINISHED))
        with suppress(FileNotFoundError):
            return work, (work / _LOCK).open("w", encoding="utf-8")
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))


def _complete_earlier(target: Path) -> None:
    """Complete or clear what jobs into a folder left that were killed; those still at work are not touched."""
    for work in (*_staging_folders_in(target.parent), *_staging_folders_in(target)):
        lock = _abandoned(work, target)
        if lock is None:
            continue
        with lock:
            if work.name.startswith(_FINISHED):
                _move_in(work, target)
            elif not target.exists() and (work / _REPLACED).is_dir():  # killed between two renames
                (work / _REPLACED).rename(target)
            _clear(work)


def _staging_folders_in(place: Path) -> list[Path]:
    """Find the staging folders of this user in a folder; what others put there, or a link, is not ours to complete."""
    try:
        found = [path for path in place.iterdir() if path.name.startswith((UNFINISHED, _FINISHED))]
        return [path for path in found if path.is_dir() and not path.is_symlink() and is_own(path.stat(), 0)]
    except OSError:
        return []


def _abandoned(work: Path, target: Path) -> IO[str] | None:
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
    """Which folder the results in a staging folder are for; a whole tree may be moved without harm."""
    return os.curdir if work.parent == target else target.name


def _clear(work: Path) -> None:
    """Delete a staging folder, its lock last: a job that is killed now leaves what the next one knows how to clear."""
    for part in (work / _RESULTS, work / _REPLACED, work):
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Let jobs that end together put their results in place one after another."""
    handle = None
    with suppress(OSError):  # a folder that may not be listed
        handle = os.open(folder, os.O_RDONLY)
        hold(handle, wait=True)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def _signals_ignored() -> Iterator[None]:
    """Ignore the signals that end a job for a moment."""
    if threading.current_thread() is not threading.main_thread():  # the app's; only the main thread gets signals
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
