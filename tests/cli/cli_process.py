"""Run the command line in a process of its own, as a user does."""

import subprocess
import sys
from pathlib import Path

BIOBGT = Path(sys.executable).with_name("biobgt")


def biobgt(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(BIOBGT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"COLUMNS": "200", "PATH": ""})
