"""No other site talks to the server, and none makes it ask the internet who it is."""

import json
import os
import re
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from benchmarks.visitors import Server, running_server, visit

FILES = "Region time series"
FILE = "Lab_0051456_rois_cc200.1D"
FOREIGN = "https://elsewhere.example"


@pytest.fixture
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that notes what it is asked for, and answers nothing."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    asked.append(connection.recv(1000))

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_this_machine_may_ask(server: Server, name: str) -> None:
    with visit(server, host=f"{name}:{server.port}") as visitor:
        assert "Loaded" in visitor.look().text()


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (FOREIGN, None),
        ("null", None),
        ("http://localhost:1", None),  # another program of this machine
        ("http://elsewhere.example", "elsewhere.example"),  # a foreign name that points here
        ("http://localhost.elsewhere.example", "localhost.elsewhere.example"),
    ],
)
def test_another_site_gets_no_connection(server: Server, origin: str, host: str | None) -> None:
    with pytest.raises(InvalidStatus) as refused:
        visit(server, origin=origin, host=host)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("headers", [{"Host": "elsewhere.example"}, {"Origin": FOREIGN}])
@pytest.mark.parametrize("path", ["", "_stcore/health", "media/anything.biobgt"])
def test_another_site_gets_no_answer(server: Server, path: str, headers: dict[str, str]) -> None:
    status, sentence = server.ask(path, headers=headers)
    assert status == 403
    assert "BioBGT Explorer" in sentence


def test_another_site_brings_no_file(server: Server, region_series: bytes) -> None:
    with visit(server) as visitor:
        visitor.look("subjects")
        (place,) = visitor.upload_urls([FILE])
        assert visitor.put(place.upload_url, FILE, region_series, Origin=FOREIGN) == 403
        assert visitor.put(place.upload_url, FILE, region_series, Host="elsewhere.example") == 403
        assert visitor.bring(FILES, FILE, region_series) == 204
        assert "Read 1 subject" in visitor.look().text()


@pytest.mark.parametrize("options", [(), ("--server.address", "0.0.0.0"), ("--server.enableCORS", "false")])
def test_a_foreign_origin_makes_the_server_ask_nobody(
    tmp_path: Path, proxy: tuple[str, list[bytes]], options: tuple[str, ...]
) -> None:
    address, asked = proxy
    ways_out = {"http_proxy": address, "https_proxy": address, "no_proxy": ""}
    with running_server(tmp_path, *options, environment=ways_out) as server:
        with pytest.raises(InvalidStatus):
            visit(server, origin=FOREIGN)
        visit(server).leave()
    assert asked == []


def test_settings_of_the_folder_it_is_started_in_open_nothing(tmp_path: Path) -> None:
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text("[server]\nenableCORS = false\nenableXsrfProtection = false\n")
    with running_server(tmp_path) as server, pytest.raises(InvalidStatus):
        visit(server, origin=FOREIGN)


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root can connect as another account")
def test_another_account_of_this_machine_is_refused(server: Server) -> None:
    def answer(account: int, *headers: str) -> bytes:
        os.seteuid(account)  # a connection belongs to the account that opened it
        try:
            connection = socket.create_connection(("localhost", server.port))
        finally:
            os.seteuid(0)
        with connection:
            lines = ["GET /_stcore/health HTTP/1.1", f"Host: {server.address}", *headers, "", ""]
            connection.sendall("\r\n".join(lines).encode())
            return connection.recv(100)

    assert b" 200 " in answer(0)
    assert b" 403 " in answer(12345)
    assert b" 403 " in answer(12345, "X-Forwarded-For: 10.0.0.1")


def test_a_proxy_before_a_server_of_this_machine_only_is_refused(server: Server) -> None:
    status, sentence = server.ask("_stcore/health", headers={"X-Forwarded-For": "10.0.0.1"})
    assert status == 403
    assert "--public" in sentence


@pytest.mark.parametrize("path", ["", "subjects", "_stcore/health", "_stcore/host-config", "media/none", "favicon.svg"])
def test_no_other_site_shows_the_pages_in_its_frame(server: Server, path: str) -> None:
    for headers in ({}, {"Host": "elsewhere.example"}):
        said = server.headers(path, headers=headers)
        assert said["content-security-policy"] == "frame-ancestors 'self'"
        assert said["x-frame-options"] == "SAMEORIGIN"
        assert said["x-content-type-options"] == "nosniff"


def test_no_other_site_steers_the_pages(server: Server) -> None:
    status, said = server.ask("_stcore/host-config")
    assert status == 200
    assert json.loads(said)["allowedOrigins"] == []


@pytest.mark.parametrize(
    "path", ["_stcore/metrics", "_stcore/metrics/", "_stcore/metrics?families=session_events_total"]
)
def test_how_it_is_used_is_told_to_nobody(server: Server, path: str) -> None:
    assert server.ask(path)[0] == 403


def test_scripts_of_the_linked_screen_are_served_by_name_and_nothing_beside_them(server: Server) -> None:
    with visit(server) as visitor:
        found = re.search(r"linked/[0-9a-f]{12}/", visitor.look("explore").text())
    assert found
    folder = found[0]
    status, script = server.ask(f"{folder}screen.js")
    assert status == 200
    assert "class Screen" in script
    assert "immutable" in server.headers(f"{folder}plotly.min.js")["cache-control"]
    for other in ("component.py", "linked.css", "../Home.py", "..%2fHome.py", "%2e%2e%2fsession%2fserver.py", ""):
        assert "import" not in server.ask(f"{folder}{other}")[1][:400]
