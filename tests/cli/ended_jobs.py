"""How a job of the command line ended, in this process or in one of its own."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BIOBGT = Path(sys.executable).with_name("biobgt")


@dataclass(frozen=True)
class Ended:
    """How a job ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


def biobgt(*arguments: object) -> Ended:
    """Run the command line in a process of its own, as a user does."""
    command = [str(BIOBGT), *map(str, arguments)]
    environment = {"COLUMNS": "200", "PATH": ""}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def refused(ended: Ended, *words: str) -> None:
    """One sentence on stderr that holds the words, exit code 2, and nothing on stdout."""
    assert ended.code == 2, ended.err
    assert "Traceback" not in ended.err
    for word in words:
        assert word in ended.err
    assert ended.out == ""
