"""Whether what came over the network is the table that was asked for, and is still as it came.

A login page or a proxy answers any address with a web page. So every file is looked into when it arrives, its SHA-256
is kept beside the data, and the next run compares: what has changed since, or never was a table, is fetched again.
A server may also send without end, or a byte a minute: each file has a size and a time that it may take.
"""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from biobgt.errors import InputError
from biobgt.limits import current_limits, how_to_raise
from biobgt.output import atomic_file, sha256, write_atomically

RECORD = "fetched.json"
CHANGED = ".changed"
Fault = str | None
_AT_ONCE, _CONNECTING_S, _SILENT_S = 2**16, 15, 60


def download(url: str, file: Path) -> None:
    """Bring a file over the network, whole or not at all, within the limits of its size and time.

    Parameters
    ----------
    url : str
    file : Path
        Where it goes; its folder is there.

    Raises
    ------
    InputError
        When the server is not reached, ends early, sends too much or takes too long.
    """
    import requests
    import urllib3

    limits, end = current_limits(), time.monotonic() + current_limits().fetch_seconds
    what = f"What came over the network as '{file.name}'"
    try:
        with (
            atomic_file(file) as unfinished,
            unfinished.open("wb", buffering=0) as target,
            requests.get(url, stream=True, timeout=(_CONNECTING_S, _SILENT_S)) as answer,
        ):
            answer.raise_for_status()
            n_bytes = 0
            while piece := answer.raw.read1(_AT_ONCE, decode_content=True):  # what there is, without waiting for more
                n_bytes += len(piece)
                limits.check("fetch_bytes", n_bytes, what)
                if time.monotonic() > end:
                    raise InputError(
                        f"{what} was not there after {limits.fetch_seconds} seconds, and was not kept. Try again, or "
                        f"{how_to_raise('fetch_seconds', 2 * limits.fetch_seconds)}."
                    )
                target.write(piece)
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise InputError(f"Nothing can be written to '{file.parent}' ({error.strerror}).") from None
    except (OSError, urllib3.exceptions.HTTPError) as error:  # requests' errors are OSErrors
        raise InputError(
            f"'{file.name}' could not be fetched: its server was not reached, or ended early "
            f"({type(error).__name__}). Check the network and try again; what is already in the folder is kept."
        ) from None


def series_fault(file: Path, *, n_regions: int) -> Fault:
    """Say why a file is no table of region series, or None where it is one."""
    if page := _web_page(file):
        return page
    try:
        values = np.loadtxt(file, ndmin=2)
    except ValueError:  # UnicodeDecodeError is one
        return "is no table of numbers, or is cut short"
    if values.size == 0:
        return "is empty"
    return None if values.shape[1] == n_regions else f"has {values.shape[1]} columns, not {n_regions}"


def table_fault(file: Path, *, column: str) -> Fault:
    """Say why a file is no table with a column, or None where it is one."""
    if page := _web_page(file):
        return page
    with file.open(encoding="utf-8", errors="replace") as stream:
        names = [name.strip().strip('"') for name in stream.readline(100_000).split(",")]
    return None if column in names else f"is no table with a column {column}"


class FetchedFiles:
    """The files of a cohort's folder that are known to be what was asked for, by their SHA-256."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known = self._read()

    def make_way(self, file: Path, fault: Callable[[Path], Fault]) -> None:
        """See that a file is as it came; one that is not makes way for one that is fetched again.

        A table that was changed since stays beside the new one, with ``.changed`` behind its name; what is no table at
        all is deleted. A file that was never recorded is looked into, and recorded.
        """
        if not file.is_file():
            return
        known, digest = self._known.get(self._key(file)), sha256(file)
        if known == digest:
            return
        if fault(file) is not None:
            file.unlink()
        elif known is None:
            self._keep(file, digest)
        else:
            file.replace(file.with_name(file.name + CHANGED))

    def check(self, file: Path, fault: Callable[[Path], Fault]) -> None:
        """Record a file that has come, or delete it and say what came in its place."""
        digest = sha256(file)
        if self._known.get(self._key(file)) == digest:
            return
        if (found := fault(file)) is not None:
            file.unlink()
            raise InputError(
                f"What came over the network as '{file.name}' {found}, and was not kept. If this network has a login "
                "page or a proxy, open a web page in a browser first, then fetch again; what is already there is kept."
            )
        self._keep(file, digest)

    def _keep(self, file: Path, digest: str) -> None:
        self._known[self._key(file)] = digest
        with suppress(PermissionError):  # others' data in a folder to read only: looked into each time
            write_atomically(self.folder / RECORD, json.dumps(self._known, indent=1, sort_keys=True) + "\n")

    def _key(self, file: Path) -> str:
        return file.relative_to(self.folder).as_posix()

    def _read(self) -> dict[str, str]:
        try:
            known = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not there yet, or damaged: files are looked into again
            return {}
        return {str(file): str(digest) for file, digest in known.items()} if isinstance(known, dict) else {}


def _web_page(file: Path) -> Fault:
    with file.open("rb") as stream:
        start = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    return "is a web page" if start.startswith(b"<") else None
