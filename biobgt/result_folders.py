"""Folders of results that are the old ones or the new ones, whole, whenever a job ends: done, refused, full or killed.

A job writes beside its folder, or in it where it must. At the end

- a folder in which everything is the project's own makes room for the new one, with the results of other jobs in it
  carried over; a job killed between the two renames leaves no folder, and the next one brings the old one back;
- a folder that also holds a user's files, or cannot be exchanged (the working directory, a mounted disk), stays: the
  new files are declared finished in a single step and then moved in. A job killed during the moves is completed by the
  next one into that folder.

``biobgt_manifest.json`` says which job wrote which files, with sizes and hashes. Only files that it names, and that are
as they were written, are ever deleted: tables of subjects that a new run of the same job no longer has.
"""

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from biobgt.errors import InputError
from biobgt.manifests import MANIFEST, read_manifest
from biobgt.output import make_folder, sync
from biobgt.signals import signals_ignored
from biobgt.workplaces import (
    FINISHED,
    REPLACED,
    RESULTS,
    UNFINISHED,
    abandoned,
    clear,
    one_at_a_time,
    workplace,
    workplaces_in,
)


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
        complete_earlier(target)
        place = target.parent if not target.exists() or _exchangeable(target) else target
        with workplace(out, target, place) as work:
            yield work / RESULTS
            with signals_ignored(), one_at_a_time(target.parent):
                _finish(work, target, job, about, manifest=manifest or (target / MANIFEST).exists())
    except BaseException:  # Ctrl-C too
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise


def complete_earlier(target: Path) -> None:
    """Complete or clear what jobs into a folder left that were killed; those still at work are not touched."""
    for place in (target.parent, target):
        for work in workplaces_in(place):
            lock = abandoned(work, target)
            if lock is None:
                continue
            with lock:
                if work.name.startswith(FINISHED):
                    _move_in(work, target)
                elif not target.exists() and (work / REPLACED).is_dir():  # killed between two renames
                    (work / REPLACED).rename(target)
                clear(work)


def _finish(work: Path, target: Path, job: str, about: Mapping[str, str], *, manifest: bool) -> None:
    """Put the results in their place: see the module's first lines."""
    results = work / RESULTS
    if target.exists():
        _check_way(results, target)
    if manifest:
        read_manifest(target).with_job(job, about, results).write(results)
    _sync_all(results)
    _put_in_place(work, target)
    sync(target.parent)


def _sync_all(folder: Path) -> None:
    """Wait until everything in a folder is on the disk: after a power cut, a name without its contents is no result."""
    for path in (*folder.rglob("*"), folder):
        sync(path)


def _put_in_place(work: Path, target: Path) -> None:
    results = work / RESULTS
    if not target.exists():
        results.rename(target)
        return
    if _exchangeable(target):
        _carry_over(target, results)
        _same_rights(target, results)
        if _exchange(work, target):
            return
    finished = work.with_name(work.name.replace(UNFINISHED, FINISHED, 1))
    work.rename(finished)
    _move_in(finished, target)
    clear(finished)


def _exchangeable(target: Path) -> bool:
    """Whether a folder can be replaced as a whole: all in it is the project's own, and nobody stands in it."""
    working = Path(os.path.realpath(os.curdir))
    if os.path.ismount(target) or working.is_relative_to(target) or not os.access(target.parent, os.W_OK | os.X_OK):
        return False
    own = {MANIFEST, *read_manifest(target).files}
    folders = {parent.as_posix() for name in own for parent in Path(name).parents}
    for path in target.rglob("*"):
        name = path.relative_to(target).as_posix()
        if path.is_symlink() or name not in (folders if path.is_dir() else own):
            return False
    return True


def _check_way(results: Path, target: Path) -> None:
    """Refuse before anything is moved where a folder stands in a file's place, or a file in a folder's."""
    for path in sorted(results.rglob("*")):
        there = target / path.relative_to(results)
        if there.exists() and there.is_dir() != path.is_dir():
            raise InputError(f"'{there}' is in the way of the results. Name another folder, or move it.")


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


def _superseded(target: Path, results: Path) -> list[Path]:
    """Files of the folder's manifest that the new one does not have, and that are as they were written."""
    if not (results / MANIFEST).exists():
        return []
    before, after = read_manifest(target), read_manifest(results)
    return [target / name for name in before.files if name not in after.files and before.unchanged(target, name)]


def _same_rights(target: Path, results: Path) -> None:
    """Give the new folder the rights of the one it replaces, its group's too."""
    shutil.copystat(target, results)
    os.utime(results)
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(results, -1, target.stat().st_gid)


def _exchange(work: Path, target: Path) -> bool:
    """Put the new folder in the old one's place by two renames; False where this disk or this user cannot."""
    try:
        target.rename(work / REPLACED)
        try:
            (work / RESULTS).rename(target)
        except OSError:
            (work / REPLACED).rename(target)
            raise
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, errno.EBUSY, errno.EXDEV, errno.EINVAL):
            return False
        raise
    return True


def _move_in(finished: Path, target: Path) -> None:
    """Move finished files in, delete those they supersede, and put the manifest in last; it can be done twice."""
    results = finished / RESULTS
    if not results.is_dir():
        return
    superseded = _superseded(target, results)
    paths = sorted(results.rglob("*"), key=lambda path: (path.name == MANIFEST, path))
    for path in paths:
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
