"""A disk that is full, for real: the system refuses every byte of a file beyond a size."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def files_end_at(n_bytes: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes; writing on raises OSError, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
