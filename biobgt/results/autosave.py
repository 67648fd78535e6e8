"""Copies of a user's subjects, to be offered after a reload, a crash or a restart.

A copy is a project file in the user's data folder, which only that user can read, and beside it a small file with its
name, the settings and the list of figures, which change more often than the subjects. Both are written whole or not at
all. A folder beside them has what was measured (:mod:`biobgt.results.store`). Few copies are kept, and none for long:
they are data of people. Only regular files that have a name of ours are read, counted or deleted; one that cannot be
read now stays until its time is over, for it may be readable again.
"""

import errno
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from biobgt.base.errors import InputError
from biobgt.base.files import open_regular
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.readers.project import PROJECT_SUFFIX, Project, ViewValue, open_project, save_project, settings_from

_KEPT_COPIES = 3
KEPT_DAYS = 30
ROOM_FOR_RESULTS = 256 << 20  # bytes, of one copy
_ABOUT_SUFFIX = ".json"
_RESULTS_SUFFIX = ".results"
_MOST_FIGURES = 1000
_LONGEST_ID = 40
_UNFINISHED = ".unfinished-"
_OFF = "off"
_KEY = re.compile(r"[0-9a-f]{8,64}")
_DAY_S = 86400
_LARGEST_ABOUT = 4 << 20  # bytes; a larger file is none of ours


@dataclass(frozen=True)
class Copy:
    """A copy that can be opened: of whom, how many they are, and how many seconds ago it was last written."""

    key: str
    name: str
    n_subjects: int
    age_s: float

    @property
    def written(self) -> str:
        """Day and time at which it was last written: "18 November 2026, 09:14"."""
        return time.strftime("%d %B %Y, %H:%M", time.localtime(time.time() - self.age_s)).removeprefix("0")


def autosave_folder() -> Path:
    """Where copies lie."""
    return data_folder() / "autosave"


def data_folder() -> Path:
    """What is the user's alone: in the user's data folder, as each system has it."""
    return user_data_path("biobgt", appauthor=False)


def is_on(folder: Path) -> bool:
    """Whether the user wants copies; yes until they say no."""
    return not (folder / _OFF).exists()


def switch(folder: Path, *, on: bool) -> None:
    """Keep copies from now on, or keep none and delete those there are."""
    if on:
        (folder / _OFF).unlink(missing_ok=True)
        return
    for key in {path.stem for path in (*_ours(folder), *_results(folder))}:
        forget_copy(folder, key)
    _make(folder)
    _write(folder / _OFF, b"")


def save_copy(
    folder: Path,
    key: str,
    cohort: Cohort,
    settings: ConnectomeSettings,
    view: Mapping[str, ViewValue],
    figures: Sequence[str] = (),
) -> None:
    """Write a copy, or write it anew; the oldest go when there are too many.

    Parameters
    ----------
    folder : Path
    key : str
        Of the session, in hexadecimal.
    cohort : Cohort
    settings : ConnectomeSettings
    view : mapping of str to str, int, float or bool
        As in :func:`biobgt.readers.project.save_project`.
    figures : sequence of str
        The list of figures to export, each as its request is written.

    Raises
    ------
    OSError
        For a disk that is full or must not be written to.
    """
    _make(folder)
    unfinished = _unfinished(folder / f"{key}{PROJECT_SUFFIX}")
    try:
        with os.fdopen(_open_private(unfinished), "wb") as stream:
            save_project(cohort, settings, view, stream)
            stream.flush()
            os.fsync(stream.fileno())
        # First: a copy of which nothing is said is offered to nobody.
        _write_about(folder, key, cohort, settings, view, figures)
        unfinished.replace(folder / f"{key}{PROJECT_SUFFIX}")
    finally:
        unfinished.unlink(missing_ok=True)
    for copy in copies(folder)[_KEPT_COPIES:]:
        forget_copy(folder, copy.key)


def save_settings(
    folder: Path,
    key: str,
    cohort: Cohort,
    settings: ConnectomeSettings,
    view: Mapping[str, ViewValue],
    figures: Sequence[str] = (),
) -> None:
    """Write what stands beside a copy whose subjects are the same as before; one that is gone is written anew.

    Parameters
    ----------
    folder : Path
        Of the copies.
    key : str
        Of the copy, as in its file name.
    cohort : Cohort
        Its name, subjects and groups are listed with the copy.
    settings : ConnectomeSettings
    view : mapping of str to str, int, float or bool
        Further choices, as in a project file.
    figures : sequence of str
        As in :func:`save_copy`.
    """
    if folder / f"{key}{PROJECT_SUFFIX}" not in _ours(
        folder, PROJECT_SUFFIX
    ):  # another page opened it, and has its own
        save_copy(folder, key, cohort, settings, view, figures)
        return
    _write_about(folder, key, cohort, settings, view, figures)


def results_folder(folder: Path, key: str) -> Path:
    """Where the results of a copy lie, for a :class:`biobgt.results.store.FolderStore` of its owner's."""
    return folder / f"{key}{_RESULTS_SUFFIX}"


def forget_results(folder: Path, key: str) -> None:
    """Delete the results of a copy: its subjects are others now."""
    for path in _results(folder):
        if path.stem == key:
            shutil.rmtree(path)


def move_results(folder: Path, earlier: str, key: str) -> None:
    """Let a copy have the results of an earlier one, which it is about to replace.

    Parameters
    ----------
    folder : Path
        Of the copies.
    earlier, key : str
        Of the two copies.
    """
    for path in _results(folder):
        if path.stem == earlier:
            path.rename(results_folder(folder, key))


