"""``biobgt app``: what it starts, and what it refuses to start."""

import os
from pathlib import Path

import pytest
from ended_jobs import refused

from biobgt.cli import serve as command

AUTH = """[auth]
redirect_uri = "https://explorer.lab.example/oauth2callback"
cookie_secret = "x"
client_id = "x"
client_secret = "x"
server_metadata_url = "https://provider.example/.well-known/openid-configuration"
"""
PUBLIC = ("app", "--public", "--host", "explorer.lab.example")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been started."""
    commands: list[list[str]] = []
    monkeypatch.setattr(command, "_start", commands.append)
    for name in ("BIOBGT_PASSWORD", "BIOBGT_USERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    return commands


def options(started: list[list[str]]) -> dict[str, list[str]]:
    (line,) = started
    found: dict[str, list[str]] = {}
    for name, value in zip(line[5::2], line[6::2], strict=True):
        found.setdefault(name, []).append(value)
    return found


def test_it_starts_on_this_machine_only(done, started) -> None:
    done("app", "--port", "8600", "--no-browser")
    said = options(started)
    assert said["--server.address"] == ["localhost"]
    assert said["--server.port"] == ["8600"]
    assert said["--server.allowedHosts"] == ["localhost", "127.0.0.1", "::1"]
    assert Path(started[0][4]).is_file()


@pytest.mark.parametrize(
    "extra", [("--host", "lab.example"), ("--address", "0.0.0.0"), ("--secrets", "x.toml"), ("--proxy", "::1")]
)
def test_others_are_served_by_explicit_choice_only(run, started, extra: tuple[str, str]) -> None:
    refused(run("app", *extra), "--public")
    assert started == []


def test_public_without_a_login_does_not_start(run, started) -> None:
    refused(run(*PUBLIC), "BIOBGT_PASSWORD")
    assert started == []


def test_public_without_a_name_does_not_start(run, started, monkeypatch) -> None:
    monkeypatch.setenv("BIOBGT_PASSWORD", "correct horse battery")
    for names in ((), ("--host", "localhost"), ("--host", "*"), ("--host", "https://lab.example")):
        refused(run("app", "--public", *names), "--host")
    assert started == []


def test_public_with_a_password(run, done, started, monkeypatch) -> None:
    monkeypatch.setenv("BIOBGT_PASSWORD", "short")
    assert "at least 12" in run(*PUBLIC).err
    monkeypatch.setenv("BIOBGT_PASSWORD", "correct horse battery")
    done(*PUBLIC)
    said = options(started)
    assert said["--server.allowedHosts"][0] == "explorer.lab.example"
    assert said["--browser.serverAddress"] == ["explorer.lab.example"]
    assert said["--server.headless"] == ["true"]
    assert not any("correct horse" in part for part in started[0])  # every user of the machine sees a command line


def test_only_proxies_that_were_named_are_believed(run, done, started, monkeypatch) -> None:
    monkeypatch.setenv("BIOBGT_PASSWORD", "correct horse battery")
    for wrong in ("*", "", "proxy.lab.example", "127.0.0.1,*", "0.0.0.0/0", "::/0"):
        refused(run(*PUBLIC, "--proxy", wrong), "--proxy")
    assert started == []
    done(*PUBLIC)
    assert os.environ["FORWARDED_ALLOW_IPS"] == ""
    done(*PUBLIC, "--proxy", "127.0.0.1", "--proxy", "::1", "--proxy", "10.0.0.0/24")
    assert os.environ["FORWARDED_ALLOW_IPS"] == "127.0.0.1,::1,10.0.0.0/24"


def test_public_with_openid_connect(run, done, started, monkeypatch, tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(AUTH.replace("client_id", "client"))
    assert "client_id" in run(*PUBLIC, "--secrets", secrets).err
    secrets.write_text("no toml")
    assert "is not a TOML file" in run(*PUBLIC, "--secrets", secrets).err
    secrets.write_text(AUTH)
    assert "BIOBGT_USERS" in run(*PUBLIC, "--secrets", secrets).err
    monkeypatch.setenv("BIOBGT_USERS", "*@lab.example")
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert "needs Authlib and HTTPX: pip install 'biobgt[login]'" in run(*PUBLIC, "--secrets", secrets).err
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "httpx" else object())
    assert "needs HTTPX:" in run(*PUBLIC, "--secrets", secrets).err
    assert started == []
    monkeypatch.setattr(command, "find_spec", lambda name: object())
    done(*PUBLIC, "--secrets", secrets)
    assert options(started)["--secrets.files"] == [str(secrets)]
