"""Zip archives, unpacked with care: nothing leaves the folder, no links, no archive that grows to gigabytes."""

import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from biobgt.cohort import Refusal
from biobgt.errors import InputError

MAX_UNPACKED_BYTES = 8 * 2**30
MAX_RATIO = 200  # region tables shrink to a third, zeros to a thousandth
MAX_FILES = 100_000


def check_unpacked_size(archive: zipfile.ZipFile) -> None:
    """Refuse an archive whose contents would fill the memory or the disk."""
    entries = archive.infolist()
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if len(entries) > MAX_FILES:
        raise InputError(f"The archive holds {len(entries):,} files; at most {MAX_FILES:,} are unpacked.")
    if unpacked > MAX_UNPACKED_BYTES or (unpacked > 2**28 and unpacked > MAX_RATIO * packed):
        raise InputError(
            f"The archive unpacks from {packed / 2**20:.0f} MB to {unpacked / 2**30:.1f} GB, which is refused. "
            "Unpack it yourself and name the folder instead."
        )


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Path, list[Refusal]]]:
    """Unpack an archive for as long as the context lasts; yield the folder and the entries that were refused."""
    with TemporaryDirectory(prefix="biobgt-") as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                check_unpacked_size(archive)
                refused = [
                    refusal for entry in archive.infolist() if (refusal := _extract(archive, entry, Path(folder)))
                ]
        except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError):
            raise InputError(f"'{path.name}' is not a complete zip archive; it may have been cut off.") from None
        except OSError as error:
            raise InputError(f"'{path.name}' could not be unpacked ({error.strerror or error}).") from None
        yield Path(folder), refused


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> Refusal | None:
    """Unpack one entry, or say why it is not."""
    name = PurePosixPath(entry.filename.replace("\\", "/"))
    if entry.is_dir() or not name.parts or "__MACOSX" in name.parts:
        return None
    if name.is_absolute() or ".." in name.parts or ":" in name.parts[0]:
        return Refusal(entry.filename, "Its path leads out of the archive, so it was not unpacked.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        return Refusal(entry.filename, "It is a link, and links in archives are not followed. Zip the file itself.")
    if entry.flag_bits & 0x1:
        return Refusal(entry.filename, "It is protected by a password. Zip it without one.")
    target = folder.joinpath(*name.parts)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as packed, target.open("xb") as file:
            shutil.copyfileobj(packed, file)
    except FileExistsError:
        return Refusal(entry.filename, "The archive has another entry of this name, and only the first is read.")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        target.unlink(missing_ok=True)
        return Refusal(entry.filename, f"It is damaged in the archive ({error}).")
    except OSError as error:
        return Refusal(entry.filename[:80], f"It could not be unpacked ({error.strerror}).")
    return None
