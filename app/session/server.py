"""The app as a server: what it writes down, whom it answers, what it takes, and when it forgets a session."""

import asyncio
import ctypes
import gc
import hmac
import json
import logging
import os
import re
import sys
import time
import webbrowser
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from biobgt.base.serving import PROXIES_VARIABLE, account_of_connection, host_names, refusal, served_to_others

# One line per login and upload, for whoever answers for a server that others use; nothing of any subject is in it.
#
# Lines go to the server's error stream, where a service manager keeps them. Names of files are left out, for they often
# hold the ids of subjects.


_AUDIT_LOG = logging.getLogger("biobgt.audit")


def audit(event: str, **facts: str | int) -> None:
    """Write one line; values are written as JSON, so that none of them can begin another line."""
    if not _AUDIT_LOG.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
        _AUDIT_LOG.addHandler(handler)
        _AUDIT_LOG.setLevel(logging.INFO)
        _AUDIT_LOG.propagate = False
    _AUDIT_LOG.info("%s %s", event, " ".join(f"{name}={json.dumps(value)}" for name, value in facts.items()))


# What stands between the network and Streamlit: every request is looked at before a page sees it.
#
# A request under a foreign host name, or of another site's page, ends here (``biobgt.base.serving`` says which those
# are), so that Streamlit never asks the internet for this machine's address to compare it. So do files from a session
# that has not logged in, where there is a login, files beyond what one session may hold, and whoever knows a session's
# id, which is in addresses, and is not the browser that logged in. No answer may be shown in another site's frame.


_UPLOAD = re.compile(r".*/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)")
_METRICS = "/_stcore/metrics"
_POLICY_VIOLATION = 1008
_ROOT = 0
_FORWARDED = "x-forwarded-for"
# With every answer: no other site shows the pages in a frame, and a file is what its type says.
_HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'self'"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"x-content-type-options", b"nosniff"),
)
# Files of one session together, in units of the largest single file (server.maxUploadSize).
_FILES_OF_A_SESSION = 4


def _allowed_names() -> tuple[str, ...]:
    """The host names the server answers to."""
    return host_names(st.get_option("server.allowedHosts") or ())


def has_server() -> bool:
    """Whether a real server runs the pages; tests run them without one."""
    return runtime.exists() and type(runtime.get_instance()) is runtime.Runtime  # not a stand-in


def is_served_to_others() -> bool:
    """Whether anybody but the user of this machine can reach this server; where none runs, nobody can."""
    return has_server() and served_to_others(st.get_option("server.address"), _allowed_names())


def upload_limits_mb() -> tuple[int, int]:
    """The largest file that is taken, and the most that one session's files may have together, in megabytes."""
    largest = int(st.get_option("server.maxUploadSize"))
    return largest, _FILES_OF_A_SESSION * largest


@dataclass
class _Sessions:
    """What the gate knows of sessions: who is logged in, as whom, from which browser, and the bytes of their files."""

    users: dict[str, str] = field(default_factory=dict)
    browsers: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, dict[str, int]] = field(default_factory=dict)


_SESSIONS = _Sessions()


def _browser_of(cookies: Mapping[str, str]) -> bytes:
    """What one browser knows and no other: what Streamlit gave it against forged requests; empty without a cookie."""
    secret, _ = decode_xsrf_token_string(cookies.get(XSRF_COOKIE_NAME, ""))
    return secret or b""


def let_in(session: str, user: str, cookies: Mapping[str, str]) -> None:
    """Take files from this session from now on, while they come from the same browser.

    Parameters
    ----------
    session : str
        Its id.
    user : str
        Who logged in, for the audit.
    cookies : mapping of str to str
        By which its browser is known.
    """
    _SESSIONS.users[session] = user
    _SESSIONS.browsers[session] = _browser_of(cookies)


def _is_of_browser(session: str, headers: Mapping[str, str]) -> bool:
    """Whether a request comes from the browser that logged in to a session."""
    known = _SESSIONS.browsers.get(session, b"")
    return bool(known) and hmac.compare_digest(known, _browser_of(cookie_parser(headers.get("cookie", ""))))


def _foreign_session(scope: Scope, headers: Mapping[str, str]) -> str | None:
    """Refuse to go on with another browser's session, which Streamlit does for whoever names its id."""
    said = [*headers.get("sec-websocket-protocol", "").split(","), "", "", ""]
    session = said[2].strip()
    if scope["type"] != "websocket" or session not in _SESSIONS.users or _is_of_browser(session, headers):
        return None
    return "This session was opened in another browser. Reload the page."


def _foreign_account(scope: Scope, headers: Mapping[str, str]) -> str | None:
    """Refuse other accounts of this machine, whom ``localhost`` is open to as well; with a login, that decides."""
    if is_served_to_others() or not hasattr(os, "getuid") or not scope.get("client") or not scope.get("server"):
        return None
    if _FORWARDED in headers:
        return "BioBGT Explorer is behind a proxy: start it with biobgt app --public --host NAME."
    try:
        account = account_of_connection(tuple(scope["client"][:2]), tuple(scope["server"][:2]))
    except ValueError:  # an end without an address, such as a socket file
        return None
    if account in (None, os.getuid(), _ROOT):
        return None
    return "This BioBGT Explorer was started by another account on this machine. Start your own."


