"""Uploaded files on their way to the library's readers: written to a folder of their own, read, removed.

A project is opened where it lies in memory, and never written to the disk.
"""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from biobgt import Atlas, Cohort, ImageOptions, ReadOptions, read_cohort
from biobgt.project import Project, open_project
from biobgt.readers import READABLE_SUFFIXES, read_atlas

# Sidecars of images, and tables that the reader takes for phenotypes by their name.
_BESIDE_THE_DATA = (".json", ".xlsx")
_MAX_NAME = 150


class Upload(Protocol):
    """What is used of Streamlit's uploaded file."""

    file_id: str
    name: str

    def getbuffer(self) -> memoryview:
        """The file's bytes."""


@dataclass(frozen=True)
class Brought:
    """What a user brought to be read, and their answers to the reader's questions.

    ``atlas`` is a bundled name or None to recognise it; a table of the user's own comes before it.
    ``answers`` maps ``atlas`` or a field of ReadOptions, as the reader's question named it, to the choice.
    """

    files: Sequence[Upload]
    phenotypes: Upload | None = None
    atlas: str | None = None
    atlas_table: Upload | None = None
    label_image: Upload | None = None
    image: ImageOptions = field(default_factory=ImageOptions)
    answers: Mapping[str, str] = field(default_factory=dict)

    def signature(self) -> tuple[object, ...]:
        """Equal for the same files, options and answers, so that nothing is read twice."""
        others = (self.phenotypes, self.atlas_table, self.label_image)
        ids = tuple(upload.file_id if upload else None for upload in (*self.files, *others))
        return (ids, self.atlas, self.image, tuple(sorted(self.answers.items())))


def read_brought(brought: Brought, *, name: str, progress: Callable[[int, int], None] | None = None) -> Cohort:
    """Read what was brought into a cohort; nothing of it stays on the disk."""
    with TemporaryDirectory(prefix="biobgt-") as temporary:
        folder = Path(temporary)
        tables = folder / "tables"
        atlas = brought.answers.get("atlas", brought.atlas)
        table = _write_if(brought.atlas_table, tables / "atlas")
        labels = _write_if(brought.label_image, tables / "labels")
        answers: dict[str, Any] = {option: choice for option, choice in brought.answers.items() if option != "atlas"}
        options = ReadOptions(**answers, image=replace(brought.image, labels=labels))
        return read_cohort(
            _write_all(brought.files, folder / "your files"),
            atlas=table or atlas,
            phenotypes=_write_if(brought.phenotypes, tables / "phenotypes"),
            options=options,
            name=name,
            progress=progress,
        )


def read_brought_atlas(table: Upload) -> Atlas:
    """Read a user's own atlas; nothing of it stays on the disk."""
    with TemporaryDirectory(prefix="biobgt-") as temporary:
        return read_atlas(_write(table, Path(temporary)))


def open_brought_project(upload: Upload) -> Project:
    """Open a project."""
    return open_project(io.BytesIO(upload.getbuffer()))


def safe_name(name: str) -> str:
    """Keep the last part of a file's name, without what could lead elsewhere or hide the file."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    last = re.sub(r"[\x00-\x1f\x7f:*?\"<>|]", "_", last).strip().lstrip(".")
    return last[-_MAX_NAME:] or "file"


def _write_all(uploads: Sequence[Upload], folder: Path) -> list[Path]:
    """Write files to a folder, which is read as one; archives and what cannot be read are named one by one."""
    folder.mkdir()
    written = [_write(upload, folder) for upload in uploads]
    in_folder = (*READABLE_SUFFIXES, *_BESIDE_THE_DATA)
    alone = [path for path in written if not path.name.lower().endswith(in_folder)]
    for i, path in enumerate(alone):
        # Out of the folder, or it would be met twice.
        aside = folder.parent / f"alone{i}" / path.name
        aside.parent.mkdir()
        alone[i] = path.rename(aside)
    return [folder, *alone] if len(alone) < len(written) else alone


def _write(upload: Upload, folder: Path) -> Path:
    """Write one file; a second of the same name gets a number, so that neither is lost."""
    folder.mkdir(parents=True, exist_ok=True)
    name = safe_name(upload.name)
    stem, dot, extensions = name.partition(".")
    path = folder / name
    number = 1
    while path.exists():
        number += 1
        path = folder / f"{stem} ({number}){dot}{extensions}"
    path.write_bytes(upload.getbuffer())
    return path


def _write_if(upload: Upload | None, folder: Path) -> Path | None:
    return None if upload is None else _write(upload, folder)
