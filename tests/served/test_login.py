"""A server that others can reach shows a login and nothing else, however it was started."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import InvalidStatus

from benchmarks.visitors import Server, running_server, visit

PASSWORD = "correct horse battery"
NAME = "explorer.lab.example"
FILES = "Region time series"
SECRET = "a secret of forty characters for cookies"


def audit_lines(server: Server, event: str) -> list[str]:
    return [line for line in server.log.read_text().splitlines() if f"biobgt.audit {event} " in line]


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Served to others, behind a password, as the command line starts it."""
    code = "import sys; from biobgt.cli import main; sys.argv[0] = 'biobgt'; main()"
    command = [sys.executable, "-c", code, "app", "--public", "--host", NAME, "--port", "{port}"]
    folder = tmp_path_factory.mktemp("public")
    with running_server(folder, command=command, environment={"BIOBGT_PASSWORD": PASSWORD}) as server:
        yield server


def test_the_wall_stands_before_every_page(public: Server) -> None:
    for page in ("", "subjects", "export"):
        with visit(public) as stranger:
            text = stranger.look(page).text()
            assert "Password" in text
            assert "Loaded" not in text
            assert not any(element.WhichOneof("type") == "file_uploader" for element in stranger.elements)


def test_a_stranger_brings_no_file(public: Server, region_series: bytes) -> None:
    with visit(public) as stranger:
        stranger.look("subjects")
        (place,) = stranger.upload_urls(["Lab_0051456_rois_cc200.1D"])
        assert stranger.put(place.upload_url, "Lab_0051456_rois_cc200.1D", region_series) == 403


def test_only_the_password_opens(public: Server, region_series: bytes) -> None:
    before = len(audit_lines(public, "login"))
    with visit(public, host=NAME, origin=f"https://{NAME}") as visitor:
        visitor.look("subjects")
        visitor.type("Password", "wrong")
        assert "Wrong password" in visitor.click("Log in").text()
        visitor.type("Password", PASSWORD)
        assert "Too many attempts" in visitor.click("Log in").text()  # even the right one waits
        wait_for_the_pause(visitor)
        assert visitor.bring(FILES, "Lab_0051456_rois_cc200.1D", region_series) == 204
        assert "Read 1 subject" in visitor.look().text()
    said = [line.partition("result=")[2] for line in audit_lines(public, "login")[before:]]
    assert said[:2] == ['"refused"', '"paused"']
    assert said[-1] == '"ok"'
    (upload,) = audit_lines(public, "upload")
    assert "bytes=" in upload
    assert "Lab_0051456" not in public.log.read_text()  # names of files often hold ids
    assert PASSWORD not in public.log.read_text()


def wait_for_the_pause(visitor) -> None:
    """Try again until the pause is over."""
    for _ in range(1000):
        visitor.type("Password", PASSWORD)
        if "Too many attempts" not in visitor.click("Log in").text():
            break
    assert "Password" not in visitor.text()


def test_a_session_s_id_is_no_key(public: Server, region_series: bytes) -> None:
    """The id stands in the addresses of uploads, which proxies log: another browser that knows it gets nothing."""
    with visit(public) as visitor:
        visitor.look("subjects")
        visitor.type("Password", PASSWORD)
        assert FILES in visitor.click("Log in").text()
        (place,) = visitor.upload_urls(["scan.1D"])
        with visit(public) as thief:  # has a cookie against forged requests, too, but its own
            assert thief.put(place.upload_url, "scan.1D", region_series) == 403
            assert thief.drop(place.upload_url) == 403
        assert visitor.put(place.upload_url, "scan.1D", region_series) == 204
        session, cookies = visitor.session, visitor.cookies
    with pytest.raises(InvalidStatus):
        visit(public, session=session)
    with visit(public, session=session, cookies=cookies) as again:  # its own browser, after a lost connection
        assert FILES in again.look("subjects").text()


@pytest.mark.parametrize("start", ["by the command", "by hand"])
def test_a_new_forwarded_address_per_guess_passes_no_pause(tmp_path: Path, start: str) -> None:
    code = "import sys; from biobgt.cli import main; sys.argv[0] = 'biobgt'; main()"
    command = [sys.executable, "-c", code, "app", "--public", "--host", NAME, "--port", "{port}"]
    options = ("--server.address", "0.0.0.0")
    environment = {"BIOBGT_PASSWORD": PASSWORD}
    with running_server(
        tmp_path, *options, environment=environment, command=command if start == "by the command" else None
    ) as server:
        answers = [guess(server, f"10.0.0.{i}") for i in range(2)]
    assert "Wrong password" in answers[0]
    assert "Too many attempts" in answers[1]
    assert all("10.0.0." not in line for line in audit_lines(server, "login"))


