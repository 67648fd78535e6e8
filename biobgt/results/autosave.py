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
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from biobgt.base.errors import InputError
from biobgt.base.files import UNFINISHED_SUFFIX, data_folder, open_regular, private_file
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.readers.project import PROJECT_SUFFIX, Project, ViewValue, open_project, save_project, settings_from

KEPT_DAYS = 30
ROOM_FOR_RESULTS = 256 << 20  # bytes, of one copy
_KEPT_COPIES = 3
_ABOUT_SUFFIX = ".json"
_RESULTS_SUFFIX = ".results"
_MOST_FIGURES = 1000
_LONGEST_ID = 40
_OFF = "off"
_KEY = re.compile(r"[0-9a-f]{8,64}")
_NAME = re.compile(rf"{_KEY.pattern}\.\w+|\.{_KEY.pattern}\..+{re.escape(UNFINISHED_SUFFIX)}")
_DAY_S = 86400
_LARGEST_ABOUT = 4 << 20  # bytes; a larger file is none of ours
_ABOUT = {"name": str, "subjects": int, "settings": dict, "view": dict, "figures": list}


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


class Copies:
    """The copies in a folder, each known by the key of its session, in hexadecimal.

    Parameters
    ----------
    folder : Path, optional
        By default in the user's data folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or data_folder() / "autosave"

    @property
    def on(self) -> bool:
        """Whether the user wants copies; yes until they say no."""
        return not (self.folder / _OFF).exists()

    def switch(self, *, on: bool) -> None:
        """Keep copies from now on, or keep none and delete those there are."""
        if on:
            (self.folder / _OFF).unlink(missing_ok=True)
            return
        for path in self._ours(PROJECT_SUFFIX, _ABOUT_SUFFIX, _RESULTS_SUFFIX):
            _delete(path)
        self._make_folder()
        with private_file(self.folder / _OFF):
            pass

    def save(
        self,
        key: str,
        cohort: Cohort,
        settings: ConnectomeSettings,
        view: Mapping[str, ViewValue],
        figures: Sequence[str] = (),
        *,
        same_subjects: bool = False,
    ) -> None:
        """Write a copy, or write it anew; the oldest go when there are too many.

        Parameters
        ----------
        key : str
        cohort : Cohort
        settings : ConnectomeSettings
        view : mapping of str to str, int, float or bool
            As in :func:`biobgt.readers.project.save_project`.
        figures : sequence of str
            The list of figures to export, each as its request is written.
        same_subjects : bool
            Whether they are those of before: then they are not written again, unless the copy is gone.

        Raises
        ------
        OSError
            For a disk that is full or must not be written to.
        """
        ends = dict.fromkeys((cohort.ids[0][:_LONGEST_ID], cohort.ids[-1][:_LONGEST_ID]))
        groups = [f"{size} {group}" for group, size in cohort.group_sizes.items()]
        about = {
            "name": ", ".join([f"{cohort.name}: {' to '.join(ends)}", *groups, cohort.atlas.title]),
            "subjects": len(cohort),
            "settings": settings.as_dict(),
            "view": dict(view),
            "figures": list(figures),
        }
        path = self.folder / f"{key}{PROJECT_SUFFIX}"
        if same_subjects and path in self._ours(PROJECT_SUFFIX):  # else another page opened it, and has its own
            _write_about(path, about)
            return
        self._make_folder()
        with private_file(path) as stream:
            save_project(cohort, settings, view, stream)
            stream.flush()
            os.fsync(stream.fileno())
            _write_about(path, about)  # first: a copy of which nothing is said is offered to nobody
        for copy in self.listed()[_KEPT_COPIES:]:
            self.forget(copy.key)

    def listed(self) -> list[Copy]:
        """List the copies, the newest first; those beyond their time are deleted, and so is what was never finished."""
        found = []
        for path in self._ours(PROJECT_SUFFIX):
            age, about = _age_s(path), self._about(path.stem)
            if age is not None and age > KEPT_DAYS * _DAY_S:
                self.forget(path.stem)
            elif age is not None and about is not None:
                used = _age_s(path.with_suffix(_ABOUT_SUFFIX))
                found.append(Copy(path.stem, about["name"], about["subjects"], age if used is None else used))
        beside = self._ours(_ABOUT_SUFFIX, _RESULTS_SUFFIX)
        alone = [path for path in beside if not path.with_suffix(PROJECT_SUFFIX).exists()]
        for path in (*alone, *self._ours(UNFINISHED_SUFFIX)):
            if (_age_s(path) or 0) > _DAY_S:
                _delete(path)
        return sorted(found, key=lambda copy: copy.age_s)

    def open(self, key: str) -> tuple[Project, tuple[str, ...]]:
        """Open a copy, with the settings that were seen last, and the list of figures to export.

        Raises
        ------
        InputError
            For one that is not there any more, or is damaged.
        """
        about = self._about(key)
        if about is None:
            raise InputError("This copy is not there any more.")
        try:
            with open_regular(self.folder / f"{key}{PROJECT_SUFFIX}") as stream:
                project = open_project(stream)
        except OSError as error:
            raise InputError(f"This copy cannot be read ({error.strerror or type(error).__name__}).") from None
        view = {name: value for name, value in about["view"].items() if isinstance(value, ViewValue)}
        figures = tuple(one for one in about["figures"][:_MOST_FIGURES] if isinstance(one, str))
        return replace(project, settings=settings_from(about["settings"]), view=view), figures

    def forget(self, key: str) -> None:
        """Delete a copy."""
        for path in self._ours(PROJECT_SUFFIX, _ABOUT_SUFFIX, _RESULTS_SUFFIX):
            if path.stem == key:
                _delete(path)

    def take_results(self, key: str, earlier: str) -> Path:
        """Where the results of a copy lie from now on: those of an earlier one, which it is about to replace.

        Parameters
        ----------
        key : str
            Of the copy; the results that it has are deleted, for its subjects are others now.
        earlier : str
            Of the earlier copy, if there is one.

        Returns
        -------
        Path
            For a :class:`biobgt.results.store.FolderStore` of its owner's.
        """
        place = self.folder / f"{key}{_RESULTS_SUFFIX}"
        there = {path.stem: path for path in self._ours(_RESULTS_SUFFIX)}
        if key in there:
            _delete(place)
        if earlier in there:
            there[earlier].rename(place)
        return place

    def _ours(self, *suffixes: str) -> list[Path]:
        """Files of our names, and folders of results: no link, no pipe, nothing that somebody else put there."""
        names = [] if self.folder.is_symlink() else [path for one in suffixes for path in self.folder.glob(f"*{one}")]
        found = [path for path in names if _NAME.fullmatch(path.name) and not path.is_symlink()]
        return [path for path in found if (path.is_dir() if path.suffix == _RESULTS_SUFFIX else path.is_file())]

    def _about(self, key: str) -> dict[str, Any] | None:
        """What is said of a copy, or None where it is not said as it is here."""
        if not _KEY.fullmatch(key):
            return None
        try:
            with open_regular(self.folder / f"{key}{_ABOUT_SUFFIX}") as stream:
                about = json.loads(stream.read(_LARGEST_ABOUT))
        except (OSError, ValueError, RecursionError):
            return None
        whole = isinstance(about, dict) and all(isinstance(about.get(name), kind) for name, kind in _ABOUT.items())
        return about if whole else None

    def _make_folder(self) -> None:
        """Make the folder, for its owner alone; a link to another folder is not followed."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.folder.is_symlink():
            raise NotADirectoryError(errno.ENOTDIR, "The folder of the copies is a link to another", str(self.folder))
        self.folder.chmod(0o700)


def _write_about(copy: Path, about: Mapping[str, Any]) -> None:
    with private_file(copy.with_suffix(_ABOUT_SUFFIX)) as stream:
        stream.write(json.dumps(about).encode())


def _delete(path: Path) -> None:
    if path.suffix == _RESULTS_SUFFIX:
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


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
