"""What a folder of results holds: which job wrote which files, from which command, with sizes and hashes."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from biobgt.output import sha256, write_atomically

MANIFEST = "biobgt_manifest.json"
FORMAT = 1


@dataclass(frozen=True)
class Manifest:
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

    def with_job(self, job: str, about: Mapping[str, str], folder: Path) -> "Manifest":
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
        return Manifest(others | {job: {**about, "files": files}})

    def write(self, folder: Path) -> None:
        """Write it into a folder."""
        document = {"format": FORMAT, "jobs": self.jobs}
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        # A name that is no UTF-8 has lone surrogates, which JSON writes as \\udcff and reads as the same again.
        write_atomically(folder / MANIFEST, text.encode("utf-8", "backslashreplace"))


def read_manifest(folder: Path) -> Manifest:
    """Read a folder's manifest; one that is missing, damaged or names files elsewhere is taken for none."""
    try:
        document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found = Manifest(document["jobs"])
        names = [PurePosixPath(os.fsdecode(os.fsencode(name))) for name in found.files]  # no file has another name
        written = all(isinstance(about["sha256"], str) and about["bytes"] >= 0 for about in found.files.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Manifest()
    inside = all(not name.is_absolute() and name.parts and ".." not in name.parts for name in names)
    return found if document.get("format") == FORMAT and inside and written else Manifest()
