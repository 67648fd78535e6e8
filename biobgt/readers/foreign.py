"""What the readers of foreign binary formats share: how much memory they may take, and what is said of damaged files.

They run in a process of their own (:mod:`biobgt.readers.isolated`), because the libraries underneath can crash, loop or
take all memory on files that were damaged or made to do so. This module imports nothing of the project but errors and
limits, so that such a process starts quickly.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from biobgt.errors import InputError
from biobgt.limits import Limits, how_to_raise

try:
    import resource
except ImportError:  # Windows has no such limits; the deadline still holds there
    resource = None  # type: ignore[assignment]


class DamagedFile(InputError):  # noqa: N818 - a refused file like any other
    """A library could not read the file: what it left behind in memory is not trusted with the next one."""


def out_of_memory(limits: Limits) -> DamagedFile:
    """Say that reading a file took more memory than its declared size explains."""
    return DamagedFile(
        "Reading it takes more memory than what it declares to hold; it may be damaged. If it is whole, "
        f"{how_to_raise('reader_bytes', 4 * limits.reader_bytes)}."
    )


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
    except InputError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # SciPy, h5py, nibabel and openpyxl each raise many types
        reason = (str(error).strip().splitlines() or [""])[0][:120] or type(error).__name__
        raise DamagedFile(f"The file cannot be read as {what} ({reason}){advice}") from None


class _Allowance:
    """Whether this process limits itself: set by the process that reads, and by no other."""

    enforced = False


def enforce_allowances() -> None:
    """Limit this process: no core files, no files written, and from now on memory and time as each file needs them."""
    _Allowance.enforced = True
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def allow_memory(n_bytes: int, limits: Limits) -> None:
    """Allow this process as much memory as it has, the working memory of a reader, and ``n_bytes`` more."""
    if not _Allowance.enforced or resource is None:
        return
    with suppress(OSError, ValueError):  # where the system does not say how much it has, the checks of sizes remain
        with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123 - twice for every file that is read
            pages = int(file.read(32).split()[0])
        most = pages * resource.getpagesize() + limits.reader_bytes + n_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def allow_seconds(seconds: int) -> None:
    """Allow this process so much more computing time: it ends by itself, should nobody be left to end it."""
    if not _Allowance.enforced or resource is None:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    most = int(usage.ru_utime + usage.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
