"""The life of the server and of its sessions: memory of a page that was closed is free within a minute.

Streamlit keeps a closed session for a while, in case its browser only lost the connection, and frees it when the next
one is closed, which on a quiet server may be never. Here a clock looks after them.
"""

import asyncio
import ctypes
import gc
import logging
import sys
import time
import webbrowser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import streamlit as st
from streamlit import runtime

from session.access.gate import forget_session

# A lost connection may come back for so long; shorter than server.disconnectedSessionTTL, after which Streamlit hides
# a session from the clock. Closed pages are freed after both together at the latest.
KEPT_S = 30.0
LOOK_EVERY_S = 5.0
_M_ARENA_MAX, _HEAPS = -8, 2  # as glibc's malloc.h numbers the option
_LOG = logging.getLogger("biobgt.app")


@asynccontextmanager
async def serve(app: st.App) -> AsyncGenerator[None]:
    """Open the browser when the server has started, and look after its sessions until it ends."""
    share_memory()
    clock = asyncio.create_task(_look_after_sessions())
    if not st.get_option("server.headless"):
        address = st.get_option("browser.serverAddress")
        port = st.get_option("server.port")
        asyncio.get_running_loop().run_in_executor(None, webbrowser.open, f"http://{address}:{port}")
    try:
        yield
    finally:
        clock.cancel()
        with suppress(asyncio.CancelledError):
            await clock


async def _look_after_sessions() -> None:
    left: dict[str, float] = {}
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        try:
            ended = end_left_sessions(left, time.monotonic())
        except Exception:  # one bad look must not stop the clock unseen
            _LOG.exception("Closed sessions could not be looked after")
            continue
        if ended:
            await asyncio.to_thread(give_memory_back)


def end_left_sessions(left: dict[str, float], now: float) -> int:
    """End the sessions whose browser has been away for too long; returns how many.

    Parameters
    ----------
    left : dict of str to float
        When each session was first seen without a browser; kept up to date here.
    now : float
        Seconds.
    """
    server = runtime.get_instance()
    # Streamlit has no public list of sessions.
    alone = {info.session.id: info.session for info in server._session_mgr.list_sessions() if info.client is None}
    for name in set(left) - set(alone):
        del left[name]
    for name in alone:
        left.setdefault(name, now)
    ended = [name for name, since in left.items() if now - since >= KEPT_S]
    for name in ended:
        server.close_session(name)
        # Streamlit's loop holds on to the last session it has drawn until there is another one, so it is emptied too.
        alone[name].session_state.clear()
        alone[name].flush_browser_queue()
        forget_session(name)
        del left[name]
    return len(ended)


def share_memory() -> None:
    """Let all threads take memory from the same few heaps: every run is a thread, and pieces stay in each heap."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # a C library without it
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS)


def give_memory_back() -> None:
    """Free what an ended session held in cycles, and hand free pages to the system, which the C library else keeps."""
    gc.collect()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
