"""How a job of the command line ended, for the tests that run one."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """How a job ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]
