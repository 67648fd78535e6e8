"""The rules of who may talk to the server, on their own."""

from pathlib import Path

import pytest

from biobgt.base.errors import InputError
from biobgt.base.serving import (
    LOOPBACK,
    WRONG_PER_MINUTE,
    LoginThrottle,
    account_of_connection,
    admitted_users,
    host_names,
    may_enter,
    refusal,
    served_to_others,
    shared_password,
)

NAMES = ("explorer.lab.example", *LOOPBACK)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8501", None),
        ("LOCALHOST:8501", "http://localhost:8501"),
        ("127.0.0.1:8501", "http://localhost:8501"),
        ("[::1]:8501", "http://[::1]:8501"),
        ("explorer.lab.example", "https://explorer.lab.example"),
        ("explorer.lab.example:8443", "https://explorer.lab.example:8443"),
    ],
)
def test_own_requests_are_answered(host: str, origin: str | None) -> None:
    assert refusal(host, origin, NAMES) is None


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (None, None),
        ("", None),
        ("elsewhere.example", None),
        ("localhost@elsewhere.example", None),
        ("localhost:8501/elsewhere", None),
        ("localhost:port", None),
        ("localhost:8501", "null"),
        ("localhost:8501", ""),
        ("localhost:8501", "http://localhost:9999"),
        ("localhost:8501", "https://explorer.lab.example"),  # the proxy must keep the name
        ("explorer.lab.example", "https://elsewhere.example"),
        ("explorer.lab.example", "http://localhost"),
        ("localhost:8501", "http://localhost:8501@elsewhere.example"),
        ("localhost:8501", "http://[::1"),
    ],
)
def test_other_requests_are_refused(host: str | None, origin: str | None) -> None:
    assert refusal(host, origin, NAMES)


def test_names() -> None:
    assert host_names([]) == LOOPBACK
    assert host_names([" Explorer.Lab.Example. "]) == ("explorer.lab.example",)


@pytest.mark.parametrize(
    ("address", "names", "others"),
    [
        ("localhost", LOOPBACK, False),
        ("127.0.0.1", ("localhost",), False),
        ("::1", LOOPBACK, False),
        (None, LOOPBACK, True),
        ("0.0.0.0", LOOPBACK, True),
        ("unix:///run/app.sock", LOOPBACK, True),
        ("localhost", NAMES, True),
        ("localhost", ("*",), True),
    ],
)
def test_who_can_reach_it(address: str | None, names: tuple[str, ...], others: bool) -> None:
    assert served_to_others(address, names) is others


def test_short_password_is_refused() -> None:
    assert shared_password({}) is None
    assert shared_password({"BIOBGT_PASSWORD": "a long enough one"}) == "a long enough one"
    for short in ("", "eleven char", " " * 20):
        with pytest.raises(InputError, match="at least 12"):
            shared_password({"BIOBGT_PASSWORD": short})


def test_accounts() -> None:
    users = admitted_users({"BIOBGT_USERS": "Ann@one.example, *@lab.example ,"})
    assert users == ("ann@one.example", "*@lab.example")
    assert may_enter("ann@ONE.example", None, users)
    assert may_enter("bob@lab.example", True, users)
    assert not may_enter("bob@lab.example", False, users)  # an address that nobody checked
    assert not may_enter("bob@one.example", True, users)
    assert not may_enter("", True, ("*",))
    assert not may_enter("ann@one.example", True, admitted_users({}))


def test_pauses_after_failures() -> None:
    now = [0.0]
    keeper = LoginThrottle("the right password", clock=lambda: now[0])
    assert not keeper.admits("a", "wrong")
    assert keeper.pause("a") == 1.0
    assert not keeper.admits("a", "the right password")  # not during the pause
    assert keeper.admits("b", "the right password")  # others do not wait
    now[0] = 1.0
    assert not keeper.admits("a", "wrong again")
    assert keeper.pause("a") == 2.0
    for _ in range(12):
        now[0] += 60.0
        assert not keeper.admits("a", "wrong")
    assert keeper.pause("a") == 60.0
    now[0] += 60.0
    assert keeper.admits("a", "the right password")
    assert not keeper.admits("a", "wrong")
    assert keeper.pause("a") == 1.0  # a login ends the count


def test_one_guesser_with_many_addresses_waits_as_well() -> None:
    now = [0.0]
    keeper = LoginThrottle("the right password", clock=lambda: now[0])
    assert keeper.admits("a colleague", "the right password")
    looked_at = 0
    for i in range(1000):  # a new address for each guess, ten a second
        looked_at += keeper.pause(f"address {i}") == 0.0
        assert not keeper.admits(f"address {i}", "wrong")
        now[0] += 0.1
    assert looked_at == 2 * WRONG_PER_MINUTE  # in 100 seconds: of the first minute, and of the second
    assert 0.0 < keeper.pause("yet another") <= 60.0
    assert not keeper.admits("yet another", "the right password")
    assert keeper.admits("a colleague", "the right password")  # who has entered from there before
    now[0] += 60.0
    assert keeper.admits("yet another", "the right password")


CONNECTIONS = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2135 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 111 1
   1: 0100007F:D431 0100007F:2135 01 00000000:00000000 00:00000000 00000000  1001        0 112 1
   2: 0300007F:D431 0100007F:2135 01 00000000:00000000 00:00000000 00000000  1002        0 113 1
   3: 0400007F:D431 0100007F:2135 06 00000000:00000000 00:00000000 00000000     0        0 0 1
"""
CONNECTIONS_6 = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0000000000000000FFFF00000500007F:D431 0000000000000000FFFF00000100007F:2135 01 0:0 00:0 0  1003        0 114 1
   1: 00000000000000000000000001000000:D431 00000000000000000000000001000000:2135 01 0:0 00:0 0  1004        0 115 1
"""


@pytest.mark.parametrize(
    ("address", "port", "account"),
    [
        ("127.0.0.1", 0xD431, 1001),  # the browser's end; the server's is of account 1000
        ("::ffff:127.0.0.1", 0xD431, 1001),
        ("127.0.0.1", 0xD432, None),
        ("127.0.0.3", 0xD431, 1002),  # the same port at another address is another program
        ("127.0.0.4", 0xD431, None),  # a connection that has ended has no owner
        ("127.0.0.5", 0xD431, 1003),
        ("::1", 0xD431, 1004),
    ],
)
def test_whose_program_is_at_the_other_end(tmp_path: Path, address: str, port: int, account: int | None) -> None:
    (tmp_path / "tcp").write_text(CONNECTIONS)
    (tmp_path / "tcp6").write_text(CONNECTIONS_6)
    server = ("::1" if address == "::1" else "127.0.0.1", 0x2135)
    assert account_of_connection((address, port), server, tables=tmp_path) == account
    assert account_of_connection((address, port), server, tables=tmp_path / "none") is None
