"""How large a file, a table, an archive or a cohort may be, stated once; and archives unpacked within these limits."""

import lzma
import math
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO

from biobgt.base.errors import InputError, Refusal, first_line

# How large a file, a table, an archive or a cohort may be: every limit of the readers, stated once.
#
# Real data stay below the defaults: 1,000 regions by 5,000 time points, images of 91 × 109 × 91 × 1,200 voxels,
# cohorts of a few thousand subjects. What lies above is refused before memory is taken, with a sentence that says how
# to raise the limit: each is the environment variable ``BIOBGT_MAX_`` and the field's name in capitals. ``python -m
# biobgt.base.limits`` prints them.


PREFIX = "BIOBGT_MAX_"


def _limit(default: int, noun: str, about: str) -> Any:
    """One limit: its default, what it counts, and what it is for."""
    return field(default=default, metadata={"noun": noun, "about": about})


@dataclass(frozen=True)
class Limits:
    """What the readers accept; see each field's ``about``."""

    file_bytes: int = _limit(4 * 2**30, "bytes", "Size of a file, images excepted.")
    image_file_bytes: int = _limit(16 * 2**30, "bytes", "Size of an image file.")
    text_bytes: int = _limit(2**29, "bytes", "Size of a text table of numbers.")
    line_characters: int = _limit(4_000_000, "characters in one line", "Length of a line in a text table.")
    cells: int = _limit(2**28, "values", "Values of one array: 2 GB as double precision.")
    voxels: int = _limit(2**31, "voxels in all volumes", "Voxels of a 4-D image, times its volumes.")
    regions: int = _limit(1_200, "regions", "Regions of an atlas. Hub measures take minutes per subject above it.")
    connections: int = _limit(20_000_000, "connections", "Rows of a list of connections.")
    timepoints: int = _limit(100_000, "time points", "Time points of one subject.")
    subjects: int = _limit(20_000, "subjects", "Subjects of one file, and of a cohort.")
    cohort_bytes: int = _limit(8 * 2**30, "bytes of numbers", "All subjects of a cohort together, in memory.")
    id_characters: int = _limit(200, "characters in a subject's id", "Length of a subject's id.")
    region_characters: int = _limit(500, "characters in a region's name", "Length of a region's name.")
    table_bytes: int = _limit(2**26, "bytes", "Size of a phenotype or atlas table; of a workbook, once unpacked.")
    table_rows: int = _limit(100_000, "rows", "Rows of a phenotype table.")
    table_columns: int = _limit(2_000, "columns", "Columns of a phenotype or atlas table.")
    table_cells: int = _limit(2_000_000, "cells", "Cells of a phenotype or atlas table.")
    workbook_elements: int = _limit(
        400_000, "XML elements", "Elements of a workbook's parts: two to four per cell, and eight seconds per million."
    )
    workbook_styles: int = _limit(70_000, "XML elements of styles", "Elements of a workbook's styles, a slow part.")
    workbook_sheets: int = _limit(100, "sheets", "Sheets of a workbook, of which the first one is read.")
    members: int = _limit(20_000, "files", "Files in an archive.")
    archive_bytes: int = _limit(8 * 2**30, "bytes once unpacked", "An archive's files together, unpacked.")
    cohort_members: int = _limit(100_000, "files in archives", "Files in all archives of a cohort together.")
    cohort_archive_bytes: int = _limit(16 * 2**30, "bytes once unpacked", "All archives of a cohort, unpacked.")
    header_bytes: int = _limit(2**24, "bytes", "The XML in the header of a CIFTI file.")
    document_bytes: int = _limit(2**26, "bytes", "The JSON document of a project.")
    document_values: int = _limit(
        3_000_000, "values", "Values of a project's JSON document, its marks {, [ and comma counted."
    )
    ratio: int = _limit(50, "times its packed size once unpacked", "How much compressed data above 64 MB may grow.")
    nesting: int = _limit(32, "levels of folders or groups", "Depth of folders in an archive, of groups in HDF5.")
    objects: int = _limit(10_000, "objects", "Groups and datasets of an HDF5 file, variables of a MATLAB file.")
    folder_files: int = _limit(1_000_000, "files", "Files that are looked at in a folder.")
    seconds: int = _limit(120, "seconds", "Time for a MATLAB, HDF5 or CIFTI file.")
    workbook_seconds: int = _limit(20, "seconds", "Time for a workbook.")
    image_seconds: int = _limit(1_800, "seconds", "Time for the series of one image.")
    fetch_bytes: int = _limit(2**25, "bytes", "Size of one file that is fetched over the network.")
    fetch_seconds: int = _limit(600, "seconds", "Time for one file that is fetched over the network.")
    reader_bytes: int = _limit(2**30, "bytes", "Working memory of a reading process, beside the array that it reads.")

    def raised(self) -> dict[str, int]:
        """Return the limits that are not the defaults."""
        if self is _DEFAULTS:  # almost always
            return {}
        return {name: value for name, value in vars(self).items() if value != getattr(_DEFAULTS, name)}

    def check(self, limit: str, found: float, what: str) -> None:
        """Refuse what is above a limit.

        Parameters
        ----------
        limit : str
            A field of this class.
        found : float
            How many there are, or are declared to be.
        what : str
            What has them, as the subject of a sentence: "The file".
        """
        allowed, noun = getattr(self, limit), _NOUNS[limit]
        if found > allowed:
            raise InputError(
                f"{what} has {_amount(found, noun)}; at most {_amount(allowed, noun)} are read. "
                f"If it is meant to be so large, {how_to_raise(limit, found)}."
            )

    def check_lines(self, limit: str, found: int, what: str) -> None:
        """Refuse text of far more lines than a table may have rows, before it is cut into lines.

        Parameters
        ----------
        limit : str
            The field of this class that says how many rows are read; blank lines and comments have room beside them.
        found : int
        what : str
            The subject of the sentence, such as "The file".
        """
        allowed: int = _LINES_PER_ROW * getattr(self, limit)
        if found > allowed:
            raise InputError(
                f"{what} has {found:,} lines; at most {allowed:,} are read. If it is meant to be so large, "
                f"{how_to_raise(limit, found)}."
            )

    def check_array(self, shape: Sequence[int], what: str) -> None:
        """Refuse an array of more values than are read; its shape may be a hostile file's word."""
        self.check("cells", math.prod(max(0, int(n)) for n in shape), what)  # Python's own integers do not overflow

    def check_table(self, shape: Sequence[int], what: str) -> None:
        """Refuse a subject's table that is too large whichever of its two axes is time."""
        self.check_array(shape, what)
        self.check("regions", min(shape), what)
        self.check("timepoints", max(shape), what)

    def check_document(self, content: bytes, what: str) -> None:
        """Refuse JSON of more values than are read before it is parsed: each takes about a hundred bytes of memory."""
        self.check("document_values", sum(content.count(mark) for mark in (b"{", b"[", b",")), what)

    def check_growth(
        self, packed: int, unpacked: int, what: str, *, advice: str = "Save it without compression"
    ) -> None:
        """Refuse what is mostly air: compressed data that would grow as no measured data do.

        Parameters
        ----------
        packed, unpacked : int
            Bytes before and after.
        what : str
            The subject of the sentence, such as "The archive".
        advice : str
            What to do, as the first half of a sentence.
        """
        ratio = math.ceil(unpacked / max(1, packed))
        if unpacked > _ALWAYS_UNPACKED and ratio > self.ratio:
            raise InputError(
                f"{what} would grow from {_amount(packed, 'bytes')} to {_amount(unpacked, 'bytes')}, {ratio:,} times "
                f"its size, as no measured data do; at most {self.ratio} times are unpacked. "
                f"{advice}, or {how_to_raise('ratio', ratio)}."
            )


