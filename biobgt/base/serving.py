"""Who may talk to the app's server, and who may log in: rules that the command line and the app share.

A browser sends the name under which it reached the server (``Host``) and the site whose page asks (``Origin``). Both
are checked for every request: a page of another site, or a foreign name that was made to point to this machine (DNS
rebinding), could else read what is loaded. Streamlit's own checks are of
websockets and of its route for agents, not of pages, uploads and downloads, and take any port of localhost for the same
site. Nothing here opens a connection or knows of Streamlit.
"""

import hashlib
import hmac
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from biobgt.base.errors import InputError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
PASSWORD_VARIABLE = "BIOBGT_PASSWORD"
USERS_VARIABLE = "BIOBGT_USERS"
PROXIES_VARIABLE = "FORWARDED_ALLOW_IPS"  # as uvicorn, which answers the network, calls it
SHORTEST_PASSWORD = 12
LONGEST_PAUSE_S = 60.0
WRONG_PER_MINUTE = 10  # passwords, of all addresses together
_REMEMBERED_ADDRESSES = 10_000
_ESTABLISHED = "01"  # as Linux numbers the states of connections


def host_names(configured: Collection[str]) -> tuple[str, ...]:
    """The names under which the server may be asked; this machine's own where none is configured.

    >>> host_names(["Explorer.Lab.Example"])
    ('explorer.lab.example',)
    """
    names = tuple(name.strip().lower().rstrip(".").strip("[]") for name in configured if name.strip())
    return names or LOOPBACK


def served_to_others(address: str | None, names: Collection[str]) -> bool:
    """Whether anybody but the user of this machine can reach the server.

    Parameters
    ----------
    address : str or None
        The address it listens on; none is every address of the machine.
    names : collection of str
        The host names it answers to. One that is not this machine's own means that a proxy stands before it.
    """
    return address is None or address.lower().strip("[]") not in LOOPBACK or not set(names) <= set(LOOPBACK)


def refusal(host: str | None, origin: str | None, names: Collection[str]) -> str | None:
    """Say why a request is not answered, or None where it is.

    Parameters
    ----------
    host, origin : str or None
        The headers of the request. Programs other than browsers send no origin.
    names : collection of str
        The host names the server answers to.

    >>> refusal("localhost:8501", "http://localhost:8501", LOOPBACK)
    >>> refusal("localhost:8501", "https://elsewhere.example", LOOPBACK)
    'Pages of other sites may not talk to BioBGT Explorer.'
    """
    asked = _split(f"//{host}" if host else "")
    if asked is None or asked.hostname not in names:
        return (
            "BioBGT Explorer does not answer under this host name. On this machine, open it as localhost. To serve "
            "others, start it with: biobgt app --public --host NAME."
        )
    if origin is None:
        return None
    asking = _split(origin)
    same_name = asking is not None and (
        asking.hostname == asked.hostname or {asking.hostname, asked.hostname} <= set(LOOPBACK)
    )
    if asking is None or not same_name or asking.port != asked.port:
        return "Pages of other sites may not talk to BioBGT Explorer."
    return None


def account_of_connection(
    client: tuple[str, int], server: tuple[str, int], *, tables: Path = Path("/proc/net")
) -> int | None:
    """The account of this machine whose program holds the other end of a connection, or None where it is not known.

    Both ends are compared whole: many loopback addresses can hold the same port at once.

    Parameters
    ----------
    client, server : (str, int)
        Address and port of the two ends.
    tables : Path
        Where Linux lists its connections; other systems have no such list, and nothing is known.
    """
    ends = [(_plain_address(ip_address(address)), port) for address, port in (client, server)]
    for name in ("tcp", "tcp6"):
        try:
            lines = (tables / name).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, remote, state, *_, account, _, _ = line.split()[:10]
            if state == _ESTABLISHED and [_end(local), _end(remote)] == ends:  # else it has no owner, and says 0
                return int(account)
    return None


def _end(listed: str) -> tuple[IPv4Address | IPv6Address, int]:
    """Address and port as Linux lists them: words of four bytes in the machine's order, in hexadecimal."""
    address, _, port = listed.rpartition(":")
    words = [int(address[i : i + 8], 16) for i in range(0, len(address), 8)]
    return _plain_address(ip_address(b"".join(word.to_bytes(4, sys.byteorder) for word in words))), int(port, 16)