def copies(folder: Path) -> list[Copy]:
    """List the copies, the newest first; those beyond their time are deleted, and so is what was never finished."""
    found = []
    for path in _ours(folder, PROJECT_SUFFIX):
        about, age = _about(folder, path.stem), _age_s(path)
        if age is not None and age > KEPT_DAYS * _DAY_S:
            forget_copy(folder, path.stem)
        elif age is not None and about is not None:
            used = _age_s(folder / f"{path.stem}{_ABOUT_SUFFIX}")
            found.append(Copy(path.stem, about["name"], about["subjects"], age if used is None else used))
    alone = (path for path in _ours(folder, _ABOUT_SUFFIX) if not path.with_suffix(PROJECT_SUFFIX).exists())
    for path in (*alone, *_ours(folder, prefix=_UNFINISHED)):
        if (_age_s(path) or 0) > _DAY_S:
            path.unlink(missing_ok=True)
    for path in _results(folder):
        if not path.with_suffix(PROJECT_SUFFIX).exists() and (_age_s(path) or 0) > _DAY_S:
            forget_results(folder, path.stem)
    return sorted(found, key=lambda copy: copy.age_s)


def _ours(folder: Path, suffix: str = "", *, prefix: str = "") -> list[Path]:
    """Regular files of our names in a folder: no link, no pipe, nothing that somebody else put there."""
    suffixes = (suffix,) if suffix else (PROJECT_SUFFIX, _ABOUT_SUFFIX)
    found = [] if folder.is_symlink() else [path for one in suffixes for path in folder.glob(f"{prefix}*{one}")]
    return [path for path in found if _KEY.fullmatch(path.stem.removeprefix(prefix)) and _is_regular(path)]


def _results(folder: Path) -> list[Path]:
    """Folders of results; no link to one."""
    found = [] if folder.is_symlink() else folder.glob(f"*{_RESULTS_SUFFIX}")
    return [path for path in found if _KEY.fullmatch(path.stem) and path.is_dir() and not path.is_symlink()]


def _is_regular(path: Path) -> bool:
    with suppress(OSError):
        return stat.S_ISREG(path.lstat().st_mode)
    return False


def _age_s(path: Path) -> float | None:
    """Seconds since a file was written; None where it is gone, as another page may have deleted it.

    One that says it was written in the future was written now, from now on: else its time would never be over.
    """
    try:
        age = time.time() - path.lstat().st_mtime
        if age < 0:
            os.utime(path)
    except OSError:
        return None
    return max(age, 0.0)


def open_copy(folder: Path, key: str) -> tuple[Project, tuple[str, ...]]:
    """Open a copy, with the settings that were seen last, and the list of figures to export.

    Raises
    ------
    InputError
        For one that is not there any more, or is damaged.
    """
    about = _about(folder, key)
    if about is None:
        raise InputError("This copy is not there any more.")
    try:
        with open_regular(folder / f"{key}{PROJECT_SUFFIX}") as stream:
            project = open_project(stream)
    except OSError as error:
        raise InputError(f"This copy cannot be read ({error.strerror or type(error).__name__}).") from None
    view = {name: value for name, value in about["view"].items() if isinstance(value, ViewValue)}
    figures = tuple(one for one in about["figures"][:_MOST_FIGURES] if isinstance(one, str))
    return replace(project, settings=settings_from(about["settings"]), view=view), figures


def forget_copy(folder: Path, key: str) -> None:
    """Delete a copy."""
    for path in _ours(folder):
        if path.stem == key:
            path.unlink(missing_ok=True)
    forget_results(folder, key)


def _write_about(
    folder: Path,
    key: str,
    cohort: Cohort,
    settings: ConnectomeSettings,
    view: Mapping[str, ViewValue],
    figures: Sequence[str],
) -> None:
    about = {
        "name": _title(cohort),
        "subjects": len(cohort),
        "settings": settings.as_dict(),
        "view": dict(view),
        "figures": list(figures),
    }
    _write(folder / f"{key}{_ABOUT_SUFFIX}", json.dumps(about).encode())


def _title(cohort: Cohort) -> str:
    """What tells a copy from others: the cohort's name, its first and last subject, its groups and its atlas."""
    ends = dict.fromkeys((cohort.ids[0][:_LONGEST_ID], cohort.ids[-1][:_LONGEST_ID]))
    groups = [f"{size} {group}" for group, size in cohort.group_sizes.items()]
    return ", ".join([f"{cohort.name}: {' to '.join(ends)}", *groups, cohort.atlas.title])


def _about(folder: Path, key: str) -> dict[str, Any] | None:
    """What is said of a copy, or None where it is not said as it is here."""
    if not _KEY.fullmatch(key):
        return None
    kinds = {"name": str, "subjects": int, "settings": dict, "view": dict, "figures": list}
    try:
        with open_regular(folder / f"{key}{_ABOUT_SUFFIX}") as stream:
            about = json.loads(stream.read(_LARGEST_ABOUT))
    except (OSError, ValueError, RecursionError):
        return None
    whole = isinstance(about, dict) and all(isinstance(about.get(name), kind) for name, kind in kinds.items())
    return about if whole else None


def _make(folder: Path) -> None:
    """Make the folder, for its owner alone; a link to another folder is not followed."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "The folder of the copies is a link to another", str(folder))
    folder.chmod(0o700)


def _unfinished(path: Path) -> Path:
    return path.with_name(f"{_UNFINISHED}{path.name}")


def _open_private(path: Path) -> int:
    """Open a new file that only its owner can read, whatever lay there."""
    path.unlink(missing_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _write(path: Path, content: bytes) -> None:
    unfinished = _unfinished(path)
    try:
        with os.fdopen(_open_private(unfinished), "wb") as stream:
            stream.write(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