def test_a_proxy_that_was_named_tells_visitors_apart(tmp_path: Path) -> None:
    code = "import sys; from biobgt.cli import main; sys.argv[0] = 'biobgt'; main()"
    command = [sys.executable, "-c", code, "app", "--public", "--host", NAME, "--port", "{port}"]
    command += ["--proxy", "127.0.0.1", "--proxy", "::1"]
    with running_server(tmp_path, command=command, environment={"BIOBGT_PASSWORD": PASSWORD}) as server:
        answers = [guess(server, f"10.0.0.{i}") for i in range(11)]
        own = guess(server, "10.0.0.0")
    assert all("Wrong password" in answer for answer in answers[:10])
    assert "Too many attempts" in answers[10]  # ten in a minute are all that the server looks at
    assert "Too many attempts" in own
    assert 'address="10.0.0.3"' in audit_lines(server, "login")[3]


def guess(server: Server, address: str) -> str:
    with visit(server, headers={"X-Forwarded-For": address}) as stranger:
        stranger.look()
        stranger.type("Password", "a wrong password")
        return stranger.click("Log in").text()


def test_other_names_are_refused(public: Server) -> None:
    assert public.ask("", headers={"Host": NAME})[0] == 200
    assert public.ask("", headers={"Host": "other.lab.example"})[0] == 403
    with pytest.raises(InvalidStatus):
        visit(public, host=NAME, origin="https://other.lab.example")


def test_started_by_hand_on_all_addresses_it_shows_nothing(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BIOBGT_")}
    with running_server(tmp_path, "--server.address", "0.0.0.0", environment=environment) as server:
        with visit(server) as stranger:
            text = stranger.look("subjects").text()
        assert "has no login" in text
        assert not any(element.WhichOneof("type") == "file_uploader" for element in stranger.elements)


def test_started_by_hand_on_all_addresses_it_asks_for_the_password(tmp_path: Path) -> None:
    options = ("--server.address", "0.0.0.0")
    with (
        running_server(tmp_path, *options, environment={"BIOBGT_PASSWORD": PASSWORD}) as server,
        visit(server) as visitor,
    ):
        visitor.look()
        visitor.type("Password", PASSWORD)
        assert "Loaded" in visitor.click("Log in").text()


def test_a_short_password_by_hand_lets_nobody_in(tmp_path: Path) -> None:
    options = ("--server.address", "0.0.0.0")
    with running_server(tmp_path, *options, environment={"BIOBGT_PASSWORD": "short"}) as server, visit(server) as one:
        text = one.look().text()
        assert "at least 12" in text
        assert "Loaded" not in text


@pytest.mark.parametrize(
    ("email", "verified", "enters"),
    [
        ("ann@lab.example", True, True),
        ("ann@elsewhere.example", True, False),
        ("ann@lab.example", False, False),
    ],
)
def test_accounts_of_openid_connect(tmp_path: Path, email: str, verified: bool, enters: bool) -> None:
    """The cookie is the one that Streamlit writes after the provider has said who somebody is."""
    origin = f"https://{NAME}"
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(
        f'[auth]\nredirect_uri = "{origin}/oauth2callback"\ncookie_secret = "{SECRET}"\nclient_id = "x"\n'
        'client_secret = "y"\nserver_metadata_url = "https://provider.example/.well-known/openid-configuration"\n'
    )
    options = ("--secrets.files", str(secrets), "--server.allowedHosts", NAME, "--server.allowedHosts", "localhost")
    account = {"origin": origin, "is_logged_in": True, "email": email, "email_verified": verified}
    signed = create_signed_value(SECRET, "_streamlit_user", json.dumps(account)).decode()
    with running_server(tmp_path, *options, environment={"BIOBGT_USERS": "*@lab.example"}) as server:
        with visit(server, host=NAME, origin=origin) as stranger:
            assert "Log in" in stranger.look().text()
            assert "Loaded" not in stranger.text()
        with visit(server, host=NAME, origin=origin, cookies={"_streamlit_user": signed}) as visitor:
            text = visitor.look().text()
            assert ("Loaded" in text) is enters
            assert ("may not use this server" in text) is not enters
        (line,) = audit_lines(server, "login")
        assert email in line