class Gate:
    """Middleware that answers for Streamlit where Streamlit shall not be asked."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with a sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)  # of several of a name the first counts, as for Streamlit
        send = _with_headers(send)
        sentence = (
            refusal(headers.get("host"), headers.get("origin"), _allowed_names())
            or _foreign_account(scope, headers)
            or _foreign_session(scope, headers)
        )
        if _FORWARDED in headers and PROXIES_VARIABLE not in os.environ:
            scope["client"] = None  # uvicorn then believes every program of this machine
        if sentence is None and scope["path"].rstrip("/").endswith(_METRICS):
            sentence = "BioBGT Explorer tells nobody how it is used."
        if sentence is not None and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": sentence})
        elif sentence is not None:
            await PlainTextResponse(sentence, 403)(scope, receive, send)
        else:
            await self._pass_on(scope, receive, send, headers)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        upload = _UPLOAD.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if upload is None or scope["method"] not in ("PUT", "DELETE"):
            await self.app(scope, receive, send)
            return
        session, file = upload["session"], upload["file"]
        if is_served_to_others() and not _is_of_browser(session, headers):
            await PlainTextResponse("Log in before you upload files.", 403)(scope, receive, send)
        elif scope["method"] == "DELETE":
            _SESSIONS.uploads.get(session, {}).pop(file, None)
            await self.app(scope, receive, send)
        elif not headers.get("content-length", "").isdecimal():
            await PlainTextResponse("An upload must state its size.", 411)(scope, receive, send)
        else:
            await self._take_file(scope, receive, send, upload=(session, file), n_bytes=int(headers["content-length"]))

    async def _take_file(
        self, scope: Scope, receive: Receive, send: Send, *, upload: tuple[str, str], n_bytes: int
    ) -> None:
        """Take a file that fits beside the session's others; its size is known before its first byte has come."""
        session, file = upload
        held = _SESSIONS.uploads.setdefault(session, {})
        _, most_mb = upload_limits_mb()
        if n_bytes + sum(held.values()) > most_mb * 2**20:
            sentence = f"The files of one session may take {most_mb} MB in total."
            await PlainTextResponse(sentence, 413)(scope, receive, send)
            return
        held[file] = n_bytes  # at once, for several come side by side
        taken = False

        async def note(message: Message) -> None:
            nonlocal taken
            taken = taken or (message["type"] == "http.response.start" and message["status"] < 300)
            await send(message)

        try:
            await self.app(scope, receive, note)
        finally:
            if not taken:
                held.pop(file, None)
            elif is_served_to_others():
                audit("upload", user=_SESSIONS.users.get(session, ""), session=session[:8], bytes=n_bytes)
            if not held:
                _SESSIONS.uploads.pop(session, None)


def _with_headers(send: Send) -> Send:
    """Send the headers of every answer along."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
        await send(message)

    return sending


# The life of the server and of its sessions: memory of a page that was closed is free within a minute.
#
# Streamlit keeps a closed session for a while, in case its browser only lost the connection, and frees it when the
# next one is closed, which on a quiet server may be never. Here a clock looks after them.


# A lost connection may come back for so long; shorter than server.disconnectedSessionTTL, after which Streamlit hides
# a session from the clock. Closed pages are freed after both together at the latest.
_KEPT_S = 30.0
_LOOK_EVERY_S = 5.0
_M_ARENA_MAX, _HEAPS = -8, 2  # as glibc's malloc.h numbers the option
_LIFETIME_LOG = logging.getLogger("biobgt.app")


@asynccontextmanager
async def serve(app: st.App) -> AsyncGenerator[None]:
    """Open the browser when the server has started, and look after its sessions until it ends."""
    # Every run is a thread, and pieces stay in each thread's heap, so all take memory from the same few.
    _ask_c_library("mallopt", _M_ARENA_MAX, _HEAPS)
    clock = asyncio.create_task(_look_after_sessions())
    if not st.get_option("server.headless"):
        url = f"http://{st.get_option('browser.serverAddress')}:{st.get_option('server.port')}"
        asyncio.get_running_loop().run_in_executor(None, webbrowser.open, url)
    try:
        yield
    finally:
        clock.cancel()
        with suppress(asyncio.CancelledError):
            await clock


async def _look_after_sessions() -> None:
    left: dict[str, float] = {}
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        try:
            ended = _end_left_sessions(left, time.monotonic())
        except Exception:  # one bad look must not stop the clock unseen
            _LIFETIME_LOG.exception("Closed sessions could not be looked after")
            continue
        if ended:  # free what they held in cycles, and hand free pages to the system, which the C library else keeps
            await asyncio.to_thread(gc.collect)
            await asyncio.to_thread(_ask_c_library, "malloc_trim", 0)


def _end_left_sessions(left: dict[str, float], now: float) -> int:
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
    ended = [name for name, since in left.items() if now - since >= _KEPT_S]
    for name in ended:
        server.close_session(name)
        # Streamlit's loop holds on to the last session it has drawn until there is another one, so it is emptied too.
        alone[name].session_state.clear()
        alone[name].flush_browser_queue()
        for known in (_SESSIONS.users, _SESSIONS.browsers, _SESSIONS.uploads):
            known.pop(name, None)
        del left[name]
    return len(ended)


def _ask_c_library(function: str, *numbers: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # a C library without it
            getattr(ctypes.CDLL(None), function)(*numbers)
