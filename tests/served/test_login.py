"""A server that others can reach shows a login and nothing else, however it was started."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from benchmarks.visitors import Server, running_server, visit

PASSWORD = "correct horse battery"
NAME = "explorer.lab.example"
FILES = "Region time series"
ALL_ADDRESSES = ("--server.address", "0.0.0.0")
BY_COMMAND = (
    *(sys.executable, "-c", "import sys; from biobgt.cli import main; sys.argv[0] = 'biobgt'; main()"),
    *("app", "--public", "--host", NAME, "--port", "{port}"),
)


def audit_lines(server: Server, event: str) -> list[str]:
    return [line for line in server.log.read_text().splitlines() if f"biobgt.audit {event} " in line]


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Served to others, behind a password, as the command line starts it."""
    folder = tmp_path_factory.mktemp("public")
    with running_server(folder, command=BY_COMMAND, environment={"BIOBGT_PASSWORD": PASSWORD}) as server:
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


@pytest.mark.parametrize("command", [BY_COMMAND, None], ids=["by the command", "by hand"])
def test_a_new_forwarded_address_per_guess_passes_no_pause(tmp_path: Path, command: tuple[str, ...] | None) -> None:
    with running_server(tmp_path, *ALL_ADDRESSES, environment={"BIOBGT_PASSWORD": PASSWORD}, command=command) as server:
        answers = [guess(server, f"10.0.0.{i}") for i in range(2)]
    assert "Wrong password" in answers[0]
    assert "Too many attempts" in answers[1]
    assert all("10.0.0." not in line for line in audit_lines(server, "login"))


def test_a_proxy_that_was_named_tells_visitors_apart(tmp_path: Path) -> None:
    command = [*BY_COMMAND, "--proxy", "127.0.0.1", "--proxy", "::1"]
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


@pytest.mark.parametrize(("password", "said"), [(None, "has no login"), ("short", "at least 12")])
def test_by_hand_on_all_addresses_it_shows_nothing_without_a_long_password(
    tmp_path: Path, password: str | None, said: str
) -> None:
    environment = {} if password is None else {"BIOBGT_PASSWORD": password}
    with running_server(tmp_path, *ALL_ADDRESSES, environment=environment) as server, visit(server) as stranger:
        assert said in stranger.look("subjects").text()
        assert "Loaded" not in stranger.text()
        assert not any(element.WhichOneof("type") == "file_uploader" for element in stranger.elements)


def test_by_hand_on_all_addresses_it_asks_for_the_password(tmp_path: Path) -> None:
    environment = {"BIOBGT_PASSWORD": PASSWORD}
    with running_server(tmp_path, *ALL_ADDRESSES, environment=environment) as server, visit(server) as visitor:
        visitor.look()
        visitor.type("Password", PASSWORD)
        assert "Loaded" in visitor.click("Log in").text()
