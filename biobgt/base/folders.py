"""What a folder of results holds: which job wrote which files, from which command, with sizes and hashes."""

import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from biobgt.base.errors import InputError
from biobgt.base.files import (
    FINISHED,
    REPLACED,
    RESULTS,
    UNFINISHED,
    abandoned,
    clear,
    make_folder,
    one_at_a_time,
    sha256,
    staging_folder,
    staging_folders_in,
    sync,
    write_atomically,
)
from biobgt.base.signals import signals_ignored

MANIFEST = "biobgt_manifest.json"
FORMAT = 1


@dataclass(frozen=True)
class _Manifest:
    """The jobs whose results a folder holds.

    Attributes
    ----------
    jobs : mapping of str to mapping
        By job: ``command``, ``version`` and ``files``, with ``bytes`` and ``sha256`` by name.
    """

    jobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, Mapping[str, Any]]:
        """All files by their name in the folder."""
        return {name: about for job in self.jobs.values() for name, about in job["files"].items()}

    def unchanged(self, folder: Path, name: str) -> bool:
        """Whether a file is in the folder itself, not behind a link, and as it was written."""
        path, written = folder / name, self.files[name]
        real = path.is_file() and path.resolve() == folder.resolve() / name
        return real and path.stat().st_size == written["bytes"] and sha256(path) == written["sha256"]

    def with_job(self, job: str, about: Mapping[str, str], folder: Path) -> "_Manifest":
        """The manifest with a job whose files are in a folder; they are no longer those of other jobs.

        Parameters
        ----------
        job : str
            Name of the job, such as ``hubs``.
        about : mapping of str to str
            What is said of the job beside its files.
        folder : Path
            Every file in it, but for a manifest, was written by the job.
        """
        files = {
            path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256(path)}
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != MANIFEST
        }
        others = {}
        for name, other in self.jobs.items():
            kept = {file: written for file, written in other["files"].items() if file not in files}
            if name != job and kept:
                others[name] = {**other, "files": kept}
        return _Manifest(others | {job: {**about, "files": files}})

    def write(self, folder: Path) -> None:
        """Write it into a folder."""
        document = {"format": FORMAT, "jobs": self.jobs}
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        # A name that is no UTF-8 has lone surrogates, which JSON writes as \\udcff and reads as the same again.
        write_atomically(folder / MANIFEST, text.encode("utf-8", "backslashreplace"))


def _read_manifest(folder: Path) -> _Manifest:
    """Read a folder's manifest; one that is missing, damaged or names files elsewhere is taken for none."""
    try:
        document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found = _Manifest(document["jobs"])
        names = [PurePosixPath(os.fsdecode(os.fsencode(name))) for name in found.files]  # no file has another name
        written = all(isinstance(about["sha256"], str) and about["bytes"] >= 0 for about in found.files.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _Manifest()
    inside = all(not name.is_absolute() and name.parts and ".." not in name.parts for name in names)
    return found if document.get("format") == FORMAT and inside and written else _Manifest()


# Folders of results that are the old ones or the new ones, whole, whenever a job ends: done, refused, full or killed.
#
# A job writes beside its folder, or in it where it must. At the end
#
# - a folder in which everything is the project's own makes room for the new one, with the results of other jobs in it
#   carried over; a job killed between the two renames leaves no folder, and the next one brings the old one back;
# - a folder that also holds a user's files, or cannot be exchanged (the working directory, a mounted disk), stays: the
#   new files are declared finished in a single step and then moved in. A job killed during the moves is completed by
#   the next one into that folder.
#
# ``biobgt_manifest.json`` says which job wrote which files, with sizes and hashes. Only files that it names, and that
# are as they were written, are ever deleted: tables of subjects that a new run of the same job no longer has.


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
        with staging_folder(out, target, place) as work:
            yield work / RESULTS
            with signals_ignored(), one_at_a_time(target.parent):
                _finish(work, target, job, about, manifest=manifest or (target / MANIFEST).exists())
    except BaseException:  # Ctrl-C too
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise


def _complete_earlier(target: Path) -> None:
    """Complete or clear what jobs into a folder left that were killed; those still at work are not touched."""
    for place in (target.parent, target):
        for work in staging_folders_in(place):
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
        _read_manifest(target).with_job(job, about, results).write(results)
    for path in (*results.rglob("*"), results):  # after a power cut, a name without its contents is no result
        sync(path)
    _put_in_place(work, target)
    sync(target.parent)


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
    own = {MANIFEST, *_read_manifest(target).files}
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
    before, after = _read_manifest(target), _read_manifest(results)
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
