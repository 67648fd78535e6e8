"""A real server in a process of its own, and visitors who talk to it as browsers do, over loopback, without drawing.

Used by the benchmark of many sessions at once and by the tests of the server.
"""

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

HOME = Path(__file__).resolve().parents[1] / "app" / "Home.py"
START_S = 90.0
WAIT_S = 300.0
_XSRF = "_streamlit_xsrf"


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def address(self) -> str:
        """Where it is."""
        return f"localhost:{self.port}"

    def ask(
        self, path: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> tuple[int, str]:
        """Ask by HTTP; returns the status and the answer."""
        with self._answer(path, method, headers, body) as answer:
            return answer.status, answer.read().decode()

    def headers(self, path: str, *, headers: Mapping[str, str] | None = None) -> dict[str, str]:
        """Ask by HTTP; returns the headers of the answer, their names in lower case."""
        with self._answer(path, "GET", headers, None) as answer:
            return {name.lower(): value for name, value in answer.headers.items()}

    def _answer(self, path: str, method: str, headers: Mapping[str, str] | None, body: bytes | None) -> Any:
        request = urllib.request.Request(
            f"http://{self.address}/{path}", data=body, method=method, headers=dict(headers or {})
        )
        for tries_left in reversed(range(5)):
            try:
                return urllib.request.urlopen(request, timeout=WAIT_S)
            except urllib.error.HTTPError as refused:
                return refused
            except urllib.error.URLError as cut:  # refused while it was being sent: the answer came too late to be read
                if not tries_left or not isinstance(cut.reason, ConnectionError):
                    raise
        raise AssertionError("unreachable")


@contextmanager
def running_server(
    folder: Path, *options: str, environment: Mapping[str, str] | None = None, command: Sequence[str] | None = None
) -> Iterator[Server]:
    """Start the app as a user does from some other folder, and end it.

    Parameters
    ----------
    folder : Path
        Where it is started, and where its log is written.
    *options : str
        Further options of ``streamlit run``.
    environment : mapping of str to str, optional
        Besides this process's own; the user's data folder is always within ``folder``.
    command : sequence of str, optional
        In place of ``streamlit run app/Home.py``; ``{port}`` stands for the port.
    """
    port = free_port()
    log = folder / f"server{port}.log"
    run = [sys.executable, "-m", "streamlit", "run", str(HOME), "--server.port", str(port), "--server.headless", "true"]
    started = [part.replace("{port}", str(port)) for part in command] if command is not None else [*run, *options]
    surroundings = {**os.environ, "XDG_DATA_HOME": str(folder / "data"), **(environment or {})}
    with log.open("w") as output:
        process = subprocess.Popen(started, cwd=folder, env=surroundings, stdout=output, stderr=subprocess.STDOUT)
    try:
        server = Server(port, process, log)
        _wait_until_healthy(server)
        yield server
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(server: Server) -> None:
    deadline = monotonic() + START_S
    while monotonic() < deadline and server.process.poll() is None:
        try:
            if server.ask("_stcore/health")[0] == 200:
                return
        except (urllib.error.URLError, ConnectionError):
            sleep(0.05)
    raise RuntimeError(f"The server did not start:\n{server.log.read_text()}")


@dataclass
class Visitor:
    """One browser's page: what it was sent in its last run, and the answers it gives."""

    server: Server
    socket: ClientConnection
    cookies: dict[str, str] = field(default_factory=dict)
    session: str = ""
    elements: list[Any] = field(default_factory=list)
    _pages: dict[str, str] = field(default_factory=dict)
    _page: str = ""
    _states: dict[str, WidgetState] = field(default_factory=dict)

    def __enter__(self) -> "Visitor":
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Close the page."""
        self.socket.close()

    def look(self, page: str = "", query: str = "") -> "Visitor":
        """Open a page, or look at the present one again, and wait for it to be drawn."""
        self.start(page, query)
        return self.wait()

    def start(self, page: str = "", query: str = "") -> None:
        """Ask for a page without waiting for it."""
        message = BackMsg()
        message.rerun_script.query_string = query
        if page:
            self._page = page
        if self._page in self._pages:
            message.rerun_script.page_script_hash = self._pages[self._page]
        elif self._page:
            message.rerun_script.page_name = self._page
        message.rerun_script.widget_states.widgets.extend(self._states.values())
        self._states = {key: state for key, state in self._states.items() if not state.HasField("trigger_value")}
        self.socket.send(message.SerializeToString())

    def wait(self) -> "Visitor":
        """Wait for the end of the run, and of those that it begins."""
        while True:
            message = self.receive()
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.elements = []
                self.session = message.new_session.initialize.session_id or self.session
            elif kind == "navigation":
                self._pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                self.elements.append(message.delta.new_element)
            elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return self

    def receive(self) -> ForwardMsg:
        """The next message."""
        message = ForwardMsg()
        message.ParseFromString(self.socket.recv(timeout=WAIT_S))
        return message

    def text(self) -> str:
        """Everything that the last run showed, with names of elements, as one text."""
        return "\n".join(str(element) for element in self.elements)

    def find(self, kind: str, words: str) -> Any:
        """The widget of a kind whose label begins with these words."""
        found = [getattr(element, kind) for element in self.elements if element.WhichOneof("type") == kind]
        return next(widget for widget in found if widget.label.startswith(words))

    def click(self, words: str, *, wait: bool = True) -> "Visitor":
        """Press a button."""
        key = self.find("button", words).id
        self._states[key] = WidgetState(id=key, trigger_value=True)
        self.start()
        return self.wait() if wait else self

    def type(self, words: str, value: str) -> None:
        """Fill in a field, to be sent with the next run."""
        key = self.find("text_input", words).id
        self._states[key] = WidgetState(id=key, string_value=value)

    def submit(self, words: str) -> "Visitor":
        """Press a button of a form, with what was filled in."""
        return self.click(words)

    def bring(self, words: str, name: str, content: bytes) -> int:
        """Send a file to an uploader, and keep it there for the next run; returns the status of the sending."""
        return self.bring_all(words, {name: content})

    def bring_all(self, words: str, files: Mapping[str, bytes]) -> int:
        """Send files to an uploader; returns the status of the last that was sent."""
        key = self.find("file_uploader", words).id
        state = WidgetState(id=key)
        status = 0
        for urls, (name, content) in zip(self.upload_urls(list(files)), files.items(), strict=True):
            status = self.put(urls.upload_url, name, content)
            info = state.file_uploader_state_value.uploaded_file_info.add()
            info.file_id, info.name, info.size = urls.file_id, name, len(content)
            info.file_urls.CopyFrom(urls)
        self._states[key] = state
        return status

    def upload_urls(self, names: Sequence[str]) -> list[Any]:
        """Ask where files may be sent."""
        message = BackMsg()
        message.file_urls_request.request_id = uuid4().hex
        message.file_urls_request.file_names.extend(names)
        message.file_urls_request.session_id = self.session
        self.socket.send(message.SerializeToString())
        while True:
            answer = self.receive()
            if answer.WhichOneof("type") == "file_urls_response":
                return list(answer.file_urls_response.file_urls)

    def put(self, url: str, name: str, content: bytes, **headers: str) -> int:
        """Send a file where it may be sent."""
        boundary = uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'.encode()
        sent = {"Content-Type": f"multipart/form-data; boundary={boundary}", **self._own_headers()}
        body = head + content + f"\r\n--{boundary}--\r\n".encode()
        return self.server.ask(url.lstrip("/"), method="PUT", headers={**sent, **headers}, body=body)[0]

    def drop(self, url: str) -> int:
        """Take back a file that was sent."""
        return self.server.ask(url.lstrip("/"), method="DELETE", headers=self._own_headers())[0]

    def _own_headers(self) -> dict[str, str]:
        return {
            "Cookie": "; ".join(f"{key}={value}" for key, value in self.cookies.items()),
            "X-Xsrftoken": self.cookies[_XSRF],
            "Origin": f"http://{self.server.address}",
        }


def visit(
    server: Server,
    *,
    origin: str | None = None,
    host: str | None = None,
    cookies: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    session: str = "",
) -> Visitor:
    """Connect as a browser does.

    Parameters
    ----------
    server : Server
    origin : str, optional
        The site whose page asks; the server's own by default.
    host : str, optional
        The name under which the server is asked; the connection itself stays on this machine.
    cookies : mapping of str to str, optional
        Besides the one against forged requests, which they may replace.
    headers : mapping of str to str, optional
        Further ones.
    session : str, optional
        The id of an earlier session to go on with.
    """
    with urllib.request.urlopen(f"http://{server.address}/_stcore/health") as answer:
        given = answer.headers["set-cookie"]
    token = given.split("=", 1)[1].split(";")[0] if given else "none"  # none where the protection is off
    held = {_XSRF: token, **(cookies or {})}
    protocols = ["streamlit", held[_XSRF], *([session] if session else [])]
    asked = host or server.address
    connection = connect(
        f"ws://{asked}/_stcore/stream",
        sock=socket.create_connection(("localhost", server.port)),
        origin=Origin(origin or f"http://{asked}"),
        subprotocols=[Subprotocol(one) for one in protocols],
        additional_headers={"Cookie": "; ".join(f"{key}={value}" for key, value in held.items()), **(headers or {})},
        max_size=None,
        compression=None,
        legacy=True,  # gives the connection itself, which outlives this function
    )
    return Visitor(server, connection, held)
