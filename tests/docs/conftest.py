"""Commands of the documentation, run in this process as a reader would type them, in an empty folder."""

import io
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout

import pytest
from described_files import Typed

from biobgt.cli import main


@pytest.fixture(scope="session")
def typed() -> Iterator[Typed]:
    """Type a command in the present folder and return what it prints; one that fails is an error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "cpu_count", lambda: 1)  # no processes for a few subjects

        def call(line: str) -> str:
            printed = io.StringIO()
            patch.setattr(sys, "argv", shlex.split(line))
            with redirect_stdout(printed), redirect_stderr(printed), pytest.raises(SystemExit) as end:
                main()
            assert end.value.code in (0, None), f"{line}\n{printed.getvalue()}"
            return printed.getvalue()

        yield call
