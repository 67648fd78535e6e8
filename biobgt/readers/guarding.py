"""The last line of defence around a reader: whatever it raises, the user gets a sentence about one file."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from biobgt.errors import InputError, ReaderFault

_log = logging.getLogger(__name__)


@contextmanager
def one_refused_file(what: str) -> Iterator[None]:
    """Turn everything that is raised inside into an :class:`~biobgt.errors.InputError` about ``what``.

    An error that no reader foresaw is logged with its traceback, for whoever mends the reader, and becomes a
    :class:`~biobgt.errors.ReaderFault`.
    """
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{what} could not be opened ({error.strerror or type(error).__name__}).") from None
    except Exception as error:
        _log.exception("A reader failed unexpectedly")
        raise ReaderFault(type(error).__name__) from error
