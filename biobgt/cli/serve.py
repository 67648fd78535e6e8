"""Start the app: on this machine for its user, or for others behind a login."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated

import typer

from biobgt.base.errors import InputError
from biobgt.base.serving import (
    LOOPBACK,
    PASSWORD_VARIABLE,
    PROXIES_VARIABLE,
    USERS_VARIABLE,
    admitted_users,
    host_names,
    shared_password,
)
from biobgt.cli.main import print_line

PAGE = "docs/serving.md"
_AUTH_SETTINGS = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
_OPENID_PACKAGES = {"Authlib": "authlib", "HTTPX": "httpx"}  # what Streamlit's login imports when somebody logs in
_PACKAGE = Path(__file__).parents[1]


def app(
    public: Annotated[bool, typer.Option("--public", help="Serve others, behind a login.")] = False,
    host: Annotated[
        list[str] | None, typer.Option(help="With --public: a name under which others reach the app. May be repeated.")
    ] = None,
    address: Annotated[
        str, typer.Option(help="With --public: address to listen on. Behind a proxy on this machine: localhost.")
    ] = LOOPBACK[0],
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="With --public: address of a proxy that says in X-Forwarded-For who a visitor is. May be repeated."
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the app.", min=1, max=65535)] = 8501,
    secrets: Annotated[
        Path | None, typer.Option(help="With --public: Streamlit's secrets.toml with a section [auth].")
    ] = None,
    max_upload: Annotated[int | None, typer.Option(help="Largest file that can be uploaded, in MB.", min=1)] = None,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Start the app in the browser, on this machine only; with --public for others, behind a login.

    Examples
    --------
    biobgt app
    biobgt app --public --host lab.example.org --proxy 127.0.0.1
    """
    names = host_names(host or ())
    if public:
        _check_public(names, secrets, os.environ)
    elif host or proxy or secrets or address.lower() not in LOOPBACK:
        raise InputError(
            "--host, --address, --proxy and --secrets are for serving others: add --public, which requires a login."
        )
    options = {
        "server.address": address,
        "server.port": str(port),
        "server.headless": "false" if browser and not public else "true",
        "browser.serverAddress": names[0],
    }
    if max_upload is not None:
        options["server.maxUploadSize"] = str(max_upload)
    if secrets is not None:
        options["secrets.files"] = str(secrets.resolve())
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    arguments += [part for name in dict.fromkeys((*names, *LOOPBACK)) for part in ("--server.allowedHosts", name)]
    os.environ[PROXIES_VARIABLE] = ",".join(_proxy_addresses(proxy or ()))  # none: then nobody's word is taken
    _start([sys.executable, "-m", "streamlit", "run", str(_app_script()), *arguments])


def _proxy_addresses(given: Collection[str]) -> tuple[str, ...]:
    """The proxies whose word on a visitor's address is taken: their addresses, or networks of them.

    >>> _proxy_addresses(["127.0.0.1", "10.0.0.0/24"])
    ('127.0.0.1', '10.0.0.0/24')
    """
    for one in given:
        try:
            everybody = ip_network(one).prefixlen == 0
        except ValueError:
            raise InputError(
                f"--proxy takes an address such as 127.0.0.1, or a network; '{one[:80]}' is none."
            ) from None
        if everybody:
            raise InputError(f"--proxy '{one}' would believe everybody. Name the proxy's own address.")
    return tuple(given)


def _app_script() -> Path:
    """The file that Streamlit runs: in an installed package beside the code, in a clone one folder up."""
    places = [_PACKAGE / "app" / "Home.py", _PACKAGE.parent / "app" / "Home.py"]
    for place in places:
        if place.is_file():
            return place
    raise InputError(
        "The app's pages are not in this installation of biobgt. Clone the project and install it from its folder: "
        "pip install -r requirements.txt."
    )


def _check_public(names: tuple[str, ...], secrets: Path | None, environment: Mapping[str, str]) -> None:
    """Refuse to serve others without names and a login.

    Parameters
    ----------
    names : tuple of str
        The host names others use.
    secrets : Path or None
        Streamlit's secrets, for OpenID Connect.
    environment : mapping of str to str
    """
    if set(names) <= set(LOOPBACK):
        raise InputError("--public needs the name under which others reach the app: --host explorer.example.org.")
    if any("*" in name or "/" in name or ":" in name for name in names):
        raise InputError("--host takes plain host names, one each, without https://, port or '*'.")
    if secrets is not None:
        _check_openid(secrets, environment)
    elif shared_password(environment) is None:
        raise InputError(
            f"--public needs a login. Set a password in the environment variable {PASSWORD_VARIABLE}, or give "
            f"--secrets FILE for OpenID Connect; {PAGE} shows both."
        )


def _check_openid(secrets: Path, environment: Mapping[str, str]) -> None:
    try:
        auth = tomllib.loads(secrets.read_text(encoding="utf-8")).get("auth")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"'{secrets}' is not a TOML file ({error}).") from None
    missing = [name for name in _AUTH_SETTINGS if not (isinstance(auth, dict) and auth.get(name))]
    if missing:
        raise InputError(f"The section [auth] of '{secrets}' lacks {', '.join(missing)}; {PAGE} shows one.")
    if not admitted_users(environment):
        raise InputError(
            f"With OpenID Connect, name who may enter in the environment variable {USERS_VARIABLE}: addresses, or "
            "'*@lab.example' for all of a domain, or '*' for every account of the provider."
        )
    absent = [name for name, module in _OPENID_PACKAGES.items() if find_spec(module) is None]
    if absent:
        raise InputError(f"OpenID Connect needs {' and '.join(absent)}: pip install 'biobgt[login]'.")


def _start(command: list[str]) -> None:
    """Become the server, so that whatever ends this process ends it; where that cannot be, wait for it."""
    print_line("Starting BioBGT Explorer. Press Ctrl-C to stop it.")
    if os.name == "posix":
        os.execv(command[0], command)
    raise typer.Exit(subprocess.run(command, check=False).returncode)