_ALWAYS_UNPACKED = 2**26
_LINES_PER_ROW = 4
_DEFAULTS = Limits()
_NOUNS = {item.name: item.metadata["noun"] for item in fields(Limits)}


def _variable_of(limit: str) -> str:
    """Return the environment variable that sets a limit.

    >>> _variable_of("regions")
    'BIOBGT_MAX_REGIONS'
    """
    return PREFIX + limit.upper()


_LIMIT_OF = {_variable_of(item.name): item.name for item in fields(Limits)}


def current_limits() -> Limits:
    """Return the limits that hold: the defaults, or what the environment says instead."""
    # Four times for every file: looking through the environment once is faster than asking it for every limit.
    said = [variable for variable in os.environ if variable.startswith(PREFIX) and variable in _LIMIT_OF]
    for name in said:
        text = os.environ[name]
        if not (text.isascii() and text.isdigit() and 0 < len(text) < 19 and int(text) > 0):
            raise InputError(f"The environment variable {name} is '{text[:40]}'; it must be a whole number above 0.")
    return Limits(**{_LIMIT_OF[name]: int(os.environ[name]) for name in said}) if said else _DEFAULTS


def how_to_raise(limit: str, wanted: float) -> str:
    """Say how a limit is raised, as the second half of a sentence."""
    return f"set {_variable_of(limit)}={math.ceil(wanted)} in the environment before BioBGT Explorer is started"


