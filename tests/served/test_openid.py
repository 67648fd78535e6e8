"""A real login by OpenID Connect: a real server, a provider on loopback, and a browser's steps between the two."""

import http.client
from collections.abc import Iterator
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

import pytest

from benchmarks.visitors import Server, Visitor, running_server, visit

pytest.importorskip("authlib", reason="OpenID Connect is the extra biobgt[login].")
pytest.importorskip("httpx", reason="OpenID Connect is the extra biobgt[login].")

from openid_provider import CLIENT, CLIENT_SECRET, Provider, openid_provider
from test_login import BY_COMMAND, NAME, audit_lines

ORIGIN = f"http://{NAME}"
ANN = {"email": "ann@lab.example", "email_verified": True, "name": "Ann"}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with openid_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def served(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Served to others as the command line starts it."""
    folder = tmp_path_factory.mktemp("openid")
    secrets = folder / "secrets.toml"
    secrets.write_text(
        f'[auth]\nredirect_uri = "{ORIGIN}/oauth2callback"\ncookie_secret = "forty characters that nobody else knows"\n'
        f'client_id = "{CLIENT}"\nclient_secret = "{CLIENT_SECRET}"\n'
        f'server_metadata_url = "{provider.address}/.well-known/openid-configuration"\n'
    )
    command = [*BY_COMMAND, "--secrets", str(secrets)]
    with running_server(folder, command=command, environment={"BIOBGT_USERS": "*@lab.example"}) as server:
        yield server


@pytest.fixture(autouse=True)
def honest(provider: Provider) -> None:
    provider.account, provider.denies, provider.forges = dict(ANN), False, False


def log_in(server: Server, *, tamper: str = "") -> dict[str, str]:
    """Press *Log in* and follow the way to the provider and back; returns the cookies that the browser then has."""
    with visit(server, host=NAME, origin=ORIGIN) as stranger:
        assert "Log in" in stranger.look().text()
        stranger.click("Log in", wait=False)
        place = where_to(stranger)
    cookies: dict[str, str] = {}
    for _ in range(6):
        if not (place := follow(server, place, cookies)):
            return cookies
        if tamper and "/oauth2callback" in place:
            place = place.replace("state=", f"state={tamper}")
        if urlsplit(place).path in ("", "/"):
            return cookies
    raise AssertionError("The browser is sent in circles.")


def where_to(visitor: Visitor) -> str:
    while True:
        message = visitor.receive()
        if message.WhichOneof("type") == "auth_redirect":
            return str(message.auth_redirect.url)


def follow(server: Server, place: str, cookies: dict[str, str]) -> str:
    """Ask for an address as a browser does; returns where that sends it, or nothing."""
    parts = urlsplit(place)
    own = parts.netloc in ("", NAME)
    at = server.address if own else parts.netloc
    sent = {"Host": NAME, "Cookie": "; ".join(f"{key}={value}" for key, value in cookies.items())} if own else {}
    connection = http.client.HTTPConnection(at, timeout=60)
    connection.request("GET", f"{parts.path}?{parts.query}", headers=sent)
    answer = connection.getresponse()
    answer.read()
    for header in answer.headers.get_all("Set-Cookie") or [] if own else []:
        for key, cookie in SimpleCookie(header).items():
            cookies[key] = cookie.coded_value
    return answer.headers.get("Location") or ""


def page(server: Server, cookies: dict[str, str]) -> str:
    with visit(server, host=NAME, origin=ORIGIN, cookies=cookies) as visitor:
        return visitor.look().text()


def test_an_account_of_the_lab_enters(served: Server) -> None:
    before = len(audit_lines(served, "login"))
    text = page(served, log_in(served))
    assert "Loaded" in text
    assert "Logged in as ann" in text
    (line,) = audit_lines(served, "login")[before:]
    assert 'user="ann@lab.example"' in line
    assert line.endswith('result="ok"')


@pytest.mark.parametrize("account", [{"email": "eve@elsewhere.example"}, {"email_verified": False}, {"email": ""}])
def test_other_accounts_are_refused(served: Server, provider: Provider, account: dict[str, object]) -> None:
    provider.account.update(account)
    before = len(audit_lines(served, "login"))
    text = page(served, log_in(served))
    assert "may not use this server" in text
    assert "Loaded" not in text
    (line,) = audit_lines(served, "login")[before:]
    assert line.endswith('result="refused"')


@pytest.mark.parametrize("how", ["denied", "forged", "another state"])
def test_what_the_provider_does_not_vouch_for_stays_before_the_wall(
    served: Server, provider: Provider, how: str
) -> None:
    provider.denies, provider.forges = how == "denied", how == "forged"
    before = len(audit_lines(served, "login"))
    text = page(served, log_in(served, tamper="x" if how == "another state" else ""))
    assert "Log in" in text
    assert "Loaded" not in text
    assert audit_lines(served, "login")[before:] == []
