"""Zip archives, unpacked with care: nothing leaves the folder, no links, no archive that grows to gigabytes.

``.npz`` files, workbooks and projects are zip archives too and are opened here. How many files an archive lists is
known from its last bytes, before the list is read.
"""

import lzma
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO

from biobgt.base.errors import InputError, Refusal
from biobgt.base.limits import Limits, current_limits

# What Python raises on archives that were damaged, or packed in a way it does not know.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError, EOFError, struct.error),
    *(NotImplementedError, UnicodeError, RuntimeError, OSError),
)
_LISTED_BYTES = 5  # its place in the record at an archive's end
_LOCAL_HEADER_BYTES = 30  # before each file, without its name
_BYTES_PER_MEMBER = 512  # in the archive's list: 46, and the name
_MOST_NAME = 255
_LZMA = "packed by LZMA, which can take any amount of memory. Pack it by the usual method (deflate)."


class _BoundedZip(zipfile.ZipFile):
    """A zip archive that unpacks nothing whose memory is not bounded beforehand.

    LZMA takes as much as an entry asks for, up to four gigabytes, before its first byte.
    """

    def open(self, name: str | zipfile.ZipInfo, *how: Any, **options: Any) -> IO[bytes]:
        """Open an entry that is not packed by LZMA."""
        entry = name if isinstance(name, zipfile.ZipInfo) else self.getinfo(name)
        if entry.compress_type == zipfile.ZIP_LZMA:
            raise InputError(f"'{entry.filename[:_MOST_NAME]}' in the file is {_LZMA}")
        return super().open(entry, *how, **options)


@contextmanager
def open_archive(source: str | Path | BinaryIO, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive, unless it lists more files, or would unpack to more, than is read."""
    if isinstance(source, str | Path):
        _check_is_file(Path(source))
        with Path(source).open("rb") as file, open_archive(file, limits) as archive:
            yield archive
        return
    limits.check("members", _listed_bytes(source) / _BYTES_PER_MEMBER, "The archive")
    with _BoundedZip(source) as archive:
        _check_unpacked_size(archive, limits)
        yield archive


def _check_is_file(path: Path) -> None:
    """Refuse what would be waited for without end, or read without end, once it is opened."""
    if path.exists() and not path.is_file():
        raise InputError(f"'{path.name}' is a folder, a pipe or a device and no file. Name the archive itself.")


@dataclass
class UnpackedSoFar:
    """What all archives of a cohort take that were unpacked; they stay on the disk until the cohort is read."""

    members: int = 0
    n_bytes: int = 0

    def add(self, archive: zipfile.ZipFile, limits: Limits) -> None:
        """Count an archive, unless it is too much together with those before it."""
        members = self.members + len(archive.infolist())
        n_bytes = self.n_bytes + sum(entry.file_size for entry in archive.infolist())
        limits.check("cohort_members", members, "The cohort, with this archive,")
        limits.check("cohort_archive_bytes", n_bytes, "The cohort, with this archive,")
        self.members, self.n_bytes = members, n_bytes


@contextmanager
def unpacked(path: Path, so_far: UnpackedSoFar) -> Iterator[tuple[Path, list[Refusal]]]:
    """Unpack an archive for as long as the context lasts; yield the folder and the entries that were refused.

    ``so_far`` is what the archives before it took.
    """
    limits = current_limits()
    with TemporaryDirectory(prefix="biobgt-") as folder:
        try:
            with open_archive(path, limits) as archive:
                so_far.add(archive, limits)
                entries = archive.infolist()
                refused = [refusal for entry in entries if (refusal := _extract(archive, entry, Path(folder), limits))]
        except InputError:
            raise
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(f"'{path.name}' could not be unpacked ({reason}).") from None
        except ZIP_ERRORS:
            raise InputError(f"'{path.name}' is not a complete zip archive; it may have been cut off.") from None
        yield Path(folder), refused


def _listed_bytes(file: BinaryIO) -> int:
    """Return how long an archive's list of files is, by its own word; 0 where it is no archive.

    Python reads the list as a whole: two gigabytes of it would be twenty million entries in memory. Its own function
    finds the record that says so: an archive can have several, and one that Python does not take must not be believed.
    """
    n_bytes = file.seek(0, os.SEEK_END)
    record = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    file.seek(0)
    return 0 if record is None else min(n_bytes, int(record[_LISTED_BYTES]))


def _check_unpacked_size(archive: zipfile.ZipFile, limits: Limits) -> None:
    """Refuse an archive whose contents would fill the memory or the disk."""
    entries = archive.infolist()
    limits.check("members", len(entries), "The archive")
    size = sum(entry.file_size for entry in entries)
    limits.check("archive_bytes", size, "The archive")
    _check_overlap(archive)
    packed = min(sum(entry.compress_size for entry in entries), archive.start_dir)  # all lie before the list
    limits.check_growth(packed, size, "The archive")


def _check_overlap(archive: zipfile.ZipFile) -> None:
    """Refuse files that share bytes: the same few, listed a thousand times, would seem to explain any size."""
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    ends = [entry.header_offset + _LOCAL_HEADER_BYTES + entry.compress_size for entry in entries]
    begins = [*(entry.header_offset for entry in entries[1:]), archive.start_dir]
    for entry, end, begin in zip(entries, ends, begins, strict=False):
        if end > begin:
            raise InputError(
                f"The archive is damaged, or made to do harm: '{entry.filename[:_MOST_NAME]}' in it overlaps what "
                "comes after it. Zip the files again."
            )


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path, limits: Limits) -> Refusal | None:
    """Unpack one entry, or say why it is not."""
    name = PurePosixPath(entry.filename.replace("\\", "/"))
    shown = entry.filename[:_MOST_NAME]
    if entry.filename.endswith("/") or not name.parts or "__MACOSX" in name.parts:
        return None
    if name.is_absolute() or ".." in name.parts or ":" in name.parts[0]:
        return Refusal(shown, "Its path leads out of the archive, so it was not unpacked.")
    if len(name.parts) > limits.nesting or max(map(len, name.parts)) > _MOST_NAME:
        return Refusal(shown, f"Its path is too long: at most {limits.nesting} folders in one another are unpacked.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        return Refusal(shown, "It is a link, and links in archives are not followed. Zip the file itself.")
    if entry.flag_bits & 0x1:
        return Refusal(shown, "It is protected by a password. Zip it without one.")
    if entry.compress_type == zipfile.ZIP_LZMA:
        return Refusal(shown, f"It is {_LZMA}")
    target = folder.joinpath(*name.parts)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            return _unpack_into(archive, entry, file, target)
    except FileExistsError:
        return Refusal(shown, "The archive has another entry of this name, and only the first is read.")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is not a valid file name"
        return Refusal(shown, f"It could not be unpacked ({reason}).")


def _unpack_into(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, file: IO[bytes], target: Path) -> Refusal | None:
    try:
        with archive.open(entry) as packed:
            shutil.copyfileobj(packed, file)
    except ZIP_ERRORS as error:
        target.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.strerror:
            return Refusal(entry.filename[:_MOST_NAME], f"It could not be unpacked ({error.strerror}).")
        reason = str(error)[:120] or type(error).__name__
        return Refusal(entry.filename[:_MOST_NAME], f"It is damaged in the archive ({reason}).")
    return None
