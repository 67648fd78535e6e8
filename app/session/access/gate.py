"""What stands between the network and Streamlit: every request is looked at before a page sees it.

A request under a foreign host name, or of another site's page, ends here (``biobgt.serving`` says which those are), so
that Streamlit never asks the internet for this machine's address to compare it. So do files from a session that has
not logged in, where there is a login, and files beyond what one session may hold.
"""

import os
import re
from dataclasses import dataclass, field

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime

from biobgt.serving import account_of_connection, host_names, refusal, served_to_others
from session.access.audit import audit

_UPLOAD = re.compile(r".*/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)")
_POLICY_VIOLATION = 1008
_ROOT = 0
# Files of one session together, in units of the largest single file (server.maxUploadSize).
FILES_OF_A_SESSION = 4


def allowed_names() -> tuple[str, ...]:
    """The host names the server answers to."""
    return host_names(st.get_option("server.allowedHosts") or ())


def has_server() -> bool:
    """Whether a real server runs the pages; tests run them without one."""
    return runtime.exists() and type(runtime.get_instance()) is runtime.Runtime  # not a stand-in


def is_served_to_others() -> bool:
    """Whether anybody but the user of this machine can reach this server; where none runs, nobody can."""
    return has_server() and served_to_others(st.get_option("server.address"), allowed_names())


def most_per_file_mb() -> int:
    """The largest file that is taken, in megabytes."""
    return int(st.get_option("server.maxUploadSize"))


def most_per_session_mb() -> int:
    """The most that one session's files may have together, in megabytes."""
    return FILES_OF_A_SESSION * most_per_file_mb()


@dataclass
class _Sessions:
    """What the gate knows of sessions: who is logged in, as whom, and the bytes of the files they uploaded."""

    users: dict[str, str] = field(default_factory=dict)
    uploads: dict[str, dict[str, int]] = field(default_factory=dict)


_SESSIONS = _Sessions()


def let_in(session: str, user: str) -> None:
    """Take files from this session from now on."""
    _SESSIONS.users[session] = user


def forget_session(session: str) -> None:
    """Forget a session that has ended."""
    _SESSIONS.users.pop(session, None)
    _SESSIONS.uploads.pop(session, None)


def _foreign_account(scope: Scope, headers: dict[str, str]) -> str | None:
    """Refuse other accounts of this machine, whom ``localhost`` is open to as well; with a login, that decides."""
    if is_served_to_others() or not hasattr(os, "getuid") or not scope.get("client") or not scope.get("server"):
        return None
    if "x-forwarded-for" in headers:
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
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        sentence = refusal(headers.get("host"), headers.get("origin"), allowed_names()) or _foreign_account(
            scope, headers
        )
        if sentence is not None and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": sentence})
        elif sentence is not None:
            await PlainTextResponse(sentence, 403)(scope, receive, send)
        else:
            await self._pass_on(scope, receive, send, headers)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]) -> None:
        upload = _UPLOAD.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if upload is None or scope["method"] not in ("PUT", "DELETE"):
            await self.app(scope, receive, send)
            return
        session, file = upload["session"], upload["file"]
        if is_served_to_others() and session not in _SESSIONS.users:
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
        if n_bytes + sum(held.values()) > most_per_session_mb() * 2**20:
            sentence = f"The files of one session may take {most_per_session_mb()} MB in total."
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