def _amount(count: float, noun: str) -> str:
    """Write a number with what it counts; bytes as kB, MB or GB.

    >>> _amount(2**32, "bytes"), _amount(1200, "regions")
    ('4 GB', '1,200 regions')
    """
    if not noun.startswith("bytes"):
        return f"{count:,.0f} {noun}"
    step = min(3, max(1, int(math.log2(max(count, 1)) // 10)))
    number = f"{count / 2 ** (10 * step):,.1f}".removesuffix(".0")
    return f"{number} {('kB', 'MB', 'GB')[step - 1]}{noun.removeprefix('bytes')}"


# What the readers of foreign binary formats share: how much memory they may take, and what is said of damaged files.
#
# They run in a process of their own (:mod:`biobgt.readers.foreign.isolate`), because the libraries underneath can
# crash, loop or take all memory on files that were damaged or made to do so. This module imports nothing of the project
# but errors and limits, so that such a process starts quickly.


try:
    import resource
except ImportError:  # Windows has no such limits; the deadline still holds there
    resource = None  # type: ignore[assignment]


class DamagedFile(InputError):  # noqa: N818 - a refused file like any other
    """A library could not read the file: what it left behind in memory is not trusted with the next one."""


@contextmanager
def library(what: str, advice: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into a sentence.

    Parameters
    ----------
    what : str
        What the file cannot be read as: "MATLAB data".
    advice : str
        What to do, as a sentence, or the end of one.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:  # SciPy, h5py, nibabel and openpyxl each raise many types
        raise DamagedFile(f"The file cannot be read as {what} ({first_line(error)}){advice}") from None


class _Allowance:
    """Whether this process limits itself: set by the process that reads, and by no other."""

    enforced = False


def enforce_allowances(seconds: int) -> None:
    """Limit this process: no core files, no files written, from now on memory as each file needs it, and so much time.

    It ends by itself after so many more seconds of computing, should nobody be left to end it.
    """
    _Allowance.enforced = True
    if resource is not None:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        most = int(usage.ru_utime + usage.ru_stime) + seconds + 1
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def allow_memory(n_bytes: int, limits: Limits) -> None:
    """Allow this process as much memory as it has, the working memory of a reader, and ``n_bytes`` more."""
    if not _Allowance.enforced or resource is None:
        return
    with suppress(OSError, ValueError):  # where the system does not say how much it has, the checks of sizes remain
        with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123 - twice for every file that is read
            pages = int(file.read(32).split()[0])
        most = pages * resource.getpagesize() + limits.reader_bytes + n_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


# Zip archives, unpacked with care: nothing leaves the folder, no links, no archive that grows to gigabytes.
#
# ``.npz`` files, workbooks and projects are zip archives too and are opened here. How many files an archive lists is
# known from its last bytes, before the list is read.


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
        path = Path(source)
        if path.exists() and not path.is_file():  # it would be waited for, or read, without end
            raise InputError(f"'{path.name}' is a folder, a pipe or a device and no file. Name the archive itself.")
        with path.open("rb") as file, open_archive(file, limits) as archive:
            yield archive
        return
    # Python reads the list of files as a whole: two gigabytes of it would be twenty million entries in memory. Its own
    # function finds the record that says how long it is: an archive can have several, and one that Python does not take
    # must not be believed.
    n_bytes = source.seek(0, os.SEEK_END)
    record = zipfile._EndRecData(source)  # type: ignore[attr-defined]
    source.seek(0)
    listed = 0 if record is None else min(n_bytes, int(record[_LISTED_BYTES]))
    limits.check("members", listed / _BYTES_PER_MEMBER, "The archive")
    with _BoundedZip(source) as archive:
        entries = archive.infolist()
        size = sum(entry.file_size for entry in entries)
        limits.check("members", len(entries), "The archive")
        limits.check("archive_bytes", size, "The archive")
        _check_overlap(archive)
        packed = min(sum(entry.compress_size for entry in entries), archive.start_dir)  # all lie before the list
        limits.check_growth(packed, size, "The archive")
        yield archive


@dataclass
class UnpackedArchives:
    """What all archives of a cohort take that were unpacked; they stay on the disk until the cohort is read."""

    members: int = 0
    n_bytes: int = 0

    @contextmanager
    def add(self, path: Path) -> Iterator[tuple[Path, list[Refusal]]]:
        """Unpack an archive for as long as the context lasts; yield the folder and the entries that were refused."""
        limits = current_limits()
        with TemporaryDirectory(prefix="biobgt-") as folder:
            try:
                with open_archive(path, limits) as archive:
                    entries = archive.infolist()
                    members = self.members + len(entries)
                    n_bytes = self.n_bytes + sum(entry.file_size for entry in entries)
                    limits.check("cohort_members", members, "The cohort, with this archive,")
                    limits.check("cohort_archive_bytes", n_bytes, "The cohort, with this archive,")
                    self.members, self.n_bytes = members, n_bytes
                    found = [_extract(archive, entry, Path(folder), limits) for entry in entries]
            except InputError:
                raise
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise InputError(f"'{path.name}' could not be unpacked ({reason}).") from None
            except ZIP_ERRORS:
                raise InputError(f"'{path.name}' is not a complete zip archive; it may have been cut off.") from None
            yield Path(folder), [refusal for refusal in found if refusal is not None]


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
            try:
                with archive.open(entry) as packed:
                    shutil.copyfileobj(packed, file)
            except ZIP_ERRORS as error:
                target.unlink(missing_ok=True)
                if isinstance(error, OSError) and error.strerror:
                    raise
                reason = str(error)[:120] or type(error).__name__
                return Refusal(shown, f"It is damaged in the archive ({reason}).")
    except FileExistsError:
        return Refusal(shown, "The archive has another entry of this name, and only the first is read.")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is not a valid file name"
        return Refusal(shown, f"It could not be unpacked ({reason}).")
    return None


if __name__ == "__main__":
    for one in fields(Limits):
        print(f"{_variable_of(one.name):28} {getattr(current_limits(), one.name):>14,}  {one.metadata['about']}")