def _plain_address(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """An IPv4 address that is written as IPv6, as IPv4."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def shared_password(environment: Mapping[str, str]) -> str | None:
    """The password that the environment sets; one that is quickly guessed is refused."""
    password = environment.get(PASSWORD_VARIABLE)
    if password is not None and len(password.strip()) < SHORTEST_PASSWORD:
        raise InputError(
            f"The password in {PASSWORD_VARIABLE} has {len(password.strip())} characters beside blanks. "
            f"Take one of at least {SHORTEST_PASSWORD}."
        )
    return password


def admitted_users(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Who may log in by OpenID Connect, as the environment says: addresses, or patterns such as ``*@lab.example``."""
    return tuple(part.strip().lower() for part in environment.get(USERS_VARIABLE, "").split(",") if part.strip())


def may_enter(email: str | None, verified: object, users: Collection[str]) -> bool:
    """Whether an account may enter: its address fits, and its provider does not say that nobody checked the address.

    Parameters
    ----------
    email : str or None
        As the provider of the login states it.
    verified : object
        The provider's claim ``email_verified``: a truth value, its name, or None where it makes none.
    users : collection of str
        Addresses in lower case; ``*@lab.example`` lets in everyone at the lab.

    Examples
    --------
    >>> may_enter("Ann@lab.example", True, ["*@lab.example"]), may_enter("ann@lab.example.org", True, ["*@lab.example"])
    (True, False)
    """
    if not email or verified is False or verified == "false":
        return False
    return any(fnmatchcase(email.lower(), pattern) for pattern in users)


class LoginThrottle:
    """Compares passwords in constant time, and pauses after failures.

    Each address waits 1, 2, 4, … seconds. Beside that, the whole server looks at ten wrong passwords in a minute and no
    more, for one guesser can have many addresses; an address that has entered before does not wait for theirs.

    Parameters
    ----------
    password : str
    clock : callable
        Seconds, for tests.
    """

    def __init__(self, password: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._digest = _digest(password)
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: dict[str, tuple[int, float]] = {}  # how many, and when the pause ends
        self._wrong: deque[float] = deque(maxlen=WRONG_PER_MINUTE)  # when, at any address
        self._entered: dict[str, None] = {}

    def pause(self, address: str) -> float:
        """Seconds until the next try of an address is looked at."""
        with self._lock:
            return max(0.0, self._paused_until(address) - self._clock())

    def admits(self, address: str, typed: str) -> bool:
        """Whether the password is right; during a pause none is."""
        right = hmac.compare_digest(_digest(typed), self._digest)
        with self._lock:
            if self._clock() < self._paused_until(address):
                return False
            if right:
                self._failures.pop(address, None)
                _remember(self._entered, address, None)
                return True
            failed, _ = self._failures.get(address, (0, 0.0))
            pause = min(LONGEST_PAUSE_S, 2.0 ** min(failed, 10))
            _remember(self._failures, address, (failed + 1, self._clock() + pause))
            self._wrong.append(self._clock())
            return False

    def _paused_until(self, address: str) -> float:
        _, until = self._failures.get(address, (0, 0.0))
        full = len(self._wrong) == WRONG_PER_MINUTE and address not in self._entered
        return max(until, self._wrong[0] + 60.0) if full else until


def _remember(known: dict[str, Any], address: str, what: Any) -> None:
    """Keep what is known of an address, in place of the oldest where there are very many."""
    if address not in known and len(known) >= _REMEMBERED_ADDRESSES:
        known.pop(next(iter(known)))
    known[address] = what


def _digest(password: str) -> bytes:
    # Of equal length, whatever was typed: comparing texts of unequal length tells that they are.
    return hashlib.sha256(password.encode()).digest()


def _split(address: str) -> SplitResult | None:
    """Take an address apart; None where it is no plain host with or without a port."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # one that is no number raises
    except ValueError:
        return None
    if parts.username is not None or parts.path or parts.query or parts.fragment or not parts.hostname:
        return None
    return parts
