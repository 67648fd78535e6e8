"""Signals to a job: one that ends it lets it clean up, and none comes between the last steps of its results."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# What batch systems, service managers and closed terminals send.
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
INTERRUPTED = 128 + signal.SIGINT  # exit codes, as shells have them
STOPPED = (INTERRUPTED, *(128 + number for number in _ENDING))
NOTHING_WRITTEN = "Stopped before the end: no results were written."


def end_cleanly_on_signals() -> None:
    """Leave by an exception when a signal ends the job, so that folders are cleared and processes ended."""
    for number in _ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:  # what was started with nohup goes on
            signal.signal(number, lambda number, _: sys.exit(128 + number))


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Ignore the signals that end a job for a moment."""
    if threading.current_thread() is not threading.main_thread():  # the app's; only the main thread gets signals
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, *_ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Let Ctrl-C wait for a moment; processes that are started meanwhile never get it, where the system can do that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))  # also from other threads
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if masked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


class Stopped(SystemExit):
    """The end of a job by a signal, where not all is lost: ``kept`` says what is not."""

    def __init__(self, code: int, kept: str) -> None:
        super().__init__(code)
        self.kept = kept


@contextmanager
def keeping(kept: str) -> Iterator[None]:
    """Say what is kept, in full sentences, where a signal stops what is done here."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(INTERRUPTED, kept) from None
    except SystemExit as end:
        if isinstance(end.code, int) and end.code in STOPPED and not isinstance(end, Stopped):
            raise Stopped(end.code, kept) from None
        raise
